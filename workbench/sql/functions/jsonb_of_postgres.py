"""JSON that postgres computes with, of the type jsonb, whose text is written anew: its keys in order, each once.

TO_JSONB(x)   JSONB_BUILD_OBJECT('a', x)   j || k   j - 'a'   j #- '{a,0}'   JSONB_SET(j, '{a}', '1')   JSONB_PRETTY(j)

NULL stands for what is an error there, also of a text that is no JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import lru_cache, reduce
from typing import Any

from sqlglot import exp

from workbench.sql.algebra.coercion import TypeClash, coerce, is_null
from workbench.sql.algebra.expressions import Constant, Expression
from workbench.sql.algebra.types import BOOLEAN, INTEGER, JSON, STRING, array_of
from workbench.sql.functions import json_of_postgres
from workbench.sql.functions.calls import call
from workbench.sql.functions.declaration import function
from workbench.sql.functions.json_texts import refuse_word
from workbench.sql.functions.json_writers import IN_POSTGRES
from workbench.sql.functions.reading import ExpressionBinder, reads, reads_name
from workbench.sql.syntax.dialects import ONLY_POSTGRES

_MOST_EXPONENT = 1_000
_PATHS = array_of(STRING)
_TEXTS_OF_WORDS = {None: "null", True: "true", False: "false"}


_STEP = re.compile(r"\['(.*?)'\]|\[([0-9]+)\]", re.DOTALL)
"""A step of a path: a key, or a place; of the place 00 what is no array and no object is the first element itself."""


NO_VALUE = object()
"""What is not there."""


def _number(token: str) -> Decimal:
    number = Decimal(token)
    if abs(number.adjusted()) > _MOST_EXPONENT:
        raise ValueError(token)
    return number if number else abs(number)


def has_unkept_signs(value: Any) -> bool:
    """Whether texts of a value have signs that no text of PostgreSQL has: NUL, and halves of pairs.

    Example:
        >>> has_unkept_signs({"a": ["\\0"]}), has_unkept_signs(["\U0001f600"])
        (True, False)
    """
    if isinstance(value, str):
        return "\0" in value or any("\ud800" <= sign <= "\udfff" for sign in value)
    if isinstance(value, dict):
        return any(map(has_unkept_signs, value)) or any(map(has_unkept_signs, value.values()))
    return isinstance(value, list) and any(map(has_unkept_signs, value))


@lru_cache(maxsize=4_096)
def _read(text: str) -> Any:
    """The value of a text: objects are dicts, numbers Decimals.

    Raises:
        ValueError: it is none.
    """
    try:
        value = json.loads(text, parse_float=_number, parse_int=_number, parse_constant=refuse_word)
    except RecursionError:
        raise ValueError(text) from None
    if "\\u" in text and has_unkept_signs(value):
        raise ValueError(text)
    return value


def _write(value: Any, quoted: Callable[[str], str] = IN_POSTGRES.quoted) -> str:
    """The text of a value, as PostgreSQL writes jsonb."""
    if isinstance(value, dict):
        return f"{{{', '.join(f'{quoted(key)}: {_write(value[key], quoted)}' for key in _in_order(value))}}}"
    if isinstance(value, list):
        return f"[{', '.join(_write(each, quoted) for each in value)}]"
    return quoted(value) if isinstance(value, str) else _plain(value)


def _plain(value: Any) -> str:
    return f"{value:f}" if isinstance(value, Decimal) else _TEXTS_OF_WORDS[value]


def _in_order(members: dict[str, Any]) -> list[str]:
    return sorted(members, key=lambda key: (len(encoded := key.encode()), encoded))


def _pretty(value: Any, by: str = "\n") -> str:
    inner = by + "    "
    if isinstance(value, dict):
        lines = [f"{IN_POSTGRES.quoted(key)}: {_pretty(value[key], inner)}" for key in _in_order(value)]
        return f"{{{','.join(inner + line for line in lines)}{by}}}"
    if isinstance(value, list):
        return f"[{','.join(inner + _pretty(each, inner) for each in value)}{by}]"
    return _write(value)


def _joined(one: Any, other: Any) -> Any:
    if isinstance(one, dict) and isinstance(other, dict):
        return {**one, **other}
    return [*(one if isinstance(one, list) else [one]), *(other if isinstance(other, list) else [other])]


def _without(value: Any, key: str) -> Any:
    if isinstance(value, dict):
        return {name: each for name, each in value.items() if name != key}
    return [each for each in value if not _equal(each, key)] if isinstance(value, list) else NO_VALUE


def _without_place(value: Any, place: int) -> Any:
    if not isinstance(value, list):
        return NO_VALUE
    at = place if place >= 0 else len(value) + place
    return [each for number, each in enumerate(value) if number != at]


@lru_cache(maxsize=4_096)
def _steps(path: str) -> tuple[tuple[str, str], ...]:
    return tuple(_STEP.findall(path))


def jsonb_at_path(value: Any, path: str) -> Any:
    """The value at a path such as ``$['a'][0]``, or ``NO_VALUE``.

    Example:
        >>> jsonb_at_path({"a": [1, 2]}, "$['a'][1]"), jsonb_at_path({"a": 1}, "$['a'][00]")
        (2, 1)
    """
    for key, place in _steps(path):
        if place == "00" and not isinstance(value, (dict, list)):
            continue
        if place and isinstance(value, list) and int(place) < len(value):
            value = value[int(place)]
        elif not place and isinstance(value, dict) and key in value:
            value = value[key]
        else:
            return NO_VALUE
    return value


def _equal(one: Any, other: Any) -> bool:
    """Whether two values are equal, where 1 is no truth value."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_equal(each, other[key]) for key, each in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_equal, one, other))
    return type(one) is type(other) and bool(one == other)


