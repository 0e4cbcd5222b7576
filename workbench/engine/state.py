"""All rows an engine holds, as one immutable value: what a commit keeps and an undone step goes back to."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

from workbench.engine.event_time import Clock
from workbench.engine.operators.aggregate_sql import merged_state, of_members
from workbench.engine.physical.plans import AggregatePlan, TreePlan
from workbench.engine.storage.layout import Layout
from workbench.engine.storage.relation import Merge, Relation, consolidate
from workbench.engine.tree import Tree
from workbench.network.nodes import NodeId


@dataclass(frozen=True)
class Held:
    """The trees that compute a network, by name, all rows that every stream has brought, and how late it is."""

    trees: Mapping[str, Tree] = field(default_factory=dict)
    arrived: Mapping[str, Relation] = field(default_factory=dict)
    clock: Clock = field(default_factory=Clock)

    @cached_property
    def by_root(self) -> Mapping[NodeId, Tree]:
        """The tree that has a root's rows, by the root's id."""
        return {root: tree for tree in self.trees.values() for root in tree.plan.roots}

    @property
    def files(self) -> frozenset[str]:
        """All files that are needed."""
        return self.files_beyond(Held())

    def files_beyond(self, other: Held) -> frozenset[str]:
        """The files that are in this and not in the other. Trees of different names have no file in common."""
        files: set[str] = set()
        for root, tree in self.trees.items():
            if (old := other.trees.get(root)) is not tree:
                files |= tree.files - (old.files if old is not None else frozenset())
        for name, relation in self.arrived.items():
            if (before := other.arrived.get(name)) is not relation:
                files |= relation.files - (before.files if before is not None else frozenset())
        return frozenset(files)


def empty_tree(spark: SparkSession, plan: TreePlan, folder: Path) -> Tree:
    """A tree without rows."""
    fewer = None if plan.monotone else Merge("rows", partial(_fewer, plan))
    state: Relation | None = None
    if isinstance(plan, AggregatePlan):
        layout = Layout(plan.grouped.state_columns)
        state = Relation(spark, layout, folder, merge=Merge("state", partial(merged_state, plan.grouped)))
    return Tree(plan, Relation(spark, plan.layout, folder, merge=fewer), state)


def narrowed(tree: Tree, plan: TreePlan, batch: int) -> Tree:
    """A tree for fewer readers: what only others read is no longer kept, nor looked for where rows become fewer.

    Its changes are kept from this batch on, where a query reads it that is the first to do so.
    """
    empty = empty_tree(tree.relation.spark, plan, tree.relation.folder)
    left = tree.plan.roots != plan.roots
    relation, state = tree.relation, tree.state
    if left or relation.layout != empty.relation.layout:
        relation = replace(relation, layout=plan.layout, merge=empty.relation.merge)
    if state is not None and empty.state is not None and (left or state.layout != empty.state.layout):
        state = replace(state, layout=empty.state.layout, merge=empty.state.merge)
    same = tree.plan.bits.keys() == plan.bits.keys()
    kept = replace(tree, plan=plan, relation=relation, state=state, log=tree.log_for(plan, batch))
    return replace(kept, extensible=tree.extensible and same)


def unknown_files(folder: Path, known: Collection[str]) -> list[str]:
    """The segments below a folder that are not among those known, whoever wrote them."""
    return [str(file) for file in folder.rglob("*.arrow") if str(file) not in known]


def _fewer(plan: TreePlan, rows: DataFrame, whole: bool) -> DataFrame:
    """Rows that cancel each other are gone, also when they are a part of all, and those of who has left the family."""
    own = rows.where(of_members(plan.grouped)) if isinstance(plan, AggregatePlan) else rows
    return consolidate(own, plan.layout)
