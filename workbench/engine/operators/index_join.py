"""The pairs of a join that may match: each side's change looked up among the rows of the other (CACQ 2.2, PSoup 3).

    Δ(L ⋈ R)  =  ΔL ⋈ R′  ∪  L ⋈ ΔR          R′ = R after the batch

A join costs what its change finds, however much has piled up: nothing of the other side is read but the rows with the
same key. What comes out are candidates; Spark evaluates the join's predicates on them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession

from workbench.engine.physical.access_paths import AccessPath
from workbench.engine.physical.grouped_filter import comparable
from workbench.engine.physical.semijoin import Semijoin
from workbench.engine.spark.frames import one_row_a_task, tasks_of
from workbench.engine.spark.job_input import Input, Note
from workbench.engine.spark.worker import settle
from workbench.engine.storage.key_index import (
    Key,
    Wanted,
    candidates,
    count_candidates,
    one_candidate,
    row_hashes,
    within_days,
)
from workbench.engine.storage.layout import BATCH, WEIGHT
from workbench.engine.storage.scan import Leaf
from workbench.engine.storage.segments import Segment, open_segment, read_share, shares
from workbench.engine.storage.sorted_index import Positions

Run = tuple[Segment, ...]
Mask = npt.NDArray[np.bool_]

PAIRS = 65_536
"""About so many pairs are handed to Spark at a time."""


@dataclass(frozen=True)
class Probe:
    """Finds the candidate pairs of two sides; what they are in a batch says the note.

    Columns of the pairs: those of the left side named ``l_…``, of the right ``r_…``, and batch and weight of the pair.

    Attributes:
        left, right: what is read of each side.
        note: says in each batch what changed, and what was there before.
        paths: the access paths. Pairs are looked up by each of them, and a pair that several find is handed on once.
        semijoins: where of the pairs of a row that no path finds one is enough. Others may come with it.
    """

    left: Leaf
    right: Leaf
    note: Note
    paths: tuple[AccessPath, ...]
    semijoins: tuple[Semijoin, ...] = ()

    def frame(self, spark: SparkSession, tasks: int) -> DataFrame:
        """The pairs as a DataFrame that is made once and run in every batch."""
        probe = self

        def pairs(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            settle()
            _, (left, right) = probe.note.read()
            for task in tasks_of(batches):
                yield from probe.pairs(left, right, task, tasks)

        values = [f"`{p}_{name}` {type_}" for p, s in self._sides for name, type_ in s.types]
        schema = ", ".join([*values, f"{BATCH} int", f"{WEIGHT} bigint"])
        return one_row_a_task(spark, tasks).mapInArrow(pairs, schema)

    def pairs(self, left: Input, right: Input, task: int = 0, tasks: int = 1) -> Iterator[pa.RecordBatch]:
        """One task's part of the candidate pairs."""
        for change, others, changed in _halves(left, right):
            yield from self._half(change, others, changed, task, tasks)
        for semijoin in self.semijoins:
            for change, others, changed in _halves(left, right, first=semijoin.side):
                yield from self._half_of_some(semijoin, change, others, changed, task, tasks)

    @property
    def _sides(self) -> tuple[tuple[str, Leaf], tuple[str, Leaf]]:
        return ("l", self.left), ("r", self.right)

    def count(self, spark: SparkSession, tasks: int) -> int:
        """How many pairs would be found, whatever node their rows belong to."""
        probe = self

        def counted(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            settle()
            _, (left, right) = probe.note.read()
            found = 0
            for task in tasks_of(batches):
                for change, others, changed in _halves(left, right):
                    for looking in probe._looking(change, changed, probe.paths, task, tasks):
                        key = _key(looking.path, 1 - changed)
                        found += sum(count_candidates(s.path, key, looking.wanted) for s in others)
                for semijoin in probe.semijoins:
                    found += sum(segment.rows for segment in (left, right)[semijoin.side].change)
            yield pa.RecordBatch.from_pydict({"pairs": [found]})

        return sum(row.pairs for row in one_row_a_task(spark, tasks).mapInArrow(counted, "pairs bigint").collect())

    def _half(self, change: Run, others: Run, changed: int, task: int, tasks: int) -> Iterator[pa.RecordBatch]:
        """The pairs of a change on one side with rows of the other."""
        for meeting in self._meetings(self.paths, change, others, changed, task, tasks):
            for asked, found in candidates(meeting.segment, meeting.key, meeting.looking.wanted, PAIRS):
                own = meeting.other.has(meeting.batch, found)
                at, found = meeting.looking.at[asked[own]], found[own]
                if len(self.paths) > 1:
                    first = first_found(self.paths, meeting.looking.path, *meeting.keys(at, found))
                    at, found = at[first], found[first]
                yield self._pairs(*meeting.rows(at, found))

    def _half_of_some(
        self, semijoin: Semijoin, change: Run, others: Run, changed: int, task: int, tasks: int
    ) -> Iterator[pa.RecordBatch]:
        """Pairs of a change on one side with rows of the other: one at least for each row for which one is enough."""
        for meeting in self._meetings((semijoin.path,), change, others, changed, task, tasks):
            for asked, rows in meeting.one() if changed == semijoin.side else meeting.all():
                at = meeting.looking.at[asked]
                # What a path finds has been handed on, and that is enough.
                new = np.ones(len(at), dtype=bool)
                for path in self.paths:
                    new &= ~_fits(path, *meeting.keys(at, rows))
                yield self._pairs(*meeting.rows(at[new], rows[new]))

    def _meetings(
        self, paths: Sequence[AccessPath], change: Run, others: Run, changed: int, task: int, tasks: int
    ) -> Iterator[_Meeting]:
        """One task's part of a change on one side, and each segment of the other side."""
        for looking in self._looking(change, changed, paths, task, tasks):
            for segment in others:
                yield _Meeting(looking, segment.path, changed, *self._ends(changed))

    def _looking(
        self, change: Run, changed: int, paths: Sequence[AccessPath], task: int, tasks: int
    ) -> Iterator[_Looking]:
        """One task's part of a change: the rows of the node that have a key, once for each path."""
        side = self._ends(changed)[0]
        for rows in read_share(shares(change, tasks)[task], side.changed):
            own = side.has(rows, np.arange(rows.num_rows))
            for path in paths:
                hashes, whole = row_hashes(rows, path.key_columns(changed))
                whole &= own
                if path.band is None:
                    at = np.flatnonzero(whole)
                    wanted = Wanted.keys(hashes[at])
                else:
                    days = rows.column(path.band.day(changed))
                    at = np.flatnonzero(whole & ~np.asarray(days.is_null()))
                    wanted = within_days(hashes[at], comparable(days)[at].astype(np.int64), *path.band.days(changed))
                if len(at):
                    yield _Looking(rows, at, wanted, path)

    def _ends(self, changed: int) -> tuple[Leaf, Leaf]:
        """The side that changed, and the other."""
        return (self.left, self.right) if changed == 0 else (self.right, self.left)

    def _pairs(self, left: pa.RecordBatch, right: pa.RecordBatch) -> pa.RecordBatch:
        ends = (left, right)
        names = [f"{p}_{name}" for p, side in self._sides for name in side.schema.names]
        values = [e.column(n) for e, (_, side) in zip(ends, self._sides, strict=True) for n in side.schema.names]
        batch = pc.max_element_wise(left.column(BATCH), right.column(BATCH))
        weight = pc.multiply(left.column(WEIGHT), right.column(WEIGHT))
        return pa.RecordBatch.from_arrays([*values, batch, weight], names=[*names, BATCH, WEIGHT])


@dataclass(frozen=True)
class _Looking:
    """Rows that look for others: where they stand in ``rows``, what they look for, and by which path."""

    rows: pa.RecordBatch
    at: Positions
    wanted: Wanted
    path: AccessPath


@dataclass(frozen=True)
class _Meeting:
    """Rows of the side that changed, and a segment of the other side in which they look for others."""

    looking: _Looking
    segment: str
    changed: int
    side: Leaf
    other: Leaf

    @property
    def batch(self) -> pa.RecordBatch:
        """The rows of the segment."""
        return open_segment(self.segment)

    @property
    def key(self) -> Key:
        """By what they are looked up."""
        return _key(self.looking.path, 1 - self.changed)

    def all(self) -> Iterator[tuple[Positions, Positions]]:
        """All pairs, as positions among those that look and in the segment."""
        for asked, found in candidates(self.segment, self.key, self.looking.wanted, PAIRS):
            good = self.good(asked, found)
            yield asked[good], found[good]

    def one(self) -> Iterator[tuple[Positions, Positions]]:
        """One pair of each row that looks and finds any."""
        yield one_candidate(self.segment, self.key, self.looking.wanted, self.good)

    def good(self, asked: Positions, found: Positions) -> Mask:
        """Whether candidates belong to the node, and to each other as their values say."""
        fits = _fits(self.looking.path, *self.keys(self.looking.at[asked], found))
        return self.other.has(self.batch, found) & fits

    def keys(self, at: Positions, found: Positions) -> tuple[pa.RecordBatch, pa.RecordBatch]:
        """What pairs are found by, of the left and of the right side."""
        return self._taken(self.side.key, at, self.other.key, found)

    def rows(self, at: Positions, found: Positions) -> tuple[pa.RecordBatch, pa.RecordBatch]:
        """The rows of pairs, of the left and of the right side."""
        return self._taken(self.side.found.names, at, self.other.found.names, found)

    def _taken(
        self, own: Sequence[str], at: Positions, its: Sequence[str], found: Positions
    ) -> tuple[pa.RecordBatch, pa.RecordBatch]:
        mine, others = _taken(self.looking.rows, own, at), _taken(self.batch, its, found)
        return (mine, others) if self.changed == 0 else (others, mine)


def _halves(left: Input, right: Input, first: int = 0) -> Iterator[tuple[Run, Run, int]]:
    """What changed, what it is looked up in, and the side that changed; of both changes that of ``first`` looks."""
    looks, other = (left, right)[:: 1 - 2 * first]
    yield looks.change, (*other.before, *other.change), first
    yield other.change, looks.before, 1 - first


def first_found(
    paths: Sequence[AccessPath], path: AccessPath, left: pa.RecordBatch, right: pa.RecordBatch
) -> npt.NDArray[np.bool_]:
    """Which pairs are handed on that one of several paths found: those that no path before it finds.

    Values decide, not their hashes, so that a collision neither doubles a pair nor loses it.

    Args:
        paths: all of them.
        path: the one that found the pairs.
        left, right: the columns of all keys and days, pair by pair.
    """
    first = _fits(path, left, right)
    for other in paths[: paths.index(path)]:
        first &= ~_fits(other, left, right)
    return first


def _fits(path: AccessPath, left: pa.RecordBatch, right: pa.RecordBatch) -> npt.NDArray[np.bool_]:
    """Whether keys are equal and days as far apart as a path requires."""
    fits = np.ones(left.num_rows, dtype=bool)
    for own, its in zip(path.key_columns(0), path.key_columns(1), strict=True):
        equal = pc.fill_null(pc.equal(left.column(own), right.column(its)), False)
        fits &= equal.to_numpy(zero_copy_only=False)
    if path.band is not None:
        days = [ends.column(path.band.day(side)).cast(pa.int32()) for side, ends in enumerate((left, right))]
        # Days that are NULL are NaN here, which is within no bounds.
        apart = pc.subtract(*(day.cast(pa.float64()) for day in reversed(days))).to_numpy(zero_copy_only=False)
        fits &= (path.band.low <= apart) & (apart <= path.band.high)
    return fits


def _key(path: AccessPath, side: int) -> Key:
    """By what a path finds a side's rows."""
    return Key(path.key_columns(side), None if path.band is None else path.band.day(side))


def _taken(batch: pa.RecordBatch, names: Sequence[str], rows: Positions) -> pa.RecordBatch:
    """Some rows of a segment, some columns alone."""
    return batch.select(names).take(pa.array(rows))
