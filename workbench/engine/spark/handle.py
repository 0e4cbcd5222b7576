"""The one handle to Spark of a session, and how another Spark takes the place of one that has died.

Nothing of a session keeps a Spark session: plans, relations, interrupts and readers ask the handle for the present one.
All rows are in files. So when the JVM ends, another one is started, what hung on the old one is forgotten, and the
session goes on; so does every other session of the process, whose handle finds the JVM that was started meanwhile.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import pyarrow as pa
from pyspark import SparkContext
from pyspark.accumulators import Accumulator, AccumulatorParam
from pyspark.sql import SparkSession
from pyspark.sql.pandas.functions import arrow_udf

from workbench.engine.spark.cluster import is_cluster, prepare_workers
from workbench.engine.spark.failures import JVM_DIED, SparkMonitor
from workbench.engine.spark.interrupts import tag_jobs
from workbench.engine.spark.job_properties import NO_PROPERTIES, SHARED
from workbench.engine.spark.jobs import Job, SparkJobs
from workbench.engine.spark.local_session import (
    RECORDS_PER_BATCH,
    engine_session,
    local_cores,
    local_spark,
    refuse_inherited,
)
from workbench.engine.spark.worker_start import start_workers
from workbench.errors import EnvironmentProblem
from workbench.limits import LIMITS, Limits

T = TypeVar("T")


@dataclass(frozen=True)
class _Used:
    """A Spark that runs: the sessions of the analyst and of the engines, what runs its jobs, and what watches it."""

    analyst: SparkSession
    session: SparkSession
    jobs: SparkJobs
    monitor: SparkMonitor


class SparkHandle:
    """The Spark of a session, which runs the jobs of its engines; ``JobRunner`` has what its methods mean.

    A local Spark is started when it is first needed: a JVM takes seconds, and what few rows ask needs none.

    Args:
        given: an analyst's Spark, which only she may start again; ``None``: a quiet local one.

    Raises:
        EnvironmentProblem: the Spark that was given does not run.
    """

    def __init__(self, given: SparkSession | None = None) -> None:
        self.given = given is not None
        self.number = 0
        self._limits = LIMITS
        self.on_start: Sequence[Callable[[], None]] = ()
        self._lock = threading.RLock()
        self._used: _Used | None = None
        self._functions: dict[str, tuple[Callable[..., pa.Array], str]] = {}
        self._rows_together: int | None = None
        self._shared = ""
        if given is not None:
            self._use(given)
        else:
            refuse_inherited()

    def _use(self, spark: SparkSession) -> _Used:
        monitor = SparkMonitor(spark)
        if why := monitor.lost():
            hint = "restart the kernel, or leave the Spark out: the session then starts one of its own"
            raise EnvironmentProblem(f"{why}: the one that was given to the session", hint=hint)
        session = engine_session(spark)
        for name, (function, returns) in self._functions.items():
            _register(session, name, function, returns)
        if self._rows_together is not None:
            session.conf.set(RECORDS_PER_BATCH, str(self._rows_together))
        session.conf.set(SHARED, self._shared)
        self._used = _Used(spark, session, SparkJobs(session), monitor)
        tag_jobs(spark)  # the work that needs it has begun
        if not self.given:
            start_workers(session)
        return self._used

    def _spark(self) -> _Used:
        """The Spark that is used, which is started where it is not there yet."""
        if self._used is None:
            with self._lock:
                return self._used or self._use(local_spark())
        return self._used

    @property
    def limits(self) -> Limits:
        """Those that were set; on a cluster so that rows do not pass the driver (``Limits.of_cluster``)."""
        return self._limits

    @limits.setter
    def limits(self, limits: Limits) -> None:
        self._limits = limits.of_cluster() if self.given and is_cluster(self._spark().analyst) else limits

    @property
    def analyst(self) -> SparkSession:
        """The Spark session that an analyst may use."""
        return self._spark().analyst

    @property
    def session(self) -> SparkSession:
        """The Spark session of the engines."""
        return self._spark().session

    def prepare(self, folder: Path, writing: bool, store: str = "") -> None:
        """Send the package to a cluster's workers, which must reach the folder, or the store instead."""
        if self.given:
            prepare_workers(self.analyst, folder, writing, store)

    @property
    def cores(self) -> int:
        """The number of tasks that run at a time."""
        return local_cores() if self._used is None else self._spark().jobs.cores

    def run(self, jobs: Sequence[Job], expected: Sequence[float], sent: Mapping[str, str] = NO_PROPERTIES) -> list[str]:
        """The answers of some jobs, by one job of Spark."""
        return self._spark().jobs.run(jobs, expected, sent)

    def accumulator(self, param: AccumulatorParam[T], start: T) -> Accumulator[T]:
        """An accumulator of Spark, which numbers them on when its JVM is another one: this one stays what it is."""
        SparkContext._next_accum_id += 1  # as ``SparkContext.accumulator`` does, which needs a JVM for nothing
        return Accumulator(SparkContext._next_accum_id - 1, start, param)

    def register(self, name: str, function: Callable[..., pa.Array], returns: str) -> None:
        """Make a function callable in the SQL of the engines."""
        self._functions[name] = function, returns
        if self._used is not None:
            _register(self._used.session, name, function, returns)

    def set_rows_together(self, rows: int) -> None:
        """Set the most rows that come together between Spark and a worker."""
        self._rows_together = rows
        if self._used is not None:
            self.session.conf.set(RECORDS_PER_BATCH, str(rows))

    def share(self, text: str) -> None:
        """Let plans of Spark SQL tell workers the folder that they have through a store."""
        self._shared = text
        if self._used is not None:
            self.session.conf.set(SHARED, text)

    def add_tag(self, tag: str) -> None:
        """Give the jobs that this thread starts a tag."""
        if self._used is not None:
            self.session.sparkContext.addJobTag(tag)

    def remove_tag(self, tag: str) -> None:
        """Give the jobs that this thread starts the tag no longer."""
        if self._used is not None:
            self.session.sparkContext.removeJobTag(tag)

    def cancel(self, tag: str) -> None:
        """Stop the jobs with a tag."""
        if self._used is not None:
            self.session.sparkContext.cancelJobsWithTag(tag)

    def lost(self, number: int, problem: BaseException | None = None) -> str | None:
        """Why the Spark of a number does not run any more; ``None`` when it runs."""
        if number != self.number:
            return JVM_DIED
        return None if self._used is None else self._used.monitor.lost(problem)

    def start_again(self, number: int) -> None:
        """Start another Spark in the place of one that has died."""
        with self._lock:
            if self.number == number:
                self._use(local_spark())
                self.number += 1
                for prepare in self.on_start:
                    prepare()


def _register(spark: SparkSession, name: str, function: Callable[..., pa.Array], returns: str) -> None:
    # PySpark's stubs do not know that it takes the kind of function from the type hints.
    spark.udf.register(name, arrow_udf(function, returns))  # type: ignore[call-overload]
