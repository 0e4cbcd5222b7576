"""Results of functions and operators: the types, and the values at the ends of types, are those of the database.

A part of the calls is bound beside DuckDB in every run; all of them, PostgreSQL and the values where ARGUS_LONG is set.
"""

from __future__ import annotations

import datetime as dt
import math
import os
import re
from collections.abc import Callable
from decimal import Decimal
from random import Random
from typing import Any

import duckdb
import psycopg
import pytest
import servers
from long import LONG, rare
from psycopg.types.string import TextLoader
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from sql.result_types import COLUMNS, Bound, bound, calls, kind_of

from workbench.arrow.stored_values import as_python
from workbench.engine.spark.local_session import engine_session
from workbench.sql.algebra.types import Kind
from workbench.sql.render.spark_sql import to_spark

SHARE, ROWS = 4, 40
"""The share of calls that is bound in every run, as one of this number; rows of the table."""
AT_ONCE = 50
ENDLESS = re.compile("repeat|space|generate_series|unnest|explode", re.IGNORECASE)
"""Calls that make rows, or texts as long as a number says."""
APPROXIMATE = re.compile(r"(exp|ln|log|log10|pow|power|sqrt|std\w*|var\w*|corr|covar\w*|regr\w*|avg|mean)\b|.*\^", re.I)
"""What PostgreSQL computes of NUMERIC with digits of its own, and the workbench as DOUBLE."""
OTHERWISE = {
    "spark": re.compile(r"(d1 -|try_subtract\(d1,|float\(|from_unixtime\(|unbase64\(|a1 DIV m)", re.I),
    "duckdb": re.compile(r"(upper|ucase|atan2|list_mode)\("),
    "postgres": re.compile(
        r"(upper|ucase|atan2|to_date|to_timestamp|sum|float4)\(|pow(er)?\(m|m1 \^|CAST\(x\d AS DEC"
        r"|.*(m\d|2\.5) /|.*/ (m\d|2\.5)",
        re.I,
    ),
}
"""Calls whose differences are said in the reference: letters without a capital, the sign of zero in ATAN2, which of the
most frequent elements LIST_MODE gives, texts as dates, days between dates, FLOAT, years beyond 9999, DIV that Spark
wraps round, UNBASE64 of a part, NaN as NUMERIC, sums of INTEGER, powers of NUMERIC to odd numbers that DOUBLE has not,
and quotients of NUMERIC, which disable the query where they need more digits."""
NAMES = {"a": "BIGINT", "m": "DECIMAL(15,2)", "x": "DOUBLE PRECISION", "s": "TEXT", "d": "DATE", "ts": "TIMESTAMP",
         "p": "BOOLEAN"}  # fmt: skip
_SPARK = {**NAMES, "x": "DOUBLE", "s": "STRING", "ts": "TIMESTAMP_NTZ"}
_SCHEMA = f"n INT, {', '.join(f'{c} {_SPARK[c[:-1]]}' for c in COLUMNS)}"
_DATE, _TIME = dt.date, dt.datetime
VALUES: dict[str, list[Any]] = {
    "a": [0, 1, -1, 2, 3, 7, -7, 10, 100, 2**31 - 1, 2**31, -(2**31), 2**53 + 1, 2**63 - 1, -(2**63), None],
    "m": [*map(Decimal, ("0.00", "0.01", "-0.01", "0.50", "1.50", "2.50", "-2.50", "2.45", "1.00", "-1.00", "100.00",
                         "12345.67", "9999999999999.99", "-9999999999999.99")), None],
    "x": [0.0, -0.0, 0.5, 1.5, 2.5, -2.5, 1.0, -1.0, 0.1, 1e10, 2.0**53, 1e19, -1e19, 1e300, 1e-300, math.inf,
          -math.inf, math.nan, None],
    "s": ["", "a", "Ab c", "b", "ab", "1", "1.5", "-7", " 12 ", "2024-02-29", "2024-02-29 12:34:56", "true", "äß",
          "a,b,,c", '{"a": 1}', "%_", None],
    "d": [_DATE(1970, 1, 1), _DATE(1969, 12, 31), _DATE(2024, 2, 29), _DATE(2023, 1, 31), _DATE(1582, 10, 10),
          _DATE(1900, 2, 28), None],
    "ts": [_TIME(1970, 1, 1), _TIME(1969, 12, 31, 23, 59, 59, 999999), _TIME(2024, 2, 29, 12, 34, 56, 789012),
           _TIME(2023, 1, 31, 0, 0, 0, 1), _TIME(1582, 10, 10, 1), None],
    "p": [True, False, None],
}  # fmt: skip
"""Column -> its values, with those at the ends of its type."""
_BEYOND = re.compile(r"-?\d{5,}-\d\d-\d\d")
"""The text of a time that Python has not."""
Engine = Callable[[str], "tuple[str, list[Any]] | None"]
"""Gives the type and the values of a call, ``...`` where there is an error; ``None`` where there is no such call."""


