"""What the modules of the binder see of one another, so that none of them imports the one that calls it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from sqlglot import exp

from workbench.sql.algebra.expressions import AggregateCall, Call, Expression
from workbench.sql.logical import LogicalQuery
from workbench.sql.schema import Schema
from workbench.sql.syntax.source_text import SourceText


class ExpressionBinder(Protocol):
    """Binds scalar expressions; what the handler of a syntax node sees (implemented by ``scalar.ScalarBinder``).

    Attributes:
        source: the text, for errors.
        dialect: the dialect of the text.
        schema: the analyst's functions and aggregates.
    """

    source: SourceText
    dialect: str
    schema: Schema

    @property
    def keep(self) -> Callable[[AggregateCall], None] | None:
        """Takes a statistic that the block needs; ``None`` where aggregates may not stand."""

    def bind(self, node: exp.Expr) -> Expression:
        """The typed expression of a syntax node."""

    def condition(self, node: exp.Expr) -> Expression:
        """The same, which must be BOOLEAN."""

    def parts(self, node: exp.Expr, *keys: str) -> list[Expression]:
        """The arguments of a node under ``keys`` that are there, lists flattened."""

    def column(self, node: exp.Column) -> Expression:
        """What a column name means."""

    def bind_text(self, sql: str, names: Mapping[str, Expression], aggregates: bool) -> Expression:
        """The expression of another text, in Spark's dialect, over ``names`` alone."""


class AnalyticBinder(Protocol):
    """Binds analytic calls (implemented by ``order.analytic.Analytics``)."""

    def bind(self, node: exp.Window, b: ExpressionBinder) -> Expression:
        """A call as an expression over columns that have the values of analytic functions."""


class QueryContext(Protocol):
    """The statement that a clause belongs to (implemented by ``pipeline.QueryBinder``)."""

    @property
    def source(self) -> SourceText:
        """The text."""

    @property
    def schema(self) -> Schema:
        """Streams, views, functions and aggregates by name."""

    @property
    def local(self) -> Mapping[str, LogicalQuery]:
        """The views and CTEs of the text, by name in lower case."""

    @property
    def now(self) -> Call | None:
        """What ``now()`` means in the statement; ``None`` where none of its streams has event times."""

    @property
    def clashing_times(self) -> str:
        """The streams' event times where they are of types that do not compare, so that there is no now."""

    @property
    def streams(self) -> frozenset[str]:
        """The streams, tables excepted, that the statement reads."""

    def query(self, node: exp.Expr) -> LogicalQuery:
        """The logical query of a subquery."""

    def now_at(self, node: exp.Expr) -> Call:
        """What now means where ``node`` asks for it; raises SqlError where there is none."""
