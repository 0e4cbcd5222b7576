"""Streams whose columns are maps, as they come and corrected: DuckDB has the same. What is no map stops its query."""

from __future__ import annotations

import datetime as dt
import random
import time
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from oracle.harness import Case
from oracle.two_streams import check_over_two_streams
from pyspark.sql import SparkSession

from workbench import Session
from workbench.errors import QueryError

_FEES = pa.map_(pa.string(), pa.decimal128(9, 2))
_ROWS = pa.schema(
    [
        ("id", pa.int64()),
        ("fees", _FEES),
        ("days", pa.map_(pa.date32(), pa.list_(pa.float64()))),
        ("more", pa.struct([("m", pa.map_(pa.int32(), pa.string()))])),
    ]
)


def _stream(rows: int, seed: int) -> pa.Table:
    chosen = random.Random(seed)

    def some(value: object) -> object:
        return None if chosen.random() < 0.15 else value

    def map_of(keys: list[object], values: list[object]) -> list[tuple[object, object]]:
        return [(key, some(chosen.choice(values))) for key in chosen.sample(keys, chosen.randrange(len(keys)))]

    made = [
        (
            number % 30,
            some(map_of(["x", "", 'é"'], [Decimal("1.50"), Decimal("-0.25")])),
            some(map_of([dt.date(1, 1, 1), dt.date(2024, 2, 29)], [[0.5, None], [], [1e300]])),
            some({"m": some(map_of([0, -7, 2**31 - 1], ["a", "b"]))}),
        )
        for number in range(rows)
    ]
    columns = [pa.array(column, field.type) for column, field in zip(zip(*made, strict=True), _ROWS, strict=True)]
    return pa.Table.from_arrays(columns, schema=_ROWS)


CASES = {
    "rows": Case("SELECT * FROM r"),
    "values": Case("SELECT id, fees['x'] AS x, days[DATE '2024-02-29'][0] AS d, more.m[0] AS i, SIZE(fees) FROM r",
                   "SELECT id, fees['x'], days[DATE '2024-02-29'][1], more.m[0], cardinality(fees) FROM r"),
    "parts": Case("SELECT id, MAP_KEYS(days) AS k, MAP_VALUES(fees) AS v, MAP_ENTRIES(more.m) AS e FROM r",
                  "SELECT id, map_keys(days), map_values(fees), map_entries(more.m) FROM r"),
    "by_value": Case("SELECT fees['x'] AS x, COUNT(*) AS n, SUM(SIZE(days)) AS s FROM r GROUP BY fees['x']",
                     "SELECT fees['x'], COUNT(*), SUM(cardinality(days)) FROM r GROUP BY 1"),
    "joined": Case("SELECT a.id, b.fees FROM r a JOIN s b ON a.fees['x'] = b.fees['x'] AND a.id < b.id"),
    "left": Case("SELECT a.id, b.days FROM r a LEFT JOIN s b ON a.id = b.id AND MAP_CONTAINS_KEY(b.fees, 'x')",
                 "SELECT a.id, b.days FROM r a LEFT JOIN s b ON a.id = b.id AND map_contains(b.fees, 'x')"),
    "exploded": Case("SELECT id, k, v FROM r LATERAL VIEW EXPLODE(fees) e AS k, v",
                     "SELECT id, e.key, e.value FROM (SELECT id, UNNEST(map_entries(fees)) AS e FROM r)"),
    "sums": Case("SELECT k, SUM(v) AS total FROM r LATERAL VIEW EXPLODE(fees) e AS k, v GROUP BY k",
                 "SELECT e.key, SUM(e.value) FROM (SELECT UNNEST(map_entries(fees)) AS e FROM r) GROUP BY 1"),
    "union": Case("SELECT fees FROM r UNION ALL SELECT fees FROM s"),
    "first": Case("SELECT id, fees FROM r WHERE fees['x'] IS NOT NULL QUALIFY ROW_NUMBER() OVER (PARTITION BY id"
                  " ORDER BY SIZE(fees), fees['x'], TO_JSON(fees), TO_JSON(days), TO_JSON(more)) = 1",
                  "SELECT id, fees FROM r WHERE fees['x'] IS NOT NULL QUALIFY ROW_NUMBER() OVER (PARTITION BY id"
                  " ORDER BY cardinality(fees), fees['x'], fees::VARCHAR) = 1"),
}  # fmt: skip


