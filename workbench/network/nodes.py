"""The nodes of the query network: immutable, closed, identified by what they compute.

A node's id is a digest of what it computes, in canonical form (``sql.algebra.expressions.identity``), so equal
computations *are* one node. *How* it is computed, from which direct parents by which tests, is not part of its
identity: it may change when other queries come and go (rerouting and restructuring, T6.3), and readers of the node need
not know. Every node so has two forms (T6.2.5): the *very original* one, over the roots of local trees, which is
searched, and the *direct* one, over its direct parents, which is evaluated. Which columns a node must carry is not part
of it either: that follows from its readers (``projection``, T8.2).

Columns of a node. A source has its stream's columns; a selection or window those of its root; an analytic node these
and its functions; an aggregate its group expressions and statistics under ``column_name``; a set operator ``c1 … cn``.
A join has those of all its leaves: the column ``amount`` of the second leaf is ``amount_2``; leaves count from 1, left
to right.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import ClassVar

from workbench.network.join_names import JoinNames, join_names
from workbench.network.roll_up import column_of, over_groups
from workbench.sql.algebra.analytic import AnalyticCall, Over
from workbench.sql.algebra.expressions import AggregateCall, Column, Expression, column_name, digest, identity
from workbench.sql.algebra.types import DataType
from workbench.sql.functions.aggregates import of_parts
from workbench.sql.predicates.cnf import TRUE, PredSet

NodeId = str
ID_DIGITS = 12
"""Hexadecimal digits of an id: among 10,000 nodes two of one id are as likely as one in five million."""

SIDES = (0, 1)
"""The sides of a join: left and right, the ``source`` of a column."""


class SetOperator(StrEnum):
    """What a set operator node does with the rows of its branches; ``*_ALL`` keep duplicates.

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


FIRST_IS_APART = frozenset({SetOperator.EXCEPT, SetOperator.EXCEPT_ALL, SetOperator.SEMIJOIN, SetOperator.ANTIJOIN})
"""Set operators whose first branch has another part than the others, whose order says nothing."""


@dataclass(frozen=True)
class Read:
    """What a query or an operator reads: the rows of a local tree's root that satisfy the required predicates.

    ``required`` is over the root's columns and has everything that holds for the rows, also what the root has tested
    already. So it stays what it is when the root comes to test less (``Join.predicates``).
    """

    root: NodeId
    required: PredSet = TRUE

    @property
    def identity(self) -> str:
        """The canonical form; roots are hexadecimal ids, so nothing else looks like one."""
        return f"{self.root}{self.required.identity}"


class _Identified(ABC):
    """A node's id: a letter for its kind and the digest of what it computes."""

    _letter: ClassVar[str]

    @cached_property
    def id(self) -> NodeId:
        """The node's id."""
        return self._letter + digest(self._computation(), ID_DIGITS)

    @abstractmethod
    def _computation(self) -> str:
        """What the node computes, in canonical form."""


class _Unary(_Identified):
    """A node that is evaluated from one other."""

    parent: NodeId

    @property
    def parents(self) -> tuple[NodeId, ...]:
        """Ids of the nodes it is evaluated from."""
        return (self.parent,)

    @property
    def inputs(self) -> tuple[tuple[NodeId, ...], ...]:
        """The nodes whose common rows are an input, for each input."""
        return ((self.parent,),)


@dataclass(frozen=True)
class Source(_Identified):
    """A stream or table.

    Attributes:
        stream: its name.
        owner: set when nothing may be shared with other queries (``Options.sharing``).
        append_only: whether the stream takes no row back. A fact of the stream, so it is no part of the identity.
    """

    stream: str
    owner: str = ""
    append_only: bool = True

    _letter = "F"

    @property
    def parents(self) -> tuple[NodeId, ...]:
        """Ids of the nodes it is evaluated from: none."""
        return ()

    @property
    def inputs(self) -> tuple[tuple[NodeId, ...], ...]:
        """The nodes whose common rows are an input, for each input: none."""
        return ()

    def _computation(self) -> str:
        return f"source {json.dumps([self.stream.lower(), self.owner])}"


@dataclass(frozen=True)
class Selection(_Unary):
    """The rows of a root that satisfy a PredSet (its SVOA form, T6.2.5).

    Attributes:
        read: the root, and what holds for the rows.
        parent: the node it is evaluated from: the root, or another selection of its tree.
        predicates: what is tested on the parent's rows (the direct form).
    """

    read: Read
    parent: NodeId
    predicates: PredSet

    _letter = "S"

    def _computation(self) -> str:
        return f"select {self.read.identity}"


