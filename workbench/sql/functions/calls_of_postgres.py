"""Functions of texts and numbers as PostgreSQL computes them, in Python.

INITCAP(s)   CHR(n)   TO_HEX(n)   FORMAT('%s: %L', s, u)   QUOTE_LITERAL(s)   OVERLAY(s PLACING u FROM n)
WIDTH_BUCKET(x, 0, 10, 5)   GCD(n, k)   FACTORIAL(n)   SCALE(m)

NULL stands for what is an error there.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

from sqlglot import exp

from workbench.sql.algebra.arithmetic import fits
from workbench.sql.algebra.coercion import TypeClash, coerce, is_null
from workbench.sql.algebra.expressions import Call, Column, Constant, Expression
from workbench.sql.algebra.types import DOUBLE, INTEGER, STRING, DataType, Kind, common_type, integer
from workbench.sql.functions.calls import call, within
from workbench.sql.functions.declaration import Arguments, function
from workbench.sql.functions.json_writers import double_in_postgres
from workbench.sql.functions.letters import capital, small
from workbench.sql.functions.reading import ExpressionBinder, reads, reads_name
from workbench.sql.functions.results import as_text
from workbench.sql.functions.size_limits import MOST_SIZES
from workbench.sql.syntax.dialects import ONLY_POSTGRES

_MOST_FACTORIAL = 33
"""The factorial of the next number has more than 38 digits."""
_MOST_PARTS, _MOST_WIDTH = 100, MOST_SIZES["lpad_in_postgres"]
_PART = re.compile(r"%(?:%|(?:([0-9]+)\$)?(-*)([0-9]*)([sIL]))")


# ---- texts -----------------------------------------------------------------------------------------------------------


def _initcap(text: str) -> str:
    """Letters behind letters and digits are small, others are capitals."""
    written, inside = "", False
    for sign in text:
        written += small(sign) if inside else capital(sign)
        inside = sign.isalnum()
    return written


def _chr(code: int) -> str | None:
    return chr(code) if 0 < code < 0xD800 or 0xE000 <= code < 0x110000 else None


def nth_part(text: str, separator: str, place: int) -> str | None:
    """SPLIT_PART: places below 0 count from the end; what nothing separates is one part."""
    if not place:
        return None
    parts = text.split(separator) if separator else [text]
    at = place - 1 if place > 0 else len(parts) + place
    return parts[at] if 0 <= at < len(parts) else ""


def _overlay(text: str, other: str, start: int, length: int) -> str | None:
    if start <= 0:
        return None
    return text[: start - 1] + other + text[max(start + length - 1, 0) :]


def padding(is_left: bool, most: int) -> Callable[[str, int, str], str | None]:
    """LPAD or RPAD to at most ``most`` characters; NULL of more."""

    def pad(text: str, length: int, fill: str) -> str | None:
        if length > most:
            return None
        missing = length - len(text)
        if missing <= 0 or not fill:
            return text[: max(length, 0)]
        filled = (fill * (missing // len(fill) + 1))[:missing]
        return filled + text if is_left else text + filled

    return pad


def _quoted(text: str) -> str:
    quoted = text.replace("'", "''")
    return f"'{quoted}'" if "\\" not in text else "E'" + quoted.replace("\\", "\\\\") + "'"


@lru_cache(maxsize=512)
def _parts(pattern: str) -> tuple[str | tuple[int, int, str], ...] | None:
    """Texts, and values by their place with their width, below 0 at the left, and letter; ``None`` if it is no format.

    Example:
        >>> _parts("%s: %2$-5L%%")
        ((0, 0, 's'), ': ', (1, -5, 'L'), '%')
    """
    parts, end, place = list[str | tuple[int, int, str]](), 0, 0
    for match in _PART.finditer(pattern):
        if between := pattern[end : match.start()]:
            parts.append(between)
        end = match.end()
        number, left, width, letter = match.groups()
        if letter is None:
            parts.append("%")
            continue
        place = int(number) if number else place + 1
        parts.append((place - 1, -int(width or 0) if left else int(width or 0), letter))
    rest = pattern[end:]
    known = "%" not in rest + "".join(part for part in parts if isinstance(part, str) and part != "%")
    if not known or any(not isinstance(part, str) and (part[0] < 0 or part[2] == "I") for part in parts):
        return None
    return (*parts, rest) if rest else tuple(parts)


def _formatted(pattern: str, *values: str | None) -> str | None:
    parts = _parts(pattern)
    assert parts is not None
    return "".join(
        part if isinstance(part, str) else _format_value(values[part[0]], part[1], part[2]) for part in parts
    )


def _format_value(value: str | None, width: int, letter: str) -> str:
    text = value or "" if letter == "s" else "NULL" if value is None else _quoted(value)
    return text.rjust(width) if width > 0 else text.ljust(-width)


@reads(exp.Initcap, parts="this expression", dialects=ONLY_POSTGRES)
def capitalized(b: ExpressionBinder, node: exp.Initcap) -> Expression:
    """INITCAP(s), whose words are of letters and digits; the parser writes what else there is behind them."""
    if not (isinstance(node.expression, exp.Literal) and node.expression.name.startswith(" \t\n")):
        raise b.source.error("INITCAP takes 1 argument, not 2", node)
    return call("initcap_in_postgres", b.bind(node.this))


@reads(exp.Hex, dialects=ONLY_POSTGRES)
def hexadecimal(b: ExpressionBinder, node: exp.Hex) -> Expression:
    """TO_HEX(n), of a number below 0 the digits of its bits."""
    value = b.bind(node.this)
    if value.type.kind is not Kind.INTEGER:
        raise TypeClash(f"TO_HEX takes a whole number, not {value.type}", value, "TO_HEX(n::bigint)")
    return call("hex_in_postgres", value, Constant(_bits(value), INTEGER))


def _bits(value: Expression) -> int:
    """The bits of its type, 32 for a constant that needs no more."""
    if isinstance(value, Constant) and (not isinstance(value.value, int) or fits(value.value, integer(32))):
        return 32
    return max(value.type.bits, 32)


@reads(exp.Reverse, dialects=ONLY_POSTGRES)
def reversed_(b: ExpressionBinder, node: exp.Reverse) -> Expression:
    """REVERSE(s)."""
    return call("reverse", b.bind(node.this))


@reads(exp.SplitPart, parts="this delimiter part_index", dialects=ONLY_POSTGRES)
def part(b: ExpressionBinder, node: exp.SplitPart) -> Expression:
    """SPLIT_PART(s, separator, n)."""
    separator, place = node.args.get("delimiter"), node.args.get("part_index")
    is_plain = isinstance(separator, exp.Literal) and bool(separator.name)
    counted = isinstance(place, exp.Literal) and place.name != "0"
    name = "split_part" if is_plain and counted else "split_part_in_postgres"
    return call(name, *b.parts(node, "this", "delimiter", "part_index"))


@reads(exp.Pad, parts="this expression fill_pattern", dialects=ONLY_POSTGRES)
def padded(b: ExpressionBinder, node: exp.Pad) -> Expression:
    """LPAD(s, n[, fill]) and RPAD."""
    length = b.bind(node.expression)
    fill = b.bind(node.args["fill_pattern"]) if node.args.get("fill_pattern") else Constant(" ", STRING)
    name = "lpad_in_postgres" if node.args.get("is_left") else "rpad_in_postgres"
    return call(name, b.bind(node.this), length, fill)


@reads(exp.Overlay, parts="this expression from_ for_", dialects=ONLY_POSTGRES)
def overlaid(b: ExpressionBinder, node: exp.Overlay) -> Expression:
    """OVERLAY(text PLACING other FROM place [FOR length]); without a length that of the other."""
    text, other, start, *length = b.parts(node, "this", "expression", "from_", "for_")
    return call("overlay_in_postgres", text, other, start, *(length or [call("length", other)]))


@reads(exp.Format, parts="this expressions", dialects=ONLY_POSTGRES)
def formatted(b: ExpressionBinder, node: exp.Format) -> Expression:
    """FORMAT('%s of %L, %2$s', s, n)."""
    pattern, values = b.bind(node.this), b.parts(node, "expressions")
    if is_null(pattern):
        return Constant(None, STRING)
    if not isinstance(pattern, Constant) or not isinstance(pattern.value, str):
        b.source.refuse("a format that is not constant", node, "write the format into the query")
    parts = _parts(pattern.value)
    if parts is None or any(not isinstance(part, str) and abs(part[1]) > _MOST_WIDTH for part in parts):
        hint = "%s is a value, %L one in quotes, %% a %; of %I, a name in quotes, the rule changes with versions"
        b.source.refuse("this format", node.this, hint)
    places = [part[0] for part in parts if not isinstance(part, str)]
    if len(values) > _MOST_PARTS or max(places, default=-1) >= len(values):
        raise b.source.error("too few arguments for this format", node, "%s takes one value each")
    texts = (as_text(b, value, written) for value, written in zip(values, node.expressions, strict=True))
    return call("format_in_postgres", pattern, *texts)


def _quotes(name: str) -> Callable[[ExpressionBinder, list[Expression]], Expression]:
    return lambda b, arguments: call(name, as_text(b, arguments[0], exp.null()))


for _name in ("quote_literal", "quote_nullable"):
    reads_name(_name, takes=1, dialects=ONLY_POSTGRES)(_quotes(_name))


# ---- numbers ---------------------------------------------------------------------------------------------------------


def _in_bits(number: int, bits: int) -> str:
    return f"{number % 2**bits:x}"


def _bucket(value: float | Decimal, low: float | Decimal, high: float | Decimal, count: int) -> int | None:
    """The number of the bucket of a value; 0 before the first one, one more than there are behind the last one.

    Example:
        >>> _bucket(5.35, 0.024, 10.06, 5), _bucket(9.0, 10.0, 0.0, 5), _bucket(1.0, 0.0, 0.0, 5)
        (3, 1, None)
    """
    if count <= 0 or low == high or not all(math.isfinite(bound) for bound in (low, high)) or value != value:
        return None
    if value < low if low < high else value > low:
        return 0
    if value >= high if low < high else value <= high:
        return count + 1 if count < 2**31 - 1 else None
    if isinstance(value, Decimal):
        share = (Fraction(value) - Fraction(low)) * count / (Fraction(high) - Fraction(low))
        return math.floor(share) + 1
    assert isinstance(low, float)
    assert isinstance(high, float)
    whole = high - low
    part = (value - low) / whole if math.isfinite(whole) else (value / 2 - low / 2) / (high / 2 - low / 2)
    return min(int(count * part), count - 1) + 1


def _threshold(value: Any, thresholds: Sequence[Any]) -> int | None:
    if None in thresholds:
        return None
    if isinstance(value, float):
        thresholds = [float(threshold) for threshold in thresholds]
    return bisect_right(thresholds, _last_nan(value), key=_last_nan)


def _last_nan(value: Any) -> tuple[bool, Any]:
    """NaN is behind all numbers."""
    return (True, 0) if value != value else (False, value)


@reads(exp.WidthBucket, parts="this min_value max_value num_buckets threshold", dialects=ONLY_POSTGRES)
def bucket(b: ExpressionBinder, node: exp.WidthBucket) -> Expression:
    """WIDTH_BUCKET(x, low, high, n), of exact numbers without rounding; or of an array of thresholds."""
    if node.args.get("threshold") is not None:
        value, array = b.parts(node, "this", "threshold")
        return _bucket_of_thresholds(value, array)
    *bounds, count = b.parts(node, "this", "min_value", "max_value", "num_buckets")
    kinds = {bound.type.kind for bound in bounds if not is_null(bound)}
    if Kind.DOUBLE in kinds or Kind.DECIMAL not in kinds:
        return call("bucket_of_doubles", *bounds, count)
    if kinds - {Kind.DECIMAL, Kind.INTEGER}:
        raise TypeClash("WIDTH_BUCKET takes numbers", hint="WIDTH_BUCKET(x, 0, 100, 10)")
    return call("bucket_of_decimals", *bounds, count)


def _bucket_of_thresholds(value: Expression, array: Expression) -> Expression:
    element = array.type.element
    type_ = None if element is None else common_type(value.type, element)
    if type_ is None or not (type_.numeric or type_.kind in (Kind.DATE, Kind.TIMESTAMP)):
        raise TypeClash(f"WIDTH_BUCKET of {value.type} among {array.type}", hint="WIDTH_BUCKET(x, ARRAY[10, 20, 50])")
    return call("bucket_of_thresholds", coerce(value, type_) if type_ == DOUBLE else value, array)


def _as_decimals(arguments: Arguments) -> tuple[Arguments, DataType]:
    *values, count = arguments
    exact = (v if v.type.kind is Kind.DECIMAL else coerce(v, DataType(Kind.DECIMAL, 19, 0)) for v in values)
    return (*exact, coerce(count, INTEGER)), INTEGER


@reads_name("scale", takes=1, dialects=ONLY_POSTGRES)
def scale(b: ExpressionBinder, arguments: list[Expression]) -> Expression:
    """SCALE(m): the digits behind the point of a NUMERIC(p,s), whose type says them."""
    value = arguments[0]
    known = isinstance(value, Column | Constant) or (isinstance(value, Call) and value.function == "cast")
    if value.type.kind not in (Kind.DECIMAL, Kind.INTEGER) or not known:
        raise TypeClash("SCALE takes a column or constant of NUMERIC", value, "MIN_SCALE counts the digits of a value")
    return call("case", call("is_null", value), Constant(None, INTEGER), Constant(value.type.scale, INTEGER))


@reads_name("min_scale", takes=1, dialects=ONLY_POSTGRES)
def least_scale(b: ExpressionBinder, arguments: list[Expression]) -> Expression:
    """MIN_SCALE(m): the digits behind the point, without zeros at the end."""
    if arguments[0].type.kind is Kind.INTEGER:
        arguments = [coerce(arguments[0], DataType(Kind.DECIMAL, 19, 0))]
    if arguments[0].type.kind is not Kind.DECIMAL and not is_null(arguments[0]):
        raise TypeClash("MIN_SCALE takes a NUMERIC", arguments[0], "MIN_SCALE(x::numeric(20,6))")
    return call("least_scale", *arguments)


def _of_two_integers(name: str) -> Callable[[ExpressionBinder, list[Expression]], Expression]:
    def bind(b: ExpressionBinder, arguments: list[Expression]) -> Expression:
        if any(value.type.kind is not Kind.INTEGER and not is_null(value) for value in arguments):
            raise TypeClash(f"{name.upper()} takes whole numbers", hint=f"{name.upper()}(n::bigint, k::bigint)")
        bits = max(map(_bits, arguments))
        result = call(name, *arguments)
        return result if bits == 64 else within(result, integer(bits))

    return bind


for _name in ("gcd", "lcm"):
    reads_name(_name, takes=2, dialects=ONLY_POSTGRES)(_of_two_integers(_name))


def _least_scale(value: Decimal) -> int:
    """The digits behind the point, without zeros at the end; ``Decimal.normalize`` would round to 28 digits.

    Example:
        >>> _least_scale(Decimal("0.1234567890123456789012345678901000")), _least_scale(Decimal("120"))
        (31, 0)
    """
    _, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)
    zeros = next((at for at, digit in enumerate(reversed(digits)) if digit), -exponent)
    return max(0, -exponent - zeros)


def _acosh(x: float) -> float | None:
    return None if x < 1 else math.acosh(x)


def _atanh(x: float) -> float | None:
    if abs(x) == 1:
        return math.copysign(math.inf, x)
    return None if abs(x) > 1 else math.atanh(x)


DECLARED = [
    function("double_text_in_postgres(double): string", python=double_in_postgres),
    function("initcap_in_postgres(string): string", python=_initcap),
    function("chr_in_postgres(integer): string", python=_chr, nodes=[exp.Chr], parts="expressions",
             dialects=ONLY_POSTGRES),
    function("hex_in_postgres(integer, integer): string", python=_in_bits),
    function("split_part_in_postgres(string, string, integer): string", python=nth_part),
    function("lpad_in_postgres(string, integer, string): string", python=padding(True, _MOST_WIDTH)),
    function("rpad_in_postgres(string, integer, string): string", python=padding(False, _MOST_WIDTH)),
    function("overlay_in_postgres(string, string, integer, integer): string", python=_overlay),
    function("format_in_postgres(string[, string...]): string", python=_formatted, of_null=True),
    function("quote_literal(string): string", python=_quoted),
    function("quote_nullable(string): string", of_null=True,
             python=lambda text: "NULL" if text is None else _quoted(text)),
    function("bucket_of_doubles(double, double, double, integer): integer", python=_bucket),
    function("bucket_of_decimals(value, low, high, count): integer", rule=_as_decimals, python=_bucket),
    function("bucket_of_thresholds(value, array): integer", rule=lambda arguments: (arguments, INTEGER),
             python=_threshold),
    function("least_scale(value): integer", rule=lambda arguments: (arguments, INTEGER),
             python=_least_scale),
    function("factorial_in_postgres(integer): decimal(38,0)", nodes=[exp.Factorial], dialects=ONLY_POSTGRES,
             python=lambda n: Decimal(math.factorial(n)) if 0 <= n <= _MOST_FACTORIAL else None),
    *(function(f"{node.__name__.lower()}_in_postgres(double): double", python=python, nodes=[node],
               dialects=ONLY_POSTGRES)
      for node, python in ((exp.Asinh, math.asinh), (exp.Acosh, _acosh), (exp.Atanh, _atanh))),
]  # fmt: skip
