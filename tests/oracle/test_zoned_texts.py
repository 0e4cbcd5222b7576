"""Texts with offsets as timestamps: the instant where the type has a time zone, as DuckDB and Spark have it."""

from __future__ import annotations

import datetime as dt

import pyarrow as pa
import pytest
from oracle.harness import Case, Feed, Oracle
from pyspark.sql import SparkSession

from workbench import Session
from workbench.errors import SqlError
from workbench.sql.algebra.types import INTEGER, STRING
from workbench.sql.binder.pipeline import bind
from workbench.sql.schema import Schema

TEXTS = [
    "2023-11-05 01:40:00-07:00", "2023-11-05 01:40:00-08:00", "2023-11-05T01:40:00Z", "2023-11-05 01:40:00",
    "2024-02-29 23:59:59.123456+05:30", "2023-11-05 01:40:00+00", "2023-11-05", "no time", None,
]  # fmt: skip
FEED = Feed(pa.table({"id": range(len(TEXTS)), "s": TEXTS}), 5, 4)
ZONED = ("TIMESTAMP WITH TIME ZONE", "TIMESTAMPTZ", "TIMESTAMP_LTZ")
SPARKS = ("CAST(s AS TIMESTAMP)", "CAST(s AS TIMESTAMP_NTZ)", "TO_TIMESTAMP(s)", "TIMESTAMP(s)", "TRY_TO_TIMESTAMP(s)")


def test_a_text_with_an_offset_is_its_instant(spark: object) -> None:
    asked = "SELECT id, TRY_CAST(s AS TIMESTAMPTZ) FROM t"
    cases = {
        f"{dialect} {type_}": Case(f"SELECT id, CAST(s AS {type_}) AS x FROM t", asked, dialect)
        for dialect in ("spark", "duckdb", "postgres")
        for type_ in ZONED
    }
    cases["without"] = Case("SELECT id, CAST(s AS TIMESTAMP) AS x FROM t", "SELECT id, TRY_CAST(s AS TIMESTAMP) FROM t",
                            "duckdb")  # fmt: skip
    with Oracle(spark, {"t": FEED}) as oracle:
        oracle.register(cases)
        oracle.run(1)
        oracle.check_changes()


def test_spark_has_the_same_timestamps(spark: SparkSession) -> None:
    with Session(spark) as session:
        session.add_stream("t", FEED.table, history=len(TEXTS))
        values = ", ".join(f"{sql} AS c{place}" for place, sql in enumerate(SPARKS))
        found = session.register(f"SELECT id, {values} FROM t ORDER BY id", "q").result()
        own = spark.newSession()
        for key, value in (("session.timeZone", "UTC"), ("ansi.enabled", "false")):
            own.conf.set(f"spark.sql.{key}", value)
        own.createDataFrame(list(enumerate(TEXTS)), "id bigint, s string").createOrReplaceTempView("t")
        texts = ", ".join(f"CAST({sql} AS STRING)" for sql in SPARKS)
        expected = [tuple(row) for row in own.sql(f"SELECT id, {texts} FROM t ORDER BY id").collect()]
    shown = [(row[0], *(None if value is None or value != value else str(value) for value in row[1:]))
             for row in found.astype(object).itertuples(index=False, name=None)]  # fmt: skip
    assert shown == [(row[0], *map(_as_pandas, row[1:])) for row in expected]


def _as_pandas(text: str | None) -> str | None:
    return text if text is None else str(dt.datetime.fromisoformat(text))


@pytest.mark.parametrize(("dialect", "sql", "what"), [
    ("postgres", "TIMESTAMP '2023-11-05 01:40:00-07:00'", "is not a timestamp"),
    ("postgres", "s::TIMETZ", "TIMETZ is not supported"),
    ("duckdb", "s AT TIME ZONE 'Europe/Berlin'", "AT TIME ZONE of string"),
    ("postgres", "s::TIMESTAMPTZ AT TIME ZONE 'CET'", "there is no time zone CET"),
    ("spark", "CAST(s AS TIMESTAMP_LTZ) AT TIME ZONE 'Europe/Berlin'", "AT TIME ZONE is not supported"),
    ("spark", "TO_TIMESTAMP(s, 'yyyy-MM-dd HH:mm:ssXXXX')", "the element XXXX of the date format"),
    ("spark", "s::TIMESTAMP > 1", "timestamp cannot be compared with integer"),
    ("postgres", "TO_TIMESTAMP(s, 'YYYY-MM-DD HH24:MI:SSTZH')", "the element"),
])  # fmt: skip
def test_what_would_lose_an_offset_is_refused(dialect: str, sql: str, what: str) -> None:
    with pytest.raises(SqlError, match=what) as refused:
        bind(f"SELECT {sql} AS x FROM t", dialect, Schema(streams={"t": (("id", INTEGER), ("s", STRING))}))
    assert refused.value.position is not None
