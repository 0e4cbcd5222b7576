"""Parts and characters of texts in DuckDB, whose places below 0 count from the end, and what is computed of bits.

SUBSTRING(s, n[, m])   LEFT(s, n)   s[n]   s[n:m]   CHR(n)   UNICODE(s)   a // b   a << b   TO_BASE(n, 16)
"""

from __future__ import annotations

import math

from sqlglot import exp

from workbench.sql.algebra.expressions import Constant, Expression
from workbench.sql.algebra.types import BOOLEAN, DOUBLE, INTEGER, Kind
from workbench.sql.functions.calls import call, cast
from workbench.sql.functions.declaration import function
from workbench.sql.functions.reading import ExpressionBinder, reads, reads_name
from workbench.sql.functions.texts_of_postgres import is_at_least
from workbench.sql.syntax.dialects import ONLY_DUCKDB, ONLY_POSTGRES

_LOWEST, _HIGHEST = -(2**63), 2**63 - 1
_BITS = 64


def _part(text: str, start: int, length: int | None = None) -> str:
    """SUBSTRING: place 0 is before the first one; a length below 0 goes back."""
    begin = start - 1 if start > 0 else (len(text) + start if start < 0 else -1)
    if length is None:
        return text[max(begin, 0) :]
    begin, end = sorted((begin, begin + length))
    return text[max(begin, 0) : max(end, 0)]


def _left(text: str, count: int) -> str:
    return text[: count if count >= 0 else max(len(text) + count, 0)]


def _right(text: str, count: int) -> str:
    return text[len(text) - min(count, len(text)) :] if count >= 0 else text[-count:]


def _character(text: str, place: int) -> str:
    begin = place - 1 if place > 0 else len(text) + place
    return text[begin : begin + 1] if begin >= 0 and place else ""


def _between(text: str, first: int, last: int) -> str:
    first, last = (len(text) + place + 1 if place < 0 else place for place in (first, last))
    return text[max(first, 1) - 1 : max(last, 0)]


def _chr(code: int) -> str | None:
    return chr(code) if 0 <= code < 0xD800 or 0xE000 <= code < 0x110000 else None


def _shifted_left(number: int, bits: int) -> int | None:
    """NULL where DuckDB has an error: of a number below 0, by bits below 0, and where a bit would get lost.

    Example:
        >>> _shifted_left(3, 2), _shifted_left(0, 64), _shifted_left(1, 64)
        (12, 0, None)
    """
    if number < 0 or bits < 0 or (number and bits >= _BITS):
        return None
    if not number:
        return 0
    return number << bits if number << bits <= _HIGHEST else None


def _lcm(one: int, other: int) -> int | None:
    found = math.lcm(one, other)
    return found if found <= _HIGHEST else None


def _gcd(one: int, other: int) -> int | None:
    found = math.gcd(one, other)
    return found if found <= _HIGHEST else None


def _in_base(number: int, base: int, least: int = 1) -> str | None:
    """TO_BASE: the digits of a number, zeros before them."""
    if number < 0 or not 2 <= base <= 36 or not 0 <= least <= _BITS:
        return None
    digits = ""
    while number:
        number, digit = divmod(number, base)
        digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[digit] + digits
    return digits.rjust(max(least, 1), "0")


@reads(exp.Substring, parts="this start length", dialects=ONLY_DUCKDB)
def part(b: ExpressionBinder, node: exp.Substring) -> Expression:
    """SUBSTRING(s, n[, m])."""
    if node.args.get("start") is None:
        raise b.source.error("substr takes 2 to 3 arguments, not 1", node, "write substr(str, pos[, len])")
    text, start, *length = b.parts(node, "this", "start", "length")
    if is_at_least(start, 1) and all(is_at_least(part, 0) for part in length):
        return call("substr", text, start, *length)
    return call("part_in_duckdb", text, start, *length)


@reads(exp.Left, exp.Right, parts="this expression", dialects=ONLY_DUCKDB)
def end(b: ExpressionBinder, node: exp.Left | exp.Right) -> Expression:
    """LEFT(s, n) and RIGHT(s, n): of n below 0 all but that number of characters at the other end."""
    text, count = b.parts(node, "this", "expression")
    if isinstance(node, exp.Left):
        one = Constant(1, INTEGER)
        return call("substr", text, one, count) if is_at_least(count, 0) else call("left_in_duckdb", text, count)
    return call("right", text, count) if is_at_least(count, 0) else call("right_in_duckdb", text, count)


def character(b: ExpressionBinder, text: Expression, node: exp.Bracket) -> Expression:
    """``s[n]`` and ``s[n:m]`` of a text."""
    place = node.expressions[0]
    if isinstance(place, exp.Slice):
        if place.args.get("step") is not None:
            b.source.refuse("a part of a text in steps", place, "s[2:3] has all characters between two places")
        bounds = ((place.this, 1), (place.expression, -1))
        ends = (Constant(open_, INTEGER) if side is None else b.bind(side) for side, open_ in bounds)
        return call("between_in_duckdb", text, *ends)
    return call("character_in_duckdb", text, b.bind(place))


