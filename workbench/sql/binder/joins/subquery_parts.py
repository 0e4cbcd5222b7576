"""Common parts of subqueries as conditions and as values: binding them, and comparing them with values."""

from __future__ import annotations

from sqlglot import exp

from workbench.sql.algebra.coercion import TypeClash
from workbench.sql.algebra.column_names import stored_name
from workbench.sql.algebra.expressions import Column, Expression
from workbench.sql.binder.joins.unnesting import analyzes_totals
from workbench.sql.binder.protocols import QueryContext, is_subquery
from workbench.sql.binder.scope import Scope
from workbench.sql.functions.calls import call
from workbench.sql.functions.order_of_parts import numbers_of_truths
from workbench.sql.functions.reading import ExpressionBinder
from workbench.sql.logical import Block, LogicalQuery, output_columns, unordered

COMPARISON_OPERATORS: dict[type[exp.Expr], str] = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
}
"""Comparisons that ANY and ALL may follow."""


def conjuncts(node: exp.Expr) -> list[exp.Expr]:
    """The conditions that must all hold; one, if no part of it is a subquery."""
    if not any(is_subquery(part) for part in node.walk()):
        return [node]
    inner = node.unnest()
    return [*conjuncts(inner.this), *conjuncts(inner.expression)] if isinstance(inner, exp.And) else [node]


def bound_subquery(node: exp.Expr, around: QueryContext, scope: Scope, in_order: bool = False) -> LogicalQuery:
    """The logical query of a subquery, which sees the columns of a scope; without its order, unless that is read."""
    query = around.subquery(node, scope)
    query = query if in_order else unordered(query)
    if analyzes_totals(query):
        what = "OVER an aggregate of all rows in a subquery that reads the outer query"
        around.source.refuse(what, node, "leave OVER out: there is one row")
    return query


def compared_values(node: exp.Expr, query: LogicalQuery, b: ExpressionBinder) -> list[Expression]:
    """The values that are compared with the columns of a subquery.

    Raises:
        SqlError: numbers or types of values and columns do not go together.
    """
    left = node.this.unnest()
    parts = left.expressions if isinstance(left, exp.Tuple) else [node.this]
    columns = output_columns(query)
    if len(parts) != len(columns):
        values_are = "1 value is" if len(parts) == 1 else f"{len(parts)} values are"
        message = f"{values_are} compared with {len(columns)} column{'s' * (len(columns) > 1)}"
        raise b.source.error(message, node, "select as many columns as there are values")
    values = list[Expression]()
    for part, (_, type_) in zip(parts, columns, strict=True):
        value, _ = numbers_of_truths(b.rules, b.bind(part), column := Column("c", type_))
        try:
            call("=", value, column)
        except TypeClash as clash:
            raise b.source.error(clash.message, node, clash.hint) from None
        values.append(value)
    return values


def input_columns(query: LogicalQuery) -> list[Column]:
    """The columns of a query as columns of an input."""
    return [Column(stored_name(name), type_) for name, type_ in output_columns(query)]


def has_one_row(query: LogicalQuery) -> bool:
    """Whether a query is an aggregate of all rows."""
    grouped = isinstance(query, Block) and query.grouping is not None and not query.grouping.groups
    return grouped and isinstance(query, Block) and not query.having and not query.having_window
