"""The rows of some groups, found by key among all that piled up: what a grouped operator reads costs what changed.

Groups are looked up by the hash of their key, and what is found is compared with it, so groups whose keys have one hash
are told apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession

from workbench.engine.spark.frames import one_row_a_task, tasks_of
from workbench.engine.storage.job_input import InputRows, JobInput
from workbench.engine.spark.arrow_tasks import settle_worker
from workbench.engine.storage.key_index import Hashes, Key, KeyRanges, candidates, key_hashes
from workbench.engine.storage.layout import MEMBER
from workbench.engine.storage.scan import Scan, FusedScan
from workbench.engine.storage.segments import Segment, open_segment
from workbench.engine.storage.sorted_index import Positions

Rows = Iterator[pa.RecordBatch]

ROWS = 65_536
"""About so many rows are handed to Spark at a time."""


@dataclass(frozen=True)
class KeyedLookup:
    """Finds the rows of groups.

    Attributes:
        groups: names of the key's columns where the groups stand, one row for each group; none where all rows are of
            one group, or one for each member of a family.
        rows: what is read of the rows that are found, and their keys, in the same order. A family finds of each group
            the rows that its member reads.
        note: says in each batch where to look: ``change`` has the groups, ``before`` the rows among which to look.
        position: of the input in the note.
    """

    groups: tuple[str, ...]
    rows: Scan | FusedScan
    note: JobInput
    position: int

    def frame(self, spark: SparkSession, tasks: int) -> DataFrame:
        """The rows as a DataFrame that is made once and run in every batch."""
        lookup = self

        def found(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            settle_worker()
            told = lookup.note.read()[1][lookup.position]
            for task in tasks_of(batches):
                yield from lookup.found(told, task, tasks)

        return one_row_a_task(spark, tasks).mapInArrow(found, self.rows.spark)

    def found(self, told: InputRows, task: int = 0, tasks: int = 1) -> Iterator[pa.RecordBatch]:
        """One task's part of the rows, each once for each group it is in."""
        for segment in told.change:
            yield from self.of(open_segment(segment.path), told.before, task, tasks)

    def of(self, groups: pa.RecordBatch, segments: Iterable[Segment], task: int = 0, tasks: int = 1) -> Rows:
        """One task's part of the rows of some groups."""
        hashes = key_hashes([groups.column(name) for name in self.groups or (MEMBER,)], nulls=True)[0]
        mine = np.flatnonzero(hashes % np.uint64(tasks) == task)
        mine = mine[np.argsort(hashes[mine])]
        for segment in segments:
            yield from self._of_groups(groups, mine, hashes[mine], segment)

    def _of_groups(self, groups: pa.RecordBatch, mine: Positions, hashes: Hashes, where: Segment) -> Rows:
        """The rows of a segment that are in some of the groups."""
        batch = open_segment(where.path)
        for asked, at in self._candidates(hashes, where):
            group = mine[asked]
            same = _same(groups, self.groups, group, batch, self.rows.key, at)
            group, at = group[same], at[same]
            match self.rows:
                case Scan() as rows:
                    yield rows.taken(batch, at[rows.has(batch, at)])
                case FusedScan() as rows:
                    members = groups.column(MEMBER).to_numpy(zero_copy_only=False)[group]
                    read = rows.read_by(batch, at, members)
                    yield rows.of_members(batch, at[read], members[read])

    def _candidates(self, hashes: Hashes, where: Segment) -> Iterator[tuple[Positions, Positions]]:
        if self.groups:
            yield from candidates(where.path, Key(self.rows.key), KeyRanges.keys(hashes), ROWS, nulls=True)
            return
        for group in range(len(hashes)):
            for first in range(0, where.rows, ROWS):
                at = np.arange(first, min(where.rows, first + ROWS))
                yield np.full(len(at), group), at


def _same(
    groups: pa.RecordBatch,
    names: Sequence[str],
    group: Positions,
    rows: pa.RecordBatch,
    key: Sequence[str],
    at: Positions,
) -> npt.NDArray[np.bool_]:
    """Whether keys are equal as groups are: NULL equals NULL and NaN equals NaN, in all their columns."""
    same = np.ones(len(at), dtype=bool)
    for name, column in zip(names, key, strict=True):
        left, right = groups.column(name).take(pa.array(group)), rows.column(column).take(pa.array(at))
        equal = pc.fill_null(pc.equal(left, right), False)
        if left.null_count or right.null_count:
            equal = pc.or_(equal, pc.and_(left.is_null(), right.is_null()))
        if pa.types.is_floating(left.type):
            equal = pc.or_(equal, pc.fill_null(pc.and_(pc.is_nan(left), pc.is_nan(right)), False))
        same &= equal.to_numpy(zero_copy_only=False)
    return same
