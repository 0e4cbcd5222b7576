"""Spark plans that are made once and run in every batch, and the temporary views that their SQL reads.

Planning a join takes Spark 100 to 300 ms of the driver, and building a plan call by call costs a round trip to the JVM
for every column and operator. So an operator is one SQL text over named views, which is one call, and its plan is kept.
A kept plan reads what differs between batches from a job input (``storage.job_input``).
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar, cast

from py4j.protocol import Py4JError
from pyspark.sql import DataFrame

from workbench.engine.spark.jobs import Job, JobRunner

AnyJob = TypeVar("AnyJob", bound=Job)


class PlanCache:
    """Jobs by name. None of their plans has an exchange, of which Spark would keep the rows."""

    def __init__(self) -> None:
        self._jobs: dict[str, tuple[object, Job]] = {}
        """Each job with what it depends on."""

    def get(self, name: str, depends_on: object, make: Callable[[], AnyJob]) -> AnyJob:
        """The job of a name, made anew when what it depends on differs."""
        known = self._jobs.get(name)
        if known is not None and known[0] == depends_on:
            self._jobs[name] = (depends_on, known[1])  # the same objects are compared faster the next time
            return cast(AnyJob, known[1])  # a job of a name that depends on the same is of the same kind
        job = make()
        self._jobs[name] = (depends_on, job)
        return job

    def forget(self, keep: Callable[[str], bool]) -> None:
        """Forget the jobs whose name is not to be kept."""
        self._jobs = {name: known for name, known in self._jobs.items() if keep(name)}


class Views:
    """Temporary views of one engine, named apart from those of others on the same Spark."""

    def __init__(self, jobs: JobRunner) -> None:
        self._jobs = jobs
        self._prefix = f"argus_{uuid.uuid4().hex[:8]}"
        self._bound = set[str]()

    def bind(self, role: str, rows: DataFrame) -> str:
        """The view of a role, bound to ``rows``; plans that were made before keep the rows they had."""
        name = f"{self._prefix}_{role}"
        rows.createOrReplaceTempView(name)
        self._bound.add(role)
        return name

    def forget(self, keep: Callable[[str], bool]) -> None:
        """Drop the views whose role is not to be kept, and with them the rows their plans hold."""
        for role in {role for role in self._bound if not keep(role)}:
            self._bound.discard(role)
            with suppress(Py4JError, OSError):  # Spark may have died, and its views with it
                self._jobs.session.catalog.dropTempView(f"{self._prefix}_{role}")
