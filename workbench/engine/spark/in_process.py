"""Jobs that run in this process: Python's steps as they are, and nothing that Spark would evaluate.

There is no JVM, so a session starts in milliseconds, and a batch takes some. Tests and examples work so.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Generic, NoReturn, TypeVar
from weakref import WeakValueDictionary

import pyarrow as pa
from pyspark.accumulators import AccumulatorParam

from workbench.engine.spark.job_properties import INPUT, NO_PROPERTIES, inputs_here
from workbench.engine.spark.jobs import Job, StepJob
from workbench.errors import EngineError
from workbench.limits import LIMITS

T = TypeVar("T")


class NeedsSparkError(EngineError):
    """Something that only Spark evaluates, in a session without Spark."""


class InProcess:
    """Runs the jobs of a session without Spark; ``JobRunner`` has what its methods mean.

    It has one core, beside own workers. What Spark would evaluate is refused when it is registered or asked: an
    expression without a kernel, such as FROM_JSON; a join of many pairs without a key; an answer of very many rows.

    Example:
        >>> from workbench import Session
        >>> import pyarrow as pa
        >>> with Session(InProcess()) as session:
        ...     _ = session.add_stream("t", pa.table({"id": [1, 2, 3], "g": [1, 1, 2]}), history=1, batch=1)
        ...     query = session.register("SELECT g, COUNT(*) AS n FROM t GROUP BY g")
        ...     _ = session.run(2)
        ...     sorted(map(tuple, query.result().to_numpy().tolist()))
        [(1, 2), (2, 1)]
    """

    given, number, cores = True, 0, 1

    def __init__(self) -> None:
        self.limits = LIMITS
        self.on_start: Sequence[Callable[[], None]] = ()

    @property
    def session(self) -> NoReturn:
        """Refused.

        Raises:
            NeedsSparkError: always.
        """
        raise NeedsSparkError("Spark would evaluate this, and the session has none", hint="Session() starts one")

    analyst = session

    def prepare(self, folder: Path, writing: bool, store: str = "") -> None:
        """This process reaches the folder."""

    def run(self, jobs: Sequence[Job], expected: Sequence[float], sent: Mapping[str, str] = NO_PROPERTIES) -> list[str]:
        """The answers of some steps, one after the other."""
        answers: list[str] = []
        with inputs_here(sent.get(INPUT, "")):
            for job in jobs:
                assert isinstance(job, StepJob)  # a plan cannot be made without a Spark session
                answers += job.run_here()
        return answers

    def accumulator(self, param: AccumulatorParam[T], start: T) -> LocalAccumulator[T]:
        """An accumulator of this process."""
        return LocalAccumulator(param, start)

    def register(self, name: str, function: Callable[..., pa.Array], returns: str) -> None:
        """There is no SQL to call it from; steps have their own."""

    def lost(self, number: int, problem: BaseException | None = None) -> None:
        """Nothing is ever lost: jobs run in this process."""

    def start_again(self, number: int) -> None:
        """Nothing has to be started: jobs run in this process."""

    def set_rows_together(self, rows: int) -> None:
        """Rows do not go anywhere."""

    def share(self, text: str) -> None:
        """There are no workers."""

    def add_tag(self, tag: str) -> None:
        """Nothing: jobs run in this thread."""

    def remove_tag(self, tag: str) -> None:
        """Nothing: jobs run in this thread."""

    def cancel(self, tag: str) -> None:
        """A step that runs in this process notices by itself (``arrow_tasks.go_on``)."""


class LocalAccumulator(Generic[T]):
    """An accumulator whose copies, by pickle, are the same object."""

    def __init__(self, param: AccumulatorParam[T], start: T) -> None:
        self.value = start
        self._param, self._id = param, uuid.uuid4().hex
        _ACCUMULATORS[self._id] = self

    def add(self, term: T) -> None:
        """Add something."""
        self.value = self._param.addInPlace(self.value, term)

    def __reduce__(self) -> tuple[Callable[[str], Any], tuple[str]]:
        return _accumulator, (self._id,)


_ACCUMULATORS: WeakValueDictionary[str, LocalAccumulator[Any]] = WeakValueDictionary()


def _accumulator(id_: str) -> LocalAccumulator[Any]:
    return _ACCUMULATORS[id_]
