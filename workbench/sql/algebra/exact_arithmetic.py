"""Exact arithmetic: which steps neither overflow nor round for any value, and INTEGER arithmetic made so (T6.2.1).

INTEGER, DECIMAL and DATE (days since 1970) are exact numbers. INTEGER arithmetic of SQL overflows, to NULL, so it is
*widened*: done in a DECIMAL that holds every value. Whatever cannot be widened is left as it is.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

from workbench.sql.algebra.arithmetic import decimal_of, number, result_type
from workbench.sql.algebra.expressions import Call, Constant, Expression
from workbench.sql.algebra.planning_cache import cached
from workbench.sql.algebra.types import DATE, INTEGER, MAX_PRECISION, DataType, Kind, as_decimal

_EPOCH = Constant(dt.date(1970, 1, 1), DATE)
_FIRST_DAY, _LAST_DAY = ((day - dt.date(1970, 1, 1)).days for day in (dt.date.min, dt.date.max))
MAX_SHIFT = 4_000_000
"""Days a date may be moved by as a date, more than ten thousand years: far from the 32 bits of Spark's dates."""


def exact_value(value: object) -> Fraction | None:
    """The number of a constant of an exact type; ``None`` for any other constant.

    Example:
        >>> str(exact_value(Decimal("0.50"))), str(exact_value(dt.date(1970, 1, 3))), exact_value("1")
        ('1/2', '2', None)
    """
    match value:
        case bool() | dt.datetime():
            return None
        case int() | Decimal():
            return Fraction(value)
        case dt.date():
            return Fraction((value - dt.date(1970, 1, 1)).days)
    return None


def exact_constant_of(value: Fraction) -> Constant | None:
    """The constant for an exact number; ``None`` where its digits do not end, or are more than 38.

    Example:
        >>> exact_constant_of(Fraction(5, 2)).value, exact_constant_of(Fraction(1, 3))
        (Decimal('2.5'), None)
    """
    digits = _fraction_digits(value.denominator)
    if digits is None or abs(value) * 10**digits >= 10**MAX_PRECISION:
        return None
    return number(Decimal(f"{int(value * 10**digits)}E-{digits}"))


def date_constant(days: Fraction) -> Constant | None:
    """The DATE a number of days after 1970-01-01; ``None`` outside of the years 1 to 9999."""
    if days.denominator != 1 or not _FIRST_DAY <= days <= _LAST_DAY:
        return None
    return Constant(dt.date(1970, 1, 1) + dt.timedelta(days=int(days)), DATE)


def _fraction_digits(denominator: int) -> int | None:
    """How many decimal digits a fraction has; ``None`` when they do not end within 38."""
    return next((n for n in range(MAX_PRECISION + 1) if 10**n % denominator == 0), None)


# Which steps are exact for every value.


def _digits(type_: DataType) -> tuple[int, int]:
    return type_.precision - type_.scale, type_.scale


@cached(2**14)
def _greatest(expression: Expression) -> Fraction:
    """The greatest absolute value of a number; of sums and products it follows from that of their parts."""
    match expression:
        case Constant(value) if (exact := exact_value(value)) is not None:
            return abs(exact)
        case Call("+" | "-", (left, right)) if expression.type.kind is Kind.DECIMAL:
            return _greatest(left) + _greatest(right)
        case Call("*", (left, right)) if expression.type.kind is Kind.DECIMAL:
            return _greatest(left) * _greatest(right)
        case Call("cast", (inner,)) if is_lossless(inner.type, expression.type):
            return _greatest(inner)
    if expression.type.kind is Kind.INTEGER:
        return Fraction(2**63)
    return Fraction(10**expression.type.precision - 1, 10**expression.type.scale)


def _holds_all(operator: str, left: Expression, right: Expression, type_: DataType) -> bool:
    """Whether a DECIMAL type holds every result of an operator: its digits before and after the point."""
    a_scale, b_scale = decimal_of(left).scale, decimal_of(right).scale
    match operator:
        case "*":
            greatest, scale = _greatest(left) * _greatest(right), a_scale + b_scale
        case "/":
            divisor = exact_value(right.value) if isinstance(right, Constant) else None
            more = _fraction_digits(abs((1 / divisor).denominator)) if divisor else None
            if divisor is None or more is None:
                return False
            greatest, scale = _greatest(left) / abs(divisor), a_scale + more
        case _:
            greatest, scale = _greatest(left) + _greatest(right), max(a_scale, b_scale)
    return type_.scale >= scale and greatest * 10**type_.scale < 10**type_.precision


def is_exact_decimal(expression: Call) -> bool:
    """Whether ``+ - * /`` of exact numbers has a DECIMAL type that holds every result."""
    left, right = expression.arguments
    exact = all(e.type.kind in (Kind.INTEGER, Kind.DECIMAL) for e in (left, right, expression))
    known = all(e.value is not None for e in expression.arguments if isinstance(e, Constant))
    decimal_ = expression.type.kind is Kind.DECIMAL
    return exact and known and decimal_ and _holds_all(expression.function, left, right, expression.type)


