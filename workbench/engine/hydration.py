"""Hydration: the trees of a changed network, computed from all data so far (PSoup 3).

A new query's answer over old data is a change of nothing, so the operators that run in every batch compute it too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

from workbench.engine.merging import merge_due
from workbench.engine.operators.evaluate import evaluate_operator, hydrated
from workbench.engine.operators.operator_input import OperatorInput
from workbench.engine.operators.runner import Runner
from workbench.engine.operators.source import source_change
from workbench.engine.physical.array_places import array_places
from workbench.engine.physical.plans import AggregatePlan, JoinPlan, SourcePlan, TreePlan
from workbench.engine.physical.retention import Bounds
from workbench.engine.schedule import Meter
from workbench.engine.spark.failures import translate_errors
from workbench.engine.spark.side_by_side import run_in_order
from workbench.engine.state import Deltas, EngineState, empty_tree, narrowed
from workbench.engine.storage.changelog import (
    Changelog,
    ChangelogEntry,
    remap_changelog,
    taken_back,
    with_difference,
)
from workbench.engine.storage.relation import Relation
from workbench.engine.tree import Tree
from workbench.network.nodes import NodeId

_BYTES_OF_ELEMENT = 2
"""Bytes that an element of an array takes in a compressed file at least, about."""


@dataclass(frozen=True)
class Hydration:
    """Brings the trees of an engine to the plans of a changed network.

    Attributes:
        runner: runs Spark plans.
        state: before.
        plans: of the operators of the new network, parents first.
        bounds: the rows of every tree that will still be read, or looked up.
        batch: the last batch that was run; 0 after the history alone.
        may_stay_suspended: operators that may, since only suspended queries read them.
        trees: those that are done.
    """

    runner: Runner
    state: EngineState
    plans: Mapping[str, TreePlan]
    bounds: Bounds
    batch: int
    may_stay_suspended: frozenset[str] = frozenset()
    trees: dict[str, Tree] = field(default_factory=dict)

    def hydrate_all(self, threads: Executor, meter: Meter) -> dict[str, Tree]:
        """The trees of all plans.

        Args:
            threads: hydrate several operators at a time.
            meter: counts the operators that are done.
        """
        parents = {name: [read for read, _ in plan.inputs] for name, plan in self.plans.items()}
        self.runner.doing = f"hydration after batch {self.batch}"
        with meter.counting(self.batch, self.plans.keys() - self._kept.keys()):
            run_in_order(parents, lambda name: self._bring(name, meter), threads)
        return {name: self.trees[name] for name in self.plans}

    @property
    def operators(self) -> list[tuple[NodeId, ...]]:
        """The operators that do not keep the trees that they have, the roots of each."""
        return [plan.roots for name, plan in self.plans.items() if name not in self._kept]

    @property
    def rows_read(self) -> int:
        """Count the stored rows that the operators are hydrated from, without rows of one operator that another reads,
        and about how many rows EXPLODE makes of them.
        """
        plans = {name: plan for name, plan in self.plans.items() if name not in self._kept}
        read = {one for plan in plans.values() for one, _ in plan.inputs}
        streams = {plan.stream for plan in plans.values() if isinstance(plan, SourcePlan)}
        of_trees = sum(tree.relation.rows for name, tree in self._kept.items() if name in read)
        return of_trees + sum(self.state.arrived[stream].rows for stream in streams) + self._exploded(plans.values())

    def _exploded(self, plans: Iterable[TreePlan]) -> int:
        """About how many rows joins with places make of arrays that are stored, by the bytes of these."""
        stored = 0
        for plan in plans:
            places = array_places(plan.join.tested) if isinstance(plan, JoinPlan) else None
            tree = None if places is None else self._kept.get(plan.inputs[places.side][0])
            stored += 0 if tree is None else sum(segment.bytes for segment in tree.relation.segments)
        return stored // _BYTES_OF_ELEMENT

    @cached_property
    def _kept(self) -> Mapping[str, Tree]:
        """The trees that have all rows and columns that their new plans ask for."""
        kept, hydrating, going = dict[str, Tree](), set[str](), set[str]()
        for name, plan in reversed([*self.plans.items()]):
            old, reads = self.state.trees.get(name), {read for read, _ in plan.inputs}
            # What is computed now is computed from all rows of its parents, also those that are not looked up again.
            needed = self.bounds.required if name in hydrating else self.bounds.stored
            covers = old is not None and old.plan.covers(plan) and old.has(needed.get(name, ()))
            # And from parents as they are now.
            goes = name in going or not covers or name not in self.may_stay_suspended
            going |= reads if goes else set()
            if old is not None and covers and (old.suspended_at is None or not goes):
                kept[name] = old
            else:
                hydrating |= reads
        return kept

    def _bring(self, name: str, meter: Meter) -> None:
        """One tree, when those it reads are done: kept, extended by fused roots, or computed from its parents."""
        plan, old, bounds = self.plans[name], self.state.trees.get(name), self.bounds.required.get(name)
        if name in self._kept:
            kept = self._kept[name]
            self.trees[name] = narrowed(kept, plan.over(kept.plan.stored), self.batch)
            return
        with translate_errors(f"initialize node {plan.roots[0]}"):
            # Rows of an earlier batch are no part of what is computed now.
            tree = self._from_stored_rows(plan, old) if old is not None and old.suspended_at is None else None
            tree = tree or self._computed(plan, old)
        # What was computed from parents without their expired rows has only the rows within the bounds, too.
        whole = tree.bounds is None and all(self.trees[read].bounds is None for read, _ in plan.inputs)
        self.trees[name] = tree if whole or not bounds else replace(tree, bounds=tuple(bounds))
        meter.count(name)

    def _from_stored_rows(self, plan: TreePlan, old: Tree) -> Tree | None:
        """Make a tree from its stored rows, filtered again or extended; ``None`` where it must be computed."""
        refiltered = plan.over(old.plan.stored)
        if (again := self._filtered_again(refiltered, old)) is not None:
            return again
        bounds = self.bounds.required.get(plan.name, ())
        complete = old.has(b for b in bounds if b.bits <= set(old.plan.bits.values()))
        added = old.extended_by(refiltered) if complete else None
        return self._extended(refiltered, old, added) if added is not None else None

    def _filtered_again(self, plan: TreePlan, old: Tree) -> Tree | None:
        """Apply other selections to the rows that a tree has stored; ``None`` where it lacks something."""
        few = old.relation.rows <= self.runner.limits.rows_filtered_in_process
        there = few and old.has(self.bounds.required.get(plan.name, ())) and old.plan.has_rows_of(plan)
        known = old.plan.bits.keys() & plan.bits.keys()
        delta = self.runner.filtered_again(plan, old.relation, known) if there else None
        if delta is None:
            return None
        empty = empty_tree(self.runner.jobs, plan, self.runner.folder(plan.name))
        state = replace(empty.state, runs=old.state.runs) if empty.state and old.state else None
        whole = ChangelogEntry(self.batch, delta, whole=True)
        log = (*_changelog_for(plan, old, empty), whole) if plan.has_changelog else ()
        extensible = old.extensible and known == old.plan.bits.keys()
        relation = empty.relation.append(delta)
        return replace(old, plan=plan, relation=relation, state=state, log=log, extensible=extensible)

    def _computed(self, plan: TreePlan, old: Tree | None) -> Tree:
        """A tree computed from all data so far; ``old`` is the one that it replaces, if any."""
        if old is None:
            # Fused roots may have left another operator together.
            old = next(filter(None, map(self.state.by_root.get, plan.roots)), None)
        empty = empty_tree(self.runner.jobs, plan, self.runner.folder(plan.name))
        retracts = old is not None and old.suspended_at is not None and old.plan.has_changelog and plan.has_changelog
        if old is not None and retracts:
            old = replace(old, log=(*old.log, taken_back(old.relation, self.batch)))
        log = () if old is None else _changelog_for(plan, old, empty)
        delta, state_delta = self._from_nothing(plan)
        if retracts:
            log = with_difference(log, delta, empty.relation)
        state = empty.state.append(state_delta) if empty.state is not None else None
        # The changelog goes on for queries that were there; one registered now starts from the rows as they are now.
        log = (*log, ChangelogEntry(self.batch, delta, whole=True)) if plan.has_changelog else ()
        return replace(empty, relation=empty.relation.append(delta), state=state, log=log, extensible=True)

    def _extended(self, plan: TreePlan, old: Tree, added: AggregatePlan) -> Tree:
        """A tree with the rows of new fused roots; rows of other roots get the columns that they lack."""
        empty = empty_tree(self.runner.jobs, plan, self.runner.folder(plan.name))
        delta, state_delta = self._from_nothing(added)
        relation = self._widened(empty.relation, old.relation)
        state = self._widened(empty.state, old.state) if empty.state and old.state else None
        wider = replace(old, relation=relation, state=state)
        wider = replace(wider, plan=plan, log=wider.log_for(plan, self.batch))
        return wider.grown(delta, state_delta, self.batch)

    def _widened(self, empty: Relation, old: Relation) -> Relation:
        """The rows of a relation in another layout; columns that they lack are NULL."""
        lacks_columns = not set(empty.layout.arrow.names) <= set(old.layout.arrow.names)
        if not lacks_columns or not old.runs:
            return replace(empty, runs=old.runs)
        # Rows of one group stay apart: to merge them takes as long as to compute them.
        rows = replace(empty, runs=old.runs, merge=None, lacks_columns=True)
        return replace(empty, runs=merge_due(self.runner, rows).runs)

    def _from_nothing(self, plan: TreePlan) -> Deltas:
        """All rows of a tree, and all of its state, as changes of nothing."""
        if isinstance(plan, SourcePlan):
            arrived = self.state.arrived[plan.stream]
            here = self.runner.is_small(arrived.rows, arrived.segments, hydrating=True)
            change = partial(source_change, self.runner, plan, arrived.layout, arrived.segments, self.batch)
            return hydrated(self.runner, plan, here, change)
        parents = tuple(self.trees[name].rows_of(nodes) for name, nodes in plan.inputs)
        return evaluate_operator(self.runner, OperatorInput(plan, parents, self.batch, self.state.clock.now))


def _changelog_for(plan: TreePlan, old: Tree, empty: Tree) -> Changelog:
    """The changelog of a tree that is replaced; its lineage is remapped where queries read other bits now."""
    read = old.plan.query_reads.items()
    if old.plan.name == plan.name and all(plan.query_reads.get(node, bits) == bits for node, bits in read):
        return old.log
    # Rows that no query reads are left out: a join that tests more than it did has rows in its changelog that are not
    # its rows any more.
    remapping = [(bits, plan.query_reads[node]) for node, bits in read if node in plan.query_reads]
    return remap_changelog(old.log, remapping, plan.layout.words, empty.relation.folder, empty.relation.jobs.limits)
