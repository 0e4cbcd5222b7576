"""Maps: MAP('a', x), STR_TO_MAP, lambdas over entries, and what reads them.

A map is the array of its entries, structs of a key and a value, in the order in which they came.

No map has a key twice, or NULL as a key: Spark raises there. Here ``map_from_entries`` is NULL, and a check
(``sql/checks``) stops the query as long as it has such rows. Of entries that are sure to be a map ``map_of`` makes it.

In the texts for Spark an entry is a struct (f0, f1). Variables of lambdas have names that no column has, since an
argument may stand in a lambda.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

import sqlglot
from sqlglot import exp

from workbench.errors import SqlError
from workbench.sql.algebra.coercion import TypeClash, as_exactly, empty_array, refuse_maps, unify
from workbench.sql.algebra.expressions import Call, Constant, Expression, substituted, walk
from workbench.sql.algebra.types import BOOLEAN, INTEGER, STRING, DataType, Kind, array_of, map_of
from workbench.sql.functions.arrays.arrays import variable
from workbench.sql.functions.calls import call
from workbench.sql.functions.declaration import Arguments, TypeRule, function, let, variable_sql
from workbench.sql.functions.reading import ExpressionBinder, reads, reads_call, reads_name
from workbench.sql.syntax.dialects import ONLY_DUCKDB, SPARK_FAMILY
from workbench.sql.syntax.source_text import SourceText

MAP_FROM_ENTRIES, MAP_OF, NO_MAP = "map_from_entries", "map_of", "no_map"
"""The map of an array of entries, NULL where they are invalid; the map of valid entries; whether they are invalid."""
_E, _K, _M, _N = map(variable_sql, "ekmn")
_KEYS = f"transform({{0}}, {_K} -> {_K}.f0)"
_NO_KEYS = f"(exists({{0}}, {_K} -> {_K} is null) or size(array_distinct({{0}})) < size({{0}}))"
_IS_NONE = let(_N, _KEYS, _NO_KEYS.format(_N))


def _of_entries(arguments: Arguments) -> tuple[Arguments, DataType]:
    (entries,) = arguments
    element = entries.type.element if entries.type.kind is Kind.ARRAY else None
    if element is None or len(element.fields) != 2:
        hint = "as in MAP_FROM_ENTRIES(ARRAY(STRUCT('a', 1), STRUCT('b', 2)))"
        raise TypeClash(f"an array of structs of a key and a value is needed, not {entries.type}", entries, hint)
    (_, key), (_, value) = element.fields
    try:
        return arguments, map_of(key, value)
    except SqlError as error:
        raise TypeClash(error.message, entries, error.hint) from None


def _tested_entries(arguments: Arguments) -> tuple[Arguments, DataType]:
    return _of_entries(arguments)[0], BOOLEAN


def _of_map(result: Callable[[DataType, DataType], DataType], with_key: bool = False) -> TypeRule:
    """A map, and maybe a key; the result from the types of keys and values."""

    def rule(arguments: Arguments) -> tuple[Arguments, DataType]:
        whole = arguments[0]
        if whole.type.kind is not Kind.MAP:
            raise TypeClash(f"a map is needed, not {whole.type}", whole, "MAP('a', 1, 'b', 2) makes one")
        key, value = whole.type.key_and_value
        return (whole, *(as_exactly(a, key) for a in arguments[1:] if with_key)), result(key, value)

    return rule


def _entries(arguments: Arguments) -> tuple[Arguments, DataType]:
    arguments, _ = _of_map(lambda key, value: value)(arguments)
    entry = arguments[0].type.element
    assert entry is not None
    return arguments, array_of(entry)


_HAVE_MAPS = SPARK_FAMILY | ONLY_DUCKDB
_reads = partial(reads, dialects=_HAVE_MAPS, what="a map", hint="it is read in spark and duckdb")
_KEY, _VALUE = Constant(0, INTEGER), Constant(1, INTEGER)
_ENTRIES = sqlglot.parse_one(
    "TRANSFORM(SPLIT(text, pair), `one pair` -> STRUCT(SPLIT(`one pair`, sign, 2)[0], SPLIT(`one pair`, sign, 2)[1]))",
    "spark",
)


@_reads(exp.VarMap, exp.Map, exp.ToMap, parts="this keys values")
def map_constructor(b: ExpressionBinder, node: exp.VarMap | exp.Map | exp.ToMap) -> Expression:
    """MAP('a', x, 'b', y) in spark; MAP {'a': x} and MAP([k], [v]) in duckdb."""
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
        return of_arrays(b, b.bind(node.args["keys"]), b.bind(node.args.get("values")), node)
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


@_reads(exp.MapFromEntries)
def of_entries(b: ExpressionBinder, node: exp.MapFromEntries) -> Expression:
    """MAP_FROM_ENTRIES(array of structs)."""
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


def of_arrays(b: ExpressionBinder, keys: Expression, values: Expression, node: exp.Expr) -> Expression:
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


@reads(exp.StrToMap, parts="this pair_delim key_value_delim", dialects=SPARK_FAMILY)
def of_text(b: ExpressionBinder, node: exp.StrToMap) -> Expression:
    """STR_TO_MAP(text, pair, sign), whose separators are constant patterns of Java."""
    parts = {"text": node.this, "pair": node.args["pair_delim"], "sign": node.args["key_value_delim"]}
    tree = _ENTRIES.copy()
    for column in list(tree.find_all(exp.Column)):
        column.replace(parts[column.name].copy())
    return from_entries(b, b.bind(tree), node)


@reads_call("map_concat", dialects=SPARK_FAMILY)
def concatenated(b: ExpressionBinder, node: exp.Anonymous) -> Expression:
    """MAP_CONCAT(m, n), which have no key in common; in duckdb that of the later one would stay."""
    maps = unify(b.parts(node, "expressions"))[0] if node.expressions else ()
    if not maps:
        raise TypeClash("MAP_CONCAT takes maps")
    return from_entries(b, call("flatten", call("array", *(call("map_entries", each) for each in maps))), node)


@_reads(exp.MapKeys, exp.MapContainsKey, parts="this key")
def key_of(b: ExpressionBinder, node: exp.MapKeys | exp.MapContainsKey) -> Expression:
    """MAP_KEYS(m), and MAP_CONTAINS_KEY(m, key)."""
    if isinstance(node, exp.MapKeys):
        return call("map_keys", b.bind(node.this))
    return call("map_contains_key", *b.parts(node, "this", "key"))


def over_entries(function: str, b: ExpressionBinder, node: exp.Anonymous) -> Expression:
    """MAP_FILTER, TRANSFORM_VALUES and TRANSFORM_KEYS: a map and a lambda of a key and a value."""
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
    body = substituted(body, dict(zip(variables, (key, value), strict=True)))
    if function == "map_filter":
        return call(MAP_OF, call("filter", entries, Call("lambda", (each, body), body.type)))
    changed = call("struct", *((key, body) if function == "transform_values" else (body, value)))
    entries = call("transform", entries, Call("lambda", (each, changed), changed.type))
    return call(MAP_OF, entries) if function == "transform_values" else from_entries(b, entries, node)


for _name, _function in (("map_contains", "map_contains_key"), ("map_extract_value", "map_value")):
    _hint = "m['k'] and MAP_CONTAINS_KEY are read in spark"
    reads_name(_name, dialects=ONLY_DUCKDB, hint=_hint)(lambda b, arguments, name=_function: call(name, *arguments))
for _name in ("map_filter", "transform_keys", "transform_values"):
    reads_call(_name, dialects=SPARK_FAMILY)(partial(over_entries, _name))
DECLARED = [
    function(f"{MAP_OF}(entries)", "{0}", rule=_of_entries),
    # An entry that is NULL is invalid; of a NULL array the answer is NULL.
    function(f"{NO_MAP}(entries)", f"(not exists({{0}}, {_M} -> {_M} is null) and {_IS_NONE})",
             rule=_tested_entries),
    function(f"{MAP_FROM_ENTRIES}(entries)",
             let(_M, "{0}", f"if(exists({_M}, {_E} -> {_E} is null) or {_IS_NONE.format(_M)}, null, {_M})"),
             rule=_of_entries),
    function("map_entries(map)", "{0}", rule=_entries, names="map_entries", dialects=_HAVE_MAPS),
    function("map_keys(map)", _KEYS, rule=_of_map(lambda key, value: array_of(key))),
    function("map_values(map)", f"transform({{0}}, {_K} -> {_K}.f1)",
             rule=_of_map(lambda key, value: array_of(value)), names="map_values",
             dialects=_HAVE_MAPS),
    function("map_value(map, key)", f"(get(filter({{0}}, {_K} -> {_K}.f0 = {{1}}), 0)).f1",
             rule=_of_map(lambda key, value: value, with_key=True)),
    function("map_contains_key(map, key)", f"array_contains({_KEYS}, {{1}})",
             rule=_of_map(lambda key, value: BOOLEAN, with_key=True)),
]  # fmt: skip
