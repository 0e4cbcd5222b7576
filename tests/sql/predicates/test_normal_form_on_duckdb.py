"""Predicates after binding keep the rows that DuckDB, reading the text itself, keeps; over rows with NULLs."""

from __future__ import annotations

import itertools

import duckdb
import pytest
from sql.bind_schema import SCHEMA
from three_valued import satisfied

from workbench.sql.binder.pipeline import bind
from workbench.sql.logical import Block

CONDITIONS = [
    "a = 1 and not (b > 0 or c is null)",
    "a in (1, 2, null) or b not in (0, 1)",
    "not (a between 0 and 1) and (b = c or c <> 2)",
    "(a = 1 and b = 2) or (b = 2 and c = 0) or not (a = c)",
    "a is distinct from b and not (b is distinct from 1)",
    "not (a = 1 and (b is null or not (c < 2)))",
    "null or a >= 1",
    "not (a in (1, null))",
]


@pytest.mark.parametrize("condition", CONDITIONS)
def test_same_rows_as_duckdb(condition: str) -> None:
    rows = list(itertools.product((None, 0, 1, 2), repeat=3))
    connection = duckdb.connect()
    connection.execute("create table T (a bigint, b bigint, c bigint)")
    connection.executemany("insert into T values (?, ?, ?)", rows)
    expected = connection.execute(f"select a, b, c from T where {condition}").fetchall()
    query = bind(f"select a, b, c from T where {condition}", "spark", SCHEMA).query
    assert isinstance(query, Block)
    kept = [row for row in rows if satisfied(query.where, dict(zip("abc", row, strict=True)))]
    assert sorted(map(repr, kept)) == sorted(map(repr, expected))
