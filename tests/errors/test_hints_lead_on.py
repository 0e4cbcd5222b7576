"""Slips in casts, joins, frames, formats, PIVOT, WITH and UNION: the hint leads to a text that is read."""

from __future__ import annotations

import warnings

import pytest

from workbench.arrow.types import to_column_type
from workbench.errors import SqlError
from workbench.sql.binder.pipeline import bind
from workbench.sql.schema import Schema

SALES = {
    "id": "bigint", "at": "timestamp", "due": "date", "shop": "string", "item": "string", "qty": "bigint",
    "kg": "double", "paid": "boolean", "tags": "array<string>", "note": "string",
}  # fmt: skip
SHOPS = {"shop": "string", "city": "string", "area": "bigint"}
SCHEMA = Schema(
    {
        table: tuple((name, to_column_type(type_)) for name, type_ in columns.items())
        for table, columns in {"Sales": SALES, "Shops": SHOPS}.items()
    },
    times={"Sales": "at"},
)
ALL = "spark duckdb postgres"
MENDED = (
    # Dialects, the text, the place of the error, a part of the hint, and the text that it leads to.
    (ALL, "SELECT DATE_ADD(due, 1, 2) FROM Sales", ", 2)", "DATE_ADD(due, 1)", "SELECT DATE_ADD(due, 1) FROM Sales"),
    (ALL, "SELECT ROUND(AVG(qty)), 2) FROM Sales", "), 2)", "ROUND(AVG(qty), 2)",
     "SELECT ROUND(AVG(qty), 2) FROM Sales"),
    (ALL, "SELECT id FROM Sales WHERE at > DATE_SUB(now(), 7 DAY)", "DAY)", "now() - INTERVAL '7' DAY",
     "SELECT id FROM Sales WHERE at > now() - INTERVAL '7' DAY"),
    ("spark", "SELECT PERCENTILE_CONT(0.5, qty) FROM Sales", "qty)", "PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY qty)",
     "SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY qty) FROM Sales"),
    ("duckdb", "SELECT note.a FROM Sales", "note.a", "note ->> 'a'", "SELECT note ->> 'a' FROM Sales"),
    ("spark", "SELECT note.a FROM Sales", "note.a", "GET_JSON_OBJECT(note, '$.a')",
     "SELECT GET_JSON_OBJECT(note, '$.a') FROM Sales"),
    ("postgres", "SELECT note -> 'a' + 1 FROM Sales", "'a'", "CAST(j ->> 'a' AS INT) + 1",
     "SELECT CAST(note ->> 'a' AS INT) + 1 FROM Sales"),
    ("postgres", "SELECT shop, qty FROM Sales HAVING qty > 3", "shop", "a condition on rows stands in WHERE",
     "SELECT shop, qty FROM Sales WHERE qty > 3"),
    (ALL, "SELECT id, shop FROM Sales UNION ALL SELECT shop, id FROM Sales", "shop, id", "select id, shop in each",
     "SELECT id, shop FROM Sales UNION ALL SELECT id, shop FROM Sales"),
    (ALL, "SELECT shop, qty FROM Sales UNION ALL SELECT shop, city FROM Shops", "city", "CAST(qty AS ",
     "SELECT shop, CAST(qty AS VARCHAR(9)) FROM Sales UNION ALL SELECT shop, city FROM Shops"),
    (ALL, "SELECT id FROM Sales UNION ALL", "ALL", "go on after ALL", "SELECT id FROM Sales UNION ALL SELECT 1"),
    ("spark duckdb", "SELECT id FROM Sales QUALIFY qty = MAX(qty)", "qty = MAX", "MAX(qty) OVER ()",
     "SELECT id FROM Sales QUALIFY qty = MAX(qty) OVER ()"),
    (ALL, "SELECT id FROM Sales WHERE ROW_NUMBER() OVER (ORDER BY qty) = 1", "ROW_NUMBER", "stands in QUALIFY",
     "SELECT id FROM Sales QUALIFY ROW_NUMBER() OVER (ORDER BY qty) = 1"),
    ("spark", "SELECT * FROM Sales PIVOT (qty FOR item IN ('a', 'b'))", "qty FOR", "SUM(qty) FOR",
     "SELECT * FROM Sales PIVOT (SUM(qty) FOR item IN ('a', 'b'))"),
    ("duckdb", "SELECT id FROM Sales WHERE qty > 1 PIVOT (SUM(qty) FOR item IN ('a'))", "PIVOT", "FROM (SELECT …)",
     "SELECT * FROM (SELECT id, item, qty FROM Sales WHERE qty > 1) PIVOT (SUM(qty) FOR item IN ('a'))"),
    (ALL, "SELECT SUM(qty) OVER (ORDER BY at ROWS BETWEEN CURRENT ROW AND 3 PRECEDING) FROM Sales", "SUM",
     "ROWS BETWEEN 3 PRECEDING AND CURRENT ROW",
     "SELECT SUM(qty) OVER (ORDER BY at ROWS BETWEEN 3 PRECEDING AND CURRENT ROW) FROM Sales"),
    (ALL, "SELECT SUM(qty) OVER w FROM Sales", "w FROM", "WINDOW w AS (…)",
     "SELECT SUM(qty) OVER w FROM Sales WINDOW w AS (ORDER BY at)"),
    (ALL, "SELECT SUM(qty) OVER w FROM Sales WINDOW v AS (ORDER BY at)", "w FROM", "WINDOW names v",
     "SELECT SUM(qty) OVER v FROM Sales WINDOW v AS (ORDER BY at)"),
    (ALL, "SELECT ROW_NUMBER(shop) OVER (ORDER BY id) FROM Sales", "shop", "ROW_NUMBER() OVER (ORDER BY shop)",
     "SELECT ROW_NUMBER() OVER (ORDER BY shop) FROM Sales"),
    ("spark", "SELECT LAG(qty, -1) OVER (ORDER BY at) FROM Sales", "1)", "LEAD",
     "SELECT LEAD(qty, 1) OVER (ORDER BY at) FROM Sales"),
    (ALL, "WITH a AS (SELECT shop FROM Sales) SELECT qty FROM a", "qty", "there are shop",
     "WITH a AS (SELECT shop FROM Sales) SELECT shop FROM a"),
    (ALL, "WITH a (x, y) AS (SELECT shop FROM Sales) SELECT x FROM a", "", "name each of shop",
     "WITH a (x) AS (SELECT shop FROM Sales) SELECT x FROM a"),
    (ALL, "WITH a SELECT shop FROM Sales SELECT shop FROM a", "SELECT shop FROM S", "WITH a AS (SELECT …)",
     "WITH a AS (SELECT shop FROM Sales) SELECT shop FROM a"),
    (ALL, "CREATE VIEW AS SELECT id FROM Sales", "AS", "CREATE VIEW v AS", "CREATE VIEW v AS SELECT id FROM Sales"),
    (ALL, "SELECT CASE WHEN qty > 3 THEN 'a' ELSE IF qty > 1 THEN 'b' END FROM Sales", "IF", "WHEN … THEN … WHEN",
     "SELECT CASE WHEN qty > 3 THEN 'a' WHEN qty > 1 THEN 'b' END FROM Sales"),
    (ALL, "SELECT SUM(CASE WHEN paid THEN qty END ELSE 0) FROM Sales", "ELSE", "before END",
     "SELECT SUM(CASE WHEN paid THEN qty ELSE 0 END) FROM Sales"),
    (ALL, "SELECT COALESCE(qty, 'none') FROM Sales", "COALESCE", "'none' is no number",
     "SELECT COALESCE(qty, 0) FROM Sales"),
    (ALL, "SELECT s.id FROM Sales s JOIN Shops p ON s.shop = p.shop AND JOIN Shops q ON q.shop = s.shop", "AND",
     "leave AND out", "SELECT s.id FROM Sales s JOIN Shops p ON s.shop = p.shop JOIN Shops q ON q.shop = s.shop"),
    (ALL, "SELECT s.id FROM Sales s JOIN Shops p ON s.shop = p.shop ON s.id = 3", "ON s.id", "AND between",
     "SELECT s.id FROM Sales s JOIN Shops p ON s.shop = p.shop AND s.id = 3"),
    (ALL, "SELECT s.id FROM Sales s, (SELECT city FROM Shops p WHERE p.shop = s.shop) x", "(SELECT", "LATERAL (SELECT",
     "SELECT s.id FROM Sales s, LATERAL (SELECT city FROM Shops p WHERE p.shop = s.shop) x"),
    ("postgres", "SELECT id FROM Sales WHERE tags = 'a'", "'a'", "'a' = ANY (x)",
     "SELECT id FROM Sales WHERE 'a' = ANY (tags)"),
    ("postgres duckdb", "SELECT id FROM Sales WHERE 'a' = ANY (shop)", "", "STRING_TO_ARRAY(s, ',')",
     "SELECT id FROM Sales WHERE 'a' = ANY (STRING_TO_ARRAY(shop, ','))"),
    (ALL, "SELECT id FROM Sales WHERE (shop, item) IN ('a', 'b')", "(shop", "shop = … AND item = …",
     "SELECT id FROM Sales WHERE shop = 'a' AND item = 'b'"),
    (ALL, "SELECT STRING_AGG(item ORDER BY qty, ', ') FROM Sales", "', '", "STRING_AGG(item, ', ' ORDER BY qty)",
     "SELECT STRING_AGG(item, ', ' ORDER BY qty) FROM Sales"),
    (ALL, "SELECT qty FROM Sales WHERE qty = > 3", "= >", "write >=", "SELECT qty FROM Sales WHERE qty >= 3"),
    (ALL, "SELECT qty FROM Sales WHERE qty < = 3", "= 3", "write <=", "SELECT qty FROM Sales WHERE qty <= 3"),
    (ALL, "SELECT kg * '10%' FROM Sales", "kg", "10 / 100", "SELECT kg * (10 / 100.0) FROM Sales"),
    ("postgres duckdb", "SELECT ARRAY_AGG(item, ORDER BY qty) FROM Sales", ", ORDER", "ARRAY_AGG(item ORDER BY qty)",
     "SELECT ARRAY_AGG(item ORDER BY qty) FROM Sales"),
    (ALL, "SELECT id FROM Sales WHERE at > TIMESTAMP 2026-3-1", "2026", "TIMESTAMP '2026-3-1'",
     "SELECT id FROM Sales WHERE at > TIMESTAMP '2026-3-1'"),
    (ALL, "SELECT INTERVAL '1' DAY * at FROM Sales", "", "+ adds", "SELECT INTERVAL '1' DAY + at FROM Sales"),
    ("postgres duckdb", "SELECT at AT 'UTC' FROM Sales", "'UTC'", "AT TIME ZONE 'Europe/Berlin'",
     "SELECT at AT TIME ZONE 'UTC' FROM Sales"),
    (ALL, "SELECT shop:: FROM Sales", "FROM", "types are INTEGER", "SELECT shop::INTEGER FROM Sales"),
    (ALL, "SELECT id FROM Sales SKIP 5 LIMIT 3", "5", "OFFSET 5", "SELECT id FROM Sales LIMIT 3 OFFSET 5"),
    (ALL, "import pandas as pd", "import", "has SQL alone", "SELECT id FROM Sales"),
    (ALL, "SELECT id FROM sales.csv", "sales.csv", "%argus stream NAME sales.csv", "SELECT id FROM Sales"),
)  # fmt: skip
TOLD = (
    ("spark", "SELECT DATE_FORMAT(at, 'yyyy-mm-dd') FROM Sales", "mm is the minute", "did you mean MM?"),
    ("spark", "SELECT DATE_FORMAT(at, 'HH:MM') FROM Sales", "MM is the month", "did you mean mm?"),
    ("duckdb", "SELECT STRFTIME(at, '%Y-%M') FROM Sales", "%M is the minute", "did you mean %m?"),
    ("duckdb", "SELECT STRFTIME(at, '%H:%m') FROM Sales", "%m is the month", "did you mean %M?"),
    ("postgres", "SELECT TO_CHAR(at, 'YYYY-MI') FROM Sales", "MI is the minute", "did you mean MM?"),
    ("postgres", "SELECT TO_TIMESTAMP(note, 'yyyy-MM-dd HH24:mm') FROM Sales", "MM is the month", "did you mean MI?"),
    ("postgres", "SELECT note -> '$.a.b' FROM Sales", "begins with $", "#>> '{a,b}'"),
    ("postgres", "SELECT * EXCEPT (id) FROM Sales", "EXCEPT behind *", "listed"),
    (ALL, "SELECT qty FROM Sales WHERE shop IN ('a, b')", "one text", "IN ('a', 'b')"),
    (ALL, "SELECT qty FROM Sales WHERE qty BETWEEN 5 AND 1", "at least 5", "BETWEEN 1 AND 5"),
)
SILENT = (
    (
        "spark",
        "SELECT DATE_FORMAT(at, 'mm:ss'), DATE_FORMAT(at, 'yyyy-MM-dd HH:mm'), DATE_FORMAT(at, 'MMM d') FROM Sales",
    ),
    ("duckdb", "SELECT STRFTIME(at, '%M:%S'), STRFTIME(at, '%Y-%m-%d %H:%M') FROM Sales"),
    ("postgres", "SELECT TO_CHAR(at, 'MI:SS'), TO_CHAR(at, 'YYYY-MM-DD HH24:MI'), note -> 'a.b' FROM Sales"),
    (ALL, "SELECT qty FROM Sales WHERE shop IN ('a', 'b,c') AND qty BETWEEN 1 AND 1"),
    ("duckdb", "SELECT * EXCLUDE (id) FROM Sales"),
    ("duckdb", "PIVOT Sales ON item IN (a, b) USING SUM(qty) GROUP BY shop"),
)


