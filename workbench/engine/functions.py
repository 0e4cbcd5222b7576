"""User functions on Spark: an exception in one row gives NULL for that row and is remembered, never a failed batch.

A shared operator calls a function on rows that other queries let in too, so one query's function must not stop the
others (design 3.4). What it raised is gathered in a Spark accumulator, for the session to disable its queries.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from decimal import Decimal
from numbers import Integral, Real
from typing import Any

import numpy as np
from pyspark.accumulators import AccumulatorParam
from pyspark.sql import SparkSession

from workbench.sql.spark_sql import user_function
from workbench.sql.types import DataType, Kind


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
        """Make a Python function callable in SQL; a value that is not of its type counts as raised."""
        problems = self._problems

        def total(*arguments: Any) -> Any:
            try:
                return fitting(function(*arguments), returns)
            except Exception as problem:  # any error of an analyst's function means NULL here
                problems.add({name: f"{type(problem).__name__}: {problem}"})
                return None

        self._spark.udf.register(user_function(name), total, returns.spark)

    def new_problems(self) -> dict[str, str]:
        """Functions that raised since the last call, with what they raised first."""
        fresh: dict[str, str] = self._problems.value
        self._problems.value = {}
        return fresh


def fitting(value: Any, returns: DataType) -> Any:
    """A value that a function returned, in the Python type that Spark takes for an SQL type; it makes others NULL.

    Raises:
        TypeError: it is no value of that type.

    Example:
        >>> from workbench.sql.types import DOUBLE
        >>> fitting(3, DOUBLE)
        3.0
        >>> fitting("3", DOUBLE)
        Traceback (most recent call last):
        TypeError: '3' was returned, which is no double
    """
    match returns.kind, value:
        case _, None:
            return None
        case Kind.BOOLEAN, bool() | np.bool_():
            return bool(value)
        case ((Kind.INTEGER | Kind.DECIMAL | Kind.DOUBLE), bool()):
            pass
        case Kind.INTEGER, Integral():
            return int(value)
        case Kind.DECIMAL, Integral() | Decimal():
            return Decimal(int(value)) if isinstance(value, Integral) else value
        case Kind.DOUBLE, Real() | Decimal():
            return float(value)
        case Kind.STRING, str():
            return str(value)
        case Kind.TIMESTAMP, dt.datetime():
            return value
        case Kind.DATE, dt.date() if not isinstance(value, dt.datetime):
            return value
    raise TypeError(f"{value!r} was returned, which is no {returns}")