@pytest.mark.parametrize("kind", ["appended", "corrected"])
def test_streams_with_maps(spark: SparkSession, kind: str, tmp_path: Path) -> None:
    check_over_two_streams(spark, CASES, _stream(120, 1), _stream(80, 2), kind, tmp_path / "session")


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT id, MAP(k, 1, 'b', 2) AS m FROM t",
        "SELECT SIZE(MAP_FROM_ARRAYS(ARRAY('x', 'y'), SPLIT(v, ','))) AS n, COUNT(*) AS c FROM t GROUP BY 1",
        "SELECT id FROM t WHERE MAP_CONTAINS_KEY(STR_TO_MAP(v, ',', '='), 'p')",
        "SELECT MAP_CONCAT(MAP('b', 1), MAP(MAX(k), 2)) AS m FROM t",
        "SELECT id, x.key FROM t LATERAL VIEW EXPLODE(MAP_FROM_ENTRIES(ARRAY(STRUCT(k AS a, 1 AS b),"
        " STRUCT('b' AS a, 2 AS b)))) x",
    ],
)
def test_a_row_with_what_is_no_map_stops_the_query(sql: str, spark: SparkSession) -> None:
    rows = pa.table({"id": [1, 2], "k": ["a", "b"], "v": ["p,q", "p=1,p=2,p=3"]})
    with Session(spark) as session:
        session.add_stream("t", rows, history=1, batch=1)
        query, other = session.register(sql, "q"), session.register("SELECT MAP('k', k) AS m FROM t", "other")
        assert len(query.result()) >= 1
        session.run(1)
        with pytest.raises(QueryError, match="a key twice"):
            query.result()
        assert other.result()["m"].tolist() == [{"k": "a"}, {"k": "b"}]


def test_answers_give_maps_as_dicts_and_as_maps_of_spark(spark: SparkSession, tmp_path: Path) -> None:
    rows = pa.table(
        {"id": [1, 2, 3], "m": pa.array([[("b", 1), ("a", None)], [], None], pa.map_(pa.string(), pa.int64()))}
    )
    with Session(spark) as session:
        session.add_stream("t", rows, history=3, batch=1)
        query = session.register("SELECT id, m, ARRAY(STRUCT(m AS m)) AS a FROM t", "q")
        assert list(query.result().sort_values("id")["m"]) == [{"b": 1, "a": None}, {}, None]
        frame = query.dataframe()
        assert frame.schema["m"].dataType.simpleString() == "map<string,bigint>"
        found = {row.id: (row.m, row.a[0].m) for row in frame.collect()}
        assert found == {1: ({"b": 1, "a": None},) * 2, 2: ({}, {}), 3: (None, None)}
        session.add_sink("q", tmp_path / "sink")
        until = time.monotonic() + 60
        while not (found := list((tmp_path / "sink").glob("*.parquet"))) and time.monotonic() < until:
            time.sleep(0.05)
        assert pq.read_schema(found[0]).field("m").type == pa.map_(pa.string(), pa.int64())
        query.save(tmp_path / "q.csv")
        assert '"{""b"": 1, ""a"": null}"' in (tmp_path / "q.csv").read_text()
        query.save(tmp_path / "q.parquet")
        session.add_table("again", tmp_path / "q.parquet")
        again = session.register("SELECT id, m['b'] AS b, a[0].m['b'] AS c FROM again", "r")
        assert again.result().sort_values("id").iloc[0].tolist() == [1, 1, 1]
