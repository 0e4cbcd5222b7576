"""Statistics of groups as Spark SQL: how they are accumulated from changes, merged, and read (T4.2, Algorithm 4.1).

A statistic is *additive* when the statistic of a union is a merge of the parts', retractions being rows of negative
weight: counts and exact sums always; MIN, MAX and sums of DOUBLE only over rows that are never retracted (a deleted
minimum leaves no trace of the next one, and binary floats do not cancel exactly). What is not additive is *holistic*
here: computed anew from the rows of the dirty groups, and only those.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from workbench.engine.physical.stored.values import StoredValue, stored_value
from workbench.engine.storage.layout import WEIGHT
from workbench.engine.storage.reduction import Combine
from workbench.sql.algebra.expressions import AggregateCall, Column, Expression
from workbench.sql.algebra.types import INTEGER, MAX_PRECISION, DataType, Kind, decimal
from workbench.sql.functions.numbers import negated
from workbench.sql.functions.spark_aggregates import holistic_sql
from workbench.sql.render.spark_sql import to_spark

_KEPT_SCALE = 6
"""The digits after the point that Spark keeps in any product of decimals."""
_WEIGHT_DIGITS = 12
"""Digits of how often a row counts, where it is multiplied with a decimal that has more digits after the point."""

LOW_DIGITS = 20
"""The digits of a value that the low part of a wide sum adds up."""
_HIGH_DIGITS = 19
"""The digits that Spark's DIV gives at most."""
_HALF = 5 * 10 ** (MAX_PRECISION - LOW_DIGITS - 1)
"""About half of the largest high part of a sum that fits 38 digits."""


OVER_NOTHING = {"count": "0L", "total": "0L"}
"""The value of a statistic over no rows, where that is not NULL."""


class Adds(StrEnum):
    """How a changed row adds to a part: its weight, that where a value is not NULL, a value by its weight, a value.

    Of a wide sum the low part adds what is left of a value by a unit of the high part, and that how often the unit is
    in it; both by the weight.
    """

    WEIGHT = "weight"
    WEIGHT_OF_KNOWN = "weight of known"
    PRODUCT = "product"
    VALUE = "value"
    LOW = "low part"
    HIGH = "high part"


@dataclass(frozen=True)
class StoredInput:
    """The addend of a changed row that follows from its weight and its stored columns, without Spark.

    Attributes:
        adds: what it adds.
        value: of its columns, where they are read.
        branch: the branch of a set operator whose rows add it, those of others adding 0; ``None``: all rows do.
    """

    adds: Adds
    value: StoredValue | None = None
    branch: int | None = None


@dataclass(frozen=True)
class StatePart:
    """One stored column of an additive statistic.

    Attributes:
        name, type: of the column.
        value: SQL of what a changed row adds.
        combine: how the values of several rows, and several parts, become one.
        stored: the same as ``value``, where Spark need not compute it.
    """

    name: str
    type: DataType
    value: str
    combine: Combine = Combine.SUM
    stored: StoredInput | None = None

    @property
    def change(self) -> str:
        """SQL of the part of some changed rows."""
        return f"{self.combine}({self.value})"

    @property
    def merge(self) -> str:
        """SQL of the part of a group, over the parts of rows of the group."""
        return f"{self.combine}(`{self.name}`)"


@dataclass(frozen=True)
class Final:
    """The value of an additive statistic: a merged part in the statistic's type, NULL where it does not fit.

    Attributes:
        part: the name of the part.
        type: of the statistic.
        count: the part that counts the values of which the statistic is made; without any the statistic is NULL.
        zero: whether the statistic is 0 where it would be NULL.
        high: the part that has the digits of a wide sum before the last ``LOW_DIGITS``; ``part`` has what is left.
    """

    part: str
    type: DataType
    count: str | None = None
    zero: bool = False
    high: str | None = None

    @property
    def sql(self) -> str:
        """The value as SQL over the merged parts."""
        value = f"try_cast(`{self.part}` AS {self.type.stored})"
        if self.high is not None:
            value = f"try_cast({_together(self.part, self.high, high_unit(self.type))} AS {self.type.stored})"
        value = f"if(`{self.count}` > 0, {value}, NULL)" if self.count is not None else value
        return f"coalesce({value}, 0L)" if self.zero else value


@dataclass(frozen=True)
class Additive:
    """An additive statistic: its parts, and its value over the merged parts."""

    parts: tuple[StatePart, ...]
    final: Final


def additive(name: str, statistic: AggregateCall, monotone: bool) -> Additive | None:
    """The statistic, called ``name``, over additive parts; ``None`` when it is holistic over such rows."""
    if statistic.distinct:
        return None
    match statistic.function, statistic.arguments:
        case "count", ():
            return Additive((rows_part(name),), Final(name, INTEGER, zero=True))
        case "count", (argument,):
            return Additive((_count(name, argument),), Final(name, INTEGER, zero=True))
        case "total", (argument,):
            return Additive((_sum(name, argument),), Final(name, INTEGER, zero=True))
        case "sum", (argument,) if adds_up(argument.type, monotone):
            count = _count(f"{name}_n", argument)
            if is_wide(argument.type):
                low, high = _wide_sum(name, argument)
                return Additive((low, high, count), Final(name, statistic.type, count.name, high=high.name))
            return Additive((_sum(name, argument), count), Final(name, statistic.type, count.name))
        case ("min" | "max") as function, (argument,) if monotone:
            stored = _stored_input(Adds.VALUE, argument)
            part = StatePart(name, argument.type, over_rows(argument), Combine(function), stored)
            return Additive((part,), Final(name, argument.type))
        case _:
            return None


