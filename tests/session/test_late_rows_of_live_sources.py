"""A live source with a lateness leaves out the same rows as a file that is replayed: each way in, opened again or not.

Plans rely on it: what a join by time forgets, no row that is later than that can still find.
"""

from __future__ import annotations

import json
import random
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest

from workbench.engine.spark.in_process import InProcess
from workbench.session.session import Session
from workbench.streams.live.polled_query import PolledQuery

PAIRS = "SELECT a.id AS first, b.id AS next FROM s a JOIN s b ON b.at BETWEEN a.at AND a.at + INTERVAL '30' MINUTE"
NAME: dict[str, Any] = {"name": "s", "time": "at", "lateness": "1 hour", "batch": 3, "columns": {"at": "timestamp"}}
Row = dict[str, Any]


def some_rows(seed: int) -> list[Row]:
    """Rows whose times go on, fall back by less or more than an hour, or are NULL."""
    chosen = random.Random(seed)
    times = [
        pd.Timestamp("2026-03-01") + pd.Timedelta(minutes=20 * i - chosen.choice([0, 0, 15, 70, 400]))
        for i in range(40)
    ]
    return [{"id": i, "at": None if chosen.random() < 0.1 else str(time)} for i, time in enumerate(times)]


def on_time(rows: Sequence[Row]) -> list[Row]:
    kept, latest = list[Row](), None
    for row in rows:
        time = None if row["at"] is None else pd.Timestamp(row["at"])
        if time is None or latest is None or latest - time <= pd.Timedelta(hours=1):
            kept.append(row)
            latest = time if latest is None else latest if time is None else max(time, latest)
    return kept


def as_file(folder: Path, ending: str, number: int, rows: Sequence[Row]) -> None:
    file = folder / f"{number}.{ending}"
    frame = pd.DataFrame(rows)
    if ending == "jsonl":
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    elif ending == "csv":
        frame.to_csv(file, index=False)
    else:
        frame.assign(at=pd.to_datetime(frame["at"])).to_parquet(file, index=False)


def into_database(path: Path, number: int, rows: Sequence[Row]) -> None:
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE TABLE IF NOT EXISTS s (id INTEGER, at TEXT)")
        database.executemany("INSERT INTO s VALUES (:id, :at)", rows)


def way_in(kind: str, folder: Path, rows: Sequence[Row]) -> tuple[object, Callable[[int, Sequence[Row]], object]]:
    """A source, and what brings it some of the rows."""
    if kind == "polled":
        connect = partial(sqlite3.connect, folder / "s.db")
        return PolledQuery(lambda: connect(), "SELECT * FROM s", by="id"), partial(into_database, folder / "s.db")
    if kind == "iterator":
        return iter(rows), lambda number, some: None
    return str(folder / f"*.{kind}"), partial(as_file, folder, kind)


@pytest.mark.parametrize("opened_again", [False, True], ids=["", "opened again"])
@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet", "polled", "iterator"])
@pytest.mark.parametrize("history", [0, 4])
def test_the_same_rows_are_late(kind: str, opened_again: bool, history: int, tmp_path: Path) -> None:
    if opened_again and kind in ("polled", "iterator"):
        pytest.skip("such a source is not stored")
    folder, rows = tmp_path / "in", some_rows(history)
    folder.mkdir()
    source, bring = way_in(kind, folder, rows)
    bring(0, rows[:5])
    session = Session(InProcess(), path=tmp_path / "session")
    session.add_stream(source=source, history=history, **NAME)
    pairs = session.register(PAIRS, name="pairs")
    for number, start in enumerate(range(5, len(rows), 7), 1):
        session.run(10)
        bring(number, rows[start : start + 7])
        if opened_again and number == 3:
            session.close()
            session = Session.open(tmp_path / "session", InProcess())
            pairs = session.query("pairs")
    session.run(10)
    expected = pd.DataFrame(on_time(rows))
    stream = session.streams["s"]
    assert stream.log.read(0, 99)["id"].to_pylist() == expected["id"].tolist()
    assert stream.quarantined_rows == len(rows) - len(expected) >= 5
    assert {"1 hour late" in entry.reason for entry in stream.quarantined} == {True}
    s = expected.assign(at=pd.to_datetime(expected["at"]))  # noqa: F841, DuckDB reads it
    assert sorted(pairs.result().itertuples(index=False)) == duckdb.sql(f"{PAIRS} ORDER BY ALL").fetchall()
    session.close()


def test_a_row_that_is_taken_in_later_may_be_late() -> None:
    """What waited for a wider column comes behind all others, in a file that is replayed, too."""
    rows = [
        (1, "1", "2026-03-01 10:00"),
        (2, "x", "2026-03-01 10:10"),
        (3, "y", "2026-03-01 13:30"),
        (4, "4", "2026-03-01 13:00"),
    ]
    rows += [(5, "5", "2026-03-01 13:10"), *((n, str(n), "2026-03-01 13:20") for n in range(6, 50))]
    given = [{"id": n, "v": v, "at": at} for n, v, at in rows]
    with Session(InProcess()) as session:
        session.add_stream("s", given, time="at", lateness="1 hour", columns={"at": "timestamp", "v": "integer"})
        session.run(5)
        assert session.widen_column("s", "v", "string").taken == 1
        session.run(5)
        stream = session.streams["s"]
        assert sorted(stream.log.on_time(0, 99)["id"].to_pylist()) == [n for n, *_ in rows if n != 2]
        assert [(entry.line, entry.reason) for entry in stream.quarantined] == [(2, "v: 'x' is no integer")]


def test_rows_taken_in_move_on_what_is_late(tmp_path: Path) -> None:
    """In a live source a row that was taken in is before those that come then."""
    (tmp_path / "1.csv").write_text("id,v,at\n1,1,2026-03-01 10:00:00\n2,x,2026-03-01 13:00:00\n")
    with Session(InProcess()) as session:
        session.add_stream("s", str(tmp_path / "*.csv"), time="at", lateness="1 hour", columns={"v": "integer"})
        session.run(5)
        session.widen_column("s", "v", "string")
        (tmp_path / "2.csv").write_text("id,v,at\n3,3,2026-03-01 10:30:00\n4,4,2026-03-01 12:30:00\n")
        session.run(5)
        assert session.streams["s"].log.read(0, 9)["id"].to_pylist() == [1, 2, 4]
