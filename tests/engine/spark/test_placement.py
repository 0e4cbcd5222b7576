"""Tasks prefer the executor that had the one of their number before."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from workbench.engine.spark.jobs import SparkJobs, StepJob, job_parts
from workbench.engine.spark.placement import ANYWHERE, Executors, placed_numbers


def number_of_task(task: int) -> Iterator[pa.RecordBatch]:
    """A step that answers with the number of its task."""
    yield pa.RecordBatch.from_pydict({"answer": [str(task)]})


def test_numbers_prefer_their_places(spark: SparkSession) -> None:
    numbers = placed_numbers(spark.sparkContext, 3, ["executor_host_7", ANYWHERE])
    java = numbers._jrdd.rdd()
    preferred = [java.preferredLocations(part).mkString(" ") for part in java.partitions()]
    assert preferred == ["executor_host_7", ""]
    assert numbers.collect() == [3, 4]
    assert Executors(spark).places() == ()


def test_a_task_goes_where_the_one_of_its_number_was(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    of_two, of_one = (StepJob(number_of_task, tasks, tmp_path) for tasks in (2, 1))
    there = ("executor_a_0", "executor_b_1")
    places = [part.place(there) for part in job_parts([of_two, of_one], [1.0, 1.0], 2)]
    assert sorted(places) == [ANYWHERE, *there]
    assert places == [part.place(there) for part in job_parts([of_one, of_two], [1.0, 1.0], 2)]
    monkeypatch.setattr(Executors, "places", lambda _: there)
    runner = SparkJobs(spark)
    for _ in range(2):
        assert sorted(runner.run([of_two, of_one], [1.0, 1.0])) == ["0", "0", "1"]


def test_executors_are_listed_when_others_are_there() -> None:
    """A list that is late, as Spark's is behind its own scheduler, is asked for again."""
    names, listed, asked = ["0", "1"], [("0", "a:1"), ("1", "b:1"), ("driver", "c:1")], [0]

    class Known:
        def size(self) -> int:
            return len(listed)

        def apply(self, at: int) -> SimpleNamespace:
            return SimpleNamespace(id=lambda: listed[at][0], hostPort=lambda: listed[at][1])

    def executor_list(active: bool) -> Known:
        asked[0] += 1
        return Known()

    java = SimpleNamespace(
        getExecutorIds=lambda: SimpleNamespace(mkString=lambda between: between.join(names)),
        statusStore=lambda: SimpleNamespace(executorList=executor_list),
    )
    context = SimpleNamespace(master="spark://c:7077", _jsc=SimpleNamespace(sc=lambda: java))
    cluster = Executors(SimpleNamespace(sparkContext=context, conf=SimpleNamespace(get=lambda *_: "0s")))  # type: ignore
    for _ in range(3):
        assert cluster.places() == ("executor_a_0", "executor_b_1")
    assert asked == [1]
    names.append("2")
    assert cluster.places() == ("executor_a_0", "executor_b_1")
    listed.append(("2", "d:1"))
    for _ in range(2):
        assert cluster.places() == ("executor_a_0", "executor_b_1", "executor_d_2")
    assert asked == [3]