@dataclass(frozen=True)
class Join(_Identified):
    """Pairs of rows of a left and a right root; columns have source 0 (left) and 1 (right).

    Attributes:
        left_root, right_root: the roots its rows come from (its JVOAs, T6.2.5).
        anchor: which of the joins between these two: a digest of what its first reader required.
        predicates: what holds for every row, over the roots (the JVOA form): the weakest common predicate of its
            readers. Like the columns a node carries it follows from the readers, so it is not part of the identity.
        left, right: the nodes it is evaluated from, in the trees of the roots.
        tested: what is tested on their pairs (the direct form).
        left_leaves, right_leaves: leaves below each side, which is what column names need.
    """

    left_root: NodeId
    right_root: NodeId
    anchor: str
    predicates: PredSet
    left: NodeId
    right: NodeId
    tested: PredSet
    left_leaves: int = 1
    right_leaves: int = 1

    _letter = "J"

    @property
    def parents(self) -> tuple[NodeId, ...]:
        """Ids of the nodes it is evaluated from."""
        return (self.left, self.right)

    @property
    def inputs(self) -> tuple[tuple[NodeId, ...], ...]:
        """The nodes whose common rows are an input, for each input."""
        return ((self.left,), (self.right,))

    @property
    def roots(self) -> tuple[NodeId, NodeId]:
        """The roots its rows come from."""
        return (self.left_root, self.right_root)

    @property
    def leaves(self) -> int:
        """Leaves below both sides."""
        return self.left_leaves + self.right_leaves

    @property
    def names(self) -> JoinNames:
        """What the columns of its sides are called in it."""
        return join_names(self.left_leaves, self.right_leaves)

    def _computation(self) -> str:
        return f"join {self.left_root} {self.right_root} on {self.anchor}"


@dataclass(frozen=True)
class Aggregate(_Identified):
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
    """

    read: Read
    groups: tuple[Expression, ...]
    statistics: frozenset[AggregateCall]
    parents: tuple[NodeId, ...]
    finer: tuple[Expression, ...] | None = None

    _letter = "G"

    @property
    def inputs(self) -> tuple[tuple[NodeId, ...], ...]:
        """The nodes whose common rows are an input, for each input."""
        return (self.parents,)

    @cached_property
    def types(self) -> Mapping[str, DataType]:
        """The columns it makes, by name."""
        return {column_name(e): e.type for e in (*self.groups, *self.statistics)}

    def direct_group(self, group: Expression) -> Expression:
        """A group expression over the parent's columns."""
        return group if self.finer is None else over_groups(group, self.finer)

    def direct_statistic(self, statistic: AggregateCall) -> AggregateCall:
        """A statistic over the parent's columns."""
        return statistic if self.finer is None else of_parts(statistic, column_of(statistic))

    def _computation(self) -> str:
        return f"aggregate {self.read.identity} by {','.join(map(identity, self.groups))}"


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
class SetOperation(_Identified):
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
        """The columns c1 … cn that it makes."""
        return tuple(Column(f"c{i}", value.type) for i, value in enumerate(self.branches[0].values, start=1))

    @cached_property
    def types(self) -> Mapping[str, DataType]:
        """The same by name."""
        return {column.name: column.type for column in self.columns}

    def _computation(self) -> str:
        return f"{self.operator} {';'.join(branch.identity for branch in self.branches)}"


@dataclass(frozen=True)
class Window(_Unary):
    """The rows read that are in a window at the current moment: as time passes rows enter and leave.

    Its columns are those of the root that is read.

    Attributes:
        read: the rows it is a window on.
        within: comparisons of times of a row with now (``workbench.sql.windows.bounds``), over the same columns.
        parent: the node it is evaluated from.
    """

    read: Read
    within: PredSet
    parent: NodeId

    _letter = "W"

    def _computation(self) -> str:
        return f"window {self.read.identity} within {self.within.identity}"


@dataclass(frozen=True)
class Analytic(_Unary):
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
    """

    read: Read
    over: Over
    functions: frozenset[AnalyticCall]
    parent: NodeId
    bound: PredSet = TRUE

    _letter = "A"

    @cached_property
    def types(self) -> Mapping[str, DataType]:
        """The columns it makes, by name."""
        return {function.name: function.type for function in sorted(self.functions, key=lambda f: f.name)}

    @cached_property
    def by_name(self) -> Mapping[str, AnalyticCall]:
        """The functions by the name of their column."""
        return {function.name: function for function in self.functions}

    @property
    def in_order(self) -> tuple[AnalyticCall, ...]:
        """The functions in an order that depends on nothing else."""
        return tuple(sorted(self.functions, key=lambda function: (function.text, function.identity)))

    def _computation(self) -> str:
        return f"analytic {self.read.identity} over {self.over.identity}"


Node = Source | Selection | Join | Aggregate | SetOperation | Window | Analytic

_KINDS = {Source: "source", Selection: "selection", Join: "join", Aggregate: "aggregate", SetOperation: "set operator",
          Window: "window", Analytic: "analytic"}  # fmt: skip


def kind_of(node: Node) -> str:
    """The kind of a node in a word; an aggregate without statistics is an ``aggregate`` too."""
    return _KINDS[type(node)]
