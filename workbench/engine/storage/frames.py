"""Segments as DataFrames, and the rows of DataFrames as segments."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame

from workbench.engine.spark.arrow_tasks import ArrowBatches, map_rows, run_tasks
from workbench.engine.spark.interrupts import tag_jobs
from workbench.engine.spark.jobs import JobRunner
from workbench.engine.storage.layout import Layout, only
from workbench.engine.storage.segments import Run, Segment, SegmentWriter, read_share, shares
from workbench.files.packs import PACKING


def segments_frame(
    jobs: JobRunner, segments: Sequence[Segment], layout: Layout, names: Sequence[str], tasks: int
) -> DataFrame:
    """Some columns of segments, read by a number of tasks."""
    PACKING.seal()
    schema, parts, limits = only(layout.arrow, names), shares(segments, tasks), jobs.limits
    return run_tasks(jobs.session, tasks, lambda task: read_share(parts[task], schema, limits), layout.ddl(names))


def writing_plan(rows: DataFrame, folder: Path) -> DataFrame:
    """The plan that writes a DataFrame's rows, each task its own; ``run_writing`` runs it."""
    place = str(folder)

    def write(batches: ArrowBatches) -> ArrowBatches:
        writer = SegmentWriter(place)
        for batch in batches:
            writer.add(batch)
        for segment in writer.close():
            columns = {"path": [segment.path], "rows": [segment.rows], "checksum": [segment.checksum]}
            columns["bytes"] = [segment.bytes]
            yield pa.RecordBatch.from_pydict(columns)

    return map_rows(rows, write, "path string, rows bigint, checksum bigint, bytes bigint")


def run_writing(plan: DataFrame) -> Run:
    """Run a plan of ``writing_plan``; the segments that its tasks wrote."""
    PACKING.seal()
    tag_jobs(plan.sparkSession)
    return tuple(Segment(*answer) for answer in plan.collect())
