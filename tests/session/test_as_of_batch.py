"""AS OF BATCH k: what a stream or a query was after a batch, in FROM, beside answers of then and DuckDB."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import duckdb
import pandas as pd
import pytest

from workbench import Session
from workbench.engine.spark.in_process import InProcess
from workbench.errors import SqlError, UnsupportedError

ROWS = pd.DataFrame({"id": range(90), "k": [n % 4 for n in range(90)], "v": [n * 7 % 13 for n in range(90)]})
DAYS = pd.DataFrame({"d": pd.date_range("2024-01-01", periods=40).date, "k": [n % 4 for n in range(40)]})
CHANGES = pd.DataFrame({"key": [n % 7 for n in range(40)], "x": range(40)})
QUERIES = {
    "sums": "SELECT k, SUM(v) t, COUNT(*) n FROM s GROUP BY k",
    "big": "SELECT id, v FROM s WHERE v > 6",
    "pairs": "SELECT a.id, b.id other FROM s a, s b WHERE a.v = b.v AND a.id < b.id",
    "known": "SELECT DISTINCT k FROM s WHERE v > 3",
    "both": "SELECT k FROM s UNION ALL SELECT k FROM t",
    "latest": "SELECT key, x FROM c WHERE x > 5",
    "counted": "SELECT COUNT(*) n FROM c",
}


def bag(rows: pd.DataFrame) -> Counter[tuple[str, ...]]:
    return Counter(tuple(map(str, row)) for row in rows.itertuples(index=False))


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    with Session(InProcess()) as session:
        session.add_stream("s", ROWS, history=20, batch=10)
        session.add_stream("t", DAYS, history=5, batch=5, time="d")
        session.add_stream("c", CHANGES, history=6, batch=6, key=["key"], changes="upsert")
        session.register_many(QUERIES)
        session.run(5)
        yield session


@pytest.mark.parametrize("batch", [0, 1, 3, 5])
@pytest.mark.parametrize("name", QUERIES)
def test_a_query_as_it_was(session: Session, name: str, batch: int) -> None:
    past = session.register(f"SELECT * FROM {name} FOR SYSTEM_TIME AS OF BATCH {batch}", "past")
    assert bag(past.result()) == bag(session.query(name).result(batch=batch))


@pytest.mark.parametrize("dialect", ["spark", "oracle", "duckdb", "postgres"])
def test_a_stream_as_it_was_beside_what_it_is(session: Session, dialect: str) -> None:
    sql = "SELECT a.id, b.id other FROM s a JOIN s FOR SYSTEM_TIME AS OF BATCH 2 b ON a.v = b.v AND a.k = b.k"
    wanted = duckdb.query_df(
        ROWS[:70], "s", "SELECT a.id, b.id other FROM s a JOIN s b ON a.v = b.v AND a.k = b.k WHERE b.id < 40"
    ).fetchall()
    assert bag(session.register(sql, "beside", dialect=dialect).result()) == Counter(
        tuple(map(str, row)) for row in wanted
    )


def test_it_stays_what_it_was_while_rows_come_and_after_going_back() -> None:
    with Session(InProcess()) as session:
        session.add_stream("s", ROWS, history=20, batch=10)
        session.register(QUERIES["sums"], "sums")
        session.run(3)
        then = session.register("SELECT * FROM sums FOR SYSTEM_TIME AS OF BATCH 2", "then")
        beside = session.register(
            "SELECT a.k, a.n, b.n before FROM sums a JOIN sums FOR SYSTEM_TIME AS OF BATCH 2 b ON a.k = b.k", "beside"
        )
        first = bag(then.result())
        assert first == bag(session.query("sums").result(batch=2))
        for back in (None, None, 2, None, 0, None):
            session.run(1) if back is None else session.seek(back)
            seen = min(session.batch, 2)
            assert bag(then.result()) == bag(session.query("sums").result(batch=seen)), session.batch
            rows = beside.result()
            assert int(rows["n"].sum()) == 20 + 10 * session.batch
            assert int(rows["before"].sum()) == 20 + 10 * seen
        assert bag(then.result()) != first or session.batch >= 2


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("SELECT * FROM sums FOR SYSTEM_TIME AS OF BATCH 9", "batch 9 was not run yet"),
        ("SELECT * FROM sums FOR SYSTEM_TIME AS OF BATCH(k)", "takes the number of a batch"),
        ("SELECT * FROM sums FOR SYSTEM_TIME AS OF BATCH(1, 2)", "takes the number of a batch"),
        ("SELECT * FROM lately FOR SYSTEM_TIME AS OF BATCH 1", "AS OF BATCH of a query that follows now"),
        ("SELECT * FROM s FOR SYSTEM_TIME AS OF TIMESTAMP '2024-01-01'", "time travel"),
    ],
)
def test_what_is_refused(session: Session, sql: str, message: str) -> None:
    session.register("SELECT k FROM t WHERE d > now() - 3", "lately")
    with pytest.raises((SqlError, UnsupportedError), match=message) as caught:
        session.register(sql, "refused")
    assert caught.value.hint
