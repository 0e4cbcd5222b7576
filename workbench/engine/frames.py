"""Segments as DataFrames, and back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from workbench.engine.layout import Layout, only
from workbench.engine.note import Note
from workbench.engine.segments import Segment, SegmentWriter, read_share, shares
from workbench.engine.worker import settle


def segments_frame(
    spark: SparkSession, segments: Sequence[Segment], layout: Layout, tasks: int, names: Sequence[str] | None = None
) -> DataFrame:
    """Segments as a DataFrame.

    Args:
        spark: the session.
        segments: what to read.
        layout: the columns.
        tasks: how many tasks read them.
        names: the columns to read; all unless given.
    """
    schema = layout.arrow if names is None else only(layout.arrow, names)
    parts = shares(segments, tasks)

    def read(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        settle()
        for task in tasks_of(batches):
            yield from read_share(parts[task], schema)

    return one_row_a_task(spark, tasks).mapInArrow(read, layout.spark if names is None else layout.ddl(names))


def arriving_frame(spark: SparkSession, note: Note, layout: Layout) -> DataFrame:
    """The change that a note speaks of, in one task."""

    def read(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        settle()
        _, (arriving,) = note.read()
        for _ in tasks_of(batches):
            yield from read_share(shares(arriving.change, 1)[0], layout.arrow)

    return one_row_a_task(spark, 1).mapInArrow(read, layout.spark)


def one_row_a_task(spark: SparkSession, tasks: int) -> DataFrame:
    """The numbers of the tasks, each in a task of its own."""
    return spark.range(0, tasks, 1, tasks)


def tasks_of(batches: Iterable[pa.RecordBatch]) -> Iterator[int]:
    """The numbers ``one_row_a_task`` hands to a task."""
    for batch in batches:
        yield from batch.column(0).to_pylist()


def write_frame(rows: DataFrame, folder: Path) -> tuple[Segment, ...]:
    """Write a DataFrame, each task its rows."""
    place = str(folder)

    def write(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        settle()
        writer = SegmentWriter(place)
        for batch in batches:
            writer.add(batch)
        for segment in writer.close():
            yield pa.RecordBatch.from_pydict({"path": [segment.path], "rows": [segment.rows]})

    return tuple(Segment(a.path, a.rows) for a in rows.mapInArrow(write, "path string, rows bigint").collect())
