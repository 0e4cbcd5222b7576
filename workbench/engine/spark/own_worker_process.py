"""The process of an own worker: it runs the steps that the driver sends it, until the driver ends (``own_workers``)."""

from __future__ import annotations

import gc
import importlib
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

import pyarrow as pa
from pyspark import cloudpickle

from workbench.engine.spark.arrow_tasks import ArrowBatches, TakesTooLong, attempt_here, prepare_worker
from workbench.engine.spark.claims import Claims
from workbench.engine.spark.job_properties import inputs_here
from workbench.engine.spark.worker_daemon import OPERATORS
from workbench.files.packs import PACKING

READY = "ready"
"""What the process sends first, when it has imported what operators need."""


LaterWork = Callable[[], Any]
"""What is done when there is nothing else to do; ``pickle`` must take it, and what it gives."""


class BeginBatch(NamedTuple):
    """A batch begins: what was to be done in the last one is not asked for any more.

    Attributes:
        later: work to do when no step waits; ``Collect`` asks for what it gives.
    """

    later: Sequence[LaterWork]


class Collect(NamedTuple):
    """Ask for what all work gives that was to be done later."""


class Request(NamedTuple):
    """Steps to run at once.

    Attributes:
        new: steps as they are pickled, by the numbers that they have from now on.
        gone: numbers of steps that will not be asked for any more.
        steps: the numbers of those that it may claim, by the number of the claim.
        inputs: of the job (``inputs_of_job``).
        seconds: of the processor that each may take.
    """

    new: dict[int, bytes]
    gone: Sequence[int]
    steps: Sequence[int]
    inputs: str
    seconds: float


class StepAnswer(NamedTuple):
    """What became of a step.

    Attributes:
        text: its answer; "" where it has none.
        seconds: of the processor that it took.
        failed: whether it failed, and did not take too long: who runs it again finds out why.
    """

    text: str
    seconds: float
    failed: bool = False


class OwnWorkerProcess:
    """Does what the driver asks for, and keeps steps for the next time.

    Args:
        driver: the connection to it.
        place: the number of this process among those that claim steps.
        claims: theirs.
    """

    def __init__(self, driver: Connection, place: int, claims: Claims) -> None:
        self._driver, self._place, self._claims = driver, place, claims
        self._steps: dict[int, bytes | Callable[[int], ArrowBatches]] = {}
        self._later: deque[LaterWork] = deque()
        self._done: list[Any] = []

    def run(self) -> None:
        """Answer until the driver has closed its end of the connection.

        Raises:
            EOFError, OSError: it has.
        """
        self._driver.send(READY)
        while True:
            if self._later and not self._driver.poll():
                self._work()
                continue
            match self._driver.recv():
                case BeginBatch(later):
                    self._begin(later)
                case Request() as request:
                    self._driver.send(self._answers(request))
                case Collect():
                    self._driver.send(self._collected())

    def _begin(self, later: Sequence[LaterWork]) -> None:
        prepare_worker()
        PACKING.leave()  # what was written is committed, or will never be
        self._later, self._done = deque(later), []

    def _work(self) -> None:
        try:
            with attempt_here():
                self._done.append(self._later.popleft()())
        except Exception:
            self._done.append(None)

    def _collected(self) -> list[Any]:
        while self._later:
            self._work()
        PACKING.show()
        done, self._done = self._done, []
        return done

    def _answers(self, request: Request) -> dict[int, StepAnswer]:
        """The answers of the steps that this process has claimed, by the numbers of the claims."""
        for number in request.gone:
            self._steps.pop(number, None)
        self._steps |= request.new
        with inputs_here(request.inputs):
            claimed = self._claims.claimed(self._place)
            answers = {claim: self._answer(request.steps[claim], request.seconds) for claim in claimed}
        if answers:
            PACKING.show()
        return answers

    def _answer(self, number: int, seconds: float) -> StepAnswer:
        begun, text = time.thread_time(), ""
        try:
            with attempt_here(seconds):
                for batch in self._step(number)(0):
                    (text,) = batch.column(0).to_pylist()
        except (TakesTooLong, MemoryError, pa.ArrowCapacityError):
            return StepAnswer("", time.thread_time() - begun)
        except Exception:
            return StepAnswer("", time.thread_time() - begun, failed=True)
        return StepAnswer(text, time.thread_time() - begun)

    def _step(self, number: int) -> Callable[[int], ArrowBatches]:
        step = self._steps[number]
        if isinstance(step, bytes):
            step = self._steps[number] = cloudpickle.loads(step)
        return step


def main(descriptor: int, place: int, reading: Sequence[int]) -> None:
    """Do what the driver asks for until it has closed its end of a socket.

    Args:
        descriptor: of the other end.
        place: the number of this process among those that claim steps.
        reading: descriptors of ``Claims``.
    """
    gc.disable()  # it would look through what stays
    importlib.import_module(OPERATORS)
    gc.enable()
    with PACKING.collecting(), suppress(EOFError, OSError):
        try:
            OwnWorkerProcess(Connection(descriptor), place, Claims(reading)).run()
        finally:
            PACKING.leave()  # the last commit names what was shown
