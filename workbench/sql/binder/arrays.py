"""Arrays in SQL text: their functions in spark, elements by ``[...]``, lambdas, and where no array may stand."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from sqlglot import exp

from workbench.errors import UnsupportedError
from workbench.sql.algebra.array_functions import element_of
from workbench.sql.algebra.coercion import AS_TEXT, TypeClash
from workbench.sql.algebra.expressions import Call, Constant, Expression, text
from workbench.sql.algebra.functions import call, cast
from workbench.sql.algebra.types import BOOLEAN, INTEGER, MAX_PRECISION, DataType, Kind, common_type, decimal
from workbench.sql.binder.functions import refuse_elsewhere
from workbench.sql.binder.protocols import ExpressionBinder
from workbench.sql.logical import Block, LogicalQuery, Ordered, SetOperation, StreamInput, output_columns, parts_of
from workbench.sql.syntax.source_text import SourceText

NODES: dict[type[exp.Expr], tuple[str, str]] = {
    exp.Array: ("array", "expressions"), exp.ArraySize: ("array_size", "this"),
    exp.ArrayToString: ("array_join", "this expression null"), exp.ArrayDistinct: ("array_distinct", "this"),
    exp.ArrayCompact: ("array_compact", "this"), exp.ArrayMax: ("array_max", "this"),
    exp.ArrayMin: ("array_min", "this"), exp.Flatten: ("flatten", "this"), exp.JSONKeys: ("json_object_keys", "this"),
    exp.GenerateSeries: ("sequence", "start end step"), exp.ArraySlice: ("slice", "this start end"),
    exp.ArrayIntersect: ("array_intersect", "expressions"),
    **{node: (name, "this expression") for node, name in {
        exp.ArrayContains: "array_contains", exp.ArrayExcept: "array_except", exp.ArrayAppend: "array_append",
        exp.ArrayPrepend: "array_prepend", exp.ArrayRemove: "array_remove", exp.ArrayPosition: "array_position",
    }.items()},
}  # fmt: skip
"""Syntax node -> the function that it is, and the parts that are its arguments."""
NAMES = ("get", "array_union", "array_repeat", "arrays_overlap")
"""Functions that the parser leaves as plain names."""
_FIRST = Constant(1, INTEGER)


def element(b: ExpressionBinder, node: exp.Bracket) -> Expression:
    """``array[0]``, and ELEMENT_AT(array, 1)."""
    refuse_elsewhere(b, "an element of an array", node)
    array, *place = b.parts(node, "this", "expressions")
    if len(place) != 1:
        b.source.refuse("a part of an array, [...]", node, "SLICE(x, 1, 2) are the first two elements")
    return call("element_at" if node.args.get("offset") else "get", array, place[0])


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
    """SORT_ARRAY(array, ascending), NULLs first when ascending; ARRAY_SORT(array), NULLs last."""
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
    return call("sort_array", array, up)


def reverse(b: ExpressionBinder, node: exp.Reverse) -> Expression:
    """REVERSE of a text or an array."""
    refuse_elsewhere(b, "reverse", node)
    value = b.bind(node.this)
    return call("array_reverse" if value.type.kind is Kind.ARRAY else "reverse", value)


def over_elements(function: str) -> Callable[[ExpressionBinder, Any], Expression]:
    """A function of an array and a lambda over its elements."""

    def bind(b: ExpressionBinder, node: exp.Transform | exp.ArrayFilter | exp.Exists) -> Expression:
        refuse_elsewhere(b, function, node)
        return _over_elements(function, b, node, [node.this, node.expression])

    return bind


def named(function: str) -> Callable[[ExpressionBinder, exp.Anonymous], Expression]:
    """FORALL and ZIP_WITH, which the parser leaves as plain names."""
    return lambda b, node: _over_elements(function, b, node, node.expressions)


def _over_elements(function: str, b: ExpressionBinder, node: exp.Expr, parts: list[exp.Expr]) -> Expression:
    arrays = [b.bind(part) for part in parts[:-1]]
    if len(arrays) != (2 if function == "zip_with" else 1):
        raise TypeClash(f"{function} takes {'two arrays' if function == 'zip_with' else 'an array'} and a lambda")
    types = [element_of(array) for array in arrays]
    if function in ("transform", "filter") and isinstance(parts[-1], exp.Lambda) and len(parts[-1].expressions) > 1:
        b.source.refuse("a lambda with the place of an element", parts[-1], "x -> … has the element alone")
    return call(function, *arrays, b.function_body(parts[-1], *types))


def reduced(b: ExpressionBinder, node: exp.Reduce) -> Expression:
    """AGGREGATE(array, start, (sum, x) -> …[, sum -> …]); the sum takes the type that holds start and what is added."""
    refuse_elsewhere(b, "aggregate", node)
    array, start = b.parts(node, "this", "initial")
    merge, element_type = node.args.get("merge"), element_of(array)
    body = b.function_body(merge, start.type, element_type)
    wider = common_type(start.type, body.type)
    if wider is not None and wider.kind is Kind.DECIMAL:
        wider = decimal(MAX_PRECISION, wider.scale)
    if wider is not None and wider != start.type:
        start = cast(start, wider)
        body = b.function_body(merge, wider, element_type)
    if body.type != start.type:
        *variables, value = body.arguments
        if (body.type.kind, body.type.scale) != (Kind.DECIMAL, start.type.scale):
            hint = f"start with a value of that type: CAST(… AS {body.type})"
            raise b.source.error(f"the start is {start.type}, and the lambda gives {body.type}", merge, hint)
        body = Call("lambda", (*variables, cast(value, start.type)), start.type)
    total = call("aggregate", array, start, body)
    finish = node.args.get("finish")
    if finish is None:
        return total
    # The result as an array of one, so that the last lambda is one over elements.
    return call("element_at", call("transform", call("array", total), b.function_body(finish, total.type)), _FIRST)


def refuse_stored(query: LogicalQuery, source: SourceText) -> None:
    """Refuse arrays where they would be stored: in an answer, a group, a statistic, or rows of a query inside.

    Raises:
        UnsupportedError: by the name of the column.
    """
    for name, type_ in _stored(query):
        if type_.kind is Kind.ARRAY:
            hint = f"{AS_TEXT} makes a text of an array of texts, and x[0] is its first element"
            what = f"the array {name} as a column, a group or in an order is not supported"
            raise UnsupportedError(what, **source.keyword(name, name.partition("(")[0]), hint=hint)


def _stored(query: LogicalQuery) -> Iterator[tuple[str, DataType]]:
    yield from output_columns(query)
    for part in parts_of(query):
        if isinstance(part, Block):
            for relation in part.inputs:
                if not isinstance(relation, StreamInput):
                    yield from output_columns(relation)
            expressions = [e for a in part.analytics for e in (*a.call.arguments, *a.call.over.expressions)]
            if part.grouping is not None:
                expressions += part.grouping.groups
                expressions += [a for s in part.grouping.statistics for a in s.arguments]
            if part.distinct or part.analytics:
                expressions += [o.expression for o in part.outputs]
            yield from ((text(e), e.type) for e in expressions)
        elif isinstance(part, SetOperation):
            yield from zip(part.names, part.types, strict=True)
        elif isinstance(part, Ordered) and isinstance(part.query, Block):
            yield from ((text(o.expression), o.type) for o in part.query.outputs[part.columns :])
