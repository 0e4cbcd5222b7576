"""Frames of RANGE whose ends are beyond what a number has: far distances, and numbers near the largest."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from decimal import Decimal

import duckdb
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from workbench import Session
from workbench.engine.spark.in_process import InProcess
from workbench.errors import SqlError

LARGEST = 10**38 - 1
NEAR = [Decimal(sign * (10**36 - by)) for sign in (1, -1) for by in (1, 2, 5, 9)]
WHOLE = [2**63 - 1, 2**63 - 2, -(2**63), -(2**63) + 3, 0, 7, None, 7]
DISTANCES = [(3, 0), (0, 4), (2**63, 5), (10**30, 10**30), (2**64, 0)]


def counted(values: Sequence[int | Decimal | None], before: int, after: int) -> list[int]:
    """How many values are in the frame of each; NULLs have a frame of their own."""
    whole = [None if value is None else int(value) for value in values]
    near = [sum(v is not None and x - before <= v <= x + after for v in whole) if x is not None else 0 for x in whole]
    return [whole.count(None) if x is None else n for x, n in zip(whole, near, strict=True)]


@pytest.mark.parametrize("direction", ["ASC", "DESC"])
@pytest.mark.parametrize(("values", "type_"), [(WHOLE, pa.int64()), (NEAR, pa.decimal128(36, 0))])
def test_far_distances_reach_all_numbers(
    spark: SparkSession, values: list[int | Decimal | None], type_: pa.DataType, direction: str
) -> None:
    with Session(spark=spark) as session:
        table = pa.table({"id": pa.array(range(len(values)), pa.int64()), "v": pa.array(values, type_)})
        session.add_stream("t", table, history=3, batch=3)
        queries = {}
        for before, after in DISTANCES:
            over = f"ORDER BY v {direction} RANGE BETWEEN {before} PRECEDING AND {after} FOLLOWING"
            queries[before, after] = session.register(f"SELECT id, COUNT(*) OVER ({over}) AS n FROM t")
        for there in range(3, len(values) + 3, 3):
            for (before, after), query in queries.items():
                low, high = (before, after) if direction == "ASC" else (after, before)
                found = query.result().sort_values("id")["n"].tolist()
                assert found == counted(values[:there], low, high), (before, after)
            session.run(1)


def test_a_number_that_leaves_no_room_disables_its_query_alone(spark: SparkSession) -> None:
    values = [Decimal(1), Decimal(LARGEST - 9), Decimal(LARGEST - 1)]
    with Session(spark=spark) as session:
        table = pa.table({"id": pa.array(range(3), pa.int64()), "v": pa.array(values, pa.decimal128(38, 0))})
        session.add_stream("t", table, history=2, batch=1)
        around = session.register("SELECT id, COUNT(*) OVER (ORDER BY v RANGE 3 PRECEDING) AS n FROM t")
        of_groups = "SELECT id, COUNT(*) OVER (ORDER BY SUM(v) RANGE 3 PRECEDING) AS n FROM t GROUP BY id"
        grouped = session.register(of_groups)
        assert grouped.result()["n"].tolist() == [1, 1]
        behind = session.register("SELECT id, COUNT(*) OVER (ORDER BY v) AS n FROM t")
        assert around.result()["n"].tolist() == [1, 1]
        session.run(1)
        assert behind.result().sort_values("id")["n"].tolist() == [1, 2, 3]
        assert all("too large for the ends of a frame" in query.status for query in (around, grouped))
        with pytest.raises(SqlError, match="RANGE cannot count with this distance"):
            session.register(f"SELECT id, COUNT(*) OVER (ORDER BY v RANGE {LARGEST} PRECEDING) AS n FROM t")


def test_a_list_over_a_frame_that_is_too_long_disables_its_query_alone(in_process: InProcess) -> None:
    table = pa.table({"id": pa.array(range(1_200), pa.int64())})
    with Session(in_process) as session:
        session.add_stream("t", table, history=900, batch=200)
        sized = "SELECT id, SIZE(COLLECT_LIST(id) OVER (ORDER BY id{})) AS n FROM t"
        running = session.register(sized.format(""))
        moving = session.register(sized.format(" ROWS BETWEEN 999 PRECEDING AND CURRENT ROW"))
        assert running.result()["n"].max() == moving.result()["n"].max() == 900
        session.run(1)
        assert moving.result()["n"].max() == 1_000
        assert "a frame has more than 1,000 rows" in running.status


@pytest.mark.parametrize("months", [1, 3, 13])
@pytest.mark.parametrize("direction", ["ASC NULLS FIRST", "DESC NULLS LAST"])
def test_months_end_where_their_days_do(in_process: InProcess, months: int, direction: str) -> None:
    """Every day of sixteen months, with a leap day; a month back from the 31st is the last day of a shorter one."""
    days: list[dt.date | None] = [dt.date(2019, 12, 1) + dt.timedelta(days=number * 7 % 487) for number in range(487)]
    table = pa.table({"d": pa.array([*days, None], pa.date32())}).append_column(
        "t", pa.array([None, *(dt.datetime.combine(day, dt.time(9)) for day in days if day)], pa.timestamp("us"))
    )
    ends = f"RANGE BETWEEN INTERVAL {months} MONTH PRECEDING AND INTERVAL 2 MONTH FOLLOWING"
    counts = ", ".join(f"COUNT(*) OVER (ORDER BY {key} {direction} {ends}) AS of_{key}" for key in "dt")
    with Session(in_process) as session, duckdb.connect() as database:
        session.add_stream("s", table, history=300, batch=100)
        query = session.register(f"SELECT d, t, {counts} FROM s", dialect="duckdb")
        for there in (300, 400, 488):
            database.register("s", table.slice(0, there))
            expected = database.sql(f"SELECT d, t, {counts} FROM s").to_arrow_table()
            assert sorted(map(str, query.arrow_result().to_pylist())) == sorted(map(str, expected.to_pylist()))
            session.run(1)