def is_bounded_quotient(expression: Call) -> bool:
    """Whether the DECIMAL type of a quotient by a constant holds each result, rounded to the digits of the type."""
    left, right = expression.arguments
    divisor = exact_value(right.value) if isinstance(right, Constant) else None
    if not divisor or expression.type.kind is not Kind.DECIMAL or left.type.kind not in (Kind.INTEGER, Kind.DECIMAL):
        return False
    divided, type_ = decimal_of(left), expression.type
    greatest = Fraction(10**divided.precision - 1, 10**divided.scale) / abs(divisor)
    return greatest * 10**type_.scale + Fraction(1, 2) < 10**type_.precision


def is_exact_sum(expression: Call) -> bool:
    """Whether a sum or difference is exact: of such numbers, of two dates, or of a date and a few days."""
    left, right = expression.arguments
    if left.type != DATE:
        return is_exact_decimal(expression)
    return right.type == DATE or _is_shift(right)


def _is_shift(expression: Expression) -> bool:
    """Whether it is a constant number of days by which a date is moved as a date."""
    return isinstance(expression, Constant) and isinstance(expression.value, int) and abs(expression.value) <= MAX_SHIFT


def is_lossless(source: DataType, target: DataType) -> bool:
    """Whether a cast to a DECIMAL keeps every value."""
    if target.kind is not Kind.DECIMAL or source.kind not in (Kind.INTEGER, Kind.DECIMAL):
        return False
    return all(have <= get for have, get in zip(_digits(as_decimal(source)), _digits(target), strict=True))


# INTEGER arithmetic without overflow.


@cached(2**14)
def widened_expression(expression: Expression) -> Expression:
    """The expression with its INTEGER arithmetic in a DECIMAL that holds every value, in the same order.

    A date moved by a number of days that is no small constant becomes a number of days. What cannot be widened, such as
    a product of three columns, is left as it is.

    Example:
        >>> from workbench.sql.algebra.expressions import Column, text
        >>> text(widened_expression(Call("+", (Column("a", INTEGER), Constant(1, INTEGER)), INTEGER)))
        '(cast(a as decimal(19,0)) + 1)'
    """
    match expression:
        case Call("+" | "-" | "*" | "/" as operator, arguments) if expression.type.exact:
            left, right = (widened_expression(a) for a in arguments)
            if DATE in (left.type, right.type) or DATE in (a.type for a in arguments):
                return _widened_dates(expression, left, right)
            if expression.type.kind is Kind.DECIMAL and (left, right) == arguments:
                return expression
            return exact_call(operator, left, right) or expression
        case Call("neg", (argument,)) if expression.type.exact:
            inner = _operand(widened_expression(argument))
            return replace(expression, arguments=(inner,), type=inner.type)
        case Call("cast", (argument,)):
            inner = widened_expression(argument)
            return replace(expression, arguments=(inner,)) if is_lossless(inner.type, expression.type) else expression
    return expression


def widened_sides(*sides: Expression) -> tuple[Expression, ...]:
    """The sides of a comparison of exact numbers, none of which overflows; other sides as they are.

    Where only some of them are dates, all are numbers of days.
    """
    if not all(side.type.exact for side in sides):
        return sides
    wide = tuple(map(widened_expression, sides))
    dates = [side.type == DATE for side in wide]
    return tuple(map(days, wide)) if any(dates) and not all(dates) else wide


def _widened_dates(expression: Call, left: Expression, right: Expression) -> Expression:
    if left.type == DATE and (right.type == DATE or _is_shift(right)):
        return replace(expression, arguments=(left, right))
    return exact_call(expression.function, days(left), days(right)) or expression


def days(expression: Expression) -> Expression:
    """A date as its days since 1970-01-01; any other expression unchanged."""
    if expression.type != DATE:
        return expression
    if isinstance(expression, Constant):
        exact = exact_value(expression.value)
        return Constant(None if exact is None else int(exact), INTEGER)
    return Call("-", (expression, _EPOCH), INTEGER)


def exact_call(operator: str, left: Expression, right: Expression) -> Expression | None:
    """``+ - * /`` of INTEGERs and DECIMALs in a DECIMAL that holds every result; ``None`` when there is none."""
    left, right = _operand(left), _operand(right)
    result = Call(operator, (left, right), result_type(operator, left, right))
    if isinstance(left, Constant) and isinstance(right, Constant):
        a, b = exact_value(left.value), exact_value(right.value)
        if a is None or b is None or operator == "/":
            return None
        return exact_constant_of({"+": a + b, "-": a - b, "*": a * b}[operator])
    return result if is_exact_decimal(result) else None


def _operand(expression: Expression) -> Expression:
    if expression.type.kind is Kind.INTEGER and not isinstance(expression, Constant):
        return Call("cast", (expression,), as_decimal(INTEGER))
    return expression
