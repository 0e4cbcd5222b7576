"""The exchange: the fragments of a group come together in one task, by ranges of files.

Each task groups its share of the change, and writes the fragments by the buckets of their groups, one part for each
task that reads them. Such a task reads nothing of the state but its buckets. The driver gets names alone, and Spark has
nothing to plan: an exchange of its own is planned, and compiled, in each batch. One task reads all parts where the
fragments are few, and where there is one group: it has a row also over no rows. Of so few that no job is worth it the
driver is that task. So one task, too, that has logged the rows groups them, unless there are hardly fewer groups.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import chain

import pyarrow as pa

from workbench.engine.operators.grouped.recomputed import RecomputedGroups
from workbench.engine.operators.grouped.state_update import StateUpdate
from workbench.engine.operators.grouped.stored_fragments import StoredFragments
from workbench.engine.operators.operator_input import Exchange, OperatorInput, Prepared
from workbench.engine.operators.runner import Runner
from workbench.engine.operators.side_steps import SideStep
from workbench.engine.physical.plans import AggregatePlan
from workbench.engine.spark.arrow_tasks import ArrowBatches
from workbench.engine.spark.jobs import Job
from workbench.engine.storage.buckets import BUCKETS, EVERY_BUCKET, buckets_of_tasks, of_buckets
from workbench.engine.storage.indexes.key_index import row_buckets
from workbench.engine.storage.job_input import InputRows, JobInput, TaskInput
from workbench.engine.storage.relation import rows_stored, tasks_for
from workbench.engine.storage.segments import (
    Run,
    SegmentFields,
    SegmentWriter,
    files_of,
    open_segment,
    segment_fields,
    segments_of,
)

_FRAGMENTS = "fragments"
"""The role of the input that says where the fragments are."""


@dataclass(frozen=True)
class WriteFragments:
    """The work of a task that groups its share of a change.

    Attributes:
        made: the fragments.
        folder: where they are written.
        parts: the buckets of each.
    """

    made: StoredFragments
    folder: str
    parts: tuple[int, ...]

    def __call__(self, task: TaskInput) -> list[list[SegmentFields]]:
        """The segments of each part."""
        writers = [SegmentWriter(self.folder, task.limits, buckets) for buckets in self.parts]
        for fragments in self.made.of(task):
            if len(writers) == 1:
                writers[0].add(fragments)
                continue
            numbers = row_buckets(fragments, tuple(self.made.plan.groups))
            for buckets, writer in zip(self.parts, writers, strict=True):
                writer.add(fragments.filter(pa.array(of_buckets(numbers, buckets))))
        return [[*map(segment_fields, writer.close())] for writer in writers]


@dataclass(frozen=True)
class OverFragments:
    """A step over the fragments of a part, for the task of its number.

    Attributes:
        step: over all fragments of the groups of its buckets.
        job_input: has those of each part as an input, and is given the buckets of each.
    """

    step: StateUpdate | RecomputedGroups
    job_input: JobInput

    def __call__(self, task: int) -> ArrowBatches:
        """The rows that the step gives."""
        run = self.job_input.read().inputs[task].change
        step = replace(self.step, buckets=self.buckets(task))
        return step.of(open_segment(segment.path) for segment in run)

    def buckets(self, task: int) -> int:
        """The buckets with the groups of a task."""
        return int(self.job_input.read().given[task])


def exchange(
    runner: Runner,
    operator: OperatorInput,
    plan: AggregatePlan,
    made: StoredFragments,
    tasks: int,
    job: Callable[[JobInput, int], Job],
) -> Exchange:
    """The exchange of the fragments of a change.

    Args:
        runner: runs the tasks.
        operator: whose change it is.
        plan: of its tree.
        made: the fragments.
        tasks: how many group the change.
        job: what follows, from the input of the tasks that read the fragments, and how many these are.
    """
    of_parts = buckets_of_tasks(min(tasks, BUCKETS))

    def read(answers: list[list[list[SegmentFields]]]) -> Prepared:
        parts: list[Run] = [segments_of(chain.from_iterable(of_part)) for of_part in zip(*answers, strict=True)]
        every, buckets = tuple(chain.from_iterable(parts)), of_parts
        runner.passing |= files_of(every)
        if 2 * rows_stored(every) > operator.stored_changes:
            runner.hardly_grouped.add(plan.name)
        small, by_threads = (runner.is_small(rows_stored(every), every, by_threads=own) for own in (False, True))
        if small or not made.plan.groups or tasks_for(rows_stored(every), runner.jobs, operator.kept) == 1:
            parts, buckets = [every], (EVERY_BUCKET,)
        job_input = runner.job_input(plan, _FRAGMENTS)
        job_input.tell(TaskInput(operator.batch, tuple(map(InputRows, parts)), given=buckets))
        return Prepared(job(job_input, len(parts)), small=small, by_threads=by_threads)

    told = TaskInput(operator.batch, tuple(InputRows(rows.change) for rows in operator.segments))
    step = SideStep(plan.name, WriteFragments(made, str(runner.folder(plan.name)), of_parts), told, tasks)
    return Exchange(step, read)
