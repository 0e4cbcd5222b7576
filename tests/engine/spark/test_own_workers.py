"""Own workers run steps beside the driver; what they cannot do, or do not live to do, the driver does."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import pyarrow as pa
import pytest

from workbench import Session
from workbench.engine.operators.runner import Runner
from workbench.engine.spark.arrow_tasks import ArrowBatches, go_on
from workbench.engine.spark.in_process import InProcess
from workbench.engine.spark.interrupts import Cancelled, Interrupted, Interrupts
from workbench.engine.spark.jobs import StepJob
from workbench.engine.spark.own_worker_process import StepAnswer
from workbench.engine.spark.own_workers import OwnWorker, OwnWorkers
from workbench.engine.storage.job_input import inputs_of_job
from workbench.files.packs import PACKING
from workbench.files.writing import NewFile
from workbench.limits import Limits

NO_INPUTS, _ = inputs_of_job([])
SECONDS = 60.0
BESIDE = Limits(milliseconds_stepped_alone=0, runs_per_merge=2, runs_merged_later=1)


def answering(text: str, task: int) -> ArrowBatches:
    yield pa.RecordBatch.from_pydict({"answer": [text]})


def endless(task: int) -> ArrowBatches:
    while True:
        go_on()
        time.sleep(0)
        yield from ()


def failing(task: int) -> ArrowBatches:
    raise ValueError("no")


def job(step: Callable[[int], ArrowBatches]) -> StepJob:
    return StepJob(step, 1, Path())


@pytest.fixture
def worker(own_worker: OwnWorkers) -> Iterator[OwnWorker]:
    with own_worker.borrowed() as (worker,):
        yield worker


def asked(own_worker: OwnWorkers, worker: OwnWorker, jobs: Sequence[StepJob], seconds: float = SECONDS) -> None:
    """Ask the worker for all of some jobs."""
    own_worker.offer({worker.place: range(len(jobs))})
    worker.ask(jobs, NO_INPUTS, seconds)


def test_a_worker_answers_what_it_was_asked_for(own_worker: OwnWorkers, worker: OwnWorker) -> None:
    jobs = [job(partial(answering, text)) for text in "abc"]
    for _ in range(3):
        asked(own_worker, worker, jobs)
        assert {claim: answer.text for claim, answer in worker.answers().items()} == {0: "a", 1: "b", 2: "c"}


def test_a_step_is_sent_once_and_forgotten_with_its_job(own_worker: OwnWorkers, worker: OwnWorker) -> None:
    sent: list[int] = []
    jobs = [StepJob(Noted(sent), 1, Path())]
    for _ in range(2):
        asked(own_worker, worker, jobs)
        assert worker.answers()[0].text == "{}"
    assert sent == [1]
    jobs.clear()
    gc.collect()
    assert worker.gone == [0]


class Noted:
    """A step that says when it is pickled."""

    def __init__(self, sent: list[int]) -> None:
        self.sent = sent

    def __reduce__(self) -> tuple[Callable[..., object], tuple[object, ...]]:
        self.sent.append(1)
        return partial, (answering, "{}")

    def __call__(self, task: int) -> ArrowBatches:
        return answering("{}", task)


def test_it_says_what_failed_and_what_took_too_long(own_worker: OwnWorkers, worker: OwnWorker) -> None:
    asked(own_worker, worker, [job(failing), job(endless), job(partial(answering, "{}"))], seconds=0.05)
    answers = worker.answers()
    failed, long, fine = (answers[claim] for claim in range(3))
    assert failed.failed and not failed.text
    assert not long.failed and not long.text and long.seconds >= 0.05
    assert fine.text == "{}"


def test_later_work_is_collected_in_its_order(worker: OwnWorker) -> None:
    worker.begin([partial(pow, 2, n) for n in range(5)])
    assert worker.collect() == [1, 2, 4, 8, 16] and worker.collect() == []
    worker.begin([partial(json.loads, "["), partial(int, "7")])
    assert worker.collect() == [None, 7]
    worker.begin([partial(time.sleep, 0)])
    worker.begin()  # another batch: what was to be done in the last one is not asked for
    assert worker.collect() == []


def test_an_interrupt_leaves_the_worker_to_what_it_does(own_worker: OwnWorkers) -> None:
    interrupts = Interrupts(InProcess())
    with own_worker.borrowed() as (worker,), pytest.raises(Interrupted) as stopped, interrupts.stoppable():
        asked(own_worker, worker, [job(endless)], seconds=0.5)
        threading.Timer(0.05, interrupts.interrupt).start()
        worker.answers()
    assert isinstance(stopped.value.__cause__, Cancelled)
    with own_worker.borrowed() as none:
        assert none == [] and worker.is_late
    while not worker.is_ready:
        time.sleep(0.01)
    with own_worker.borrowed() as (again,):
        assert again is worker


def test_a_worker_ends_where_a_message_was_cut(own_worker: OwnWorkers) -> None:
    with own_worker.borrowed() as (worker,), pytest.raises(KeyboardInterrupt):
        worker.begin([Interrupting()])
    with own_worker.borrowed() as none:
        assert none == [] and not own_worker.workers
    assert worker.process.returncode is not None


class Interrupting:
    """Work that is interrupted as it is sent."""

    def __call__(self) -> None:
        """Nothing."""

    def __reduce__(self) -> str:
        raise KeyboardInterrupt


def test_one_batch_has_them_at_a_time(own_worker: OwnWorkers) -> None:
    with own_worker.borrowed() as (_,), own_worker.borrowed() as none:
        assert none == []


def test_they_start_when_steps_have_taken_long(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[int] = []
    monkeypatch.setattr("workbench.engine.spark.own_workers._cores", lambda: 3)
    monkeypatch.setattr("workbench.engine.spark.own_workers.OwnWorker", lambda place, claims: started.append(place))
    workers = OwnWorkers()
    workers.start(0.5)
    assert not started
    workers.start(1.5)
    assert started == [1, 2]


def test_one_that_ends_at_once_is_not_started_for_ever(own_worker: OwnWorkers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.engine.spark.own_workers.PROCESS", "workbench.no_such_module")
    own_worker.end()
    ended: list[int] = []
    for _ in range(20):
        own_worker.start(SECONDS)
        for worker in own_worker.workers:
            worker.process.wait()
            ended.append(worker.process.pid)
        with own_worker.borrowed() as none:
            assert none == []
    assert len(set(ended)) == 8


QUERIES = (
    "SELECT g, COUNT(*) AS n, MAX(x) AS most FROM t GROUP BY g",
    "SELECT a.x, b.x AS y FROM t a JOIN u b ON a.x = b.x",
    "SELECT x, SUM(x) OVER (PARTITION BY g ORDER BY x) AS s FROM t",
    "SELECT DISTINCT g FROM u",
)


def answers(session: Session) -> list[list[tuple[object, ...]]]:
    tables = (session.query(name).result() for name in session.queries)
    return [sorted(table.itertuples(index=False, name=None)) for table in tables]


def with_streams(limits: Limits) -> Session:
    session = Session(InProcess(), limits=limits)
    for name in "tu":
        numbers = pa.array(range(400))
        session.add_stream(name, pa.table({"x": numbers, "g": pa.array([n % 7 for n in range(400)])}), 40, 40)
    for text in QUERIES:
        session.register(text)
    return session


@pytest.fixture
def slow_driver(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A driver that is slower than its worker; the trees whose steps it runs."""
    ran: list[str] = []

    def slowly(runner: Runner, tree: str, job: StepJob, milliseconds: int) -> object:
        time.sleep(0.01)
        ran.append(tree)
        return original(runner, tree, job, milliseconds)

    original = Runner.run_here
    monkeypatch.setattr(Runner, "run_here", slowly)
    return ran


