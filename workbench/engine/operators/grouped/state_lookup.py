"""Look-up of groups by key, so that an aggregate reads only what is stored for the groups that changed.

Groups are looked up by the hash of their key, and what is found is compared by value, so groups whose keys have the
same hash are told apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from workbench.arrow.types import Mask
from workbench.engine.spark.arrow_tasks import ArrowBatches
from workbench.engine.storage.grouping import Positions, not_distinct
from workbench.engine.storage.indexes.key_index import Hashes, Key, KeyRanges, candidates, key_hashes
from workbench.engine.storage.job_input import InputRows, JobInput
from workbench.engine.storage.layout import MEMBER
from workbench.engine.storage.scan import FusedScan, Scan
from workbench.engine.storage.segments import Segment, open_segment

ROWS_HANDED = 65_536
"""Rows that are handed to Spark at a time, about."""


@dataclass(frozen=True)
class KeyedLookup:
    """Finds the rows of groups.

    Attributes:
        groups: names of the key's columns among the groups, which have one row each; none where all rows are of one
            group, or of one for each fused operator.
        scan: what is read from the rows found; its keys match ``groups`` by position. A ``FusedScan`` finds for
            each group the rows that its operator reads.
    """

    groups: tuple[str, ...]
    scan: Scan | FusedScan

    def frame(self, spark: SparkSession, job_input: JobInput, position: int, tasks: int) -> DataFrame:
        """The rows, by a plan that can be kept: of the input at ``position`` the change has the groups."""
        return job_input.run(
            spark, tasks, lambda task: self.rows(task.inputs[position], task.task, tasks), self.scan.ddl
        )

    def rows(self, looked_up: InputRows, task: int = 0, tasks: int = 1) -> ArrowBatches:
        """One task's part of the rows, each once for each group it is in.

        Args:
            looked_up: ``change`` has the groups, ``before`` the rows among which they are looked up.
            task, tasks: the number of the task, from 0, and how many there are.
        """
        for segment in looked_up.change:
            yield from self.rows_of(open_segment(segment.path), looked_up.before, task, tasks)

    def rows_of(
        self, groups: pa.RecordBatch, segments: Iterable[Segment], task: int = 0, tasks: int = 1
    ) -> ArrowBatches:
        """One task's part of the rows of some groups."""
        for group, rows, at in self.pairs(groups, segments, task, tasks):
            match self.scan:
                case Scan() as scan:
                    yield scan.take(rows, at[scan.belong(rows, at)])
                case FusedScan() as scan:
                    members = groups.column(MEMBER).to_numpy(zero_copy_only=False)[group]
                    read = scan.belong(rows, at, members)
                    yield scan.take(rows, at[read], members[read])

    def pairs(
        self, groups: pa.RecordBatch, segments: Iterable[Segment], task: int = 0, tasks: int = 1
    ) -> Iterator[tuple[Positions, pa.RecordBatch, Positions]]:
        """One task's groups and their rows, pair by pair: positions among the groups, a segment, positions in it."""
        hashes = key_hashes([groups.column(name) for name in self.groups or (MEMBER,)], nulls=True)[0]
        mine = np.flatnonzero(hashes % np.uint64(tasks) == task)
        mine = mine[np.argsort(hashes[mine])]
        for segment in segments:
            rows = open_segment(segment.path)
            for asked, at in self._candidates(hashes[mine], segment):
                group = mine[asked]
                same = _same(groups, self.groups, group, rows, self.scan.key_columns, at)
                yield group[same], rows, at[same]

    def _candidates(self, hashes: Hashes, segment: Segment) -> Iterator[tuple[Positions, Positions]]:
        if self.groups:
            key = Key(self.scan.key_columns, nulls=True)
            yield from candidates(segment.path, key, KeyRanges.equal(hashes), ROWS_HANDED)
            return
        for group in range(len(hashes)):
            for first in range(0, segment.rows, ROWS_HANDED):
                at = np.arange(first, min(segment.rows, first + ROWS_HANDED))
                yield np.full(len(at), group), at


def _same(
    groups: pa.RecordBatch,
    names: Sequence[str],
    group: Positions,
    rows: pa.RecordBatch,
    key: Sequence[str],
    at: Positions,
) -> Mask:
    """Whether keys are equal as groups are, in all their columns."""
    same = np.ones(len(at), dtype=bool)
    for name, column in zip(names, key, strict=True):
        same &= not_distinct(groups.column(name).take(pa.array(group)), rows.column(column).take(pa.array(at)))
    return same
