"""Texts that are cast to times are read as DuckDB and PostgreSQL read them, whatever people have written."""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Callable, Mapping
from random import Random

import duckdb
import pyarrow as pa
import pytest
import servers

from workbench import Session
from workbench.engine.spark.in_process import InProcess
from workbench.errors import SqlError

TYPES = ("DATE", "TIMESTAMP", "TIMESTAMPTZ")
YEARS, MONTHS = ("2024", "1999", "0001", "9998", "24", "+2024", "20"), ("01", "1", "12", "13", "00", "2", "Feb", "sept")
DAYS, SEPARATORS = ("1", "01", "29", "30", "31", "32", "00"), ("-", "-", "-", "/", " ", ".", "", "\\")
CLOCKS = (
    "10:20:30", "1:2:3", "10:20", "10", "24:00:00", "24:00:01", "25:00", "10:20:30.5", "10:20:30.123456", "10:20:60",
    "10:20:30.", "10:20:", "10:20:30+02", "10:20:30 +02:30", "10:20:30Z", "10:20:30 UTC", "10:20:30 Europe/Berlin",
    "10:20:30-0800", "10:20 PM", "12:00 am", "13:00 am", "10:20:30 Foo/Bar", "00:00:00", "-10:20:30",
)  # fmt: skip


def texts(random: Random, count: int) -> list[str]:
    """Texts that are times, or nearly."""
    found = ["2024", "2024-02", "epoch", "", "x", "2024-02-29", "2024-02-29 10:20:30"]
    for _ in range(count):
        year, month, day = random.choice(YEARS), random.choice(MONTHS), random.choice(DAYS)
        apart = random.choice(SEPARATORS)
        parts = random.choice(((year, month, day), (year, month, day), (month, day, year), (day, month, year)))
        clock = random.choice(("", "", " ", "  ", "T", "t")) + random.choice(CLOCKS)
        date = random.choice((apart.join(parts), f"{month} {day}, {year}", f" {apart.join(parts)}"))
        found.append(date + random.choice(("", "", clock, clock, " ")))
    return list(dict.fromkeys(found))


def of_duckdb(asked: list[str], type_: str) -> dict[str, object]:
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        connection.register("t", pa.table({"s": asked}))
        return dict(connection.execute(f"SELECT s, TRY_CAST(s AS {type_}) FROM t").fetchall())


def of_postgres(address: str) -> Callable[[list[str], str], dict[str, object]]:
    psycopg = pytest.importorskip("psycopg")

    def ask(asked: list[str], type_: str) -> dict[str, object]:
        with psycopg.connect(address, autocommit=True) as connection, connection.cursor() as cursor:
            cursor.execute("SET TimeZone = 'UTC'")
            found = {}
            for text in asked:
                try:
                    (found[text],) = cursor.execute(f"SELECT CAST(%s::text AS {type_})", [text]).fetchone()
                except psycopg.Error:
                    found[text] = None
            return found

    return ask


def ours(asked: list[str], type_: str, dialect: str) -> dict[str, object]:
    with Session(InProcess(), dialect=dialect) as session:
        session.add_stream("t", pa.table({"s": asked}), history=len(asked), batch=1)
        answer = session.register(f"SELECT s, CAST(s AS {type_}) AS v FROM t").arrow_result()
        return dict(zip(answer["s"].to_pylist(), answer["v"].to_pylist(), strict=True))


def differences(found: Mapping[str, object], expected: Mapping[str, object]) -> list[tuple[str, object, object]]:
    return [(text, found[text], expected[text]) for text in found if found[text] != expected[text]]


@pytest.mark.parametrize("type_", TYPES)
def test_texts_are_read_as_duckdb_reads_them(type_: str) -> None:
    asked = texts(Random(f"{os.environ['ARGUS_SEED']} {type_}"), 600)
    expected = of_duckdb(asked, type_)
    # Here no year is before 1, and an offset behind a blank is one in a TIMESTAMPTZ, too.
    unlike = {text for text, value in expected.items() if isinstance(value, str) or " +02" in text}
    assert [d for d in differences(ours(asked, type_, "duckdb"), expected) if d[0] not in unlike] == []


def test_texts_are_read_as_postgres_reads_them() -> None:
    with servers.postgres() as address:
        for type_ in TYPES:
            asked = texts(Random(f"{os.environ['ARGUS_SEED']} {type_}"), 300)
            found, expected = ours(asked, type_, "postgres"), of_postgres(address)(asked, type_)
            # What is read is right, and most is read.
            assert [d for d in differences(found, expected) if d[1] is not None] == []
            read = sum(value is not None for value in found.values())
            assert read >= 0.75 * sum(value is not None for value in expected.values())


@pytest.mark.parametrize("dialect", ["duckdb", "postgres"])
def test_constants_are_read_alike(dialect: str) -> None:
    with Session(InProcess(), dialect=dialect) as session:
        session.add_stream("t", pa.table({"id": [1]}), history=1, batch=1)
        answer = session.register("SELECT DATE '2024/12/31' AS d, CAST('2024-1-2 3:04' AS TIMESTAMP) AS t FROM t")
        assert answer.arrow_result().to_pylist() == [{"d": dt.date(2024, 12, 31), "t": dt.datetime(2024, 1, 2, 3, 4)}]
        with pytest.raises(SqlError, match="'2024' is not a date"):
            session.register("SELECT DATE '2024' AS d FROM t")
