"""Own workers: processes that run steps of Python beside the driver, without a job of Spark.

Python runs one thread at a time, so a driver that runs the steps of a batch by itself uses one core. A job of Spark
would use all, and costs more than most batches. An own worker is a process that the driver starts and keeps: a step is
sent to it once, and each time that it may run what changes from batch to batch (``job_input``), as to Spark's workers.
Which of the steps of a depth it runs, and which the driver, they settle among themselves (``claims``).

A worker takes about a second of another core to start, so it is started when steps have taken as long: what is paid for
in vain is at most what was paid before (the rule of ski rental; A. Karlin et al., Competitive snoopy caching, 1988).
"""

from __future__ import annotations

import atexit
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from multiprocessing.connection import Connection
from typing import Any
from weakref import WeakKeyDictionary, finalize

from workbench.engine.spark.claims import Claims, new_claims, offer
from workbench.engine.spark.interrupts import check_cancelled
from workbench.engine.spark.jobs import StepJob
from workbench.engine.spark.own_worker_process import BeginBatch, Collect, LaterWork, Request, StepAnswer
from workbench.engine.spark.own_worker_process import __name__ as PROCESS
from workbench.engine.spark.python_steps import pickled
from workbench.engine.spark.worker_daemon import NO_THREADS

MOST_WORKERS = 3
"""Own workers at most; a machine has one for each core but the driver's."""
_SECONDS_UNTIL_STARTED = 1.0
"""Of steps that workers could have run: about what one takes to start."""
_MOST_STARTED = 8
"""Own workers that a process starts, also in the place of those that have ended: where they cannot run none stays."""
_LOOKING = 0.05
"""Seconds from one look for an interrupt to the next."""


class OwnWorker:
    """The driver's side of one worker: one request at a time.

    Args:
        place: its number among the processes that claim steps; the driver is the first of them.
        claims: theirs.
    """

    def __init__(self, place: int, claims: Claims) -> None:
        self.place = place
        own, other = socket.socketpair()
        with other:
            passed = [other.fileno(), *claims.reading]
            code = f"from {PROCESS} import main; main({other.fileno()}, {place}, {[*claims.reading]})"
            paths = os.pathsep.join(path or os.getcwd() for path in sys.path)
            environment = os.environ | NO_THREADS | {"PYTHONPATH": paths}
            # A group of its own: an interrupt from the keyboard is for the driver.
            self.process = subprocess.Popen(
                [sys.executable, "-c", code],
                env=environment,
                pass_fds=passed,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )
        self._driver = Connection(own.detach())
        self._has_started = False
        self._owes = 1
        """Answers that are not read yet; the first says that the process has started."""
        self._numbers: WeakKeyDictionary[StepJob, int] = WeakKeyDictionary()
        self._next = 0
        self.gone: list[int] = []
        """Numbers of steps that it may forget, which the next request tells it."""

    @property
    def is_ready(self) -> bool:
        """Whether it waits for a request: it has started, and has answered all that it was asked.

        Raises:
            OSError, EOFError: it has ended, or its connection was closed.
        """
        if self._driver.closed:
            raise EOFError
        while self._owes and self._driver.poll():
            self._receive()
        return not self._owes

    @property
    def is_late(self) -> bool:
        """Whether it has not answered what it was asked for in an earlier batch, which has failed."""
        return self._has_started and bool(self._owes)

    def begin(self, later: Sequence[LaterWork] = ()) -> None:
        """Begin a batch.

        Args:
            later: what it does when no step waits; ``collect`` gives the results.
        """
        self._send(BeginBatch(later))

    def ask(self, jobs: Sequence[StepJob], inputs: str, seconds: float) -> None:
        """Let it run the steps that it claims; ``answers`` waits for them.

        Args:
            jobs: of one task each, by the number of the claim; without functions of the analyst.
            inputs: of the jobs.
            seconds: of the processor that each may take.
        """
        new = {self._number(job): pickled(job.step) for job in jobs if job not in self._numbers}
        gone = self.gone.copy()
        del self.gone[: len(gone)]
        self._send(Request(new, gone, [self._numbers[job] for job in jobs], inputs, seconds))
        self._owes += 1

    def answers(self) -> dict[int, StepAnswer]:
        """The answers of the steps that it has claimed.

        Raises:
            Cancelled: the work of this thread was interrupted.
            OSError, EOFError: it has ended.
        """
        answers: dict[int, StepAnswer] = self._awaited()
        return answers

    def collect(self) -> list[Any]:
        """The results of the work to do later, in its order; ``None`` for work that failed.

        Raises:
            Cancelled: the work of this thread was interrupted.
            OSError, EOFError: it has ended.
        """
        self._send(Collect())
        self._owes += 1
        done: list[Any] = self._awaited()
        return done

    def end(self) -> None:
        """End the process."""
        self._driver.close()
        self.process.kill()
        self.process.wait()

    def _awaited(self) -> Any:
        while not self._driver.poll(_LOOKING):
            check_cancelled()
        return self._receive()

    def _send(self, message: BeginBatch | Request | Collect) -> None:
        with self._closed_on_errors():
            self._driver.send(message)

    @contextmanager
    def _closed_on_errors(self) -> Iterator[None]:
        """Close the connection where an interrupt may have left a part of a message in it: the worker ends then."""
        try:
            yield
        except BaseException:
            self._driver.close()
            raise

    def _receive(self) -> Any:
        with self._closed_on_errors():
            answer = self._driver.recv()
        self._has_started = True
        self._owes -= 1
        return answer

    def _number(self, job: StepJob) -> int:
        number = self._numbers[job] = self._next
        self._next += 1
        finalize(job, self.gone.append, number).atexit = False
        return number


