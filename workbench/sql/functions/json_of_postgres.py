"""JSON that postgres writes, of the type json, whose text stays as it is written.

TO_JSON(x)   ROW_TO_JSON(t)   ARRAY_TO_JSON(n)   JSON_AGG(x ORDER BY y)
JSON_BUILD_OBJECT('a', x, 'b', y)   JSON_BUILD_ARRAY(x, y)   JSON_OBJECT_AGG(k, x)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from workbench.sql.algebra.coercion import TypeClash, as_string, is_null
from workbench.sql.algebra.expressions import Constant, Expression
from workbench.sql.algebra.types import BINARY, JSON, STRING, Kind
from workbench.sql.functions.calls import call
from workbench.sql.functions.declaration import Function, function
from workbench.sql.functions.json_writers import IN_POSTGRES
from workbench.sql.functions.reading import ExpressionBinder, reads_name
from workbench.sql.syntax.dialects import ONLY_POSTGRES

_KEYS = frozenset({Kind.STRING, Kind.INTEGER, Kind.BOOLEAN, Kind.DATE})


@reads_name("to_json", takes=1, dialects=ONLY_POSTGRES)
def value_as_json(b: ExpressionBinder, arguments: list[Expression]) -> Expression:
    """TO_JSON(x): JSON as it is, and any other value as JSON."""
    return _as_json(arguments[0])


@reads_name("row_to_json", takes=1, dialects=ONLY_POSTGRES)
def row_as_json(b: ExpressionBinder, arguments: list[Expression]) -> Expression:
    """ROW_TO_JSON(t), of a whole row."""
    if not arguments[0].type.fields:
        raise TypeClash(f"a row is needed, not {arguments[0].type}", arguments[0], "ROW_TO_JSON(t), of FROM t")
    return _as_json(arguments[0])


@reads_name("array_to_json", takes=1, dialects=ONLY_POSTGRES)
def array_as_json(b: ExpressionBinder, arguments: list[Expression]) -> Expression:
    """ARRAY_TO_JSON(n)."""
    if arguments[0].type.kind is not Kind.ARRAY:
        raise TypeClash(f"an array is needed, not {arguments[0].type}", arguments[0], "ARRAY_TO_JSON(ARRAY[x, y])")
    return _as_json(arguments[0])


def _refuse_parts(value: Expression) -> None:
    """Refuse what was not compared: intervals, bytes and instants."""
    for part in value.type.walk():
        if part.counted or part == BINARY or part.zoned:
            raise TypeClash(f"{part} is not written as JSON", value, "CAST it AS TEXT")


def _as_json(value: Expression) -> Expression:
    if is_null(value):
        return Constant(None, JSON)
    if value.type == JSON:
        return value
    _refuse_parts(value)
    return call("to_json_in_postgres", value, Constant(str(value.type), STRING))


@reads_name("json_build_object", dialects=ONLY_POSTGRES)
def built_object(b: ExpressionBinder, arguments: list[Expression]) -> Expression:
    """JSON_BUILD_OBJECT('a', x, 'b', y)."""
    if len(arguments) % 2:
        raise TypeClash("JSON_BUILD_OBJECT takes a value for each key", hint="JSON_BUILD_OBJECT('a', x, 'b', y)")
    for key in arguments[::2]:
        if key.type.kind not in _KEYS or is_null(key):
            raise TypeClash(f"a key of JSON is a text, not {key.type}", key, "CAST it AS TEXT")
    if not arguments:
        return Constant("{}", JSON)
    return call("json_built_object", *(_as_json(v) if at % 2 else as_string(v) for at, v in enumerate(arguments)))


@reads_name("json_build_array", dialects=ONLY_POSTGRES)
def built_array(b: ExpressionBinder, arguments: list[Expression]) -> Expression:
    """JSON_BUILD_ARRAY(x, y)."""
    return call("json_built_array", *map(_as_json, arguments)) if arguments else Constant("[]", JSON)


@reads_name("json_of_group", takes=1, dialects=ONLY_POSTGRES)
def of_group(b: ExpressionBinder, arguments: list[Expression]) -> Expression:
    """JSON_AGG(x), of the array of the values of a group."""
    array = arguments[0]
    _refuse_parts(array)
    return call("json_of_group", array, Constant(str(array.type), STRING))


@reads_name("json_of_members", takes=1, dialects=ONLY_POSTGRES)
def of_members(b: ExpressionBinder, arguments: list[Expression]) -> Expression:
    """JSON_OBJECT_AGG(k, x), of the array of a group's objects of one member each."""
    return call("json_of_members", arguments[0], Constant(" ", STRING))


def _of_members(members: Sequence[str | None], blank: str) -> str | None:
    """An object, NULL where a key is NULL."""
    known = [member[1:-1] for member in members if member is not None]
    return f"{{{blank}{f',{blank}'.join(known)}{blank}}}" if len(known) == len(members) else None


def _write(value: object, type_text: str) -> str:
    return IN_POSTGRES.of(type_text)(value)


def _object(*parts: str | None) -> str | None:
    """An object, NULL of a key that is NULL."""
    if None in parts[::2]:
        return None
    pairs = zip(parts[::2], parts[1::2], strict=True)
    members = (f"{IN_POSTGRES.quoted(key or '')} : {value or 'null'}" for key, value in pairs)
    return f"{{{', '.join(members)}}}"


def _of_group(values: Sequence[object], type_text: str) -> str:
    """An array of a group's values; elements that are arrays are on separate lines."""
    element = type_text.removeprefix("array<").removesuffix(">")
    write = IN_POSTGRES.of(element)
    between = ", \n " if element.startswith(("array<", "struct<")) else ", "
    return f"[{between.join(map(write, values))}]"


def _json(signature: str, python: Callable[..., object]) -> Function:
    return function(signature, rule=lambda arguments: (arguments, JSON), returns=JSON, python=python)


DECLARED = [
    _json("to_json_in_postgres(value, type)", _write),
    _json("json_of_group(array, type)", _of_group),
    _json("json_of_members(array, blank)", _of_members),
    function("json_built_object(string, string[, string...]): json", python=_object, of_null=True),
    function("json_built_array(string[, string...]): json", of_null=True,
             python=lambda *parts: f"[{', '.join(part or 'null' for part in parts)}]"),
]  # fmt: skip
