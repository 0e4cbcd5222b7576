"""Arrays in postgres and duckdb, where places count from 1: the functions whose meaning there was compared.

n[1]   ARRAY[a, b]   CARDINALITY(n)   ARRAY_LENGTH(n, 1)   LEN(n)   ARRAY_TO_STRING(s, ',')   LIST_CONTAINS(n, 3)
3 = ANY(n)   3 > ALL(n)
"""

from __future__ import annotations

import re
from collections.abc import Callable

from sqlglot import exp

from workbench.sql.algebra.coercion import TypeClash, empty_array, is_null
from workbench.sql.algebra.expressions import Constant, Expression
from workbench.sql.algebra.types import BOOLEAN, INTEGER, STRING, Kind
from workbench.sql.functions.arrays.arrays import element_of
from workbench.sql.functions.arrays.postgres import as_array, is_array, spelled
from workbench.sql.functions.calls import call
from workbench.sql.functions.declaration import COMPARED
from workbench.sql.functions.operators import comparison
from workbench.sql.functions.reading import QUERIES, ExpressionBinder, reads, reads_name
from workbench.sql.syntax.dialects import ONLY_DUCKDB, ONLY_POSTGRES, SPARK_FAMILY

_NULL = Constant(None, STRING)
_ZERO = Constant(0, INTEGER)
BindBinary = Callable[[ExpressionBinder, exp.Binary], Expression]


@reads(exp.ArraySize, parts="this expression", dialects=COMPARED)
def size(b: ExpressionBinder, node: exp.ArraySize) -> Expression:
    """The number of elements; ARRAY_LENGTH(n, 1) of none is NULL in postgres."""
    if b.rules.arrays_have_dimensions and node.expression is None:
        raise b.source.error("ARRAY_LENGTH takes an array and 1", node, "CARDINALITY(n) counts the elements")
    array = entries_of(b.bind(node.this))
    if b.rules.arrays_have_dimensions and node.expression == exp.Literal.number(2):
        if element_of(array).kind is not Kind.ARRAY:
            return Constant(None, INTEGER)
        return call("nullif", call("array_size", call("get", array, _ZERO)), _ZERO)
    if node.expression is not None and (not b.rules.places_from_one or node.expression != exp.Literal.number(1)):
        b.source.refuse("the length of an inner array", node.expression, "ARRAY_LENGTH(n, 1) is that of the array")
    count = call("array_size", array)
    return call("nullif", count, _ZERO) if b.rules.arrays_have_dimensions else count


def entries_of(value: Expression) -> Expression:
    """The array of a map's entries; any other value as it is."""
    return call("map_entries", value) if value.type.kind is Kind.MAP else value


@reads_name("cardinality", dialects=COMPARED)
def cardinality(b: ExpressionBinder, arguments: list[Expression]) -> Expression:
    """CARDINALITY(n): in postgres the elements of all arrays inside, so of plain elements only."""
    count = call("array_size", *map(entries_of, arguments))
    if b.rules.arrays_have_dimensions and element_of(arguments[0]).kind is Kind.ARRAY:
        raise TypeClash("CARDINALITY of arrays of arrays", arguments[0], "ARRAY_LENGTH(n, 1) counts the outer ones")
    return count


@reads(exp.ArrayToString, parts="this expression null", dialects=COMPARED)
def joined(b: ExpressionBinder, node: exp.ArrayToString) -> Expression:
    """ARRAY_TO_STRING(s, ','): NULLs are left out; where all are NULL it is NULL in duckdb."""
    arguments = b.parts(node, "this", "expression", "null")
    if len(arguments) > 2 and is_null(arguments[2]):  # NULLs are left out
        arguments.pop()
    element = arguments[0].type.element
    if element is not None and element.kind in (Kind.INTEGER, Kind.DATE) and not is_null(arguments[0]):
        arguments[0] = spelled(b, "TRANSFORM(n, e -> CAST(e AS STRING))", n=arguments[0])
    text = call("array_join", *arguments)
    if len(arguments) > 2 and not isinstance(arguments[2], Constant):
        text = call("case", call("is_null", arguments[2]), call("array_join", *arguments[:2]), text)
    if not b.rules.joined_nulls_are_null:
        return text
    array = arguments[0]
    known = call("array_compact", array)
    only_nulls = call("and", _is(call("array_size", array), ">"), _is(call("array_size", known), "="))
    return call("case", only_nulls, _NULL, text)


