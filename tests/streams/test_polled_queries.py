"""Polled queries: rows that commit late, times and pairs, rows that a driver cannot give, and comparisons."""

from __future__ import annotations

import datetime as dt
import random
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import pytest
from servers import postgres

from workbench.errors import StreamError
from workbench.session.live.sources import begin_live
from workbench.streams.ingest import ingest
from workbench.streams.live import late_commits
from workbench.streams.live.polled_query import PolledQuery
from workbench.streams.live.reader import Reader
from workbench.streams.live.sources import open_live
from workbench.streams.live.take_in import take_in
from workbench.streams.log import StreamLog, open_log
from workbench.streams.source import OpenedSource

psycopg = pytest.importorskip("psycopg")


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with postgres() as url:
        yield url


@pytest.fixture(params=["sqlite", "duckdb", "postgres"])
def connect(request: pytest.FixtureRequest, tmp_path: Path, address: str) -> Callable[[], Any]:
    """Connections to a database with an empty table ``t (id, ts, v)``."""
    match request.param:
        case "sqlite":
            connect: Callable[[], Any] = lambda: sqlite3.connect(  # noqa: E731
                tmp_path / "x.db", detect_types=sqlite3.PARSE_DECLTYPES, isolation_level=None
            )
        case "duckdb":
            database = duckdb.connect(str(tmp_path / "x.duckdb"))
            connect = database.cursor
        case _:
            connect = lambda: psycopg.connect(address, autocommit=True)  # noqa: E731
    with closing(connect()) as connection:
        connection.execute("DROP TABLE IF EXISTS t")
        connection.execute("CREATE TABLE t (id integer, ts timestamp, v varchar)")
    return connect


def added(source: PolledQuery, folder: Path, key: list[str] | None = None) -> tuple[StreamLog, Reader]:
    reader = open_live(source)
    assert reader is not None
    opened = OpenedSource(reader.schema, iter(()))
    log = ingest("t", opened, folder / "log", corrections=reader.corrections(key or []))
    return begin_live(log, reader, source, 0, False), reader


def put(connect: Callable[[], Any], *rows: tuple[object, ...]) -> None:
    with closing(connect()) as connection:
        for id_, at, v in rows:
            texts = (repr(str(value)) if value is not None else "NULL" for value in (at, v))
            connection.execute(f"INSERT INTO t VALUES ({'NULL' if id_ is None else id_}, {', '.join(texts)})")


def moment(second: float) -> dt.datetime:
    return dt.datetime(2024, 1, 1) + dt.timedelta(seconds=second)


