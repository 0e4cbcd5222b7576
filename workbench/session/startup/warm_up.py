"""Warms up: a small session does once, in advance, what a first query would wait for.

Spark loads classes, generates and compiles code, and starts Python workers when it first needs them, and Python imports
modules; a first query takes seconds for that. So it is done beforehand, by queries of the usual kinds over a few rows,
while the analyst types.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal

import pyarrow as pa
from pyspark.sql import SparkSession

from workbench.session.session import Session

WARM_UP_QUERIES = (
    "SELECT at, amount FROM t WHERE amount > 1",
    "SELECT name, SUM(amount) AS total, COUNT(*) AS n FROM t WHERE amount > 2 GROUP BY name",
    "SELECT a.name, b.amount FROM t a JOIN t b ON a.id = b.id WHERE a.amount < b.amount",
    "SELECT name, MAX(amount) AS most, COUNT(DISTINCT id) AS ids FROM t GROUP BY name HAVING COUNT(*) > 1",
)
"""Of the usual kinds, the commonest first."""

_ROWS = 8


def warm_up(spark: SparkSession, go_on: Callable[[], bool] = lambda: True) -> None:
    """Do once on a Spark what queries of the usual kinds need; takes some seconds.

    Args:
        spark: the Spark that will be used.
        go_on: asked between steps; after ``False`` the rest is left.
    """
    with Session(spark) as session:
        session.add_stream("t", _rows(), history=_ROWS // 2, batch=1, time="at")
        for number, sql in enumerate(WARM_UP_QUERIES):
            if not go_on():
                return
            session.register(sql, name=f"q{number}").result()
            if go_on():
                session.run(1)


def _rows() -> pa.Table:
    numbers = range(_ROWS)
    columns = {
        "id": pa.array(numbers, pa.int64()),
        "name": pa.array([f"n{number % 2}" for number in numbers]),
        "amount": pa.array([Decimal(number) for number in numbers], pa.decimal128(15, 2)),
        "at": pa.array([datetime(2000, 1, 1) + timedelta(days=number) for number in numbers], pa.timestamp("us")),
    }
    return pa.table(columns)
