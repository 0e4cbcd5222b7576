"""One row for each group of rows."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

from workbench.network.nodes.base import BaseNode, Checked, Columns, NodeId, Read, StoredColumns, columns_of
from workbench.network.roll_up import computed_column, over_groups
from workbench.network.sql_text import Words, as_columns, expression_sql, without_fillers
from workbench.sql.algebra.expressions import (
    AggregateCall,
    Column,
    Expression,
    column_name,
    identity,
    reading_order,
    substituted,
)
from workbench.sql.algebra.types import DataType
from workbench.sql.functions.aggregate_rules import of_parts, part_of


@dataclass(frozen=True)
class Aggregate(BaseNode):
    """One row for each group of the rows read; without statistics it is DISTINCT.

    With no groups there is exactly one row, also over no input. ``statistics`` are not part of the identity: nodes
    with the same groups of the same rows are one node (horizontal expansion, T7.1).

    Attributes:
        read: the rows that are grouped.
        groups: over the columns of the root that is read.
        statistics: over the same columns.
        parents: the nodes it is evaluated from: those whose common rows are the rows that are read, as those of a query
            (``QueryPlan``), or an aggregate with finer groups (vertical expansion, T7.1.1).
        finer: the group expressions of that aggregate; ``None`` when the rows themselves are grouped.
        stored: expressions that are columns of the rows that are grouped (``with_stored_columns``).
    """

    read: Read
    groups: tuple[Expression, ...]
    statistics: frozenset[AggregateCall]
    parents: tuple[NodeId, ...]
    finer: tuple[Expression, ...] | None = None
    stored: tuple[tuple[Expression, Column], ...] = ()

    kind = "aggregate"
    _letter = "G"

    @property
    def inputs(self) -> tuple[tuple[NodeId, ...], ...]:
        """The nodes whose common rows are an input, for each input."""
        return (self.parents,)

    @property
    def reads(self) -> tuple[Read, ...]:
        """The rows that are grouped."""
        return (self.read,)

    @cached_property
    def by_name(self) -> Mapping[str, Expression | AggregateCall]:
        """The groups and statistics by the name of their column."""
        return {column_name(e): e for e in (*self.groups, *self.statistics)}

    @cached_property
    def types(self) -> Mapping[str, DataType]:
        """The columns it makes, by name: all that it has."""
        return {name: expression.type for name, expression in self.by_name.items()}

    @property
    def retraction_columns(self) -> tuple[Column, ...]:
        """The groups."""
        return tuple(map(computed_column, self.groups))

    def is_monotone(self, inputs: bool) -> bool:
        """A group's row is retracted when its statistics change."""
        return False

    def direct_group(self, group: Expression) -> Expression:
        """A group expression over the parent's columns."""
        return substituted(group, dict(self.stored)) if self.finer is None else over_groups(group, self.finer)

    def direct_statistic(self, statistic: AggregateCall) -> AggregateCall:
        """A statistic over the parent's columns."""
        if self.finer is not None:
            return of_parts(statistic, computed_column(part_of(statistic)))
        if not self.stored:
            return statistic
        stored = dict(self.stored)
        return replace(statistic, arguments=tuple(substituted(argument, stored) for argument in statistic.arguments))

    def _computation(self) -> str:
        return f"aggregate {self.read.identity} by {','.join(map(identity, self.groups))}"

    def computed(self, read: Container[str]) -> Iterable[Expression]:
        """The groups, and the arguments of the statistics that are read."""
        yield from self.groups
        yield from (a for s in self.statistics if column_name(s) in read for a in s.arguments)

    def direct_columns(self, columns: Columns) -> Iterable[Column]:
        """The columns of a parent that it reads to give these columns."""
        yield from columns_of(map(self.direct_group, self.groups))
        for statistic in self.statistics:
            if column_name(statistic) in columns:
                yield from columns_of(self.direct_statistic(statistic).arguments)

    def read_columns(self, columns: Columns) -> Iterable[tuple[NodeId, Column]]:
        """Those of the groups and of the statistics that are read; several parents are of one tree."""
        return ((self.parents[0], column) for column in self.direct_columns(columns))

    def checked_columns(self) -> Checked:
        """The columns of groups and statistics, and those that are required."""
        arguments = (a for statistic in self.statistics for a in statistic.arguments)
        return [self.read.checked_columns, ({0: self.read.root}, columns_of([*self.groups, *arguments]))]

    def with_stored_columns(self, stored: Sequence[StoredColumns]) -> Self:
        """With the columns, unless it reads groups, which have none of these."""
        return replace(self, stored=tuple(stored[0].items())) if self.finer is None else self

    def sql(self, words: Words) -> str:
        """The groups of its parents' common rows; DISTINCT without statistics."""
        names, own = words.columns(self.parents[0]), words.columns(self.id)
        parent, *others = map(words.node, self.parents)
        if others:
            parent = f"({' INTERSECT ALL '.join(f'SELECT * FROM {one}' for one in (parent, *others))})"
        called = {self.direct_group(g): own(computed_column(g)) for g in self.groups}
        groups = [(g, called.get(g, expression_sql(g, names))) for g in without_fillers([*called])]
        if not self.statistics:
            return f"SELECT DISTINCT {as_columns(groups, names)} FROM {parent}"
        statistics = [
            (self.direct_statistic(s), own(computed_column(s))) for s in sorted(self.statistics, key=reading_order)
        ]
        grouped = f" GROUP BY {', '.join(expression_sql(g, names) for g, _ in groups)}" if groups else ""
        return f"SELECT {as_columns([*groups, *statistics], names)} FROM {parent}{grouped}"

    def title(self, words: Words) -> str:
        """The node in a few words: its groups."""
        groups = self._groups(words)
        return f"groups by {groups}" if groups else "total"

    def label(self, words: Words) -> Iterable[str]:
        """The groups in one part, and the statistics in another."""
        names = words.columns(self.read.root)
        statistics = ", ".join(expression_sql(s, names) for s in sorted(self.statistics, key=reading_order))
        return [part for part in (self._groups(words), statistics) if part]

    def _groups(self, words: Words) -> str:
        names = words.columns(self.read.root)
        return ", ".join(expression_sql(group, names) for group in without_fillers(self.groups))
