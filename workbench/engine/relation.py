"""A relation that grows batch by batch: segments, few of them however many batches there were (design 5).

Every change adds its segments; when the newest ones are many and of about one size, they become one. So a row is
written again a logarithmic number of times, and there are a logarithmic number of segments to look into (the
logarithmic method of Bentley and Saxe; log-structured merge trees).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from workbench.engine.frames import segments_frame, write_frame
from workbench.engine.layout import BATCH, WEIGHT, Layout, conform, word_column
from workbench.engine.segments import SEGMENT_ROWS, Segment, open_segment, write_segments
from workbench.engine.shared_pass import Delta

SEGMENTS = 6
"""So many segments of about one size become one."""

SMALL_ROWS = 20_000
"""So many rows are few: segments of no more are merged by the driver, and a change of no more runs as one task."""

ROWS_A_TASK = 100_000
"""A job that reads at most so many rows runs as one task: a second one costs more than it saves."""


@dataclass(frozen=True)
class Relation:
    """Accumulated rows. Immutable: ``append`` gives the grown relation, so a failed batch changes nothing."""

    spark: SparkSession
    layout: Layout
    folder: Path
    segments: tuple[Segment, ...] = ()
    merge: Callable[[DataFrame, bool], DataFrame] | None = None
    """What makes rows fewer when segments become one, where that is possible without changing what they mean; it is
    told whether these are all rows there are."""

    @cached_property
    def rows(self) -> int:
        """Rows held, changes that cancel each other counted too."""
        return sum(segment.rows for segment in self.segments)

    @cached_property
    def dataframe(self) -> DataFrame:
        """All rows; some may cancel others."""
        return self.frame(self.layout.arrow.names)

    def frame(self, names: Sequence[str]) -> DataFrame:
        """Some columns of all rows."""
        return segments_frame(self.spark, self.segments, self.layout, self._tasks(self.rows), names)

    def delta_frame(self, delta: Delta) -> DataFrame:
        """A delta's rows in this relation's layout."""
        return segments_frame(self.spark, delta.segments, self.layout, self._tasks(delta.rows))

    def append(self, delta: Delta) -> Relation:
        """The relation with a delta's rows."""
        if not delta.rows:
            return self
        grown = replace(self, segments=(*self.segments, *delta.segments))
        newest = _to_merge(grown.segments)
        return grown._merged(newest) if newest else grown

    def narrowed(self, layout: Layout) -> Relation:
        """The relation with fewer columns."""
        return replace(self, layout=layout)

    @property
    def files(self) -> frozenset[str]:
        """The files the rows are in."""
        return frozenset(segment.path for segment in self.segments)

    def _merged(self, newest: int) -> Relation:
        """The relation with its newest segments as one."""
        older, merging = self.segments[:-newest], self.segments[-newest:]
        rows = sum(segment.rows for segment in merging)
        if self.merge is None and rows <= SMALL_ROWS:
            together = pa.Table.from_batches([conform(open_segment(s.path), self.layout.arrow) for s in merging])
            return replace(self, segments=(*older, *write_segments(together, self.folder)))
        frame = segments_frame(self.spark, merging, self.layout, self._tasks(rows))
        if self.merge is not None:
            frame = self.merge(frame, not older)
        return replace(self, segments=(*older, *write_frame(frame, self.folder)))

    def _tasks(self, rows: int) -> int:
        return 1 if rows <= ROWS_A_TASK else max(1, self.spark.sparkContext.defaultParallelism)


def _to_merge(segments: Sequence[Segment]) -> int:
    """How many of the newest segments should become one: those of which each is at most twice as large as all newer."""
    newer = count = 0
    for segment in reversed(segments):
        if segment.rows > SEGMENT_ROWS or (count and segment.rows > 2 * newer):
            break
        newer, count = newer + segment.rows, count + 1
    return count if count >= SEGMENTS else 0


def consolidate(rows: DataFrame, layout: Layout) -> DataFrame:
    """The Z-set's normal form: equal rows once, with the sum of their weights, and none with weight 0.

    The batch of a merged row is its latest: in a relation whose rows are retracted nobody asks a row's batch.
    """
    names = [*layout.columns, *map(word_column, range(layout.words))]
    grouped = rows.groupBy(*[F.col(f"`{name}`") for name in names])
    merged = grouped.agg(F.max(BATCH).alias(BATCH), F.sum(WEIGHT).alias(WEIGHT))
    return merged.where(f"{WEIGHT} <> 0").select(*[f"`{name}`" for name in layout.arrow.names])
