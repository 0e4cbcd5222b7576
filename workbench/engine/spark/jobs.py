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


@dataclass(frozen=True, eq=False)
class Job:
    """A plan whose few rows are answers; it can be run again and again where it has no exchange."""

    plan: DataFrame

    @cached_property
    def answers(self) -> RDD[Row]:
        """The plan as an RDD. Its tasks see the settings of the plan's Spark session."""
        return self.plan.rdd


def run_jobs(jobs: Sequence[Job]) -> list[Row]:
    """The answers of some plans of one Spark, by one job; in no order that means anything."""
    first, *others = [job.answers for job in jobs]
    return list((first.context.union([first, *others]) if others else first).collect())
