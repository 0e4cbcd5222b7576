"""Taking trees through a batch: what arrived, and what it changes in the trees that read it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from workbench.engine.event_time import Clock
from workbench.engine.hydration import Deltas, rows_of
from workbench.engine.operators.evaluate import evaluate
from workbench.engine.operators.operator_input import OperatorInput
from workbench.engine.operators.runner import Runner
from workbench.engine.operators.source import source_delta
from workbench.engine.physical.plans import SourcePlan, TreePlan
from workbench.engine.reports import Counts, OperatorReport
from workbench.engine.state import Held
from workbench.engine.storage.relation import NO_CHANGE, Delta
from workbench.engine.tree import Tree
from workbench.network.network import Network


@dataclass(frozen=True)
class Evaluating:
    """Evaluates the trees of a network for one batch.

    Attributes:
        runner: runs plans.
        held: what there was before it.
        network: what is to run.
        batch: its number.
        clock: what time it is after it.
        logged: the rows that arrived, by stream, as they were written down.
    """

    runner: Runner
    held: Held
    network: Network
    batch: int
    clock: Clock
    logged: Mapping[str, Delta]

    @property
    def first(self) -> set[str]:
        """The trees that take in the rows that arrived."""
        plans = (tree.plan for tree in self.held.trees.values())
        return {plan.name for plan in plans if isinstance(plan, SourcePlan) and plan.stream in self.logged}

    def changes(self, tree: Tree, deltas: Mapping[str, Deltas]) -> Deltas:
        """The change of a tree, and of its state; ``deltas`` has those of the trees it reads."""
        plan = tree.plan
        if isinstance(plan, SourcePlan):
            rows = self.logged.get(plan.stream)
            if rows is None:
                return NO_CHANGE, NO_CHANGE
            return source_delta(self.runner, plan, self.held.arrived[plan.stream], rows, self.batch), NO_CHANGE
        inputs = tuple(
            rows_of(self.runner, self.held.trees[name], nodes, deltas[name][0]) for name, nodes in plan.inputs
        )
        operator = OperatorInput(
            plan,
            inputs,
            self.batch,
            self.clock.now,
            self.clock.after_batch(self.batch - 1),
            tree.relation,
            tree.state,
        )
        return evaluate(self.runner, operator)


def report(plan: TreePlan, delta: Delta, seconds: float) -> OperatorReport:
    """What a tree did in a batch."""
    node_rows = Counts(plan.bits, delta.counts)
    return OperatorReport(plan.name, plan.nodes, delta.rows_in, delta.rows, seconds, node_rows)
