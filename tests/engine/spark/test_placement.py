"""Tasks prefer the executor that had the one of their number before."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from workbench.engine.spark import jobs
from workbench.engine.spark.jobs import SparkJobs, StepJob, job_parts
from workbench.engine.spark.placement import ANYWHERE, executors, placed_numbers


def number_of_task(task: int) -> Iterator[pa.RecordBatch]:
    """A step that answers with the number of its task."""
    yield pa.RecordBatch.from_pydict({"answer": [str(task)]})


def test_numbers_prefer_their_places(spark: SparkSession) -> None:
    numbers = placed_numbers(spark.sparkContext, 3, ["executor_host_7", ANYWHERE])
    java = numbers._jrdd.rdd()
    preferred = [java.preferredLocations(part).mkString(" ") for part in java.partitions()]
    assert preferred == ["executor_host_7", ""]
    assert numbers.collect() == [3, 4]
    assert executors(spark) == ()


def test_a_task_goes_where_the_one_of_its_number_was(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    of_two, of_one = (StepJob(number_of_task, tasks, tmp_path) for tasks in (2, 1))
    there = ("executor_a_0", "executor_b_1")
    places = [part.place(there) for part in job_parts([of_two, of_one], [1.0, 1.0], 2)]
    assert sorted(places) == [ANYWHERE, *there]
    assert places == [part.place(there) for part in job_parts([of_one, of_two], [1.0, 1.0], 2)]
    monkeypatch.setattr(jobs, "executors", lambda _: there)
    runner = SparkJobs(spark)
    for _ in range(2):
        assert sorted(runner.run([of_two, of_one], [1.0, 1.0])) == ["0", "0", "1"]
