"""Set operators over branches."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import Self

from workbench.network.nodes.base import BaseNode, Checked, Columns, NodeId, Read, StoredColumns, columns_of
from workbench.network.sql_text import Words, as_columns, expression_sql
from workbench.sql.algebra.expressions import Column, Expression, identity, substituted
from workbench.sql.algebra.types import DataType


class SetOperator(StrEnum):
    """The operators of set operation nodes; ``*_ALL`` keep duplicates.

    A row of a SEMIJOIN is a row of the first branch that some other branch has too, and a row of an ANTIJOIN is one
    that no other branch has; both come out as often as they are in the first branch. So ``l ⋉ r`` is the SEMIJOIN of
    ``l`` with the columns of ``l`` in ``l ⋈ r``, whatever the condition (``sql.binder.joins.trees``).
    """

    UNION = "union"
    UNION_ALL = "union all"
    INTERSECT = "intersect"
    INTERSECT_ALL = "intersect all"
    EXCEPT = "except"
    EXCEPT_ALL = "except all"
    SEMIJOIN = "semijoin"
    ANTIJOIN = "antijoin"
    RECURSION = "recursion"
    RECURSION_ALL = "recursion all"
    RECURSION_LEAST = "recursion least"
    RECURSION_GREATEST = "recursion greatest"


FIRST_IS_APART = frozenset({SetOperator.EXCEPT, SetOperator.EXCEPT_ALL, SetOperator.SEMIJOIN, SetOperator.ANTIJOIN})
"""Set operators whose first branch has another part than the others, whose order says nothing."""


@dataclass(frozen=True)
class Branch:
    """One input of a set operator: the rows read, and the expressions over them that give the columns c1 … cn."""

    read: Read
    values: tuple[Expression, ...]

    @property
    def identity(self) -> str:
        """The canonical form, with all types."""
        return f"{self.read.identity}({','.join(map(identity, self.values))})"


@dataclass(frozen=True)
class SetOperation(BaseNode):
    """A set operator over branches.

    Attributes:
        operator: which one.
        branches: what it computes (its very original form, T7.2.1). The first is the one EXCEPT takes from, and that
            SEMIJOIN and ANTIJOIN take their rows from.
        direct: what it is evaluated from: for each a node and the expressions over it that give c1 … cn.
        base: the set operator whose result stands in ``direct`` for some of the branches, if any (T7.2.3).
    """

    operator: SetOperator
    branches: tuple[Branch, ...]
    direct: tuple[tuple[NodeId, tuple[Expression, ...]], ...]
    base: NodeId | None = None

    kind = "set operator"
    _letter = "U"

    @cached_property
    def parents(self) -> tuple[NodeId, ...]:
        """Ids of the nodes it is evaluated from."""
        return tuple(parent for parent, _ in self.direct)

    @property
    def inputs(self) -> tuple[tuple[NodeId, ...], ...]:
        """The nodes whose common rows are an input, for each input."""
        return tuple((parent,) for parent in self.parents)

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """The columns c1 … cn that it makes; integers of several widths are of the widest."""
        of_columns = zip(*(branch.values for branch in self.branches), strict=True)
        widest = (max((value.type for value in values), key=lambda type_: type_.bits) for values in of_columns)
        return tuple(Column(f"c{i}", type_) for i, type_ in enumerate(widest, start=1))

    @cached_property
    def types(self) -> Mapping[str, DataType]:
        """The types of its columns by name."""
        return {column.name: column.type for column in self.columns}

    def _computation(self) -> str:
        return f"{self.operator} {';'.join(branch.identity for branch in self.branches)}"

    @property
    def reads(self) -> tuple[Read, ...]:
        """The reads of its branches."""
        return tuple(branch.read for branch in self.branches)

    @property
    def retraction_columns(self) -> tuple[Column, ...]:
        """All, unless it keeps rows as they come."""
        return () if self.operator is SetOperator.UNION_ALL else self.columns

    def is_monotone(self, inputs: bool) -> bool:
        """UNION ALL of monotone branches."""
        return self.operator is SetOperator.UNION_ALL and inputs

    def computed(self, read: Container[str]) -> Iterable[Expression]:
        """The values of all columns, by which rows are compared; for UNION ALL only of the columns that are read."""
        each = self.operator is not SetOperator.UNION_ALL
        for _, values in self.direct:
            pairs = zip(self.columns, values, strict=True)
            yield from (value for column, value in pairs if each or column.name in read)

    def produced(self, branch: int, columns: Container[str]) -> list[Expression]:
        """The expressions over its parent's columns by which a branch, given by its number, computes these columns."""
        _, values = self.direct[branch]
        return [value for column, value in zip(self.columns, values, strict=True) if column.name in columns]

    def read_columns(self, columns: Columns) -> Iterable[tuple[NodeId, Column]]:
        """The columns that each branch reads."""
        for branch, (parent, _) in enumerate(self.direct):
            yield from ((parent, column) for column in columns_of(self.produced(branch, columns)))

    def checked_columns(self) -> Checked:
        """The columns that branches read, in both forms."""
        for branch in self.branches:
            yield branch.read.checked_columns
            yield {0: branch.read.root}, columns_of(branch.values)
        for parent, values in self.direct:
            yield {0: parent}, columns_of(values)

    def with_stored_columns(self, stored: Sequence[StoredColumns]) -> Self:
        """With other values of its branches."""
        branches = zip(self.direct, stored, strict=True)
        direct = ((parent, tuple(substituted(v, own) for v in values)) for (parent, values), own in branches)
        return replace(self, direct=tuple(direct))

    def sql(self, words: Words) -> str:
        """Its branches; the first one names the columns."""
        return f" {self.operator.upper()} ".join(self._branches_sql(words))

    def title(self, words: Words) -> str:
        """The operator."""
        return self.operator.upper()

    def label(self, words: Words) -> Iterable[str]:
        """The operator."""
        return [self.operator.upper()]

    def _branches_sql(self, words: Words) -> Iterator[str]:
        own = words.columns(self.id)
        for place, (parent, values) in enumerate(self.direct):
            names = words.columns(parent)
            named = [(value, own(Column(f"c{i}", value.type))) for i, value in enumerate(values, start=1)]
            shown = ", ".join(expression_sql(value, names) for value in values) if place else as_columns(named, names)
            yield f"SELECT {shown} FROM {words.node(parent)}"
