"""Making trees from data that has arrived: new ones, old ones anew, and families that somebody joins (PSoup 3).

A new query's answer over old data is a change of nothing, so the operators that run in every batch compute it too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from workbench.engine.operators.evaluate import evaluate
from workbench.engine.operators.operator_input import OperatorInput, ParentRows
from workbench.engine.operators.runner import Runner
from workbench.engine.operators.source import hydrate_source
from workbench.engine.physical.plans import AggregatePlan, SourcePlan, TreePlan
from workbench.engine.state import Held, empty_tree
from workbench.engine.storage.changelog import ChangelogEntry, remap_changelog
from workbench.engine.storage.relation import NO_CHANGE, Delta
from workbench.engine.tree import Tree
from workbench.network.network import Network
from workbench.network.nodes import NodeId

Deltas = tuple[Delta, Delta]
"""The change of a tree's rows, and of its state."""


@dataclass(frozen=True)
class Making:
    """Makes the trees of a network.

    Attributes:
        runner: runs plans.
        held: what there is so far.
        network: what is to run.
        batch: the last batch that was run; 0 after the history alone.
    """

    runner: Runner
    held: Held
    network: Network
    batch: int

    def made(self, plan: TreePlan, trees: Mapping[str, Tree], old: Tree | None) -> Tree:
        """A tree computed from all data so far.

        Args:
            plan: the tree's.
            trees: those it reads.
            old: the one that it replaces, if any.
        """
        folder = self.runner.folder(plan.name)
        left = None if old is not None else self._left_by(plan)
        before: tuple[ChangelogEntry, ...] = ()
        if (told := old or left) is not None:
            before = _log_of(told, plan, folder)
        delta, state_delta = self._from_nothing(plan, trees, told)
        empty = empty_tree(self.runner.spark, plan, folder)
        state = empty.state.append(state_delta) if empty.state is not None else None
        # The log goes on for queries that were there; one registered now starts from the rows as they are now.
        log = (*before, ChangelogEntry(self.batch, delta, whole=True)) if plan.has_changelog else ()
        return replace(empty, relation=empty.relation.append(delta), state=state, log=log, extensible=True)

    def _left_by(self, plan: TreePlan) -> Tree | None:
        """The tree in which a family's roots ran before, if they have left it together."""
        return next(filter(None, map(self.held.by_root.get, plan.roots)), None)

    def extended(self, plan: TreePlan, trees: Mapping[str, Tree], old: Tree, added: AggregatePlan) -> Tree:
        """A family with the rows of roots that join it; those of the others stay as they are."""
        empty = empty_tree(self.runner.spark, plan, self.runner.folder(plan.name))
        delta, state_delta = self._from_nothing(added, trees, None)
        relation = replace(empty.relation, runs=old.relation.runs)
        state = replace(empty.state, runs=old.state.runs) if empty.state and old.state else None
        wider = replace(old, plan=plan, relation=relation, state=state, log=old.log_for(plan, self.batch))
        return wider.grown(delta, state_delta, self.batch)

    def _from_nothing(self, plan: TreePlan, trees: Mapping[str, Tree], told: Tree | None) -> Deltas:
        """All rows of a tree, and all of its state, as changes of nothing."""
        if isinstance(plan, SourcePlan):
            return hydrate_source(self.runner, plan, self.held.arrived[plan.stream]), NO_CHANGE
        inputs = tuple(rows_of(self.runner, trees[n], nodes, NO_CHANGE, hydrating=True) for n, nodes in plan.inputs)
        emitted = None if told is None else told.relation
        return evaluate(self.runner, OperatorInput(plan, inputs, self.batch, self.held.clock.now, emitted=emitted))


def _log_of(old: Tree, plan: TreePlan, folder: Path) -> tuple[ChangelogEntry, ...]:
    """The changelog of a tree that another one replaces; its lineage is remapped where queries read other bits now."""
    read = old.plan.query_reads.items()
    if old.plan.name == plan.name and all(plan.query_reads.get(node, bits) == bits for node, bits in read):
        return old.log
    # Rows that no query reads are left out: a join that tests more than it did has rows in its log that are not its
    # rows any more.
    remapping = [(bits, plan.query_reads[node]) for node, bits in read if node in plan.query_reads]
    return remap_changelog(old.log, remapping, plan.layout.words, folder)


def rows_of(runner: Runner, tree: Tree, nodes: Iterable[NodeId], delta: Delta, hydrating: bool = False) -> ParentRows:
    """What an operator sees of some nodes of a tree."""
    bits = tuple(dict.fromkeys(tree.plan.bits[node] for node in nodes))
    return ParentRows(runner.views, tree.plan.name, tree.relation, delta, bits, hydrating)
