"""A column of a subquery, CTE or view that nothing reads stops no query; where it is read DuckDB stops too."""

from __future__ import annotations

import duckdb
import pytest

from workbench.sql.algebra.types import INTEGER
from workbench.sql.binder.pipeline import bind
from workbench.sql.checks import checks_of
from workbench.sql.schema import Schema

SCHEMA = Schema({"t": (("a", INTEGER), ("b", INTEGER)), "u": (("k", INTEGER), ("v", INTEGER))})
VALUES = {
    "of all rows": "(SELECT v FROM u)",
    "of the row around": "(SELECT v FROM u WHERE u.k = t.a)",
    "of a comparison": "(SELECT v FROM u WHERE u.k >= t.a)",
    "constant": "(SELECT 1 FROM u)",
}
"""Subqueries that are values, each with several rows."""
UNREAD = [
    "SELECT a FROM (SELECT a, {} AS s FROM t) z",
    "SELECT COUNT(*) FROM (SELECT a, {} AS s FROM t) z",
    "SELECT COUNT(*) FROM (SELECT {} AS s FROM t) z",
    "WITH z AS (SELECT a, {} AS s FROM t) SELECT a FROM z",
    "WITH y AS (SELECT a, {} AS s FROM t), z AS (SELECT * FROM y) SELECT x.a FROM z x JOIN z ON x.a = z.a",
    "SELECT a FROM (SELECT a, s FROM (SELECT a, {} AS s FROM t) y) z",
    "SELECT a FROM (SELECT a, s + 1 AS s FROM (SELECT a, {} AS s FROM t) y) z WHERE a > 0",
    "SELECT a FROM (SELECT a, MAX(s) AS s FROM (SELECT a, {} AS s FROM t) y GROUP BY a) z",
    "SELECT a FROM (SELECT a, {} AS s FROM t UNION ALL SELECT b, 1 FROM t) z",
    "SELECT a FROM (SELECT a, {} AS s, ROW_NUMBER() OVER (ORDER BY b) AS n FROM t) z WHERE n = 1",
    "SELECT a FROM (SELECT a, SUM(s) OVER (ORDER BY a) AS s FROM (SELECT a, {} AS s FROM t) y) z",
    "SELECT v FROM u LEFT JOIN (SELECT a, {} AS s FROM t) z ON u.k = z.a",
    "SELECT v FROM u WHERE k IN (SELECT a FROM (SELECT a, {} AS s FROM t) z)",
    "SELECT v FROM u WHERE EXISTS (SELECT {} FROM t WHERE t.a = u.v)",
    "SELECT v FROM u WHERE NOT EXISTS (SELECT a, s FROM (SELECT a, {} AS s FROM t) z WHERE z.a = u.v)",
    "SELECT (SELECT MAX(a) FROM (SELECT a, {} AS s FROM t) z) AS m FROM u",
]
READ = [
    "SELECT a, {} AS s FROM t",
    "SELECT s FROM (SELECT a, {} AS s FROM t) z",
    "SELECT a FROM (SELECT a, {} AS s FROM t) z WHERE s > 0",
    "SELECT COUNT(s) FROM (SELECT a, {} AS s FROM t) z",
    "SELECT COUNT(*) FROM (SELECT DISTINCT a, {} AS s FROM t) z",
    "SELECT a FROM (SELECT a, {} AS s FROM t UNION SELECT b, 1 FROM t) z",
    "SELECT a FROM (SELECT a, {} AS s FROM t EXCEPT SELECT b, 1 FROM t) z",
    "SELECT a FROM (SELECT a, {} AS s FROM t) z ORDER BY s",
    "SELECT a FROM (SELECT a, {} AS s FROM t ORDER BY s LIMIT 2) z",
    "SELECT MAX(a) FROM (SELECT a, {} AS s FROM t) z GROUP BY s",
    "SELECT SUM(a) OVER (PARTITION BY s) AS w FROM (SELECT a, {} AS s FROM t) z",
    "SELECT x.s FROM (SELECT a, {} AS s FROM t) x JOIN (SELECT a, {} AS s FROM t) y ON x.a = y.a",
]


@pytest.mark.parametrize("subquery", VALUES.values(), ids=VALUES.keys())
def test_a_subquery_with_several_rows_stops_a_query_only_where_it_is_read(subquery: str) -> None:
    rows = duckdb.connect()
    rows.execute("CREATE TABLE t AS SELECT * FROM (VALUES (1, 3), (2, 1)) t(a, b)")
    rows.execute("CREATE TABLE u AS SELECT * FROM (VALUES (1, 1), (1, 2), (2, 3), (2, 3)) u(k, v)")
    for text in [*UNREAD, *READ]:
        sql = text.replace("{}", subquery)
        assert _is_stopped(sql) is (text in READ), sql
        assert text in UNREAD or _raises(rows, sql), sql


def test_a_quotient_that_nothing_reads_is_not_looked_at() -> None:
    inner = "SELECT a, AVG(b) AS m, SUM(b) AS n FROM t GROUP BY a"
    checks = [checks_of(_query(f"SELECT {column} FROM ({inner}) z", "postgres")) for column in ("m", "n")]
    assert [[check.needed for check in of_query] for of_query in checks] == [[True], [False]]


def _query(sql: str, dialect: str):  # type: ignore[no-untyped-def]
    query = bind(sql, dialect, SCHEMA).query
    assert query is not None
    return query


def _is_stopped(sql: str) -> bool:
    return any(check.needed for check in checks_of(_query(sql, "duckdb")))


def _raises(rows: duckdb.DuckDBPyConnection, sql: str) -> bool:
    try:
        rows.execute(sql).fetchall()
    except duckdb.Error as error:
        assert "More than one row" in str(error)
        return True
    return False
