"""EXPLODE and UNNEST in FROM: every spelling is one query, and what is not written out is refused."""

from __future__ import annotations

import pytest

from workbench.errors import SqlError
from workbench.sql.algebra.types import INTEGER, STRING
from workbench.sql.binder.pipeline import bind
from workbench.sql.logical import LogicalQuery, output_columns
from workbench.sql.schema import Schema

SCHEMA = Schema(
    streams={
        "T": (("id", INTEGER), ("a", INTEGER), ("b", INTEGER), ("s", STRING)),
        "U": (("k", INTEGER), ("n", STRING)),
    },
    times={},
)


def query(sql: str, dialect: str = "spark") -> LogicalQuery:
    bound = bind(sql, dialect, SCHEMA).query
    assert bound is not None
    return bound


def names(sql: str, dialect: str = "spark") -> list[str]:
    return [name for name, _ in output_columns(query(sql, dialect))]


VIEW = "SELECT id, v FROM T LATERAL VIEW EXPLODE(ARRAY(a, b)) e AS v"


@pytest.mark.parametrize(
    ("dialect", "sql"),
    [
        ("spark", "SELECT id, v FROM T LATERAL VIEW OUTER EXPLODE(ARRAY(a, b)) AS v"),
        ("spark", "SELECT id, v FROM T LATERAL VIEW EXPLODE_OUTER(ARRAY(a, b)) e AS v"),
        ("spark", "SELECT id, v FROM T, LATERAL EXPLODE(ARRAY(a, b)) AS e(v)"),
        ("spark", "SELECT id, col AS v FROM T, LATERAL EXPLODE(ARRAY(a, b))"),
        ("spark", "SELECT id, v FROM T LATERAL VIEW POSEXPLODE(ARRAY(a, b)) e AS p, v"),
        ("spark", "SELECT id, v FROM T CROSS JOIN UNNEST(ARRAY(a, b)) AS e(v)"),
    ],
)
def test_every_spelling_is_one_query(dialect: str, sql: str) -> None:
    assert query(sql, dialect) == query(VIEW)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT id, v FROM T, UNNEST(ARRAY[a, b]) AS v",
        "SELECT id, v FROM T CROSS JOIN LATERAL UNNEST(ARRAY[a, b]) AS e(v)",
        "SELECT id, v FROM T CROSS JOIN UNNEST(ARRAY[a, b]) WITH ORDINALITY AS e(v, n)",
        "SELECT id, v FROM T LEFT JOIN UNNEST(ARRAY[a, b]) AS e(v) ON TRUE",
    ],
)
def test_every_spelling_of_postgres_is_one_query(sql: str) -> None:
    assert query(sql, "postgres") == query("SELECT id, unnest AS v FROM T, UNNEST(ARRAY[a, b])", "postgres")


def test_columns_are_called_as_in_the_dialect() -> None:
    assert names("SELECT e.* FROM T LATERAL VIEW POSEXPLODE(ARRAY(a, b)) e") == ["pos", "col"]
    assert names("SELECT e.* FROM T, UNNEST([a, b]) AS e", "duckdb") == ["unnest"]
    assert names("SELECT e.* FROM T, UNNEST(ARRAY[a, b]) WITH ORDINALITY AS e", "postgres") == ["e", "ordinality"]
    assert names("SELECT v LATERAL VIEW EXPLODE(ARRAY(1, 2)) e AS v") == ["v"]


@pytest.mark.parametrize(
    ("dialect", "sql", "message", "hint"),
    [
        ("spark", "SELECT v FROM T LATERAL VIEW EXPLODE(SPLIT(s, ',')) e AS v",
         "rows of an array whose elements are not written out is not supported", "write its elements"),
        ("postgres", "SELECT v FROM T, UNNEST(string_to_array(s, ',')) AS v",
         "rows of an array whose elements are not written out is not supported", "write its elements"),
        ("spark", "SELECT v FROM T LATERAL VIEW EXPLODE(ARRAY()) e AS v",
         "rows of an array whose elements are not written out is not supported", "write its elements"),
        ("spark", "SELECT v FROM T LATERAL VIEW EXPLODE(ARRAY(a, s)) e AS v", "type clash", "convert with CAST"),
        ("spark", "SELECT 1 FROM T LATERAL VIEW EXPLODE(ARRAY(ARRAY(a))) e AS v", "an array of arrays", "write"),
        ("spark", f"SELECT 1 FROM T LATERAL VIEW EXPLODE(ARRAY({', '.join('a' * 101)})) e AS v",
         "rows of more than 100 elements is not supported", "add_table"),
        ("duckdb", "SELECT 1 FROM T, UNNEST([a], [b]) AS e(v, w)", "UNNEST of several arrays is not supported", "join"),
        ("spark", "SELECT 1 FROM T LATERAL VIEW EXPLODE(ARRAY(a, b)) e AS v, w", "e has 1 columns, not 2", ""),
        ("spark", "SELECT 1 FROM T LATERAL VIEW INLINE(ARRAY(a)) e AS v", "LATERAL of that function", "FROM takes"),
        ("postgres", "SELECT * FROM T LEFT JOIN UNNEST(ARRAY[a, b]) AS e(v) ON v > 1",
         "UNNEST in a LEFT JOIN that reads its other side is not supported", "write a CROSS JOIN"),
    ],
)  # fmt: skip
def test_what_is_refused(dialect: str, sql: str, message: str, hint: str) -> None:
    with pytest.raises(SqlError) as caught:
        query(sql, dialect)
    assert caught.value.message.startswith(message)
    assert (caught.value.hint or "").startswith(hint)