@reads(exp.Contains, parts="this expression", dialects=ONLY_DUCKDB)
def contains(b: ExpressionBinder, node: exp.Contains) -> Expression:
    """CONTAINS of a text, or of a list."""
    whole, sought = b.parts(node, "this", "expression")
    if whole.type.kind is Kind.ARRAY:
        return b.bind(exp.ArrayContains(this=node.this.copy(), expression=node.expression.copy()))
    return call("contains", whole, sought)


@reads(exp.IntDiv, parts="this expression", dialects=ONLY_DUCKDB)
def quotient(b: ExpressionBinder, node: exp.IntDiv) -> Expression:
    """``a // b``: of whole numbers towards zero, of others ``/``."""
    sides = b.parts(node, "this", "expression")
    if all(side.type.kind is Kind.INTEGER for side in sides):
        return call("div", *sides)
    return call("/", *(cast(side, DOUBLE) for side in sides))


@reads(exp.IsInf, dialects=ONLY_DUCKDB)
def is_infinite(b: ExpressionBinder, node: exp.IsInf) -> Expression:
    """ISINF(x); no date or time is infinite here."""
    return _whether("is_infinite", b.bind(node.this), of_times=False)


reads_name("isfinite", takes=1, dialects=ONLY_DUCKDB)(
    lambda b, arguments: _whether("isfinite", arguments[0], of_times=True)
)


def _whether(name: str, value: Expression, of_times: bool) -> Expression:
    if value.type.kind not in (Kind.DATE, Kind.TIMESTAMP):
        return call(name, value)
    return call("case", call("is_null", value), Constant(None, BOOLEAN), Constant(of_times, BOOLEAN))


reads_name("bin", takes=1, dialects=ONLY_DUCKDB)(lambda b, arguments: call("bin", *arguments))
reads_name("strlen", takes=1, dialects=ONLY_DUCKDB)(lambda b, arguments: call("octet_length", *arguments))
reads_name("octet_length", takes=1, dialects=ONLY_POSTGRES)(lambda b, arguments: call("octet_length", *arguments))


DECLARED = [
    function("part_in_duckdb(string, integer[, integer]): string", python=_part),
    function("left_in_duckdb(string, integer): string", python=_left),
    function("right_in_duckdb(string, integer): string", python=_right),
    function("character_in_duckdb(string, integer): string", python=_character),
    function("between_in_duckdb(string, integer, integer): string", python=_between),
    function("chr_in_duckdb(integer): string", python=_chr, nodes=[exp.Chr], parts="expressions",
             dialects=ONLY_DUCKDB),
    function("unicode(string): integer", python=lambda text: ord(text[0]) if text else -1, names="ord",
             nodes=[exp.Unicode], dialects=ONLY_DUCKDB,
             help="unicode(text) Returns the number of the first character in Unicode, -1 of an empty text.",
             example="SELECT unicode('é') → 233"),
    function("is_nan_in_duckdb(double): boolean", python=math.isnan, nodes=[exp.IsNan], dialects=ONLY_DUCKDB),
    function("is_infinite(double): boolean", python=math.isinf),
    function("isfinite(double): boolean", python=math.isfinite, dialects=ONLY_DUCKDB,
             help="isfinite(x) Returns whether x is neither NaN nor infinite.",
             example="SELECT isfinite(5.5) → true"),
    function("left_shift(integer, integer): integer", python=_shifted_left, nodes=[exp.BitwiseLeftShift],
             dialects=ONLY_DUCKDB),
    function("right_shift(integer, integer): integer", nodes=[exp.BitwiseRightShift], dialects=ONLY_DUCKDB,
             python=lambda number, bits: number >> bits if 0 <= bits < _BITS else 0),
    function("gcd(integer, integer): integer", python=_gcd, names="gcd greatest_common_divisor",
             dialects=ONLY_DUCKDB,
             help="gcd(a, b) Returns the greatest common divisor.", example="SELECT gcd(12, 18) → 6"),
    function("lcm(integer, integer): integer", python=_lcm, names="lcm least_common_multiple", dialects=ONLY_DUCKDB,
             help="lcm(a, b) Returns the least common multiple.", example="SELECT lcm(4, 6) → 12"),
    function("to_base(integer, integer[, integer]): string", python=_in_base, names="to_base", dialects=ONLY_DUCKDB,
             help="to_base(number, base[, digits]) Returns the number in a base from 2 to 36.",
             example="SELECT to_base(255, 16) → FF"),
]  # fmt: skip
