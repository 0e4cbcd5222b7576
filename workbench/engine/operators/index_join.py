"""Index join: the pairs of a join that may match, each side's change looked up among the rows of the other.

    Δ(L ⋈ R)  =  ΔL ⋈ R′  ∪  L ⋈ ΔR          R′ = R after the batch

What a batch costs follows from what its change finds, and not from the number of rows before it: of the other side only
the rows with the same key are read. The results are candidates, with batch and weight; Spark evaluates the join's
predicates on them, unless these compare stored values alone. For a semijoin one pair of a row is as good as all.

Source: SteMs (CACQ 2.2; Raman, Deshpande, Hellerstein 2003), PSoup 3.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession

from workbench.arrow.types import Mask
from workbench.engine.physical.access_paths import AccessPath
from workbench.engine.physical.pair_tests import PairFilter, PairTest, pair_column
from workbench.engine.physical.semijoin import Semijoin
from workbench.engine.spark.arrow_tasks import ArrowBatches, go_on
from workbench.engine.spark.interrupts import tag_jobs
from workbench.engine.storage.comparable import comparable
from workbench.engine.storage.grouping import Positions, true_rows
from workbench.engine.storage.indexes.key_index import (
    Key,
    KeyRanges,
    candidates,
    count_candidates,
    one_match,
    row_hashes,
)
from workbench.engine.storage.job_input import JobInput, TaskInput
from workbench.engine.storage.layout import BATCH, WEIGHT, conform
from workbench.engine.storage.scan import Scan
from workbench.engine.storage.segments import Run, open_segment, read_share, shares
from workbench.network.nodes import SIDES

PAIRS_AT_ONCE = 65_536
"""Pairs that are handed on together, about."""

MANY_PAIRS = 4_096
"""Candidates of a segment from which on it pays to test them by the columns that are tested, before others are read."""

CANDIDATES_AT_ONCE = 1_048_576
"""Candidates that are tested so together, about."""


@dataclass(frozen=True)
class IndexJoin:
    """Finds the candidate pairs of two sides.

    Columns of the pairs: those of the left side named ``l_…``, of the right ``r_…``, and batch and weight of the pair.

    Attributes:
        left, right: what is read from each side.
        paths: the access paths. Pairs are looked up by each of them; one that several find is handed on once.
        semijoins: of the pairs of a row that no access path finds, one at least is handed on for each.
        tests: what ``rows`` tests of pairs with equal keys; ``None`` where Spark tests the candidates.
        shown: the sides of which ``rows`` has columns.
    """

    left: Scan
    right: Scan
    paths: tuple[AccessPath, ...]
    semijoins: tuple[Semijoin, ...] = ()
    tests: tuple[PairTest | PairFilter, ...] | None = None
    shown: frozenset[int] = frozenset(SIDES)

    def frame(self, spark: SparkSession, job_input: JobInput, tasks: int) -> DataFrame:
        """The pairs, by a plan that can be kept."""
        values = [f"`{pair_column(at, name)}` {type_}" for at, side in self._sides for name, type_ in side.types]
        return job_input.run(spark, tasks, self.pairs, ", ".join([*values, f"{BATCH} int", f"{WEIGHT} bigint"]))

    def count(self, spark: SparkSession, job_input: JobInput, tasks: int) -> int:
        """How many candidate pairs all tasks have, counted by a job of Spark; see ``count_here``."""

        def count(task: TaskInput) -> ArrowBatches:
            yield pa.RecordBatch.from_pydict({"pairs": [self.count_here(task)]})

        tag_jobs(spark.sparkContext)
        return sum(row.pairs for row in job_input.run(spark, tasks, count, "pairs bigint").collect())

    def count_here(self, task: TaskInput) -> int:
        """How many candidate pairs a task has, whatever node their rows belong to, counted in this process."""
        pairs = 0
        for change, others, changed in _halves(task):
            for lookup in self._lookups(self.paths, change, changed, task):
                pairs += sum(count_candidates(segment.path, lookup.key, lookup.ranges) for segment in others)
        for semijoin in self.semijoins if task.task == 0 else ():
            pairs += sum(segment.rows for segment in task.inputs[semijoin.side].change)
        return pairs

    def pairs(self, task: TaskInput) -> ArrowBatches:
        """One task's part of the candidate pairs; its inputs are the left and the right side."""
        for change, others, changed in _halves(task):
            for lookup in self._lookups(self.paths, change, changed, task):
                yield from self._pairs_of_access_path(lookup, others)
        for semijoin in self.semijoins:
            for change, others, changed in _halves(task, first=semijoin.side):
                for lookup in self._lookups((semijoin.path,), change, changed, task):
                    yield from self._pairs_of_semijoin(lookup, others, changed == semijoin.side)

    def rows(self, task: TaskInput, names: Mapping[str, str], schema: pa.Schema) -> ArrowBatches:
        """One task's part of the pairs that pass the tests as rows of the join, about ``PAIRS_AT_ONCE`` at a time.

        Args:
            task: see ``pairs``.
            names: for each column of a row that of the pairs.
            schema: of the rows.
        """
        waiting: list[pa.RecordBatch] = []
        for pairs in map(self._tested, self.pairs(task)):
            rows = pa.RecordBatch.from_arrays([pairs.column(name) for name in names.values()], names=[*names])
            waiting.append(conform(rows, schema))
            if sum(batch.num_rows for batch in waiting) >= PAIRS_AT_ONCE:
                yield pa.concat_batches(waiting)
                waiting = []
        if waiting:
            yield pa.concat_batches(waiting)

    def _tested(self, pairs: pa.RecordBatch) -> pa.RecordBatch:
        passes = np.ones(pairs.num_rows, dtype=bool)
        for test in self.tests or ():
            passes &= test.passes(pairs)
        return pairs if passes.all() else pairs.filter(pa.array(passes))

    @property
    def _sides(self) -> tuple[tuple[int, Scan], tuple[int, Scan]]:
        return (0, self.left), (1, self.right)

    def _lookups(self, paths: Sequence[AccessPath], change: Run, changed: int, task: TaskInput) -> Iterator[_Lookup]:
        """One task's part of a side's change, once for each access path: the rows of the node that have a key."""
        own, other = (self.left, self.right)[:: 1 - 2 * changed]
        for rows in read_share(shares(change, task.tasks)[task.task], own.input):
            belong = own.belong(rows, np.arange(rows.num_rows))
            for path in paths:
                hashes, has_key = row_hashes(rows, path.key_columns(changed))
                has_key &= belong
                if path.band is None:
                    at = np.flatnonzero(has_key)
                    at = at[np.argsort(hashes[at])]  # look-ups in order find what they need in the cache
                    ranges = KeyRanges.equal(hashes[at])
                else:
                    days = rows.column(path.band.day(changed))
                    at = np.flatnonzero(has_key & ~np.asarray(days.is_null()))
                    numbers = comparable(days)[at].astype(np.int64)
                    ranges = KeyRanges.within_days(hashes[at], numbers, *path.band.days(changed))
                if len(at):
                    yield _Lookup(path, changed, own, other, rows, at, ranges)

    def _pairs_of_access_path(self, lookup: _Lookup, others: Run) -> ArrowBatches:
        """The pairs of rows with those of the other side, without those that an earlier access path finds."""
        early = None if self.tests is None else EarlyTest(self, lookup)
        for left, right in lookup.pairs(others, early=early):
            if self.tests is not None or len(self.paths) > 1:
                left, right = _only(is_first_path(self.paths, lookup.path, left, right), left, right)
            yield self._joined(left, right)

    def _pairs_of_semijoin(self, lookup: _Lookup, others: Run, once: bool) -> ArrowBatches:
        """The pairs of rows that no access path finds; ``once``: one of each segment is enough for each row."""
        for left, right in lookup.pairs(others, once):
            new = np.ones(left.num_rows, dtype=bool) if once else _match(lookup.path, left, right)
            for path in self.paths:
                new &= ~_match(path, left, right)
            yield self._joined(*_only(new, left, right))

    def _joined(self, left: pa.RecordBatch, right: pa.RecordBatch) -> pa.RecordBatch:
        """Two batches side by side; a pair has the later batch of its rows, and the product of their weights."""
        sides = list(zip((left, right), self._sides, strict=True))
        names = [pair_column(at, name) for _, (at, side) in sides for name in side.schema.names]
        values = [rows.column(name) for rows, (_, side) in sides for name in side.schema.names]
        batch = pc.max_element_wise(left.column(BATCH), right.column(BATCH))
        weight = pc.multiply(left.column(WEIGHT), right.column(WEIGHT))
        return pa.RecordBatch.from_arrays([*values, batch, weight], names=[*names, BATCH, WEIGHT])