def rows() -> list[tuple[Any, ...]]:
    """Rows of the table, with a number; the first column of each type has all its values."""
    random = Random(5)
    return [
        (n, *(values[n % len(values)] if c[-1] == "1" else random.choice(values) for c in COLUMNS
              for values in [VALUES[c[:-1]]]))
        for n in range(ROWS)
    ]  # fmt: skip


def same_kind(call: Bound, theirs: str, dialect: str) -> bool:
    """Whether a call is bound to a type of the kind that the database says."""
    kind = call.expression.type.kind
    if dialect == "postgres" and kind is Kind.DOUBLE and kind_of(theirs) == "decimal" and APPROXIMATE.match(call.sql):
        return True
    if dialect == "postgres" and call.sql.upper().startswith("SUM(") and kind is Kind.INTEGER:
        return True
    own = Kind.INTERVAL if kind is Kind.MONTHS else kind  # an INTERVAL of a database may have both
    return kind_of(theirs) in (own.value, "null", "other")


def test_types_are_those_of_duckdb() -> None:
    connection = duckdb.connect()
    connection.execute(f"CREATE TABLE t ({', '.join(f'{c} {NAMES[c[:-1]]}' for c in COLUMNS)})")
    random, count = Random(os.environ["ARGUS_SEED"]), 0
    for kind, sql in calls("duckdb"):
        call = bound(kind, sql, "duckdb") if LONG or random.randrange(SHARE) == 0 else None
        if call is None:
            continue
        try:
            described = connection.execute(f"DESCRIBE SELECT {sql} AS v FROM t").fetchone()
        except duckdb.Error:
            continue
        assert described is not None
        count += 1
        assert same_kind(call, described[1], "duckdb"), (sql, str(call.expression.type), described[1])
    assert count > 200


@rare
def test_values_are_those_of_duckdb(spark: SparkSession) -> None:
    connection = duckdb.connect(config={"memory_limit": "1GB", "threads": 1})
    connection.execute(f"CREATE TABLE t (n INT, {', '.join(f'{c} {NAMES[c[:-1]]}' for c in COLUMNS)})")
    connection.executemany(f"INSERT INTO t VALUES ({', '.join('?' * (len(COLUMNS) + 1))})", rows())

    def engine(sql: str) -> tuple[str, list[Any]] | None:
        try:
            described = connection.execute(f"DESCRIBE SELECT {sql} AS v FROM t").fetchone()
        except duckdb.Error:
            return None
        assert described is not None
        return described[1], _each(lambda rest: connection.execute(f"SELECT {sql} AS v FROM t {rest}").fetchall())

    assert _wrong(spark, "duckdb", engine) == []


@rare
def test_values_are_those_of_postgres(spark: SparkSession) -> None:
    options = "-c statement_timeout=5000 -c timezone=UTC"
    with servers.postgres() as address, psycopg.connect(address, autocommit=True, options=options) as connection:
        for name in ("json", "jsonb"):
            connection.adapters.register_loader(name, TextLoader)  # the text itself, which answers have
        connection.execute(f"CREATE TABLE t (n INT, {', '.join(f'{c} {NAMES[c[:-1]]}' for c in COLUMNS)})")
        with connection.cursor() as cursor:
            cursor.executemany(f"INSERT INTO t VALUES ({', '.join(['%s'] * (len(COLUMNS) + 1))})", rows())

        def engine(sql: str) -> tuple[str, list[Any]] | None:
            try:
                described = connection.execute(f"SELECT {sql} AS v FROM t LIMIT 0").description
                assert described is not None
                name = connection.execute("SELECT format_type(%s, NULL)", (described[0].type_code,)).fetchone()
            except psycopg.Error:
                return None
            assert name is not None
            return name[0], _each(lambda rest: connection.execute(f"SELECT {sql} AS v FROM t {rest}").fetchall())

        assert _wrong(spark, "postgres", engine) == []


