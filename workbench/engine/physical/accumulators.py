"""Statistics of groups: how they are accumulated from changes, merged, and read (T4.2, Algorithm 4.1).

A statistic is *additive* when the statistic of a union is a merge of the parts', retractions being rows of negative
weight: counts and exact sums always; MIN and MAX only over rows that are never retracted, since a deleted minimum
leaves no trace of the next one. What is kept is in the table of rules (``sql.functions.aggregate_rules``); what is not
additive follows from the values of the group.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from workbench.engine.physical.moments import Moments
from workbench.engine.physical.row_inputs import DigitsInput, ProductInput, RowInput, TupleInput, content_id, row_input
from workbench.engine.storage.reduction import Combine
from workbench.sql.algebra.expressions import AggregateCall, Expression
from workbench.sql.algebra.types import INTEGER, MAX_PRECISION, STRING, DataType, Kind, decimal
from workbench.sql.functions.aggregate_rules import ONE, KeptAs, Powers, rule_of

_WEIGHT_DIGITS = 12
"""Digits of how often rows count, all of a group together."""

LOW_DIGITS = 20
"""The digits of a value that the low part of a wide sum adds up."""


class Adds(StrEnum):
    """How a changed row adds to a part: its weight, that where a value is not NULL, a value by its weight, a value.

    Of a wide sum the low part adds what is left of a value by a unit of the high part, and that how often the unit is
    in it; both by the weight. Digits are those of a product of DOUBLE, by the weight (``storage.exact_sums``).
    """

    WEIGHT = "weight"
    WEIGHT_OF_KNOWN = "weight of known"
    PRODUCT = "product"
    VALUE = "value"
    LOW = "low part"
    HIGH = "high part"
    DIGITS = "digits"


@dataclass(frozen=True)
class Addend:
    """The value that a changed row adds to a part.

    Attributes:
        adds: what it adds.
        value: of its columns, where they are read.
        branch: the branch of a set operator whose rows add it, those of others adding 0; ``None``: all rows do.
    """

    adds: Adds
    value: RowInput | None = None
    branch: int | None = None


@dataclass(frozen=True)
class StatePart:
    """One stored column of an additive statistic.

    Attributes:
        name, type: of the column.
        addend: what a changed row adds.
        combine: how the values of several rows, and several parts, become one.
    """

    name: str
    type: DataType
    addend: Addend
    combine: Combine = Combine.SUM


@dataclass(frozen=True)
class Final:
    """The value of an additive statistic: a merged part in the statistic's type, NULL where it does not fit.

    Attributes:
        part: the name of the part.
        type: of the statistic.
        count: the part that counts the values of which the statistic is made; without any the statistic is NULL.
        zero: whether the statistic is 0 where it would be NULL.
        high: the part that has the digits of a wide sum before the last ``LOW_DIGITS``; ``part`` has what is left.
        last_of: the types of a ``TupleInput``, where the part is one and the statistic its last value.
    """

    part: str
    type: DataType
    count: str | None = None
    zero: bool = False
    high: str | None = None
    last_of: tuple[DataType, ...] = ()


@dataclass(frozen=True)
class Additive:
    """An additive statistic: its parts, and its value over the merged parts."""

    parts: tuple[StatePart, ...]
    final: Final | Moments


def additive(name: str, statistic: AggregateCall, monotone: bool) -> Additive | None:
    """The statistic, called ``name``, over what its rule keeps; ``None`` when it follows from values over such rows."""
    kept = rule_of(statistic).kept
    extreme = kept in (KeptAs.LEAST, KeptAs.GREATEST)
    if kept is KeptAs.VALUES or (extreme and not monotone):
        return None
    match kept, statistic.arguments:
        case KeptAs.COUNT, ():
            return Additive((rows_part(name),), Final(name, INTEGER, zero=True))
        case KeptAs.COUNT, (argument,):
            return Additive((_count(name, argument),), Final(name, INTEGER, zero=True))
        case KeptAs.TOTAL, (argument,):
            return Additive((_sum(name, argument),), Final(name, INTEGER, zero=True))
        case KeptAs.SUM, (argument,):
            count = _count(f"{name}_n", argument)
            if is_wide(argument.type):
                low, high = _wide_sum(name, argument)
                return Additive((low, high, count), Final(name, statistic.type, count.name, high=high.name))
            return Additive((_sum(name, argument), count), Final(name, statistic.type, count.name))
        case _, (argument,) if extreme:
            part = StatePart(name, argument.type, Addend(Adds.VALUE, row_input(argument)), Combine(kept.value))
            return Additive((part,), Final(name, argument.type))
        case _, (value, key) if extreme:
            pair = TupleInput.of_expressions((key, value), known=[0])
            part = StatePart(name, STRING, Addend(Adds.VALUE, pair), Combine(kept.value))
            return Additive((part,), Final(name, value.type, last_of=pair.types))
        case KeptAs.DIGITS, (argument,):
            known, digits = parts = (
                _of_digits(argument) if argument.type == STRING else _moments("sum", (ONE,), [argument]).parts
            )
            exact = statistic.type == STRING
            rounded = Moments("sum", known.name, {ONE: digits.name})
            return Additive(parts, Final(digits.name, STRING, known.name) if exact else rounded)
        case _, arguments:
            return _moments(statistic.function, rule_of(statistic).products, arguments)


def is_wide(type_: DataType) -> bool:
    """Whether a partial sum of decimals may have more digits than the final sum."""
    return type_.kind is Kind.DECIMAL and type_.precision + _WEIGHT_DIGITS > MAX_PRECISION


def rows_part(name: str, branch: int | None = None) -> StatePart:
    """The part that counts the rows of a group, or the rows of one branch."""
    return StatePart(name, INTEGER, Addend(Adds.WEIGHT, branch=branch))


def _moments(function: str, products: Iterable[Powers], arguments: Sequence[Expression]) -> Additive:
    """A statistic of sums of products; all statistics of the same arguments share their parts."""
    inputs, name = tuple(map(row_input, arguments)), f"_moment {content_id(*arguments)}"
    known = Addend(Adds.WEIGHT_OF_KNOWN, ProductInput(inputs, (0,) * len(inputs)))
    parts, sums = [StatePart(name, INTEGER, known)], {}
    for powers in products:
        sums[powers] = f"{name} {''.join(map(str, powers)) or 'bits'}"
        added = Addend(Adds.DIGITS, ProductInput(inputs, powers))
        parts.append(StatePart(sums[powers], STRING, added, Combine.DIGITS))
    return Additive(tuple(parts), Moments(function, name, sums))


def _of_digits(argument: Expression) -> tuple[StatePart, StatePart]:
    """The parts of an exact sum: the number of values, and their digits."""
    name, sums = f"_exact {content_id(argument)}", row_input(argument)
    digits = StatePart(f"{name} sum", STRING, Addend(Adds.DIGITS, DigitsInput(sums)), Combine.DIGITS)
    return StatePart(name, INTEGER, Addend(Adds.WEIGHT_OF_KNOWN, sums)), digits


def _count(name: str, argument: Expression) -> StatePart:
    return StatePart(name, INTEGER, Addend(Adds.WEIGHT_OF_KNOWN, row_input(argument)))


def _sum(name: str, argument: Expression) -> StatePart:
    return StatePart(name, decimal(MAX_PRECISION, argument.type.scale), Addend(Adds.PRODUCT, row_input(argument)))


def _wide_sum(name: str, argument: Expression) -> tuple[StatePart, StatePart]:
    """A sum in two parts, neither of which can have more than 38 digits.

    A part of more digits would be NULL, and the next change would be taken for the first one.
    """
    low, high = (Addend(adds, row_input(argument)) for adds in (Adds.LOW, Adds.HIGH))
    return (
        StatePart(name, decimal(MAX_PRECISION, argument.type.scale), low),
        StatePart(f"{name}_high", decimal(MAX_PRECISION, 0), high),
    )
