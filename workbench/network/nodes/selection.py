"""The rows of a root that satisfy predicates."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Self

from workbench.network.nodes.base import Checked, NodeId, Read, StoredColumns, Unary
from workbench.network.sql_text import Words, predicate_texts, predicates_sql
from workbench.sql.algebra.expressions import Expression, substituted
from workbench.sql.predicates.cnf import PredSet, map_expressions, predicate_columns, predicate_expressions


@dataclass(frozen=True)
class Selection(Unary):
    """The rows of a root that satisfy a PredSet (its SVOA form, T6.2.5).

    Attributes:
        read: the root, and what holds for the rows.
        parent: the node it is evaluated from: the root, or another selection of its tree.
        predicates: what is tested on the parent's rows (the direct form).
    """

    read: Read
    parent: NodeId
    predicates: PredSet

    kind = "selection"
    _letter = "S"

    def _computation(self) -> str:
        return f"select {self.read.identity}"

    @property
    def reads(self) -> tuple[Read, ...]:
        """The tree that it is part of, alone."""
        return ()

    def computed(self, read: Container[str]) -> Iterable[Expression]:
        """The expressions that the tested predicates compare."""
        return predicate_expressions(self.predicates)

    def checked_columns(self) -> Checked:
        """The columns that are required and tested."""
        return [self.read.checked_columns, ({0: self.read.root}, predicate_columns(self.predicates))]

    def with_stored_columns(self, stored: Sequence[StoredColumns]) -> Self:
        """With other predicates."""
        return replace(self, predicates=map_expressions(self.predicates, partial(substituted, values=stored[0])))

    def sql(self, words: Words) -> str:
        """The parent's rows that satisfy the tested predicates."""
        return f"SELECT * FROM {words.node(self.parent)} WHERE {self._tested(words)}"

    def title(self, words: Words) -> str:
        """A selection, with its tests."""
        return f"selection {self._tested(words)}"

    def label(self, words: Words) -> Iterable[str]:
        """The predicates that are tested."""
        return predicate_texts(self.predicates, words.columns(self.parent))

    def _tested(self, words: Words) -> str:
        return predicates_sql(self.predicates, words.columns(self.parent))
