"""Bucketed rows: what a task writes of rows that others look up by key, a segment for each task that may read them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from workbench.engine.spark.jobs import JobRunner
from workbench.engine.storage.buckets import (
    BUCKETS,
    EVERY_BUCKET,
    BucketKey,
    buckets_of_tasks,
    each_bucket,
    heavy_buckets,
    of_buckets,
)
from workbench.engine.storage.indexes.key_index import row_buckets
from workbench.engine.storage.segments import SegmentWriter
from workbench.limits import Limits

_UNEVEN = 2
"""How many times the mean the largest part may be: few values of a key would leave some tasks without work."""


KeyReaders = tuple[BucketKey, int]
"""By which key other operators look rows up, and how many tasks may do so."""


def readers_of(key: BucketKey | None, jobs: JobRunner) -> KeyReaders | None:
    """The readers of the rows of a tree; ``None`` where they need no segments of their own."""
    if key is None or key.of_groups or not jobs.limits.bytes_in_buckets:
        return None
    return key, jobs.cores


class BucketedWriter(SegmentWriter):
    """Writes rows by their buckets where there are many, and together where there are few rows or few values of the
    key.

    Args:
        folder, limits: see ``SegmentWriter``.
        key: by which rows are looked up.
        tasks: how many may read them.
    """

    def __init__(self, folder: str, limits: Limits, key: BucketKey, tasks: int) -> None:
        super().__init__(folder, limits, by=key.number)
        self._key, self._sets = key, buckets_of_tasks(min(tasks, BUCKETS))
        self._least = len(self._sets) * limits.bytes_in_buckets

    def parts(self, batch: pa.RecordBatch) -> Iterator[tuple[pa.RecordBatch, int]]:
        """The rows of each task's buckets, and separately the rows of heavy buckets, which tasks share."""
        if len(self._sets) > 1 and batch.nbytes >= self._least:
            numbers = row_buckets(batch, self._key.columns)
            heavy = heavy_buckets(np.bincount(numbers, minlength=BUCKETS), len(self._sets))
            sets = [*(buckets & ~heavy for buckets in self._sets), *each_bucket(heavy)]
            own = [of_buckets(numbers, buckets) for buckets in sets]
            if max(map(np.count_nonzero, own[: len(self._sets)])) * len(self._sets) <= _UNEVEN * batch.num_rows:
                for rows, some in zip(own, sets, strict=True):
                    if rows.any():
                        yield batch.filter(pa.array(rows)), some
                return
        yield batch, EVERY_BUCKET
