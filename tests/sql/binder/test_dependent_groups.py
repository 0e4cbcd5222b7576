"""Columns that depend on a group are groups in postgres: those of a stream whose key is among them."""

from __future__ import annotations

import pyarrow as pa
import pytest

from workbench import Session
from workbench.engine.spark.in_process import InProcess
from workbench.errors import SqlError
from workbench.sql.algebra.types import INTEGER, STRING
from workbench.sql.binder.pipeline import bind
from workbench.sql.schema import Schema

SCHEMA = Schema(
    {"c": (("id", INTEGER), ("part", INTEGER), ("name", STRING)), "o": (("cid", INTEGER), ("n", INTEGER))},
    keys={"c": ("id", "part"), "o": ()},
)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT name, COUNT(*) AS m FROM c GROUP BY part, id",
        "SELECT c.*, SUM(n) AS m FROM c LEFT JOIN o ON cid = id GROUP BY id, part HAVING name <> 'x' ORDER BY name",
        "SELECT d.name, c.name FROM c, c AS d GROUP BY c.id, c.part, d.id, d.part",
    ],
)
def test_a_key_has_its_row(sql: str) -> None:
    assert bind(sql, "postgres", SCHEMA).query


@pytest.mark.parametrize(
    ("sql", "dialect"),
    [
        ("SELECT name FROM c GROUP BY id", "postgres"),
        ("SELECT d.name FROM c, c AS d GROUP BY c.id, c.part, d.id", "postgres"),
        ("SELECT name FROM c GROUP BY ROLLUP (id, part)", "postgres"),
        ("SELECT n FROM c JOIN o ON cid = id GROUP BY id, part", "postgres"),
        ("SELECT name FROM c GROUP BY id + 1, part", "postgres"),
        ("SELECT name FROM c GROUP BY id, part", "spark"),
    ],
)
def test_other_columns_are_no_groups(sql: str, dialect: str) -> None:
    with pytest.raises(SqlError, match="neither in GROUP BY nor in an aggregate"):
        bind(sql, dialect, SCHEMA)


def test_a_row_that_is_changed_is_a_group_that_is_changed() -> None:
    changes = pa.table({"id": [1, 2, 2, 1], "name": ["a", "b", "B", None]})
    with Session(InProcess(), dialect="postgres") as session:
        session.add_stream("c", changes, history=2, batch=1, key=["id"], changes="upsert")
        session.add_stream("o", pa.table({"cid": [1, 1, 2], "n": [5, 6, 7]}), history=2, batch=1)
        query = session.register("SELECT c.id, c.name, SUM(o.n) AS n FROM c LEFT JOIN o ON o.cid = c.id GROUP BY c.id")
        answers = []
        for _ in range(3):
            rows = query.result().astype(object)
            answers.append({tuple(row) for row in rows.where(rows.notna(), None).to_numpy().tolist()})
            session.run(1)
    assert answers == [{(1, "a", 11), (2, "b", None)}, {(1, "a", 11), (2, "B", 7)}, {(1, None, 11), (2, "B", 7)}]
