"""NUMERIC without digits, as PostgreSQL has it: a number keeps the digits that it has.

So a whole number, a DECIMAL and a constant are what they are, with a type of just their digits. A DOUBLE has 15
significant digits there, whose number behind the point depends on its value: it is read where ROUND says how many are
left, ``ROUND(x::numeric, 2)``, and refused elsewhere. PostgreSQL's 15 digits are those of the exact value of the binary
number, half to even, and ROUND goes half away from zero; both are computed without rounding in between.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal

from sqlglot import exp

from workbench.sql.algebra.coercion import TypeClash, is_null
from workbench.sql.algebra.expressions import Call, Constant, Expression
from workbench.sql.algebra.types import DOUBLE, INTEGER, MAX_PRECISION, DataType, Kind, decimal
from workbench.sql.functions.calls import call, cast
from workbench.sql.functions.declaration import Arguments, function, let
from workbench.sql.functions.numeric_quotients import struct_sql
from workbench.sql.functions.reading import ExpressionBinder

ROUNDED_NUMERIC = "rounded_numeric"
"""ROUND of a DOUBLE as NUMERIC; NULL of what has no such number, which a check of the query tells from NULL."""
FIFTEEN_DIGITS = "fifteen_digits"
"""A DOUBLE with the digits of its NUMERIC."""
MOST_ROUNDED_DIGITS = 5
"""Digits behind the point to which a DOUBLE is rounded so."""
_WHOLE = 19
"""Digits before the point that are kept."""
_SIGNIFICANT = 15
_OF_BITS = {8: 3, 16: 5, 32: 10, 64: 19}
"""Bits of an INTEGER -> its digits."""
_TEXT = re.compile(r"\s*([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?)\s*")


def numeric(b: ExpressionBinder, node: exp.Expr, value: Expression) -> Expression:
    """``x::numeric``, with the digits that the value has.

    Raises:
        UnsupportedError: they depend on the row.
        SqlError: a constant is no number, or has more than 38 digits.
    """
    if is_null(value):
        return Constant(None, decimal(1, 0))
    if isinstance(value, Constant):
        return _constant(b, node, value)
    if value.type.kind is Kind.INTEGER:
        return cast(value, decimal(_OF_BITS[value.type.bits], 0))
    if value.type.kind is not Kind.DECIMAL:
        hint = "ROUND(x::numeric, 2) has two; else write NUMERIC(p,s)"
        b.source.refuse(
            f"NUMERIC without digits, of a {value.type.kind}, whose digits depend on its value,", node, hint
        )
    return value


def _constant(b: ExpressionBinder, node: exp.Expr, value: Constant) -> Constant:
    written = f"{value.value:.{_SIGNIFICANT}g}" if value.type == DOUBLE else str(value.value)
    if value.type.kind not in (Kind.STRING, Kind.DOUBLE, Kind.INTEGER, Kind.DECIMAL):
        raise b.source.error(f"a {value.type.kind} cannot be cast to numeric", node)
    found = _TEXT.fullmatch(written)
    if found is None:
        b.source.refuse(f"'{written}' as NUMERIC", node, "numbers here are finite: write it with digits")
    exact = Decimal(found[1])
    _, digits, exponent = exact.as_tuple()
    scale = max(0, -int(exponent))
    precision = max(len(digits) + max(0, int(exponent)), scale)
    if precision > MAX_PRECISION:
        raise b.source.error("a number has at most 38 digits", node)
    return Constant(exact.quantize(Decimal(1).scaleb(-scale)), decimal(precision, scale))


def rounded_double(
    b: ExpressionBinder, node: exp.Expr, cast_node: exp.Expr, digits: exp.Expr | None
) -> Expression | None:
    """``ROUND(x::numeric, 2)`` of a DOUBLE that is no constant; ``None`` of anything else.

    Raises:
        UnsupportedError: to other digits than a constant from 0 to 5.
    """
    value = _double(b, cast_node)
    if value is None:
        return None
    places = Constant(0, INTEGER) if digits is None else b.bind(digits)
    if (
        not isinstance(places, Constant)
        or not isinstance(places.value, int)
        or not 0 <= places.value <= MOST_ROUNDED_DIGITS
    ):
        hint = f"write a constant from 0 to {MOST_ROUNDED_DIGITS}, or ROUND of a NUMERIC(p,s)"
        b.source.refuse("ROUND of a DOUBLE as NUMERIC to such digits", node, hint)
    return call(ROUNDED_NUMERIC, value, places)


def double_as_numeric(b: ExpressionBinder, cast_node: exp.Expr) -> Expression | None:
    """``x::numeric`` of a DOUBLE, its 15 digits as a DOUBLE again, of which statistics are made; ``None`` of others."""
    value = _double(b, cast_node) if b.rules.numeric_keeps_digits else None
    return None if value is None else call(FIFTEEN_DIGITS, value)


def _is_numeric(node: exp.Expr) -> bool:
    """Whether a node is a cast to NUMERIC without digits."""
    return isinstance(node, exp.Cast) and node.args["to"].this == exp.DType.DECIMAL and not node.args["to"].expressions


def _double(b: ExpressionBinder, cast_node: exp.Expr) -> Expression | None:
    """The DOUBLE that is cast to NUMERIC without digits, and is no constant."""
    of = cast_node.unnest()
    if not _is_numeric(of):
        return None
    value = b.bind(of.this)
    return None if value.type != DOUBLE or isinstance(value, Constant) else value


def _type(arguments: Arguments) -> tuple[Arguments, DataType]:
    if arguments[0].type != DOUBLE:
        raise TypeClash(f"a DOUBLE is needed, not {arguments[0].type}", arguments[0])
    digits = arguments[1].value if isinstance(arguments[1], Constant) else None
    assert isinstance(digits, int)
    return arguments, decimal(_WHOLE + digits, digits)


def _rounded_sql(expression: Call, arguments: Sequence[str]) -> str:
    """The exact value is n / q: its 15 digits are n * 10^j / q, rounded half to even, for the j that they need."""
    digits = expression.type.scale
    big = "cast({} as decimal(38,0))"
    two = f"cast({2**52} as decimal(38,0))"
    power = "cast(rpad('1', {} + 1, '0') as decimal(38,0))"
    # Below 2^-20 the number is 0 to five digits; from there on it has at most 72 binary digits behind the point.
    scaled = struct_sql(
        x=arguments[0],
        y=f"abs({arguments[0]}) * if(abs({arguments[0]}) < 1, 1048576D, 1D)",
    )
    parts = struct_sql(
        whole="floor(a.y)",
        rest="cast((a.y - floor(a.y)) * 4503599627370496D as bigint)",
        ahead=f"case when abs(a.x) < 1 then {_SIGNIFICANT} + int(abs(a.x) < 0.1D) + int(abs(a.x) < 0.01D)"
        " + int(abs(a.x) < 0.001D) + int(abs(a.x) < 0.0001D) + int(abs(a.x) < 0.00001D) + int(abs(a.x) < 0.000001D)"
        f" else {_SIGNIFICANT} - length(cast(floor(a.y) as string)) end",
        q=f"try_multiply({two}, if(abs(a.x) < 1, 1048576BD, 1BD))",
    )
    number = struct_sql(
        n=f"try_multiply(try_add(try_multiply({big.format('c.whole')}, {two}), {big.format('c.rest')}),"
        f" {power.format('greatest(c.ahead, 0)')})",
        q=f"try_multiply(c.q, {power.format('greatest(-c.ahead, 0)')})",
    )
    even = struct_sql(
        r="try_cast(try_divide(try_subtract(e.n, try_mod(e.n, e.q)), e.q) as decimal(38,0))", left="try_mod(e.n, e.q)"
    )
    up = "(f.left > try_subtract(e.q, f.left) or (f.left = try_subtract(e.q, f.left) and try_mod(f.r, 2BD) = 1))"
    significant = f"try_add(f.r, if({up}, 1BD, 0BD))"
    # To the digits asked for, half away from zero.
    cut = power.format(f"greatest(c.ahead - {digits}, 0)")
    more = power.format(f"greatest({digits} - c.ahead, 0)")
    rest = f"try_mod(h, {cut})"
    away = f"if({rest} >= try_subtract({cut}, {rest}), 1BD, 0BD)"
    fewer = f"try_add(try_cast(try_divide(try_subtract(h, {rest}), {cut}) as decimal(38,0)), {away})"
    unscaled = f"if(c.ahead > {digits}, {fewer}, try_multiply(h, {more}))"
    shown = (
        "concat(if(a.x < 0, '-', ''), left(k, length(k) - {0}), '.', right(k, {0}))"
        if digits
        else "concat(if(a.x < 0, '-', ''), k)"
    )
    whole = f"cast(cast({unscaled} as decimal(38,0)) as string)"
    padded = let("u", whole, f"lpad(u, greatest({digits} + 1, length(u)), '0')")
    value = let("k", padded, f"try_cast({shown.format(digits)} as {expression.type})")
    body = let("c", parts, let("e", number, let("f", even, let("h", significant, value))))
    small = f"when abs(a.x) < {2.0**-20!r}D then cast(0 as {expression.type})"
    within = f"when abs(a.x) < 1e18D then {body}"
    return let("a", scaled, f"(case {small} {within} end)")


DECLARED = [
    function(f"{ROUNDED_NUMERIC}(double, digits)", _rounded_sql, rule=_type, of_null=True),
    function(f"{FIFTEEN_DIGITS}(double): double", python=lambda x: float(f"{x:.{_SIGNIFICANT}g}")),
]
