"""Forms of Spark, names behind a schema and names of joins, which stand for what can be written otherwise."""

from __future__ import annotations

import pytest
from sql.bind_schema import SCHEMA

from workbench.errors import SqlError, SqlWarning
from workbench.sql.binder.pipeline import bind

SAME = [
    ("SELECT a, grouping__id FROM t GROUP BY CUBE (a, b)",
     "SELECT a, GROUPING_ID() AS grouping__id FROM t GROUP BY CUBE (a, b)"),
    ("SELECT a FROM t GROUP BY a, b WITH ROLLUP HAVING GROUPING__ID > 1 ORDER BY grouping__id, a",
     "SELECT a FROM t GROUP BY a, b WITH ROLLUP HAVING GROUPING_ID() > 1 ORDER BY GROUPING_ID(), a"),
    ("SELECT ANY_VALUE(a) IGNORE NULLS OVER w AS v FROM t WINDOW w AS (PARTITION BY s ORDER BY b)",
     "SELECT FIRST_VALUE(a) IGNORE NULLS OVER (PARTITION BY s ORDER BY b) AS v FROM t"),
    ("SELECT x.a FROM t AS x LEFT SEMI JOIN t AS y ON x.a = y.a AND EXISTS (SELECT 1 FROM t AS z WHERE z.b = y.b)",
     "SELECT x.a FROM t AS x WHERE EXISTS (SELECT 1 FROM t AS y WHERE x.a = y.a AND EXISTS (SELECT 1 FROM t AS z WHERE"
     " z.b = y.b))"),
    ("SELECT x.a FROM t AS x LEFT ANTI JOIN t AS y ON x.a = y.a AND y.b IN (SELECT b FROM t AS z WHERE z.a = x.a)"
     " WHERE x.b > 1",
     "SELECT x.a FROM t AS x WHERE x.b > 1 AND NOT EXISTS (SELECT 1 FROM t AS y WHERE x.a = y.a AND y.b IN"
     " (SELECT b FROM t AS z WHERE z.a = x.a))"),
    ("SELECT ANY(a > 1) AS p, ANY(b > 1) FILTER (WHERE a > 2) AS q FROM t GROUP BY s HAVING NOT ANY(a = 3)",
     "SELECT BOOL_OR(a > 1) AS p, BOOL_OR(b > 1) FILTER (WHERE a > 2) AS q FROM t GROUP BY s"
     " HAVING NOT BOOL_OR(a = 3)"),
    ("SELECT a FROM t WHERE s LIKE ANY ('a%')", "SELECT a FROM t WHERE s LIKE 'a%'"),
    ("SELECT e.col1 FROM t, LATERAL STACK(2, a, s, b) AS e",
     "SELECT e.col1 FROM t, LATERAL INLINE(ARRAY(STRUCT(a AS col0, s AS col1), STRUCT(b AS col0, NULL AS col1))) AS e"),
    ("SELECT e.c0 FROM t, LATERAL JSON_TUPLE(s, 'k') AS e",
     "SELECT e.c0 FROM t, LATERAL INLINE(ARRAY(STRUCT(GET_JSON_OBJECT(s, '$.k') AS c0))) AS e"),
    ("SELECT j.c FROM (t AS x JOIN (SELECT a AS c FROM t) AS y ON x.a = y.c) AS j",
     "SELECT j.c FROM (SELECT * FROM t AS x JOIN (SELECT a AS c FROM t) AS y ON x.a = y.c) AS j"),
    ("SELECT default.t.a FROM default.t WHERE default.t.b > 1", "SELECT a FROM t WHERE b > 1"),
    ("SELECT x.a FROM spark_catalog.default.t AS x, global_temp.t AS y", "SELECT x.a FROM t AS x, t AS y"),
]  # fmt: skip


@pytest.mark.parametrize(("written", "same"), SAME)
def test_a_form_is_what_it_stands_for(written: str, same: str) -> None:
    assert bind(written, "spark", SCHEMA).query == bind(same, "spark", SCHEMA).query


def test_a_hint_is_left_out_and_said_to_have_no_effect() -> None:
    with pytest.warns(SqlWarning, match="a hint has no effect"):
        hinted = bind("SELECT /*+ BROADCAST(t), COALESCE(3) */ a FROM t", "spark", SCHEMA)
    assert hinted.query == bind("SELECT a FROM t", "spark", SCHEMA).query


@pytest.mark.parametrize(
    ("sql", "says"),
    [
        ("SELECT a FROM lake.t", "unknown stream lake.t"),
        ("SELECT lake.t.* FROM t", "lake.t is not in FROM"),
        ("SELECT a FROM lake.default.t", "unknown stream default.t"),
        ("WITH t AS (SELECT 1 AS a) SELECT a FROM default.t", "unknown stream default.t"),
        ("SELECT lake.t.a FROM default.t", "a column name of three parts"),
        ("SELECT x.a FROM t AS x LEFT SEMI JOIN t AS y ON EXISTS (SELECT 1 FROM t AS z WHERE z.a = y.a) RIGHT JOIN t"
         " AS w ON w.a = x.a", "a subquery there"),
        ("SELECT `(A|b)` FROM t", "upper and lower case"),
        ("SELECT `(nothing)` FROM t", "unknown column"),
        ("SELECT STACK(a, 1, 2) FROM t", "STACK"),
        ("SELECT JSON_TUPLE(s, s) FROM t", "JSON_TUPLE"),
    ],
)  # fmt: skip
def test_what_is_refused(sql: str, says: str) -> None:
    with pytest.raises(SqlError, match=says):
        bind(sql, "spark", SCHEMA)


@pytest.mark.parametrize(
    ("sql", "names"),
    [("SELECT `(a|b)` FROM t", ["a", "b"]), ("SELECT x.`(a)?+.+` FROM (SELECT a, b, s FROM t) AS x", ["b", "s"]),
     ("SELECT SUM(`(a|b)`) FROM t", ["a", "b"])],
)  # fmt: skip
def test_a_name_in_backticks_may_be_a_pattern(sql: str, names: list[str]) -> None:
    query = bind(sql, "spark", SCHEMA).query
    assert query is not None
    assert [output.name for output in query.outputs] == names


@pytest.mark.parametrize(("dialect", "schema"), [("duckdb", "main"), ("duckdb", "temp"), ("postgres", "public")])
def test_each_database_has_a_schema_of_its_own(dialect: str, schema: str) -> None:
    assert (
        bind(f"SELECT {schema}.t.a FROM {schema}.t", dialect, SCHEMA).query
        == bind("SELECT a FROM t", dialect, SCHEMA).query
    )
    with pytest.raises(SqlError, match="unknown stream default"):
        bind('SELECT a FROM "default".t', dialect, SCHEMA)
