"""Plans and steps that run as one job."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark import TaskContext
from pyspark.sql import SparkSession

from workbench.engine.spark.arrow_tasks import ArrowBatches, run_tasks
from workbench.engine.spark.job_properties import INPUT, input_text
from workbench.engine.spark.jobs import Job, PlanJob, SparkJobs, StepJob, balanced
from workbench.engine.spark.local_session import engine_session
from workbench.engine.spark.python_steps import ANSWER, StepFile

Ran = tuple[int, int, int]
"""The number of a job, of its task, and of the attempt of Spark's that it ran in."""


def saying(number: int) -> Callable[[int], ArrowBatches]:
    """A step whose tasks each say which one they are, and where they ran."""

    def step(task: int) -> ArrowBatches:
        context = TaskContext.get()
        assert context is not None
        yield pa.RecordBatch.from_pydict({"answer": [f"{number} {task} {context.taskAttemptId()}"]})

    return step


class Jobs:
    """Makes jobs and runs them."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self._spark, self._folder, self._runner = spark, folder, SparkJobs(spark)

    def plan(self, number: int, tasks: int = 1) -> Job:
        return PlanJob(run_tasks(self._spark, tasks, saying(number), ANSWER))

    def step(self, number: int, tasks: int = 1) -> Job:
        return StepJob(saying(number), tasks, self._folder)

    def either(self, number: int, tasks: int = 1) -> Job:
        return self.step(number, tasks) if number % 3 else self.plan(number, tasks)

    def run(self, jobs: list[Job], expected: list[float]) -> list[Ran]:
        rows = [answer.split() for answer in self._runner.run(jobs, expected)]
        return [(int(number), int(task), int(ran)) for number, task, ran in rows]


@pytest.fixture
def jobs(spark: SparkSession, tmp_path: Path) -> Jobs:
    return Jobs(spark, tmp_path)


KINDS = ["plan", "step", "either"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("number", [1, 2, 3, 30])
def test_small_jobs_share_tasks(spark: SparkSession, jobs: Jobs, kind: str, number: int) -> None:
    made = [getattr(jobs, kind)(at) for at in range(number)]
    for _ in range(2):
        answers = jobs.run(made, [1.0] * number)
        assert sorted(at for at, _, _ in answers) == list(range(number))
        assert len({ran for _, _, ran in answers}) == min(number, spark.sparkContext.defaultParallelism)


@pytest.mark.parametrize("kind", KINDS)
def test_jobs_that_take_long_leave_the_others_to_the_other_cores(spark: SparkSession, jobs: Jobs, kind: str) -> None:
    expected = [9.0, *[0.1] * (2 * spark.sparkContext.defaultParallelism)]
    answers = jobs.run([getattr(jobs, kind)(at) for at in range(len(expected))], expected)
    (long,) = [ran for number, _, ran in answers if number == 0]
    assert [number for number, _, ran in answers if ran == long] == [0]


def test_an_empty_plan_answers_nothing(spark: SparkSession, jobs: Jobs) -> None:
    empty = PlanJob(spark.sql("SELECT 'none' AS answer WHERE FALSE"))
    assert empty.tasks == 0
    assert jobs.run([empty], [1.0]) == []
    assert [number for number, _, _ in jobs.run([empty, jobs.plan(1), empty], [1.0] * 3)] == [1]


def test_every_job_is_in_one_part() -> None:
    chosen = random.Random(1)
    for number in range(2, 40):
        expected = [chosen.choice([0.0, 0.001, 1.0, chosen.random()]) for _ in range(number)]
        parts = balanced(expected, 2)
        assert sorted(at for part in parts for at in part) == list(range(number)) and all(parts)
        sums = [sum(expected[at] for at in part) for part in parts]
        assert max(sums) <= sum(expected) / 2 + max(expected) / 2 + 1e-9


@pytest.mark.parametrize("kind", KINDS)
def test_tasks_of_one_job_stay_apart(spark: SparkSession, jobs: Jobs, kind: str) -> None:
    answers = jobs.run([getattr(jobs, kind)(number, 1 + number % 2) for number in range(8)], [1.0] * 8)
    assert sorted((number, task) for number, task, _ in answers) == [
        (number, task) for number in range(8) for task in range(1 + number % 2)
    ]
    of_several = [ran for number, _, ran in answers if number % 2]
    assert len(set(of_several)) == len(of_several) == 8
    assert len({ran for _, _, ran in answers}) == 8 + min(4, spark.sparkContext.defaultParallelism)


def test_steps_run_in_the_python_workers_of_plans(spark: SparkSession, tmp_path: Path) -> None:
    def worker(task: int) -> ArrowBatches:
        yield pa.RecordBatch.from_pydict({"answer": [str(os.getpid())]})

    session = engine_session(spark)
    runner, tasks = SparkJobs(session), session.sparkContext.defaultParallelism
    made: list[Job] = [
        PlanJob(run_tasks(session, tasks, worker, ANSWER)),
        StepJob(worker, tasks, tmp_path),
    ]
    of_plans, of_steps = ({answer for _ in range(5) for answer in runner.run([job], [1.0])} for job in made)
    assert of_plans & of_steps


def test_each_step_has_a_file_of_its_own(jobs: Jobs, tmp_path: Path) -> None:
    for number in (1, 2, 1):
        assert [ran for ran, _, _ in jobs.run([StepJob(saying(number), 1, tmp_path)], [1.0])] == [number]
    assert len(list(tmp_path.iterdir())) == 2


def test_an_input_travels_with_its_job(spark: SparkSession, tmp_path: Path) -> None:
    def told(task: int) -> ArrowBatches:
        yield pa.RecordBatch.from_pydict({"answer": [input_text()]})

    runner = SparkJobs(spark)
    for job in (PlanJob(run_tasks(spark, 2, told, ANSWER)), StepJob(told, 2, tmp_path)):
        for text in ("first", "second", ""):
            assert runner.run([job], [1.0], {INPUT: text}) == [text] * 2


def test_a_step_that_somebody_else_wrote_is_not_run(tmp_path: Path) -> None:
    step = StepFile.write(tmp_path, saying(1))
    Path(step.path).write_bytes(Path(StepFile.write(tmp_path, saying(2)).path).read_bytes())
    with pytest.raises(ValueError, match="changed by another program"):
        step.load()
