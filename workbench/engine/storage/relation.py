"""A relation that grows batch by batch: runs of segments, few of them however many batches there were (design 5).

Every change adds a run; when the newest ones are many and of about one size, they become one. So a row is written
again a logarithmic number of times, and there are a logarithmic number of runs to look into (the logarithmic method
of Bentley and Saxe; log-structured merge trees).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from zlib import crc32

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from workbench.engine.operators.filter_and_write import Delta
from workbench.engine.spark.frames import changed_frame, has_exchange, segments_frame, write, writing
from workbench.engine.spark.job_input import Input, Note
from workbench.engine.storage.layout import BATCH, WEIGHT, Layout, conform, word_column
from workbench.engine.storage.scan import Leaf
from workbench.engine.storage.segments import SEGMENT_ROWS, Segment, check_segments, open_segment, write_segments

RUNS = 5
"""So many runs of about one size become one, or a few more: which of them, is each relation's own."""

APART = 4
"""Relations have so many numbers of runs: if all had the same, all would merge in the same batches."""

SMALL_ROWS = 20_000
"""So many rows are few: what has no more is merged by the driver, and sent to every task of a join."""

ROWS_A_TASK = 100_000
"""A job that reads at most so many rows runs as one task: a second one costs more than it saves."""


@dataclass(frozen=True, eq=False)
class Merge:
    """Makes rows fewer when runs become one, where that is possible without changing what they mean.

    Attributes:
        role: of the relation among those of its folder.
        fewer: the rows that are left; it is told whether these are all rows there are.
        plans: those that are made once, by the same: hundreds of small relations merge in one batch.
    """

    role: str
    fewer: Callable[[DataFrame, bool], DataFrame]
    plans: dict[bool, DataFrame] = field(default_factory=dict)

    def write(self, relation: Relation, merging: Run, whole: bool) -> Run:
        """Some of a relation's runs as one."""
        if tasks_for(_rows(merging), relation.spark) > 1:
            rows = relation.frame(relation.layout.arrow.names, merging)
            return write(writing(self.fewer(rows, whole), relation.folder))
        note = Note.of(relation.folder, f"merge-{self.role}")
        note.write(0, [Input(merging)])
        plan = self.plans.get(whole)
        if plan is None:
            everything = Leaf.everything(relation.layout)
            rows = changed_frame(relation.spark, note, 0, everything, 1).select(*_quoted(relation.layout))
            plan = writing(self.fewer(rows, whole), relation.folder)
            if not has_exchange(plan):
                self.plans[whole] = plan
        return write(plan)


Run = tuple[Segment, ...]
"""Segments written together: what one change or one merge brought."""


@dataclass(frozen=True)
class Relation:
    """Accumulated rows. Immutable: ``append`` gives the grown relation, so a failed batch changes nothing."""

    spark: SparkSession
    layout: Layout
    folder: Path
    runs: tuple[Run, ...] = ()
    merge: Merge | None = None
    """What makes rows fewer, where that is possible."""

    @cached_property
    def segments(self) -> Run:
        """The files the rows are in, oldest first."""
        return tuple(segment for run in self.runs for segment in run)

    @cached_property
    def rows(self) -> int:
        """Rows held, changes that cancel each other counted too."""
        return _rows(self.segments)

    @cached_property
    def dataframe(self) -> DataFrame:
        """All rows; some may cancel others."""
        return self.frame(self.layout.arrow.names)

    def frame(self, names: Sequence[str], segments: Run | None = None) -> DataFrame:
        """Some columns of all rows, or of those of some segments."""
        chosen = self.segments if segments is None else segments
        return segments_frame(self.spark, chosen, self.layout, names, tasks_for(_rows(chosen), self.spark))

    def delta_frame(self, delta: Delta) -> DataFrame:
        """A delta's rows in this relation's layout."""
        return self.frame(self.layout.arrow.names, delta.segments)

    def append(self, delta: Delta) -> Relation:
        """The relation with a delta's rows."""
        if not delta.rows:
            return self
        grown = replace(self, runs=(*self.runs, delta.segments))
        newest = _to_merge(grown.runs, RUNS + self._apart, at_most=SEGMENT_ROWS if self.merge is None else None)
        return grown._merged(newest) if newest else grown

    def narrowed(self, layout: Layout) -> Relation:
        """The relation with fewer columns."""
        return replace(self, layout=layout)

    @property
    def _apart(self) -> int:
        """By how many runs it merges later than others; the same whenever it is opened."""
        role = "" if self.merge is None else self.merge.role
        return crc32(f"{self.folder.name} {role}".encode()) % APART

    @property
    def files(self) -> frozenset[str]:
        """Paths of the segments."""
        return frozenset(segment.path for segment in self.segments)

    def _merged(self, newest: int) -> Relation:
        """The relation with its newest runs as one."""
        older, merging = self.runs[:-newest], sum(self.runs[-newest:], start=())
        check_segments(merging)
        if self.merge is not None:
            return replace(self, runs=(*older, self.merge.write(self, merging, not older)))
        if _rows(merging) <= SMALL_ROWS:
            together = pa.Table.from_batches([conform(open_segment(s.path), self.layout.arrow) for s in merging])
            return replace(self, runs=(*older, write_segments(together, self.folder)))
        frame = self.frame(self.layout.arrow.names, merging)
        return replace(self, runs=(*older, write(writing(frame, self.folder))))


def tasks_for(rows: int, spark: SparkSession) -> int:
    """Tasks for a job that reads so many rows: a second one costs more than it saves on few."""
    return 1 if rows <= ROWS_A_TASK else max(1, spark.sparkContext.defaultParallelism)


def _quoted(layout: Layout) -> list[str]:
    return [f"`{name}`" for name in layout.arrow.names]


def _rows(segments: Run) -> int:
    return sum(segment.rows for segment in segments)


def _to_merge(runs: Sequence[Run], many: int, at_most: int | None) -> int:
    """How many of the newest runs should become one: those of which each is at most twice as large as all newer.

    ``many``: if they are so many.
    ``at_most``: runs of more rows stay as they are. Rows that merging does not make fewer gain nothing beyond that.
    """
    newer = count = 0
    for rows in map(_rows, reversed(runs)):
        if (at_most is not None and rows > at_most) or (count and rows > 2 * newer):
            break
        newer, count = newer + rows, count + 1
    return count if count >= many else 0


def consolidate(rows: DataFrame, layout: Layout) -> DataFrame:
    """The Z-set's normal form: equal rows once, with the sum of their weights, and none with weight 0.

    The batch of a merged row is its latest: in a relation whose rows are retracted nobody asks a row's batch.
    """
    names = [*layout.columns, *map(word_column, range(layout.words))]
    grouped = rows.groupBy(*[F.col(f"`{name}`") for name in names])
    merged = grouped.agg(F.max(BATCH).alias(BATCH), F.sum(WEIGHT).alias(WEIGHT))
    return merged.where(f"{WEIGHT} <> 0").select(*[f"`{name}`" for name in layout.arrow.names])
