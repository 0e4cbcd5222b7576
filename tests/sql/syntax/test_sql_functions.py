"""Functions in SQL are what their bodies are, written out; and what is refused by name."""

from __future__ import annotations

import pytest
from sql.bind_schema import SCHEMA

from workbench.errors import SqlError
from workbench.sql.binder.pipeline import bind

INLINED = [
    ("spark", "CREATE FUNCTION f(v BIGINT) RETURNS BIGINT RETURN v + 1; SELECT f(a) AS v FROM t", "a + 1"),
    ("spark", "CREATE TEMPORARY FUNCTION f(v BIGINT, w BIGINT DEFAULT 3) RETURN v * w; SELECT f(a) AS v FROM t",
     "a * 3"),
    ("spark", "CREATE FUNCTION f(v STRING) RETURN UPPER(v); CREATE FUNCTION g(v STRING) RETURN f(f(v)) || v;"
     " SELECT g(s) AS v FROM t", "UPPER(UPPER(s)) || s"),
    ("spark", "CREATE FUNCTION f(v INT) RETURNS INT RETURN v; SELECT f(a) AS v FROM t", "CAST(CAST(a AS INT) AS INT)"),
    ("postgres", "CREATE FUNCTION f(v bigint) RETURNS bigint LANGUAGE sql AS $$ SELECT v + f.v; $$; SELECT f(a) AS v"
     " FROM t", "a + a"),
    ("postgres", "CREATE FUNCTION f(bigint, bigint) RETURNS bigint AS 'select $1 - $2' LANGUAGE sql STABLE;"
     " SELECT f(2, a) AS v FROM t", "2 - a"),
    ("postgres", "CREATE FUNCTION f(v bigint) RETURNS bigint RETURN v * 2; SELECT f(a) AS v FROM t", "a * 2"),
    ("duckdb", "CREATE MACRO f(v, w) AS v + w; CREATE VIEW q AS SELECT f(a, 1) AS k FROM t; SELECT f(k, k) AS v FROM q",
     "(a + 1) + (a + 1)"),
    ("duckdb", "CREATE OR REPLACE FUNCTION total(v) AS SUM(v); SELECT total(a) AS v FROM t", "SUM(a)"),
]  # fmt: skip
REFUSED = [
    (
        "postgres",
        "CREATE FUNCTION f(v int) RETURNS int LANGUAGE plpgsql AS $$ begin end $$; SELECT 1",
        "another language",
    ),
    ("duckdb", "CREATE MACRO f(v) AS v + z; SELECT f(a) FROM t", "z is no parameter"),
    ("duckdb", "CREATE MACRO f(v) AS (SELECT MAX(a) FROM t WHERE b = v); SELECT f(a) FROM t", "reads tables"),
    ("duckdb", "CREATE MACRO f(v) AS TABLE SELECT v AS w; SELECT * FROM f(1)", "of tables"),
    ("duckdb", "CREATE MACRO f(v) AS v; SELECT f(a, b) FROM t", "f takes 1"),
    ("duckdb", "CREATE MACRO f(v, v) AS v; SELECT f(a, b) FROM t", "stands twice"),
    ("spark", "CREATE FUNCTION f(v ARRAY<INT>) RETURN FILTER(v, v -> v > 1); SELECT 1", "variable of a lambda"),
    ("spark", "CREATE FUNCTION f(v INT) RETURN v", "there is no query"),
    ("spark", "SELECT f(a) FROM t; CREATE FUNCTION f(v INT) RETURN v", "unknown function"),
]


@pytest.mark.parametrize(("dialect", "text", "body"), INLINED)
def test_a_call_is_the_body(dialect: str, text: str, body: str) -> None:
    assert bind(text, dialect, SCHEMA).query == bind(f"SELECT {body} AS v FROM t", dialect, SCHEMA).query


@pytest.mark.parametrize(("dialect", "text", "message"), REFUSED)
def test_what_is_no_expression_of_its_parameters_is_refused(dialect: str, text: str, message: str) -> None:
    with pytest.raises(SqlError, match=message):
        bind(text, dialect, SCHEMA)


def test_postgres_calls_the_column_as_the_function() -> None:
    query = bind("CREATE FUNCTION f(v int) RETURNS int RETURN v; SELECT f(a) FROM t", "postgres", SCHEMA).query
    assert query is not None
    assert [output.name for output in query.outputs] == ["f"]
