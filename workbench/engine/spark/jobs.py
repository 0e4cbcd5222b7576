"""Jobs of Spark: several plans are run by one.

A job costs the driver some ten milliseconds, however little it does, and a network has dozens of operators. A plan that
is run as an RDD needs no planning when it is run again, and RDDs of different plans are put together at no cost: a
union of DataFrames would be planned anew for every combination of operators that happen to have work.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from pyspark import RDD
from pyspark.sql import DataFrame, Row

from workbench.engine.spark.interrupts import tag_jobs


@dataclass(frozen=True, eq=False)
class Job:
    """A plan whose few rows are answers; it can be run again and again where it has no exchange."""

    plan: DataFrame

    @cached_property
    def answers(self) -> RDD[Row]:
        """The plan as an RDD. Its tasks see the settings of the plan's Spark session."""
        return self.plan.rdd

    @cached_property
    def tasks(self) -> int:
        """How many tasks run it alone."""
        return self.answers.getNumPartitions()


def run_jobs(jobs: Sequence[Job], expected: Sequence[float]) -> list[Row]:
    """The answers of some plans of one Spark, by one job; in no order that means anything.

    Args:
        jobs: the plans.
        expected: seconds that each may take, so that all cores are done at about the same time.
    """
    answers = _together(jobs, expected)
    tag_jobs(answers.context)
    return list(answers.collect())


def _together(jobs: Sequence[Job], expected: Sequence[float]) -> RDD[Row]:
    """Some plans as one RDD.

    Each of its tasks reads all plans before it runs its own: many plans of one task would be read as often as there are
    plans. So there is one task for each core, which runs several plans, one after the other. Where a plan has several
    tasks, each stays one of its own: what two of them write at the same place is told apart by the task
    (``JobInput.task_mark``).
    """
    answers = [job.answers for job in jobs]
    spark = answers[0].context
    cores = spark.defaultParallelism
    if len(jobs) <= cores or any(job.tasks > 1 for job in jobs):
        return _union([[each] for each in answers])
    return _union([[answers[at] for at in part] for part in balanced(expected, cores)])


def _union(parts: Sequence[Sequence[RDD[Row]]]) -> RDD[Row]:
    """Some RDDs as one; those of a part with several are run by one task."""
    spark = parts[0][0].context
    tasks = [part[0] if len(part) == 1 else spark.union(list(part)).coalesce(1) for part in parts]
    return tasks[0] if len(tasks) == 1 else spark.union(tasks)


def balanced(expected: Sequence[float], parts: int) -> list[list[int]]:
    """Positions in some parts whose sums are about equal: the longest first, each to the part with least so far.

    The longest part takes at most 4/3 of the least time there is (Graham, Bounds on multiprocessing timing anomalies,
    1969).

    Args:
        expected: how long each takes; at least as many as there are parts.
        parts: how many, at least one.

    Example:
        >>> balanced([1, 5, 2, 2, 1], 2)
        [[1, 4], [2, 3, 0]]
    """
    sums, chosen = [0.0] * parts, list[list[int]]([] for _ in range(parts))
    for at in sorted(range(len(expected)), key=lambda at: -expected[at]):
        least = min(range(parts), key=lambda part: (sums[part], len(chosen[part])))
        sums[least] += expected[at]
        chosen[least].append(at)
    return chosen
