"""Casts to UTINYINT, USMALLINT and UINTEGER of duckdb, whose values are kept as BIGINT; what does not fit is NULL."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from workbench.sql.algebra.expressions import Constant, Expression
from workbench.sql.algebra.types import INTEGER
from workbench.sql.functions.calls import call
from workbench.sql.functions.reading import ExpressionBinder

UNSIGNED: Mapping[exp.DType, int] = {exp.DType.UTINYINT: 2**8, exp.DType.USMALLINT: 2**16, exp.DType.UINT: 2**32}
"""Type -> how many values it has, from 0."""


def cast_to_unsigned(b: ExpressionBinder, node: exp.Cast | exp.TryCast) -> Expression:
    """A cast to one of these types."""
    made = b.bind(exp.cast(node.this.copy(), exp.DType.BIGINT))
    low, high = (Constant(bound, INTEGER) for bound in (0, UNSIGNED[node.args["to"].this] - 1))
    return call("case", call("and", call(">=", made, low), call("<=", made, high)), made, Constant(None, INTEGER))
