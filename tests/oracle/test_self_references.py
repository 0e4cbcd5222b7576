"""A foreign key into the stream itself, as of an employee and the boss: its joins with itself, beside DuckDB."""

from __future__ import annotations

import warnings

import duckdb
import pandas as pd
import pytest

from workbench.engine.spark.in_process import InProcess
from workbench.errors import ConstraintWarning
from workbench.session.session import Session

ROWS = pd.DataFrame(
    {
        "id": range(60),
        "boss": pd.array([None if n % 7 == 0 else n * 3 // 4 for n in range(60)], "Int64"),
        "x": [None if n % 5 == 0 else n / 4 for n in range(60)],
    }
)
QUERIES = {
    "outer_join": "SELECT a.id, b.id AS b FROM e a LEFT JOIN e b ON a.boss = b.id",
    "inner_join": "SELECT a.id FROM e a JOIN e b ON a.boss = b.id",
    "two_steps": "SELECT b.id FROM e a JOIN e b ON a.boss = b.id JOIN e c ON b.boss = c.id",
    "antijoin": "SELECT id FROM e a WHERE NOT EXISTS (SELECT 1 FROM e b WHERE b.id = a.boss)",
    "not_in": "SELECT id FROM e WHERE boss NOT IN (SELECT id FROM e)",
    "or_of_both_ways": "SELECT DISTINCT b.id FROM e a JOIN e b ON a.boss = b.id OR a.id = b.boss",
    "more_than_the_key": "SELECT a.boss, COUNT(*) AS n, COUNT(b.id) AS m FROM e a"
    " LEFT JOIN e b ON a.boss = b.id AND b.x > 3 GROUP BY a.boss",
    "null_beside": "SELECT a.id FROM e a LEFT JOIN e b ON a.boss = b.id WHERE b.id IS NULL OR b.x IS NULL",
}


def bag(found: pd.DataFrame) -> list[str]:
    """The rows in an order of their own."""
    rows = found.itertuples(index=False, name=None)
    return sorted(repr([None if pd.isna(value) else int(value) for value in row]) for row in rows)


@pytest.mark.parametrize("orphan", [None, 5, 45], ids=["kept", "broken in the history", "broken later"])
def test_a_stream_that_refers_to_itself(orphan: int | None) -> None:
    rows = ROWS.copy()
    if orphan is not None:
        rows.loc[orphan, "boss"] = 999
    with Session(InProcess()) as session, warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", ConstraintWarning)
        session.add_stream("e", rows, history=20, batch=10, references={"boss": "e.id"})
        queries = {name: session.register(sql, name=name) for name, sql in QUERIES.items()}
        for batch in range(5):
            if batch:
                session.run(1)
            e = rows.iloc[: 20 + 10 * batch]  # noqa: F841 (DuckDB reads it by its name)
            for name, sql in QUERIES.items():
                assert bag(queries[name].result()) == bag(duckdb.sql(sql).df()), (name, batch)
    assert any(issubclass(one.category, ConstraintWarning) for one in said) == (orphan is not None)
