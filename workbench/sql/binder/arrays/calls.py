"""Functions that make and read arrays, and elements by ``[...]``."""

from __future__ import annotations

import re

from sqlglot import exp

from workbench.sql.algebra.expressions import Constant, Expression
from workbench.sql.algebra.types import BOOLEAN, Kind
from workbench.sql.binder.arrays import databases
from workbench.sql.binder.functions import refuse_elsewhere
from workbench.sql.binder.protocols import ExpressionBinder
from workbench.sql.functions.calls import call
from workbench.sql.syntax.dialects import DATABASES, SPARK_FAMILY


def element(b: ExpressionBinder, node: exp.Bracket) -> Expression:
    """``array[0]``, ELEMENT_AT(array, 1), and ``map['k']``."""
    if b.dialect not in DATABASES:
        refuse_elsewhere(b, "an element of an array", node)
    array, *place = b.parts(node, "this", "expressions")
    if len(place) != 1:
        b.source.refuse("a part of an array, [...]", node, "SLICE(x, 1, 2) are the first two elements")
    if array.type.kind is Kind.MAP:
        if b.dialect == "duckdb" and array.type.key_and_value[0].kind is not Kind.STRING:  # the parser has taken 1 away
            b.source.refuse("m[k] of keys that are no texts", node, "write MAP_EXTRACT_VALUE(m, k)")
        return call("map_value", array, place[0])
    if b.dialect in DATABASES:
        return databases.element(b, array, place[0], node)
    return call("element_at" if node.args.get("offset") else "get", array, place[0])


def sequence(b: ExpressionBinder, node: exp.GenerateSeries) -> Expression:
    """SEQUENCE(a, b[, step]); GENERATE_SERIES has no such name in Spark."""
    if (b.source.called(node) or "").upper() == "GENERATE_SERIES" and b.dialect in SPARK_FAMILY:
        b.source.refuse(
            "GENERATE_SERIES in spark", node, "SEQUENCE(a, b) is an array, and EXPLODE(SEQUENCE(a, b)) its rows"
        )
    refuse_elsewhere(b, "sequence", node)
    return call("sequence", *b.parts(node, "start", "end", "step"))


def inserted(b: ExpressionBinder, node: exp.ArrayInsert) -> Expression:
    """ARRAY_INSERT(array, place, value), whose places count from 1, or from the end below 0."""
    refuse_elsewhere(b, "array_insert", node)
    return call("array_insert", *b.parts(node, "this", "position", "expression"))


def split(b: ExpressionBinder, node: exp.RegexpSplit) -> Expression:
    """SPLIT(text, pattern), whose pattern is a constant of Java."""
    refuse_elsewhere(b, "split", node)
    subject, pattern, *limit = b.parts(node, "this", "expression", "limit")
    if not (isinstance(pattern, Constant) and isinstance(pattern.value, str)):
        b.source.refuse("a pattern that is not a constant string", node.expression)
    try:
        re.compile(pattern.value)
    except re.error as error:
        raise b.source.error(f"not a regular expression: {error}", node.expression, "write \\\\| for |") from None
    return call("split", subject, pattern, *limit)


def sorted_(b: ExpressionBinder, node: exp.ArraySort) -> Expression:
    """SORT_ARRAY(array, ascending), NULLs first when ascending; ARRAY_SORT(array), NULLs last; LIST_SORT in duckdb."""
    if b.dialect != "duckdb":
        refuse_elsewhere(b, "sort_array", node)
    if node.expression is not None:
        b.source.refuse("ARRAY_SORT with a lambda", node.expression, "SORT_ARRAY(x, false) sorts down")
    array = b.bind(node.this)
    ascending, nulls_first = node.args.get("asc"), node.args.get("nulls_first")
    if ascending is None and nulls_first is not None and not nulls_first.this:
        return call("array_sort", array)
    up = b.bind(ascending) if ascending is not None else Constant(True, BOOLEAN)
    if not isinstance(up, Constant) or not isinstance(up.value, bool):
        b.source.refuse("a direction that is no constant", node)
    if nulls_first is not None and nulls_first.this != up.value:
        b.source.refuse("this order of NULLs in an array", node, "sorted down they come last")
    return call("sort_array", array, up)


def reverse(b: ExpressionBinder, node: exp.Reverse) -> Expression:
    """REVERSE of a text or an array."""
    refuse_elsewhere(b, "reverse", node)
    value = b.bind(node.this)
    return call("array_reverse" if value.type.kind is Kind.ARRAY else "reverse", value)
