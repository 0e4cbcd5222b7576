"""Failures of Spark: exceptions become errors of the workbench, and a dead JVM is noticed and replaced.

A session keeps nothing in Spark: all its rows are in files that were complete before their first reader. So a session
outlives the JVM, however that ends, and goes on with another one. PySpark does not: it keeps one JVM for a process and
goes on calling it. ``forget_dead_spark`` therefore clears what PySpark keeps of a dead JVM before a new one is started.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from subprocess import TimeoutExpired
from typing import Any

import pyarrow as pa
from py4j.protocol import Py4JError, Py4JNetworkError
from pyspark import SparkContext
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession, SQLContext

from workbench.errors import EngineError
from workbench.errors.surroundings import reason

JVM_DIED = "Spark's JVM has died"

DYING = 2.0
"""Seconds that a JVM may take to end after its sockets are closed."""

SHUTTING_DOWN = 30.0
"""Seconds that a JVM may take to end in order, after its Spark was shut down."""

_NO_SPACE = re.compile(r"No space left on device|Disk quota exceeded")
_NO_MEMORY = re.compile(
    r"OutOfMemoryError|GC overhead limit|exceeds VM limit|NegativeArraySize|Cannot grow BufferHolder"
    r"|COLLECTION_SIZE_LIMIT|Python worker exited unexpectedly|\bMemoryError\b|ArrowCapacityError|ArrowMemoryError"
)
"""Messages of values that are too large: for the JVM's heap, for one of its arrays, for a worker."""
_RAISED_BY_WORKER = re.compile(r"Traceback \(most recent call last\):\n(?:[ \t].*\n|\n)*(\w[\w.]*(?::.*)?)")
"""What ends the traceback of a Python worker; the last of several is that of the failure itself."""
_SHUT_DOWN = re.compile(r"SparkContext was shut down|stopped SparkContext|SparkContext is being shut down")
_TOO_DEEP = re.compile(r"StackOverflowError|TOO_COMPLEX")
_MORE_STACK = "write it in parts, or start Spark with -Xss64m in extraJavaOptions, of the driver and of the executors"
_MAKE_ROOM = "nothing was lost: make room on the disk of the session's folder and try again"
_SMALLER = "let it make smaller values: fewer elements of arrays, shorter texts, fewer rows for each key of a join"
_SHOW_ALL = "`%argus last-error` shows all of it"


class SparkDied(EngineError):
    """Spark's JVM died while something was computed; nothing has changed, and another one runs."""


class OutOfMemory(EngineError):
    """A computation needs more memory than there is; nothing has changed."""


class StepError(Exception):
    """A step that this process ran has failed; its cause is the exception that was raised.

    Attributes:
        tree: the name of the tree that it computes.
    """

    def __init__(self, tree: str) -> None:
        super().__init__(tree)
        self.tree = tree


@contextmanager
def translate_errors(doing: str) -> Iterator[None]:
    """Turn what Spark raises while ``doing`` something into an ``EngineError``; the original stays its cause.

    What fails inside a broadcast comes as a bare exception of the gateway.

    Raises:
        OutOfMemory: values became too large for the JVM or for a Python worker.
        EngineError: with what a Python worker raised, the first line of Spark's message, or the problem of a file.
    """
    try:
        yield
    except StepError as failed:
        with translate_errors(doing):
            if isinstance(failed.__cause__, (OSError, pa.ArrowException, EngineError)):
                raise failed.__cause__ from None
            raise EngineError(f"could not {doing}: {failed.__cause__!r}", hint=_SHOW_ALL) from failed.__cause__
    except MemoryError as problem:
        raise OutOfMemory(f"could not {doing}: out of memory", hint=_SMALLER) from problem
    except (OSError, pa.ArrowException) as problem:
        if isinstance(problem, pa.ArrowCapacityError):
            raise OutOfMemory(f"could not {doing}: {problem}", hint=_SMALLER) from problem
        hint = _MAKE_ROOM if _NO_SPACE.search(str(problem)) else _SHOW_ALL
        raise EngineError(f"could not {doing}: {reason(problem)}", hint=hint) from problem
    except (PySparkException, Py4JError) as problem:
        if full := _NO_SPACE.search(str(problem)):
            raise EngineError(f"could not {doing}: {full[0]}", hint=_MAKE_ROOM) from problem
        if large := _NO_MEMORY.search(str(problem)):
            raise OutOfMemory(f"Spark could not {doing}: values are too large ({large[0]})", hint=_SMALLER) from problem
        if _TOO_DEEP.search(str(problem)):
            message = f"could not {doing}: an expression is too high for the stack of this Spark"
            raise EngineError(message, hint=_MORE_STACK) from problem
        raise EngineError(f"Spark could not {doing}: {first_reason(problem)}", hint=_SHOW_ALL) from problem


