"""Sums and products of decimals as 64-bit integers, where these are exact.

A selection tests `amount1 - 2 * amount2` of every row. Spark hands a decimal over to Python as a big number, which
costs ten times what an integer costs, and takes such numbers apart in every operation. Where the digits say that no
value is beyond 64 bits, the expression is computed of the columns' unscaled integers instead: one conversion a column.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from workbench.sql.algebra.expressions import Call, Column, Constant, Expression
from workbench.sql.algebra.types import MAX_PRECISION, Kind
from workbench.sql.render.spark_sql import Naming

LIMIT = 2**62
"""No value, also of a part, is so far from 0."""


@dataclass(frozen=True)
class Unscaled:
    """Spark SQL of a BIGINT: a value times 10 to the power of ``scale``, nowhere further from 0 than ``most``."""

    sql: str
    scale: int
    most: int

    def at(self, scale: int) -> Unscaled:
        """The same with more digits behind the point."""
        factor = 10 ** (scale - self.scale)
        return self if factor == 1 else Unscaled(f"({self.sql} * {factor}L)", scale, self.most * factor)


def unscaled(expression: Expression, column: Naming) -> Unscaled | None:
    """An expression of decimals as an integer; ``None`` where it has other parts, or might not fit.

    Args:
        expression: sums, differences and products of decimal columns and numbers.
        column: the text for a column.

    Example:
        >>> from workbench.sql.algebra.types import decimal
        >>> money = decimal(15, 2)
        >>> double = Call("*", (Column("a", money), Constant(2, decimal(1, 0))), decimal(17, 2))
        >>> unscaled(double, lambda c: c.name).sql
        '(CAST(a * 100 AS BIGINT) * 2L)'
    """
    result = _unscaled(expression, column)
    return result if result is not None and result.most < LIMIT else None


def _unscaled(expression: Expression, column: Naming) -> Unscaled | None:
    if expression.type.kind is not Kind.DECIMAL and not isinstance(expression, Constant):
        return None
    match expression:
        case Column(type=type_) if 10**type_.precision < LIMIT:
            whole = f"{column(expression)} * {10**type_.scale}" if type_.scale else column(expression)
            return Unscaled(f"CAST({whole} AS BIGINT)", type_.scale, 10**type_.precision)
        case Constant(value=value) if isinstance(value, int | Decimal) and not isinstance(value, bool):
            scale = max(0, -int(Decimal(value).as_tuple().exponent))
            number = int(Decimal(value).scaleb(scale))
            return Unscaled(f"{number}L", scale, abs(number))
        case Call(function="+" | "-" | "*" as operator, arguments=(left, right)):
            ends = _unscaled(left, column), _unscaled(right, column)
            if ends[0] is None or ends[1] is None:
                return None
            result = _combined(operator, ends[0], ends[1])
            exact = expression.type.precision < MAX_PRECISION and result.scale <= expression.type.scale
            return result.at(expression.type.scale) if exact and result.most < LIMIT else None
        case _:
            return None


def _combined(operator: str, left: Unscaled, right: Unscaled) -> Unscaled:
    if operator == "*":
        return Unscaled(f"({left.sql} * {right.sql})", left.scale + right.scale, left.most * right.most)
    scale = max(left.scale, right.scale)
    left, right = left.at(scale), right.at(scale)
    return Unscaled(f"({left.sql} {operator} {right.sql})", scale, left.most + right.most)
