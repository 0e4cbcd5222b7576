"""Queries inside queries: each text is planned, or refused by an error of the workbench; answers are DuckDB's."""

from __future__ import annotations

import os
import random
import re
from collections import Counter

import duckdb
import pytest
from sharing.evaluation import TooLarge, answer
from sharing.nested_texts import SCHEMA, NestedTexts
from sharing.planned import planned
from sharing.small_streams import Data

from workbench.errors import SqlError, UnsupportedError
from workbench.sql.binder.pipeline import bind
from workbench.sql.checks import checks_of

COUNT = int(os.environ.get("ARGUS_PLANS", 60))
FIRST = int(os.environ.get("ARGUS_SEED", 0))
DEVIATES = re.compile(r"(?:IN|ALL|ANY) \(.*SELECT \(SELECT")
"""DuckDB compares with a subquery in a list that is empty for the outer row: k NOT IN (SELECT (SELECT …) …) is NULL."""
PATIENCE = 300 + COUNT
"""Seconds for a test that plans as many texts."""
DEFECTS = [
    "SELECT (SELECT (SELECT a)) FROM t",
    "SELECT (SELECT max((SELECT v FROM u WHERE k = t.a))) FROM t",
    "SELECT (WITH w AS (SELECT * FROM (VALUES (t.a)) x(q)) SELECT q FROM w) FROM t",
    "SELECT (WITH w(q) AS (VALUES (a)) SELECT (SELECT q FROM w)) FROM t",
    "SELECT (WITH w AS (SELECT x.a AS q) SELECT (SELECT (SELECT MAX(q) FROM w WHERE q > u.k) FROM u)) FROM t x",
    "SELECT a FROM t WHERE EXISTS (SELECT COUNT(*) FROM u GROUP BY () HAVING t.a > 1)",
    "SELECT a FROM t WHERE 1 = (SELECT COUNT(*) FROM u HAVING t.a > 1)",
    "SELECT SUM((SELECT MIN(v) FROM u WHERE v > x.k)) FROM u x HAVING COUNT(x.k) IN (SELECT v FROM u)",
    "SELECT 1 FROM t, LATERAL (WITH RECURSIVE r(n) AS (SELECT a UNION SELECT n FROM r WHERE n < 2) SELECT n FROM r)",
    "SELECT x.b FROM t x LEFT JOIN LATERAL (SELECT DISTINCT (SELECT a FROM t WHERE a = x.a) FROM t) l(q) ON TRUE",
    "SELECT k FROM u, LATERAL (SELECT CASE WHEN b IN (SELECT max(c) FROM (VALUES (a), (v)) w(c)) THEN 1 END FROM t)",
    "SELECT k FROM u WHERE k = 1 AND k IN (SELECT SUM(1) OVER (PARTITION BY v) FROM u"
    " QUALIFY ROW_NUMBER() OVER (PARTITION BY k ORDER BY v) = 1)",
    "SELECT COUNT((SELECT COUNT(x.v) FROM u)) FROM u x",
    "SELECT SUM((SELECT MAX(x.v) FROM u GROUP BY ROLLUP (k))) FROM u x FULL JOIN u y ON x.k = y.k",
]
"""Texts that once ended in an error of Python; the last two in none for minutes."""


@pytest.mark.parametrize("sql", DEFECTS)
def test_an_outer_row_is_read_where_it_may_be(sql: str) -> None:
    try:
        planned(sql, SCHEMA)
    except SqlError as refused:
        assert refused.hint


WIDTHS = [
    "(SELECT COUNT(*) FROM t) EXCEPT ((SELECT 3 + 3) EXCEPT (SELECT 0))",
    "(SELECT a FROM t) UNION ALL ((SELECT CAST(b AS INT) FROM t) UNION (SELECT 0))",
    "(SELECT 1) UNION ((SELECT CAST(b AS INT) FROM t) INTERSECT (SELECT CAST(a AS SMALLINT) FROM t))",
]


@pytest.mark.parametrize("dialect", ["spark", "duckdb", "postgres"])
@pytest.mark.parametrize("sql", WIDTHS)
def test_set_operators_inside_one_another_have_the_widest_integers(sql: str, dialect: str) -> None:
    planned(sql, SCHEMA, dialect)


def small_tables() -> tuple[duckdb.DuckDBPyConnection, Data]:
    """Random rows of the streams, with NULLs and rows that are equal, in DuckDB and for the evaluator."""
    database, chosen = duckdb.connect(), random.Random(1)
    rows: Data = {
        name: [{column: chosen.choice([0, 1, 2, 3, None]) for column, _ in columns} for _ in range(5)]
        for name, columns in SCHEMA.streams.items()
    }
    for name, listed in rows.items():
        database.execute(f"CREATE TABLE {name} ({', '.join(f'{column} BIGINT' for column in listed[0])})")
        database.executemany(f"INSERT INTO {name} VALUES (?, ?, ?)", [list(row.values()) for row in listed])
    return database, rows


LIFTED = [
    "SELECT (WITH w(q) AS (VALUES (a)) SELECT (SELECT q FROM w)) FROM t",
    "SELECT a FROM t WHERE (WITH w AS (SELECT t.b AS q) SELECT COUNT(*) FROM u WHERE k IN (SELECT q FROM w)) > 0",
]
"""A CTE that reads the outer query, read one level deeper."""


