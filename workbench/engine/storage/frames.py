"""Segments as DataFrames, and the rows of DataFrames as segments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from workbench.engine.spark.arrow_tasks import ArrowBatches, map_rows, of_task_number, run_tasks, task_numbers
from workbench.engine.spark.interrupts import tag_jobs
from workbench.engine.spark.jobs import JobRunner
from workbench.engine.storage.job_input import JobInput
from workbench.engine.storage.layout import Layout, only
from workbench.engine.storage.scan import FusedScan, LineageScan, Scan
from workbench.engine.storage.segments import Run, Segment, SegmentWriter, read_share, shares
from workbench.files.packs import PACKING


def segments_frame(
    jobs: JobRunner, segments: Sequence[Segment], layout: Layout, names: Sequence[str], tasks: int
) -> DataFrame:
    """Some columns of segments, read by a number of tasks."""
    PACKING.seal()
    schema, parts, limits = only(layout.arrow, names), shares(segments, tasks), jobs.limits
    return run_tasks(jobs.session, tasks, lambda task: read_share(parts[task], schema, limits), layout.ddl(names))


def change_frame(
    spark: SparkSession, job_input: JobInput, position: int, scan: Scan | FusedScan | LineageScan, tasks: int
) -> DataFrame:
    """A node's rows in the change of one of a job's inputs, by a plan that can be kept."""
    return map_rows(task_numbers(spark, tasks), change_step(job_input, position, scan, tasks), scan.ddl)


def change_step(
    job_input: JobInput, position: int, scan: Scan | FusedScan | LineageScan, tasks: int
) -> Callable[[ArrowBatches], ArrowBatches]:
    """The step over ``task_numbers`` that gives these rows."""

    def read(number: int) -> ArrowBatches:
        task = job_input.read(number, tasks)
        for batch in read_share(shares(task.inputs[position].change, tasks)[number], scan.input, task.limits):
            yield from scan.select(batch)

    return of_task_number(read)


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
