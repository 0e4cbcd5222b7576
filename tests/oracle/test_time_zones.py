"""Instants in zones around changes of their clocks, against DuckDB, a PostgreSQL that the test starts, and Spark."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import duckdb
import pandas as pd
import psycopg
import pyarrow as pa
import pytest
import servers
from long import LONG
from pyspark.sql import SparkSession

from workbench import Session

MOMENTS = {
    "Europe/Berlin": ("2023-10-29 00:15", "2023-10-29 01:15", "2023-10-28 00:30", "2023-10-30 01:30",
                      "2023-03-26 00:59:59.5", "2023-03-26 01:15", "2023-03-25 01:30", "2023-03-27 00:30",
                      "1850-06-01 12:00", "1893-03-31 23:00", "2024-01-31 22:30", None),
    "America/New_York": ("2023-11-05 05:40", "2023-11-05 06:40", "2023-03-12 06:59", "1883-11-18 16:30"),
    "Australia/Lord_Howe": ("2023-04-01 14:45", "2023-04-01 15:15", "2023-04-01 15:45", "2023-09-30 15:31"),
    "Asia/Kathmandu": ("2023-01-01 18:20", "1985-12-31 18:31"),
    "UTC": ("2023-10-29 01:15", "1850-06-01 12:00"),
}  # fmt: skip
"""Zone -> instants: hours that are there twice or not at all, changes of half an hour, offsets with 45 minutes."""

_COMMON = (
    "CAST(x AS TIMESTAMP)", "CAST(x AS DATE)", "CAST(CAST(x AS TIMESTAMP) AS TIMESTAMPTZ)", "CAST(s AS TIMESTAMP)",
    "CAST(CAST(x AS DATE) AS TIMESTAMPTZ)", "EXTRACT(HOUR FROM x)", "EXTRACT(DAY FROM x)", "EXTRACT(MINUTE FROM x)",
    "EXTRACT(SECOND FROM x)", "EXTRACT(SECONDS FROM c)", "DATE_PART('minute', x)",
    *(f"DATE_TRUNC('{unit}', x)" for unit in ("year", "month", "week", "day", "hour", "minute", "second")),
    *(f"x {sign} INTERVAL '{many}' {unit}" for sign in "+-" for many, unit in (
        (1, "DAY"), (24, "HOUR"), (25, "HOUR"), (1, "MONTH"), (1, "YEAR"), (90, "MINUTE"))),
    "c", "CAST(c AS TIMESTAMPTZ)", "CAST(s AS TIMESTAMPTZ)", "x > c", "x = CAST(c AS TIMESTAMPTZ)", "COALESCE(x, c)",
    "x < TIMESTAMPTZ '2023-10-29 02:30:00+02'", "x >= '2023-10-29 02:30:00'", "x < DATE '2023-10-29'",
    "CAST(x AS VARCHAR)", "TIMESTAMPTZ '2023-10-29 02:30:00'",
)  # fmt: skip
_DATABASES = (
    "x AT TIME ZONE 'Asia/Kolkata'", "c AT TIME ZONE 'America/St_Johns'", "x AT TIME ZONE 'Europe/Berlin'",
    "c AT TIME ZONE 'Europe/Berlin' AT TIME ZONE 'UTC'", "TIMEZONE('Pacific/Chatham', x)", "'at ' || x",
    "DATE_TRUNC('day', x AT TIME ZONE 'America/New_York')", "EXTRACT(EPOCH FROM x)",
    "EXTRACT(DOW FROM x)",
    "(x + INTERVAL '1 day 2 hours') - INTERVAL '1 month'",
)  # fmt: skip
_SPARK = (
    "FROM_UTC_TIMESTAMP(CAST(x AS TIMESTAMP), 'Asia/Tokyo')", "TO_UTC_TIMESTAMP(CAST(x AS TIMESTAMP), 'Europe/Paris')",
    "CONVERT_TIMEZONE('Asia/Tokyo', c)", "CONVERT_TIMEZONE('America/New_York', 'Europe/Berlin', c)",
    "TIMESTAMPADD(HOUR, 24, x)", "TIMESTAMPADD(DAY, 1, x)", "DATE_FORMAT(x, 'yyyy-MM-dd HH:mm:ss')",
    "UNIX_MICROS(x)", "CAST(x AS TIMESTAMP_NTZ)", "TIMESTAMP_MILLIS(n)",
    "UNIX_SECONDS(CAST(x AS TIMESTAMP))", "CAST(TIMESTAMP_SECONDS(n) AS STRING)",
    "CAST(CAST(s AS TIMESTAMP) AS STRING)", "x + INTERVAL '1 day 25 hours'", "x - INTERVAL '1' HOUR * n",
    "x + INTERVAL '1500' MILLISECOND", "x - INTERVAL '7' MICROSECOND",
    "LAST_DAY(x)", "HOUR(x)", "UNIX_TIMESTAMP(x)", "TIMESTAMP_LTZ '2023-10-29 02:30:00'",
    "TIMESTAMPDIFF(HOUR, x, TIMESTAMPTZ '2023-10-29 12:00:00+00')",
)  # fmt: skip
_BUCKETS = (
    *(f"TIME_BUCKET(INTERVAL '{width}', x)" for width in ("10 minutes", "7 hours", "1 day", "5 days", "90 seconds")),
    "TIME_BUCKET(INTERVAL '25 hours', x, TIMESTAMPTZ '2023-01-01 03:00:00+02')",
    "TIME_BUCKET(INTERVAL '7 minutes', x, TIMESTAMPTZ '2030-01-01 00:00:00')",
)
_BINS = (
    *(f"DATE_BIN('{width}', x, TIMESTAMPTZ '2023-01-01 03:00:00+02')" for width in ("10 minutes", "7 hours", "1 day")),
    "DATE_BIN('25 hours', x, TIMESTAMP '2030-06-01')",
    "DATE_BIN('90 seconds', x, CAST('2001-01-01 00:00:00' AS TIMESTAMPTZ))",
)
OF_EACH = {"duckdb": "Australia/Lord_Howe", "postgres": "Europe/Berlin", "spark": "America/New_York"}
"""The zone that is tried where not all are."""
ASKED = {
    "duckdb": (
        *_COMMON,
        *_DATABASES,
        "EPOCH_MS(x)",
        "STRFTIME(x, '%Y-%m-%d %H:%M:%S')",
        "EPOCH_US(x)",
        "x + INTERVAL '1500' MILLISECOND",
        "x - INTERVAL '7' MICROSECOND",
        *_BUCKETS,
    ),
    "postgres": (
        *_COMMON,
        *_DATABASES,
        *_BINS,
        "TO_CHAR(x, 'YYYY-MM-DD HH24:MI:SS')",
        "EXTRACT(EPOCH FROM x - TIMESTAMPTZ '2023-10-01 00:00:00+00')",
        "TO_TIMESTAMP(n)",
    ),
    "spark": tuple(sql for sql in (*_COMMON, *_SPARK) if sql != "EXTRACT(MINUTE FROM x)"),
}


def rows() -> pa.Table:
    """All moments, what a clock of UTC shows at them as a time without a zone, and texts with and without an offset."""
    moments = [m and dt.datetime.fromisoformat(m) for m in dict.fromkeys(m for some in MOMENTS.values() for m in some)]
    micros = pa.array(moments, pa.timestamp("us"))
    texts = [None if m is None else f"{m}{'+05:30' * (place % 2)}" for place, m in enumerate(moments)]
    numbers = range(len(moments))
    return pa.table({"n": pa.array(numbers), "x": micros.cast(pa.timestamp("us", "UTC")), "c": micros, "s": texts})


def normal(value: Any) -> Any:
    """A value as all systems have it: an instant in UTC, a number as a float."""
    if value is None or pd.isna(value):
        return None
    if isinstance(value, pd.Timestamp):
        value = value.to_pydatetime()
    if isinstance(value, dt.datetime) and value.tzinfo is not None:
        return value.astimezone(dt.UTC)
    if isinstance(value, (bool, str, dt.date)):
        return value
    return float(value)


Engine = Callable[[str, str], list[Any]]
"""Gives the values of an expression, in the order of the rows, in a zone."""


@contextmanager
def in_duckdb() -> Iterator[Engine]:
    connection, t = duckdb.connect(), rows()
    connection.execute("CREATE TABLE u AS SELECT * FROM t")

    def values(sql: str, zone: str) -> list[Any]:
        connection.execute(f"SET TimeZone = '{zone}'")
        return [row[0] for row in connection.execute(f"SELECT {sql} FROM u ORDER BY n").fetchall()]

    yield values
    del t


@contextmanager
def in_postgres() -> Iterator[Engine]:
    with servers.postgres() as address, psycopg.connect(address, autocommit=True) as connection:
        connection.execute("CREATE TABLE t (n INT, x TIMESTAMPTZ, c TIMESTAMP, s TEXT)")
        with connection.cursor() as cursor:
            cursor.executemany("INSERT INTO t VALUES (%s, %s, %s, %s)", [tuple(r.values()) for r in rows().to_pylist()])

        def values(sql: str, zone: str) -> list[Any]:
            connection.execute(f"SET TimeZone = '{zone}'")
            return [row[0] for row in connection.execute(f"SELECT {sql} FROM t ORDER BY n").fetchall()]

        yield values


@contextmanager
def in_spark(spark: SparkSession) -> Iterator[Engine]:
    own = spark.newSession()
    own.conf.set("spark.sql.ansi.enabled", "false")

    def values(sql: str, zone: str) -> list[Any]:
        own.conf.set("spark.sql.session.timeZone", "UTC")
        plain = ", ".join(
            f"{c} {t}" for c, t in (("n", "bigint"), ("x", "timestamp"), ("c", "timestamp_ntz"), ("s", "string"))
        )
        own.createDataFrame(rows(), plain).createOrReplaceTempView("t")
        own.conf.set("spark.sql.session.timeZone", zone)
        for name, type_ in (("TIMESTAMPTZ", "TIMESTAMP_LTZ"), ("VARCHAR", "STRING")):
            sql = sql.replace(name, type_)
        frame = own.sql(f"SELECT {sql} AS v FROM t ORDER BY n")
        if frame.schema["v"].dataType.simpleString() == "timestamp":
            micros = own.sql(f"SELECT UNIX_MICROS(v) FROM (SELECT n, {sql} AS v FROM t) ORDER BY n").collect()
            start = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
            return [None if m is None else start + dt.timedelta(microseconds=m) for (m,) in micros]
        return [row[0] for row in frame.collect()]

    yield values


@pytest.mark.parametrize("dialect", ASKED)
def test_instants_are_those_of_the_database(dialect: str, spark: SparkSession) -> None:
    engines = {"duckdb": in_duckdb, "postgres": in_postgres, "spark": lambda: in_spark(spark)}
    wrong, asked = [], ASKED[dialect][:: 1 if LONG or dialect != "spark" else 4]
    with engines[dialect]() as engine, Session(spark, dialect=dialect) as session:
        session.add_stream("t", rows(), history=rows().num_rows)
        for zone in MOMENTS if LONG else [OF_EACH[dialect]]:
            session.set_timezone(zone)
            shown = ", ".join(f"{sql} AS v{place}" for place, sql in enumerate(asked))
            found = session.register(f"SELECT n, {shown} FROM t ORDER BY n", name="q").result()
            for place, sql in enumerate(asked):
                ours, theirs = list(map(normal, found[f"v{place}"])), list(map(normal, engine(sql, zone)))
                if found[f"v{place}"].dtype == "datetime64[us]" and zone == "UTC":
                    theirs = [v and v.replace(tzinfo=None) for v in theirs]  # there a TIMESTAMP is an instant, too
                if dialect == "duckdb":  # it leaves out the seconds of offsets
                    ours = [re.sub(r"([+-]\d\d:\d\d):\d\d$", r"\1", v) if isinstance(v, str) else v for v in ours]
                wrong += [
                    (zone, sql, n, *pair) for n, pair in enumerate(zip(ours, theirs, strict=True)) if pair[0] != pair[1]
                ]
    for each in wrong:
        print(*each)
    assert not wrong, len(wrong)
