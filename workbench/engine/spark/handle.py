"""The one handle to Spark of a session, and how another Spark takes the place of one that has died.

Nothing of a session keeps a Spark session: plans, relations, interrupts and readers ask the handle for the present one.
All rows are in files. So when the JVM ends, another one is started, what hung on the old one is forgotten, and the
session goes on; so does every other session of the process, whose handle finds the JVM that was started meanwhile.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import pyarrow as pa
from pyspark.accumulators import Accumulator, AccumulatorParam
from pyspark.sql import SparkSession
from pyspark.sql.pandas.functions import arrow_udf

from workbench.engine.spark.cluster import prepare_workers
from workbench.engine.spark.failures import JVM_DIED, SparkMonitor
from workbench.engine.spark.jobs import Job, SparkJobs
from workbench.engine.spark.local_session import RECORDS_PER_BATCH, engine_session, local_spark
from workbench.engine.spark.worker_start import start_workers
from workbench.errors import EnvironmentProblem
from workbench.limits import LIMITS

T = TypeVar("T")


class SparkHandle:
    """The Spark of a session, which runs the jobs of its engines; ``JobRunner`` has what its methods mean.

    Args:
        given: an analyst's Spark, which only she may start again; ``None``: a quiet local one.

    Raises:
        EnvironmentProblem: Spark does not run, or did not start.
    """

    def __init__(self, given: SparkSession | None = None) -> None:
        self.given = given is not None
        self.number = 0
        self.limits = LIMITS
        self.on_start: Sequence[Callable[[], None]] = ()
        self._lock = threading.Lock()
        self._use(local_spark() if given is None else given)

    def _use(self, spark: SparkSession) -> None:
        self._monitor = SparkMonitor(spark)
        if why := self._monitor.lost():
            hint = "restart the kernel, or leave the Spark out: the session then starts one of its own"
            raise EnvironmentProblem(f"{why}: the one that was given to the session", hint=hint)
        self.analyst, self.session = spark, engine_session(spark)
        self._jobs = SparkJobs(self.session)
        if not self.given:
            start_workers(self.session)

    def prepare(self, folder: Path, writing: bool) -> None:
        """Send the package to a cluster's workers, which must reach the folder."""
        prepare_workers(self.analyst, folder, writing)

    @property
    def cores(self) -> int:
        """How many tasks run at a time."""
        return max(1, self.session.sparkContext.defaultParallelism)

    def run(self, jobs: Sequence[Job], expected: Sequence[float]) -> list[str]:
        """The answers of some jobs, by one job of Spark."""
        return self._jobs.run(jobs, expected)

    def accumulator(self, param: AccumulatorParam[T], start: T) -> Accumulator[T]:
        """An accumulator of Spark, which numbers them on when its JVM is another one: this one stays what it is."""
        return self.session.sparkContext.accumulator(start, param)

    def register(self, name: str, function: Callable[..., pa.Array], returns: str) -> None:
        """Make a function callable in the SQL of the engines."""
        # PySpark's stubs do not know that it takes the kind of function from the type hints.
        self.session.udf.register(name, arrow_udf(function, returns))  # type: ignore[call-overload]

    def set_rows_together(self, rows: int) -> None:
        """Set the most rows that come together between Spark and a worker."""
        self.session.conf.set(RECORDS_PER_BATCH, str(rows))

    def add_tag(self, tag: str) -> None:
        """Give the jobs that this thread starts a tag."""
        self.session.sparkContext.addJobTag(tag)

    def remove_tag(self, tag: str) -> None:
        """Give the jobs that this thread starts the tag no longer."""
        self.session.sparkContext.removeJobTag(tag)

    def cancel(self, tag: str) -> None:
        """Stop the jobs with a tag."""
        self.session.sparkContext.cancelJobsWithTag(tag)

    def lost(self, number: int, problem: BaseException | None = None) -> str | None:
        """Why the Spark of a number does not run any more; ``None`` when it runs."""
        return JVM_DIED if number != self.number else self._monitor.lost(problem)

    def start_again(self, number: int) -> None:
        """Start another Spark in the place of one that has died."""
        with self._lock:
            if self.number == number:
                self._use(local_spark())
                self.number += 1
                for prepare in self.on_start:
                    prepare()
