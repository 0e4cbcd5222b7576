"""Which operator evaluates which kind of node.

Every operator takes the changes of its parents (Z-sets) to the change of its tree. Rows before the batch are looked up
by key or by time wherever there is one. Hydration is the same step with all rows of the parents as the change.
"""

from __future__ import annotations

from typing import assert_never

from workbench.engine.operators.aggregate import aggregate_delta
from workbench.engine.operators.join import join_delta
from workbench.engine.operators.operator_input import OperatorInput
from workbench.engine.operators.runner import Runner
from workbench.engine.operators.union_all import union_delta
from workbench.engine.operators.window import window_delta
from workbench.engine.physical.plans import AggregatePlan, JoinPlan, SourcePlan, UnionPlan, WindowPlan
from workbench.engine.storage.relation import NO_CHANGE, Delta


def evaluate(runner: Runner, operator: OperatorInput) -> tuple[Delta, Delta]:
    """The change of a tree's rows, and of its root's state."""
    match operator.plan:
        case JoinPlan() as plan:
            return join_delta(runner, operator, plan), NO_CHANGE
        case WindowPlan() as plan:
            return window_delta(runner, operator, plan), NO_CHANGE
        case UnionPlan() as plan:
            return union_delta(runner, operator, plan), NO_CHANGE
        case AggregatePlan() as plan:
            return aggregate_delta(runner, operator, plan)
        case SourcePlan():
            raise ValueError("a source has no parents: its rows arrive (operators.source)")
        case _:
            assert_never(operator.plan)
