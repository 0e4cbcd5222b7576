"""The nodes of the query network: immutable, closed, identified by what they compute.

A node's id is a digest of what it computes, in canonical form (``sql.algebra.expressions.identity``), so equal
computations *are* one node. *How* it is computed, from which direct parents by which tests, is not part of its
identity: it may change when other queries come and go (rerouting and restructuring, T6.3), and who reads the node need
not know. Every node so has two forms (T6.2.5): the *very original* one, over the roots of local trees, which is
searched, and the *direct* one, over its direct parents, which is evaluated. Which columns a node must carry is not part
of it either: that follows from who reads it (``projection``, T8.2).

Columns of a node. A source has its stream's columns; a selection or window those of its root; an aggregate its group
expressions and statistics under ``column_name``; a set operator ``c1 … cn``. A join has those of all its leaves: the
column ``amount`` of the second leaf is ``amount_2``; leaves count from 1, left to right.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property

from workbench.network.join_names import JoinNames, join_names
from workbench.sql.algebra.expressions import (
    AggregateCall,
    Call,
    Column,
    Constant,
    Expression,
    calls,
    column_name,
    digest,
    identity,
)
from workbench.sql.algebra.planning_cache import cached
from workbench.sql.algebra.types import DataType
from workbench.sql.predicates.cnf import (
    TRUE,
    OnSide,
    PredSet,
    pred_set,
    predicate_expressions,
    predicate_sources,
    rename_predicates,
)
from workbench.sql.windows.bounds import times

NodeId = str
ID_DIGITS = 12
"""Hexadecimal digits of an id: among 10,000 nodes two of one id are as likely as one in five million."""


class SetOperator(StrEnum):
    """What a set operator node does with the rows of its branches; ``*_ALL`` keep duplicates."""

    UNION = "union"
    UNION_ALL = "union all"
    INTERSECT = "intersect"
    INTERSECT_ALL = "intersect all"
    EXCEPT = "except"
    EXCEPT_ALL = "except all"


@dataclass(frozen=True)
class Read:
    """What a query or an operator reads: the rows of a local tree's root that satisfy ``wants``.

    ``wants`` is over the root's columns and says everything that holds for the rows, also what the root has tested
    already. So it stays what it is when the root comes to test less (``Join.predicates``).
    """

    root: NodeId
    wants: PredSet = TRUE

    @property
    def identity(self) -> str:
        """The canonical form; roots are hexadecimal ids, so nothing else looks like one."""
        return f"{self.root}{self.wants.identity}"


@dataclass(frozen=True)
class Source:
    """A stream or table. ``owner`` is set when nothing may be shared with other queries (``Options.sharing``)."""

    stream: str
    owner: str = ""

    @property
    def parents(self) -> tuple[NodeId, ...]:
        """Ids of the nodes it reads."""
        return ()

    @property
    def signature(self) -> str:
        """What it computes, in canonical form."""
        return f"source {json.dumps([self.stream.lower(), self.owner])}"

    @cached_property
    def id(self) -> NodeId:
        """Digest of the signature."""
        return _id("F", self.signature)


@dataclass(frozen=True)
class Selection:
    """The rows of a root that satisfy a PredSet (its SVOA form, T6.2.5).

    Attributes:
        read: the root, and what holds for the rows.
        parent: the node it is evaluated from: the root, or another selection of its tree.
        predicates: what is tested on the parent's rows (the direct form).
    """

    read: Read
    parent: NodeId
    predicates: PredSet

    @property
    def parents(self) -> tuple[NodeId, ...]:
        """Ids of the nodes it reads."""
        return (self.parent,)

    @property
    def signature(self) -> str:
        """What it computes, in canonical form."""
        return f"select {self.read.identity}"

    @cached_property
    def id(self) -> NodeId:
        """Digest of the signature."""
        return _id("S", self.signature)


@dataclass(frozen=True)
class Join:
    """Pairs of rows of a left and a right root; columns have source 0 (left) and 1 (right).

    Attributes:
        left_root, right_root: the roots its rows come from (its JVOAs, T6.2.5).
        anchor: which of the joins between these two: a digest of what its first reader wanted.
        predicates: what holds for every row, over the roots (the JVOA form). It covers what its readers want, and no
            more; like the columns a node carries it follows from the readers, so it is not part of the identity.
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

    @property
    def parents(self) -> tuple[NodeId, ...]:
        """Ids of the nodes it reads."""
        return (self.left, self.right)

    @property
    def roots(self) -> tuple[NodeId, NodeId]:
        """The roots its rows come from."""
        return (self.left_root, self.right_root)

    @property
    def leaves(self) -> int:
        """Leaves below both sides."""
        return self.left_leaves + self.right_leaves

    @property
    def signature(self) -> str:
        """What it computes, in canonical form."""
        return f"join {self.left_root} {self.right_root} on {self.anchor}"

    @cached_property
    def id(self) -> NodeId:
        """Digest of the signature."""
        return _id("J", self.signature)

    @property
    def names(self) -> JoinNames:
        """What the columns of its sides are called in it."""
        return join_names(self.left_leaves, self.right_leaves)


