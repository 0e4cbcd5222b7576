"""Quotients and averages of exact numbers in postgres, against a PostgreSQL that the test starts, batch by batch."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from random import Random
from typing import Any

import pyarrow as pa
import pytest
import servers
from oracle.on_postgres import compare
from pyspark.sql import SparkSession

from workbench import Session
from workbench.errors import QueryError

HISTORY, BATCH = 60, 40
ASKED = {
    "averages": "SELECT k, AVG(n) AS a, AVG(m) AS b, AVG(m * f) AS c FROM t GROUP BY k",
    "average of all": "SELECT AVG(m) AS a, AVG(DISTINCT n) AS b FROM t",
    "of some": "SELECT k FROM t GROUP BY k HAVING AVG(m) > 250.125",
    "quotients": "SELECT n, m / f AS a, m / 7.0 AS b, f / 3 AS c FROM t WHERE f <> 0",
    "of zeros": "SELECT n, m / NULLIF(f, 0) AS a FROM t WHERE m = 0",
    "of small ones": "SELECT n, n / m AS a FROM t WHERE m BETWEEN 1 AND 9000",
    "compared": "SELECT n FROM t WHERE m / 3 < f * 100",
    "share": "SELECT 100.00 * SUM(CASE WHEN n > 500 THEN m ELSE 0 END) / SUM(m) AS a FROM t",
    "below average": "SELECT n FROM t WHERE m < (SELECT 0.2 * AVG(m) FROM t AS u WHERE u.k = t.k)",
    "guarded": "SELECT n, CASE WHEN m BETWEEN 1 AND 9000 THEN n / m WHEN m > 9000 THEN m / 7.0 ELSE f / 3 END AS a"
    " FROM t",
    "guarded by zero": "SELECT n, CASE WHEN f <> 0 THEN m / f END AS a, CASE f WHEN 0 THEN 0 ELSE m / f END AS b"
    " FROM t",
    "guarded groups": "SELECT k, CASE WHEN MAX(m) > 0 THEN MAX(m) / 7 END AS a,"
    " MAX(CASE WHEN m BETWEEN 1 AND 9000 THEN n / m END) AS b FROM t GROUP BY k",
    "by zero": "SELECT k, SUM(m) / NULLIF(SUM(n - n), 0) AS a FROM t GROUP BY k",
}
TYPES = {
    "k": ("INTEGER", pa.int64()),
    "n": ("BIGINT", pa.int64()),
    "m": ("NUMERIC(15,2)", pa.decimal128(15, 2)),
    "f": ("NUMERIC(6,4)", pa.decimal128(6, 4)),
}


@pytest.fixture(scope="module")
def postgres() -> Iterator[str]:
    with servers.postgres() as address:
        yield address


def drawn(rows: int) -> list[tuple[Any, ...]]:
    """Rows with NULLs, zeros and duplicates, a tenth of which take back an earlier one: its weight is last."""
    random, made = Random(7), list[tuple[Any, ...]]()
    there: list[tuple[Any, ...]] = []
    while len(made) < rows:
        if there and random.random() < 0.1:
            made.append((*there.pop(random.randrange(len(there))), -1))
            continue
        cents = random.choice([0, 100, random.randint(200, 10 ** random.randint(3, 11))])
        factor = Decimal(random.choice([0, 10_000, 20_000, random.randint(2_000, 999_999)])).scaleb(-4)
        row = (random.randint(1, 4), random.randint(1, 1_000), Decimal(cents).scaleb(-2), factor)
        row = tuple(None if random.random() < 0.05 else value for value in row)
        there.append(row)
        made.append((*row, 1))
    return made


def test_answers_are_those_of_postgres(postgres: str, spark: SparkSession) -> None:
    compare(postgres, spark, TYPES, drawn(HISTORY + 3 * BATCH), ASKED, HISTORY, BATCH)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT m / n AS a FROM t WHERE n > 0",
        "SELECT k, AVG(m) AS a FROM t GROUP BY k",
        "SELECT n FROM t WHERE m / n > 1",
        "SELECT SUM(m / n) OVER () AS a FROM t",
        "SELECT RANK() OVER (ORDER BY m / n) AS a FROM t",
        "SELECT CASE WHEN n < 3 THEN 0 WHEN n > 3 THEN m / n ELSE 1 END AS a FROM t",
        "SELECT CASE WHEN n < 3 THEN 0 ELSE COALESCE(NULL, m / n) END AS a FROM t",
        "SELECT CASE WHEN m / n < 1 THEN 1 END AS a FROM t",
        "SELECT CASE WHEN CASE WHEN m / n > 5 THEN m / n > 6 END THEN m / n ELSE 1 END AS a FROM t",
        "SELECT k, CASE WHEN k = 1 THEN SUM(m) / MAX(n) END AS a FROM t GROUP BY k, n",
        "SELECT CASE WHEN k = 1 THEN m / n END AS a, SUM(n) OVER () AS b FROM t",
    ],
)
def test_digits_that_cannot_be_kept_disable_the_query(sql: str, spark: SparkSession) -> None:
    columns = {"k": [1] * 3, "n": [1, 3, 400_000], "m": [Decimal("0.10"), Decimal("0.00"), Decimal("0.01")]}
    if "AVG" in sql:
        columns = {name: [values[0], *values[1:] * 2_000] for name, values in columns.items()}
        columns["m"] = [Decimal("0.10"), *[Decimal("0.00")] * 4_000]
    table = pa.table({**columns, "m": pa.array(columns["m"], pa.decimal128(15, 2))})
    with Session(spark=spark, dialect="postgres") as session:
        session.add_stream("t", table, history=1, batch=table.num_rows - 1)
        query = session.register(sql)
        assert len(query.result()) == ("WHERE m" not in sql)
        session.run(1)
        with pytest.raises(QueryError, match="more digits than can be kept"):
            query.result()


def test_groups_and_rows_that_are_kept_out_are_not_looked_at(spark: SparkSession) -> None:
    columns = {"k": [1, 1, 2], "n": [400_000, 400_000, 2], "m": pa.array([Decimal("0.01")] * 3, pa.decimal128(15, 2))}
    with Session(spark=spark, dialect="postgres") as session:
        session.add_stream("t", pa.table(columns), history=1, batch=2)
        rows = session.register("SELECT m / n AS q FROM t WHERE n < 1000")
        groups = session.register("SELECT k, SUM(m) / SUM(n) AS q FROM t GROUP BY k HAVING SUM(n) < 1000")
        branches = [
            session.register(f"SELECT {sql} AS q FROM t")
            for sql in (
                "CASE WHEN n < 1000 THEN m / n END",
                "CASE WHEN n >= 1000 THEN NULL ELSE m / n END",
                "CASE WHEN n >= 1000 THEN NULL WHEN m / n > 0 THEN m / n END",
                "COALESCE(CASE WHEN n >= 1000 THEN 0 END, CASE WHEN n > 1000 THEN 0 ELSE m / n END)",
                "SUM(CASE WHEN n < 1000 THEN m / n END) OVER (PARTITION BY k)",
                "CASE WHEN SUM(n) OVER (PARTITION BY k) < 1000 THEN m / n END",
                "(SELECT CASE WHEN t.n < 1000 THEN t.m / t.n END)",
            )
        ]
        branches.append(
            session.register("SELECT CASE WHEN SUM(n) < 1000 THEN SUM(m) / SUM(n) END AS q FROM t GROUP BY k")
        )
        branches.append(session.register("SELECT MAX(m / n) FILTER (WHERE n < 1000) AS q FROM t GROUP BY k"))
        session.run(1)
        assert list(rows.result()["q"]) == list(groups.result()["q"]) == [Decimal("0.005")]
        for branch in branches:
            assert [q for q in branch.result()["q"] if q] == [Decimal("0.005")]
