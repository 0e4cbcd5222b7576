"""How often a row is there: the rows of a segment by the hash of all their columns, with sums of their weights.

An index of a segment has the hashes of its rows in order and, with each, the sum of the weights so far. So how often
the rows of a hash are there is a difference of two entries in each segment, also where rows were taken back. Runs are
looked at from the newest back, and for each row only until it is found: what older runs come to was a bag, too, which
has no row less than 0 times. Most rows that are taken back came lately, and older runs need no index.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from workbench.engine.storage.buckets import EVERY_BUCKET, BucketKey, buckets_of_tasks, of_buckets
from workbench.engine.storage.grouping import Positions
from workbench.engine.storage.indexes.key_index import Hashes, row_buckets, row_hashes
from workbench.engine.storage.indexes.sorted_index import index_columns
from workbench.engine.storage.job_input import TaskInput
from workbench.engine.storage.layout import WEIGHT
from workbench.engine.storage.segments import Segment, open_segment, that_may_have


@dataclass(frozen=True)
class UnknownRows:
    """The work of a task that looks for its part of the rows that a change takes back and that are not there.

    Its first input is the change, and each of the others has a run of the rows before, the oldest first. Where rows are
    in buckets, a task reads what may have rows of its own; where they are not, it has some of the rows' hashes, and
    reads all.

    Rows of one hash count as equal, so a collision may hide such a row, and never makes one up.

    Attributes:
        columns: of the rows.
        by: the key by which they are in buckets, if they are.
    """

    columns: tuple[str, ...]
    by: BucketKey | None = None

    def __call__(self, task: TaskInput) -> int:
        """How many it has found: 0 where the rows after the change are a bag."""
        rows, *runs = task.inputs
        own = EVERY_BUCKET if self.by is None else buckets_of_tasks(task.tasks)[task.task]
        change = that_may_have(rows.change, own, self._key)
        if not any((open_segment(segment.path).column(WEIGHT).to_numpy() < 0).any() for segment in change):
            return 0
        entries = [self._changed(segment, own) for segment in change]
        leaving = [of_rows[through < np.append(0, through[:-1])] for of_rows, through in entries]
        hashes = np.unique(np.concatenate(leaving))
        weights = sum((_weights(*entry, hashes) for entry in entries), start=np.zeros(len(hashes), np.int64))
        looked_at = weights < 0
        if self.by is None:
            looked_at &= hashes % np.uint64(task.tasks) == task.task
        asked, weights = hashes[looked_at], weights[looked_at]
        for run in reversed(runs):
            for segment in that_may_have(run.before, own, self._key):
                weights = weights + _weights(*_entries(segment, self.columns), asked)
            asked, weights = asked[weights < 0], weights[weights < 0]
            if not len(asked):
                break
        return int(-weights.sum())

    @property
    def _key(self) -> int:
        return 0 if self.by is None else self.by.number

    def _changed(self, segment: Segment, own: int) -> tuple[Hashes, Positions]:
        """The entries of the rows of a change that are of a task's buckets."""
        if self.by is None or not segment.buckets_by(self._key) & ~own:
            return _entries(segment, self.columns)
        rows = open_segment(segment.path)
        chosen = pa.array(of_buckets(row_buckets(rows, self.by.columns), own))
        return _entries_of(rows.filter(chosen), self.columns)


def _weights(hashes: Hashes, through: Positions, asked: Hashes) -> Positions:
    """The sum of the weights of each hash that is asked for."""
    sums = np.concatenate([np.zeros(1, dtype=np.int64), through])
    return np.asarray(sums[hashes.searchsorted(asked, side="right")] - sums[hashes.searchsorted(asked)])


def _entries(segment: Segment, columns: tuple[str, ...]) -> tuple[Hashes, Positions]:
    hashes, through = index_columns(
        segment.path, "\x00".join(("rows", *columns)), lambda: _entries_of(open_segment(segment.path), columns)
    )
    return hashes, through


def _entries_of(rows: pa.RecordBatch, columns: tuple[str, ...]) -> tuple[Hashes, Positions]:
    hashes, _ = row_hashes(rows, columns, nulls=True)
    order = np.argsort(hashes)
    return hashes[order], np.cumsum(rows.column(WEIGHT).to_numpy()[order])
