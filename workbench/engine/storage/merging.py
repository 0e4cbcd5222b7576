"""Merging: the newest runs of a relation become one, in this process where they have few rows, and otherwise by tasks.

Tasks that merge rows of a key to fewer share the keys, by their hashes, and others the rows. The runs that are merged
were in the state before, so tasks can read them however the batch ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from workbench.engine.storage.indexes.key_index import key_hashes
from workbench.engine.storage.job_input import InputRows, TaskInput
from workbench.engine.storage.layout import Layout, conform
from workbench.engine.storage.relation import Merge, Relation
from workbench.engine.storage.segments import (
    SegmentFields,
    SegmentWriter,
    check_segments,
    open_segment,
    read_share,
    segment_fields,
    segments_of,
    shares,
)


@dataclass(frozen=True)
class MergeRuns:
    """The work of a task that merges its part of some runs: its input has them as a change, its answer what it wrote.

    Attributes:
        layout: of the rows that are written.
        folder: where.
        merge: of the relation.
        whole: whether these are all runs that there are.
    """

    layout: Layout
    folder: str
    merge: Merge | None
    whole: bool

    def __call__(self, task: TaskInput) -> list[SegmentFields]:
        """The segments that it has written."""
        writer = SegmentWriter(self.folder, task.limits)
        for rows in self._rows(task) if self.merge is None else [self._reduced(task, self.merge)]:
            writer.add(rows)
        return [*map(segment_fields, writer.close())]

    def _rows(self, task: TaskInput) -> Iterator[pa.RecordBatch]:
        share = shares(task.inputs[0].change, task.tasks)[task.task]
        paths = {path for path, _, _ in share}
        check_segments(segment for segment in task.inputs[0].change if segment.path in paths)
        return read_share(share, self.layout.arrow, task.limits)

    def _reduced(self, task: TaskInput, merge: Merge) -> pa.RecordBatch:
        check_segments(task.inputs[0].change)
        rows = [conform(open_segment(segment.path), self.layout.arrow) for segment in task.inputs[0].change]
        if task.tasks > 1:
            rows = [_of_task(each, merge.keys, task) for each in rows]
        return conform(merge.reduce(pa.concat_batches(rows), self.whole), self.layout.arrow)


def _of_task(rows: pa.RecordBatch, keys: tuple[str, ...], task: TaskInput) -> pa.RecordBatch:
    hashes, _ = key_hashes([rows.column(key) for key in keys], nulls=True)
    return rows.filter(pa.array(hashes % np.uint64(task.tasks) == task.task))


def merging_of(relation: Relation) -> MergeRuns:
    """The work of a task that merges the runs of a relation that are due."""
    whole = relation.due == len(relation.runs)
    return MergeRuns(relation.layout, str(relation.folder), relation.merge, whole)


def merged_here(relation: Relation) -> Relation:
    """A relation whose runs that are due are merged by this process."""
    task = TaskInput(0, (InputRows(relation.merging),), limits=relation.jobs.limits)
    return relation.with_merged(segments_of(merging_of(relation)(task)))
