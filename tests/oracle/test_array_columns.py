"""Streams whose columns are arrays, as they come and corrected: DuckDB has the same lists."""

from __future__ import annotations

import datetime as dt
import random
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest
from oracle.harness import Case
from oracle.two_streams import check_over_two_streams
from pyspark.sql import SparkSession

_TEXTS = ["a", "b", "", "é\U0001f600", 'say "no"', "back\\slash", "tab\t\x01\x1f\x7f\n", "null", "[1]", None]
_TIMES = [dt.datetime(1, 1, 1), dt.datetime(1969, 12, 31, 23, 59, 59, 999999), dt.datetime(2024, 2, 29, 12), None]
_SUMS = [
    Decimal("0.0000001"),
    Decimal("-100.0000000"),
    Decimal("0E-7"),
    Decimal(9).scaleb(20).quantize(Decimal("1E-7")),
]
_ROWS = pa.schema(
    [
        ("id", pa.int64()),
        ("tags", pa.list_(pa.string())),
        ("numbers", pa.list_(pa.int64())),
        ("sums", pa.list_(pa.decimal128(38, 7))),
        ("times", pa.large_list(pa.timestamp("us"))),
        ("days", pa.list_(pa.date32())),
        ("pairs", pa.list_(pa.list_(pa.bool_()))),
    ]
)


def _stream(rows: int, seed: int) -> pa.Table:
    chosen = random.Random(seed)

    def some(values: list[object], most: int = 3) -> list[object] | None:
        return None if chosen.random() < 0.15 else [chosen.choice(values) for _ in range(chosen.randrange(most + 1))]

    made = [
        (
            number % 40,
            some([*_TEXTS[:3]] if chosen.random() < 0.6 else [*_TEXTS]),
            some([1, 2, 3, None, -(2**63), 2**63 - 1]),
            some([*_SUMS], 2),
            some([*_TIMES], 2),
            some([dt.date(1, 1, 1), dt.date(9999, 12, 31), None], 2),
            some([[True, None], [], None, [False]], 2),
        )
        for number in range(rows)
    ]
    columns = [pa.array(column, field.type) for column, field in zip(zip(*made, strict=True), _ROWS, strict=True)]
    return pa.Table.from_arrays(columns, schema=_ROWS)


CASES = {
    "rows": Case("SELECT * FROM r"),
    "equal": Case(
        "SELECT a.id, b.id AS o FROM r a JOIN s b ON a.tags = b.tags AND a.numbers <> b.numbers",
    ),
    "equal_to_computed": Case(
        "SELECT id FROM r WHERE tags = ARRAY('a', 'b') OR tags = SPLIT('a', ',') OR sums = ARRAY("
        "CAST('0.0000001' AS DECIMAL(38,7))) OR times = ARRAY(TIMESTAMP '0001-01-01 00:00:00')"
        " OR days = ARRAY(DATE '9999-12-31') OR pairs = ARRAY(ARRAY(true, NULL))"
        " OR tags = ARRAY('tab\\t\\u0001\\u001f\\u007f\\n') OR tags = ARRAY('say \"no\"', 'back\\\\slash')",
        "SELECT id FROM r WHERE tags = ['a', 'b'] OR tags = ['a'] OR sums = [0.0000001::DECIMAL(38,7)]"
        " OR times = [TIMESTAMP '0001-01-01 00:00:00'] OR days = [DATE '9999-12-31'] OR pairs = [[true, NULL]]"
        " OR tags = [E'tab\\t\\x01\\x1f\\x7f\\n'] OR tags = ['say \"no\"', 'back\\slash']",
    ),
    "groups": Case("SELECT tags, times, COUNT(*) AS n FROM r GROUP BY tags, times"),
    "sets": Case("SELECT numbers FROM r EXCEPT ALL SELECT numbers FROM s"),
    "distinct": Case("SELECT DISTINCT sums, days, pairs FROM r"),
    "counted": Case("SELECT COUNT(DISTINCT tags) AS n, COUNT(numbers) AS m FROM r WHERE SIZE(pairs) > 0",
                    "SELECT COUNT(DISTINCT tags), COUNT(numbers) FROM r WHERE len(pairs) > 0"),
    "elements": Case(
        "SELECT id, v FROM r LATERAL VIEW OUTER EXPLODE(tags) e AS v WHERE id > 3",
        "SELECT id, v FROM r LEFT JOIN LATERAL (SELECT UNNEST(tags) AS v) ON true WHERE id > 3",
    ),
    "counted_pairs": Case(
        "SELECT COUNT(DISTINCT tags, days) AS n FROM r",
        "SELECT COUNT(DISTINCT CASE WHEN tags IS NOT NULL AND days IS NOT NULL THEN (tags, days) END) FROM r",
    ),
    "without_elements": Case(
        "SELECT id, COALESCE(numbers, ARRAY()) AS a, CASE WHEN id > 9 THEN ARRAY() ELSE pairs END AS b FROM r"
        " WHERE tags = ARRAY() OR days <> ARRAY() OR pairs = ARRAY(ARRAY(true, NULL), ARRAY())",
        "SELECT id, COALESCE(numbers, []), CASE WHEN id > 9 THEN [] ELSE pairs END FROM r"
        " WHERE tags = [] OR days <> [] OR pairs = [[true, NULL], []]",
    ),
    "counted_beside": Case("SELECT r.id, v.n FROM r, LATERAL (SELECT COUNT(*) AS n FROM s WHERE s.tags = r.tags) v"),
    "left": Case("SELECT a.id, b.numbers FROM r a LEFT JOIN s b ON a.tags = b.tags"),
    "ordered": Case("SELECT id, tags, numbers FROM r ORDER BY numbers, tags DESC, sums, id LIMIT 9", dialect="duckdb"),
    "compared": Case(
        "SELECT a.id, b.id AS o FROM r a JOIN s b ON a.numbers < b.numbers AND a.pairs >= b.pairs"
        " WHERE a.tags BETWEEN ['a'] AND ['b', NULL] OR b.times > [TIMESTAMP '2000-01-01']", dialect="duckdb"
    ),
    "extremes": Case(
        "SELECT id, MAX(numbers) AS a, MIN(pairs) FILTER (WHERE id > 3) AS b, ARG_MAX(len(tags), [len(tags), id]) AS c"
        " FROM r GROUP BY id", dialect="duckdb"
    ),
    "ranks": Case("SELECT id, days, DENSE_RANK() OVER (PARTITION BY id ORDER BY days DESC NULLS LAST) AS n FROM r",
                  dialect="duckdb"),
    "next": Case(
        "SELECT id, LAG(tags) OVER (PARTITION BY id ORDER BY n) AS a FROM"
        " (SELECT id, tags, COUNT(*) AS n FROM r WHERE tags = ARRAY('a') OR tags IS NULL GROUP BY id, tags) v"
        " QUALIFY COUNT(*) OVER (PARTITION BY id) = 1",
        "SELECT id, NULL FROM r WHERE tags = ['a'] OR tags IS NULL GROUP BY id HAVING COUNT(DISTINCT tags) + MAX("
        "CASE WHEN tags IS NULL THEN 1 ELSE 0 END) = 1",
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", ["appended", "corrected"])
def test_streams_with_arrays(spark: SparkSession, kind: str, tmp_path: Path) -> None:
    check_over_two_streams(spark, CASES, _stream(120, 1), _stream(80, 2), kind, tmp_path / "session")