@dataclass(frozen=True)
class Aggregate:
    """One row for each group of the rows read; without statistics it is DISTINCT.

    With no groups there is exactly one row, also over no input. ``statistics`` are not part of the identity: nodes
    with the same groups of the same rows are one node (horizontal expansion, T7.1).

    Attributes:
        read: the rows that are grouped.
        groups: over the columns of the root that is read.
        statistics: over the same columns.
        parent: the node it is evaluated from: one that has the rows, or one of an aggregate with finer groups
            (vertical expansion, T7.1.1).
        finer: the group expressions of that aggregate; ``None`` when the rows themselves are grouped.
    """

    read: Read
    groups: tuple[Expression, ...]
    statistics: frozenset[AggregateCall]
    parent: NodeId
    finer: tuple[Expression, ...] | None = None

    @property
    def parents(self) -> tuple[NodeId, ...]:
        """Ids of the nodes it reads."""
        return (self.parent,)

    @property
    def signature(self) -> str:
        """What it computes, in canonical form."""
        return f"aggregate {self.read.identity} by {','.join(map(identity, self.groups))}"

    @cached_property
    def id(self) -> NodeId:
        """Digest of the signature."""
        return _id("G", self.signature)

    @cached_property
    def types(self) -> Mapping[str, DataType]:
        """The columns it makes, by name."""
        return {column_name(made): made.type for made in (*self.groups, *self.statistics)}

    def direct_group(self, group: Expression) -> Expression:
        """A group expression over the parent's columns."""
        return group if self.finer is None else over_groups(group, self.finer)

    def direct_statistic(self, statistic: AggregateCall) -> AggregateCall:
        """A statistic over the parent's columns."""
        return statistic if self.finer is None else of_parts(statistic)


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
class SetOperation:
    """A set operator over branches.

    Attributes:
        operator: which one.
        branches: what it computes (its very original form, T7.2.1). The first is the one EXCEPT takes from.
        direct: what it is evaluated from: for each a node and the expressions over it that give c1 … cn.
        base: the set operator whose result stands in ``direct`` for some of the branches, if any (T7.2.3).
    """

    operator: SetOperator
    branches: tuple[Branch, ...]
    direct: tuple[tuple[NodeId, tuple[Expression, ...]], ...]
    base: NodeId | None = None

    @property
    def parents(self) -> tuple[NodeId, ...]:
        """Ids of the nodes it reads."""
        return tuple(parent for parent, _ in self.direct)

    @property
    def signature(self) -> str:
        """What it computes, in canonical form."""
        return f"{self.operator} {';'.join(branch.identity for branch in self.branches)}"

    @cached_property
    def id(self) -> NodeId:
        """Digest of the signature."""
        return _id("U", self.signature)

    @cached_property
    def types(self) -> Mapping[str, DataType]:
        """The columns it makes, by name."""
        return {f"c{i}": value.type for i, value in enumerate(self.branches[0].values, start=1)}


