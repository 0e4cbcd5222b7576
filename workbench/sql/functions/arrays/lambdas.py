"""Functions of arrays and lambdas: TRANSFORM, FILTER, EXISTS, FORALL, ZIP_WITH and AGGREGATE."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sqlglot import exp

from workbench.sql.algebra.coercion import TypeClash
from workbench.sql.algebra.expressions import Call, Constant, Expression, substituted
from workbench.sql.algebra.types import (
    INTEGER,
    MAX_PRECISION,
    DataType,
    Kind,
    array_of,
    common_type,
    decimal,
    struct_of,
)
from workbench.sql.functions.arrays.arrays import element_of, variable
from workbench.sql.functions.calls import call, cast
from workbench.sql.functions.declaration import Arguments, function, variable_sql
from workbench.sql.functions.reading import ExpressionBinder, reads, reads_call
from workbench.sql.syntax.dialects import ONLY_DUCKDB, SPARK_FAMILY

_FIRST = Constant(1, INTEGER)
_PAIRED = 1_000
"""The number of a variable that no lambda of a text has."""


def over_elements(function: str) -> Callable[[ExpressionBinder, Any], Expression]:
    """A function of an array and a lambda over its elements."""
    return lambda b, node: _over_elements(function, b, node, [node.this, node.expression])


def of_elements(function: str) -> Callable[[ExpressionBinder, exp.Anonymous], Expression]:
    """FORALL and ZIP_WITH, which the parser leaves as plain names."""
    return lambda b, node: _over_elements(function, b, node, node.expressions)


def _over_elements(function: str, b: ExpressionBinder, node: exp.Expr, parts: list[exp.Expr]) -> Expression:
    arrays = [b.bind(part) for part in parts[:-1]]
    if len(arrays) != (2 if function == "zip_with" else 1):
        raise TypeClash(f"{function} takes {'two arrays' if function == 'zip_with' else 'an array'} and a lambda")
    types = [element_of(array) for array in arrays]
    if function in ("transform", "filter") and isinstance(parts[-1], exp.Lambda) and len(parts[-1].expressions) > 1:
        return with_place(b, function, arrays[0], parts[-1])
    return call(function, *arrays, b.function_body(parts[-1], *types))


def _paired(arguments: Arguments) -> tuple[Arguments, DataType]:
    """The elements of an array, each with its position from 1."""
    return arguments, array_of(struct_of([("element", element_of(arguments[0])), ("place", INTEGER)]))


def with_place(b: ExpressionBinder, function: str, array: Expression, lambda_: exp.Lambda) -> Expression:
    """TRANSFORM or FILTER with a lambda ``(x, i) -> …`` of an element and its place, from 1 or, in spark, from 0."""
    *variables, body = b.function_body(lambda_, element_of(array), INTEGER).arguments
    if not b.rules.places_from_one:
        body = substituted(body, {variables[1]: call("-", variables[1], _FIRST)})
    pairs = call("with_places", array)
    over = over_pair(variables, body, pairs)
    if function == "transform":
        return call("transform", pairs, over)
    kept = call("filter", pairs, over)
    of = variable(_PAIRED, element_of(pairs))
    first = call("field", of, Constant(0, INTEGER))
    return call("transform", kept, Call("lambda", (of, first), first.type))


def over_pair(variables: Sequence[Expression], body: Expression, pairs: Expression) -> Call:
    """A lambda of an element and its place as one of a struct of both."""
    (name, _) = variables
    assert isinstance(name, Call)
    pair = Call("variable", name.arguments, element_of(pairs))
    parts = (call("field", pair, Constant(at, INTEGER)) for at in range(2))
    value = substituted(body, dict(zip(variables, parts, strict=True)))
    return Call("lambda", (pair, value), value.type)


@reads(exp.Reduce, parts="this initial merge finish", dialects=SPARK_FAMILY)
def reduced(b: ExpressionBinder, node: exp.Reduce) -> Expression:
    """AGGREGATE(array, start, (sum, x) -> …[, sum -> …]); the sum takes the type that holds start and what is added."""
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


reads(exp.Exists, parts="this expression", dialects=SPARK_FAMILY)(over_elements("exists"))
for _node, _function in ((exp.Transform, "transform"), (exp.ArrayFilter, "filter")):
    reads(_node, parts="this expression", dialects=SPARK_FAMILY | ONLY_DUCKDB)(over_elements(_function))
reads_call("list_apply", "apply", "array_apply", dialects=ONLY_DUCKDB)(of_elements("transform"))
for _function in ("forall", "zip_with"):
    reads_call(_function)(of_elements(_function))
_X, _I = variable_sql("x"), variable_sql("i")
DECLARED = [
    function("with_places(array)", f"transform({{0}}, ({_X}, {_I}) -> named_struct('f0', {_X}, 'f1', {_I} + 1L))",
             rule=_paired),
]  # fmt: skip
