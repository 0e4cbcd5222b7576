"""Physical plans: what each operator of the running network does, without rows and without Spark.

The planner (``planner``) makes one plan for each operator: a source, join, window or UNION ALL with the selections on
its rows (one *local tree*, T9.3), or several local trees of aggregates or set operators that are fused (``fusion``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar, Self

from workbench.engine.physical.access_paths import AccessPath
from workbench.engine.physical.aggregate_plan import GroupedPlan
from workbench.engine.physical.filters.filter_plan import CompiledFilter
from workbench.engine.physical.fusion import member
from workbench.engine.physical.recursion import RecursionSteps
from workbench.engine.physical.row_inputs import materialized_parts, row_input
from workbench.engine.physical.semijoin import Semijoin
from workbench.engine.physical.stored.values import Computed, computed_value
from workbench.engine.storage.buckets import BucketKey
from workbench.engine.storage.layout import Layout
from workbench.engine.storage.lineage import WORD_BITS
from workbench.network.nodes import Analytic, Columns, Join, NodeId, Read, SetOperation, Window
from workbench.sql.algebra.expressions import Column, Constant, Expression, columns
from workbench.sql.predicates.cnf import Operator

LineageBits = frozenset[int]
"""Positions in the lineage of a row. A row belongs to a node where it has the node's bit."""


@dataclass(frozen=True, eq=False, kw_only=True)
class BasePlan:
    """The base of the plans of all operators.

    Attributes:
        name: of the operator and of its folder. It stays while any root of the operator runs.
        trees: the nodes of each local tree that the operator computes, by root; roots come before their selections.
        inputs: for each input the name of the operator that is read, and for each root the nodes whose common rows it
            reads.
        definitions: for each root the part of its definition that may change while its id stays.
        bits: the bit of each node.
        kept_for: a row is stored if it has all the bits of one of these sets.
        kept: the value columns of the stored rows.
        produced: the columns of a root's rows before the filter: those kept, and those that selections test.
        monotone: whether rows are never retracted.
        filter: the selections of all trees as one grouped filter.
        keys: expressions that are stored with the rows to look them up by, by the name of their column.
        query_reads: what queries read of the operator, and the bits of the nodes that have those rows.
        looked_up_by: the key by which most operators look its rows up.
        elements: expressions over a root's columns that its rows have as columns (``elements``).
    """

    name: str
    of_batch: ClassVar[bool] = False
    """Whether all rows that it makes in a batch are of this batch; else each row brings its own."""
    trees: Mapping[NodeId, tuple[NodeId, ...]]
    inputs: tuple[tuple[str, tuple[tuple[NodeId, ...], ...]], ...]
    definitions: Mapping[NodeId, str]
    bits: Mapping[NodeId, int]
    kept_for: frozenset[LineageBits]
    kept: Columns
    produced: Columns
    monotone: bool
    filter: CompiledFilter
    keys: Mapping[str, Expression]
    query_reads: Mapping[Read, LineageBits]
    looked_up_by: BucketKey | None = None
    elements: Mapping[Expression, Column] = field(default_factory=dict)

    @property
    def has_changelog(self) -> bool:
        """Whether changes are stored batch by batch; where rows are never retracted, the rows themselves tell them."""
        return bool(self.query_reads) and not self.monotone

    @property
    def layout(self) -> Layout:
        """How the rows are stored."""
        return Layout(self.stored, words=len(self.filter.filter.always))

    @property
    def stored(self) -> Columns:
        """The columns of a stored row: its values, and the values of expressions over them."""
        return {**self.kept, **{name: value.type for name, value in self.computed.items()}}

    @property
    def computed(self) -> Mapping[str, Expression]:
        """The expressions that are stored with the rows, by the name of their column."""
        return self.keys

    @cached_property
    def computed_here(self) -> Mapping[str, Computed]:
        """The expressions of ``computed`` that have kernels, so that Spark need not evaluate them."""
        found = {name: computed_value(expression) for name, expression in self.computed.items()}
        return {name: value for name, value in found.items() if value is not None}

    @property
    def roots(self) -> tuple[NodeId, ...]:
        """The roots of the local trees."""
        return tuple(self.trees)

    @cached_property
    def nodes(self) -> tuple[NodeId, ...]:
        """All nodes whose rows the operator has, roots before their selections."""
        return tuple(node for nodes in self.trees.values() for node in nodes)

    @property
    def semijoined(self) -> Mapping[LineageBits, frozenset[Semijoin]]:
        """The sets of ``kept_for`` of whose rows only some are stored, and by which semijoins these are found."""
        return {}

    @property
    def computes(self) -> tuple[object, ...]:
        """The fields that its jobs depend on: plans for which these are equal can run each other's jobs.

        Another query that reads the same rows changes the plan, and not this.
        """
        return (self.name, self.kept, self.produced, self.filter, self.keys)

    def looks_up(self, changed: Sequence[bool]) -> Sequence[bool]:
        """Of each input, whether its rows before a batch are looked up, given which inputs change in it."""
        return [True] * len(changed)

    def over(self, columns: Collection[str]) -> Self:
        """The plan for rows that are stored with these columns already: it computes no column that they lack."""
        return self

    def count_position(self, nodes: tuple[NodeId, ...]) -> int:
        """Where ``Delta.counts`` has the number of rows that belong to all of these nodes."""
        if len(nodes) == 1:
            return self.bits[nodes[0]]
        return self._combinations[frozenset(self.bits[node] for node in nodes)]

    @cached_property
    def _combinations(self) -> Mapping[LineageBits, int]:
        """The sets of several bits that are read, and where ``Delta.counts`` has them."""
        several = (bits for bits in sorted(self.kept_for, key=sorted) if len(bits) > 1)
        return {bits: place for place, bits in enumerate(several, start=WORD_BITS * self.layout.words)}

    def covers(self, other: TreePlan) -> bool:
        """Whether a tree that runs by this plan has all rows and columns that another plan asks for."""
        return other.bits.items() <= self.bits.items() and self._provides(other, other.kept_for, frozenset())

    def has_rows_of(self, other: TreePlan) -> bool:
        """Whether a tree that runs by this plan has every row of its roots, and all that another plan reads of them.

        Then the other plan needs a filter over these rows, and nothing of what they were computed from.
        """
        every = all(self._keeps(frozenset([self.bits[root]]), None) for root in self.roots)
        return (
            every
            and set(self.roots) == set(other.roots)
            and all(other.bits[root] == self.bits[root] for root in self.roots)
            and self._provides(other, (), frozenset())
            and set(other.produced) <= set(self.stored)
        )

    def _provides(self, other: TreePlan, kept_for: Iterable[LineageBits], lacking: Set[str]) -> bool:
        """Whether rows are computed like the other's, are stored for these sets of bits, and have all other columns."""
        return (
            all(other.definitions.get(root, own) == own for root, own in self.definitions.items())
            and {*other.kept, *other.keys} - lacking <= set(self.stored)
            and all(self._keeps(bits, other.semijoined.get(bits)) for bits in kept_for)
        )

    def _keeps(self, required: LineageBits, semijoins: frozenset[Semijoin] | None) -> bool:
        """Whether all rows that have these bits are stored, or those that the semijoins find."""
        if any(bits <= required for bits in self.kept_for if bits not in self.semijoined):
            return True
        return semijoins is not None and semijoins <= self.semijoined.get(required, frozenset())


