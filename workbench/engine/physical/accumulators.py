"""Statistics of groups as Spark SQL: how they are accumulated from changes, merged, and read (T4.2, Algorithm 4.1).

A statistic is *additive* when the statistic of a union is a merge of the parts', retractions being rows of negative
weight: counts and exact sums always; MIN, MAX and sums of DOUBLE only over rows that are never retracted (a deleted
minimum leaves no trace of the next one, and binary floats do not cancel exactly). What is not additive is *holistic*
here: computed anew from the rows of the dirty groups, and only those.
"""

from __future__ import annotations

from dataclasses import dataclass

from workbench.engine.storage.layout import WEIGHT
from workbench.sql.algebra.expressions import AggregateCall, Column, Expression
from workbench.sql.algebra.types import INTEGER, MAX_PRECISION, DataType, Kind, decimal
from workbench.sql.render.spark_functions import negated
from workbench.sql.render.spark_sql import to_spark

_KEPT_SCALE = 6
"""The digits after the point that Spark keeps in any product of decimals."""
_WEIGHT_DIGITS = 12
"""Digits of how often a row counts, where it is multiplied with a decimal that has more digits after the point."""


OVER_NOTHING = {"count": "0L", "total": "0L"}
"""What a statistic is over no rows, where that is not NULL."""


@dataclass(frozen=True)
class Part:
    """One stored column of an additive statistic, with the SQL that computes it from changes, and that merges it."""

    name: str
    type: DataType
    change: str
    merge: str


@dataclass(frozen=True)
class Additive:
    """An additive statistic: its parts, and ``final``, its value as SQL over the merged parts."""

    parts: tuple[Part, ...]
    final: str


def additive(name: str, statistic: AggregateCall, monotone: bool) -> Additive | None:
    """The statistic, called ``name``, over additive parts; ``None`` when it is holistic over such rows."""
    if statistic.distinct:
        return None
    match statistic.function, statistic.arguments:
        case "count", ():
            return Additive((_count(name, WEIGHT),), f"coalesce(`{name}`, 0L)")
        case "count", (argument,):
            return Additive((_count(name, _present(argument)),), f"coalesce(`{name}`, 0L)")
        case "total", (argument,):
            return Additive((_sum(name, argument),), f"coalesce(try_cast(`{name}` AS bigint), 0L)")
        case "sum", (argument,) if _adds_up(argument.type, monotone):
            count = _count(f"{name}_n", _present(argument))
            value = f"if(`{count.name}` > 0, try_cast(`{name}` AS {statistic.type.spark}), NULL)"
            return Additive((_sum(name, argument), count), value)
        case ("min" | "max") as function, (argument,) if monotone:
            part = Part(name, argument.type, f"{function}({over_rows(argument)})", f"{function}(`{name}`)")
            return Additive((part,), f"`{name}`")
        case _:
            return None


def _adds_up(type_: DataType, monotone: bool) -> bool:
    """Whether a sum of values times their weights is exact.

    Floats do not cancel exactly. Of a product of many digits Spark cuts those after the sixth behind the point.
    """
    if type_.kind is Kind.DOUBLE:
        return monotone
    return type_.scale <= _KEPT_SCALE or type_.precision + _WEIGHT_DIGITS < MAX_PRECISION


def holistic(statistic: AggregateCall) -> str:
    """The statistic as a Spark aggregate over all rows of a group, each row as often as it counts."""
    arguments = ", ".join(over_rows(a) for a in statistic.arguments)
    distinct = "DISTINCT " if statistic.distinct else ""
    if statistic.function == "total":
        return f"cast(coalesce(sum({arguments}), 0L) AS {statistic.type.spark})"
    # Of equally frequent values the smallest, so that the answer does not depend on the order of rows.
    tie = ", true" if statistic.function == "mode" else ""
    # COUNT(*) has no arguments; every row counts.
    call = f"{statistic.function}({distinct}{arguments or 1}{tie})"
    return f"cast({call} AS {statistic.type.spark})"


def over_rows(expression: Expression) -> str:
    """An expression over a parent's rows."""
    return to_spark(expression, _bare)


def _bare(column: Column) -> str:
    return f"`{column.name}`"


def _count(name: str, weight: str) -> Part:
    return Part(name, INTEGER, f"sum({weight})", f"sum(`{name}`)")


def _present(argument: Expression) -> str:
    return f"if({over_rows(argument)} IS NULL, 0L, {WEIGHT})"


def _sum(name: str, argument: Expression) -> Part:
    value = over_rows(argument)
    if argument.type.kind is Kind.DOUBLE:
        return Part(name, argument.type, f"sum({value} * {WEIGHT})", f"sum(`{name}`)")
    wide = decimal(38, argument.type.scale)
    exact = f"cast({value} AS {wide.spark})"
    negative = negated(exact, wide, argument.type.precision)
    # Weights other than 1 and -1 are rare. Their product has a type of its own, which must not be that of all cases.
    product = f"{exact} * {WEIGHT}"
    if argument.type.scale > _KEPT_SCALE:
        product = f"cast({value} AS {argument.type.spark}) * cast({WEIGHT} AS decimal({_WEIGHT_DIGITS},0))"
    weighted = f"CASE {WEIGHT} WHEN 1L THEN {exact} WHEN -1L THEN {negative} ELSE cast({product} AS {wide.spark}) END"
    return Part(name, wide, f"sum({weighted})", f"sum(`{name}`)")
