"""Incremental windows: which rows enter and which leave as time passes (PSoup 3.3, TelegraphCQ 4.1; thesis T3.2).

    Δ(σ_w P)  =  σ_w′(ΔP)  +  (σ_w′ − σ_w)(P)          w, w′ = the window before and after the batch

A window is linear in the rows, so weights are carried along and retractions of the parent come out right, as do rows
that arrive late. Old rows are found by their time (``time_index``): a batch costs what enters and leaves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from workbench.engine.storage.relation import NO_CHANGE, Delta
from workbench.engine.physical.join_keys import key_column
from workbench.engine.spark.frames import one_row_a_task, tasks_of
from workbench.engine.storage.job_input import JobInput
from workbench.engine.operators.runner import Runner
from workbench.engine.operators.operator_input import OperatorInput
from workbench.engine.spark.arrow_tasks import settle_worker
from workbench.engine.storage.layout import WEIGHT, conform
from workbench.engine.storage.scan import Scan
from workbench.engine.storage.segments import HANDED_ON, Segment, open_segment, read_share
from workbench.engine.storage.sorted_index import times_inside, rows_within
from workbench.network.nodes import Window
from workbench.sql.predicates.cnf import PredSet
from workbench.sql.windows.bounds import NEVER, Interval, intervals, times
from workbench.sql.windows.stream_time import EventTimeVector
from workbench.streams.arrow_types import Mask, times_of

Extent = Mapping[str, Interval]
"""Where a window is at a moment: for every column with a time its interval."""


def extent(window: PredSet, moment: EventTimeVector | None) -> Extent:
    """Where a window is at a moment; nowhere when there is no moment."""
    if moment is None:
        return {key_column(time): NEVER for time in times(window)}
    return {key_column(time): interval for time, interval in intervals(window, moment).items()}


@dataclass(frozen=True)
class Crossing:
    """Finds the rows of a node that a window lets in and out in a batch; what they are says the note.

    Attributes:
        rows: what is read of the node; its keys are the columns with the times.
        note: has the batch, the parent's rows, and where the window was and is.
    """

    rows: Scan
    note: JobInput

    def frame(self, spark: SparkSession) -> DataFrame:
        """The change as a DataFrame that is made once and run in every batch."""
        crossing = self

        def changed(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            settle_worker()
            batch, (rows,) = crossing.note.read()
            before, after = crossing.note.extents()
            for _ in tasks_of(batches):
                yield from crossing.change(rows.change, rows.before, before, after, batch)

        return one_row_a_task(spark, 1).mapInArrow(changed, self.rows.spark)

    def change(
        self, change: Sequence[Segment], old: Sequence[Segment], before: Extent, after: Extent, batch: int
    ) -> Iterator[pa.RecordBatch]:
        """The rows that enter, with their weights, and those that leave, with these changed in sign."""
        for rows in read_share([(s.path, 0, s.rows) for s in change], self.rows.changed):
            yield from self._weighted(rows, within(rows, after).astype(np.int64), batch)
        for segment in old:
            for rows in rows_between(segment, before, after, self.rows.changed):
                signs = within(rows, after).astype(np.int64) - within(rows, before)
                yield from self._weighted(rows, signs, batch)

    def _weighted(self, rows: pa.RecordBatch, signs: npt.NDArray[np.int64], batch: int) -> Iterator[pa.RecordBatch]:
        crossing = np.flatnonzero(signs)
        at = crossing[self.rows.has(rows, crossing)]
        if not len(at):
            return
        kept = rows.take(pa.array(at))
        weights = kept.column(WEIGHT).to_numpy(zero_copy_only=False) * signs[at]
        values = [kept.column(name) for name in self.rows.schema.names]
        marks = [pa.array(np.full(len(at), batch, dtype=np.int32)), pa.array(weights)]
        yield pa.RecordBatch.from_arrays([*values, *marks], names=self.rows.found.names)


def window_delta(runner: Runner, work: OperatorInput, window: Window) -> Delta:
    """The change of a window's rows: those that arrive in it, and those that time lets in or out."""
    (rows,), plan = work.inputs, work.plan
    before = extent(window.within, None if work.tree is None else work.clock.after_batch(work.batch - 1))
    after = extent(window.within, work.clock.now)
    if not rows.changed_rows and before == after:
        return NO_CHANGE
    note = runner.note(plan)
    note.write(work.batch, work.notes, [before, after])
    columns = [key_column(time) for time in times(window.within)]
    crossing = Crossing(Scan.of(rows.relation.layout, sorted(plan.made), columns, rows.bit), note)

    def planned() -> DataFrame:
        view = runner.bind(plan, "crossing", crossing.frame(runner.spark))
        return runner.passing(f"SELECT * FROM {view}", plan)

    return runner.run(runner.prepared(plan, "rows", (plan, crossing), planned))


def within(rows: pa.RecordBatch, where: Extent) -> Mask:
    """Which rows are in a window."""
    kept = np.ones(rows.num_rows, dtype=bool)
    for column, interval in where.items():
        kept &= times_inside(*times_of(rows.column(column)), interval)
    return kept


def rows_between(segment: Segment, before: Extent, after: Extent, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """The rows of a segment some of whose times come into their interval or go out of it, and hardly any other."""
    found = [rows_within(segment.path, name, before[name].changes_to(after[name])) for name in after]
    yield from rows_at(segment, np.unique(np.concatenate(found)), schema)


def rows_in(segment: Segment, where: Extent, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """The rows of a segment that are in a window."""
    found = min((rows_within(segment.path, name, [interval]) for name, interval in where.items()), key=len)
    for rows in rows_at(segment, np.sort(found), schema):
        yield rows.filter(pa.array(within(rows, where))) if len(where) > 1 else rows


def rows_at(segment: Segment, at: npt.NDArray[np.int64], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Some rows of a segment, by position, some at a time."""
    names = [name for name in schema.names if name in open_segment(segment.path).schema.names]
    for first in range(0, len(at), HANDED_ON):
        some = open_segment(segment.path).select(names).take(pa.array(at[first : first + HANDED_ON]))
        yield conform(some, schema)
