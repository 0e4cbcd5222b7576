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

TASKS_A_CORE = 2
"""Tasks that small plans share, for each core: with one, all would wait for the core whose plans take longest."""


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


def run_jobs(jobs: Sequence[Job]) -> list[Row]:
    """The answers of some plans of one Spark, by one job; in no order that means anything."""
    answers = _together(jobs)
    tag_jobs(answers.context)
    return list(answers.collect())


def _together(jobs: Sequence[Job]) -> RDD[Row]:
    """Some plans as one RDD.

    Each of its tasks reads all plans before it runs its own: many plans of one task would be read as often as there are
    plans. So a task runs several of them, one after the other. Where a plan has several tasks, each stays one of its
    own: what two of them write at the same place is told apart by the task (``JobInput.task_mark``).
    """
    answers = [job.answers for job in jobs]
    if len(answers) == 1:
        return answers[0]
    spark = answers[0].context
    union, most = spark.union(answers), TASKS_A_CORE * spark.defaultParallelism
    return union.coalesce(most) if len(jobs) > most and all(job.tasks == 1 for job in jobs) else union
