"""Which steps the driver runs, and what becomes of one that takes long, fails, or is interrupted."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import cast

import pyarrow as pa
import pytest

from workbench import Session
from workbench.engine.operators.filter_and_write import Answer, FilterAndWrite, WrittenRows
from workbench.engine.operators.runner import Runner
from workbench.engine.spark.arrow_tasks import ArrowBatches, TakesTooLong, attempt_here, go_on, task_attempt
from workbench.engine.spark.failures import translate_errors
from workbench.engine.spark.in_process import InProcess
from workbench.engine.spark.interrupts import Cancelled, Interrupted, Interrupts
from workbench.engine.spark.job_properties import INPUT
from workbench.engine.spark.jobs import Job, StepJob
from workbench.errors import EngineError
from workbench.limits import Limits

ANSWER = Answer("G", [], [], 3, [], [], 0.0, {})


class Workers(InProcess):
    """In the place of Spark: it says how many jobs it was given."""

    def __init__(self) -> None:
        super().__init__()
        self.jobs = 0
        self.limits = Limits(milliseconds_stepped_in_process=20)

    def run(self, jobs: list[Job], expected: list[float], sent: Mapping[str, str]) -> list[str]:  # type: ignore[override]
        self.jobs += len(jobs)
        return [json.dumps(vars(ANSWER) | {"token": json.loads(sent[INPUT])["token"]}) for _ in jobs]


class Write:
    """In the place of filter-and-write."""

    def write(self, batches: ArrowBatches) -> Answer:
        for _ in batches:
            go_on()
        return ANSWER


def answering(task: int) -> ArrowBatches:
    return iter([])


def endless(task: int) -> ArrowBatches:
    while True:
        yield pa.RecordBatch.from_pydict({})


def large(task: int) -> ArrowBatches:
    raise MemoryError


def wrong(task: int) -> ArrowBatches:
    raise KeyError("a")


def unread(task: int) -> ArrowBatches:
    raise FileNotFoundError("b.arrow")


def job(step: Callable[[int], ArrowBatches], tasks: int = 1, calls: bool = False) -> StepJob:
    return StepJob(written(step), tasks, Path("unused"), calls)


def written(step: Callable[[int], ArrowBatches]) -> WrittenRows:
    return WrittenRows(step, cast(FilterAndWrite, Write()))


@pytest.fixture
def workers() -> Workers:
    return Workers()


def run(workers: Workers, tmp_path: Path, made: StepJob, small: bool = True) -> bool:
    """Whether the driver ran a step."""
    runner = Runner(workers, tmp_path, {})
    deltas = runner.run({"G": made}, ["G"] if small else [])
    assert deltas["G"].rows_in == 3
    assert deltas["G"].here != bool(workers.jobs)
    return deltas["G"].here


def test_the_driver_runs_a_step_over_few_rows(workers: Workers, tmp_path: Path) -> None:
    assert run(workers, tmp_path, job(answering))


@pytest.mark.parametrize("made", [job(answering, tasks=2), job(answering, calls=True), job(endless), job(large)])
def test_workers_run_what_is_more(workers: Workers, tmp_path: Path, made: StepJob) -> None:
    assert not run(workers, tmp_path, made)


@pytest.mark.parametrize(("step", "message"), [(wrong, r"could not add: KeyError\('a'\)"), (unread, "b.arrow")])
def test_a_wrong_step_is_told_at_once(
    workers: Workers, tmp_path: Path, step: Callable[[int], ArrowBatches], message: str
) -> None:
    with pytest.raises(EngineError, match=message), translate_errors("add"):
        run(workers, tmp_path, job(step))
    assert not workers.jobs


def test_workers_run_a_step_over_many_rows(workers: Workers, tmp_path: Path) -> None:
    assert not run(workers, tmp_path, job(answering), small=False)


def test_what_has_taken_long_is_not_tried_again(workers: Workers, tmp_path: Path) -> None:
    runner, tried = Runner(workers, tmp_path, {}), []

    def step(task: int) -> ArrowBatches:
        tried.append(task)
        return endless(task)

    for _ in range(3):
        assert not runner.run({"G": job(step)}, ["G"])["G"].here
    assert tried == [0] and workers.jobs == 3


def test_what_workers_do_fast_is_tried_again(workers: Workers, tmp_path: Path) -> None:
    """As where indexes of all rows were made in the first batch."""
    runner, tried = Runner(workers, tmp_path, {}), []

    def step(task: int) -> ArrowBatches:
        tried.append(task)
        return answering(task) if len(tried) > 1 else endless(task)

    with ThreadPoolExecutor(1) as threads:
        here = [runner.run({"G": job(step)}, ["G"], threads=threads)["G"].here for _ in range(3)]
    assert here == [False, True, True]


def test_steps_over_some_rows_are_run_side_by_side(workers: Workers, tmp_path: Path) -> None:
    together = threading.Barrier(3, timeout=120)

    def step(task: int) -> ArrowBatches:
        together.wait()  # breaks, and fails the test, unless all three are here at a time
        return iter(())

    runner = Runner(workers, tmp_path, {})
    with ThreadPoolExecutor(2) as threads:
        found = runner.run(dict.fromkeys("ABC", job(step)), ["A"], ["B", "C"], threads)
    assert [*found] == ["A", "B", "C"] and all(delta.here for delta in found.values()) and not workers.jobs


def test_rows_and_bytes_are_few(workers: Workers, tmp_path: Path) -> None:
    workers.limits = Limits(rows_stepped_in_process=5)
    runner = Runner(workers, tmp_path, {})
    assert runner.is_small(5, []) and not runner.is_small(6, [])


def test_a_step_takes_the_time_that_it_has() -> None:
    started = time.thread_time()
    with pytest.raises(TakesTooLong), attempt_here(0.02):
        written(endless).answer(0)
    assert 0.02 <= time.thread_time() - started < 1
    assert task_attempt() == -1  # the thread runs no task any more


def test_an_interrupt_stops_a_step(workers: Workers, tmp_path: Path) -> None:
    workers.limits = Limits(milliseconds_stepped_in_process=10**6)
    interrupts, runner = Interrupts(workers), Runner(workers, tmp_path, {})
    threading.Timer(0.05, interrupts.interrupt).start()
    with pytest.raises(Interrupted) as stopped, interrupts.stoppable():
        runner.run({"G": job(endless)}, ["G"])
    assert isinstance(stopped.value.__cause__, Cancelled) and not workers.jobs


@pytest.mark.parametrize(
    "sql",
    [
        "SUM(f(x)) AS s FROM t",
        "x, SUM(f(x)) OVER (ORDER BY x) AS s FROM t",
        "f(x) AS s FROM t UNION ALL SELECT x FROM t",
    ],
)
def test_a_step_that_calls_a_function_of_the_analyst_says_so(monkeypatch: pytest.MonkeyPatch, sql: str) -> None:
    made: list[bool] = []

    def noted(runner: Runner, step: Callable[[int], ArrowBatches], *given: object, **named: object) -> Job:
        job_ = original(runner, step, *given, **named)  # type: ignore[arg-type]
        assert isinstance(job_, StepJob)
        made.append(job_.calls)
        return job_

    original = Runner.task_job
    monkeypatch.setattr(Runner, "task_job", noted)
    with Session(InProcess()) as session:
        session.add_stream("t", pa.table({"x": [1.0, 2.0]}), history=1, batch=1)
        session.add_function("f", lambda x: 2 * x, returns="double")
        query = session.register(f"SELECT {sql}")
        assert made == [True]
        session.run(1)
        assert query.result()["s"].sum() in (6.0, 8.0, 9.0)


@pytest.mark.parametrize(("rows", "queries", "here"), [(40, 1, True), (60, 1, False), (40, 2, True), (10, 2, True)])
def test_the_driver_runs_more_rows_by_threads(rows: int, queries: int, here: bool) -> None:
    with Session(InProcess(), limits=Limits(rows_stepped_in_process=10)) as session:
        numbers = pa.array(range(2 * rows))
        session.add_stream("t", pa.table({"x": numbers, "y": numbers}), history=rows, batch=rows)
        for columns in ("x, COUNT(*) AS n FROM t GROUP BY x", "y, LAG(x) OVER (PARTITION BY y ORDER BY x) AS b FROM t")[
            :queries
        ]:
            session.register(f"SELECT {columns}")
        (report,) = session.run(1)
    assert [operator.here for operator in report.operators if operator.name[0] != "F"] == [here] * queries
