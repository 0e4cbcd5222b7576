"""A relation as a log-structured merge tree: it grows batch by batch, and has few runs of segments.

Every change adds a run. When the newest runs are many and of about one size, they are merged to one. So a row is
written again a logarithmic number of times, and a look-up reads a logarithmic number of runs (the logarithmic method of
Bentley and Saxe; O'Neil et al., The log-structured merge-tree).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from itertools import chain
from math import inf
from operator import is_, or_
from pathlib import Path
from zlib import crc32

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame

from workbench.arrow.types import filled
from workbench.engine.spark.jobs import JobRunner
from workbench.engine.storage.buckets import EVERY_BUCKET, BucketKey
from workbench.engine.storage.counted_tests import CountedTest
from workbench.engine.storage.frames import segments_frame
from workbench.engine.storage.grouping import group_rows
from workbench.engine.storage.layout import BATCH, WEIGHT, Layout
from workbench.engine.storage.segments import Run, Segment, files_of


@dataclass(frozen=True)
class Delta:
    """The changes of a relation in one batch (a Z-set): each row has a weight, which is negative where rows leave.

    Attributes:
        segments: the rows.
        rows_in: how many rows the root produced before the filter.
        counts: the number of rows with each bit; after all words of bits, those with each of the filter's combinations.
        state_segments: rows of the operator's state, written by the same job.
        seconds: how long the longest task took that computed it.
        removed: as ``counts``, of the rows that leave.
        tests: what each test that calls functions did, by what it says.
        here: whether this process computed it, without a job.
    """

    segments: Run = ()
    rows_in: int = 0
    counts: tuple[int, ...] = ()
    state_segments: Run = ()
    seconds: float = 0.0
    removed: tuple[int, ...] = ()
    tests: Mapping[str, CountedTest] = field(default_factory=dict)
    here: bool = False

    @cached_property
    def rows(self) -> int:
        """The number of stored rows."""
        return rows_stored(self.segments)

    def changed(self, bit: int) -> int:
        """The number of changes with a bit: a row that leaves and the one that takes its place are one."""
        removed = self.removed[bit] if bit < len(self.removed) else 0
        return max(self.count(bit) - removed, removed)

    def count(self, bit: int) -> int:
        """The number of rows with a bit, or with a combination."""
        return self.counts[bit] if bit < len(self.counts) else 0


NO_CHANGE = Delta()


@dataclass(frozen=True, eq=False)
class Merge:
    """Merges runs to fewer rows, for a relation in which that does not change what the rows mean.

    Attributes:
        role: of the relation among those of its folder.
        reduce: the rows that are left of some; its second argument tells whether these are all rows there are.
        keys: columns; rows that differ in them are not merged.
        stays_open: whether a process keeps what few rows come to (``open_groups``), and need not read their runs.
    """

    role: str
    reduce: Callable[[pa.RecordBatch, bool], pa.RecordBatch]
    keys: tuple[str, ...]
    stays_open: bool = False


@dataclass(frozen=True)
class Relation:
    """Accumulated rows. Immutable: ``append`` gives the grown relation, so a failed batch changes nothing.

    What is ``due`` then is merged by ``merging``.
    """

    jobs: JobRunner
    layout: Layout
    folder: Path
    runs: tuple[Run, ...] = ()
    merge: Merge | None = None
    """Merges runs to fewer rows, where that is possible."""
    by: BucketKey | None = None
    """The key by which rows are in buckets, where a look-up asks for buckets."""
    lacks_columns: bool = False
    """Whether stored rows lack columns, which must not be read before all runs are merged: they are NULL then."""
    looked_up: bool = False
    """Whether operators have looked up rows that it had before a batch."""

    @cached_property
    def segments(self) -> Run:
        """The files the rows are in, oldest first."""
        return tuple(chain.from_iterable(self.runs))

    @cached_property
    def rows(self) -> int:
        """How many rows there are, also those that cancel each other."""
        return rows_stored(self.segments)

    def frame(self, names: Sequence[str], segments: Run | None = None) -> DataFrame:
        """Some columns of all rows, or of the rows of some segments; some rows may cancel others."""
        chosen = self.segments if segments is None else segments
        return segments_frame(self.jobs, chosen, self.layout, names, tasks_for(rows_stored(chosen), self.jobs))

    def append(self, delta: Delta) -> Relation:
        """The relation with a delta's rows."""
        if not delta.rows:
            return self
        return replace(self, runs=(*self.runs, delta.segments))

    @cached_property
    def due(self) -> int:
        """How many of the newest runs are to be merged to one."""
        if self.lacks_columns:
            return len(self.runs)
        limits = self.jobs.limits
        runs = limits.runs_per_merge + self._number % limits.runs_merged_later
        if self.merge is not None and self.merge.stays_open and self.rows <= limits.rows_kept_open:
            runs *= limits.runs_kept_open
        if self.merge is not None:
            return _to_merge(self.runs, runs)
        # A look-up takes time for each run, however many rows it has. All else that reads rows takes it for each row.
        most = limits.rows_per_segment if self.looked_up else limits.rows_stepped_in_process
        return _to_merge(self.runs, runs, most, limits.rows_merged_in_process)

    @property
    def merging(self) -> Run:
        """The segments of these runs."""
        return sum(self.runs[len(self.runs) - self.due :], start=())

    @property
    def is_merged_here(self) -> bool:
        """Whether they are so few that this process merges them."""
        limits, segments = self.jobs.limits, self.merging
        most = limits.bytes_merged_in_process
        return rows_stored(segments) <= limits.rows_merged_in_process and sum(s.bytes for s in segments) <= most

    def with_merged(self, run: Run) -> Relation:
        """The relation with one run in the place of the runs that were due."""
        return replace(self, runs=(*self.runs[: len(self.runs) - self.due], run), lacks_columns=False)

    @property
    def merge_tasks(self) -> int:
        """How many tasks merge them: one, where rows that differ in any column may become one."""
        return 1 if self.merge is not None and not self.merge.keys else tasks_for(rows_stored(self.merging), self.jobs)

    @property
    def merging_apart(self) -> Sequence[Run]:
        """Their segments in lists that have no bucket in common."""
        return [self.merging] if self.merged_by is None else apart(self.merging, self.merged_by.number)

    @property
    def merged_by(self) -> BucketKey | None:
        """The key by which merged rows are told apart: on one machine only that of a state, which its tasks share."""
        of_others = self.by is not None and not self.by.of_groups
        return None if of_others and not self.jobs.limits.bytes_in_buckets else self.by

    @property
    def _number(self) -> int:
        """A number of its own, the same whenever it is opened."""
        role = "" if self.merge is None else self.merge.role
        return crc32(f"{self.folder.name} {role}".encode())

    @cached_property
    def files(self) -> frozenset[str]:
        """The files that have the segments."""
        return files_of(self.segments)

    def placed(self, place: Callable[[Segment, str], Segment]) -> Relation:
        """The relation with its segments where ``place`` puts them; itself where they stay."""
        runs = tuple(placed_run(run, place, self.folder) for run in self.runs)
        return self if all(map(is_, runs, self.runs)) else replace(self, runs=runs)


