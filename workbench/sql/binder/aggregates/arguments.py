"""Arguments of aggregates that are more than an expression: rows, and in postgres DOUBLEs as NUMERIC."""

from __future__ import annotations

from sqlglot import exp

from workbench.sql.algebra.expressions import Call, Expression
from workbench.sql.algebra.types import struct_of
from workbench.sql.functions.aggregate_calls import AggregateSyntax
from workbench.sql.functions.numeric_casts import double_as_numeric
from workbench.sql.functions.reading import ExpressionBinder

_VARIANCES = ("var_pop", "var_samp", "stddev_pop", "stddev_samp")


def argument_of(part: exp.Expr, syntax: AggregateSyntax, b: ExpressionBinder) -> Expression:
    """An argument; of COUNT(DISTINCT (x, y)) a row, which is no NULL; of variances in postgres a DOUBLE as NUMERIC."""
    if syntax.name in _VARIANCES and (double := double_as_numeric(b, part)) is not None:
        return double
    if not (isinstance(part, exp.Tuple) and syntax.name == "count" and syntax.distinct and b.rules.counts_rows_as):
        return b.bind(part)
    values = tuple(map(b.bind, part.expressions))
    return Call("struct", values, struct_of([(f"f{place}", value.type) for place, value in enumerate(values, start=1)]))
