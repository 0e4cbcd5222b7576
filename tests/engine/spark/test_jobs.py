"""Plans that run as one job."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest
from pyspark import TaskContext
from pyspark.sql import SparkSession

from workbench.engine.spark.arrow_tasks import Batches, run_tasks
from workbench.engine.spark.jobs import Job, balanced, run_jobs


def job(spark: SparkSession, number: int, tasks: int = 1) -> Job:
    """A plan whose tasks each say which one they are, and in which attempt of Spark's they ran."""

    def step(task: int) -> Batches:
        context = TaskContext.get()
        assert context is not None
        yield pa.RecordBatch.from_pydict({"plan": [number], "task": [task], "ran": [context.taskAttemptId()]})

    return Job(run_tasks(spark, tasks, step, "plan bigint, task bigint, ran bigint"))


@pytest.mark.parametrize("plans", [1, 3, 30])
def test_small_plans_share_tasks(spark: SparkSession, plans: int) -> None:
    jobs = [job(spark, number) for number in range(plans)]
    for _ in range(2):
        answers = run_jobs(jobs, [1.0] * plans)
        assert sorted(row.plan for row in answers) == list(range(plans))
        assert len({row.ran for row in answers}) == min(plans, spark.sparkContext.defaultParallelism)


def test_plans_that_take_long_leave_the_others_to_the_other_cores(spark: SparkSession) -> None:
    cores = spark.sparkContext.defaultParallelism
    expected = [9.0, *[0.1] * (2 * cores)]
    answers = run_jobs([job(spark, number) for number in range(len(expected))], expected)
    (long,) = [row.ran for row in answers if row.plan == 0]
    assert [row.plan for row in answers if row.ran == long] == [0]


def test_every_plan_is_in_one_part() -> None:
    chosen = random.Random(1)
    for number in range(2, 40):
        expected = [chosen.choice([0.0, 0.001, 1.0, chosen.random()]) for _ in range(number)]
        parts = balanced(expected, 2)
        assert sorted(at for part in parts for at in part) == list(range(number)) and all(parts)
        sums = [sum(expected[at] for at in part) for part in parts]
        assert max(sums) <= sum(expected) / 2 + max(expected) / 2 + 1e-9


def test_tasks_of_one_plan_stay_apart(spark: SparkSession) -> None:
    answers = run_jobs([job(spark, number, tasks=1 + number % 2) for number in range(8)], [1.0] * 8)
    assert sorted((row.plan, row.task) for row in answers) == [(n, t) for n in range(8) for t in range(1 + n % 2)]
    assert len({row.ran for row in answers}) == len(answers)
