"""Whether the Spark that a session uses still runs, and how this process gets another when it does not.

A session keeps nothing in Spark: all its rows are in files that were written before anybody used them. So it outlives
the JVM, however that ends, and goes on with another one. PySpark does not: it keeps one JVM for a process and goes on
asking it, so what it keeps of a dead one is forgotten here before a new one is started.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from subprocess import TimeoutExpired
from typing import Any

from py4j.protocol import Py4JError, Py4JNetworkError
from pyspark import SparkContext
from pyspark.sql import SparkSession, SQLContext

DYING = 2.0
"""Seconds that a process may take to end after its sockets are closed."""


class SparkLife:
    """Tells whether the Spark of one session still runs.

    Args:
        spark: the session's.
        given: whether an analyst gave it to the session; it is hers to start another.
    """

    def __init__(self, spark: SparkSession, given: bool) -> None:
        self.given = given
        self._context = spark.sparkContext
        self._gateway: Any = SparkContext._gateway

    def lost(self, problem: BaseException | None = None) -> str | None:
        """Why Spark does not run any more; ``None`` when it runs.

        Args:
            problem: what was raised while Spark was used. Where that is a broken connection, a JVM that is just dying
                is waited for.
        """
        if problem is not None and any(map(_is_broken_connection, _causes(problem))):
            _wait_for(self._gateway)
        if not _runs(self._gateway):
            return "Spark's JVM has died"
        context: Any = self._context
        return "Spark was stopped" if context._jsc is None else None


def forget_dead_spark() -> None:
    """Let PySpark start a new JVM if the one of this process has died."""
    gateway: Any = SparkContext._gateway
    if gateway is None or _runs(gateway):
        return
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
    """Whether it may be raised when the JVM dies. Py4J raises its plainest error when no answer comes at all."""
    return type(problem) is Py4JError or isinstance(problem, (Py4JNetworkError, ConnectionError, EOFError))


def _wait_for(gateway: Any) -> None:
    if (process := getattr(gateway, "proc", None)) is not None:
        with suppress(TimeoutExpired):
            process.wait(DYING)


def _causes(problem: BaseException | None) -> Iterator[BaseException]:
    """An exception, and all that led to it."""
    while problem is not None:
        yield problem
        problem = problem.__cause__ or problem.__context__