def adds_up(type_: DataType, monotone: bool) -> bool:
    """Whether a sum of values times their weights is exact.

    Floats do not cancel exactly. Of a product of many digits Spark cuts those after the sixth behind the point.
    """
    if type_.kind is Kind.DOUBLE:
        return monotone
    return type_.scale <= _KEPT_SCALE or type_.precision + _WEIGHT_DIGITS < MAX_PRECISION


def is_wide(type_: DataType) -> bool:
    """Whether the sum of a decimal may have more digits on the way than it has in the end."""
    return type_.kind is Kind.DECIMAL and type_.precision + _WEIGHT_DIGITS > MAX_PRECISION


def high_unit(type_: DataType) -> int:
    """The unit of the high part of a wide sum: numbers of ``LOW_DIGITS`` digits are below it."""
    return int(10 ** (LOW_DIGITS - type_.scale))


def _together(low: str, high: str, unit: int) -> str:
    """SQL of a wide sum of its two parts, NULL only where itself has more than 38 digits.

    All that is in the high part may come to 10^38, and the low part then take something away.
    """
    most = f"{_HALF}BD"
    units = f"coalesce(`{high}`, 0)"
    first = f"least(greatest({units}, -{most}), {most})"
    rest = f"try_multiply(try_subtract({units}, {first}), {unit}BD)"
    return f"try_add(try_add(try_multiply({first}, {unit}BD), `{low}`), {rest})"


def holistic(statistic: AggregateCall, over: str = "") -> str:
    """The statistic as a Spark aggregate over all rows of a group, each row as often as it counts.

    Args:
        statistic: to be computed.
        over: which rows, where these are not a group: OVER and what follows it.
    """
    arguments = [over_rows(a) for a in statistic.arguments]
    if statistic.function == "total":
        return f"cast(coalesce(sum({arguments[0]}){over}, 0L) AS {statistic.type.spark})"
    if statistic.function == "sum" and statistic.arguments[0].type.kind is Kind.INTEGER:
        # Spark's sum of 64 bits wraps around, before it is cast to the digits in which it is kept.
        arguments = [f"cast({arguments[0]} AS decimal({MAX_PRECISION},0))"]
    value = holistic_sql(statistic.function, statistic.distinct, arguments, statistic.type, over)
    return f"cast({value} AS {statistic.type.stored})"


def over_rows(expression: Expression) -> str:
    """An expression over a parent's rows."""
    return to_spark(expression, _bare)


def _bare(column: Column) -> str:
    return f"`{column.name}`"


def rows_part(name: str) -> StatePart:
    """The part with the number of a group's rows."""
    return StatePart(name, INTEGER, WEIGHT, stored=StoredInput(Adds.WEIGHT))


def _stored_input(adds: Adds, argument: Expression) -> StoredInput | None:
    value = stored_value(argument)
    return None if value is None else StoredInput(adds, value)


def _count(name: str, argument: Expression) -> StatePart:
    weight = f"if({over_rows(argument)} IS NULL, 0L, {WEIGHT})"
    return StatePart(name, INTEGER, weight, stored=_stored_input(Adds.WEIGHT_OF_KNOWN, argument))


def _sum(name: str, argument: Expression) -> StatePart:
    value, stored = over_rows(argument), _stored_input(Adds.PRODUCT, argument)
    if argument.type.kind is Kind.DOUBLE:
        return StatePart(name, argument.type, f"{value} * {WEIGHT}", stored=stored)
    wide = decimal(38, argument.type.scale)
    exact = f"cast({value} AS {wide.spark})"
    negative = negated(exact, wide, argument.type.precision)
    # Weights other than 1 and -1 are rare. Their product has a type of its own, which must not be that of all cases.
    product = f"{exact} * {WEIGHT}"
    if argument.type.scale > _KEPT_SCALE:
        product = f"cast({value} AS {argument.type.spark}) * cast({WEIGHT} AS decimal({_WEIGHT_DIGITS},0))"
    weighted = f"CASE {WEIGHT} WHEN 1L THEN {exact} WHEN -1L THEN {negative} ELSE cast({product} AS {wide.spark}) END"
    return StatePart(name, wide, weighted, stored=stored)


def _wide_sum(name: str, argument: Expression) -> tuple[StatePart, StatePart]:
    """A sum in two parts, neither of which comes to have more than 38 digits.

    A part of more digits would be NULL, and the next change would be taken for the first one.
    """
    scale, unit = argument.type.scale, f"{high_unit(argument.type)}BD"
    value = f"cast({over_rows(argument)} AS {decimal(MAX_PRECISION, scale).spark})"
    low = f"cast({value} % {unit} AS {decimal(LOW_DIGITS, scale).spark}) * {WEIGHT}"
    high = f"cast({value} div {unit} AS {decimal(_HIGH_DIGITS, 0).spark}) * {WEIGHT}"
    types = decimal(MAX_PRECISION, scale), decimal(MAX_PRECISION, 0)
    parts = [f"cast({product} AS {type_.spark})" for product, type_ in zip((low, high), types, strict=True)]
    stored = [_stored_input(adds, argument) for adds in (Adds.LOW, Adds.HIGH)]
    return (
        StatePart(name, types[0], parts[0], stored=stored[0]),
        StatePart(f"{name}_high", types[1], parts[1], stored=stored[1]),
    )
