"""The nodes of the query network: immutable, closed, identified by what they compute.

A node's id is a digest of its kind, its parents' ids and its operator set (T Table 3.1) in canonical text, so equal
computations *are* one node. Which columns a node must carry is not part of its identity: that follows from who reads
it (``projection``, T8.2), and the statistics of an aggregate node may grow (horizontal expansion, T7.1).

Columns of a node. A source has its stream's columns; a selection those of its parent; an aggregate its group
expressions and statistics under ``column_name``; a set operator ``c1 … cn``. A join has those of all its leaves: the
column ``amount`` of the second leaf is ``amount_2``; leaves count from 1, left to right.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

from workbench.sql.expressions import AggregateCall, Expression, calls, digest, text
from workbench.sql.predicates import PredSet, predicate_expressions

NodeId = str


class SetOperator(StrEnum):
    """What a set operator node does with the rows of its branches; ``*_ALL`` keep duplicates."""

    UNION = "union"
    UNION_ALL = "union all"
    INTERSECT = "intersect"
    INTERSECT_ALL = "intersect all"
    EXCEPT = "except"
    EXCEPT_ALL = "except all"


@dataclass(frozen=True)
class Source:
    """A stream or table."""

    stream: str

    @property
    def parents(self) -> tuple[NodeId, ...]:
        """Ids of the nodes it reads."""
        return ()

    @property
    def signature(self) -> str:
        """What it computes, as canonical text."""
        return f"source {self.stream.lower()}"

    @cached_property
    def id(self) -> NodeId:
        """Digest of the signature."""
        return _id("F", self.signature)


@dataclass(frozen=True)
class Selection:
    """The rows of the parent that satisfy a PredSet."""

    parent: NodeId
    predicates: PredSet

    @property
    def parents(self) -> tuple[NodeId, ...]:
        """Ids of the nodes it reads."""
        return (self.parent,)

    @property
    def signature(self) -> str:
        """What it computes, as canonical text."""
        return f"select {self.parent} where {self.predicates}"

    @cached_property
    def id(self) -> NodeId:
        """Digest of the signature."""
        return _id("S", self.signature)


@dataclass(frozen=True)
class Join:
    """Pairs of a left and a right row that satisfy a PredSet; its columns have source 0 (left) and 1 (right).

    ``left_leaves`` and ``right_leaves`` count the leaves below each side, which is what column names need.
    """

    left: NodeId
    right: NodeId
    predicates: PredSet
    left_leaves: int = 1
    right_leaves: int = 1

    @property
    def parents(self) -> tuple[NodeId, ...]:
        """Ids of the nodes it reads."""
        return (self.left, self.right)

    @property
    def leaves(self) -> int:
        """Leaves below both sides."""
        return self.left_leaves + self.right_leaves

    @property
    def signature(self) -> str:
        """What it computes, as canonical text."""
        return f"join {self.left} {self.right} on {self.predicates}"

    @cached_property
    def id(self) -> NodeId:
        """Digest of the signature."""
        return _id("J", self.signature)

    def output_name(self, side: int, name: str) -> str:
        """What a column of the left (0) or right (1) parent is called in this node.

        Example:
            >>> Join("F1", "F2", PredSet()).output_name(1, "amount")
            'amount_2'
        """
        if side == 0:
            return f"{name}_1" if self.left_leaves == 1 else name
        if self.right_leaves == 1:
            return f"{name}_{self.left_leaves + 1}"
        base, leaf = split_leaf(name)
        return f"{base}_{leaf + self.left_leaves}"

    def input_name(self, name: str) -> tuple[int, str]:
        """Side and name in the parent of a column of this node: the inverse of ``output_name``."""
        base, leaf = split_leaf(name)
        if leaf <= self.left_leaves:
            return 0, (base if self.left_leaves == 1 else name)
        return 1, (base if self.right_leaves == 1 else f"{base}_{leaf - self.left_leaves}")


@dataclass(frozen=True)
class Aggregate:
    """One row for each group of the parent's rows; without statistics it is DISTINCT.

    ``statistics`` are not part of the identity: nodes with the same groups are one node (T7.1). With no groups there
    is exactly one row, also over no input.
    """

    parent: NodeId
    groups: tuple[Expression, ...]
    statistics: frozenset[AggregateCall] = field(default=frozenset(), compare=False)

    @property
    def parents(self) -> tuple[NodeId, ...]:
        """Ids of the nodes it reads."""
        return (self.parent,)

    @property
    def signature(self) -> str:
        """What it computes, as canonical text."""
        return f"aggregate {self.parent} by {', '.join(map(text, self.groups))}"

    @cached_property
    def id(self) -> NodeId:
        """Digest of the signature."""
        return _id("G", self.signature)


@dataclass(frozen=True)
class SetOperation:
    """A set operator over branches: each a parent and the expressions over it that give the columns c1 … cn."""

    operator: SetOperator
    branches: tuple[tuple[NodeId, tuple[Expression, ...]], ...]

    @property
    def parents(self) -> tuple[NodeId, ...]:
        """Ids of the nodes it reads."""
        return tuple(parent for parent, _ in self.branches)

    @property
    def signature(self) -> str:
        """What it computes, as canonical text."""
        branches = "; ".join(f"{parent}: {', '.join(map(text, values))}" for parent, values in self.branches)
        return f"{self.operator} {branches}"

    @cached_property
    def id(self) -> NodeId:
        """Digest of the signature."""
        return _id("U", self.signature)


Node = Source | Selection | Join | Aggregate | SetOperation


def split_leaf(name: str) -> tuple[str, int]:
    """A join's column name as base name and leaf number.

    Example:
        >>> split_leaf("tran_date_2")
        ('tran_date', 2)
    """
    match = re.fullmatch(r"(.*)_(\d+)", name)
    if match is None:
        raise ValueError(f"{name!r} is not a column of a join")
    return match[1], int(match[2])


def _id(prefix: str, signature: str) -> NodeId:
    return prefix + digest(signature)


def functions_called(node: Node) -> frozenset[str]:
    """Names of all scalar functions in the node's operator set."""
    match node:
        case Source():
            expressions: list[Expression] = []
        case Selection() | Join():
            expressions = list(predicate_expressions(node.predicates))
        case Aggregate():
            expressions = [*node.groups, *(a for s in node.statistics for a in s.arguments)]
        case SetOperation():
            expressions = [value for _, values in node.branches for value in values]
    return frozenset(name for expression in expressions for name in calls(expression))
