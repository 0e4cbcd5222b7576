"""Source: the tree of a stream or table has the rows that arrived, filtered by the selections that stand on it.

In: change: the rows of a batch, with weight 1, or -1 where the stream takes a row back; hydration: all rows that
arrived. Out: change of the tree: these rows, through filter-and-write.

Rows that arrived are in segments, and the JVM would only pass them on. So it gets what it must evaluate and nothing
else: the columns that computed tests and keys read (late materialization; Abadi et al., Materialization strategies in
a column-oriented DBMS, ICDE 2007). Where it has nothing to evaluate, the driver filters few rows without a job.
"""

from __future__ import annotations

from workbench.engine.operators.filter_and_write import filter_and_write_job
from workbench.engine.operators.operator_input import Prepared
from workbench.engine.operators.runner import Runner, evaluated, needs_no_job
from workbench.engine.physical.plans import SourcePlan
from workbench.engine.spark.jobs import Job
from workbench.engine.storage.job_input import InputRows
from workbench.engine.storage.layout import Layout
from workbench.engine.storage.positions import PositionedRows
from workbench.engine.storage.segments import Run, read_share, shares


def source_change(
    runner: Runner, plan: SourcePlan, layout: Layout, arriving: Run, batch: int, here: bool = False
) -> Prepared:
    """The change of a source's tree by rows that arrive.

    Args:
        runner: runs plans.
        plan: the tree's.
        layout: how the rows of the stream are stored.
        arriving: their segments; all that ever arrived when the tree is hydrated.
        batch: the number of the batch.
        here: whether this process is to hydrate the tree (``Runner.is_small``).
    """
    number = sum(segment.rows for segment in arriving)
    if needs_no_job(plan) and (here or number <= runner.limits.rows_filtered_in_process):
        (share,) = shares(arriving, 1)
        return Prepared(None, runner.write_here(read_share(share, layout.arrow, runner.limits), plan))
    tasks = runner.tasks(number, here)
    rows = PositionedRows(runner.set_input(plan, batch, [InputRows(arriving)]), layout.arrow, tasks)
    job = runner.cached(plan, "rows", (layout, tasks), lambda: _job(runner, plan, layout, rows))
    return Prepared(job, small=runner.is_small(number, arriving))


def _job(runner: Runner, plan: SourcePlan, layout: Layout, rows: PositionedRows) -> Job:
    """The job that filters and writes the rows; it can be run again when others arrive."""
    write = runner.filter_and_write(plan)
    if not (expressions := evaluated(plan)):
        return runner.step_job(lambda task: write(rows.read(task)), rows.tasks, plan)
    operands = Layout({name: type_ for name, type_ in layout.columns.items() if name in plan.operands})
    frame = runner.evaluated(plan, rows, operands, expressions)
    return filter_and_write_job(frame, lambda batches: write(rows.whole(batches)))