@pytest.mark.parametrize("dies", [False, True])
def test_a_batch_is_the_same_with_workers(
    own_worker: OwnWorkers, slow_driver: list[str], monkeypatch: pytest.MonkeyPatch, dies: bool
) -> None:
    by_worker: list[StepAnswer] = []
    collected: list[object] = []

    def noted(worker: OwnWorker) -> dict[int, StepAnswer]:
        found = original(worker)
        by_worker.extend(found.values())
        if dies and len(by_worker) > 20:
            worker.process.kill()
        return found

    original, collect = OwnWorker.answers, OwnWorker.collect
    monkeypatch.setattr(OwnWorker, "answers", noted)
    monkeypatch.setattr(OwnWorker, "collect", lambda worker: collected.append(found := collect(worker)) or found)
    with with_streams(BESIDE) as session, with_streams(Limits()) as alone:
        for _ in range(9):
            session.run(1)
            alone.run(1)
            assert answers(session) == answers(alone)
        assert len(by_worker) > 20 and all(answer.text for answer in by_worker)
        assert any(collected) and bool(slow_driver)
        assert len(own_worker.workers) == (0 if dies else 1)


def test_what_fails_in_a_worker_is_run_by_the_driver(
    own_worker: OwnWorkers, slow_driver: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    failed: list[int] = []

    def all_failed(worker: OwnWorker) -> dict[int, StepAnswer]:
        found = original(worker)
        failed.extend(found)
        return {claim: StepAnswer("", 0.0, failed=True) for claim in found}

    original = OwnWorker.answers
    monkeypatch.setattr(OwnWorker, "answers", all_failed)
    with with_streams(BESIDE) as session, with_streams(Limits()) as alone:
        session.run(3)
        alone.run(3)
        assert failed and answers(session) == answers(alone)


def test_a_worker_leaves_no_file_open_of_an_earlier_batch(own_worker: OwnWorkers, slow_driver: list[str]) -> None:
    with with_streams(BESIDE) as session:
        session.run(4)
        (worker,) = own_worker.workers
        folder = Path(f"/proc/{worker.process.pid}/fd")
        if not folder.exists():
            pytest.skip("only Linux tells which files a process has open")
        packs = [link for link in folder.iterdir() if "/packs/" in os.readlink(link)]
        assert len(packs) <= 1


def test_a_batch_that_fails_leaves_no_rows(own_worker: OwnWorkers, slow_driver: list[str], tmp_path: Path) -> None:
    with with_streams(BESIDE) as session:
        session.run(2)
        before = answers(session)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(NewFile, "write", no_room)
            with pytest.raises(Exception, match="No space"):
                session.run(1)
        assert answers(session) == before
        session.run(2)
        with with_streams(Limits()) as alone:
            alone.run(4)
            assert answers(session) == answers(alone)


def no_room(file: NewFile, data: object) -> int:
    raise OSError(28, "No space left on device")


def test_a_pack_that_could_not_be_shown_is_written_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with PACKING.collecting():
        first = PACKING.add(str(tmp_path / "G1"), pa.py_buffer(b"a" * 100))
        PACKING.show()
        PACKING.add(str(tmp_path / "G1"), pa.py_buffer(b"b" * 100))
        with monkeypatch.context() as patch, pytest.raises(OSError, match="No space"):
            patch.setattr(NewFile, "write", no_room)
            PACKING.show()
        assert first is not None
        file = Path(first.split("@")[0])
        assert not file.exists()
        PACKING.seal()
        assert file.read_bytes() == b"a" * 100 + bytes(28) + b"b" * 100 + bytes(28)


def test_packs_that_are_shown_go_on_being_filled(tmp_path: Path) -> None:
    with PACKING.collecting():
        first = PACKING.add(str(tmp_path / "G1"), pa.py_buffer(b"a" * 100))
        PACKING.show()
        second = PACKING.add(str(tmp_path / "G1"), pa.py_buffer(b"b" * 100))
        assert first is not None and second is not None
        file = Path(first.split("@")[0])
        assert file == Path(second.split("@")[0]) and file.stat().st_size == 128
        PACKING.show()
        assert file.read_bytes()[128:228] == b"b" * 100
        PACKING.leave()
        assert file.stat().st_size == 256 and PACKING.waiting(first) is None
        third = PACKING.add(str(tmp_path / "G1"), pa.py_buffer(b"c"))
        PACKING.show()
        assert third is not None and Path(third.split("@")[0]) != file
    assert [*file.parent.iterdir()] == [file]  # what was not left is dropped at the end


SCRIPT = """
import os, sys, time
import pyarrow as pa
from workbench import Session
from workbench.engine.operators.runner import Runner
from workbench.engine.spark import own_workers
from workbench.engine.spark.in_process import InProcess
from workbench.limits import Limits

own_workers._cores = lambda: 2
own_workers.OWN_WORKERS.start(60)
while True:
    with own_workers.OWN_WORKERS.borrowed() as ready:
        if ready:
            break
    time.sleep(0.05)
here = Runner.run_here
Runner.run_here = lambda *given: time.sleep(0.01) or here(*given)
session = Session(InProcess(), path=sys.argv[2], limits=Limits(milliseconds_stepped_alone=0))
rows = pa.table({"x": pa.array(range(400)), "g": pa.array([n % 7 for n in range(400)])})
session.add_stream("t", rows, 40, 40)
for text in sys.argv[3:]:
    session.register(text)
session.run(4)
print([worker.process.pid for worker in ready][0], flush=True)
if sys.argv[1] == "dies":
    os._exit(0)  # the worker ends when it sees that
"""


@pytest.mark.parametrize("driver", ["dies", "ends"])
def test_what_a_worker_has_written_outlives_it_and_the_driver(tmp_path: Path, driver: str) -> None:
    texts = [text for text in QUERIES if " u " not in text and not text.endswith(" u")]
    command = [sys.executable, "-c", SCRIPT, driver, str(tmp_path / "session"), *texts]
    worker = int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    while Path(f"/proc/{worker}").exists():
        time.sleep(0.05)
    with Session.open(tmp_path / "session", InProcess()) as session, with_streams(Limits()) as alone:
        alone.run(4)
        expected = [rows for text, rows in zip(QUERIES, answers(alone), strict=True) if text in texts]
        assert answers(session) == expected
        session.run(2)
