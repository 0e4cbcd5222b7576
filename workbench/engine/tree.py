"""A local tree as it runs: one relation with lineage for a root and its selections (T9.3, CACQ 3.2.6).

Roots that are siblings run as one tree (``siblings``); all others are alone.

A tree is immutable; a batch makes a grown one. Making one again, because a node joined it or somebody reads more of its
columns, computes its rows anew from its parents' relations.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from workbench.engine.physical.access_paths import Way
from workbench.engine.physical.aggregate_plan import GroupedPlan
from workbench.engine.physical.filter_plan import CompiledFilter
from workbench.engine.physical.fusion import member
from workbench.engine.physical.semijoin import Enough
from workbench.engine.storage.changelog import ChangelogEntry, append_change
from workbench.engine.storage.layout import Layout
from workbench.engine.storage.lineage import WORD_BITS
from workbench.engine.storage.relation import Delta, Relation
from workbench.engine.storage.retention import Expiration, RetentionBound
from workbench.network.nodes import NodeId, Read
from workbench.network.projection import Columns
from workbench.sql.algebra.expressions import Expression


@dataclass(frozen=True, eq=False)
class TreePlan:
    """What a tree must do, derived from the network: the same plan means the same rows.

    ``name``: what it is kept under; that of a root, mostly. ``trees``: the local trees that it runs, by their roots:
    one, or those of siblings. ``inputs``: for each input the name of the tree that is read, and what every root reads
    of it, in the order of the roots. ``made_of``: for each root what of its rows its id does not tell, since it may
    change (``computed``).
    """

    name: str
    trees: Mapping[NodeId, tuple[NodeId, ...]]
    inputs: tuple[tuple[str, tuple[NodeId, ...]], ...]
    made_of: Mapping[NodeId, str]
    bits: Mapping[NodeId, int]
    wanted: frozenset[frozenset[int]]
    """What rows are kept for: having all the bits of one of these sets."""
    kept: Columns
    made: Columns
    monotone: bool
    filter: CompiledFilter
    grouped: GroupedPlan | None
    keys: Mapping[str, Expression]
    """Computed keys by which the rows are looked up, by the name of their column."""
    asked: Mapping[Read, frozenset[int]]
    """What queries read of it, and the bits of the nodes where they find it."""
    ways: tuple[Way, ...] = ()
    """How the pairs of a join are found, if they are looked up."""
    enough: Mapping[NodeId, frozenset[Enough]] = field(default_factory=dict)
    """Nodes that have only so many of a join's pairs as their readers need, and these."""
    of_some: frozenset[NodeId] = frozenset()
    """Roots that read such a node: nobody reads their statistics, which may be kept for siblings and mean nothing."""

    def _keeps(self, wanted: frozenset[int], enough: frozenset[Enough] | None) -> bool:
        """Whether it keeps the rows that have all of some bits, or as many of them as are enough."""
        if any(mine <= wanted for mine in self.wanted if mine not in self.partial):
            return True
        return enough is not None and enough <= self.partial.get(wanted, frozenset())

    @cached_property
    def partial(self) -> Mapping[frozenset[int], frozenset[Enough]]:
        """What rows are kept for without being all there, and what there is."""
        return {frozenset([self.bits[node]]): enough for node, enough in self.enough.items()}

    @property
    def logged(self) -> bool:
        """Whether its changes are kept, batch by batch: a query may ask for them."""
        return bool(self.asked) and not self.monotone

    @property
    def layout(self) -> Layout:
        """How the tree's rows are stored."""
        return Layout(self.stored, words=len(self.filter.filter.always))

    @property
    def stored(self) -> Columns:
        """The columns of a row."""
        return {**self.kept, **{name: key.type for name, key in self.keys.items()}}

    def counted(self, nodes: tuple[NodeId, ...]) -> int:
        """Where a delta counts the rows that belong to all of these nodes: see ``Delta.counts``."""
        bits = frozenset(self.bits[node] for node in nodes)
        if len(bits) == 1:
            return next(iter(bits))
        combinations = [some for some in sorted(self.wanted, key=sorted) if len(some) > 1]
        return WORD_BITS * self.layout.words + combinations.index(bits)

    @property
    def roots(self) -> tuple[NodeId, ...]:
        """The roots whose rows it has."""
        return tuple(self.trees)

    @cached_property
    def nodes(self) -> tuple[NodeId, ...]:
        """All nodes whose rows it has, roots before their selections."""
        return tuple(node for nodes in self.trees.values() for node in nodes)

    def covers(self, other: TreePlan) -> bool:
        """Whether a tree that runs by this plan already has all the other plan asks for."""
        return other.bits.items() <= self.bits.items() and self._has(other, other.wanted)

    def lacks(self, other: TreePlan) -> tuple[NodeId, ...]:
        """The roots whose rows are all that a tree that runs by this plan lacks of what the other asks for, if any."""
        new = tuple(root for root in other.roots if root not in self.trees)
        known = {node: other.bits[node] for root in other.roots if root in self.trees for node in other.trees[root]}
        wanted = [some for some in other.wanted if some <= set(known.values())]
        return new if known == self.bits and self._has(other, wanted) else ()

    def only(self, roots: Collection[NodeId]) -> TreePlan:
        """The plan of the rows of some of a family's roots."""
        assert self.grouped is not None
        return replace(self, grouped=self.grouped.only({member(root) for root in roots}))

    def _has(self, other: TreePlan, wanted: Iterable[frozenset[int]]) -> bool:
        """Whether its rows are made like the other's, are kept for what is wanted, and have all columns."""
        return (
            all(other.made_of.get(root, how) == how for root, how in self.made_of.items())
            and self.of_some.intersection(other.roots) <= other.of_some
            and set(other.stored) <= set(self.stored)
            and all(self._keeps(some, other.partial.get(some)) for some in wanted)
            and (other.grouped is None or set(other.grouped.state_columns) <= set(self.grouped.state_columns))  # type: ignore[union-attr]
        )


