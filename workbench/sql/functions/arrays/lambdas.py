"""Functions of arrays and lambdas: TRANSFORM, FILTER, EXISTS, FORALL, ZIP_WITH and AGGREGATE."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlglot import exp

from workbench.sql.algebra.coercion import TypeClash
from workbench.sql.algebra.expressions import Call, Constant, Expression
from workbench.sql.algebra.types import INTEGER, MAX_PRECISION, Kind, common_type, decimal
from workbench.sql.functions.arrays.arrays import element_of
from workbench.sql.functions.calls import call, cast
from workbench.sql.functions.reading import ExpressionBinder, reads, reads_call
from workbench.sql.syntax.dialects import ONLY_DUCKDB, SPARK_FAMILY

_FIRST = Constant(1, INTEGER)


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
        b.source.refuse("a lambda with the place of an element", parts[-1], "x -> … has the element alone")
    return call(function, *arrays, b.function_body(parts[-1], *types))


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