@pytest.mark.parametrize("by", ["id", "ts", ["ts", "id"]], ids=str)
@pytest.mark.parametrize("most", [2, 100])
def test_every_row_is_read_once_in_whatever_order_rows_come(
    connect: Callable[[], Any], by: Any, most: int, tmp_path: Path
) -> None:
    chosen = random.Random(most)
    rows = [(n, moment(n // 3 + (0.5 if n % 7 == 0 else 0)), "ab"[n % 2]) for n in range(30)]
    put(connect, rows[5])
    query = PolledQuery(connect, "SELECT * FROM t", by=by)
    log, reader = added(query, tmp_path)
    late = rows[:5] + rows[6:]
    while late:
        put(connect, *(late.pop(min(chosen.choice((0, 0, 1, 4)), len(late) - 1)) for _ in range(min(len(late), 3))))
        take_in(log, reader, most)
        if chosen.random() < 0.1:
            log, reader = open_log(log.folder), open_live(query)  # type: ignore[assignment]
    before = -1
    while log.rows != before:
        before = log.rows
        take_in(log, reader, most)
    assert Counter(map(tuple, (row.values() for row in log.read(0, 99).to_pylist()))) == Counter(rows)
    assert log.misfits == 0


def test_equal_rows_of_one_time_are_as_many_as_there_are(connect: Callable[[], Any], tmp_path: Path) -> None:
    put(connect, (1, moment(0), "a"), (1, moment(0), "a"))
    log, reader = added(PolledQuery(connect, "SELECT * FROM t", by="ts"), tmp_path)
    take_in(log, reader, 9)
    put(connect, (1, moment(0), "a"), (2, moment(0), None))
    take_in(log, reader, 9)
    take_in(log, reader, 9)
    assert sorted(log.read(0, 9)["id"].to_pylist()) == [1, 1, 1, 2]


def test_the_window_follows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After the lag, and where there are many rows, nothing is remembered; a lag is kept to."""
    now = [1_000.0]
    monkeypatch.setattr(late_commits.time, "time", lambda: now[0])
    path = tmp_path / "x.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("CREATE TABLE t (id INTEGER)")
        database.execute("INSERT INTO t VALUES (10)")
        log, reader = added(PolledQuery(lambda: sqlite3.connect(path), "SELECT * FROM t", by="id", lag="1m"), tmp_path)
        for id_, later, seen in ((20, 59, True), (15, 1, True), (16, 58, True), (17, 3, False)):
            database.execute("INSERT INTO t VALUES (?)", [id_])
            take_in(log, reader, 9)
            assert (id_ in log.read(0, 99)["id"].to_pylist()) == seen
            now[0] += later
        assert log.tail is not None and log.tail.offsets["/read"] == "[[20], [20], [], []]"
        database.execute("BEGIN")
        database.executemany("INSERT INTO t VALUES (?)", ([n] for n in range(100, 5_100)))
        database.execute("COMMIT")
        while log.rows < 5_000:
            take_in(log, reader, 700)
        assert len(log.tail.offsets["/read"]) < 90_000


def test_transactions_of_postgres_that_are_open_are_waited_for(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [1_000.0]
    monkeypatch.setattr(late_commits.time, "time", lambda: now[0])

    def connect() -> Any:
        return psycopg.connect(address)

    with connect() as writer, psycopg.connect(address, autocommit=True) as other:
        other.execute("DROP TABLE IF EXISTS sales; CREATE TABLE sales (id serial, v text)")
        other.execute("INSERT INTO sales (v) VALUES ('first')")
        log, reader = added(PolledQuery(connect, "SELECT * FROM sales", by="id"), tmp_path)
        writer.execute("INSERT INTO sales (v) VALUES ('late')")
        for _ in range(5):
            other.execute("INSERT INTO sales (v) VALUES ('x')")
            now[0] += 3_600
            take_in(log, reader, 9)
        writer.commit()
        take_in(log, reader, 9)
        assert sorted(log.read(0, 9)["id"].to_pylist()) == [1, 2, 3, 4, 5, 6, 7]
        for _ in range(3):
            now[0] += 3_600
            take_in(log, reader, 9)
        assert log.tail is not None and log.tail.offsets["/read"] == "[[7], [7], [], []]"


def test_a_row_that_the_driver_cannot_give_is_quarantined(address: str, tmp_path: Path) -> None:
    with psycopg.connect(address, autocommit=True) as database:
        database.execute("DROP TABLE IF EXISTS odd; CREATE TABLE odd (id int, d date)")
        database.execute("INSERT INTO odd VALUES (1, '2024-01-01'), (2, 'infinity'), (3, '2024-01-02')")
        log, reader = added(PolledQuery(lambda: psycopg.connect(address), "SELECT * FROM odd", by="id"), tmp_path)
        for _ in range(3):
            take_in(log, reader, 9)
        assert log.read(0, 9)["id"].to_pylist() == [1, 3]
        assert [entry.reason[:27] for entry in log.quarantined] == ["it cannot be read: date too"]
    path = tmp_path / "x.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as lite:
        lite.execute("CREATE TABLE t (id INTEGER, v TEXT)")
        lite.execute("INSERT INTO t VALUES (1, 'a'), (2, CAST(x'ff61' AS TEXT)), (3, 'c')")
    query = PolledQuery(lambda: sqlite3.connect(path), "SELECT * FROM t", by="id")
    log, reader = added(query, tmp_path / "lite")
    for _ in range(3):
        take_in(log, reader, 9)
    assert log.read(0, 9)["id"].to_pylist() == [1, 3] and log.misfits == 1


@pytest.mark.parametrize("by", [None, "id"])
def test_updates_and_deletes_are_found_by_comparison(
    connect: Callable[[], Any], by: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workbench.streams.live.polled_query._COMPARED_ROWS", 4)
    put(connect, *((n, moment(n), "a") for n in range(10)))
    query = PolledQuery(connect, "SELECT * FROM t", by=by, every=0)
    with pytest.raises(StreamError, match="compared by a key"):
        added(query, tmp_path)
    log, reader = added(query, tmp_path, ["id"])
    chosen, current = random.Random(1), dict[int, str]()
    for _ in range(8):
        with closing(connect()) as database:
            database.execute(f"DELETE FROM t WHERE id = {chosen.randrange(10)}")
            database.execute(f"UPDATE t SET v = '{chosen.random()}' WHERE id % 4 = {chosen.randrange(4)}")
        put(connect, (10 + log.rows, moment(0), None))
        before = log.rows
        take_in(log, reader, 9)
        for row in log.read(before, log.rows).to_pylist():
            if row["_weight"] > 0:
                current[row["id"]] = row["v"]
            elif current[row["id"]] == row["v"]:
                del current[row["id"]]
        with closing(connect()) as database:
            assert current == dict(database.execute("SELECT id, v FROM t").fetchall())
    assert log.misfits == 0


def test_what_is_asked_must_make_sense(connect: Callable[[], Any]) -> None:
    put(connect, (1, moment(0), "a"))
    for arguments, message in (
        ({}, "needs a column that only grows"),
        ({"by": "id", "lag": "soon"}, "lag is 'soon'"),
        ({"by": "id", "every": -1}, "every is -1"),
    ):
        with pytest.raises(StreamError, match=message):
            PolledQuery(connect, "SELECT * FROM t", **arguments)  # type: ignore[arg-type]
    with pytest.raises(StreamError, match="ad"):
        open_live(PolledQuery(connect, "SELECT * FROM t", by=["ad", "id"]))
    with pytest.raises(StreamError, match="cannot be polled by b, which is"):
        open_live(PolledQuery(connect, "SELECT id, 1.5 AS b FROM t", by="b"))