class OwnWorkers:
    """The own workers of this process, for one batch of one of its sessions at a time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.workers: list[OwnWorker] = []
        self._started = 0
        self._process = os.getpid()

    @cached_property
    def _claims(self) -> tuple[Claims, list[int]]:
        return new_claims(1 + self.most)

    @property
    def most(self) -> int:
        """How many there may be."""
        return min(MOST_WORKERS, _cores() - 1)

    def start(self, seconds: float) -> None:
        """Start what is missing, unless steps have taken less than that is worth, or a batch has the others.

        Args:
            seconds: of the processor that steps have taken one after the other.
        """
        if seconds < _SECONDS_UNTIL_STARTED or self._process != os.getpid() or not self._lock.acquire(blocking=False):
            return
        try:
            places = {*range(1, 1 + self.most)} - {worker.place for worker in self.workers}
            for place in places if self._started < _MOST_STARTED else ():
                self._started += 1
                with suppress(OSError):  # no memory, or no processes: there is one way less
                    self.workers.append(OwnWorker(place, self._claims[0]))
        finally:
            self._lock.release()

    @contextmanager
    def borrowed(self) -> Iterator[list[OwnWorker]]:
        """Those that are ready, for a batch; none while another batch has them."""
        if self._process != os.getpid() or not self._lock.acquire(blocking=False):
            yield []
            return
        try:
            ready = [worker for worker in [*self.workers] if self._is_ready(worker)]
            # One that is late might claim what it was not asked for.
            yield ready if not any(worker.is_late for worker in self.workers) else []
        finally:
            self._lock.release()

    def offer(self, numbers: Mapping[int, Sequence[int]]) -> None:
        """Offer steps to the processes that claim them.

        Args:
            numbers: of the claims, by the place of the process that had best claim them: 0 is this process.
        """
        claims, writing = self._claims
        for _ in claims.claimed(0):
            pass  # what was offered before an error is not asked for any more
        offer(writing, [numbers.get(place, ()) for place in range(len(writing))])

    def claimed(self) -> Iterator[int]:
        """The numbers that this process claims, each when it asks for the next one."""
        return self._claims[0].claimed(0)

    def end(self) -> None:
        """End all of them; a process that is forked from this one has none."""
        if self._process != os.getpid():
            return
        with self._lock:
            self._started = 0
            while self.workers:
                self.workers.pop().end()

    def lose(self, worker: OwnWorker) -> None:
        """Do without a worker that has ended; the caller has borrowed it."""
        self.workers.remove(worker)
        worker.end()

    def _is_ready(self, worker: OwnWorker) -> bool:
        try:
            return worker.is_ready
        except (OSError, EOFError):
            self.lose(worker)
            return False


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


OWN_WORKERS = OwnWorkers()
atexit.register(OWN_WORKERS.end)
