"""Texts in order in postgres, against a PostgreSQL whose collation is C, batch by batch."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from random import Random

import pyarrow as pa
import pytest
import servers
from oracle.on_postgres import compare, drawn
from pyspark.sql import SparkSession

HISTORY, BATCH = 60, 40
TYPES = {"k": ("INTEGER", pa.int64()), "id": ("BIGINT", pa.int64()), "s": ("TEXT", pa.string())}
TEXTS = ("", "a", "A", "ab", "aB", "a b", "a-b", "Z", "_", "10", "9", "é", "e", "ß", "中", "😀", "\uffff", "\u200b")
ASKED = {
    "ordered": "SELECT s, id FROM t ORDER BY s DESC, id",
    "ordered first": "SELECT s, id FROM t WHERE s > 'A' ORDER BY s, id LIMIT 7",
    "numbered": "SELECT id, ROW_NUMBER() OVER (PARTITION BY k ORDER BY s, id) AS n,"
    " MAX(s) OVER (ORDER BY s) AS m FROM t",
    "first of each": "SELECT DISTINCT ON (k) k, s, id FROM t ORDER BY k, s DESC NULLS LAST, id",
    "compared": "SELECT id, s < 'a' AS a, s >= 'Z' AS b, s BETWEEN '9' AND 'é' AS c, s > CAST(k AS TEXT) AS d FROM t",
    "chosen": "SELECT id, GREATEST(s, 'a', NULL) AS a, LEAST(s, 'Z') AS b FROM t WHERE NOT s <= '_'",
    "of groups": "SELECT k, MIN(s) AS a, MAX(s) AS b, MAX(s) FILTER (WHERE s < 'b') AS c, STRING_AGG(s, ',' ORDER BY s)"
    " AS d,"
    " PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY s) AS e, MODE() WITHIN GROUP (ORDER BY s) AS f FROM t GROUP BY k",
    "of some groups": "SELECT k FROM t GROUP BY k HAVING MIN(s) < 'A'",
    "the largest": "SELECT id FROM t WHERE s = (SELECT MAX(u.s) FROM t AS u WHERE u.k = t.k)",
    "of any": "SELECT id FROM t WHERE s < ANY (SELECT u.s FROM t AS u WHERE u.k = 2) AND s >= ALL (SELECT '9')",
    "with pairs": "SELECT a.id, b.id AS other FROM t AS a JOIN t AS b ON a.k = b.k AND a.s < b.s COLLATE \"C\"",
}  # fmt: skip


@pytest.fixture(scope="module")
def postgres() -> Iterator[str]:
    with servers.postgres_by_bytes() as address:
        yield address


def test_answers_are_those_of_postgres(postgres: str, spark: SparkSession) -> None:
    random = Random(11)
    rows = drawn(HISTORY + 3 * BATCH, random, lambda: random.choice(TEXTS) + random.choice(["", "", *TEXTS]))
    compare(postgres, spark, TYPES, rows, ASKED, HISTORY, BATCH)


FORMATS = (
    *("YYYY-MM-DD HH24:MI:SS.MS", "FMMonth FMDD, YYYY", "Month|Mon|MON|mon|MONTH|month", "Day|DAY|day|Dy|DY|dy|FMDay"),
    *(
        'HH12:MI AM, "Q"Q DDD',
        "FMDDD FMMM FMHH24 FMHH12 FMMI FMSS",
        "yyyymmdd hh24:mi:ss.us",
        '"a ""b" YY/HH',
        'IYYY-"W"IW-ID',
        'iyyyiw "IW" HH24MIDD',
    ),
)
TIMES = {
    "k": ("INTEGER", pa.int64()), "id": ("BIGINT", pa.int64()), "ts": ("TIMESTAMP", pa.timestamp("us")),
}  # fmt: skip
OF_TIMES = {
    "written": f"SELECT id, {', '.join(f'to_char(ts, $${f}$$) AS c{i}' for i, f in enumerate(FORMATS))} FROM t".replace(
        "$$", "'"
    ),
    "read": "SELECT id, to_date(to_char(ts, 'DD.MM.YYYY'), 'DD.MM.YYYY') AS a,"
    " CAST(to_timestamp(to_char(ts, 'YYYYMMDD HH24:MI'), 'YYYYMMDD HH24:MI') AS DATE) AS b,"
    " to_date(to_char(ts, 'DD/Mon/YYYY'), 'DD/Mon/YYYY') AS c, to_date(to_char(ts, 'DD MON YYYY'), 'DD mon YYYY') AS e,"
    " to_date(to_char(ts, 'FMMonth DD, YYYY'), 'FMMonth DD, YYYY') AS f FROM t",
}


def test_times_are_written_as_by_postgres(postgres: str, spark: SparkSession) -> None:
    random = Random(12)
    start = dt.datetime(1, 1, 1)
    rows = drawn(60, random, lambda: start + dt.timedelta(microseconds=random.randrange(3155 * 10**14)))
    compare(postgres, spark, TIMES, rows, OF_TIMES, 30, 10)