def placed_run(run: Run, place: Callable[[Segment, str], Segment], folder: Path) -> Run:
    """A run whose segments are moved by ``place``; the run itself if none is moved."""
    placed = tuple(place(segment, str(folder)) for segment in run)
    return run if placed == run else placed


def tasks_for(rows: int, jobs: JobRunner, looked_up: Iterable[Relation] = ()) -> int:
    """Tasks for a job that reads a number of rows: a second one costs more than it saves on few.

    Args:
        rows: how many.
        jobs: runs it.
        looked_up: in which rows are looked up: of much that is in buckets each of several tasks reads its own.
    """
    limits = jobs.limits
    if rows > limits.rows_per_task:
        return jobs.cores
    if rows <= limits.rows_stepped_in_process or not limits.bytes_looked_up_per_task:
        return 1
    stored = (segment for relation in looked_up for segment in relation.segments)
    in_buckets = sum(segment.bytes for segment in stored if segment.buckets != EVERY_BUCKET)
    return min(jobs.cores, 1 + in_buckets // limits.bytes_looked_up_per_task)


def apart(segments: Run, key: int = 0) -> list[Run]:
    """Segments in lists that have no bucket of a key in common."""
    lists = list[tuple[int, Run]]()
    for segment in segments:
        met = [own for own in lists if own[0] & segment.buckets_by(key)]
        buckets = reduce(or_, (own for own, _ in met), segment.buckets_by(key))
        lists = [own for own in lists if own not in met]
        lists.append((buckets, (*chain.from_iterable(run for _, run in met), segment)))
    return [run for _, run in lists]


def rows_stored(segments: Run) -> int:
    """The number of rows of segments."""
    return sum(segment.rows for segment in segments)


def _to_merge(runs: Sequence[Run], many: int, at_most: float = inf, together: float = inf) -> int:
    """How many of the newest runs to merge: those that are each at most twice as large as all newer ones together.

    Args:
        runs: oldest first.
        many: the least number of runs that are merged.
        at_most: runs of more rows stay as they are, where merging them does not make their rows fewer.
        together: the rows from which on no more runs than these are merged at once, for the same reason.
    """
    newer = count = 0
    for rows in map(rows_stored, reversed(runs)):
        if rows > at_most or (count and rows > 2 * newer) or (count >= many and newer >= together):
            break
        newer, count = newer + rows, count + 1
    return count if count >= many else 0


def consolidate(rows: pa.RecordBatch) -> pa.RecordBatch:
    """The Z-set's normal form: equal rows once, with the sum of their weights, and none with weight 0.

    A merged row has the latest batch of its rows: where rows are retracted, nothing depends on a row's batch.
    """
    marks = {BATCH: np.maximum, WEIGHT: np.add}
    order, starts = group_rows([rows.column(n) for n in rows.schema.names if n not in marks], rows.num_rows)
    if not len(order):
        return rows
    combined = {n: how.reduceat(filled(rows.column(n), 0).to_numpy()[order], starts) for n, how in marks.items()}
    left = combined[WEIGHT] != 0
    merged = rows.take(pa.array(order[starts[left]]))
    for name, numbers in combined.items():
        at = merged.schema.get_field_index(name)
        merged = merged.set_column(at, name, pa.array(numbers[left]))
    return merged
