"""A cluster without a JVM: worker processes that run the steps of a session's jobs, each with a disk of its own.

Where the session is in a store, the workers have none of the driver's files: their folders are others. A process that
is killed is begun anew with an empty disk, and what it was asked for is tried again, as Spark does.
"""

from __future__ import annotations

import errno
import multiprocessing
import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import IntEnum
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random

from workbench.engine.spark.arrow_tasks import attempt_here
from workbench.engine.spark.in_process import InProcess
from workbench.engine.spark.job_properties import INPUT, NO_PROPERTIES, SHARED, inputs_here
from workbench.engine.spark.jobs import Job, StepJob
from workbench.engine.spark.python_steps import StepFile
from workbench.files.packs import PACKING
from workbench.files.shared import share_here
from workbench.files.store import FolderStore


class _Fate(IntEnum):
    """What becomes of an attempt: nobody hears of one that fails when it has written, or is too slow."""

    ANSWERS = 0
    FAILS = 1
    IS_SLOW = 2


IMPORTED = ["workbench.engine.operators.evaluate", "workbench.engine.spark.arrow_tasks"]
"""Processes are forked from one that has imported what steps need, which takes a process a second."""

_Work = tuple[list[tuple[StepFile, int]], dict[str, str]]


class WorkerProcesses(InProcess):
    """Runs steps in some processes, which last until the end of the block that ``worker_processes`` is.

    Args:
        disks: where each process gets a folder of its own.
        number: of the processes.
        failing: the part of first attempts that fail when they have written; the next attempt does not.
        slow: the part of first attempts that go on while another process has the next one, as by speculation.
        late: for how many seconds the store does not show them a new file.
    """

    def __init__(self, disks: Path, number: int, failing: float = 0.0, late: float = 0.0, slow: float = 0.0) -> None:
        super().__init__()
        self.failing, self.slow, self.late = failing, slow, late
        self.jobs = self.tried_again = 0
        self._disks, self._begun = disks, 0
        self._lock = threading.Lock()
        self._chance = Random(number)
        self._processes = [self._begin() for _ in range(number)]

    @property
    def cores(self) -> int:  # type: ignore[override]
        """A core for each."""
        return len(self._processes)

    @property
    def pids(self) -> list[int]:
        """Of the processes that run now."""
        return [process.pid or 0 for process, _ in self._processes]

    @property
    def disks(self) -> list[Path]:
        """The folders of all processes that were begun."""
        return [self._disks / str(number) for number in range(self._begun)]

    def run(self, jobs: Sequence[Job], expected: Sequence[float], sent: Mapping[str, str] = NO_PROPERTIES) -> list[str]:
        """The answers of some steps, task by task to the processes in turn."""
        self.jobs += 1
        work: list[_Work] = [([], dict(sent)) for _ in self._processes]
        for job in jobs:
            assert isinstance(job, StepJob)
            for task in range(job.tasks):
                least = min(work, key=lambda of_worker: len(of_worker[0]))
                least[0].append((job.file, task))
        with self._lock:
            answers, waiting = list[str](), {at: of_worker for at, of_worker in enumerate(work) if of_worker[0]}
            for first in (True, *[False] * 8):
                answered = self._attempt(waiting, first)
                answers += [text for texts in answered.values() for text in texts]
                others = {at: of_worker for at, of_worker in waiting.items() if at not in answered}
                waiting = {(at + 1) % len(self._processes): of_worker for at, of_worker in others.items()}
                if not waiting:
                    return answers
                self.tried_again += len(waiting)
        raise OSError("a worker was lost nine times")

    def settle(self) -> None:
        """Wait until no process goes on with an attempt of which nobody hears."""
        with self._lock:
            self._attempt({at: ([], {}) for at in range(len(self._processes))}, first=False)

    def end(self) -> None:
        """End all processes."""
        for process, _ in self._processes:
            process.kill()
            process.join()

    def _attempt(self, waiting: Mapping[int, _Work], first: bool) -> dict[int, list[str]]:
        """The answers of the processes that were not lost, and whose attempt did not fail and is not slow."""
        fates, answered = {at: self._fate() if first else _Fate.ANSWERS for at in waiting}, dict[int, list[str]]()
        for at in waiting:
            if not self._processes[at][0].is_alive():
                self._processes[at] = self._begin()
        lost = set[int]()
        for at, of_worker in waiting.items():
            try:
                self._processes[at][1].send((*of_worker, fates[at]))
            except OSError:
                lost.add(at)
        problems = list[Exception]()
        for at in waiting.keys() - lost:
            try:
                answer = self._processes[at][1].recv()
            except (EOFError, OSError):
                self._processes[at][0].join()
                continue
            if isinstance(answer, Exception):
                problems.append(answer)
            elif answer is not None:
                answered[at] = answer
        if problems:  # all have answered: none of that is taken for the next job's
            raise problems[0]
        return answered

    def _fate(self) -> _Fate:
        chance = self._chance.random()
        if chance < self.failing:
            return _Fate.FAILS
        return _Fate.IS_SLOW if chance < self.failing + self.slow else _Fate.ANSWERS

    def _begin(self) -> tuple[multiprocessing.process.BaseProcess, Connection]:
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(IMPORTED)
        own, theirs = context.Pipe()
        (disk := self._disks / str(self._begun)).mkdir()
        self._begun += 1
        process = context.Process(target=_serve, args=(theirs, dict(os.environ), str(disk), self.late), daemon=True)
        process.start()
        theirs.close()  # else nobody would notice that the process is gone
        return process, own


@contextmanager
def worker_processes(
    number: int, failing: float = 0.0, late: float = 0.0, slow: float = 0.0
) -> Iterator[WorkerProcesses]:
    """Some processes that run steps; see ``WorkerProcesses``."""
    with tempfile.TemporaryDirectory(prefix="argus-workers-", ignore_cleanup_errors=True) as disks:
        workers = WorkerProcesses(Path(disks), number, failing, late, slow)
        try:
            yield workers
        finally:
            workers.end()


def _serve(pipe: Connection, environment: Mapping[str, str], disk: str, late: float) -> None:
    os.environ |= {**environment, "SPARK_LOCAL_DIRS": disk}
    if late:
        FolderStore.get = _shown_late(late)  # type: ignore[method-assign]
    while True:
        steps, sent, fate = pipe.recv()
        answers: list[str] = []
        if fate is _Fate.IS_SLOW:
            pipe.send(None)
        try:
            share_here(sent.get(SHARED, ""))
            with inputs_here(sent.get(INPUT, "")), PACKING.collecting(), attempt_here():
                for file, task in steps:
                    for batch in file.load()(task):
                        answers += batch.column(0).to_pylist()
                PACKING.seal()
            answer: list[str] | Exception | None = None if fate is _Fate.FAILS else answers
        except Exception as problem:
            answer = problem
        if fate is not _Fate.IS_SLOW:
            pipe.send(answer)


def _shown_late(seconds: float) -> Callable[..., bytes]:
    """What reads a store that does not show a file until it is some seconds old, as NFS with cached attributes does."""
    read = FolderStore.get

    def get(store: FolderStore, name: str, *part: int) -> bytes:
        path = Path(store.folder, name)
        if time.time() - path.stat().st_mtime < seconds:
            raise FileNotFoundError(errno.ENOENT, "not shown yet", str(path))
        return read(store, name, *part)

    return get
