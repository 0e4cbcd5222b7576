"""The one handle to Spark of a session, and how another Spark takes the place of one that has died.

Nothing of a session keeps a Spark session: plans, relations, interrupts and readers ask the handle for the present one.
All rows are in files. So when the JVM ends, another one is started, what hung on the old one is forgotten, and the
session goes on; so does every other session of the process, whose handle finds the JVM that was started meanwhile.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from pyspark.sql import SparkSession

from workbench.engine.spark.failures import JVM_DIED, SparkMonitor
from workbench.engine.spark.jobs import Job, SparkJobs
from workbench.engine.spark.local_session import RECORDS_PER_BATCH, engine_session, local_spark
from workbench.engine.spark.worker_start import start_workers
from workbench.errors import EnvironmentProblem


class SparkHandle:
    """The Spark of a session, which runs the jobs of its engines (``jobs.JobRunner``).

    Args:
        given: an analyst's Spark, which only she may start again; ``None``: a quiet local one.

    Attributes:
        given: whether it was given.
        analyst: the Spark session that an analyst may use.
        session: that of the engines.
        number: how many Sparks there were before the present one.
        on_start: is called when another Spark has taken the place of one that died.

    Raises:
        EnvironmentProblem: Spark does not run, or did not start.
    """

    def __init__(self, given: SparkSession | None = None) -> None:
        self.given = given is not None
        self.number = 0
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

    @property
    def cores(self) -> int:
        """How many tasks run at a time."""
        return max(1, self.session.sparkContext.defaultParallelism)

    def run(self, jobs: Sequence[Job], expected: Sequence[float]) -> list[str]:
        """The answers of some jobs, by one job of Spark."""
        return self._jobs.run(jobs, expected)

    def set_rows_together(self, rows: int) -> None:
        """Let at most so many rows come together between Spark and a worker."""
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
        """Why a Spark does not run any more; ``None`` when it runs.

        Args:
            number: of the Spark that was used.
            problem: what was raised while it was used.
        """
        return JVM_DIED if number != self.number else self._monitor.lost(problem)

    def start_again(self, number: int) -> None:
        """Start another Spark in the place of one that has died, unless another thread has.

        Args:
            number: of the one that died.

        Raises:
            EnvironmentProblem: it did not start.
        """
        with self._lock:
            if self.number == number:
                self._use(local_spark())
                self.number += 1
                for prepare in self.on_start:
                    prepare()
