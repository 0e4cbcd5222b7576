"""Segments as DataFrames, and back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from workbench.engine.spark.job_input import Note
from workbench.engine.spark.worker import settle
from workbench.engine.storage.layout import Layout, only
from workbench.engine.storage.scan import Leaf, SharedLeaf
from workbench.engine.storage.segments import Segment, SegmentWriter, read_share, shares


def segments_frame(
    spark: SparkSession, segments: Sequence[Segment], layout: Layout, names: Sequence[str], tasks: int
) -> DataFrame:
    """Some columns of segments as a DataFrame, read by so many tasks."""
    schema = only(layout.arrow, names)
    parts = shares(segments, tasks)

    def read(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        settle()
        for task in tasks_of(batches):
            yield from read_share(parts[task], schema)

    return one_row_a_task(spark, tasks).mapInArrow(read, layout.ddl(names))


def changed_frame(spark: SparkSession, note: Note, position: int, leaf: Leaf | SharedLeaf, tasks: int) -> DataFrame:
    """A node's rows in the change of one of the inputs that a note speaks of.

    It is made once, and has in every batch what the note says then.
    """

    def read(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        settle()
        change = note.read()[1][position].change
        for task in tasks_of(batches):
            yield from map(leaf.own, read_share(shares(change, tasks)[task], leaf.changed))

    return one_row_a_task(spark, tasks).mapInArrow(read, leaf.spark)


def one_row_a_task(spark: SparkSession, tasks: int) -> DataFrame:
    """The numbers of the tasks, each in a task of its own."""
    return spark.range(0, tasks, 1, tasks)


def tasks_of(batches: Iterable[pa.RecordBatch]) -> Iterator[int]:
    """The numbers ``one_row_a_task`` hands to a task."""
    for batch in batches:
        yield from batch.column(0).to_pylist()


def writing(rows: DataFrame, folder: Path) -> DataFrame:
    """The plan that writes a DataFrame's rows, each task its own; ``write`` runs it."""
    place = str(folder)

    def written(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        settle()
        writer = SegmentWriter(place)
        for batch in batches:
            writer.add(batch)
        for segment in writer.close():
            about = {"path": [segment.path], "rows": [segment.rows], "checksum": [segment.checksum]}
            yield pa.RecordBatch.from_pydict(about)

    return rows.mapInArrow(written, "path string, rows bigint, checksum bigint")


def has_exchange(plan: DataFrame) -> bool:
    """Whether rows move between tasks. One task alone may need it too: Spark forgets that a user function keeps rows
    where they are."""
    return "Exchange" in plan._jdf.queryExecution().executedPlan().toString()


def write(plan: DataFrame) -> tuple[Segment, ...]:
    """Run a plan of ``writing``."""
    return tuple(Segment(answer.path, answer.rows, answer.checksum) for answer in plan.collect())
