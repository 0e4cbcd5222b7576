"""Rows with values that depend on the rows around them in an order."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Self

from workbench.network.nodes.base import Checked, Columns, NodeId, Read, StoredColumns, Unary, columns_of
from workbench.network.sql_text import Words, analytic_sql, function_sql, or_pred_sql, over_sql, predicates_sql
from workbench.sql.algebra.analytic import AnalyticCall, Over
from workbench.sql.algebra.expressions import Column, Expression, substituted
from workbench.sql.algebra.types import DataType
from workbench.sql.predicates.cnf import TRUE, PredSet


@dataclass(frozen=True)
class Analytic(Unary):
    """The rows read, each with values that depend on the rows around it in an order; the first ones, or all.

    Its columns are those of the root that is read, and one for each function. ``functions`` are not part of the
    identity: nodes that order the same rows alike are one node, as aggregates of the same groups are.

    Attributes:
        read: the rows.
        over: how they are partitioned and ordered, over the columns of the root that is read.
        functions: over the same columns.
        parent: the node it is evaluated from.
        bound: what holds for every row, over its own columns: that a rank is at most the largest that a reader asks
            for. Like the predicates of a join it follows from the readers, and is not part of the identity.
        stored: expressions that are columns of the rows that are read (``with_stored_columns``).
    """

    read: Read
    over: Over
    functions: frozenset[AnalyticCall]
    parent: NodeId
    bound: PredSet = TRUE
    stored: tuple[tuple[Expression, Column], ...] = ()

    kind = "analytic"
    _letter = "A"

    @cached_property
    def types(self) -> Mapping[str, DataType]:
        """The columns it makes, by name."""
        return {function.name: function.type for function in sorted(self.functions, key=lambda f: f.name)}

    @cached_property
    def by_name(self) -> Mapping[str, AnalyticCall]:
        """The functions by the name of their column, over the parent's columns."""
        over = partial(substituted, values=dict(self.stored))
        return {function.name: function.map(over) if self.stored else function for function in self.functions}

    @cached_property
    def direct_over(self) -> Over:
        """How the rows are partitioned and ordered, over the parent's columns."""
        return self.over.map(partial(substituted, values=dict(self.stored))) if self.stored else self.over

    @property
    def in_order(self) -> tuple[AnalyticCall, ...]:
        """The functions in an order that depends on nothing else."""
        return tuple(sorted(self.functions, key=lambda function: (function.text, function.identity)))

    def _computation(self) -> str:
        return f"analytic {self.read.identity} over {self.over.identity}"

    def carried(self, name: str) -> tuple[NodeId, str] | None:
        """All columns except the results of its functions come from the root that is read."""
        return None if name in self.types else super().carried(name)

    @property
    def retraction_columns(self) -> tuple[Column, ...]:
        """Where only first rows are kept, what a row is compared by with those that come into them."""
        return tuple(columns_of(self.direct_over.expressions)) if self.bound else ()

    def is_monotone(self, inputs: bool) -> bool:
        """A row is retracted when the values of its functions change."""
        return False

    def computed(self, read: Container[str]) -> Iterable[Expression]:
        """The order, where it decides on rows or is read, and the arguments of the functions that are read."""
        functions = [function for name, function in self.by_name.items() if name in read]
        if functions or self.bound:
            yield from self.direct_over.expressions
        yield from (a for function in functions for a in function.arguments)

    def read_columns(self, columns: Columns) -> Iterable[tuple[NodeId, Column]]:
        """The columns that it carries, those of the order, and the arguments of the functions that are read."""
        carried = (Column(name, type_) for name, type_ in columns.items() if name not in self.types)
        arguments = columns_of(a for name, f in self.by_name.items() if name in columns for a in f.arguments)
        return ((self.parent, c) for c in (*carried, *columns_of(self.direct_over.expressions), *arguments))

    def checked_columns(self) -> Checked:
        """The columns that are required, those of the order, and the arguments of the functions."""
        arguments = (a for function in self.functions for a in function.arguments)
        return [self.read.checked_columns, ({0: self.read.root}, columns_of([*self.over.expressions, *arguments]))]

    def with_stored_columns(self, stored: Sequence[StoredColumns]) -> Self:
        """With the columns, which its rows have, too."""
        return replace(self, stored=tuple(stored[0].items()))

    def sql(self, words: Words) -> str:
        """The parent's rows with the functions, and QUALIFY where only first rows are kept."""
        values = "".join(f", {self._column(function, words)}" for function in self.in_order)
        bound = f" QUALIFY {predicates_sql(self.bound, words.columns(self.id))}" if self.bound else ""
        return f"SELECT *{values} FROM {words.node(self.parent)}{bound}"

    def title(self, words: Words) -> str:
        """The order."""
        return f"rows in the order {over_sql(self.over, words.columns(self.read.root))}"

    def label(self, words: Words) -> Iterable[str]:
        """The order, which rows are kept, and the functions."""
        names = words.columns(self.read.root)
        ranks = "".join(or_pred_sql(p, words.columns(self.id)) for p in self.bound)
        values = [function_sql(function, names) for function in self.in_order]
        return [part for part in (over_sql(self.over, names), ranks, *values) if part and part not in ranks[:-1]]

    def _column(self, function: AnalyticCall, words: Words) -> str:
        sql = analytic_sql(function, words.columns(self.parent))
        name = words.columns(self.id)(Column(function.name, function.type))
        return sql if sql.startswith(name) else f"{sql} AS {name}"
