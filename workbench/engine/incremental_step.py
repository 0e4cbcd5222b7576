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
from workbench.engine.reports import Counts, OperatorReport
from workbench.engine.state import Held
from workbench.engine.storage.relation import NO_CHANGE, Delta
from workbench.engine.tree import Tree, TreePlan
from workbench.network.network import Network
from workbench.network.nodes import Source


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
        sources = {name: self.network.nodes[tree.plan.roots[0]] for name, tree in self.held.trees.items()}
        return {name for name, node in sources.items() if isinstance(node, Source) and node.stream in self.logged}

    def changes(self, tree: Tree, deltas: Mapping[str, Deltas]) -> Deltas:
        """The change of a tree, and of its state; ``deltas`` has those of the trees it reads."""
        node = self.network.nodes[tree.plan.roots[0]]
        if isinstance(node, Source):
            rows = self.logged.get(node.stream)
            if rows is None:
                return NO_CHANGE, NO_CHANGE
            return source_delta(self.runner, tree.plan, self.held.arrived[node.stream], rows, self.batch), NO_CHANGE
        inputs = tuple(
            rows_of(self.runner, self.held.trees[name], nodes, deltas[name][0]) for name, nodes in tree.plan.inputs
        )
        operator = OperatorInput(
            node,
            tree.plan,
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
    return OperatorReport(plan.roots[0], plan.nodes, delta.rows_in, delta.rows, seconds, node_rows)
