"""Window: the rows of its parent whose times are in its intervals, which move on as time passes.

    Δ(σ_w P)  =  σ_w′(ΔP)  +  (σ_w′ − σ_w)(P)          w, w′ = the window before and after the batch

In: change of the parent (a Z-set), and the relation of its rows before the batch, of which only those whose time enters
or leaves the window are read, by a sorted index. Out: change of the window's rows; a row that leaves has its weight
negated. A window is linear in the rows, so retractions of the parent come out right, as do rows that arrive late.

Source: PSoup 3.3; TelegraphCQ 4.1; thesis T3.2.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from workbench.engine.operators.operator_input import OperatorInput
from workbench.engine.operators.runner import Runner
from workbench.engine.physical.join_keys import key_column
from workbench.engine.physical.plans import WindowPlan
from workbench.engine.spark.arrow_tasks import ArrowBatches
from workbench.engine.spark.jobs import Job
from workbench.engine.storage.grouping import Positions
from workbench.engine.storage.indexes.sorted_index import TimeIntervals, rows_in_intervals, rows_within
from workbench.engine.storage.job_input import TaskInput
from workbench.engine.storage.layout import WEIGHT, conform
from workbench.engine.storage.scan import Scan
from workbench.engine.storage.segments import Segment, open_segment, read_share
from workbench.sql.predicates.cnf import PredSet
from workbench.sql.windows.bounds import NEVER, intervals, window_times
from workbench.sql.windows.stream_time import EventTimeVector


def window_job(runner: Runner, operator: OperatorInput, plan: WindowPlan) -> Job | None:
    """The job of the change of a window's rows: those that arrive in it, and those that time lets in or out.

    ``None`` where nothing changes.
    """
    (rows,), window = operator.parents, plan.window
    before, after = extent(window.within, operator.time_before), extent(window.within, operator.time)
    if not rows.changed_rows and before == after:
        return None
    job_input = runner.job_input(plan)
    job_input.set(operator.batch, operator.segments, [before, after])
    columns = [key_column(time) for time in window_times(window.within)]
    crossing = Crossing(Scan.of(rows.relation.layout, sorted(plan.produced), columns, rows.bit))

    def make() -> Job:
        return runner.task_job(lambda task: crossing.change(job_input.read(task)), 1, crossing.scan.ddl, plan)

    return runner.cached(plan, "rows", crossing, make)


def extent(window: PredSet, moment: EventTimeVector | None) -> TimeIntervals:
    """Where a window is at a moment; empty intervals when there is no moment."""
    if moment is None:
        return {key_column(time): NEVER for time in window_times(window)}
    return {key_column(time): interval for time, interval in intervals(window, moment).items()}


@dataclass(frozen=True)
class Crossing:
    """Finds the rows of a node that enter or leave a window; the keys of ``scan`` are the columns with times."""

    scan: Scan

    def change(self, task: TaskInput) -> ArrowBatches:
        """The rows that enter, with their weights, and those that leave, with their weights negated."""
        (parent,), (before, after) = task.inputs, task.extents
        for rows in read_share([(s.path, 0, s.rows) for s in parent.change], self.scan.input, task.limits):
            yield from self._signed(rows, rows_in_intervals(rows, after).astype(np.int64), task.batch)
        for segment in parent.before:
            for rows in _rows_between(segment, before, after, self.scan.input, task.limits.rows_handed_on):
                signs = rows_in_intervals(rows, after).astype(np.int64) - rows_in_intervals(rows, before)
                yield from self._signed(rows, signs, task.batch)

    def _signed(self, rows: pa.RecordBatch, signs: npt.NDArray[np.int64], batch: int) -> Iterator[pa.RecordBatch]:
        """The node's rows whose sign is not 0, with their weight times the sign."""
        crossing = np.flatnonzero(signs)
        at = crossing[self.scan.belong(rows, crossing)]
        if not len(at):
            return
        kept = rows.take(pa.array(at))
        weights = kept.column(WEIGHT).to_numpy(zero_copy_only=False) * signs[at]
        values = [kept.column(name) for name in self.scan.schema.names]
        marks = [pa.array(np.full(len(at), batch, dtype=np.int32)), pa.array(weights)]
        yield pa.RecordBatch.from_arrays([*values, *marks], names=self.scan.output.names)


def rows_in(segment: Segment, where: TimeIntervals, schema: pa.Schema, most: int) -> ArrowBatches:
    """The rows of a segment that are in a window, ``most`` at a time."""
    positions = min((rows_within(segment.path, name, [interval]) for name, interval in where.items()), key=len)
    for rows in _rows_at(segment, np.sort(positions), schema, most):
        yield rows.filter(pa.array(rows_in_intervals(rows, where))) if len(where) > 1 else rows


def _rows_between(
    segment: Segment, before: TimeIntervals, after: TimeIntervals, schema: pa.Schema, most: int
) -> ArrowBatches:
    """The rows of a segment with a time that enters or leaves its interval, and hardly any other row."""
    positions = [rows_within(segment.path, name, before[name].changes_to(after[name])) for name in after]
    yield from _rows_at(segment, np.unique(np.concatenate(positions)), schema, most)


def _rows_at(segment: Segment, at: Positions, schema: pa.Schema, most: int) -> ArrowBatches:
    """Some rows of a segment, by position, ``most`` at a time."""
    batch = open_segment(segment.path)
    batch = batch.select([name for name in schema.names if name in batch.schema.names])
    for first in range(0, len(at), most):
        yield conform(batch.take(pa.array(at[first : first + most])), schema)