NEAREST = [
    f"SELECT q.a, (SELECT x.b + ({value}) FROM {rows} WHERE q.b < x.b ORDER BY x.b LIMIT 1) FROM t q"
    for value, rows in (
        ("SELECT MIN(q.a + u.k) FROM u WHERE u.k < 3", "t x"),
        ("SELECT MAX(u.v) FROM u WHERE u.s = q.s", "t x"),
        ("y.v", "t x, LATERAL (SELECT MAX(v) AS v FROM u WHERE u.s = q.s AND u.k <= q.a) y"),
    )
]
"""The nearest row of rows that themselves depend on the row around; the last two by a name that both have."""


@pytest.mark.parametrize("sql", [*LIFTED, *WIDTHS, *NEAREST])
def test_answers_of_ctes_set_operators_and_first_rows_inside_one_another(sql: str) -> None:
    database, rows = small_tables()
    logical = bind(sql, "duckdb", SCHEMA).named("q")["q"]
    assert answer(logical, rows) == Counter(database.execute(sql).fetchall())


def test_an_aggregate_of_a_subquery_is_of_the_query_around_in_postgres() -> None:
    _, rows = small_tables()
    inner = "MAX((SELECT MIN(v) FROM u WHERE k = t.a))"
    of_rows, of_all = (f"SELECT {item} FROM t" for item in (f"(SELECT {inner})", inner))

    def answered(sql: str, dialect: str) -> Counter[tuple[object, ...]]:
        return answer(bind(sql, dialect, SCHEMA).named("q")["q"], rows)

    assert answered(of_rows, "postgres") == answered(of_all, "postgres")
    assert answered(of_rows, "duckdb").total() == len(rows["t"]) > 1
    with pytest.raises(UnsupportedError, match="aggregate of nothing but columns of the outer query"):
        planned(of_rows.replace("MIN(v) FROM u WHERE k = t.a", "MIN(v) FROM u WHERE k = a"), SCHEMA, "postgres")


def test_an_empty_list_of_subqueries_has_no_value_as_standard_sql_says_and_duckdb_does_not() -> None:
    database, rows = small_tables()
    sql = "SELECT k, k NOT IN (SELECT (SELECT y.k FROM u y WHERE y.k = 3) FROM t WHERE t.a < u.k) FROM u"
    assert DEVIATES.search(sql)
    assert answer(bind(sql, "duckdb", SCHEMA).named("q")["q"], rows)[0, True] == 3
    assert Counter(database.execute(sql).fetchall())[0, None] == 3


@pytest.mark.timeout(PATIENCE)
def test_random_texts_are_answered_as_duckdb_answers_them() -> None:
    """Texts whose answer does not depend on the order of equal rows, by the evaluator that defines a logical query."""
    outcome = Counter[str]()
    database, rows = small_tables()
    for seed in range(FIRST, FIRST + COUNT):
        sql = NestedTexts(seed).text()
        if "LIMIT" in sql or "OVER" in sql or "ROLLUP" in sql or DEVIATES.search(sql):
            continue
        try:
            logical = bind(sql, "duckdb", SCHEMA).named("q")["q"]
            if any(answer(check.query, rows) for check in checks_of(logical)):
                continue
            found, expected = answer(logical, rows), Counter(database.execute(sql).fetchall())
        except (SqlError, TooLarge, duckdb.Error) as refused:
            outcome[type(refused).__name__] += 1
            continue
        assert found == expected, f"seed {seed}: {sql}"
        outcome["equal"] += 1
    # How many texts have a LIMIT or OVER differs from seed to seed; of the others most must be answered.
    assert outcome["equal"] > outcome.total() / 3 > 1, outcome


@pytest.mark.slow
@pytest.mark.timeout(PATIENCE)
def test_random_texts_are_planned_or_refused() -> None:
    outcome = Counter[str]()
    for seed in range(FIRST, FIRST + COUNT):
        sql = NestedTexts(seed).text()
        for dialect in ("spark", "duckdb", "postgres")[: 1 + seed % 3]:
            try:
                planned(sql, SCHEMA, dialect)
                outcome["planned"] += 1
            except SqlError:
                outcome["refused"] += 1
            except Exception as defect:
                raise AssertionError(f"seed {seed}, {dialect}: {sql}") from defect
    assert outcome["planned"] > outcome["refused"]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT (WITH RECURSIVE r(n) AS (SELECT q.f UNION ALL SELECT n + 1 FROM r WHERE n < 3) SELECT MAX(n) FROM r)"
        " FROM (SELECT CAST(k AS INT) AS f FROM u) q",
        "SELECT COALESCE((WITH RECURSIVE r(n) AS (SELECT q.f UNION ALL SELECT n + 1 FROM r WHERE n < 3) SELECT n"
        " FROM r), q.f) FROM (SELECT CAST(k AS INT) AS f FROM u) q",
    ],
)
def test_integers_of_a_recursion_for_each_row_have_the_widest(sql: str) -> None:
    planned(sql, SCHEMA, "spark")
