"""Expressions in two texts: as an analyst writes them, and as DuckDB must be asked for the same.

DuckDB raises where a value overflows, and rounds where Spark cuts; so its text says ``TRY``, casts to what is wide
enough, and counts from where Spark counts. What means something else there altogether is not written at all.
"""

from __future__ import annotations

import datetime as dt
import math
from dataclasses import dataclass
from decimal import Decimal

from workbench.sql.algebra.types import INTEGER, STRING, DataType, Kind
from workbench.sql.syntax.dialects import SPARK_FAMILY


@dataclass(frozen=True)
class Expr:
    """An expression in both texts.

    Attributes:
        text: as it is registered.
        duck: for DuckDB; NULL where the workbench gives NULL.
        type: its type; of a decimal the digits are those that matter for what may be done with it.
        tame: whether values are small and exact, see ``Flavour``.
        wide: for sums, differences and multiples of INTEGER columns: the exact value, as a HUGEINT of DuckDB.
        flavour: what its values are like, for constants that meet them.
        exact: whether both sides compute it to the last bit.
    """

    text: str
    duck: str
    type: DataType
    tame: bool = True
    wide: str | None = None
    flavour: str | None = None
    exact: bool = True


@dataclass(frozen=True)
class CallableFunction:
    """A function of the analyst: its name in both texts, its parameters and what it returns."""

    name: str
    duck: str
    parameters: tuple[DataType, ...]
    returns: DataType


def alike(template: str, type_: DataType, *parts: Expr, tame: bool = True) -> Expr:
    """An expression that both say in the same words; each part stands in for a ``{}``."""
    text, duck = (template.format(*said) for said in ([p.text for p in parts], [p.duck for p in parts]))
    return Expr(text, duck, type_, tame, exact=all(p.exact for p in parts))


def constant(value: object, type_: DataType, dialect: str = "spark") -> Expr:
    """A value as a constant of a type."""
    if value is None:
        text = {INTEGER: "BIGINT", STRING: "STRING" if dialect in SPARK_FAMILY else "VARCHAR"}.get(type_, str(type_))
        return Expr(f"CAST(NULL AS {text})", f"CAST(NULL AS {duck_type(type_)})", type_)
    match type_.kind:
        case Kind.INTEGER:
            return Expr(str(value), f"CAST({value} AS BIGINT)", type_, wide=f"CAST({value} AS HUGEINT)")
        case Kind.DECIMAL:
            assert isinstance(value, Decimal)
            digits = f"{value:f}"
            return Expr(digits if "." in digits else f"{digits}.", f"CAST('{digits}' AS {duck_type(type_)})", type_)
        case Kind.DOUBLE:
            assert isinstance(value, float)
            if not math.isfinite(value):
                return Expr(f"CAST('{value}' AS DOUBLE)", f"CAST('{value}' AS DOUBLE)", type_)
            digits = f"{value:.17g}"
            return Expr(digits if "e" in digits else f"{digits}E0", f"CAST('{value!r}' AS DOUBLE)", type_)
        case Kind.STRING:
            plain = str(value).replace("'", "''")
            backslashed = str(value).replace("\\", "\\\\").replace("'", "\\'")
            return Expr(f"'{backslashed if dialect in SPARK_FAMILY else plain}'", f"'{plain}'", type_)
        case Kind.DATE:
            assert isinstance(value, dt.date)
            return Expr(f"DATE '{value.isoformat()}'", f"DATE '{value.isoformat()}'", type_)
        case Kind.TIMESTAMP:
            assert isinstance(value, dt.datetime)
            written = value.isoformat(sep=" ")
            return Expr(f"TIMESTAMP '{written}'", f"TIMESTAMP '{written}'", type_)
        case Kind.BOOLEAN:
            return Expr(str(value).upper(), str(value).upper(), type_)


def duck_type(type_: DataType) -> str:
    """The type's name in DuckDB."""
    names = {Kind.INTEGER: "BIGINT", Kind.STRING: "VARCHAR"}
    return names.get(type_.kind, str(type_).upper())


def as_decimal(expr: Expr, scale: int) -> str:
    """A number in DuckDB's widest decimal of a scale."""
    return f"CAST({expr.duck} AS DECIMAL(38,{scale}))"


def comparable(left: Expr, right: Expr) -> bool:
    """Whether two values can be compared on both sides without loss."""
    a, b = left.type, right.type
    if {a.kind, b.kind} == {Kind.DATE, Kind.TIMESTAMP}:
        return True
    if not (a.numeric and b.numeric):
        return a.kind is b.kind
    if Kind.DOUBLE in (a.kind, b.kind):
        return Kind.DECIMAL not in (a.kind, b.kind)
    wholes = [19 if t.kind is Kind.INTEGER else t.precision - t.scale for t in (a, b)]
    return max(wholes) + max(a.scale, b.scale) <= 38


def compared(left: Expr, right: Expr) -> tuple[str, str]:
    """The sides of a comparison for DuckDB."""
    if left.type.kind is Kind.INTEGER and right.type.kind is Kind.INTEGER and left.wide and right.wide:
        return left.wide, right.wide
    kinds = {left.type.kind, right.type.kind}
    if Kind.DECIMAL in kinds and Kind.DOUBLE not in kinds:
        scale = max(left.type.scale, right.type.scale)
        return as_decimal(left, scale), as_decimal(right, scale)
    if Kind.DOUBLE in kinds:
        return f"CAST({left.duck} AS DOUBLE)", f"CAST({right.duck} AS DOUBLE)"
    if Kind.TIMESTAMP in kinds:
        return f"CAST({left.duck} AS TIMESTAMP)", f"CAST({right.duck} AS TIMESTAMP)"
    return left.duck, right.duck