@dataclass(frozen=True)
class Tree:
    """A running tree: its plan, its rows, the state of its root where it has one, and its log of changes.

    The log is kept where rows are retracted and a query reads them; where none are, the rows themselves, each with its
    batch, are the log. ``extensible``: no node has left since it was made, so no row has a bit that no node has.
    ``needed``: where rows that are past were freed, what was needed then and so is there.
    """

    plan: TreePlan
    relation: Relation
    state: Relation | None
    log: tuple[ChangelogEntry, ...] = ()
    extensible: bool = False
    needed: tuple[RetentionBound, ...] | None = None

    def grown(self, delta: Delta, state_delta: Delta, batch: int) -> Tree:
        """The tree after a batch."""
        if not delta.rows and not state_delta.rows:
            return self
        logged = self.plan.logged and delta.rows
        log = append_change(self.log, batch, delta, self.relation) if logged else self.log
        state = self.state.append(state_delta) if self.state is not None else None
        return replace(self, relation=self.relation.append(delta), state=state, log=log)

    def has(self, needs: Iterable[RetentionBound]) -> bool:
        """Whether all rows of these needs are there."""
        return self.needed is None or all(any(own.covers(need) for own in self.needed) for need in needs)

    def without_expired(self, expiration: Expiration, bounds: Sequence[RetentionBound]) -> Tree:
        """The tree without rows that no bound covers; without any bounds it stays as it is."""
        roots = self.plan.roots
        every_row = frozenset(self.plan.bits[root] for root in roots if len(roots) == 1)
        relation, state = expiration.free(self.plan.name, self.relation, self.state, bounds, every_row)
        if relation is self.relation and state is self.state:
            return self
        return replace(self, relation=relation, state=state, needed=tuple(bounds))

    def log_for(self, plan: TreePlan, batch: int) -> tuple[ChangelogEntry, ...]:
        """The log to go on with by another plan; it begins with all rows where nobody asked for changes before."""
        if not plan.logged:
            return ()
        return self.log if self.plan.logged else (ChangelogEntry(batch, Delta(self.relation.segments), whole=True),)

    @property
    def rows_kept(self) -> int:
        """Rows of its relation, and groups of its state."""
        return self.relation.rows + (self.state.rows if self.state is not None else 0)

    @property
    def files(self) -> frozenset[str]:
        """All files it still needs."""
        logged = {segment.path for entry in self.log for segment in entry.delta.segments}
        kept = self.relation.files if self.state is None else self.relation.files | self.state.files
        return kept | logged
