"""Integers of fewer than 64 bits: what does not fit is NULL, as in Spark and DuckDB, which raise, or give NULL."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import duckdb
import pytest
from pyspark.sql import SparkSession

from workbench.sql.algebra.expressions import Constant
from workbench.sql.algebra.types import BOOLEAN, DOUBLE, INTEGER, STRING, DataType, decimal
from workbench.sql.binder.pipeline import bind
from workbench.sql.logical import Block
from workbench.sql.render.spark_sql import to_spark
from workbench.sql.schema import Schema

POWERS = [sign * 2**bits for bits in (0, 7, 8, 15, 16, 31, 32, 62) for sign in (-1, 1)]
BORDERS = sorted({power + near for power in POWERS for near in (-1, 0, 1)})
WHOLE = [*BORDERS, 2**63 - 1, -(2**63), None]
VALUES: dict[str, tuple[DataType, list[Any]]] = {
    "i": (INTEGER, WHOLE),
    "w": (decimal(20, 0), [None if v is None else Decimal(v) for v in [*WHOLE, 2**63, -(2**63) - 1]]),
    "m": (decimal(21, 1), [None if v is None else v + part for v in WHOLE if v is None or abs(v) < 2**62
                           for part in (Decimal("0.4"), Decimal("0.5"), Decimal("-0.5"))]),
    "x": (DOUBLE, [v + part for v in BORDERS for part in (0.0, 0.4, 0.5, -0.5)]
          + [None, -(2.0**63), 1e30, -1e30, float("inf"), float("nan")]),
    "s": (STRING, [None if v is None else str(v) for v in [*WHOLE, 2**63]] + ["", "x", " 7 ", "+128", "1e2"]),
    "p": (BOOLEAN, [True, False, None]),
}  # fmt: skip
"""Column -> its type, and its values."""
NAMES = {
    "spark": "tinyint byte smallint short int integer bigint long",
    "duckdb": "tinyint int1 smallint int2 int16 short int int4 int32 integer signed bigint int8 int64 long",
    "postgres": "smallint int2 int integer int4 bigint int8",
    "trino": "tinyint smallint int integer bigint",
}
"""Dialect -> the names of its types of integers."""
OF_COLUMN = {"duckdb": "iwmx", "postgres": "iwmx", "trino": "i"}
"""Dialect -> the columns that are cast there; it refuses others."""
SCHEMA = Schema(streams={"t": tuple((name, type_) for name, (type_, _) in VALUES.items())})


def _bound(sql: str, dialect: str, column: str = "") -> str:
    query = bind(f"SELECT {sql} AS v FROM t", dialect, SCHEMA).query
    assert isinstance(query, Block)
    return to_spark(
        query.outputs[0].expression, lambda c: f"cast(null as {c.type.spark})" if c.name != column else column
    )


def _asked() -> Iterator[tuple[str, str, str, str]]:
    for dialect, names in NAMES.items():
        for name in names.split():
            for column in OF_COLUMN.get(dialect, VALUES):
                for cast in ("CAST", "TRY_CAST") if dialect != "postgres" else ("CAST",):
                    yield dialect, column, f"{cast}({column} AS {name})", f"TRY_CAST({column} AS {name})"


def _of_spark(spark: SparkSession, column: str, texts: list[str]) -> list[tuple[Any, ...]]:
    type_, values = VALUES[column]
    frame = spark.createDataFrame([(n, v) for n, v in enumerate(values)], f"n int, {column} {type_.spark}").coalesce(1)
    once = list(dict.fromkeys(texts))
    rows = sorted(frame.selectExpr("n", *once).collect(), key=lambda row: row[0])
    return [tuple(row[1 + once.index(text)] for text in texts) for row in rows]


def _of_duckdb(column: str, texts: list[str]) -> list[tuple[Any, ...]]:
    type_, values = VALUES[column]
    connection = duckdb.connect()
    connection.execute(f"CREATE TABLE t (n INT, {column} {type_.spark})")
    connection.executemany("INSERT INTO t VALUES (?, ?)", list(enumerate(values)))
    return [row[1:] for row in connection.execute(f"SELECT n, {', '.join(texts)} FROM t ORDER BY n").fetchall()]


@pytest.mark.parametrize("ansi", ["true", "false"])
def test_casts_keep_what_fits_and_nothing_else(spark: SparkSession, ansi: str) -> None:
    before = spark.conf.get("spark.sql.ansi.enabled")
    wrong, count = [], 0
    try:
        spark.conf.set("spark.sql.ansi.enabled", ansi)
        for column in VALUES:
            asked = [each for each in _asked() if each[1] == column]
            found = _of_spark(spark, column, [_bound(sql, dialect, column) for dialect, _, sql, _ in asked])
            theirs = [text for dialect, _, _, text in asked if dialect == "spark"]
            from_spark = _of_spark(spark, column, theirs) if theirs else [() for _ in found]
            others = [text for dialect, _, _, text in asked if dialect != "spark"]
            from_duckdb = _of_duckdb(column, others) if others else [() for _ in found]
            for value, ours, *expected in zip(VALUES[column][1], found, from_spark, from_duckdb, strict=True):
                right = (*expected[0], *expected[1])
                count += len(right)
                wrong += [(*a[:3], value, b, c) for a, b, c in zip(asked, ours, right, strict=True) if b != c]
    finally:
        spark.conf.set("spark.sql.ansi.enabled", before)
    assert wrong == []
    assert count > 5_000


@pytest.mark.parametrize(("dialect", "names"), NAMES.items())
def test_constants_are_cast_as_columns_are(dialect: str, names: str) -> None:
    connection = duckdb.connect()
    for name in names.split():
        spelled = {"byte": "tinyint", "int8": "bigint"}.get(name, name)
        for value in WHOLE[:-1]:
            query = bind(f"SELECT CAST({value} AS {name}) AS v FROM t", dialect, SCHEMA).query
            assert isinstance(query, Block)
            made = query.outputs[0].expression
            kept = connection.execute(f"SELECT TRY_CAST({value} AS {spelled})").fetchone() == (value,)
            assert (isinstance(made, Constant) and made.value == value) == kept, (name, value)
