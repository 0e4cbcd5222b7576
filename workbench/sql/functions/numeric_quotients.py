"""Quotients of exact numbers as PostgreSQL rounds them, as Spark SQL.

PostgreSQL keeps at least 16 significant digits: 16 - 4 * q digits behind the point, where 10000 to the power of q is
the weight of the quotient, estimated from the first digits of both numbers to the base 10000 (``select_div_scale`` in
its numeric.c). It keeps as many digits as either number has, if these are more; such quotients are NULL here, as are
those of less than one ten-thousandth, of which it keeps more than 20 digits. A check of the query tells them from NULL
(``sql/checks.py``).
"""

from __future__ import annotations

from collections.abc import Sequence

from workbench.sql.algebra.expressions import Call
from workbench.sql.algebra.types import DataType, Kind
from workbench.sql.functions.declaration import let

_BASE = 4
"""Decimal digits in a digit to the base 10000."""
_LEAST = 16
"""Digits behind the point of a quotient from 1 to 9999."""


def numeric_quotient_sql(expression: Call, arguments: Sequence[str]) -> str:
    """The quotient, exactly rounded half away from zero; NULL by zero, and where its digits cannot be kept."""
    scales = [_decimal(argument.type)[1] for argument in expression.arguments]
    scale, kept = max(scales), expression.type.scale
    zeros = "0" * (-scale % _BASE)
    unscaled = [_unscaled(sql, a.type, scale) for sql, a in zip(arguments, expression.arguments, strict=True)]
    negative = " <> ".join(f"({sql} < 0)" for sql in arguments)
    exact = "cast({0} as decimal(38,0))"
    first = struct_sql(a=unscaled[0], b=unscaled[1], negative=negative)
    digits = struct_sql(
        a=f"concat(cast(x.a as string), '{zeros}')",
        b=f"concat(cast(x.b as string), '{zeros}')",
        rest="try_mod(x.a, x.b)",
    )
    behind = struct_sql(
        rest="y.rest",
        digits=f"{_LEAST} - {_BASE} * ({_groups('y.a')} - {_groups('y.b')}"
        f" - if({_first_digit('y.a')} <= {_first_digit('y.b')}, 1, 0))",
        whole="try_cast(try_divide(try_subtract(x.a, y.rest), x.b) as decimal(38,0))",
    )
    part = struct_sql(scaled=f"try_multiply(z.rest, {exact.format('rpad(1, z.digits + 1, 0)')})")
    left = struct_sql(rest="try_mod(u.scaled, x.b)")
    # Half of the divisor or more is left: rounded away from zero.
    rounded = (
        "try_add(try_cast(try_divide(try_subtract(u.scaled, v.rest), x.b) as decimal(38,0)),"
        " if(v.rest >= try_subtract(x.b, v.rest), 1BD, 0BD))"
    )
    ten = exact.format(f"rpad(1, {kept + 1}, 0)")
    total = (
        f"try_cast(try_add(try_multiply(z.whole, {ten}),"
        f" try_multiply({rounded}, {exact.format(f'rpad(1, {kept + 1} - z.digits, 0)')})) as string)"
    )
    value = f"try_cast(concat(left(t.n, length(t.n) - {kept}), '.', right(t.n, {kept})) as {expression.type})"
    padded = f"lpad({total}, greatest({kept + 1}, length({total})), '0')"
    signed = let("t", struct_sql(n=padded), f"if(x.negative, -{value}, {value})")
    body = let("u", part, let("v", left, signed))
    chosen = (
        "case when x.b is null or x.b = 0 then null when x.a = 0 then 0"
        f" when z.digits between {scale} and {kept} then {body} end"
    )
    return let("x", first, let("y", digits, let("z", behind, f"cast({chosen} as {expression.type})")))


def quotient_digits(number: int, divisor: int) -> int:
    """The digits behind the point that PostgreSQL keeps of a quotient at least; both have digits in fours behind it.

    Example:
        >>> quotient_digits(10, 4), quotient_digits(1, 4), quotient_digits(10**9, 3)
        (16, 20, 8)
    """
    (groups, first), (of_divisor, first_of_divisor) = map(_groups_of, (number, divisor))
    return _LEAST - _BASE * (groups - of_divisor - (first <= first_of_divisor))


def _groups_of(number: int) -> tuple[int, int]:
    """How many digits to the base 10000 a number has, and the first."""
    groups = -(-len(str(number)) // _BASE)
    return groups, int(number // 10 ** (_BASE * (groups - 1)))


def _unscaled(sql: str, type_: DataType, scale: int) -> str:
    """The digits of a number without its sign, as a whole number with a given number of them behind the point."""
    precision, own = _decimal(type_)
    power = f"cast(rpad(1, {scale + 1}, 0) as decimal({scale + 1},0))"
    return f"try_cast(try_multiply(abs(cast({sql} as decimal({precision},{own}))), {power}) as decimal(38,0))"


def _decimal(type_: DataType) -> tuple[int, int]:
    return (20, 0) if type_.kind is Kind.INTEGER else (type_.precision, type_.scale)


def _groups(digits: str) -> str:
    """How many digits to the base 10000 there are."""
    return f"int(ceil(length({digits}) / {_BASE}))"


def _first_digit(digits: str) -> str:
    """The first digit to the base 10000."""
    return f"int(left({digits}, length({digits}) - {_BASE} * ({_groups(digits)} - 1)))"


def struct_sql(**fields: str) -> str:
    """SQL of values under names."""
    return f"named_struct({', '.join(f'{name!r}, {sql}' for name, sql in fields.items())})"