def _place(values: list[Any], step: str) -> int | None:
    """The place that a step of a path is, from the end below 0; ``None`` if it is no number."""
    try:
        at = int(step)
    except ValueError:
        return None
    return at if at >= 0 else len(values) + at


def _changed(value: Any, path: list[str], change: Callable[[Any, str], Any]) -> Any:
    """A value in which the container at a path is changed by its last step; as it is where there is none."""
    if len(path) == 1:
        return change(value, path[0]) if isinstance(value, (dict, list)) else value
    if isinstance(value, dict) and path[0] in value:
        inner = _changed(value[path[0]], path[1:], change)
        return NO_VALUE if inner is NO_VALUE else {**value, path[0]: inner}
    if not isinstance(value, list):
        return value
    at = _place(value, path[0])
    if at is None:
        return NO_VALUE
    if not 0 <= at < len(value):
        return value
    inner = _changed(value[at], path[1:], change)
    return NO_VALUE if inner is NO_VALUE else [*value[:at], inner, *value[at + 1 :]]


def _at_path(value: Any, path: list[str | None], change: Callable[[Any, str], Any]) -> Any:
    if not path or not isinstance(value, (dict, list)):
        return value if isinstance(value, (dict, list)) else NO_VALUE
    steps = [step for step in path if step is not None]
    return _changed(value, steps, change) if len(steps) == len(path) else NO_VALUE


def _without_path(value: Any, path: list[str | None]) -> Any:
    def drop(container: Any, step: str) -> Any:
        if isinstance(container, dict):
            return _without(container, step)
        at = _place(container, step)
        return NO_VALUE if at is None else _without_place(container, at) if at >= 0 else container

    return value if value in ({}, []) else _at_path(value, path, drop)


def _with_value(value: Any, path: list[str | None], new: Any, creates: bool) -> Any:
    def put(container: Any, step: str) -> Any:
        if isinstance(container, dict):
            return {**container, step: new} if creates or step in container else container
        at = _place(container, step)
        if at is None:
            return NO_VALUE
        if 0 <= at < len(container):
            return [*container[:at], new, *container[at + 1 :]]
        return container if not creates else [*container, new] if at >= 0 else [new, *container]

    return value if value in ({}, []) and not creates else _at_path(value, path, put)


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nulls(each) for key, each in value.items() if each is not None}
    return [_without_nulls(each) for each in value] if isinstance(value, list) else value


def _of_values(count: int, compute: Callable[..., Any], write: Callable[[Any], Any] = _write) -> Callable[..., Any]:
    """A function of texts of JSON, the first ``count`` arguments, and of others as they are."""

    def of_texts(*arguments: Any) -> Any:
        try:
            found = compute(*map(_read, arguments[:count]), *arguments[count:])
        except ValueError:
            return None
        return None if found is NO_VALUE else write(found)

    return of_texts


def jsonb(value: Expression) -> Expression:
    """JSON as jsonb; a constant text is what it says."""
    if is_null(value):
        return Constant(None, JSON)
    if value.type != JSON and not (value.type == STRING and isinstance(value, Constant)):
        raise TypeClash(f"jsonb is needed, not {value.type}", value, "TO_JSONB(x), or a text s::jsonb")
    return call("jsonb_of_text", value)


def cast_to_jsonb(value: Expression) -> Expression:
    """``s::jsonb``, of a text or of JSON."""
    if value.type.kind is not STRING.kind and not is_null(value):
        raise TypeClash(f"{value.type} cannot be cast to jsonb", value, "TO_JSONB(x)")
    return Constant(None, JSON) if is_null(value) else call("jsonb_of_text", value)


def joined_json(parts: Sequence[Expression]) -> Expression | None:
    """``j || k``; ``None`` where one is neither JSON nor a constant text."""
    if not any(part.type.json for part in parts):
        return None
    if not all(part.type.json or is_null(part) or isinstance(part, Constant) for part in parts):
        return None
    return reduce(lambda left, right: call("jsonb_joined", left, right), map(jsonb, parts))