def each(cases: tuple[tuple[str, ...], ...]) -> list[tuple[str, ...]]:
    """The cases, once for each of their dialects."""
    return [(dialect, *case[1:]) for case in cases for dialect in case[0].split()]


@pytest.mark.parametrize(("dialect", "sql", "place", "hint", "meant"), each(MENDED))
def test_a_hint_leads_to_a_text_that_is_read(dialect: str, sql: str, place: str, hint: str, meant: str) -> None:
    with pytest.raises(SqlError) as told:
        bind(sql, dialect, SCHEMA)
    error = told.value
    assert error.position is not None and sql[error.position :].startswith(place), str(error)
    assert hint in str(error.hint), str(error)
    bind(meant, dialect, SCHEMA)


@pytest.mark.parametrize(("dialect", "sql", "message", "hint"), each(TOLD))
def test_what_is_hardly_meant_is_told(dialect: str, sql: str, message: str, hint: str) -> None:
    with pytest.warns(UserWarning) as told:
        bind(sql, dialect, SCHEMA)
    assert message in str(told[0].message) and hint in str(told[0].message)


@pytest.mark.parametrize(("dialect", "sql"), each(SILENT))
def test_what_is_meant_is_not_told(dialect: str, sql: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bind(sql, dialect, SCHEMA)
