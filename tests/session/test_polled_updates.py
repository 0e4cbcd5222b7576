"""Rows of a polled query that are updated: said where they are not noticed, and noticed where the docs say so."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from workbench import Session
from workbench.engine.spark.in_process import InProcess
from workbench.streams.live.polled_query import PolledQuery

SQL = "SELECT id, changed, v FROM t"


@pytest.fixture
def connect(tmp_path: Path) -> Callable[[], sqlite3.Connection]:
    path = tmp_path / "shop.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("CREATE TABLE t (id integer, changed integer, v integer)")
        connection.execute("INSERT INTO t VALUES (1, 1, 10), (2, 2, 20)")
    return lambda: sqlite3.connect(path, isolation_level=None)


@pytest.mark.parametrize(
    ("by", "asked", "seen"),
    [("id", {}, [10, 20, 30]), ("changed", {"key": ["id"], "changes": "upsert"}, [20, 30, 99])],
)
def test_an_update(
    by: str, asked: dict[str, object], seen: list[int], connect: Callable[[], sqlite3.Connection]
) -> None:
    with Session(InProcess()) as session:
        stream = session.add_stream("S", PolledQuery(connect, SQL, by=by, lag=0), **asked)
        assert any("a row that is updated is not read again" in note and f"unless its {by} grows" in note
                   for note in stream.notes)  # fmt: skip
        query = session.register("SELECT id, v FROM S", "q")
        session.run(1)
        with closing(connect()) as connection:
            connection.execute("UPDATE t SET v = 99, changed = 3 WHERE id = 1")
            connection.execute("INSERT INTO t VALUES (3, 4, 30)")
        session.run(1)
        assert sorted(query.result()["v"].tolist()) == seen


def test_what_compares_all_rows_needs_no_note(connect: Callable[[], sqlite3.Connection]) -> None:
    with Session(InProcess()) as session:
        stream = session.add_stream("S", PolledQuery(connect, SQL, every="1 minute"), key=["id"])
        assert not any("updated" in note for note in stream.notes)
