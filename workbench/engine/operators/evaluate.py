"""Operators: how the rows of a local tree's root change when its parents' rows do.

An operator is one SQL text over named views, run through the tree's shared pass. Those without an exchange are planned
once and run again in every batch (``runner``).
"""

from __future__ import annotations

from pyspark.sql import DataFrame

from workbench.engine.operators.aggregate import grouped_delta
from workbench.engine.storage.relation import NO_CHANGE, Delta
from workbench.engine.operators.join import join_delta
from workbench.engine.operators.union_all import union_delta
from workbench.engine.operators.window import window_delta
from workbench.engine.storage.frames import change_frame
from workbench.engine.storage.job_input import InputRows
from workbench.engine.operators.runner import Runner
from workbench.engine.operators.operator_input import OperatorInput
from workbench.engine.storage.relation import Relation, tasks_for
from workbench.engine.storage.scan import Scan
from workbench.engine.tree import TreePlan
from workbench.network.nodes import Join, SetOperation, Window


def evaluate(runner: Runner, work: OperatorInput) -> tuple[Delta, Delta]:
    """The change of a tree's rows and of its state."""
    match work.node:
        case Join() as join:
            return join_delta(runner, work, join), NO_CHANGE
        case Window() as window:
            return window_delta(runner, work, window), NO_CHANGE
        case SetOperation() as union if work.plan.grouped is None:
            return union_delta(runner, work, union), NO_CHANGE
        case _:
            assert work.plan.grouped is not None
            return grouped_delta(runner, work, work.plan.grouped)


def arrived(runner: Runner, plan: TreePlan, rows: Relation) -> Delta:
    """The rows of a source's tree, from all rows that its stream has brought."""
    view = runner.bind(plan, "arrived", rows.dataframe)
    return runner.passed(f"SELECT * FROM {view}", plan, tasks_for(rows.rows, runner.spark))


def arriving(runner: Runner, plan: TreePlan, rows: Relation, delta: Delta, batch: int) -> Delta:
    """The change of a source's tree when rows arrive; ``rows`` has those before."""
    note = runner.tell(plan, batch, [InputRows(delta.segments)])
    tasks = tasks_for(delta.rows, runner.spark)

    def planned() -> DataFrame:
        leaf = Scan.of(rows.layout, tuple(rows.layout.columns), (), None)
        view = runner.bind(plan, "arriving", change_frame(runner.spark, note, 0, leaf, tasks))
        return runner.passing(f"SELECT * FROM {view}", plan)

    return runner.run(runner.prepared(plan, "rows", (plan, tasks), planned))
