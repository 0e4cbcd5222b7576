"""Texts of JSON as DuckDB reads and writes them, and values as JSON.

A text is read into values of Python, in which a number is the text that is written for it, and an object ``Members``,
since a key may stand there twice. DuckDB also reads NaN, Infinity and a comma before a bracket that closes. What is no
JSON, or has more than ``MOST_DEPTH`` brackets inside one another, is NULL.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from decimal import Decimal
from functools import lru_cache
from typing import Any

MOST_DEPTH = 200
"""Brackets inside one another in texts that are read."""

_TOKEN = re.compile(
    r"""[ \t\n\r]*(?:
        (?P<text>"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*")
      | (?P<number>-?(?:0|[1-9][0-9]*)(?P<fraction>(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?))
      | (?P<word>true|false|null) | (?P<unusual>-?(?i:infinity|inf|nan))
      | (?P<sign>[\[\]{},:]) )""",
    re.VERBOSE,
)
_BLANK = re.compile(r"[ \t\n\r]*\Z")
_WORDS = {"true": True, "false": False, "null": None}
_ESCAPED = re.compile(r'[\x00-\x1f"\\]')
_ESCAPES = {
    **{chr(code): f"\\u{code:04X}" for code in range(32)},
    **dict(zip('"\\\b\t\n\f\r', ('\\"', "\\\\", "\\b", "\\t", "\\n", "\\f", "\\r"), strict=True)),
}


class JsonNumber(str):
    """A number, as it is written."""

    __slots__ = ()


class Unusual(JsonNumber):
    """A number that is kept as the text that it was: infinite, NaN, or with more digits than 64 bits have."""

    __slots__ = ()


class Members(tuple[tuple[str, Any], ...]):
    """The members of an object, in their order."""

    __slots__ = ()


class NoJsonError(ValueError):
    """A text is no JSON."""


@lru_cache(maxsize=4_096)
def read_json(text: str) -> Any:
    """The value of a text.

    Raises:
        NoJsonError: it has none.

    Example:
        >>> read_json('{"a": [1, 2.50, "x"]}')
        (('a', ['1', '2.5', 'x']),)
    """
    if "\\u" not in text and text.count("[") + text.count("{") <= MOST_DEPTH:
        with suppress(ValueError):  # DuckDB reads more than strict JSON
            return _STRICT.decode(text)
    tokens = _tokens(text)
    value, after = _value(tokens, next(tokens), 0), next(tokens)
    if after is not None:
        raise NoJsonError(after)
    return value


def _tokens(text: str) -> Iterator[Any]:
    """Matches of ``_TOKEN``, and ``None`` from the end on."""
    at = 0
    while match := _TOKEN.match(text, at):
        at = match.end()
        yield match
    if not _BLANK.match(text, at):
        raise NoJsonError(text)
    while True:
        yield None


def _value(tokens: Iterator[Any], token: Any, depth: int) -> Any:
    if token is None or depth > MOST_DEPTH:
        raise NoJsonError
    match token.lastgroup, token["sign"]:
        case "text", _:
            return _unescaped(token["text"])
        case (("number" | "fraction"), _):
            return _number(token["number"], token["fraction"])
        case "word", _:
            return _WORDS[token["word"]]
        case "unusual", _:
            return Unusual(token["unusual"])
        case _, "[":
            return list(_elements(tokens, "]", depth))
        case _, "{":
            return Members(_elements(tokens, "}", depth))
    raise NoJsonError


def _elements(tokens: Iterator[Any], end: str, depth: int) -> Iterator[Any]:
    """The elements of an array, or the members of an object."""
    token = next(tokens)
    while token is None or token["sign"] != end:
        value = _value(tokens, token, depth + 1)
        if end == "}":
            if type(value) is not str or (colon := next(tokens)) is None or colon["sign"] != ":":
                raise NoJsonError
            value = (value, _value(tokens, next(tokens), depth + 1))
        yield value
        if (token := next(tokens)) is None or token["sign"] not in (",", end):
            raise NoJsonError
        if token["sign"] == ",":
            token = next(tokens)


def _unescaped(token: str) -> str:
    if "\\" not in token:
        return token[1:-1]
    text: str = json.loads(token)
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise NoJsonError
    return text


def _number(token: str, fraction: str) -> JsonNumber:
    return _fraction(token) if fraction else _whole(token)


def _whole(token: str) -> JsonNumber:
    return JsonNumber(token) if -(2**63) <= int(token) < 2**64 else Unusual(token)


def _fraction(token: str) -> JsonNumber:
    value = float(token)
    return Unusual(token) if math.isinf(value) else JsonNumber(double_text(value))


def refuse_word(token: str) -> Any:
    """Refuse Infinity and NaN, which Python reads in JSON.

    Raises:
        NoJsonError: always.
    """
    raise NoJsonError(token)


_STRICT = json.JSONDecoder(
    object_pairs_hook=Members, parse_float=_fraction, parse_int=_whole, parse_constant=refuse_word
)
"""Reads most texts, a dozen times as fast as tokens are."""


def double_text(value: float) -> str:
    """A DOUBLE, with as few digits as tell it from others.

    Example:
        >>> [double_text(x) for x in (1.0, 1e20, 1e21, 1e-6, 1.5e-7, -0.0)]
        ['1.0', '100000000000000000000.0', '1e21', '0.000001', '1.5e-7', '-0.0']
    """
    if not math.isfinite(value):
        return {"inf": "Infinity", "-inf": "-Infinity"}.get(str(value), "NaN")
    if "e" not in (shortest := repr(value)):
        return shortest
    sign, digits, exponent = Decimal(shortest).as_tuple()
    assert isinstance(exponent, int)
    figures = "".join(map(str, digits)).rstrip("0") or "0"
    point = len(digits) + exponent if any(digits) else 1
    if -6 < point <= 21:
        written = f"{'0' * (1 - point)}{figures}".ljust(max(point, 1), "0")
        whole = max(point, 1)
        written = f"{written[:whole]}.{written[whole:] or '0'}"
    else:
        written = f"{figures[0]}{'.' * (len(figures) > 1)}{figures[1:]}e{point - 1}"
    return "-" * sign + written


def quoted_json(text: str) -> str:
    """A text as JSON.

    Example:
        >>> print(quoted_json('say "a"'))
        "say \\"a\\""
    """
    return f'"{_ESCAPED.sub(lambda found: _ESCAPES[found[0]], text)}"'


def compact_json(value: Any) -> str:
    """The text of a value that was read, without blanks.

    Example:
        >>> compact_json(read_json('{"a" : [1, 2.50, null] }'))
        '{"a":[1,2.5,null]}'
    """
    if isinstance(value, JsonNumber):
        return "0" if value == "-0" else value
    if isinstance(value, str):
        return quoted_json(value)
    if isinstance(value, Members):
        return f"{{{','.join(f'{quoted_json(key)}:{compact_json(each)}' for key, each in value)}}}"
    if isinstance(value, list):
        return f"[{','.join(map(compact_json, value))}]"
    return {True: "true", False: "false"}.get(value, "null")


def indented(value: Any, by: str = "\n") -> str:
    """A value as JSON on several lines."""
    inner = by + "    "
    if isinstance(value, Members) and value:
        members = (f"{quoted_json(key)}: {indented(each, inner)}" for key, each in value)
        return f"{{{inner}{f',{inner}'.join(members)}{by}}}"
    if isinstance(value, list) and value:
        lines = (f"{chr(10) if isinstance(each, Unusual) else inner}{indented(each, inner)}" for each in value)
        return f"[{','.join(lines)}{by}]"  # DuckDB's library forgets the blanks before these
    return compact_json(value)


def of_json(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of a text whose value it takes, NULL of what is no JSON."""

    def called(text: str, *others: Any) -> Any:
        try:
            return function(read_json(text), *others)
        except (NoJsonError, RecursionError):
            return None

    return called


def is_json(text: str) -> bool:
    """JSON_VALID."""
    try:
        read_json(text)
    except (NoJsonError, RecursionError):
        return False
    return True


def merged(*texts: str | None) -> str | None:
    """JSON_MERGE_PATCH (RFC 7386); what follows NULL is taken as it is."""
    value: Any = NoJsonError
    try:
        for text in texts:
            patch = NoJsonError if text is None else read_json(text)
            both = isinstance(value, Members) and isinstance(patch, Members)
            value = _patched(value, patch) if both else patch
    except (NoJsonError, RecursionError):
        return None
    return None if value is NoJsonError else compact_json(value)


def _patched(value: Any, patch: Any) -> Any:
    if not isinstance(patch, Members):
        return patch
    value = value if isinstance(value, Members) else Members()
    named = {key for key, _ in patch}
    first: dict[str, Any] = {}
    for key, each in value:
        first.setdefault(key, each)
    new = [(key, _patched(first.get(key), each)) for key, each in patch if each is not None]
    return Members((*(member for member in value if member[0] not in named), *new))


_STEP = re.compile(r"\['([^']*)'\]|\[(-?[0-9]+)\]")
ABSENT = object()
"""Where there is nothing at a path."""


_PATH = re.compile(r"""\.("[^"]+"|[^."\[*]+)|\[(?:(-?[0-9]+)|\#(?:-([0-9]+))?|"([^"]+)")\]""")


def path_steps(path: str) -> list[str | int] | None:
    """The steps of a path of DuckDB, as ``$.a[0]`` or ``/a/0``; ``None`` of one with wildcards, and of what is none.

    Example:
        >>> path_steps('$.a[#-1]."b c"'), path_steps("/a/0")
        (['a', -1, 'b c'], None)
    """
    steps: list[str | int] = []
    place = 1
    while place < len(path):
        if path[0] != "$" or not (step := _PATH.match(path, place)) or step[0] == "[#]":
            return None
        key, number, from_end, quoted_key = step.groups()
        steps.append(int(number) if number else -int(from_end) if from_end else (quoted_key or key.strip('"')))
        place = step.end()
    return steps if path[0] == "$" else None


@lru_cache(maxsize=4_096)
def path_parts(path: str) -> tuple[str | int, ...]:
    """The keys and places of a path such as ``$['a'][0]``."""
    return tuple(int(place) if place else key for key, place in _STEP.findall(path))


def at(value: Any, path: str) -> Any:
    """The value at a path, or ``ABSENT``; a position below 0 counts from the end.

    Example:
        >>> at(read_json('{"a": [1, 2]}'), "$['a'][-1]")
        '2'
    """
    for step in path_parts(path):
        if isinstance(step, str):
            found = (each for key, each in value if key == step) if isinstance(value, Members) else iter(())
            value = next(found, ABSENT)
        elif type(value) is list and -len(value) <= step < len(value):
            value = value[step]
        else:
            return ABSENT
        if value is ABSENT:
            return ABSENT
    return value


def kind_of(value: Any) -> str:
    """The type that DuckDB says a value has."""
    if isinstance(value, JsonNumber):
        whole = not isinstance(value, Unusual) and re.fullmatch("-?[0-9]+", value)
        return "DOUBLE" if not whole else "BIGINT" if value.startswith("-") else "UBIGINT"
    names: dict[type, str] = {str: "VARCHAR", Members: "OBJECT", list: "ARRAY", bool: "BOOLEAN"}
    return names.get(type(value), "NULL")
