"""The engine's state as one immutable value: what a commit stores, and what a failed step goes back to."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path

import pyarrow as pa

from workbench.engine.event_time import EventTimeClock
from workbench.engine.operators.grouped.fragments import merged_state, of_members
from workbench.engine.physical.plans import AggregatePlan, RecursionPlan, TreePlan
from workbench.engine.spark.jobs import JobRunner
from workbench.engine.storage.buckets import BucketKey
from workbench.engine.storage.layout import Layout
from workbench.engine.storage.relation import Delta, Merge, Relation, consolidate
from workbench.engine.storage.segments import Segment
from workbench.engine.tree import Tree
from workbench.network.nodes import Columns, NodeId
from workbench.sql.windows.stream_time import ROW

Deltas = tuple[Delta, Delta]
"""The change of a tree's rows, and of its state."""


@dataclass(frozen=True)
class EngineState:
    """All rows of an engine.

    Attributes:
        trees: what the operators of the network have stored, by their names.
        arrived: all rows that every stream has brought; hydration starts from them.
        clock: the event times after every batch.
    """

    trees: Mapping[str, Tree] = field(default_factory=dict)
    arrived: Mapping[str, Relation] = field(default_factory=dict)
    clock: EventTimeClock = field(default_factory=EventTimeClock)

    @cached_property
    def by_root(self) -> Mapping[NodeId, Tree]:
        """The tree that has a root's rows, by the root's id."""
        return {root: tree for tree in self.trees.values() for root in tree.plan.roots}

    @cached_property
    def files(self) -> frozenset[str]:
        """All files of the state. A file may have rows of several trees."""
        of_trees = (tree.files for tree in self.trees.values())
        return frozenset[str]().union(*of_trees, *(rows.files for rows in self.arrived.values()))

    @property
    def segments(self) -> Iterator[Segment]:
        """All stored segments."""
        for tree in self.trees.values():
            yield from tree.segments
        for rows in self.arrived.values():
            yield from rows.segments

    def files_beyond(self, other: EngineState) -> frozenset[str]:
        """The files that are in this state and not in the other."""
        return self.files - other.files


def empty_stream(jobs: JobRunner, columns: Columns, folder: Path) -> Relation:
    """A stream without rows. Its rows are stored with their numbers, from 1."""
    return Relation(jobs, Layout({**columns, ROW.name: ROW.type}), folder)


def empty_tree(jobs: JobRunner, plan: TreePlan, folder: Path) -> Tree:
    """A tree without rows."""
    merge = None if plan.monotone else Merge("rows", partial(_consolidated, plan), tuple(plan.stored))
    state: Relation | None = None
    if isinstance(plan, AggregatePlan):
        layout, grouped = Layout(plan.grouped.state_columns), plan.grouped
        merge_state = Merge("state", partial(merged_state, grouped), tuple(grouped.keys), not grouped.counted)
        state = Relation(jobs, layout, folder, merge=merge_state, by=BucketKey(tuple(grouped.groups), of_groups=True))
    elif isinstance(plan, RecursionPlan):
        merge_state = Merge("state", _added_up, tuple(plan.steps.columns))
        state = Relation(jobs, Layout(plan.steps.state_columns), folder, merge=merge_state)
    return Tree(plan, Relation(jobs, plan.layout, folder, merge=merge, by=plan.looked_up_by), state)


def narrowed(tree: Tree, plan: TreePlan, batch: int) -> Tree:
    """A tree for other readers that need nothing it has not: columns without a reader go as runs are merged.

    Where the first query reads it, its changelog begins with this batch.
    """
    empty = empty_tree(tree.relation.jobs, plan, tree.relation.folder)
    other_roots = tree.plan.roots != plan.roots
    relation, state = tree.relation, tree.state
    if other_roots or relation.layout != empty.relation.layout:
        relation = replace(relation, layout=plan.layout, merge=empty.relation.merge)
    if relation.by != plan.looked_up_by:
        relation = replace(relation, by=plan.looked_up_by)
    if state is not None and empty.state is not None and (other_roots or state.layout != empty.state.layout):
        state = replace(state, layout=empty.state.layout, merge=empty.state.merge, by=empty.state.by)
    extensible = tree.extensible and tree.plan.bits.keys() == plan.bits.keys()
    log = tree.log_for(plan, batch)
    return replace(tree, plan=plan, relation=relation, state=state, log=log, extensible=extensible)


def unknown_files(folder: Path, known: Collection[str]) -> list[str]:
    """The segments below a folder that are not among those known, of any writer."""
    return [str(file) for file in folder.rglob("*.arrow") if str(file) not in known]


def _added_up(rows: pa.RecordBatch, whole: bool) -> pa.RecordBatch:
    """Counts of rows by step, each step of a row once."""
    return consolidate(rows)


def _consolidated(plan: TreePlan, rows: pa.RecordBatch, whole: bool) -> pa.RecordBatch:
    """Some of a tree's rows without those that cancel each other, and without those of roots that have left."""
    return consolidate(of_members(plan.grouped, rows) if isinstance(plan, AggregatePlan) else rows)