@reads(exp.Split, parts="this expression", dialects=SPARK_FAMILY | ONLY_DUCKDB)
@reads(exp.StringToArray, parts="this expression null", dialects=SPARK_FAMILY | ONLY_POSTGRES)
def parts(b: ExpressionBinder, node: exp.Split | exp.StringToArray) -> Expression:
    """STRING_SPLIT of duckdb and STRING_TO_ARRAY of postgres, which has no element where the text is empty."""
    b.source.refuse_others(node, {"this", "expression", "null"}, "an array")
    text, separator = b.bind(node.this), b.bind(node.expression)
    sign = separator.value if isinstance(separator, Constant) else None
    of_postgres = isinstance(node, exp.StringToArray) and b.rules.arrays_have_dimensions
    if not isinstance(sign, str) or not sign:
        if not (of_postgres and isinstance(separator, Constant)):
            b.source.refuse("a separator that is no constant text, or an empty one,", node.expression, "as in ','")
        # NULL separates all characters, and nothing the text from nothing.
        split = call("array", text) if sign == "" else spelled(b, "FILTER(SPLIT(s, ''), c -> c <> '')", s=text)
    else:
        split = call("split", text, Constant(re.escape(sign), STRING))
    if isinstance(node, exp.Split):
        return split
    if node.args.get("null") is not None:
        split = spelled(b, "TRANSFORM(n, e -> NULLIF(e, z))", n=split, z=b.bind(node.args["null"]))
    is_empty, is_other = (call(symbol, text, Constant("", STRING)) for symbol in ("=", "<>"))
    return call("case", is_other, split, is_empty, empty_array(split.type), Constant(None, split.type))


@reads(exp.ArrayContains, parts="this expression", dialects=SPARK_FAMILY | ONLY_DUCKDB)
def contains(b: ExpressionBinder, node: exp.ArrayContains) -> Expression:
    """ARRAY_CONTAINS(n, v); in duckdb NULLs among the elements do not make the answer NULL."""
    array, value = b.parts(node, "this", "expression")
    found = call("array_contains", array, value)
    if not b.rules.finds_beside_nulls:
        return found
    known = call("not", call("or", call("is_null", array), call("is_null", value)))
    return call("case", known, call("coalesce", found, Constant(False, BOOLEAN)), _NULL)


def quantified(node: exp.Expr) -> tuple[exp.Expr, bool] | None:
    """The argument of ANY(…), SOME(…) or ALL(…), unless it is a subquery, and whether the word is ALL."""
    match node:
        case exp.Anonymous() if node.name.lower() in ("any", "some", "all") and len(node.expressions) == 1:
            inner, is_all = node.expressions[0], node.name.lower() == "all"
        case exp.Any() | exp.All():
            inner, is_all = node.this, isinstance(node, exp.All)
        case _:
            return None
    return None if isinstance(inner.unnest(), QUERIES) else (inner, is_all)


def compared_with_any(symbol: str, otherwise: BindBinary) -> BindBinary:
    """``v = ANY(n)``, ``v > ALL(n)`` and their like: of no elements ANY is false and ALL true, also where v is NULL."""

    def bind(b: ExpressionBinder, node: exp.Binary) -> Expression:
        given = quantified(node.expression)
        if given is None or not b.rules.places_from_one:
            return _with_text(b, symbol, node) or otherwise(b, node)
        array, is_all = given
        value = b.bind(node.this)
        elements = as_array(b, array, value.type) if b.rules.arrays_have_dimensions else b.bind(array)
        if is_null(value):
            value = Constant(None, element_of(elements))
        if symbol != ("<>" if is_all else "="):
            return spelled(b, f"{'FORALL' if is_all else 'EXISTS'}(n, e -> v {symbol} e)", n=elements, v=value)
        found = call("array_contains", elements, value)
        found = call("case", _is(call("array_size", elements), "="), Constant(False, BOOLEAN), found)
        return call("not", found) if is_all else found

    return bind


def _with_text(b: ExpressionBinder, symbol: str, node: exp.Binary) -> Expression | None:
    """A comparison of an array with a constant text that is one; ``None`` of other values."""
    sides = [node.this.unnest(), node.expression.unnest()]
    text = next((s for s in sides if isinstance(s, exp.Literal) and s.is_string), None)
    if text is None or not b.rules.arrays_have_dimensions:
        return None
    (other,) = [s for s in sides if s is not text] or [text]
    if not is_array(b, other):
        return None
    array = b.bind(other)
    given = as_array(b, text, element_of(array))
    return call(symbol, *((array, given) if other is sides[0] else (given, array)))


def _is(count: Expression, symbol: str) -> Expression:
    return call(symbol, count, _ZERO)


for _node, _sign in ((exp.EQ, "="), (exp.NEQ, "<>"), (exp.LT, "<"), (exp.LTE, "<="), (exp.GT, ">"), (exp.GTE, ">=")):
    reads(_node, parts="this expression")(compared_with_any(_sign, comparison(_sign)))
