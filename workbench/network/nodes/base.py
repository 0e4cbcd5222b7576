"""The base of all nodes: their common fields, and what they say of themselves.

A kind of node says itself what it reads, which columns it makes, what it computes and how it is said in words, in one
module. Passes over the network ask it, and match kinds only where each needs a plan of its own
(``engine.physical.planner``).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Self

from workbench.network.sql_text import Words
from workbench.sql.algebra.expressions import Column, Expression, columns, digest
from workbench.sql.algebra.types import DataType
from workbench.sql.predicates.cnf import TRUE, PredSet, predicate_columns

NodeId = str
ID_DIGITS = 12
"""Hexadecimal digits of an id: among 10,000 nodes two of one id are as likely as one in five million."""

Columns = Mapping[str, DataType]
StoredColumns = Mapping[Expression, Column]
"""Expressions over the columns of a root, and the column of its rows that has their values."""
Checked = Iterable[tuple[Mapping[int, NodeId], Iterable[Column]]]
"""Columns with the nodes that they are columns of, by their ``source``."""


@dataclass(frozen=True)
class Read:
    """A read of a query or an operator: the rows of a local tree's root that satisfy the required predicates.

    ``required`` is over the root's columns and has everything that holds for the rows, also what the root has tested
    already. So it stays what it is when the root comes to test less (``Join.predicates``).
    """

    root: NodeId
    required: PredSet = TRUE

    @property
    def checked_columns(self) -> tuple[Mapping[int, NodeId], frozenset[Column]]:
        """The columns that the required predicates read, of the root."""
        return {0: self.root}, predicate_columns(self.required)

    @property
    def identity(self) -> str:
        """The canonical form; roots are hexadecimal ids, so nothing else looks like one."""
        return f"{self.root}{self.required.identity}"


class BaseNode(ABC):
    """A node of the network. It is a frozen dataclass; its fields are its very original and its direct form."""

    kind: ClassVar[str]
    """The kind in a word; an aggregate without statistics is an ``aggregate`` too."""
    _letter: ClassVar[str]

    @cached_property
    def id(self) -> NodeId:
        """A letter for the kind and the digest of what the node computes."""
        return self._letter + digest(self._computation(), ID_DIGITS)

    @abstractmethod
    def _computation(self) -> str:
        """The computation of the node, in canonical form."""

    @property
    def reads(self) -> tuple[Read, ...]:
        """Its reads, in its very original form; a selection reads the tree that it is part of."""
        return ()

    @property
    def types(self) -> Columns:
        """The columns it makes, by name; the others are carried along."""
        return {}

    def carried(self, name: str) -> tuple[NodeId, str] | None:
        """The root that has a column, and its name there; ``None`` for a column that the node computes."""
        return None

    @property
    def retraction_columns(self) -> tuple[Column, ...]:
        """The columns without which a changed row of the node could not be found again to retract it."""
        return ()

    def is_monotone(self, inputs: bool) -> bool:
        """Whether its rows are never retracted, where ``inputs`` says whether those of all it reads never are."""
        return inputs

    def computed(self, read: Container[str]) -> Iterable[Expression]:
        """The expressions over direct parents that decide on its rows, and those of the columns that are read."""
        return ()

    def read_columns(self, columns: Columns) -> Iterable[tuple[NodeId, Column]]:
        """The columns of direct parents that a root reads to give these columns."""
        return ()

    def checked_columns(self) -> Checked:
        """The columns that it reads of roots and direct parents, which must have them."""
        return ()

    def with_stored_columns(self, stored: Sequence[StoredColumns]) -> Self:
        """The node as it runs: it reads stored columns in the place of expressions whose values its inputs store.

        What it computes, its id and the names of its columns stay. Here it reads no expressions that could be stored.
        """
        return self

    @abstractmethod
    def sql(self, words: Words) -> str:
        """The statement that computes it from its direct parents."""

    @abstractmethod
    def title(self, words: Words) -> str:
        """The node in a few words; a stream has a name."""

    @abstractmethod
    def label(self, words: Words) -> Iterable[str]:
        """Its operator set in parts: predicates, groups and statistics, or a stream's name."""


class Unary(BaseNode):
    """A node that reads one root, and is evaluated from one node."""

    read: Read
    parent: NodeId

    @property
    def parents(self) -> tuple[NodeId, ...]:
        """Ids of the nodes it is evaluated from."""
        return (self.parent,)

    @property
    def inputs(self) -> tuple[tuple[NodeId, ...], ...]:
        """The nodes whose common rows are an input, for each input."""
        return ((self.parent,),)

    @property
    def reads(self) -> tuple[Read, ...]:
        """The rows that it reads."""
        return (self.read,)

    def carried(self, name: str) -> tuple[NodeId, str] | None:
        """The root that is read has the column under the same name."""
        return self.read.root, name


def columns_of(expressions: Iterable[Expression]) -> Iterable[Column]:
    """The columns that expressions read."""
    for expression in expressions:
        yield from columns(expression)
