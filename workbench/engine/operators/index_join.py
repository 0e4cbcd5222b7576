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

from workbench.engine.storage.comparable import comparable
from workbench.engine.physical.access_paths import Way
from workbench.engine.physical.semijoin import Enough
from workbench.engine.spark.frames import one_row_a_task, tasks_of
from workbench.engine.storage.job_input import InputRows, JobInput
from workbench.engine.spark.arrow_tasks import settle_worker
from workbench.engine.storage.key_index import Key, KeyRanges, candidates, count_candidates, one_candidate, row_hashes, within_days
from workbench.engine.storage.layout import BATCH, WEIGHT
from workbench.engine.storage.scan import Scan
from workbench.engine.storage.segments import Segment, open_segment, read_share, shares
from workbench.engine.storage.sorted_index import Positions

Run = tuple[Segment, ...]
Mask = npt.NDArray[np.bool_]

PAIRS = 65_536
"""About so many pairs are handed to Spark at a time."""


@dataclass(frozen=True)
class IndexJoin:
    """Finds the candidate pairs of two sides; what they are in a batch says the note.

    Columns of the pairs: those of the left side named ``l_…``, of the right ``r_…``, and batch and weight of the pair.

    Attributes:
        left, right: what is read of each side.
        note: says in each batch what changed, and what was there before.
        ways: how rows find each other. They are looked up in each of them, and a pair that is found in several is
            handed on once.
        enough: where of the pairs of a row that are in none of the ways one is enough. Others may come with it.
    """

    left: Scan
    right: Scan
    note: JobInput
    ways: tuple[Way, ...]
    enough: tuple[Enough, ...] = ()

    def frame(self, spark: SparkSession, tasks: int) -> DataFrame:
        """The pairs as a DataFrame that is made once and run in every batch."""
        probe = self

        def pairs(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            settle_worker()
            _, (left, right) = probe.note.read()
            for task in tasks_of(batches):
                yield from probe.pairs(left, right, task, tasks)

        values = [f"`{p}_{name}` {type_}" for p, s in self._sides for name, type_ in s.types]
        schema = ", ".join([*values, f"{BATCH} int", f"{WEIGHT} bigint"])
        return one_row_a_task(spark, tasks).mapInArrow(pairs, schema)

    def pairs(self, left: InputRows, right: InputRows, task: int = 0, tasks: int = 1) -> Iterator[pa.RecordBatch]:
        """One task's part of the candidate pairs."""
        for change, others, changed in _halves(left, right):
            yield from self._half(change, others, changed, task, tasks)
        for enough in self.enough:
            for change, others, changed in _halves(left, right, first=enough.side):
                yield from self._half_of_some(enough, change, others, changed, task, tasks)

    @property
    def _sides(self) -> tuple[tuple[str, Scan], tuple[str, Scan]]:
        return ("l", self.left), ("r", self.right)

    def count(self, spark: SparkSession, tasks: int) -> int:
        """How many pairs would be found, whatever node their rows belong to."""
        probe = self

        def counted(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            settle_worker()
            _, (left, right) = probe.note.read()
            found = 0
            for task in tasks_of(batches):
                for change, others, changed in _halves(left, right):
                    for looking in probe._looking(change, changed, probe.ways, task, tasks):
                        key = _key(looking.way, 1 - changed)
                        found += sum(count_candidates(s.path, key, looking.wanted) for s in others)
                for enough in probe.enough:
                    found += sum(segment.rows for segment in (left, right)[enough.side].change)
            yield pa.RecordBatch.from_pydict({"pairs": [found]})

        return sum(row.pairs for row in one_row_a_task(spark, tasks).mapInArrow(counted, "pairs bigint").collect())

    def _half(self, change: Run, others: Run, changed: int, task: int, tasks: int) -> Iterator[pa.RecordBatch]:
        """The pairs of a change on one side with rows of the other."""
        for meeting in self._meetings(self.ways, change, others, changed, task, tasks):
            for asked, found in candidates(meeting.segment, meeting.key, meeting.looking.wanted, PAIRS):
                own = meeting.other.has(meeting.batch, found)
                at, found = meeting.looking.at[asked[own]], found[own]
                if len(self.ways) > 1:
                    first = first_found(self.ways, meeting.looking.way, *meeting.keys(at, found))
                    at, found = at[first], found[first]
                yield self._pairs(*meeting.rows(at, found))

    def _half_of_some(
        self, enough: Enough, change: Run, others: Run, changed: int, task: int, tasks: int
    ) -> Iterator[pa.RecordBatch]:
        """Pairs of a change on one side with rows of the other: one at least for each row for which one is enough."""
        for meeting in self._meetings((enough.way,), change, others, changed, task, tasks):
            for asked, rows in meeting.one() if changed == enough.side else meeting.all():
                at = meeting.looking.at[asked]
                # What is in one of the ways has been handed on, and that is enough.
                new = np.ones(len(at), dtype=bool)
                for way in self.ways:
                    new &= ~_fits(way, *meeting.keys(at, rows))
                yield self._pairs(*meeting.rows(at[new], rows[new]))

    def _meetings(
        self, ways: Sequence[Way], change: Run, others: Run, changed: int, task: int, tasks: int
    ) -> Iterator[_Meeting]:
        """One task's part of a change on one side, and each segment of the other side."""
        for looking in self._looking(change, changed, ways, task, tasks):
            for segment in others:
                yield _Meeting(looking, segment.path, changed, *self._ends(changed))

    def _looking(self, change: Run, changed: int, ways: Sequence[Way], task: int, tasks: int) -> Iterator[_Looking]:
        """One task's part of a change: the rows of the node that have a key, once for each way to look."""
        side = self._ends(changed)[0]
        for rows in read_share(shares(change, tasks)[task], side.changed):
            own = side.has(rows, np.arange(rows.num_rows))
            for way in ways:
                hashes, whole = row_hashes(rows, way.columns(changed))
                whole &= own
                if way.band is None:
                    at = np.flatnonzero(whole)
                    wanted = KeyRanges.keys(hashes[at])
                else:
                    days = rows.column(way.band.day(changed))
                    at = np.flatnonzero(whole & ~np.asarray(days.is_null()))
                    wanted = within_days(hashes[at], comparable(days)[at].astype(np.int64), *way.band.days(changed))
                if len(at):
                    yield _Looking(rows, at, wanted, way)

    def _ends(self, changed: int) -> tuple[Scan, Scan]:
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
    """Rows that look for others: where they stand in ``rows``, what they look for, and in which way."""

    rows: pa.RecordBatch
    at: Positions
    wanted: KeyRanges
    way: Way


@dataclass(frozen=True)
class _Meeting:
    """Rows of the side that changed, and a segment of the other side in which they look for others."""

    looking: _Looking
    segment: str
    changed: int
    side: Scan
    other: Scan

    @property
    def batch(self) -> pa.RecordBatch:
        """The rows of the segment."""
        return open_segment(self.segment)

    @property
    def key(self) -> Key:
        """By what they are looked up."""
        return _key(self.looking.way, 1 - self.changed)

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
        fits = _fits(self.looking.way, *self.keys(self.looking.at[asked], found))
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


def _halves(left: InputRows, right: InputRows, first: int = 0) -> Iterator[tuple[Run, Run, int]]:
    """What changed, what it is looked up in, and the side that changed; of both changes that of ``first`` looks."""
    looks, other = (left, right)[:: 1 - 2 * first]
    yield looks.change, (*other.before, *other.change), first
    yield other.change, looks.before, 1 - first


def first_found(ways: Sequence[Way], way: Way, left: pa.RecordBatch, right: pa.RecordBatch) -> npt.NDArray[np.bool_]:
    """Which pairs are handed on that were found in one of several ways: those of no way before it.

    Values decide, not their hashes, so that a collision neither doubles a pair nor loses it.

    Args:
        ways: all of them.
        way: the one in which the pairs were found.
        left, right: the columns of all keys and days, pair by pair.
    """
    first = _fits(way, left, right)
    for other in ways[: ways.index(way)]:
        first &= ~_fits(other, left, right)
    return first


def _fits(way: Way, left: pa.RecordBatch, right: pa.RecordBatch) -> npt.NDArray[np.bool_]:
    """Whether keys are equal and days as far apart as a way wants."""
    fits = np.ones(left.num_rows, dtype=bool)
    for own, its in zip(way.columns(0), way.columns(1), strict=True):
        equal = pc.fill_null(pc.equal(left.column(own), right.column(its)), False)
        fits &= equal.to_numpy(zero_copy_only=False)
    if way.band is not None:
        days = [ends.column(way.band.day(side)).cast(pa.int32()) for side, ends in enumerate((left, right))]
        # Days that are NULL are NaN here, which is within no bounds.
        apart = pc.subtract(*(day.cast(pa.float64()) for day in reversed(days))).to_numpy(zero_copy_only=False)
        fits &= (way.band.low <= apart) & (apart <= way.band.high)
    return fits


def _key(way: Way, side: int) -> Key:
    """By what a side's rows are found in a way."""
    return Key(way.columns(side), None if way.band is None else way.band.day(side))


def _taken(batch: pa.RecordBatch, names: Sequence[str], rows: Positions) -> pa.RecordBatch:
    """Some rows of a segment, some columns alone."""
    return batch.select(names).take(pa.array(rows))
