"""A running local tree: its plan, its rows with lineage (T9.3, CACQ 3.2.6), its state, and its changelog."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import is_

from workbench.engine.operators.operator_input import ParentRows
from workbench.engine.physical.plans import AggregatePlan, SourcePlan, TreePlan
from workbench.engine.storage.changelog import ChangelogEntry, append_change, changes_of, with_changes
from workbench.engine.storage.indexes.row_index import UnknownRows
from workbench.engine.storage.relation import NO_CHANGE, Delta, Relation, placed_run
from workbench.engine.storage.retention import ROWS, STATE, Expiration, Expiring, RetentionBound, expiring_parts
from workbench.engine.storage.segments import Segment, files_of
from workbench.network.nodes import NodeId


@dataclass(frozen=True)
class Tree:
    """The stored rows and state of an operator. Immutable: a batch gives a grown tree; a failed one changes nothing.

    Attributes:
        plan: what it computes.
        relation: its rows.
        state: for each group the merged parts, where the operator has a state.
        log: its changelog, where rows are retracted and a query reads them; where rows are never retracted, the rows
            themselves, each with its batch, are the changelog.
        extensible: whether no node has left since the rows were computed, so that no row has a bit of no node.
        bounds: where expired rows were removed, the retention bounds of the rows that are there; ``None``: all rows.
        suspended_at: the batch that its rows are of, where only suspended queries read it and later batches passed over
            it; ``None``: the last one.
    """

    plan: TreePlan
    relation: Relation
    state: Relation | None
    log: tuple[ChangelogEntry, ...] = ()
    extensible: bool = False
    bounds: tuple[RetentionBound, ...] | None = None
    suspended_at: int | None = None

    def extended_by(self, plan: TreePlan) -> AggregatePlan | None:
        """The plan of the fused roots to compute beside what is stored, where that is all that a plan asks for."""
        if not self.extensible or not isinstance(self.plan, AggregatePlan) or not isinstance(plan, AggregatePlan):
            return None
        new = self.plan.missing_roots(plan)
        return plan.only(new) if new else None

    def looked_up(self) -> Tree:
        """The tree, known to have rows that operators look up."""
        return self if self.relation.looked_up else replace(self, relation=replace(self.relation, looked_up=True))

    def grown(self, delta: Delta, state_delta: Delta, batch: int) -> Tree:
        """The tree after a batch."""
        if not delta.rows and not state_delta.rows:
            return self
        logged = self.plan.has_changelog and delta.rows
        log = append_change(self.log, batch, delta) if logged else self.log
        state = self.state.append(state_delta) if self.state is not None else None
        return replace(self, relation=self.relation.append(delta), state=state, log=log)

    @cached_property
    def due(self) -> dict[str, Relation]:
        """What of the tree has runs to be merged, by its role: rows, state, changes."""
        log = changes_of(self.log, self.relation) if self.log else None
        stores = {"rows": self.relation, "state": self.state, "log": log}
        return {role: relation for role, relation in stores.items() if relation is not None and relation.due}

    def with_merged(self, merged: Mapping[str, Relation]) -> Tree:
        """The tree with some of that merged."""
        return replace(
            self,
            relation=merged.get("rows", self.relation),
            state=merged.get("state", self.state),
            log=with_changes(self.log, merged["log"]) if "log" in merged else self.log,
        )

    @property
    def is_whole(self) -> bool:
        """Whether every row that the operator has emitted, and not taken back, is there."""
        return self.bounds is None and not isinstance(self.plan, SourcePlan)

    @property
    def unknown_rows(self) -> UnknownRows:
        """What looks for rows that a change takes back and that are not there."""
        return UnknownRows(tuple(self.plan.stored), self.relation.by)

    def suspend(self, batch: int) -> Tree:
        """The tree after a batch that has passed over it; ``batch``: the one before."""
        return self if self.suspended_at is not None else replace(self, suspended_at=batch)

    def rows_of(self, read: Iterable[tuple[NodeId, ...]], delta: Delta | None = None) -> ParentRows:
        """The rows that an operator's roots read: with a change, or all as the change of nothing.

        Args:
            read: for each root the nodes of this tree whose common rows it reads.
            delta: the tree's change in the batch; ``None`` while the operator is hydrated.
        """
        positions = tuple(dict.fromkeys(map(self.plan.count_position, read)))
        change = NO_CHANGE if delta is None else delta
        return ParentRows(self.relation, change, positions, hydrating=delta is None)

    def has(self, bounds: Iterable[RetentionBound]) -> bool:
        """Whether all rows within these bounds are there."""
        return self.bounds is None or all(any(own.covers(bound) for own in self.bounds) for bound in bounds)

    def without_expired(self, expiration: Expiration, bounds: Sequence[RetentionBound] | None) -> Tree:
        """The tree without rows that no bound covers; without bounds, all rows expire. ``None``: the tree does not
        change.
        """
        if bounds is None:
            return self
        relation, state = expiration.free(self.plan.name, self.relation, self.state, bounds, *self._expires_by)
        return self._with_left(relation, state, bounds)

    def expiring(self, bounds: Sequence[RetentionBound] | None) -> Expiring:
        """Its relations that may have rows that no bound covers."""
        return {} if bounds is None else expiring_parts(self.relation, self.state, bounds, *self._expires_by)

    def with_left(self, left: Mapping[str, Relation], bounds: Sequence[RetentionBound]) -> Tree:
        """The tree with what is left of its relations, by their roles, where rows that no bound covers were freed."""
        return self._with_left(left.get(ROWS, self.relation), left.get(STATE, self.state), bounds)

    def _with_left(self, relation: Relation, state: Relation | None, bounds: Sequence[RetentionBound]) -> Tree:
        if relation is self.relation and state is self.state:
            return self
        return replace(self, relation=relation, state=state, bounds=tuple(bounds))

    @property
    def _expires_by(self) -> tuple[frozenset[int], Sequence[str]]:
        """The bits that all rows have, and the columns of the state that say which group a row is of."""
        every_row = frozenset(self.plan.bits[root] for root in self.plan.roots if len(self.plan.roots) == 1)
        return every_row, (tuple(self.plan.grouped.keys) if isinstance(self.plan, AggregatePlan) else ())

    def placed(self, place: Callable[[Segment, str], Segment]) -> Tree:
        """The tree with its segments where ``place`` puts them; itself where they stay."""
        relation = self.relation.placed(place)
        state = None if self.state is None else self.state.placed(place)
        runs = [placed_run(entry.delta.segments, place, relation.folder) for entry in self.log]
        log = tuple(
            entry if run is entry.delta.segments else replace(entry, delta=replace(entry.delta, segments=run))
            for entry, run in zip(self.log, runs, strict=True)
        )
        same = relation is self.relation and state is self.state and all(map(is_, log, self.log))
        return self if same else replace(self, relation=relation, state=state, log=log)

    def log_for(self, plan: TreePlan, batch: int) -> tuple[ChangelogEntry, ...]:
        """The changelog to go on with by another plan; it begins with all rows where no query read the tree before."""
        if not plan.has_changelog:
            return ()
        return self.log if self.plan.has_changelog else (ChangelogEntry(batch, Delta(self.relation.segments), True),)

    @property
    def rows_kept(self) -> int:
        """Rows of its relation, and groups of its state."""
        return self.relation.rows + (self.state.rows if self.state is not None else 0)

    @property
    def segments(self) -> Iterator[Segment]:
        """All stored segments of the tree."""
        yield from self.relation.segments
        yield from () if self.state is None else self.state.segments
        for entry in self.log:
            yield from entry.delta.segments

    @cached_property
    def files(self) -> frozenset[str]:
        """The files that have rows of the tree."""
        of_state = () if self.state is None else self.state.files
        return self.relation.files.union(of_state, *(files_of(entry.delta.segments) for entry in self.log))
