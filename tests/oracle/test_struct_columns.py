"""Streams whose columns are structs, bytes and arrays of floats, as they come and corrected: DuckDB has the same."""

from __future__ import annotations

import datetime as dt
import math
import random
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest
from oracle.harness import Case
from oracle.two_streams import check_over_two_streams
from pyspark.sql import SparkSession

_FLOATS = [0.1, -0.0, 0.0, 5e-324, 1e-310, 2.0**-1022, 2.0**1023, 1e300, 0.3, 1 / 3, -2.5, 2.0**52, 2.0**53 - 1, 1e23]
_PLACE = pa.struct([("City", pa.string()), ("zip", pa.int32()), ("at", pa.struct([("x", pa.float64())]))])
_ITEM = pa.struct([("sku", pa.string()), ("price", pa.decimal128(9, 2)), ("day", pa.date32()), ("code", pa.binary())])
_ROWS = pa.schema(
    [
        ("id", pa.int64()),
        ("place", _PLACE),
        ("items", pa.list_(_ITEM)),
        ("code", pa.binary()),
        ("numbers", pa.list_(pa.float64())),
        ("times", pa.struct([("a", pa.timestamp("us")), ("b", pa.list_(pa.timestamp("us")))])),
    ]
)


def _stream(rows: int, seed: int) -> pa.Table:
    chosen = random.Random(seed)

    def some(value: object) -> object:
        return None if chosen.random() < 0.15 else value

    codes, times = (
        [b"", b"\x00", b"\xff", b"a", b"ab", "é".encode()],
        [dt.datetime(1, 1, 1), dt.datetime(2024, 2, 29, 1)],
    )
    floats = [*_FLOATS, math.inf, -math.inf]
    made = [
        (
            number % 30,
            some({"City": some(chosen.choice('ab"')), "zip": some(chosen.randrange(2)),
                  "at": some({"x": some(chosen.choice(floats))})}),
            some([some({"sku": some(chosen.choice("xy")), "price": some(Decimal(chosen.randrange(3)) / 4),
                        "day": some(dt.date(1, 1, 1)), "code": some(chosen.choice(codes))})
                  for _ in range(chosen.randrange(3))]),
            some(chosen.choice(codes)),
            some([some(chosen.choice(floats)) for _ in range(chosen.randrange(3))]),
            some({"a": some(chosen.choice(times)), "b": some([some(chosen.choice(times))])}),
        )
        for number in range(rows)
    ]  # fmt: skip
    columns = [pa.array(column, field.type) for column, field in zip(zip(*made, strict=True), _ROWS, strict=True)]
    return pa.Table.from_arrays(columns, schema=_ROWS)


CASES = {
    "rows": Case("SELECT * FROM r"),
    "fields": Case("SELECT id, place.city, r.place.at.x AS x, items[0].price AS p, times.b[0] AS t FROM r",
                   "SELECT id, place.city, place.at.x + 0, items[1].price, times.b[1] FROM r"),
    "groups": Case("SELECT place, COUNT(*) AS n, MAX(code) AS c FROM r GROUP BY place"),
    "by_field": Case("SELECT place.zip, SUM(id) AS n FROM r WHERE place.city = 'a' GROUP BY place.zip"),
    "distinct": Case("SELECT DISTINCT place.at, code FROM r"),
    "equal": Case("SELECT a.id, b.id AS o FROM r a JOIN s b ON a.place = b.place AND a.code <= b.code"),
    "numbers": Case("SELECT a.id, b.id AS o FROM r a JOIN s b ON a.numbers = b.numbers AND a.id <> b.id"),
    "sets": Case("SELECT items, times FROM r EXCEPT ALL SELECT items, times FROM s"),
    "union": Case("SELECT numbers FROM r UNION SELECT numbers FROM s"),
    "counted": Case("SELECT COUNT(DISTINCT place) AS n, COUNT(DISTINCT code) AS m, COUNT(place.at) AS k FROM r"),
    "computed": Case(
        "SELECT id FROM r WHERE numbers = ARRAY(0.1D) OR numbers = ARRAY(0D) OR numbers[0] = 0.3D OR code = X'ff'"
        " OR place = STRUCT('a' AS city, 1 AS zip, STRUCT(1e300 AS x) AS at)",
        "SELECT id FROM r WHERE numbers = [0.1::DOUBLE] OR numbers = [0::DOUBLE] OR numbers[1] = 0.3::DOUBLE"
        " OR code = '\\xFF'::BLOB OR place = {'City': 'a', 'zip': 1::INTEGER, 'at': {'x': 1e300::DOUBLE}}",
    ),
    "bytes": Case("SELECT LENGTH(code) AS n, HEX(code) AS h, code || X'00' AS c FROM r WHERE code > X'00'",
                  "SELECT octet_length(code), hex(code), code || '\\x00'::BLOB FROM r WHERE code > '\\x00'::BLOB"),
    "in_order": Case(
        "SELECT id, place, RANK() OVER (ORDER BY place, items DESC) AS n FROM r WHERE place.at <> {'x': 1.5::DOUBLE}",
        dialect="duckdb",
    ),
    "extremes": Case(
        "SELECT id, MAX(place) AS a, MIN(numbers) AS b FROM r WHERE times > {'a': TIMESTAMP '0001-01-01', 'b': []::"
        "TIMESTAMP[]} GROUP BY id", dialect="duckdb"
    ),
    "ordered": Case("SELECT id, code FROM r ORDER BY code DESC, id LIMIT 5",
                    "SELECT id, code FROM r ORDER BY code DESC NULLS LAST, id LIMIT 5"),
    "elements": Case(
        "SELECT id, e.sku, e.price FROM r LATERAL VIEW EXPLODE(items) v AS e WHERE e.code IS NOT NULL",
        "SELECT id, e.sku, e.price FROM (SELECT id, UNNEST(items) AS e FROM r) WHERE e.code IS NOT NULL",
    ),
    "left": Case("SELECT a.id, b.place, b.code FROM r a LEFT JOIN s b ON a.items = b.items"),
}  # fmt: skip


@pytest.mark.parametrize("kind", ["appended", "corrected"])
def test_streams_with_structs_and_bytes(spark: SparkSession, kind: str, tmp_path: Path) -> None:
    check_over_two_streams(spark, CASES, _stream(120, 1), _stream(80, 2), kind, tmp_path / "session")