@dataclass(frozen=True)
class Window:
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

    @property
    def parents(self) -> tuple[NodeId, ...]:
        """Ids of the nodes it reads."""
        return (self.parent,)

    @property
    def signature(self) -> str:
        """What it computes, in canonical form."""
        return f"window {self.read.identity} within {self.within.identity}"

    @cached_property
    def id(self) -> NodeId:
        """Digest of the signature."""
        return _id("W", self.signature)


SIDES = (0, 1)
"""The sides of a join: left and right, the ``source`` of a column."""

Node = Source | Selection | Join | Aggregate | SetOperation | Window


def kind_of(node: Node) -> str:
    """What the node is, in a word."""
    match node:
        case Source():
            return "source"
        case Selection():
            return "selection"
        case Join():
            return "join"
        case Aggregate():
            return "aggregate"
        case SetOperation():
            return "set operator"
        case Window():
            return "window"


@cached(100_000)
def side_of(predicates: PredSet, side: int) -> PredSet:
    """The part of a join's predicates that reads one side only, over that side's root.

    Predicates that read no column at all belong to both sides.
    """
    own = pred_set(p for p in predicates if predicate_sources(p) <= {side})
    return rename_predicates(own, OnSide(0))


def reads(node: Node) -> tuple[Read, ...]:
    """What a node reads, in its very original form; of a join what it wants of each side."""
    match node:
        case Source() | Selection():
            return ()
        case Join():
            return tuple(Read(node.roots[side], side_of(node.predicates, side)) for side in SIDES)
        case Aggregate() | Window():
            return (node.read,)
        case SetOperation():
            return tuple(branch.read for branch in node.branches)


def over_groups(expression: Expression, groups: tuple[Expression, ...]) -> Expression:
    """An expression over rows as one over their groups, each group expression being a column there.

    Raises:
        KeyError: it needs a column that is not a function of the groups.

    Example:
        >>> from workbench.sql.algebra.types import INTEGER
        >>> day = Column("day", INTEGER)
        >>> over_groups(Call("abs", (day,), INTEGER), (day,)) == Call("abs", (day,), INTEGER)
        True
    """
    if expression in groups:
        return Column(column_name(expression), expression.type)
    match expression:
        case Column():
            raise KeyError(expression.name)
        case Call("window_start" as name, (time, length)):
            # A window of an hour is made of slices of five minutes.
            finer = next((g for g in groups if _is_slice(g, time, length)), None)
            start = over_groups(time, groups) if finer is None else Column(column_name(finer), finer.type)
            return Call(name, (start, length), expression.type)
        case Call():
            return replace(expression, arguments=tuple(over_groups(a, groups) for a in expression.arguments))
        case _:
            return expression


def _is_slice(group: Expression, time: Expression, length: Expression) -> bool:
    """Whether windows of a length on a time are unions of the windows that are a group."""
    match group, length:
        case Call("window_start", (own, Constant(int() as size))), Constant(int() as whole):
            return own == time and whole % size == 0
    return False


def of_parts(statistic: AggregateCall) -> AggregateCall:
    """A statistic as one of the same statistic of finer groups: a count is the total of counts (T7.1.1)."""
    part = Column(column_name(statistic), statistic.type)
    return replace(statistic, function="total" if statistic.function == "count" else statistic.function,
                   arguments=(part,))  # fmt: skip


def _id(prefix: str, signature: str) -> NodeId:
    return prefix + digest(signature, ID_DIGITS)


def functions_called(node: Node) -> frozenset[str]:
    """Names of all scalar functions in the node's operator set."""
    match node:
        case Source():
            expressions: list[Expression] = []
        case Selection():
            expressions = list(predicate_expressions(node.predicates))
        case Join():
            expressions = list(predicate_expressions(node.tested))
        case Aggregate():
            expressions = [*node.groups, *(a for s in node.statistics for a in s.arguments)]
        case SetOperation():
            expressions = [value for _, values in node.direct for value in values]
        case Window():
            expressions = list(times(node.within))
    return frozenset(name for expression in expressions for name in calls(expression))