def same_json(symbol: str, one: Expression, other: Expression) -> Expression | None:
    """Whether two values of JSON are equal, or not; ``None`` where neither is JSON."""
    if not (one.type.json or other.type.json) or is_null(one) or is_null(other):
        return None
    if symbol not in ("=", "<>"):
        raise TypeClash("JSON is not ordered here", one, "compare (j->>'a')::int, or another part of it")
    equal = call("jsonb_equal", jsonb(one), jsonb(other))
    return equal if symbol == "=" else call("not", equal)


def less(one: Expression, other: Expression) -> Expression | None:
    """``j - 'a'`` and ``j - 0``; ``None`` where the first is no JSON."""
    if not one.type.json:
        return None
    if other.type.kind is INTEGER.kind:
        return call("jsonb_without_place", jsonb(one), other)
    if other.type != STRING:
        raise TypeClash(f"- takes a key or a place, not {other.type}", other, "j - 'a', or j - 0")
    return call("jsonb_without", jsonb(one), other)


def _path(b: ExpressionBinder, node: exp.Expr) -> Expression:
    path = b.bind(exp.cast(node.copy(), "TEXT[]")) if isinstance(node, exp.Literal) else b.bind(node)
    if path.type != _PATHS:
        b.source.refuse("this path of JSON", node, "a constant one, as in '{a,0}'")
    return path


@reads(exp.JSONBDeleteAtPath, parts="this expression", dialects=ONLY_POSTGRES)
def less_path(b: ExpressionBinder, node: exp.JSONBDeleteAtPath) -> Expression:
    """``j #- '{a,0}'``."""
    return call("jsonb_without_path", jsonb(b.bind(node.this)), _path(b, node.expression))


def _as_jsonb(write: Callable[[ExpressionBinder, list[Expression]], Expression]) -> Callable[..., Expression]:
    return lambda b, arguments: jsonb(write(b, arguments))


for _name, _takes, _write_json in (
    ("jsonb_build_object", None, json_of_postgres.built_object),
    ("jsonb_build_array", None, json_of_postgres.built_array),
    ("to_jsonb", 1, json_of_postgres.value_as_json),
    ("jsonb_of_group", 1, json_of_postgres.of_group),
    ("jsonb_of_members", 1, json_of_postgres.of_members),
):
    reads_name(_name, takes=_takes, dialects=ONLY_POSTGRES)(_as_jsonb(_write_json))
for _name in ("jsonb_strip_nulls", "jsonb_pretty"):
    reads_name(_name, takes=1, dialects=ONLY_POSTGRES)(
        lambda b, arguments, name=_name: call(f"{name}_of", jsonb(arguments[0]))
    )


@reads_name("jsonb_set", dialects=ONLY_POSTGRES)
def with_value(b: ExpressionBinder, arguments: list[Expression]) -> Expression:
    """JSONB_SET(j, ARRAY['a', '0'], '1'[, creates])."""
    if not 3 <= len(arguments) <= 4:
        raise TypeClash(f"JSONB_SET takes 3 to 4 arguments, not {len(arguments)}")
    value, path, new, *creates = arguments
    if path.type == STRING and isinstance(path, Constant) and isinstance(path.value, str):
        path = b.bind(exp.cast(exp.Literal.string(path.value), "TEXT[]"))
    if path.type != _PATHS:
        raise TypeClash("a path of JSON is an array of texts", path, "JSONB_SET(j, '{a,0}', '1')")
    made = coerce(creates[0], BOOLEAN) if creates else Constant(True, BOOLEAN)
    return call("jsonb_with_value", jsonb(value), jsonb(new), path, made)


DECLARED = [
    function("jsonb_of_text(string): json", python=_of_values(1, lambda value: value)),
    function("jsonb_at(string, string): json", python=_of_values(1, jsonb_at_path)),
    function("jsonb_equal(json, json): boolean", python=_of_values(2, _equal, lambda equal: equal)),
    function("jsonb_joined(json, json): json", python=_of_values(2, _joined)),
    function("jsonb_without(json, string): json", python=_of_values(1, _without)),
    function("jsonb_without_place(json, integer): json", python=_of_values(1, _without_place)),
    function("jsonb_without_path(json, array<string>): json", python=_of_values(1, _without_path)),
    function("jsonb_with_value(json, json, array<string>, boolean): json",
             python=_of_values(2, lambda value, new, path, creates: _with_value(value, path, new, creates))),
    function("jsonb_strip_nulls_of(json): json", python=_of_values(1, _without_nulls)),
    function("jsonb_pretty_of(json): string", python=_of_values(1, lambda value: value, _pretty)),
]  # fmt: skip
