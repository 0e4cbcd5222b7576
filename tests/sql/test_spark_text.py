"""The text of a query as Spark is given it to verify the answer: what changes in it, and what is left open."""

from __future__ import annotations

import re

import pytest

from workbench.errors import UnsupportedError
from workbench.sql.algebra.types import DATE, DOUBLE, INTEGER, STRING
from workbench.sql.binder.pipeline import bind
from workbench.sql.schema import Schema
from workbench.sql.spark_text import SparkText, spark_text

SCHEMA = Schema({"t": (("a", INTEGER), ("x", DOUBLE), ("s", STRING), ("d", DATE))}, times={"t": "d"})


def of(sql: str, dialect: str = "spark", now: str | None = "DATE'2020-01-02'") -> SparkText:
    return spark_text(sql, dialect, bind(sql, dialect, SCHEMA), lambda query: now)


@pytest.mark.parametrize(
    ("sql", "given"),
    [
        ("SELECT a FROM t", "SELECT a FROM t"),
        ("SELECT a, x FROM t LIMIT 3", "SELECT a, x FROM t ORDER BY 1 ASC NULLS FIRST, 2 ASC NULLS FIRST LIMIT 3"),
        ("SELECT a FROM t ORDER BY x LIMIT 3", "SELECT a FROM t ORDER BY x, 1 ASC NULLS FIRST LIMIT 3"),
        (
            "SELECT a FROM t ORDER BY x LIMIT 3 OFFSET 2",
            "SELECT a FROM t ORDER BY x, 1 ASC NULLS FIRST LIMIT 3 OFFSET 2",
        ),
        ("SELECT a FROM t WHERE d = now()", "SELECT a FROM t WHERE d = DATE'2020-01-02'"),
        ("SELECT a FROM t WHERE d = current_date", "SELECT a FROM t WHERE d = CAST(DATE'2020-01-02' AS DATE)"),
        ("SELECT 'now()' AS s, a FROM t", "SELECT 'now()' AS s, a FROM t"),
        ("SELECT APPROX_COUNT_DISTINCT(a) AS n FROM t", "SELECT COUNT(DISTINCT a) AS n FROM t"),
        ("SELECT APPROX_PERCENTILE(a, 0.5) AS n FROM t", "SELECT APPROX_PERCENTILE(a, 0.5, 1000000000) AS n FROM t"),
    ],
)
def test_texts_for_spark(sql: str, given: str) -> None:
    made = of(sql)
    assert made.statements[-1].sql == given and not made.left_open
    assert bool(made.notes) == (sql != given)


@pytest.mark.parametrize(
    ("sql", "what"),
    [
        ("SELECT a, ROW_NUMBER() OVER (ORDER BY x) AS n FROM t", "ROW_NUMBER OVER: the order of equal rows"),
        ("SELECT SUM(a) OVER (ORDER BY x ROWS 2 PRECEDING) AS n FROM t", "SUM OVER: the order of equal rows"),
        ("SELECT ARRAY_AGG(a) AS n FROM t", "ARRAY_AGG: the order of a list"),
        ("SELECT MODE(a) AS n FROM t", "MODE: which of equally frequent values it is"),
        (
            "SELECT a IN (SELECT a FROM t) AS i FROM t",
            "IN of a subquery as a value: Spark says false where SQL says NULL",
        ),
        ("SELECT a FROM (SELECT a FROM t ORDER BY x LIMIT 3)", "LIMIT in a subquery: which of equal rows are kept"),
    ],
)
def test_what_sql_leaves_open(sql: str, what: str) -> None:
    assert of(sql).left_open == (what,)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT SUM(a) OVER (ORDER BY x) AS n FROM t",
        "SELECT DISTINCT a FROM t",
        "SELECT a FROM t WHERE x > 1 AND NOT a IN (SELECT a FROM t)",
    ],
)
def test_what_it_does_not(sql: str) -> None:
    assert of(sql).left_open == ()


def test_views_come_first() -> None:
    made = of("CREATE VIEW v (b) AS SELECT a FROM t; SELECT b FROM v LIMIT 2")
    assert [(one.view, one.sql) for one in made.statements] == [
        ("v", "SELECT * FROM (SELECT a FROM t) AS _named(b)"),
        (None, "SELECT b FROM v ORDER BY 1 ASC NULLS FIRST LIMIT 2"),
    ]


def test_other_dialects_are_translated() -> None:
    made = of("SELECT a::text AS s FROM t LIMIT 3", "postgres")
    assert made.statements[0].sql == "SELECT CAST(a AS STRING) AS s FROM t ORDER BY 1 ASC NULLS FIRST LIMIT 3"
    assert made.left_open == ("the meaning of postgres that the translation lacks",)


@pytest.mark.parametrize(
    ("dialect", "sql"),
    [
        ("spark", "CREATE FUNCTION f(n INT) RETURNS INT RETURN n + 1; SELECT f(a) AS b FROM t"),
        (
            "postgres",
            "CREATE FUNCTION f(n int) RETURNS int LANGUAGE sql AS $$ SELECT n + 1 $$; SELECT f(a) AS b FROM t",
        ),
        ("duckdb", "CREATE MACRO f(n) AS n + 1; CREATE VIEW v AS SELECT f(a) AS b FROM t; SELECT b FROM v"),
    ],
)
def test_functions_are_written_out(dialect: str, sql: str) -> None:
    made = of(sql, dialect)
    assert "a+1" in re.sub("[() ]", "", made.statements[0].sql.replace("CAST(a AS INT)", "a"))
    assert made.notes and not any("CREATE" in one.sql for one in made.statements)


def test_limited_lists_are_slices() -> None:
    made = of("SELECT (ARRAY_AGG(a) FILTER (WHERE a > 1))[1:2] AS n FROM t", "postgres")
    assert "SLICE(COLLECT_LIST(a) FILTER(WHERE a > 1), 1, 2)" in made.statements[0].sql


@pytest.mark.parametrize(
    ("sql", "now", "why"),
    [
        ("SELECT a FROM t BEGIN NOW - 5 END NOW", "DATE'2020-01-02'", "no window clause"),
        ("SELECT a FROM t WHERE d = now()", None, "none has come yet"),
    ],
)
def test_what_spark_has_not(sql: str, now: str | None, why: str) -> None:
    with pytest.raises(UnsupportedError, match=why):
        of(sql, now=now)