def first_reason(problem: Exception) -> str:
    """Why Spark failed, in one line: the exception of a Python worker, or the first line of the message.

    Example:
        >>> raised = "Traceback (most recent call last):\\n  File a.py, line 3, in look\\nKeyError: 'id'"
        >>> first_reason(ValueError(f"Job aborted:\\norg.apache.spark.PythonException: {raised}\\n\\n\\tat org.apache"))
        "KeyError: 'id'"
    """
    text = str(problem).strip()
    raised = _RAISED_BY_WORKER.findall(text)
    return str(raised[-1] if raised else next(iter(text.splitlines()), type(problem).__name__))[:300]


class _Inherited:
    """Whether the Spark that PySpark knows is that of the process from which this one was forked.

    A call would go over the sockets of the other process, and closing it would end the JVM of that one.
    """

    def __init__(self) -> None:
        self.spark = False
        os.register_at_fork(after_in_child=self._note)

    def _note(self) -> None:
        self.spark = self.spark or SparkContext._gateway is not None


INHERITED = _Inherited()


class SparkMonitor:
    """Tells whether the Spark of one session still runs.

    Args:
        spark: the session's.
    """

    def __init__(self, spark: SparkSession) -> None:
        self._context = spark.sparkContext
        self._gateway: Any = SparkContext._gateway

    def lost(self, problem: BaseException | None = None) -> str | None:
        """Why Spark does not run any more; ``None`` when it runs.

        Args:
            problem: what was raised while Spark was used. After a broken connection the JVM gets ``DYING`` seconds to
                end, since it may be about to, and ``SHUTTING_DOWN`` where Spark says that it ends.
        """
        if INHERITED.spark:
            return "Spark belongs to the process from which this one was forked"
        if problem is not None and any(map(_is_broken_connection, _causes(problem))):
            _wait_for(self._gateway, DYING)
        elif problem is not None and any(_SHUT_DOWN.search(str(cause)) for cause in _causes(problem)):
            _wait_for(self._gateway, SHUTTING_DOWN)
        if not _runs(self._gateway):
            return JVM_DIED
        context: Any = self._context
        return "Spark was stopped" if context._jsc is None else None


def forget_dead_spark() -> bool:
    """Let PySpark start a new JVM if this process's has died; returns whether it has."""
    gateway: Any = SparkContext._gateway
    if gateway is None or _runs(gateway):
        return False
    context: Any = SparkContext._active_spark_context
    with SparkContext._lock:
        SparkContext._gateway = SparkContext._jvm = SparkContext._active_spark_context = None
    SparkSession._instantiatedSession = SparkSession._activeSession = SQLContext._instantiatedContext = None
    if context is not None:
        context._jsc = None
        if context._accumulatorServer is not None:
            context._accumulatorServer.shutdown()
    with suppress(Py4JError, OSError):
        gateway.shutdown()
    return True


def _runs(gateway: Any) -> bool:
    process = getattr(gateway, "proc", None)
    if process is not None:
        return process.poll() is None
    try:  # spark-submit started this process, and not the other way round
        gateway.jvm.java.lang.System.nanoTime()
    except (Py4JError, OSError):
        return False
    return True


def _is_broken_connection(problem: BaseException) -> bool:
    """Whether a dying JVM may have caused it. Py4J raises its most general error when no answer comes at all."""
    return type(problem) is Py4JError or isinstance(problem, (Py4JNetworkError, ConnectionError, EOFError))


def _wait_for(gateway: Any, seconds: float) -> None:
    if (process := getattr(gateway, "proc", None)) is not None:
        with suppress(TimeoutExpired):
            process.wait(seconds)


def _causes(problem: BaseException | None) -> Iterator[BaseException]:
    """An exception, and all that led to it."""
    while problem is not None:
        yield problem
        problem = problem.__cause__ or problem.__context__
