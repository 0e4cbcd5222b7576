"""Operators: how the rows of a local tree's root change when its parents' rows do.

An operator is one SQL text over named views, run through the tree's shared pass. Those without an exchange are planned
once and run again in every batch (``runner``).
"""

from __future__ import annotations

from typing import assert_never

from pyspark.sql import DataFrame

from workbench.engine.operators.aggregate import grouped_delta
from workbench.engine.operators.filter_and_write import NO_CHANGE, Delta
from workbench.engine.operators.join import join_delta
from workbench.engine.operators.union_all import union_delta
from workbench.engine.operators.window import window_delta
from workbench.engine.physical.plans import AggregatePlan, JoinPlan, SourcePlan, TreePlan, UnionPlan, WindowPlan
from workbench.engine.spark.frames import changed_frame
from workbench.engine.spark.job_input import Input
from workbench.engine.spark.runner import Runner, Work
from workbench.engine.storage.relation import Relation, tasks_for
from workbench.engine.storage.scan import Leaf


def change(runner: Runner, work: Work) -> tuple[Delta, Delta]:
    """The change of a tree's rows and of its state."""
    match work.plan:
        case JoinPlan() as plan:
            return join_delta(runner, work, plan), NO_CHANGE
        case WindowPlan() as plan:
            return window_delta(runner, work, plan.window), NO_CHANGE
        case UnionPlan() as plan:
            return union_delta(runner, work, plan.union), NO_CHANGE
        case AggregatePlan() as plan:
            return grouped_delta(runner, work, plan.grouped)
        case SourcePlan():
            raise ValueError("a source has no inputs: its rows arrive")
        case _:
            assert_never(work.plan)


def arrived(runner: Runner, plan: TreePlan, rows: Relation) -> Delta:
    """The rows of a source's tree, from all rows that its stream has brought."""
    view = runner.bind(plan, "arrived", rows.dataframe)
    return runner.passed(f"SELECT * FROM {view}", plan, tasks_for(rows.rows, runner.spark))


def arriving(runner: Runner, plan: TreePlan, rows: Relation, delta: Delta, batch: int) -> Delta:
    """The change of a source's tree when rows arrive; ``rows`` has those before."""
    note = runner.tell(plan, batch, [Input(delta.segments)])
    tasks = tasks_for(delta.rows, runner.spark)

    def planned() -> DataFrame:
        leaf = Leaf.of(rows.layout, tuple(rows.layout.columns), (), None)
        view = runner.bind(plan, "arriving", changed_frame(runner.spark, note, 0, leaf, tasks))
        return runner.passing(f"SELECT * FROM {view}", plan)

    return runner.run(runner.prepared(plan, "rows", (plan, tasks), planned))
