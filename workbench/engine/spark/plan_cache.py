"""Jobs that are made once and run in every batch.

Planning takes Spark 100 to 300 ms of the driver, so a plan is kept. What differs between batches a kept plan or step
reads from a job input (``storage.job_input``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

from workbench.engine.spark.jobs import Job

AnyJob = TypeVar("AnyJob", bound=Job)


class PlanCache:
    """Jobs by name. None of their plans has an exchange, of which Spark would keep the rows."""

    def __init__(self) -> None:
        self._jobs: dict[str, tuple[object, Job]] = {}
        """Each job with what it depends on."""

    def get(self, name: str, depends_on: object, make: Callable[[], AnyJob]) -> AnyJob:
        """The job of a name; it is made again when ``depends_on`` has changed."""
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
