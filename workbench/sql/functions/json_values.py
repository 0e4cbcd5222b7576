"""Reading JSON by a path, as ``jsonb`` of PostgreSQL reads it; a number keeps its digits, so that 12.50 is 12.50.

What the types json and jsonb write differently is NULL here: as texts objects, arrays, numbers with exponents and zeros
below 0; and all of a text in which a key stands twice in an object. A check of the query tells these from NULL
(``sql/checks.py``). Text that is no JSON is NULL.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Any

from workbench.errors import UnsupportedError
from workbench.sql.algebra.expressions import Call
from workbench.sql.functions.declaration import Function, function
from workbench.sql.functions.json_texts import JsonNumber, refuse_word
from workbench.sql.functions.jsonb_of_postgres import NO_VALUE, has_unkept_signs, jsonb_at_path

FIRST = "[00]"
"""The step of ``j->0`` in PostgreSQL, where it is a scalar itself, too."""
JSON_AT = "json_at"
"""An element of an array of JSON in FROM, of which only arrows and functions of JSON can read something."""
UNREAD = {
    **{name: f"{name}_unread" for name in ("json_text", "json_is", "json_has_element")},
    **dict.fromkeys(("json_type", "json_length", "json_has", "json_elements"), "json_repeats_key"),
}
"""A function that cannot read all JSON -> the one of the same text, and path, that says whether it does not."""

_KINDS = {str: "string", bool: "boolean", dict: "object", list: "array"}


class _RepeatedKey:
    """A text of JSON with an object that has a key twice."""


class _RepeatsKeyError(Exception):
    """An object has a key twice."""


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise _RepeatsKeyError
    return members


_READER = json.JSONDecoder(
    object_pairs_hook=_members, parse_float=JsonNumber, parse_int=JsonNumber, parse_constant=refuse_word
)
_ANY_KEYS = json.JSONDecoder(parse_constant=refuse_word)


@lru_cache(maxsize=16_384)
def _read(text: str) -> Any:
    """The value of a text: ``NO_VALUE`` of what is no JSON, and a mark of what has a key twice."""
    try:
        value = _READER.decode(text)
    except (_RepeatsKeyError, ValueError, RecursionError) as error:
        return _RepeatedKey if isinstance(error, _RepeatsKeyError) and _is_json(text) else NO_VALUE
    return NO_VALUE if "\\u" in text and has_unkept_signs(value) else value


def _is_json(text: str) -> bool:
    try:
        return not ("\\u" in text and has_unkept_signs(_ANY_KEYS.decode(text)))
    except (ValueError, RecursionError):
        return False


def _at(text: str, path: str) -> Any:
    value = _read(text)
    return NO_VALUE if value is _RepeatedKey else jsonb_at_path(value, path)


def _of_value(compute: Callable[..., Any], nothing: object = None) -> Callable[..., Any]:
    """A function of what is at a path; something else where nothing is, or an argument is NULL."""

    def of_texts(text: str | None, path: str | None, *compared: str) -> Any:
        value = NO_VALUE if text is None or path is None else _at(text, path)
        return nothing if value is NO_VALUE else compute(value, *map(_compared, compared))

    return of_texts


def _unread(is_unread: Callable[[Any], bool]) -> Callable[[str | None, str | None], bool]:
    return lambda text, path: _repeats_key(text) or bool(_of_value(is_unread, False)(text, path))


def _repeats_key(text: str | None) -> bool:
    return text is not None and _read(text) is _RepeatedKey


def _text(value: Any) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, str) and not _differs_in_jsonb(value) else None


def _differs_in_jsonb(value: Any) -> bool:
    """Whether the types json and jsonb write a value differently."""
    if isinstance(value, JsonNumber):
        return "e" in value or "E" in value or (value[0] == "-" and not Decimal(value))
    return isinstance(value, (dict, list))


def _kind(value: Any) -> str:
    return "null" if value is None else "number" if isinstance(value, JsonNumber) else _KINDS[type(value)]


def _elements(value: Any) -> list[str] | None:
    return [*map(_json_text, value)] if isinstance(value, list) else None


def _json_text(value: Any) -> str:
    if isinstance(value, dict):
        members = (f"{json.dumps(key, ensure_ascii=False)}:{_json_text(each)}" for key, each in value.items())
        return f"{{{','.join(members)}}}"
    if isinstance(value, list):
        return f"[{','.join(map(_json_text, value))}]"
    return str(value) if isinstance(value, JsonNumber) else json.dumps(value, ensure_ascii=False)


@lru_cache(maxsize=256)
def _compared(text: str) -> Any:
    return _READER.decode(text)


def _equal(one: Any, other: Any) -> bool:
    """Whether values that are no objects and no arrays are equal: numbers, whatever digits they have."""
    if type(one) is not type(other):
        return False
    return Decimal(one) == Decimal(other) if isinstance(one, JsonNumber) else bool(one == other)


def _has_element(value: Any, compared: Any) -> bool:
    return isinstance(value, list) and any(_equal(each, compared) for each in value)


def _refused(call: Call, arguments: Sequence[str]) -> str:
    what = "a value of JSON as a whole is not supported"
    raise UnsupportedError(what, hint="write ->> for the text of a part, or JSONB_ARRAY_ELEMENTS_TEXT")


def _reads(signature: str, python: Callable[..., Any]) -> Function:
    """A function of a text of JSON, a constant path such as ``$['a'][0]``, and what is compared; SQL has operators.

    A condition is false of what is not there, and of NULL.
    """
    return function(signature, python=python, of_null=signature.endswith("boolean"))


DECLARED = [
    _reads("json_text(string, string): string", _of_value(_text)),
    _reads("json_text_unread(string, string): boolean", _unread(_differs_in_jsonb)),
    _reads("json_type(string, string): string", _of_value(_kind)),
    _reads("json_length(string, string): integer",
           _of_value(lambda value: len(value) if isinstance(value, list) else None)),
    _reads("json_elements(string, string): array<string>", _of_value(_elements)),
    _reads("json_has(string, string): boolean", _of_value(lambda value: True, False)),
    _reads("json_is(string, string, string): boolean", _of_value(_equal, False)),
    _reads("json_has_element(string, string, string): boolean", _of_value(_has_element, False)),
    _reads("json_repeats_key(string): boolean", _repeats_key),
    *(_reads(f"{name}_unread(string, string): boolean", lambda text, path: _repeats_key(text))
      for name in ("json_is", "json_has_element")),
    # Networks of earlier versions ask it.
    function("json_text_in_duckdb_unread(string, string): boolean", "false", of_null=True),
    function(f"{JSON_AT}(string, string): string", _refused),
]  # fmt: skip