@dataclass(frozen=True, eq=False, kw_only=True)
class SourcePlan(BasePlan):
    """The rows of a stream that pass any of the selections on it."""

    stream: str

    @property
    def computes(self) -> tuple[object, ...]:
        """The fields that its jobs depend on."""
        return (*super().computes, self.stream)


@dataclass(frozen=True, eq=False, kw_only=True)
class JoinPlan(BasePlan):
    """The pairs of a join.

    Attributes:
        join: what is joined, and on which predicates.
        access_paths: how pairs are looked up; none where Spark compares all rows.
        semijoins: the nodes of which one pair a row is enough for all readers, and how that pair is found.
    """

    join: Join
    access_paths: tuple[AccessPath, ...]
    semijoins: Mapping[NodeId, frozenset[Semijoin]]

    @property
    def computes(self) -> tuple[object, ...]:
        """The fields that its jobs depend on."""
        return (*super().computes, self.join, self.access_paths, self.semijoins)

    def looks_up(self, changed: Sequence[bool]) -> Sequence[bool]:
        """Of each side, whether the changed rows of the other one are looked up in it."""
        return changed[::-1]

    @cached_property
    def semijoined(self) -> Mapping[LineageBits, frozenset[Semijoin]]:
        """The sets of ``kept_for`` of whose rows only some are stored, and by which semijoins these are found."""
        return {frozenset([self.bits[node]]): semijoins for node, semijoins in self.semijoins.items()}


