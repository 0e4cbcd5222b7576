"""User functions on Spark: an exception in one row gives NULL for that row and is remembered, never a failed batch.

A shared operator calls a function on rows that other queries let in too, so one query's function must not stop the
others (design 3.4). What it raised is gathered in a Spark accumulator, for the session to disable its queries.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyspark.accumulators import AccumulatorParam
from pyspark.sql import SparkSession

from workbench.sql.types import DataType


class _FirstByName(AccumulatorParam[dict[str, str]]):
    """Keeps, for each function, the first problem seen."""

    def zero(self, value: dict[str, str]) -> dict[str, str]:
        return {}

    def addInPlace(self, value1: dict[str, str], value2: dict[str, str]) -> dict[str, str]:
        return {**value2, **value1}


class UserFunctions:
    """The functions an analyst added to one Spark session."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._problems = spark.sparkContext.accumulator({}, _FirstByName())

    def add(self, name: str, function: Callable[..., Any], returns: DataType) -> None:
        """Make a Python function callable in SQL."""
        problems = self._problems

        def total(*arguments: Any) -> Any:
            try:
                return function(*arguments)
            except Exception as problem:  # any error of an analyst's function means NULL here
                problems.add({name: f"{type(problem).__name__}: {problem}"})
                return None

        self._spark.udf.register(name, total, returns.spark)

    def new_problems(self) -> dict[str, str]:
        """Functions that raised since the last call, with what they raised first."""
        fresh: dict[str, str] = self._problems.value
        self._problems.value = {}
        return fresh
