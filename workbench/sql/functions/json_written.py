"""JSON in duckdb: texts of the type JSON, which functions make of values and of other JSON.

JSON_OBJECT('a', x)   JSON_ARRAY(x, y)   TO_JSON(s)   j->'a'   JSON_MERGE_PATCH(j, k)   JSON_TYPE(j, '$.a')   s::JSON
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlglot import exp

from workbench.sql.algebra.coercion import TypeClash, as_string, is_null
from workbench.sql.algebra.expressions import Constant, Expression
from workbench.sql.algebra.types import BINARY, JSON, STRING, Kind
from workbench.sql.functions import json_texts
from workbench.sql.functions.calls import call
from workbench.sql.functions.declaration import function
from workbench.sql.functions.json_texts import ABSENT, compact_json, of_json
from workbench.sql.functions.json_writers import IN_DUCKDB
from workbench.sql.functions.reading import ExpressionBinder, reads, reads_call, reads_name
from workbench.sql.syntax.dialects import ONLY_DUCKDB, SPARK_FAMILY

_ROOT = "$"


def json_of(value: Expression) -> Expression:
    """A value as JSON, and a text as the JSON that it is: NULL where it is none."""
    if value.type == JSON:
        return value
    if value.type == STRING:
        return call("json_of_text", value)
    return value_as_json(value)


def value_as_json(value: Expression) -> Expression:
    """A value as JSON: a text as one in quotes.

    Raises:
        TypeClash: intervals and bytes are written differently.
    """
    if is_null(value):
        return Constant(None, JSON)
    if value.type == JSON:
        return call("json_part", value, Constant(_ROOT, STRING))
    for part in value.type.walk():
        if part.counted or part == BINARY:
            raise TypeClash(f"{part} is not written as JSON", value, "CAST it AS VARCHAR")
    if value.type.zoned:
        value = as_string(value)
    return call("to_json_in_duckdb", value, Constant(str(value.type), STRING))


def of_pairs(b: ExpressionBinder, node: exp.Expr, keys_and_values: list[Expression]) -> Expression:
    """JSON_OBJECT('a', x, 'b', y)."""
    if len(keys_and_values) % 2:
        raise b.source.error("JSON_OBJECT takes a value for each key", node, "JSON_OBJECT('a', x, 'b', y)")
    for key in keys_and_values[::2]:
        if key.type.kind is not Kind.STRING or is_null(key):
            raise b.source.error(f"a key of JSON is a text, not {key.type}", node, "CAST it AS VARCHAR")
    if not keys_and_values:
        return Constant("{}", JSON)
    return call("json_object_of", *(value_as_json(v) if at % 2 else v for at, v in enumerate(keys_and_values)))


@reads(exp.JSONObject, parts="expressions", dialects=ONLY_DUCKDB)
def json_object(b: ExpressionBinder, node: exp.JSONObject) -> Expression:
    """JSON_OBJECT('a', x, 'b', y)."""
    parts = [(p.this, p.expression) if isinstance(p, exp.JSONKeyValue) else (p,) for p in node.expressions]
    return of_pairs(b, node, [b.bind(part) for pair in parts for part in pair])


@reads(exp.JSONArray, parts="expressions", dialects=ONLY_DUCKDB)
def json_array(b: ExpressionBinder, node: exp.JSONArray) -> Expression:
    """JSON_ARRAY(x, y)."""
    values = [value_as_json(value) for value in b.parts(node, "expressions")]
    return call("json_array_of", *values) if values else Constant("[]", JSON)


reads_name("json_of_members", takes=1, dialects=ONLY_DUCKDB)(
    lambda b, arguments: call("json_of_members", arguments[0], Constant("", STRING))
)


@reads_name("to_json", "json_quote", takes=1, dialects=ONLY_DUCKDB)
def written_as_json(b: ExpressionBinder, arguments: list[Expression]) -> Expression:
    """TO_JSON(x)."""
    return value_as_json(arguments[0])


def _of_kind(kind: Kind, example: str) -> Callable[[ExpressionBinder, list[Expression]], Expression]:
    def bind(b: ExpressionBinder, arguments: list[Expression]) -> Expression:
        if arguments[0].type.kind is not kind and not is_null(arguments[0]):
            raise TypeClash(f"{kind.value} is needed, not {arguments[0].type}", arguments[0], example)
        return value_as_json(arguments[0])

    return bind


@reads(exp.ParseJSON, dialects=ONLY_DUCKDB)
def minified(b: ExpressionBinder, node: exp.ParseJSON) -> Expression:
    """JSON(s), without blanks."""
    return value_as_json(json_of(b.bind(node.this)))


def _at_path(name: str, least: int = 1) -> Callable[[ExpressionBinder, exp.Expr], Expression]:
    """A function of JSON, and of a path that may be left out where one argument is enough."""

    def bind(b: ExpressionBinder, node: exp.Expr) -> Expression:
        given = node.expressions if isinstance(node, exp.Anonymous) else [node.this, node.args.get("expression")]
        given = [part for part in given if part is not None]
        if not least <= len(given) <= 2:
            counts = "1 or 2" if least == 1 else least
            raise b.source.error(f"{b.source.called(node)} takes {counts} arguments, not {len(given)}", node)
        value, path = b.bind(given[0]), _ROOT
        if len(given) == 2:
            path = constant_path(b, given[1])
        return call(name, value, Constant(path, STRING))

    return bind


def constant_path(b: ExpressionBinder, node: exp.Expr) -> str:
    """A constant path, as ``path_parts`` reads it."""
    steps: list[Any]
    if isinstance(node, exp.JSONPath):
        steps = [
            part.this for part in node.expressions[1:] if isinstance(part, (exp.JSONPathKey, exp.JSONPathSubscript))
        ]
        known = len(steps) == len(node.expressions) - 1 and all(isinstance(step, (str, int)) for step in steps)
    else:
        text = node.name
        known = isinstance(node, exp.Literal) and (node.is_string or text.isdecimal())
        if known and not node.is_string:
            steps = [int(text)]
        elif known and text[:1] in ("$", "/"):
            found = json_texts.path_steps(text)
            known, steps = found is not None, found or []
        else:
            steps = [text] if text else []
    if not known or any("'" in step for step in steps if isinstance(step, str)):
        b.source.refuse("this path of JSON", node, "a constant one, as in '$.a[0]'")
    return _ROOT + "".join(f"['{step}']" if isinstance(step, str) else f"[{step}]" for step in steps)


def _at(function_: Callable[[Any], Any]) -> Callable[[str, str], Any]:
    """A function of what is at a path, NULL where nothing is."""

    def of_value(value: Any, path: str) -> Any:
        found = json_texts.at(value, path)
        return None if found is ABSENT else function_(found)

    return of_json(of_value)


def _text(value: Any) -> str | None:
    return None if value is None else value if type(value) is str else compact_json(value)


def _scalar(value: Any) -> str | None:
    return None if isinstance(value, (list, json_texts.Members)) else compact_json(value)


def _keys(value: Any) -> list[str]:
    return [key for key, _ in value] if isinstance(value, json_texts.Members) else []


def _members(*parts: str | None) -> str | None:
    if None in parts[::2]:
        return None
    pairs = zip(parts[::2], parts[1::2], strict=True)
    members = (f"{json_texts.quoted_json(key or '')}:{value or 'null'}" for key, value in pairs)
    return f"{{{','.join(members)}}}"


def _write(value: object, type_text: str) -> str:
    return IN_DUCKDB.of(type_text)(value)


for _kind, _name, _example in ((Kind.STRUCT, "row_to_json", "ROW_TO_JSON({'a': x})"),
                               (Kind.ARRAY, "array_to_json", "ARRAY_TO_JSON([x, y])")):  # fmt: skip
    reads_name(_name, takes=1, dialects=ONLY_DUCKDB)(_of_kind(_kind, _example))
reads(exp.JSONType, parts="this expression", dialects=ONLY_DUCKDB)(_at_path("json_type_in_duckdb"))


@reads(exp.JSONKeys, parts="this expression", dialects=SPARK_FAMILY | ONLY_DUCKDB)
def keys(b: ExpressionBinder, node: exp.JSONKeys) -> Expression:
    """JSON_OBJECT_KEYS(s) in spark, JSON_KEYS(j, '$.a') in duckdb."""
    if b.rules.json_keys_as_they_are:
        return _at_path("json_keys_at")(b, node)
    return call("json_object_keys", *b.parts(node, "this", "expression"))


@reads_call("json_array_length", dialects=SPARK_FAMILY | ONLY_DUCKDB)
def length(b: ExpressionBinder, node: exp.Anonymous) -> Expression:
    """JSON_ARRAY_LENGTH(j), in duckdb 0 of what is no array, and also at a path."""
    if b.rules.json_keys_as_they_are:
        return _at_path("json_length_in_duckdb")(b, node)
    return call("json_array_length", *b.parts(node, "expressions"))


reads_call("json_exists", dialects=ONLY_DUCKDB)(_at_path("json_exists", least=2))
reads_call("json_value", dialects=ONLY_DUCKDB)(_at_path("json_scalar", least=2))

DECLARED = [
    function("to_json_in_duckdb(value, type)", rule=lambda arguments: (arguments, JSON), python=_write,
             returns=JSON),
    function("json_of_text(string): json", python=lambda text: text if json_texts.is_json(text) else None),
    function("json_part(string, string): json", python=_at(compact_json)),
    function("json_text_in_duckdb(string, string): string", python=_at(_text)),
    function("json_scalar(string, string): json", python=_at(_scalar)),
    function("json_object_of(string, string[, string...]): json", python=_members, of_null=True),
    function("json_array_of(string[, string...]): json", of_null=True,
             python=lambda *parts: f"[{','.join(part or 'null' for part in parts)}]"),
    function("json_type_in_duckdb(string, string): string", python=_at(json_texts.kind_of)),
    function("json_length_in_duckdb(string, string): integer",
             python=_at(lambda value: len(value) if type(value) is list else 0)),
    function("json_exists(string, string): boolean",
             python=of_json(lambda value, path: json_texts.at(value, path) is not ABSENT)),
    function("json_keys_at(string, string): array<string>", python=_at(_keys)),
    function("json_valid(string): boolean", python=json_texts.is_json, names="json_valid", dialects=ONLY_DUCKDB,
             costly=True, help="json_valid(text) Returns whether a text is JSON.",
             example="SELECT json_valid('{\"a\": 1}') → true"),
    function("json_pretty(string): string", python=of_json(json_texts.indented), names="json_pretty",
             dialects=ONLY_DUCKDB, costly=True, help="json_pretty(json) Returns JSON over several lines.",
             example="SELECT json_pretty('[]') → []"),
    function("json_merge_patch(string, string[, string...]): json", python=json_texts.merged, of_null=True,
             names="json_merge_patch", dialects=ONLY_DUCKDB, costly=True,
             help="json_merge_patch(json, patch) Returns JSON with the members of an object in place of its own.",
             example="SELECT json_merge_patch('{\"a\":1}', '{\"b\":2}') → {\"a\":1,\"b\":2}"),
]  # fmt: skip
