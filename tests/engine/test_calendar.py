"""Dates and timestamps of all years are the same everywhere: in the proleptic Gregorian calendar, as Python's are.

Java's old classes for dates use the Julian calendar before 1582-10-15, and have no day from 1582-10-05 to 14.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest
from long import rare
from pyarrow import csv, parquet

from workbench.session.query import Query
from workbench.session.session import Session

DAYS = sorted(
    {
        *(dt.date(1582, 10, day) for day in range(1, 20)),
        *(dt.date(year, month, 28) + dt.timedelta(days=n) for year in (4, 1000, 1500, 1700, 1900) for month in (2,)
          for n in range(3)),
        *(dt.date(year, 1, 1) for year in (1, 2, 99, 100, 200, 1581, 1583, 1884, 1970, 2002)),
        dt.date(1, 1, 2), dt.date(1, 12, 31), dt.date(1883, 11, 18), dt.date(9999, 12, 30), dt.date(9999, 12, 31),
    }
)  # fmt: skip
TIMES = [dt.datetime.combine(day, dt.time(23, 59, 59, 999_999)) for day in DAYS]
ROWS = list(zip(range(len(DAYS)), DAYS, TIMES, strict=True))
TABLE = pa.table({"n": [n for n, _, _ in ROWS], "d": DAYS, "t": pa.array(TIMES, pa.timestamp("us"))})


@pytest.fixture(scope="module")
def query(spark) -> Iterator[Query]:
    with Session(spark=spark) as session:
        session.add_stream("days", TABLE, history=20, batch=1_000)
        made = session.register("SELECT n, d, t FROM days")
        session.run(1)
        yield made


def rows(frame: pd.DataFrame) -> list[tuple[int, dt.date, dt.datetime]]:
    return sorted((int(n), d, t) for n, d, t in zip(frame["n"], frame["d"], frame["t"].astype(object), strict=True))


def test_answers_in_pandas(query: Query) -> None:
    assert rows(query.result()) == ROWS
    assert rows(query.head(1_000)) == ROWS
    assert rows(query.changes()) == ROWS


def test_answers_in_spark(query: Query, spark) -> None:
    frame = query.dataframe()
    assert dict(frame.dtypes) == {"n": "bigint", "d": "date", "t": "timestamp_ntz"}
    table = frame.toArrow()
    found = zip(*(table.column(name).to_pylist() for name in ("n", "d", "t")), strict=True)
    assert sorted(found) == ROWS
    texts = frame.selectExpr("n", "cast(d as string)", "cast(t as string)").collect()
    assert sorted(map(tuple, texts)) == [(n, d.isoformat(), t.isoformat(sep=" ")) for n, d, t in ROWS]


def test_answers_in_files(query: Query, tmp_path: Path) -> None:
    query.save(tmp_path / "days.parquet")
    found = parquet.read_table(tmp_path / "days.parquet").to_pylist()
    assert sorted((row["n"], row["d"], row["t"]) for row in found) == ROWS
    query.save(tmp_path / "days.csv")
    options = csv.ConvertOptions(column_types={"d": pa.string(), "t": pa.string()})
    texts = csv.read_csv(tmp_path / "days.csv", convert_options=options).to_pylist()
    assert sorted((row["n"], row["d"], row["t"]) for row in texts) == [
        (n, d.isoformat(), t.isoformat(sep=" ")) for n, d, t in ROWS
    ]


@rare
def test_spark_says_the_same_of_all_days_there_are(spark) -> None:
    """Every day of the years 1 to 9999; of every hundredth also what Spark writes."""
    first, last = ((day - dt.date(1970, 1, 1)).days for day in (dt.date.min, dt.date.max))
    days = pa.array(range(first, last + 1), pa.int32())
    with Session(spark=spark) as session:
        session.add_table("days", pa.table({"n": days, "d": days.cast(pa.date32())}))
        every = session.register("SELECT n, d FROM days").dataframe().toArrow().sort_by("n")
        some = session.register("SELECT d, CAST(d AS STRING) AS s FROM days WHERE n % 100 = 0").dataframe().toArrow()
    assert every.column("d").combine_chunks().equals(days.cast(pa.date32()))
    assert some.column("s").to_pylist() == [day.isoformat() for day in some.column("d").to_pylist()]
    assert some.num_rows > 36_000


def test_frames_and_files_of_spark_are_read_as_they_are(spark, tmp_path: Path) -> None:
    given = spark.createDataFrame(TABLE)
    given.write.parquet(str(tmp_path / "written"))
    with Session(spark=spark) as session:
        session.add_table("given", given)
        session.add_table("written", str(tmp_path / "written"))
        for name in ("given", "written"):
            assert rows(session.register(f"SELECT n, d, t FROM {name}").result()) == ROWS
