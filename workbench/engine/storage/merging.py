"""Merging: the newest runs of a relation become one, in this process where they have few rows, and otherwise by tasks.

Tasks that merge rows of a key to fewer share the buckets or the keys, by their hashes, and others the rows. Segments
that have no bucket in common are merged apart, and so stay what one task reads. The runs that are merged were in the
state before, so tasks can read them however the batch ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import reduce
from itertools import chain
from operator import or_

import numpy as np
import pyarrow as pa

from workbench.arrow.types import Mask
from workbench.engine.storage.buckets import EVERY_BUCKET, BucketKey, buckets_of_tasks, each_bucket, of_buckets
from workbench.engine.storage.indexes.key_index import key_hashes, row_buckets
from workbench.engine.storage.job_input import InputRows, TaskInput
from workbench.engine.storage.layout import Layout, conform, one_batch
from workbench.engine.storage.relation import Merge, Relation
from workbench.engine.storage.segments import (
    Run,
    Segment,
    SegmentFields,
    SegmentWriter,
    check_segments,
    open_segment,
    read_share,
    segment_fields,
    segments_of,
    shares,
    that_may_have,
)
from workbench.files.mapped import MAPPED


@dataclass(frozen=True)
class MergeRuns:
    """The work of a task that merges its part of some runs; the runs are its input's change, and its answer names the
    files.

    Attributes:
        layout: of the rows that are written.
        folder: where.
        merge, by: of the relation.
        whole: whether these are all runs that there are.
    """

    layout: Layout
    folder: str
    merge: Merge | None
    by: BucketKey | None
    whole: bool

    def __call__(self, task: TaskInput) -> list[SegmentFields]:
        """The segments that it has written."""
        written = list[Segment]()
        for buckets, rows in self._parts(task):
            writer = SegmentWriter(self.folder, task.limits, buckets, 0 if self.by is None else self.by.number)
            for batch in rows:
                writer.add(batch)
            written += writer.close()
        return [*map(segment_fields, written)]

    def _parts(self, task: TaskInput) -> Iterator[tuple[int, Iterable[pa.RecordBatch]]]:
        """The batches to write, with the buckets of each."""
        if self.merge is None and (self.by is None or task.tasks == 1):
            yield self._buckets(task, task.inputs[0].change), self._rows(task)
            return
        buckets, rows = self._reduced(task)
        if task.tasks == 1 or self.by is None or rows.num_rows <= task.limits.rows_per_segment:
            yield buckets, [rows]
            return
        # Of many rows a segment has one bucket: where there are more tasks, or fewer, they read no others.
        numbers = row_buckets(rows, self.by.columns)
        for own in each_bucket(buckets):
            yield own, [rows.filter(pa.array(of_buckets(numbers, own)))]

    def _rows(self, task: TaskInput) -> Iterator[pa.RecordBatch]:
        share = shares(task.inputs[0].change, task.tasks)[task.task]
        paths = {path for path, _, _ in share}
        check_segments(segment for segment in task.inputs[0].change if segment.path in paths)
        return read_share(share, self.layout.arrow, task.limits)

    def _buckets(self, task: TaskInput, segments: Run) -> int:
        """The buckets of a task of which some segments may have rows."""
        if self.by is None:
            return EVERY_BUCKET
        may_have = reduce(or_, (segment.buckets_by(self.by.number) for segment in segments), 0)
        return buckets_of_tasks(task.tasks)[task.task] & may_have

    def _reduced(self, task: TaskInput) -> tuple[int, pa.RecordBatch]:
        """The rows of the task's part, and their buckets."""
        buckets = self._buckets(task, task.inputs[0].change)
        segments = (
            task.inputs[0].change if self.by is None else that_may_have(task.inputs[0].change, buckets, self.by.number)
        )
        rows = [conform(open_segment(segment.path), self.layout.arrow) for segment in segments]
        check_segments(segment for segment in segments if not MAPPED.wrote(segment.path))
        if task.tasks > 1:
            rows = [batch.filter(pa.array(self._of_task(batch, task))) for batch in rows]
        together = one_batch(rows or [conform(pa.RecordBatch.from_pydict({}), self.layout.arrow)])
        left = together if self.merge is None else self.merge.reduce(together, self.whole)
        return buckets, conform(left, self.layout.arrow)

    def _of_task(self, rows: pa.RecordBatch, task: TaskInput) -> Mask:
        if self.by is not None:
            return of_buckets(row_buckets(rows, self.by.columns), buckets_of_tasks(task.tasks)[task.task])
        assert self.merge is not None
        hashes, _ = key_hashes([rows.column(key) for key in self.merge.keys], nulls=True)
        return np.asarray(hashes % np.uint64(task.tasks) == task.task)


def merging_of(relation: Relation) -> MergeRuns:
    """The work of a task that merges the runs of a relation that are due."""
    whole = relation.due == len(relation.runs)
    return MergeRuns(relation.layout, str(relation.folder), relation.merge, relation.merged_by, whole)


@dataclass(frozen=True)
class MergeOfFew:
    """Merges the runs of a relation that are due, in one process.

    Attributes:
        merge: the work of a task.
        inputs: its inputs, one after the other.
    """

    merge: MergeRuns
    inputs: tuple[TaskInput, ...]

    def __call__(self) -> list[SegmentFields]:
        """The segments that it has written."""
        return [*chain.from_iterable(map(self.merge, self.inputs))]


def merge_of_few(relation: Relation) -> MergeOfFew:
    """The work of one process that merges the runs of a relation that are due."""
    limits = relation.jobs.limits
    inputs = tuple(TaskInput(0, (InputRows(run),), limits=limits) for run in relation.merging_apart)
    return MergeOfFew(merging_of(relation), inputs)


def merged_here(relation: Relation) -> Relation:
    """A relation whose runs that are due are merged by this process."""
    return relation.with_merged(segments_of(merge_of_few(relation)()))
