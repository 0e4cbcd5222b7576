"""Exact numbers as constants, and the result types of arithmetic, which are Spark's."""

from __future__ import annotations

import decimal as dec
from decimal import Decimal

from workbench.sql.algebra.expressions import Constant, Expression
from workbench.sql.algebra.types import DOUBLE, INTEGER, MAX_PRECISION, DataType, Kind, decimal

EXACT = dec.Context(prec=80, rounding=dec.ROUND_HALF_UP)
"""Holds every sum, difference and product of two decimals."""
BIGINT_MIN, BIGINT_MAX = -(2**63), 2**63 - 1


def number(value: int | Decimal) -> Constant:
    """The constant for an exact number: INTEGER when it is whole and fits 64 bits, else the smallest DECIMAL.

    Example:
        >>> number(Decimal("1000000.00")).value, str(number(Decimal("0.50")).type)
        (1000000, 'decimal(1,1)')
    """
    if value == int(value) and BIGINT_MIN <= value <= BIGINT_MAX:
        return Constant(int(value), INTEGER)
    plain = EXACT.normalize(Decimal(value))
    sign, digits, exponent = plain.as_tuple()
    assert isinstance(exponent, int)
    if exponent > 0:
        digits, exponent = (*digits, *(0,) * exponent), 0
    plain = Decimal((sign, digits, exponent))
    return Constant(plain, decimal(max(len(digits), -exponent), -exponent))


def fits(value: int | Decimal, type_: DataType) -> bool:
    """Whether an exact number can be held by an INTEGER or DECIMAL type without rounding."""
    if type_.kind is Kind.INTEGER:
        return value == int(value) and -(2 ** (type_.bits - 1)) <= value < 2 ** (type_.bits - 1)
    scaled = EXACT.scaleb(Decimal(value), type_.scale)
    return scaled == scaled.to_integral_value() and abs(scaled) < Decimal(10) ** type_.precision


def exact_constant(value: int | Decimal, type_: DataType) -> Constant:
    """An exact number that fits a type, as a constant of just that type (with its number of digits)."""
    if type_.kind is Kind.INTEGER:
        return Constant(int(value), type_)
    return Constant(EXACT.quantize(Decimal(value), Decimal(1).scaleb(-type_.scale)), type_)


def decimal_of(expression: Expression) -> DataType:
    """The DECIMAL type an exact number takes part in decimal arithmetic with: a constant by its digits, as in Spark."""
    if isinstance(expression, Constant) and isinstance(expression.value, int):
        return decimal(len(str(abs(expression.value))), 0)
    return decimal(20, 0) if expression.type.kind is Kind.INTEGER else expression.type


def bounded(precision: int, scale: int) -> DataType:
    """A result type of more than 38 digits gives up fractional digits first, but keeps six."""
    if precision <= MAX_PRECISION:
        return decimal(precision, scale)
    whole = precision - scale
    return decimal(MAX_PRECISION, max(MAX_PRECISION - whole, min(scale, 6)))


def result_type(operator: str, left: Expression, right: Expression) -> DataType:
    """The type of ``+ - * / % div`` on numbers. Division of integers gives DOUBLE.

    0.5 times a decimal(15,2) is a decimal(17,3).
    """
    kinds = {left.type.kind, right.type.kind}
    if operator == "div":
        return INTEGER
    if Kind.DOUBLE in kinds or (operator == "/" and kinds == {Kind.INTEGER}):
        return DOUBLE
    if kinds == {Kind.INTEGER}:
        return INTEGER
    a, b = decimal_of(left), decimal_of(right)
    match operator:
        case "*":
            return bounded(a.precision + b.precision + 1, a.scale + b.scale)
        case "/":
            scale = max(6, a.scale + b.precision + 1)
            return bounded(a.precision - a.scale + b.scale + scale, scale)
        case "%":
            scale = max(a.scale, b.scale)
            return bounded(min(a.precision - a.scale, b.precision - b.scale) + scale, scale)
        case _:
            scale = max(a.scale, b.scale)
            return bounded(max(a.precision - a.scale, b.precision - b.scale) + scale + 1, scale)
