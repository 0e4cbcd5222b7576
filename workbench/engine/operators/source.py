"""Source: the tree of a stream or table has the rows that arrived, filtered by the selections that stand on it.

In: relation of all rows that arrived (hydration), or change: the rows of a batch, with weight 1, or -1 where the stream
takes a row back. Out: change of the tree. The change of a batch is the batch, through filter-and-write.
"""

from __future__ import annotations

from workbench.engine.operators.runner import Runner
from workbench.engine.physical.plans import SourcePlan
from workbench.engine.spark.arrow_tasks import task_numbers
from workbench.engine.spark.jobs import Job
from workbench.engine.storage.frames import change_step
from workbench.engine.storage.job_input import InputRows
from workbench.engine.storage.relation import Delta, Relation, tasks_for
from workbench.engine.storage.scan import Scan


def hydrate_source(runner: Runner, plan: SourcePlan, arrived: Relation) -> Delta:
    """The rows of a source's tree, from all rows that its stream has brought."""
    view = runner.bind(plan, "arrived", arrived.dataframe)
    job = runner.sql_job(f"SELECT * FROM {view}", plan, tasks_for(arrived.rows, runner.spark))
    return runner.run([job])[plan.name]


def source_job(runner: Runner, plan: SourcePlan, arrived: Relation, delta: Delta, batch: int) -> Job:
    """The job of the change of a source's tree when rows arrive.

    Args:
        runner: runs plans.
        plan: the tree's.
        arrived: the rows of the stream before the batch.
        delta: the rows that arrive.
        batch: the number of the batch.
    """
    job_input = runner.write_input(plan, batch, [InputRows(delta.segments)])
    tasks = tasks_for(delta.rows, runner.spark)

    def make() -> Job:
        scan = Scan.of(arrived.layout, tuple(arrived.layout.columns), (), None)
        arriving = change_step(job_input, 0, scan, tasks)
        return runner.step_job(task_numbers(runner.spark, tasks), arriving, scan.ddl, plan)

    return runner.cached(plan, "rows", (plan, tasks), make)