@rare
@pytest.mark.timeout(1200)
def test_values_are_those_of_spark(spark: SparkSession) -> None:
    database = spark.newSession()
    database.conf.set("spark.sql.ansi.enabled", True)
    database.conf.set("spark.sql.session.timeZone", "UTC")
    # From Arrow it is a local relation, which is read without a job; so each row can be asked alone.
    table = spark.createDataFrame(rows(), _SCHEMA).toArrow()
    database.createDataFrame(table, _SCHEMA).createOrReplaceTempView("t")

    def engine(sql: str) -> tuple[str, list[Any]] | None:
        try:
            described = database.sql(f"SELECT {sql} AS v FROM t").schema["v"]
        except PySparkException:
            return None
        return described.dataType.simpleString(), _each(lambda rest: _collected(database, sql, rest))

    assert _wrong(spark, "spark", engine) == []


def _collected(database: SparkSession, sql: str, rest: str) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in database.sql(f"SELECT {sql} AS v FROM t {rest}").collect()]


def _each(answer: Callable[[str], list[tuple[Any, ...]]]) -> list[Any]:
    """The value of each row."""

    def one(rest: str) -> list[Any]:
        try:
            return [row[0] for row in answer(rest)]
        except (duckdb.Error, psycopg.Error, PySparkException, ValueError, OverflowError):
            return [...]

    values = one("ORDER BY n")
    return values if len(values) == ROWS else [value for n in range(ROWS) for value in one(f"WHERE n = {n}")]


def _wrong(spark: SparkSession, dialect: str, engine: Engine) -> list[Any]:
    """The calls that have another type or other values than in the database."""
    accepted = [call for kind, sql in calls(dialect) if kind == "function" and not ENDLESS.match(sql)
                and not OTHERWISE[dialect].match(sql) and (call := bound(kind, sql, dialect)) is not None
                and call.expression.type.kind not in (Kind.INTERVAL, Kind.MONTHS)
                and call.expression.type.ordered]  # fmt: skip
    known = [(call, theirs) for call in accepted if (theirs := engine(call.sql)) is not None]
    frame = engine_session(spark).createDataFrame(rows(), _SCHEMA).coalesce(1).sort("n").cache()
    wrong = [(c.sql, str(c.expression.type), name) for c, (name, _) in known if not same_kind(c, name, dialect)]
    for first in range(0, len(known), AT_ONCE):
        some = known[first : first + AT_ONCE]
        texts = (f"{to_spark(call.expression, lambda c: c.name)} AS v{n}" for n, (call, _) in enumerate(some))
        answers = frame.selectExpr(*texts).toArrow()
        for (call, (_, theirs)), column in zip(some, answers.columns, strict=True):
            differ = [(a, b) for a, b in zip(as_python(column), theirs, strict=True) if not _equal(a, b)]
            wrong += [(call.sql, differ[:3])] if differ else []
    assert len(known) > 400
    return wrong


def _equal(ours: Any, theirs: Any) -> bool:
    """Whether a value is that of the database, which may have an error in its place."""
    if theirs is ... or ours is theirs:
        return True
    if ours is None or theirs is None or isinstance(ours, bool) is not isinstance(theirs, bool):
        return False
    if isinstance(theirs, bytes):
        return bool(ours == theirs.hex().upper())
    if isinstance(theirs, dt.datetime):
        return bool(ours == theirs.replace(tzinfo=None))
    if isinstance(ours, str) and _BEYOND.match(ours):
        return bool(ours.replace("T", " ").rstrip("0.") == theirs.rstrip("0."))
    if isinstance(ours, float) or isinstance(theirs, float):
        ours, theirs = float(ours), float(theirs)
        return (math.isnan(ours) and math.isnan(theirs)) or math.isclose(ours, theirs, rel_tol=1e-11)
    return bool(ours == theirs)
