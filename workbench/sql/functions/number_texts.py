"""Numbers of texts, and texts of numbers and times, as DuckDB reads and writes them: casts, PRINTF and FORMAT."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from decimal import ROUND_HALF_UP, Context, Decimal
from functools import lru_cache

from sqlglot import exp

from workbench.sql.algebra.coercion import TypeClash, as_string, is_null
from workbench.sql.algebra.expressions import Call, Constant, Expression
from workbench.sql.algebra.types import DOUBLE, INTEGER, STRING, DataType, Kind
from workbench.sql.functions.calls import call, within
from workbench.sql.functions.declaration import Arguments, function, in_python
from workbench.sql.functions.formatted import format_string
from workbench.sql.functions.json_writers import timestamp_text
from workbench.sql.functions.reading import ExpressionBinder, reads, reads_call
from workbench.sql.syntax.dialects import ONLY_DUCKDB, SPARK_FAMILY

_DIGITS = r"[0-9]+(?:_[0-9]+)*"
_NUMBER = re.compile(
    rf"[ \t-\r]*([+-]?(?:({_DIGITS})(?:\.(?:{_DIGITS})?)?|\.{_DIGITS})(?:[eE][+-]?{_DIGITS})?)[ \t-\r]*"
)
_BASES = re.compile(r"[ \t-\r]*(0[xX][0-9a-fA-F]+(?:_[0-9a-fA-F]+)*|0[bB][01]+(?:_[01]+)*)[ \t-\r]*")
_UNUSUAL = re.compile(r"[ \t-\r]*([+-]?(?:inf(?:inity)?|nan))[ \t-\r]*", re.IGNORECASE)
_MOST_DIGITS, _MOST_CHARACTERS = 40, 4_000
_CONTEXT = Context(prec=4 * _MOST_DIGITS)


def _exact(text: str, most: int) -> Decimal | None:
    """The number that a text is; of very large ones an infinity. Without its exponent it is below ``most``."""
    match = _NUMBER.fullmatch(text)
    if match is None or int((match[2] or "0")[:_MOST_CHARACTERS].replace("_", "")) >= most:
        return None
    value = Decimal(match[1].replace("_", ""))
    if not value or value.adjusted() < -_MOST_DIGITS:
        return Decimal(0)
    return value if value.adjusted() < _MOST_DIGITS else Decimal("inf").copy_sign(value)


def _integer(text: str) -> int | None:
    if match := _BASES.fullmatch(text):
        whole = int(match[1].replace("_", ""), 0)
    else:
        value = _exact(text, 2**63 + text.lstrip().startswith("-"))
        if value is None or not value.is_finite():
            return None
        whole = int(value.to_integral_value(ROUND_HALF_UP))
    return whole if -(2**63) <= whole < 2**63 else None


def _double(text: str) -> float | None:
    match = _NUMBER.fullmatch(text) or _UNUSUAL.fullmatch(text)
    return None if match is None else float(match[1].replace("_", ""))


def _decimal(text: str, precision: int, scale: int) -> Decimal | None:
    value = _exact(text, 10 ** (precision - scale))
    if value is None or not value.is_finite():
        return None
    rounded = (
        value.quantize(Decimal(1).scaleb(-scale), ROUND_HALF_UP, _CONTEXT) if value.adjusted() < precision else value
    )
    return rounded if rounded.adjusted() < precision - scale or not rounded else None


def _decimal_text(text: str, precision: int, scale: int) -> str | None:
    value = _decimal(text, precision, scale)
    return None if value is None else f"{value:f}"


def _double_text(value: float) -> str:
    return repr(value)


def of_text(value: Expression, type_: DataType) -> Expression:
    """A text as a number.

    Args:
        value: the text.
        type_: INTEGER of some bits, DECIMAL or DOUBLE.
    """
    if type_.kind is Kind.INTEGER:
        number = call("integer_in_duckdb", value)
        return number if type_ == INTEGER else within(number, type_)
    if type_ == DOUBLE:
        return call("double_in_duckdb", value)
    digits = (Constant(n, INTEGER) for n in (type_.precision, type_.scale))
    return call("decimal_in_duckdb", value, *digits)


def number_as_text(value: Expression) -> Expression:
    """A number or a time as a text."""
    names = {Kind.DOUBLE: "double_text", Kind.DECIMAL: "decimal_text", Kind.TIMESTAMP: "timestamp_text"}
    if is_null(value) or value.type.zoned or value.type.kind not in names:
        return as_string(value)
    return call(names[value.type.kind], value)


def _decimal_rule(arguments: Arguments) -> tuple[Arguments, DataType]:
    _, precision, scale = arguments
    assert isinstance(precision, Constant) and isinstance(scale, Constant)
    assert isinstance(precision.value, int) and isinstance(scale.value, int)
    return arguments, DataType(Kind.DECIMAL, precision.value, scale.value)


def _decimal_sql(expression: Call, arguments: Sequence[str]) -> str:
    digits = in_python("decimal_digits", STRING)(expression, arguments)
    return f"cast({digits} as {expression.type.spark})"


# ---- PRINTF and FORMAT -----------------------------------------------------------------------------------------------

_PRINTF = re.compile(r"%(?:(%)|([-+ 0#]*)([,_']?)([0-9]*)(?:\.([0-9]*))?(?:l|ll)?([a-zA-Z]))")
_FORMAT = re.compile(
    r"""\{\{|\}\}|\{ ([0-9]*)
        (?: : ((?:[^{}])?[<>^])? ([-+ ]?) (0?) ([0-9]*) (t[^{}]|[,_'])? (?:\.([0-9]+))? ([a-zA-Z]?) )? \}""".replace(
        "[-+ ]", "[-+\\ ]"
    ),
    re.VERBOSE,
)
_OF_KIND = {Kind.INTEGER: "dxXo", Kind.STRING: "s", Kind.BOOLEAN: "s", Kind.DOUBLE: "eEfFgG", Kind.DECIMAL: "eEfFgG"}


class _Part:
    """A part of a format: a text, or a value of the row with how it is written."""

    __slots__ = ("aligned", "argument", "fill", "separator", "sign", "text", "type", "unsigned", "width")

    def __init__(self, text: str = "", argument: int = -1, sign: str = "", separator: str = "", type: str = "",
                 width: int = 0, fill: str = "<") -> None:  # fmt: skip
        self.text, self.argument, self.sign, self.separator, self.type = text, argument, sign, separator, type
        self.width, self.fill, self.aligned, self.unsigned = width, fill, True, False

    def written(self, value: object) -> str:
        """Its text for a value."""
        if self.unsigned and isinstance(value, int):
            value %= 2**64
        if isinstance(value, (bool, str)):
            text = ("true" if value else "false") if isinstance(value, bool) else str(value)
            text = text[: int(self.text)] if self.text else text
        else:
            value = float(value) if isinstance(value, Decimal) else value
            precision = f".{self.text}" if self.text else ""
            text = format(value, f"{self.sign}{',' * bool(self.separator)}{precision}{self.type}")
            text = text.replace(",", self.separator)
        if self.fill == "0":
            if isinstance(value, float) and not math.isfinite(value):
                return text.ljust(self.width, "0")  # as DuckDB's library does
            sign = text[:1] if text[:1] in "+- " else ""
            return sign + text[len(sign) :].rjust(self.width - len(sign), "0")
        if not self.aligned and isinstance(value, float) and not math.isfinite(value):
            return text.ljust(self.width)
        fill, side = (self.fill[0], self.fill[1]) if len(self.fill) == 2 else (" ", self.fill)
        pad = max(0, self.width - len(text))
        left = {"<": 0, ">": pad, "^": pad // 2}[side]
        return fill * left + text + fill * (pad - left)


class FormatError(ValueError):
    """A format, or its effect on a value, is not known."""


@lru_cache(maxsize=512)
def _parts(pattern: str, kinds: tuple[Kind, ...], is_printf: bool) -> tuple[_Part, ...]:
    """The parts of a format.

    Raises:
        FormatError: it has others than those that were compared with DuckDB.
    """
    parts, place, number = list[_Part](), 0, 0
    for match in (_PRINTF if is_printf else _FORMAT).finditer(pattern):
        between = pattern[place : match.start()]
        if ("%" if is_printf else "{") in between or (not is_printf and "}" in between):
            raise FormatError(between)
        parts.append(_Part(between))
        place = match.end()
        if match[0] in ("%%", "{{", "}}"):
            parts.append(_Part(match[0][0]))
            continue
        part, number = _printf_part(match, number) if is_printf else _format_part(match, number)
        if part.argument >= len(kinds):
            raise FormatError("too few values")
        if part.type and not is_printf and kinds[part.argument] is Kind.BOOLEAN:
            raise FormatError(part.type)
        parts.append(_known(part, kinds[part.argument]))
    rest = pattern[place:]
    if ("%" if is_printf else "{") in rest or (not is_printf and "}" in rest):
        raise FormatError(rest)
    return (*parts, _Part(rest))


def _printf_part(match: re.Match[str], number: int) -> tuple[_Part, int]:
    _, flags, separator, width, precision, type_ = match.groups()
    if "#" in flags or (precision is not None and not precision):
        raise FormatError(match[0])
    sign = "+" if "+" in flags else " " if " " in flags else ""
    fill = "<" if "-" in flags else "0" if "0" in flags else ">"
    part = _Part(precision or "", number, sign, separator or "", {"i": "d"}.get(type_, type_), int(width or 0), fill)
    part.unsigned = type_ in ("x", "X", "o")
    return part, number + 1


def _format_part(match: re.Match[str], number: int) -> tuple[_Part, int]:
    place, align, sign, zero, width, separator, precision, type_ = match.groups()
    if separator and (align or sign or zero or width or precision or (type_ and (type_ != "d" or separator[0] == "t"))):
        raise FormatError("separators, and more")
    if align and zero:
        raise FormatError("zeros, and more")
    argument = int(place) if place else number
    fill = align or ("0" if zero else "")
    part = _Part(precision or "", argument, sign or "", (separator or "")[-1:], type_ or "", int(width or 0), fill)
    part.aligned = bool(align)
    return part, number + (not place)


def _known(part: _Part, kind: Kind) -> _Part:
    """A part that is certain for values of a kind."""
    number = kind in (Kind.INTEGER, Kind.DOUBLE, Kind.DECIMAL)
    if part.type == "d" and kind is Kind.INTEGER:
        part.type = "d"
    elif part.type and part.type not in _OF_KIND.get(kind, ""):
        raise FormatError(part.type)
    if kind is Kind.INTEGER and (part.text or (part.separator and part.type in ("x", "X", "o"))):
        raise FormatError("digits of a whole number")
    if kind in (Kind.DOUBLE, Kind.DECIMAL):
        if part.separator and part.type not in ("f", "F"):
            raise FormatError("separators")
        if not part.type and (part.text or part.separator or part.sign or part.fill == "0"):
            raise FormatError("digits without a type")
        if part.type and not part.text:
            part.text = "6"
    if kind is Kind.BOOLEAN and (part.text or (part.type and not part.fill)):
        raise FormatError("digits of a truth value")
    if part.type in ("g", "G") and part.text == "0":
        raise FormatError("no digits")
    if not number and (part.sign or part.separator or part.fill == "0"):
        raise FormatError("a sign of a text")
    if part.fill == "0" and part.separator:
        raise FormatError("zeros and separators")
    part.fill = part.fill or (">" if number else "<")
    return part


def _formatted(is_printf: bool) -> Callable[..., str]:
    def in_format(pattern: str, *values: object) -> str:
        kinds = tuple(_KINDS[type(value)] for value in values)
        parts = _parts(pattern, kinds, is_printf)
        return "".join(part.text if part.argument < 0 else part.written(values[part.argument]) for part in parts)

    return in_format


_KINDS = {int: Kind.INTEGER, bool: Kind.BOOLEAN, str: Kind.STRING, float: Kind.DOUBLE, Decimal: Kind.DECIMAL}


def _bound(b: ExpressionBinder, node: exp.Expr, pattern: Expression, values: list[Expression]) -> Expression:
    name = "printf" if isinstance(node, exp.Anonymous) else "format"
    if any(map(is_null, [pattern, *values])):
        return Constant(None, STRING)
    if not isinstance(pattern, Constant) or not isinstance(pattern.value, str):
        behind = any(isinstance(value, Constant) and isinstance(value.value, str) for value in values)
        first = "the format stands first: FORMAT('{:.2f}', x) in duckdb, PRINTF('%.2f', x); ROUND(x, 2) is a number"
        b.source.refuse(f"{name.upper()} with a format that is not constant", node,
                        first if behind else "write the format into the query")  # fmt: skip
    values = [value if value.type.kind in _KINDS.values() else number_as_text(value) for value in values]
    try:
        _parts(pattern.value, tuple(value.type.kind for value in values), name == "printf")
    except FormatError:
        hint = (
            "%d of a whole number, %s of a text, %.2f of a DECIMAL or DOUBLE"
            if name == "printf"
            else "as in {}, {:.2f}"
        )
        b.source.refuse(f"the format {pattern.value} of these values", node, hint)
    return call(f"{name}_in_duckdb", pattern, *values)


@reads(exp.Format, parts="this expressions", dialects=SPARK_FAMILY | ONLY_DUCKDB)
def format_(b: ExpressionBinder, node: exp.Format) -> Expression:
    """FORMAT('{} {:.2f}', s, x) in duckdb, FORMAT_STRING('%s %.2f', s, x) in spark."""
    if b.rules.texts_as_in_spark:
        return format_string(b, node, b.bind(node.this), b.parts(node, "expressions"))
    return _bound(b, node, b.bind(node.this), b.parts(node, "expressions"))


@reads_call("printf", dialects=SPARK_FAMILY | ONLY_DUCKDB)
def printf(b: ExpressionBinder, node: exp.Anonymous) -> Expression:
    """PRINTF('%s %.2f', s, x)."""
    arguments = b.parts(node, "expressions")
    if not arguments:
        raise TypeClash("PRINTF takes a format")
    if b.rules.texts_as_in_spark:
        return format_string(b, node, arguments[0], arguments[1:])
    return _bound(b, node, arguments[0], arguments[1:])


def _as_they_are(arguments: Arguments) -> tuple[Arguments, DataType]:
    return arguments, STRING


DECLARED = [
    function("integer_in_duckdb(string): integer", python=_integer),
    function("double_in_duckdb(string): double", python=_double),
    function("decimal_digits(string, integer, integer): string", python=_decimal_text),
    function("decimal_in_duckdb(value, precision, scale)", _decimal_sql, rule=_decimal_rule, python=_decimal),
    function("double_text(double): string", python=_double_text),
    function("decimal_text(value)", rule=_as_they_are, returns=STRING, python=lambda value: f"{value:f}"),
    function("timestamp_text(timestamp): string", python=timestamp_text),
    *(function(f"{name}_in_duckdb(format[, value...])", rule=_as_they_are, returns=STRING,
               python=_formatted(name == "printf")) for name in ("printf", "format")),
]  # fmt: skip
