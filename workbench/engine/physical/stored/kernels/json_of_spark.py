"""Kernels of JSON in Spark: GET_JSON_OBJECT, JSON_ARRAY_LENGTH, JSON_OBJECT_KEYS.

Jackson reads it there, which takes texts in single quotes and signs below a blank within texts, and looks at nothing
behind the value. Of a text that breaks off, or is no JSON, all is NULL. Python's reader knows what is plain JSON; what
it refuses is read here.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Sequence
from enum import Enum
from functools import lru_cache
from typing import Any

import pyarrow as pa

from workbench.arrow.python_values import over_columns
from workbench.engine.physical.stored.kernels.kernel import Kernel, constant_text
from workbench.engine.physical.stored.kernels.odd_signs import units_of_16_bits
from workbench.sql.algebra.expressions import Call
from workbench.sql.algebra.types import Kind
from workbench.sql.functions.java_digits import text_of_double
from workbench.sql.functions.json_texts import JsonNumber, NoJsonError, refuse_word

_MOST_DEPTH, _MOST_DIGITS, _MOST_SIGNS_OF_NAME, _MOST_SIGNS = 1_000, 1_000, 50_000, 20_000_000
"""What Jackson reads: brackets inside one another, digits of a number, signs of a name, and of a text that is given."""
_BLANKS = " \t\n\r"
_BLANK = re.compile(r"[ \t\n\r]*")
_SCALAR = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null")
_STRINGS = {
    quote: re.compile(rf"((?:[^\\{quote}]|\\[bfnrt'\"\\/]|\\u[0-9a-fA-F]{{4}})*){quote}", re.DOTALL) for quote in "\"'"
}
_ESCAPED = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))")
_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_WORDS: dict[str, bool | None] = {"true": True, "false": False, "null": None}
_ESCAPED_IN_LISTS = re.compile(r'["\\\x00-\x1f]')
_ESCAPED_ELSEWHERE = re.compile(r'["\\\x00-\x1f\ud800-\udfff\U00010000-\U0010ffff]')
"""Jackson escapes signs beyond 16 bits, and halves of them, where it writes bytes, and not the matches of ``[*]``."""
_AS_ESCAPED = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_OF_NAMES = frozenset(("Lu", "Ll", "Lt", "Lm", "Lo", "Nl", "Nd", "Sc", "Pc", "Mn", "Mc", "Cf"))
"""Categories of signs that names in Java have."""
_HALVES = re.compile("[\ud800-\udfff]")
_PATH = re.compile(r"\$((?:\.[^.\[\s*'][^.\[]*|\['[^'?*\s][^'?]*'\]|\[(?:\d{1,9}|\*)\])*)")
_STEP = re.compile(r"\.([^.\[]+)|\['([^'?]+)'\]|\[(\d+|\*)\]")


class _Members(list[tuple[str, Any]]):
    """An object of JSON as names and values; a name may come twice."""

    __slots__ = ()


PathStep = str | int | None
"""A name, a place, or all places."""


def _number(written: str) -> JsonNumber:
    if len(written) > _MOST_DIGITS:
        is_fraction = re.match(r"-?0\.[0-9]*\Z", written) is not None  # its 0 does not count
        if sum(map(str.isdigit, written)) - is_fraction > _MOST_DIGITS:
            raise NoJsonError
    return JsonNumber(written)


def _members(pairs: list[tuple[str, Any]]) -> _Members:
    if any(len(name) > _MOST_SIGNS_OF_NAME for name, _ in pairs):
        raise NoJsonError
    return _Members(pairs)


_PLAIN = json.JSONDecoder(
    object_pairs_hook=_members, parse_float=_number, parse_int=_number, parse_constant=refuse_word, strict=False
)


@lru_cache(maxsize=4_096)
def _read(text: str) -> Any:
    """The first value of a text.

    Raises:
        NoJsonError: there is none.
    """
    begin = _after_blanks(text, 0)
    try:
        if text.count("[") + text.count("{") > _MOST_DEPTH:
            raise RecursionError
        value, end = _PLAIN.raw_decode(text, begin)
    except (ValueError, RecursionError):
        value, end = _read_as_jackson(text, begin)
    if not isinstance(value, (list, str)) or isinstance(value, JsonNumber):
        _check_end(text, value, end)
    return value


def _check_end(text: str, value: Any, end: int) -> None:
    """A number ends at a blank, a word where no letter follows."""
    if end == len(text) or text[end] in _BLANKS:
        return
    sign = text[end]
    of_name = unicodedata.category(sign) in _OF_NAMES or "\x7f" <= sign <= "\x9f"
    if isinstance(value, JsonNumber) or (sign >= "0" and of_name):
        raise NoJsonError


def _read_as_jackson(text: str, at: int) -> tuple[Any, int]:
    """A value, and where it ends; without calls inside one another, since a thousand brackets may be."""
    outer: list[tuple[Any, str | None]] = []
    while True:
        at = _after_blanks(text, at)
        sign = text[at : at + 1]
        name: str | None = None
        if outer and isinstance(outer[-1][0], _Members):
            name, at = _read_name(text, at)
            sign = text[at : at + 1]
        if sign and sign in "[{":
            if len(outer) >= _MOST_DEPTH:
                raise NoJsonError
            value: Any = [] if sign == "[" else _Members()
            closes = _after_blanks(text, at + 1)
            if text[closes : closes + 1] != ("]" if sign == "[" else "}"):
                outer.append((value, name))
                at += 1
                continue
            at = closes + 1
        else:
            value, at = _read_scalar(text, at)
        while outer:
            inside, of_inside = outer[-1]
            inside.append((name, value) if isinstance(inside, _Members) else value)
            at = _after_blanks(text, at)
            sign = text[at : at + 1]
            at += 1
            if sign == ",":
                break
            if sign != ("}" if isinstance(inside, _Members) else "]"):
                raise NoJsonError
            outer.pop()
            value, name = inside, of_inside
        else:
            return value, at


def _after_blanks(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    assert found is not None
    return found.end()


def _read_name(text: str, at: int) -> tuple[str, int]:
    name, end = _read_string(text, at)
    at = _after_blanks(text, end)
    if text[at : at + 1] != ":" or len(name) > _MOST_SIGNS_OF_NAME:
        raise NoJsonError
    return name, _after_blanks(text, at + 1)


def _read_scalar(text: str, at: int) -> tuple[Any, int]:
    if text[at : at + 1] in _STRINGS:
        return _read_string(text, at)
    found = _SCALAR.match(text, at)
    if found is None:
        raise NoJsonError
    written = found[0]
    return _WORDS[written] if written in _WORDS else _number(written), found.end()


def _read_string(text: str, at: int) -> tuple[str, int]:
    strings = _STRINGS.get(text[at : at + 1])
    found = strings.match(text, at + 1) if strings is not None else None
    if found is None:
        raise NoJsonError
    return _joined(_ESCAPED.sub(_unescaped, found[1])), found.end()


def _unescaped(escape: re.Match[str]) -> str:
    return chr(int(escape[1], 16)) if escape[1] else _ESCAPES.get(escape[2], escape[2])


def _joined(text: str) -> str:
    """With each two halves of a sign beyond 16 bits as one."""
    return (
        text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass") if _HALVES.search(text) else text
    )


class _JsonText(str):
    """A part of the text of a value."""

    __slots__ = ()


def _json_text(value: Any, escapes: re.Pattern[str]) -> str:
    """JSON as Jackson writes it: without blanks, numbers with a fraction as DOUBLEs."""
    parts, todo = list[str](), [value]
    while todo:
        match todo.pop():
            case _JsonText() as part:
                parts.append(part)
            case JsonNumber() as number:
                parts.append(_number_text(number))
            case str() as text:
                parts.append(_quoted(text, escapes))
            case _Members() as members:
                inside = [part for name, each in members for part in (_JsonText(f",{_quoted(name, escapes)}:"), each)]
                parts.append("{")
                todo += [_JsonText("}"), *reversed([_JsonText(part[1:]) for part in inside[:1]] + inside[1:])]
            case list() as values:
                parts.append("[")
                todo += [_JsonText("]"), *reversed([part for each in values for part in (_JsonText(","), each)][1:])]
            case word:
                parts.append("null" if word is None else "true" if word else "false")
    return "".join(parts)


def _quoted(text: str, escapes: re.Pattern[str]) -> str:
    if len(text) > _MOST_SIGNS:
        raise NoJsonError
    return f'"{escapes.sub(_escaped, text)}"'


def _number_text(number: str) -> str:
    if number.lstrip("-").isdigit():
        return "0" if number == "-0" else number
    value = float(number)
    text = text_of_double(value)
    return text if text[-1] != "y" else f'"{text}"'


def _escaped(sign: re.Match[str]) -> str:
    return _AS_ESCAPED.get(sign[0]) or "".join(f"\\u{unit:04X}" for unit in units_of_16_bits(sign[0]))


def _steps(path: str) -> tuple[PathStep, ...] | None:
    """The steps of a path that is read here."""
    if _PATH.fullmatch(path) is None:
        return None
    return tuple(
        name or quoted or (None if place == "*" else int(place)) for name, quoted, place in _STEP.findall(path)
    )


class _Out(list[str]):
    """The parts that are written.

    Attributes:
        escapes: the signs that are escaped.
    """

    __slots__ = ("escapes",)

    def __init__(self, escapes: re.Pattern[str]) -> None:
        super().__init__()
        self.escapes = escapes


class _Style(Enum):
    """How a text and an array are written: as they are, with quotes, or the elements of the array without it."""

    RAW = 1
    QUOTED = 2
    FLAT = 3


def _evaluate(value: Any, steps: tuple[PathStep, ...], style: _Style, out: _Out) -> bool:
    """Write the value at some steps into ``out``; whether there is one.

    Of ``[*]`` a single match stands without brackets, as in Hive; two of them make one list.
    """
    if not steps:
        return _write(value, style, out)
    step, *rest = steps
    after = tuple(rest)
    if isinstance(value, _Members):
        found = (each for name, each in value if name == step and each is not None)
        return isinstance(step, str) and any(_evaluate(each, after, style, out) for each in found)
    if not isinstance(value, list) or isinstance(step, str):
        return False
    if step is None:
        return _evaluate_all(value, after, style, out)
    if after[:1] == (None,):
        style = _Style.QUOTED
    return step < len(value) and _evaluate(value[step], after, style, out)


def _write(value: Any, style: _Style, out: _Out) -> bool:
    if style is _Style.FLAT:
        leaves = _leaves(value)
        out += [_json_text(leaf, out.escapes) for leaf in leaves]
        return bool(leaves)
    is_raw = style is _Style.RAW and isinstance(value, str) and not isinstance(value, JsonNumber)
    if is_raw and len(value) > _MOST_SIGNS:
        raise NoJsonError
    out.append(value if is_raw else _json_text(value, out.escapes))
    return True


def _leaves(value: Any) -> list[Any]:
    """What arrays within arrays have, at last; a thousand may be within one another."""
    found, todo = list[Any](), [value]
    while todo:
        item = todo.pop()
        if isinstance(item, list) and not isinstance(item, _Members):
            todo += reversed(item)
        else:
            found.append(item)
    return found


def _evaluate_all(values: list[Any], after: tuple[PathStep, ...], style: _Style, out: _Out) -> bool:
    if after[:1] == (None,):
        inner = _Out(out.escapes)
        found = [_evaluate(each, after[1:], _Style.FLAT, inner) for each in values]
        out.append(f"[{','.join(inner)}]")
        return any(found)
    inner = _Out(out.escapes if style is _Style.QUOTED else _ESCAPED_IN_LISTS)
    count = sum(
        _evaluate(each, after, _Style.FLAT if style is _Style.FLAT else _Style.QUOTED, inner) for each in values
    )
    joined = ",".join(inner)
    if style is _Style.QUOTED or count > 1:
        out.append(f"[{joined}]")
    elif count:
        out.append(joined)
    return count > 0


def json_at_path(text: str, path: str) -> str | None:
    """GET_JSON_OBJECT of a text; NULL where nothing is, and of a text with half a sign beyond 16 bits.

    Example:
        >>> json_at_path('{"a": [1.50, {"b": "x"}]}', "$.a[1].b"), json_at_path("{'a': [1.50]}", "$.a")
        ('x', '[1.5]')
    """
    out = _Out(_ESCAPED_ELSEWHERE)
    try:
        found = _evaluate(_read(text), _steps(path) or (), _Style.RAW, out)
    except NoJsonError:
        return None
    joined = "".join(out)
    return joined if found and not _HALVES.search(joined) else None


def _length(text: str) -> int | None:
    try:
        value = _read(text)
    except NoJsonError:
        return None
    return len(value) if isinstance(value, list) and not isinstance(value, _Members) else None


def _names(text: str) -> list[str] | None:
    try:
        value = _read(text)
    except NoJsonError:
        return None
    return [_HALVES.sub("?", name) for name, _ in value] if isinstance(value, _Members) else None


def _get_json_object(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    path = constant_text(call, 1) or ""
    return over_columns(lambda text: json_at_path(text, path), True, arguments[:1], pa.string())


def _is_read(call: Call) -> bool:
    path = constant_text(call, 1)
    return path is not None and _steps(path) is not None


def _of_text(call: Call) -> bool:
    return call.arguments[0].type.kind is Kind.STRING


JSON_KERNELS = {
    "get_json_object": Kernel(_get_json_object, _is_read),
    "json_array_length": Kernel(lambda call, arguments: over_columns(_length, True, arguments, pa.int64()), _of_text),
    "json_object_keys": Kernel(
        lambda call, arguments: over_columns(_names, True, arguments, pa.list_(pa.string())), _of_text, nested=True
    ),
}
"""By the name of the function."""