@dataclass(frozen=True, eq=False, kw_only=True)
class AggregatePlan(BasePlan):
    """Aggregates, DISTINCT, and set operators except UNION ALL: every operator with a state for each group of rows.

    Attributes:
        grouped: what is stored for a group, and how its row follows.
        over_semijoin: roots that read a node of which only some pairs are stored. No reader uses statistics of theirs,
            which may be computed for fused operators and mean nothing here.
        outputs: expressions of answers that are computed as rows are written, by the name of their column. They are
            not asked for: where stored rows lack one, Spark computes it as an answer is read.
    """

    of_batch = True
    grouped: GroupedPlan
    over_semijoin: frozenset[NodeId]
    outputs: Mapping[str, Expression]

    @property
    def computes(self) -> tuple[object, ...]:
        """The fields that its jobs depend on."""
        return (*super().computes, self.grouped, self.outputs)

    def looks_up(self, changed: Sequence[bool]) -> Sequence[bool]:
        """Of each input, whether all rows of a group are read; statistics need those that change."""
        return [self.grouped.anew is not None] * len(changed)

    @property
    def computed(self) -> Mapping[str, Expression]:
        """Keys, and outputs."""
        return {**self.keys, **self.outputs}

    def over(self, columns: Collection[str]) -> Self:
        """The plan for rows that are stored with these columns already: it computes no column that they lack."""
        return replace(self, outputs={name: value for name, value in self.outputs.items() if name in columns})

    def missing_roots(self, other: AggregatePlan) -> tuple[NodeId, ...]:
        """The roots to add to a tree that runs by this plan, where nothing else is missing of what the other asks for.

        Columns by which only the new roots group are NULL in the rows of the others, and so are not missing.

        Returns:
            No roots where more is missing: then the tree must be computed anew.
        """
        new = tuple(root for root in other.roots if root not in self.trees)
        old = [root for root in other.roots if root in self.trees]
        known = {node: other.bits[node] for root in old for node in other.trees[root]}
        kept_for = [bits for bits in other.kept_for if bits <= set(known.values())]
        of_new = other.grouped.groups.keys() - other.grouped.groups_of(set(map(member, old)))
        return new if known == self.bits and self._provides(other, kept_for, of_new) else ()

    def only(self, roots: Collection[NodeId]) -> AggregatePlan:
        """The plan that computes the rows of some of the fused roots."""
        return replace(self, grouped=self.grouped.only({member(root) for root in roots}))

    def _provides(self, other: TreePlan, kept_for: Iterable[LineageBits], lacking: Set[str]) -> bool:
        return (
            isinstance(other, AggregatePlan)
            and super()._provides(other, kept_for, lacking)
            and self.over_semijoin.intersection(other.roots) <= other.over_semijoin
            and set(other.grouped.state_columns) - lacking <= set(self.grouped.state_columns)
            # A state without counted values has no key that tells rows of values from those of their groups.
            and (bool(other.grouped.counted) or not self.grouped.counted)
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class WindowPlan(BasePlan):
    """The rows of another tree that are in a window on event time."""

    window: Window

    @property
    def computes(self) -> tuple[object, ...]:
        """The fields that its jobs depend on."""
        return (*super().computes, self.window)


@dataclass(frozen=True, eq=False, kw_only=True)
class UnionPlan(BasePlan):
    """The rows of all branches of a UNION ALL."""

    union: SetOperation

    @property
    def computes(self) -> tuple[object, ...]:
        """The fields that its jobs depend on."""
        return (*super().computes, self.union)

    def looks_up(self, changed: Sequence[bool]) -> Sequence[bool]:
        """No input: what changes is handed on."""
        return [False] * len(changed)


@dataclass(frozen=True, eq=False, kw_only=True)
class AnalyticPlan(BasePlan):
    """Rows with values of analytic functions, or the first rows of an order."""

    of_batch = True
    node: Analytic

    @property
    def computes(self) -> tuple[object, ...]:
        """The fields that its jobs depend on."""
        return (*super().computes, self.node)

    @property
    def read(self) -> tuple[str, ...]:
        """The columns of the parent that its rows and the arguments of its functions are made of."""
        functions = self.node.by_name
        arguments = [a for name in self.produced if name in functions for a in functions[name].arguments]
        stored = materialized_parts(map(row_input, arguments))
        passed = [name for name in self.produced if name not in functions]
        ranges = [key.expression for key in self.node.direct_over.order if any(f.is_range for f in functions.values())]
        read = {*stored, *(column.name for e in (*arguments, *ranges) for column in columns(e))}
        return tuple(dict.fromkeys([*passed, *sorted(read)]))

    @property
    def first(self) -> tuple[str, int] | None:
        """The rank by which rows are kept, and how large it is at most; ``None``: all rows are."""
        for predicate in self.node.bound:
            (literal,) = predicate.literals
            assert isinstance(literal.left, Column) and isinstance(literal.right, Constant)
            less = literal.operator is Operator.LT
            return self.node.by_name[literal.left.name].function, int(str(literal.right.value)) - less
        return None


@dataclass(frozen=True, eq=False, kw_only=True)
class RecursionPlan(BasePlan):
    """The rows of a recursive query.

    Attributes:
        steps: how a step follows from the one before, and what is stored of it.
    """

    of_batch = True
    steps: RecursionSteps

    @property
    def computes(self) -> tuple[object, ...]:
        """The fields that its jobs depend on."""
        return (*super().computes, self.steps)


TreePlan = SourcePlan | JoinPlan | AggregatePlan | WindowPlan | UnionPlan | AnalyticPlan | RecursionPlan
"""The plan of one operator. Plans are compared by identity; whether jobs may be run again, by what they compute."""
