"""Maps: MAP('a', x), MAP_FROM_ARRAYS, STR_TO_MAP, MAP_CONCAT, lambdas over entries, and functions that read them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import sqlglot
from sqlglot import exp

from workbench.sql.algebra.coercion import TypeClash, empty_array, refuse_maps, unify
from workbench.sql.algebra.expressions import Call, Constant, Expression, walk
from workbench.sql.algebra.types import INTEGER, STRING, Kind, map_of
from workbench.sql.binder.functions import refuse_elsewhere
from workbench.sql.binder.protocols import ExpressionBinder
from workbench.sql.functions.arrays import variable
from workbench.sql.functions.calls import call
from workbench.sql.functions.maps import MAP_FROM_ENTRIES, MAP_OF
from workbench.sql.syntax.dialects import SPARK_FAMILY
from workbench.sql.syntax.source_text import SourceText

NAMES = ("map_entries", "map_values")
"""Functions of one map that the parser leaves as plain names, the same in duckdb."""
_KEY, _VALUE = Constant(0, INTEGER), Constant(1, INTEGER)
_ENTRIES = sqlglot.parse_one(
    "TRANSFORM(SPLIT(text, pair), `one pair` -> STRUCT(SPLIT(`one pair`, sign, 2)[0], SPLIT(`one pair`, sign, 2)[1]))",
    "spark",
)


def map_constructor(b: ExpressionBinder, node: exp.VarMap | exp.Map | exp.ToMap) -> Expression:
    """MAP('a', x, 'b', y) in spark; MAP {'a': x} and MAP([k], [v]) in duckdb."""
    _refuse_elsewhere(b, node)
    if isinstance(node, exp.ToMap) and isinstance(node.this, exp.Bracket):
        return b.bind(_map_before_brackets(node.this))
    if isinstance(node, exp.ToMap):
        if not isinstance(node.this, exp.Struct):
            b.source.refuse("this map", node, "as in MAP {'a': x}")
        pairs = [(part.this, part.expression) for part in node.this.expressions]
        keys, values = [b.bind(key) for key, _ in pairs], [b.bind(value) for _, value in pairs]
    elif isinstance(node, exp.VarMap):
        keys, values = ([b.bind(part) for part in node.args[side].expressions] for side in ("keys", "values"))
    elif node.args.get("keys") is None:
        keys, values = [], []
    else:
        return _of_arrays(b, b.bind(node.args["keys"]), b.bind(node.args.get("values")), node)
    if not keys:
        return empty_array(map_of(STRING, STRING))
    keys, values = list(unify(keys)[0]), list(unify(values)[0])
    entries = call("array", *(call("struct", key, value) for key, value in zip(keys, values, strict=True)))
    if not all(isinstance(key, Constant) for key in keys):
        return from_entries(b, entries, node)
    if len(set(keys)) < len(keys) or any(isinstance(key, Constant) and key.value is None for key in keys):
        raise b.source.error("a key stands twice in a map, or is NULL", node, "each key stands once")
    return call(MAP_OF, entries)


def _map_before_brackets(node: exp.Bracket) -> exp.Bracket:
    """``MAP {'a': x}['a']``, of which the parser takes ``{'a': x}['a']`` for what MAP stands before."""
    whole = at = node.copy()
    while isinstance(at.this, exp.Bracket):
        at = at.this
    at.set("this", exp.ToMap(this=at.this))
    return whole


def from_entries(b: ExpressionBinder, entries: Expression, node: exp.Expr) -> Expression:
    """The map of entries, of which only the rows can say whether they are one.

    Raises:
        UnsupportedError: a lambda makes it, of whose elements no check knows.
    """
    parts = [part for part in walk(entries) if isinstance(part, Call)]
    bound = {head for part in parts if part.function == "lambda" for head in part.arguments[:-1]}
    if any(part.function == "variable" and part not in bound for part in parts):
        b.source.refuse("a map in a lambda with keys that are no constants", node, "as in x -> MAP('a', x)")
    return call(MAP_FROM_ENTRIES, entries)


def of_entries(b: ExpressionBinder, node: exp.MapFromEntries) -> Expression:
    """MAP_FROM_ENTRIES(array of structs)."""
    _refuse_elsewhere(b, node)
    return from_entries(b, b.bind(node.this), node)


def refuse_compared(values: Iterable[Expression], what: str, node: exp.Expr, source: SourceText) -> None:
    """Refuse maps, and values with maps in them, among values that a clause compares.

    Raises:
        SqlError: one of them is such.
    """
    try:
        refuse_maps(*values)
    except TypeClash as clash:
        raise source.error(f"{what}: {clash.message}", node, clash.hint) from None


def _of_arrays(b: ExpressionBinder, keys: Expression, values: Expression, node: exp.Expr) -> Expression:
    """MAP_FROM_ARRAYS(keys, values); arrays of different sizes are no entries."""
    for array in (keys, values):
        if array.type.kind is not Kind.ARRAY:
            raise TypeClash(f"an array is needed, not {array.type}", array, "as in MAP_FROM_ARRAYS(keys, values)")
    assert keys.type.element is not None and values.type.element is not None
    sides = variable(1_000, keys.type.element), variable(1_001, values.type.element)
    pair = call("struct", *sides)
    paired = call("zip_with", keys, values, Call("lambda", (*sides, pair), pair.type))
    none = call("array", call("struct", Constant(None, sides[0].type), Constant(None, sides[1].type)))
    same = call("=", call("array_size", keys), call("array_size", values))
    other = call("<>", call("array_size", keys), call("array_size", values))
    return from_entries(b, call("case", same, paired, other, none, Constant(None, paired.type)), node)


def of_text(b: ExpressionBinder, node: exp.StrToMap) -> Expression:
    """STR_TO_MAP(text, pair, sign), whose separators are constant patterns of Java."""
    refuse_elsewhere(b, "str_to_map", node)
    parts = {"text": node.this, "pair": node.args["pair_delim"], "sign": node.args["key_value_delim"]}
    tree = _ENTRIES.copy()
    for column in list(tree.find_all(exp.Column)):
        column.replace(parts[column.name].copy())
    return from_entries(b, b.bind(tree), node)


def concatenated(b: ExpressionBinder, node: exp.Anonymous) -> Expression:
    """MAP_CONCAT(m, n), which have no key in common; in duckdb that of the later one would stay."""
    if b.dialect not in SPARK_FAMILY:
        b.source.refuse(f"MAP_CONCAT in {b.dialect}", node, "it is read in spark")
    maps = unify(b.parts(node, "expressions"))[0] if node.expressions else ()
    if not maps:
        raise TypeClash("MAP_CONCAT takes maps")
    return from_entries(b, call("flatten", call("array", *(call("map_entries", each) for each in maps))), node)


def key_of(b: ExpressionBinder, node: exp.MapKeys | exp.MapContainsKey) -> Expression:
    """MAP_KEYS(m), and MAP_CONTAINS_KEY(m, key)."""
    _refuse_elsewhere(b, node)
    if isinstance(node, exp.MapKeys):
        return call("map_keys", b.bind(node.this))
    return call("map_contains_key", *b.parts(node, "this", "key"))


def read(function: str, b: ExpressionBinder, arguments: list[Expression]) -> Expression:
    """MAP_ENTRIES and MAP_VALUES, in duckdb also MAP_CONTAINS and MAP_EXTRACT_VALUE."""
    only_duckdb = function not in NAMES
    if b.dialect != "duckdb" and (only_duckdb or b.dialect not in SPARK_FAMILY):
        raise TypeClash(f"this function of maps in {b.dialect}", None, "m['k'] and MAP_CONTAINS_KEY are read in spark")
    return call(function, *arguments)


def over_entries(function: str, b: ExpressionBinder, node: exp.Anonymous) -> Expression:
    """MAP_FILTER, TRANSFORM_VALUES and TRANSFORM_KEYS: a map and a lambda of a key and a value."""
    refuse_elsewhere(b, function, node)
    if len(node.expressions) != 2:
        raise TypeClash(f"{function.upper()} takes a map and a lambda", None, "as in (k, v) -> …")
    entries = call("map_entries", b.bind(node.expressions[0]))
    entry = entries.type.element
    assert entry is not None
    *variables, body = b.function_body(node.expressions[1], *(type_ for _, type_ in entry.fields)).arguments
    if len(variables) != 2:
        raise b.source.error("a lambda of a key and a value is needed", node, "as in (k, v) -> …")
    assert isinstance(variables[0], Call)
    each = Call("variable", variables[0].arguments, entry)
    key, value = call("field", each, _KEY), call("field", each, _VALUE)
    body = _with(body, dict(zip(variables, (key, value), strict=True)))
    if function == "map_filter":
        return call(MAP_OF, call("filter", entries, Call("lambda", (each, body), body.type)))
    changed = call("struct", *((key, body) if function == "transform_values" else (body, value)))
    entries = call("transform", entries, Call("lambda", (each, changed), changed.type))
    return call(MAP_OF, entries) if function == "transform_values" else from_entries(b, entries, node)


def _with(expression: Expression, others: Mapping[Expression, Expression]) -> Expression:
    """An expression with others in the place of some of its parts."""
    if expression in others:
        return others[expression]
    if not isinstance(expression, Call):
        return expression
    return replace(expression, arguments=tuple(_with(part, others) for part in expression.arguments))


def _refuse_elsewhere(b: ExpressionBinder, node: exp.Expr) -> None:
    if b.dialect not in (*SPARK_FAMILY, "duckdb"):
        b.source.refuse(f"a map in {b.dialect}", node, "it is read in spark and duckdb")
