"""Logging the rows that arrive: they are numbered and written to segments before anything is computed from them.

Many rows that are in the files of the streams' logs are read, cast, numbered and written by tasks, which answer with
the segments and the largest values that the event-time clock needs. Such a task goes on with what it has written to the
first depth of the network, which so needs no job of its own (``FirstDepth``). Few rows, and those of a tail that are
in no file, are written by this process.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import reduce
from itertools import accumulate, chain, pairwise
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from workbench.engine.event_time import Brought, EventTimeClock, brought_by
from workbench.engine.operators.runner import Runner
from workbench.engine.operators.side_steps import SideStep, run_side_steps
from workbench.engine.operators.source import FirstChanges, FirstDepth, first_depth
from workbench.engine.physical.plans import TreePlan
from workbench.engine.spark.side_by_side import run_all
from workbench.engine.storage.job_input import TaskInput
from workbench.engine.storage.layout import BATCH, WEIGHT
from workbench.engine.storage.relation import Delta, Relation, tasks_for
from workbench.engine.storage.segments import (
    Run,
    SegmentWriter,
    bytes_of_rows,
    read_share,
    segment_fields,
    segments_of,
    shares,
)
from workbench.limits import LIMITS, Limits
from workbench.sql.windows.stream_time import ROW
from workbench.streams.arriving import (
    ArrivingRows,
    are_in_files,
    as_told,
    cut_at_multiples,
    on_time,
    told_of,
    without_rows,
)
from workbench.streams.log import StreamLog
from workbench.streams.row_groups import ROW_GROUP_ROWS


@dataclass(frozen=True)
class WriteArriving:
    """Writes rows of one stream, given by their positions, to segments, each row with its number in the stream.

    Attributes:
        log: how rows are read (``without_rows``).
        schema: of the rows that are written.
        folder: where.
        columns: whose largest values are to be known.
        first: what a task does with them of the first depth of the network.
    """

    log: StreamLog
    schema: pa.Schema
    folder: str
    columns: tuple[str, ...]
    first: tuple[FirstDepth, ...] = ()

    def __call__(self, task: TaskInput) -> dict[str, Any]:
        """The files that a task has written, and its event times for the clock."""
        told = task.given[task.task]
        run, brought = self.write(as_told(self.log, told).tables(), task.batch, told["before"], task.limits)
        largest = pa.RecordBatch.from_pylist([dict(brought.largest)]) if brought.largest else None
        (share,) = shares(run, 1)
        return {
            "segments": [*map(segment_fields, run)],
            "rows": brought.rows,
            "largest": "" if largest is None else b64encode(bytes_of_rows(largest)).decode(),
            "first": [each.answer(read_share(share, self.schema, task.limits), task) for each in self.first],
        }

    def write(
        self, tables: Iterable[pa.Table], batch: int, before: int, limits: Limits = LIMITS
    ) -> tuple[Run, Brought]:
        """Write rows that arrive.

        Args:
            tables: the rows, with their weights where the stream takes rows back.
            batch: that brings them.
            before: how many rows came before; these are numbered after those.
            limits: of what is written together.
        """
        writer, brought = SegmentWriter(self.folder, limits), Brought()
        for table in tables:
            rows, first = table.num_rows, before + brought.rows + 1
            brought = brought.and_then(brought_by(table, self.columns))
            table = table.append_column(ROW.name, pa.array(np.arange(first, first + rows)))
            table = table.append_column(BATCH, pa.repeat(pa.scalar(batch, pa.int32()), rows))
            if WEIGHT not in table.column_names:
                table = table.append_column(WEIGHT, pa.repeat(pa.scalar(1, pa.int64()), rows))
            for some in table.select(self.schema.names).cast(self.schema).to_batches():
                writer.add(some)
        return tuple(writer.close()), brought


@dataclass(frozen=True)
class Logged:
    """The rows of a batch, written.

    Attributes:
        rows: the change of each stream that brings some.
        brought: what the clock is told, by stream.
        first: what tasks have found of the network.
    """

    rows: Mapping[str, Delta]
    brought: Mapping[str, Brought]
    first: FirstChanges


def log_rows(
    runner: Runner,
    streams: Mapping[str, Relation],
    arriving: Mapping[str, ArrivingRows],
    batch: int,
    clock: EventTimeClock,
    threads: Executor,
    plans: Mapping[str, TreePlan] = MappingProxyType({}),
) -> Logged:
    """Write the rows of a batch.

    Args:
        runner: runs a job where they are many.
        streams: their rows before.
        arriving: the rows.
        batch: that brings them.
        clock: before the batch.
        threads: write many rows, of several streams at a time.
        plans: of the operators that run.
    """
    logging = {name: _Logging.of(streams[name], rows, batch, clock, name) for name, rows in arriving.items()}
    answers = _by_tasks(runner, [*logging.values()], plans)

    def log(name: str) -> tuple[Run, Brought]:
        return logging[name].log(answers.get(logging[name].owner))

    few = runner.limits.rows_stepped_in_process
    logged = run_all(logging, log, threads, lambda name: arriving[name].rows <= few)
    rows = {name: Delta(run) for name, (run, _) in logged.items() if run}
    brought = {name: of_rows for name, (_, of_rows) in logged.items()}
    of_tasks = chain.from_iterable(answers.values())
    first = FirstChanges.of(chain.from_iterable(answer["first"] for answer in of_tasks))
    runner.passing |= first.passing
    return Logged(rows, brought, first)


def _by_tasks(runner: Runner, logging: Sequence[_Logging], plans: Mapping[str, TreePlan]) -> dict[str, list[Any]]:
    """What tasks have written. Where the first depth fails they log alone: then each source is run, and named."""
    steps = {each.owner: step for each in logging if (step := each.by_tasks(runner, plans))}
    if not steps:
        return {}
    try:
        return run_side_steps(runner, steps, "log")
    except (PySparkException, Py4JError, OSError, pa.ArrowException):
        if not plans:
            raise
        return _by_tasks(runner, logging, {})


@dataclass(frozen=True)
class _Logging:
    """The rows of one stream that are to be written."""

    stream: str
    relation: Relation
    rows: ArrivingRows
    batch: int
    before: int
    work: WriteArriving

    @staticmethod
    def of(relation: Relation, rows: ArrivingRows, batch: int, clock: EventTimeClock, name: str) -> _Logging:
        how, columns = without_rows(rows.log), clock.columns_of(name)
        work = WriteArriving(how, relation.layout.arrow, str(relation.folder), columns)
        return _Logging(name, relation, rows, batch, clock.rows(name), work)

    @property
    def owner(self) -> str:
        """The name of the step that writes them."""
        return self.relation.folder.name

    def by_tasks(self, runner: Runner, plans: Mapping[str, TreePlan]) -> SideStep | None:
        """The step whose tasks write them, and begin with the network; ``None`` where this process writes them."""
        (part, *others), log = self.rows.parts or (range(0),), self.rows.log
        if others or not isinstance(part, range) or not are_in_files(log, part):
            return None
        if self.rows.rows <= runner.limits.rows_logged_in_process:
            return None
        shares = [*_shares(part, tasks_for(len(part), runner.jobs))]
        before = accumulate((on_time(log, share) for share in shares), initial=self.before)
        told = [{**told_of(log, share), "before": number} for share, number in zip(shares, before, strict=False)]
        work = replace(self.work, first=first_depth(runner, plans, self.stream))
        return SideStep(self.owner, work, TaskInput(self.batch, given=told), len(told))

    def log(self, answers: Sequence[Mapping[str, Any]] | None) -> tuple[Run, Brought]:
        """What tasks have written, or this process writes now."""
        if answers is None:
            return self.work.write(self.rows.tables(), self.batch, self.before, self.relation.jobs.limits)
        run = segments_of(chain.from_iterable(answer["segments"] for answer in answers))
        return run, reduce(Brought.and_then, map(_brought, answers), Brought())


def _shares(positions: range, tasks: int) -> Iterator[range]:
    """Positions in some parts of about equal size, which end where row groups do."""
    whole = [*cut_at_multiples(positions, ROW_GROUP_ROWS)]
    ends = [len(whole) * task // tasks for task in range(tasks + 1)]
    for first, end in pairwise(ends):
        if first < end:
            yield range(whole[first].start, whole[end - 1].stop)


def _brought(answer: Mapping[str, Any]) -> Brought:
    largest: dict[str, Any] = {}
    if answer["largest"]:
        (largest,) = pa.ipc.open_file(b64decode(answer["largest"])).get_batch(0).to_pylist()
    return Brought(answer["rows"], largest)
