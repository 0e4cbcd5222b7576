"""The source operator: its tree has the rows that arrived and pass the selections directly above the stream or table.

In: change: the rows of a batch, with weight 1, or -1 where the stream takes a row back; hydration: all rows that
arrived. Out: change of the tree: these rows, through filter-and-write.

Where Spark has nothing to evaluate, the driver filters few rows without a job, and of many the tasks that log them
(``FirstDepth``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from workbench.engine.operators.filter_and_write import Answer, FilterAndWrite, delta_of
from workbench.engine.operators.operator_input import Prepared
from workbench.engine.operators.runner import Runner, needs_no_job
from workbench.engine.operators.side_steps import Work
from workbench.engine.physical.plans import SourcePlan, TreePlan
from workbench.engine.spark.arrow_tasks import ArrowBatches
from workbench.engine.spark.jobs import Job
from workbench.engine.storage.job_input import InputRows, TaskInput
from workbench.engine.storage.layout import BATCH, WEIGHT, Layout, only
from workbench.engine.storage.relation import Delta
from workbench.engine.storage.segments import Run, SegmentFields, read_share, segments_of, shares


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
    tasks, job_input = runner.tasks(number, here), runner.set_input(plan, batch, [InputRows(arriving)])
    schema = only(layout.arrow, [*plan.produced, BATCH, WEIGHT])

    def rows(task: int) -> ArrowBatches:
        told = job_input.read(task, tasks)
        yield from read_share(shares(told.inputs[0].change, tasks)[task], schema, told.limits)

    def make() -> Job:
        return runner.task_job(rows, tasks, layout.ddl(schema.names), plan)

    return Prepared(runner.cached(plan, "rows", (layout, tasks), make), small=runner.is_small(number, arriving))


@dataclass(frozen=True)
class FirstDepth:
    """The first operators' work that a task does with rows that it has just logged; these need no job then.

    Attributes:
        source: the filter of a source that reads the rows.
        exchanges: of the operators that read this source alone, and exchanged fragments in the last batch: what their
            tasks do for that, and how many inputs they have.
    """

    source: FilterAndWrite
    exchanges: Mapping[str, tuple[Work, int]]

    def answer(self, rows: ArrowBatches, task: TaskInput) -> dict[str, Any]:
        """The files that the task has written of a source's rows, as JSON."""
        answer = self.source.write(rows)
        change = InputRows(segments_of(answer.segments))
        exchanged = {
            name: work(TaskInput(task.batch, (change,) * inputs, limits=task.limits))
            for name, (work, inputs) in self.exchanges.items()
        }
        return {"change": vars(answer), "exchanged": exchanged}


def first_depth(runner: Runner, plans: Mapping[str, TreePlan], stream: str) -> tuple[FirstDepth, ...]:
    """The work of the tasks that log the rows of a stream.

    Args:
        runner: knows what operators exchange.
        plans: of the operators that run.
        stream: whose rows they log.
    """
    sources = [p for p in plans.values() if isinstance(p, SourcePlan) and p.stream == stream and needs_no_job(p)]
    known = runner.exchanges.items()
    reads = {name: [read for read, _ in plans[name].inputs] for name, _ in known if name in plans}
    return tuple(
        FirstDepth(
            runner.filter_and_write(source),
            {name: (work, len(reads[name])) for name, work in known if {*reads.get(name, ())} == {source.name}},
        )
        for source in sources
    )


@dataclass(frozen=True)
class FirstChanges:
    """What tasks have found of the network as they logged rows.

    Attributes:
        of_sources: the changes of sources.
        exchanged: the fragments of each part that each task has written, by the operators that exchange them.
    """

    of_sources: Mapping[str, Delta]
    exchanged: Mapping[str, list[list[list[SegmentFields]]]]

    @property
    def passing(self) -> set[str]:
        """The files of fragments."""
        parts = (part for answers in self.exchanged.values() for answer in answers for part in answer)
        return {segment.file for part in parts for segment in segments_of(part)}

    @staticmethod
    def of(answers: Iterable[Mapping[str, Any]]) -> FirstChanges:
        """From the answers of all ``FirstDepth``, in the order of their tasks."""
        changes, exchanged = dict[str, list[Answer]](), dict[str, list[Any]]()
        for each in answers:
            change = Answer(**each["change"])
            changes.setdefault(change.tree, []).append(change)
            for name, answer in each["exchanged"].items():
                exchanged.setdefault(name, []).append(answer)
        return FirstChanges({tree: delta_of(own) for tree, own in changes.items()}, exchanged)
