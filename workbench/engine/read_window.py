"""A window that is applied to a query's rows when its answer is read (PSoup-P: PSoup 3.3, 5).

Batch by batch only the rest of the query is evaluated. The rows in the window are found by their time; what each batch
changed follows from the batch that brought a row and from where the window was after every batch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame

from workbench.engine.operators.window import rows_in
from workbench.engine.spark.arrow_tasks import run_tasks
from workbench.engine.storage.indexes.sorted_index import TimeIntervals, rows_in_intervals
from workbench.engine.storage.layout import BATCH, WEIGHT, only
from workbench.engine.storage.relation import Relation, tasks_for
from workbench.engine.storage.segments import Segment, read_share

RecordBatches = Iterator[pa.RecordBatch]


def window_rows(relation: Relation, names: Sequence[str], where: TimeIntervals) -> DataFrame:
    """Some columns of a relation's rows that are in a window."""
    (schema, required), most = _schemas(relation, names, where), relation.jobs.limits.rows_handed_on

    def read(segment: Segment) -> RecordBatches:
        for rows in rows_in(segment, where, schema, most):
            yield rows.select(required)

    return _frame(relation, required, read)


def changes_within(
    relation: Relation, names: Sequence[str], extents: Sequence[tuple[int, TimeIntervals]], since: int | None
) -> DataFrame:
    """The changes of a window on a relation, batch by batch: rows with ``_batch`` and ``_weight``.

    Args:
        relation: rows that are never taken back.
        names: the columns required, ``_batch`` and ``_weight`` among them.
        extents: where the window was after some batches, in order; the first is the one at registration.
        since: give the changes of later batches only.
    """
    schema, required = _schemas(relation, names, extents[0][1])

    def read(segment: Segment) -> RecordBatches:
        for rows in read_share([(segment.path, 0, segment.rows)], schema):
            yield from (change.select(required) for change in crossing(rows, extents, since))

    return _frame(relation, required, read)


def crossing(rows: pa.RecordBatch, extents: Sequence[tuple[int, TimeIntervals]], since: int | None) -> RecordBatches:
    """The rows that enter or leave a window, batch by batch; the arguments are those of ``changes_within``."""
    first = max((i for i, (batch, _) in enumerate(extents) if since is not None and batch <= since), default=None)
    last_seen, later = (None, extents) if first is None else (extents[first], extents[first + 1 :])
    brought = rows.column(BATCH).to_numpy(zero_copy_only=False)
    before = np.zeros(rows.num_rows, dtype=bool)
    if last_seen is not None:
        before = rows_in_intervals(rows, last_seen[1]) & (brought <= last_seen[0])
    for batch, where in later:
        after = rows_in_intervals(rows, where) & (brought <= batch)
        for now, weight in ((after & ~before, 1), (before & ~after, -1)):
            if now.any():
                yield _as_change(rows.filter(pa.array(now)), batch, weight)
        before = after


def _as_change(rows: pa.RecordBatch, batch: int, weight: int) -> pa.RecordBatch:
    """Rows that enter a window (weight 1) or leave it (-1) in a batch."""
    batches = pa.array(np.full(rows.num_rows, batch, dtype=np.int32))
    marks = {BATCH: batches, WEIGHT: pc.multiply(rows.column(WEIGHT), weight)}
    values = [marks.get(name, rows.column(name)) for name in rows.schema.names]
    return pa.RecordBatch.from_arrays(values, names=rows.schema.names)


def _schemas(relation: Relation, names: Sequence[str], where: TimeIntervals) -> tuple[pa.Schema, list[str]]:
    """The columns to read, and those of them to return."""
    required = list(dict.fromkeys(names))
    return only(relation.layout.arrow, list(dict.fromkeys([*required, *where, BATCH, WEIGHT]))), required


def _frame(relation: Relation, names: Sequence[str], read: Callable[[Segment], RecordBatches]) -> DataFrame:
    """The scan of every segment; each task reads whole segments."""
    segments = relation.segments
    tasks = max(1, min(len(segments), tasks_for(relation.rows, relation.jobs)))

    def run(task: int) -> RecordBatches:
        for segment in segments[task::tasks]:
            yield from read(segment)

    return run_tasks(relation.jobs.session, tasks, run, relation.layout.ddl(names))