@dataclass(frozen=True)
class _Lookup:
    """Rows of one side that are looked up among those of the other by an access path.

    Attributes:
        path: the access path.
        changed: the side of the rows, 0 for the left one.
        own, other: what is read from this side, and from the other.
        rows: changed rows.
        at: the positions of those that are looked up.
        ranges: their keys.
    """

    path: AccessPath
    changed: int
    own: Scan
    other: Scan
    rows: pa.RecordBatch
    at: Positions
    ranges: KeyRanges

    @property
    def key(self) -> Key:
        """The key by which the other side's rows are looked up."""
        side = 1 - self.changed
        return Key(self.path.key_columns(side), None if self.path.band is None else self.path.band.day(side))

    def pairs(
        self, others: Run, once: bool = False, early: EarlyTest | None = None
    ) -> Iterator[tuple[pa.RecordBatch, pa.RecordBatch]]:
        """The candidates of the node: rows of the left side, and beside them rows of the right side.

        About ``PAIRS_AT_ONCE`` come together, out of as many segments as it takes: nearly all segments are small, and
        work on pairs costs more for each batch than for each pair.

        Args:
            others: the segments of the other side.
            once: for each row one of the rows of a segment that match is enough.
            early: tests many candidates before they are pairs.
        """
        waiting: list[tuple[Positions, pa.RecordBatch]] = []
        for segment in others:
            rows = conform(open_segment(segment.path), self.other.paired)
            for at, partners in self._one_each(segment.path) if once else self._all(segment.path, early):
                waiting.append((at, rows.take(pa.array(partners))))
                if sum(len(at) for at, _ in waiting) >= PAIRS_AT_ONCE:
                    yield self._sides(waiting)
                    waiting = []
        if waiting:
            yield self._sides(waiting)

    def _all(self, segment: str, early: EarlyTest | None) -> Iterator[tuple[Positions, Positions]]:
        """All candidates of a segment, as positions in ``rows`` and in the segment."""
        batch = open_segment(segment)
        at_once = PAIRS_AT_ONCE if early is None else CANDIDATES_AT_ONCE
        by_key = bool(self.path.keys) or self.path.band is not None
        found = candidates(segment, self.key, self.ranges, at_once) if by_key else self._every(batch, at_once)
        for asked, partners in found:
            go_on()
            belong = self.other.belong(batch, partners)
            at, partners = self.at[asked[belong]], partners[belong]
            yield (at, partners) if early is None or len(at) < MANY_PAIRS else early.left(at, partners, batch)

    def _every(self, segment: pa.RecordBatch, at_once: int) -> Iterator[tuple[Positions, Positions]]:
        """All rows of a segment beside all that are looked up: pairs of one stored row are together."""
        asked, size = np.arange(len(self.at)), max(1, at_once // len(self.at))
        for first in range(0, segment.num_rows, size):
            partners = np.arange(first, min(first + size, segment.num_rows))
            yield np.repeat(asked, len(partners)), np.tile(partners, len(asked))

    def _one_each(self, segment: str) -> Iterator[tuple[Positions, Positions]]:
        """For each row that has a match in a segment one of them."""
        batch = open_segment(segment)
        own, other = (
            rows.select([*dict.fromkeys(of.key_columns)]) for rows, of in ((self.rows, self.own), (batch, self.other))
        )

        def matches(asked: Positions, partners: Positions) -> Mask:
            keys = own.take(pa.array(self.at[asked])), other.take(pa.array(partners))
            return self.other.belong(batch, partners) & _match(self.path, *keys[:: 1 - 2 * self.changed])

        asked, partners = one_match(segment, self.key, self.ranges, matches)
        yield self.at[asked], partners

    def _sides(self, found: Sequence[tuple[Positions, pa.RecordBatch]]) -> tuple[pa.RecordBatch, pa.RecordBatch]:
        """Positions in ``rows`` and the rows beside them as rows of the left and of the right side."""
        at = np.concatenate([at for at, _ in found])
        mine = conform(self.rows, self.own.paired).take(pa.array(at))
        others = found[0][1] if len(found) == 1 else pa.concat_batches([rows for _, rows in found])
        return (mine, others) if self.changed == 0 else (others, mine)


@dataclass(frozen=True)
class EarlyTest:
    """Tests many candidates by the columns that are tested, and lets those cancel that have equal rows in the join.

    A changed row of which the join's rows have no column, such as the only row of a subquery, comes as often as a row
    that goes: what satisfies the tests with both stays as it is, and is not written twice.
    """

    join: IndexJoin
    lookup: _Lookup

    def left(self, at: Positions, partners: Positions, segment: pa.RecordBatch) -> tuple[Positions, Positions]:
        """Of some candidates, as positions in the changed rows and in a segment, those that are left."""
        lookup, tests = self.lookup, self.join.tests or ()
        keys = [pair_column(side, name) for side in SIDES for name in lookup.path.columns(side)]
        wanted = {*keys, *(name for test in tests for name in test.columns)}
        sides = [_some(lookup.rows, at, lookup.changed, wanted), _some(segment, partners, 1 - lookup.changed, wanted)]
        left, right = sides[:: 1 - 2 * lookup.changed]
        passes = _match(lookup.path, left, right) if keys else np.ones(len(at), dtype=bool)
        columns = [
            (pair_column(s, name), rows.column(name))
            for s, rows in enumerate((left, right))
            for name in rows.schema.names
        ]
        pairs = pa.RecordBatch.from_arrays([values for _, values in columns], names=[name for name, _ in columns])
        for test in tests:
            passes &= test.passes(pairs)
        at, partners = at[passes], partners[passes]
        return self._uncancelled(at, partners) if self._cancels else (at, partners)

    @property
    def _cancels(self) -> bool:
        """Whether pairs of one stored row may cancel."""
        batch = self.lookup.rows.column(BATCH)
        of_one_batch = pc.count_distinct(batch).as_py() == 1
        return self.lookup.changed not in self.join.shown and len(self.join.paths) == 1 and of_one_batch

    def _uncancelled(self, at: Positions, partners: Positions) -> tuple[Positions, Positions]:
        """The pairs without those of one stored row whose changed rows have weights that cancel, one by one."""
        weights = self.lookup.rows.column(WEIGHT).to_numpy()[at]
        if not (np.abs(weights) == 1).all():
            return at, partners
        total = np.bincount(partners, weights)[partners]
        # Of the pairs of a stored row as many stay as their weights come to, of the sign of that.
        order = np.lexsort([weights * -np.sign(total), partners])
        first = np.flatnonzero(np.diff(partners[order], prepend=-1))
        number = np.arange(len(order)) - np.repeat(first, np.diff(np.append(first, len(order))))
        kept = order[number < np.abs(total[order])]
        return at[kept], partners[kept]


def _some(rows: pa.RecordBatch, at: Positions, side: int, wanted: Collection[str]) -> pa.RecordBatch:
    """Some rows of a side with the columns that pairs are tested by."""
    names = [name for name in rows.schema.names if pair_column(side, name) in wanted]
    return rows.select(names).take(pa.array(at))


def _halves(task: TaskInput, first: int = 0) -> Iterator[tuple[Run, Run, int]]:
    """The two terms of Δ(L ⋈ R): what changed, what it is looked up in, and the side that changed.

    Of pairs of two changed rows, the row of the side ``first`` is looked up.
    """
    looks, other = task.inputs[:: 1 - 2 * first]
    yield looks.change, (*other.before, *other.change), first
    yield other.change, looks.before, 1 - first


def _only(chosen: Mask, left: pa.RecordBatch, right: pa.RecordBatch) -> tuple[pa.RecordBatch, pa.RecordBatch]:
    """Some of the pairs."""
    return (left, right) if chosen.all() else (left.filter(pa.array(chosen)), right.filter(pa.array(chosen)))


def is_first_path(paths: Sequence[AccessPath], path: AccessPath, left: pa.RecordBatch, right: pa.RecordBatch) -> Mask:
    """Which pairs an access path finds that none before it finds.

    Values decide, not their hashes, so that a collision neither doubles a pair nor loses it.

    Args:
        paths: all access paths.
        path: the one by which the pairs were found.
        left, right: pair by pair, with the columns of all keys and days.
    """
    first = _match(path, left, right)
    for other in paths[: paths.index(path)]:
        first &= ~_match(other, left, right)
    return first


def _match(path: AccessPath, left: pa.RecordBatch, right: pa.RecordBatch) -> Mask:
    """For which pairs the keys of an access path are equal and the days within its band."""
    equal = np.ones(left.num_rows, dtype=bool)
    for own, other in zip(path.key_columns(0), path.key_columns(1), strict=True):
        equal &= true_rows(pc.equal(left.column(own), right.column(other)))
    if path.band is not None:
        days = [rows.column(path.band.day(side)).cast(pa.int32()) for side, rows in enumerate((left, right))]
        # Days that are NULL are NaN here, which is within no bounds.
        apart = pc.subtract(*(day.cast(pa.float64()) for day in reversed(days))).to_numpy(zero_copy_only=False)
        equal &= (path.band.low <= apart) & (apart <= path.band.high)
    return equal
