"""Numbers as texts in spark: FORMAT_STRING and PRINTF, FORMAT_NUMBER, CONV; and TO_BINARY."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlglot import exp

from workbench.sql.algebra.coercion import TypeClash, as_string, is_null
from workbench.sql.algebra.expressions import Call, Constant, Expression, columns
from workbench.sql.algebra.types import STRING, DataType, Kind
from workbench.sql.functions.calls import call
from workbench.sql.functions.declaration import Arguments, function
from workbench.sql.functions.reading import ExpressionBinder, reads, reads_name
from workbench.sql.syntax.dialects import SPARK_FAMILY

PART_OF_FORMAT = re.compile(r"%(?:([0-9]+)\$)?([-+ 0,(]*)([0-9]*)(?:\.([0-9]+))?([a-zA-Z%])")
"""A part of a format: the number of its value, flags, width, precision and letter."""
_NUMBERS = frozenset({Kind.DOUBLE})
_TEXTS = frozenset({Kind.STRING, Kind.INTEGER, Kind.DOUBLE, Kind.DECIMAL, Kind.BOOLEAN})
_CONVERSIONS = {
    **dict.fromkeys("sS", (_TEXTS, frozenset("-"))),
    **dict.fromkeys("xXo", (frozenset({Kind.INTEGER}), frozenset("-0"))),
    **dict.fromkeys("eEgG", (_NUMBERS, frozenset("-+ 0("))),
    "d": (frozenset({Kind.INTEGER}), frozenset("-+ 0,(")),
    "f": (_NUMBERS, frozenset("-+ 0,(")),
}
"""Letter -> the kinds of values that it writes, and the flags that it has."""
_BITS = 64


def format_string(b: ExpressionBinder, node: exp.Expr, pattern: Expression, values: Sequence[Expression]) -> Expression:
    """FORMAT_STRING('%s: %.2f', s, x), as Java's formatter writes; a NULL is written as null.

    Raises:
        UnsupportedError: the format is not constant, or the values do not fit it.
    """
    if is_null(pattern):
        return Constant(None, STRING)
    if not isinstance(pattern, Constant) or not isinstance(pattern.value, str):
        b.source.refuse("a format that is not constant", node, "write the format into the query")
    hint = "%d of a whole number, %s of a text, %.2f of a DOUBLE; a date is CAST AS STRING"
    rest, place = pattern.value, 0
    for match in PART_OF_FORMAT.finditer(pattern.value):
        rest = rest.replace(match[0], "", 1)
        number, flags, width, precision, kind = match.groups()
        if kind in "%n":
            fits = not (number or flags or width or precision)
        else:
            at = int(number) - 1 if number else place
            place += not number
            fits = at < len(values) and _fits(values[at], flags, width, precision, kind)
        if not fits:
            b.source.refuse(f"{match[0]} in this format", node, hint)
    if "%" in rest:
        b.source.refuse("this format", node, hint)
    return call("format_string", pattern, *values)


def _fits(value: Expression, flags: str, width: str, precision: str | None, kind: str) -> bool:
    """Whether Java's formatter takes it, and Spark gives the value as it is to it."""
    kinds, known = _CONVERSIONS.get(kind, (frozenset(), frozenset()))
    if not kinds or not (is_null(value) or value.type.kind in kinds):
        return False
    if len({*flags}) < len(flags) or not {*flags} <= known or {*flags} >= {"-", "0"}:
        return False
    if {*flags} >= {"+", " "} or ({*flags} & {"-", "0"} and not width) or (precision is not None and kind in "dxXo"):
        return False
    # Of 32 bits negative numbers have other digits.
    whole = isinstance(value, Constant) and isinstance(value.value, int) and value.value >= 0
    return (
        kind not in "xXo" or is_null(value) or whole or (not isinstance(value, Constant) and value.type.bits == _BITS)
    )


@reads_name("format_number", takes=2, dialects=SPARK_FAMILY)
def format_number(b: ExpressionBinder, arguments: list[Expression]) -> Expression:
    """FORMAT_NUMBER(x, 2), as 1,234.50."""
    value, digits = arguments
    if is_null(value) or is_null(digits):
        return Constant(None, STRING)
    if not value.type.numeric or not isinstance(digits, Constant) or not isinstance(digits.value, int):
        raise TypeClash("FORMAT_NUMBER takes a number, and a constant number of digits", value, "FORMAT_NUMBER(x, 2)")
    return call("format_number", value, digits)


@reads_name("try_to_binary", dialects=SPARK_FAMILY)
def try_to_binary(b: ExpressionBinder, arguments: list[Expression]) -> Expression:
    """TRY_TO_BINARY(s, 'hex'), also 'base64' and 'utf-8'."""
    if not 1 <= len(arguments) <= 2:
        raise TypeClash(f"TRY_TO_BINARY takes 1 to 2 arguments, not {len(arguments)}")
    text, form = (as_string(argument) for argument in (*arguments, Constant("hex", STRING))[:2])
    if columns(form):
        raise TypeClash("the format of TRY_TO_BINARY is constant", form, "TRY_TO_BINARY(s, 'hex')")
    return call("try_to_binary", text, form)


@reads(exp.ToBinary, parts="this format", dialects=SPARK_FAMILY)
def to_binary(b: ExpressionBinder, node: exp.ToBinary) -> Expression:
    """TO_BINARY, NULL of what is no such text."""
    return try_to_binary(b, b.parts(node, "this", "format"))


def _conv(text: str, source: int, target: int) -> str | None:
    """The digits of a number in another base, by unsigned 64 bits: what is beyond them is all ones.

    As ``NumberConverter`` of Spark does: digits end where the first that is none stands.
    """
    if not 2 <= source <= 36 or not 2 <= abs(target) <= 36 or not (text := text.strip(" ")):
        return None
    negative = text.startswith("-")
    value = 0
    for digit in text[negative:]:
        at = "0123456789abcdefghijklmnopqrstuvwxyz".find(digit.lower() if digit.isascii() else "?")
        if not 0 <= at < source:
            break
        value = min(value * source + at, 2**64 - 1)
    if negative and target > 0:
        value = 2**64 - 1 if value >= 2**63 else -value % 2**64
    if target < 0 and value >= 2**63:
        value, negative = 2**64 - value, True
    digits = ""
    while value:
        value, place = divmod(value, abs(target))
        digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[place] + digits
    return "-" * (negative and target < 0) + (digits or "0")


@reads_name("conv", takes=3, dialects=SPARK_FAMILY)
def conv(b: ExpressionBinder, arguments: list[Expression]) -> Expression:
    """CONV('ff', 16, 10): a number in another base; below 0 the base is of signed numbers."""
    return call("conv", as_string(arguments[0]), *arguments[1:])


def _rule(arguments: Arguments) -> tuple[Arguments, DataType]:
    return arguments, STRING


def _number_sql(expression: Call, arguments: Sequence[str]) -> str:
    return f"format_number({arguments[0]}, try_cast({arguments[1]} as int))"


DECLARED = [
    function("format_string(format[, value...])", rule=_rule, of_null=True,
             spark=lambda expression, arguments: f"format_string({', '.join(arguments)})"),
    function("format_number(number, digits)", _number_sql, rule=_rule),
    function("try_to_binary(string, string): binary", "try_to_binary({0}, {1})"),
    function("conv(string, integer, integer): string", python=_conv),
]  # fmt: skip
