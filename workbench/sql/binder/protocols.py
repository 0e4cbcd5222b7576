"""Protocols between the modules of the binder: a module that is called does not import its caller."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol

from sqlglot import exp

from workbench.sql.algebra.expressions import Call, Expression
from workbench.sql.binder.scope import Outer, Scope
from workbench.sql.functions.reading import QUERIES, ExpressionBinder
from workbench.sql.logical import LogicalQuery
from workbench.sql.schema import Schema
from workbench.sql.syntax.source_text import SourceText


class AggregateBinder(ExpressionBinder, Protocol):
    """Binds expressions of a block that may aggregate (implemented by ``scalar.ScalarBinder``).

    Attributes:
        schema: the analyst's functions and aggregates.
        scope: what columns mean.
    """

    schema: Schema
    scope: Scope


class AggregateOfOuter(Exception):
    """An aggregate in a subquery that is one of an outer query: ``level`` queries around it is the one of its rows."""

    def __init__(self, node: exp.Expr, level: int) -> None:
        super().__init__(level)
        self.node, self.level = node, level


class AnalyticBinder(Protocol):
    """Binds analytic calls (implemented by ``order.analytic.Analytics``).

    Attributes:
        inside: whether the arguments of one are being bound, where no other may stand.
    """

    inside: bool

    def bind(self, node: exp.Window, b: AggregateBinder) -> Expression:
        """A call as an expression over columns that have the values of analytic functions."""


_COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)


def is_subquery(node: exp.Expr) -> bool:
    """Whether a syntax node is a subquery in an expression, with the comparison that it stands in."""
    if isinstance(node, exp.Exists) and node.expression is not None:
        return False  # of the elements of an array
    if isinstance(node, exp.In):
        return node.args.get("query") is not None
    if isinstance(node, _COMPARISONS):
        return isinstance(node.expression, (exp.Any, exp.All)) and isinstance(node.expression.this, QUERIES)
    return isinstance(node, (exp.Exists, *QUERIES)) or of_array(node) is not None


def of_array(node: exp.Expr) -> exp.Expr | None:
    """The query of ``ARRAY(SELECT …)``, whose rows are the elements; ``ARRAY[(SELECT …)]`` has one, a value."""
    if not isinstance(node, exp.Array) or len(node.expressions) != 1 or node.args.get("value_constructor"):
        return None
    return node.expressions[0] if isinstance(node.expressions[0], (*QUERIES, exp.Values)) else None


def outside_subqueries(node: exp.Expr) -> Iterator[exp.Expr]:
    """A syntax node and all nodes below it, except those in subqueries."""
    return node.walk(prune=lambda inner: isinstance(inner, QUERIES))


class SubqueryBinder(Protocol):
    """Binds subqueries (implemented by ``joins.subqueries.Subqueries``)."""

    def value(self, node: exp.Expr, b: ExpressionBinder) -> Expression:
        """The value of a subquery for each outer row."""


class QueryContext(Protocol):
    """The statement that a clause belongs to (implemented by ``pipeline.QueryBinder``)."""

    @property
    def source(self) -> SourceText:
        """The text."""

    @property
    def schema(self) -> Schema:
        """Streams, views, functions and aggregates by name."""

    @property
    def of_with(self) -> frozenset[str]:
        """The CTEs of the statement, by name in lower case."""

    @property
    def local(self) -> Mapping[str, LogicalQuery]:
        """The views and CTEs of the text, by name in lower case."""

    @property
    def now(self) -> Call | None:
        """The value of ``now()`` in the statement; ``None`` where none of its streams has event times."""

    @property
    def clashing_times(self) -> str:
        """The streams' event times where they are of types that do not compare, so that there is no now."""

    @property
    def streams(self) -> frozenset[str]:
        """The streams, tables excepted, that the statement reads."""

    @property
    def outer(self) -> Outer | None:
        """The names of the outer query, where the statement is a subquery of it."""

    def subquery(self, node: exp.Expr, scope: Scope) -> LogicalQuery:
        """The logical query of a subquery in an expression, which sees the columns of a scope."""

    def query(self, node: exp.Expr) -> LogicalQuery:
        """The logical query of a subquery."""

    def knowing(self, name: str, query: LogicalQuery) -> QueryContext:
        """The statement with one more query of WITH."""

    def now_at(self, node: exp.Expr) -> Call:
        """The value of now where ``node`` asks for it; raises SqlError where there is no event time."""
