"""Which operator evaluates which kind of node.

Every operator takes the changes of its parents (Z-sets) to the change of its tree: rows before the batch are looked up
by key or by time, and never read as a whole. Hydration is the same step with all rows of the parents as the change.
"""

from __future__ import annotations

from workbench.engine.operators.aggregate import aggregate_delta
from workbench.engine.operators.join import join_delta
from workbench.engine.operators.operator_input import OperatorInput
from workbench.engine.operators.runner import Runner
from workbench.engine.operators.union_all import union_delta
from workbench.engine.operators.window import window_delta
from workbench.engine.storage.relation import NO_CHANGE, Delta
from workbench.network.nodes import Join, SetOperation, Window


def evaluate(runner: Runner, operator: OperatorInput) -> tuple[Delta, Delta]:
    """The change of a tree's rows, and of its root's state."""
    match operator.node:
        case Join() as join:
            return join_delta(runner, operator, join), NO_CHANGE
        case Window() as window:
            return window_delta(runner, operator, window), NO_CHANGE
        case SetOperation() as union if operator.plan.grouped is None:
            return union_delta(runner, operator, union), NO_CHANGE
        case _:
            assert operator.plan.grouped is not None
            return aggregate_delta(runner, operator, operator.plan.grouped)
