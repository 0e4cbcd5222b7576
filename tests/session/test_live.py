"""Live sources in a session: batches are cut from the log, and a session that was closed goes on by the offsets."""

from __future__ import annotations

import datetime as dt
import queue
import random
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from itertools import pairwise
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from workbench import Session
from workbench.errors import QueryError, StreamError
from workbench.session.live.batch_size import LEAST_ROWS, BatchSize, seconds_of
from workbench.session.live.sources import LiveSources
from workbench.session.player import PlayerState
from workbench.streams.ingest import ingest
from workbench.streams.live.polled_query import PolledQuery
from workbench.streams.live.sources import open_live
from workbench.streams.stream import replayed

LAST: dict[str, object] = {"n": -1}
"""The message after which an iterator of messages ends."""


def clicks(count: int) -> Iterator[dict[str, object]]:
    yield from ({"id": number, "page": "abc"[number % 3]} for number in range(count))


def put(folder: Path, name: str, first: int, rows: int) -> None:
    pd.DataFrame({"id": range(first, first + rows), "fee": 1.5}).to_csv(folder / f".{name}", index=False)
    (folder / f".{name}").rename(folder / name)


def answers(session: Session) -> tuple[list[tuple[object, ...]], ...]:
    return tuple(sorted(q.result().itertuples(index=False, name=None)) for q in session.queries.values())


def test_live_sources_are_logged_and_then_evaluated(spark: SparkSession, tmp_path: Path) -> None:
    inbox, shop = tmp_path / "in", tmp_path / "shop.db"
    inbox.mkdir()
    put(inbox, "1.csv", 0, 4)
    with closing(sqlite3.connect(shop)) as database, database:
        database.execute("CREATE TABLE orders (id INTEGER, fee REAL)")
        database.executemany("INSERT INTO orders VALUES (?, ?)", [(1, 1.0), (2, 2.0)])
    orders = PolledQuery(lambda: sqlite3.connect(shop), "SELECT * FROM orders", by="id")
    with Session(spark, tmp_path / "s") as session:
        session.add_stream("Clicks", clicks(10), 2, 4)
        session.add_stream("Fees", str(inbox / "*.csv"), batch=3)
        session.add_stream("Orders", orders, batch=5)
        session.register("SELECT page, COUNT(*) AS n FROM Clicks GROUP BY page", name="pages")
        session.register("SELECT COUNT(*) AS n, COALESCE(SUM(fee), 0) AS s FROM Fees", name="total")
        session.register("SELECT id FROM Orders", name="sold")
        assert answers(session) == ([("a", 1), ("b", 1)], [(0, 0.0)], [])
        assert session.run(1)[0].arrived == {"Clicks": 4, "Fees": 3, "Orders": 2}
        assert answers(session) == ([("a", 2), ("b", 2), ("c", 2)], [(3, 4.5)], [(1,), (2,)])
        shop.rename(tmp_path / "gone.db")
        shop.mkdir()  # the database has gone away
        assert session.run(1)[0].arrived == {"Clicks": 4, "Fees": 1, "Orders": 0}
        assert "unable to open" in session.sources["Orders"].problem
        assert session.sources["Fees"].offsets == {"1.csv": "all"}
        assert session.run(1) == [] and session.sources["Clicks"].ended
        put(inbox, "2.csv", 4, 2)
        assert session.run(1)[0].arrived == {"Clicks": 0, "Fees": 2, "Orders": 0}
        seen = answers(session)
        with pytest.raises(StreamError, match="a DataFrame is not live"):
            session.attach("Fees", pd.DataFrame({"id": [1]}))
        session.seek(1)
        session.run(9)
        assert answers(session) == seen
    shop.rmdir()
    (tmp_path / "gone.db").rename(shop)
    put(inbox, "3.csv", 6, 1)
    with Session.open(tmp_path / "s", spark) as session:
        assert answers(session) == seen
        # A folder is read on by itself; an iterator and a connection must be attached.
        session.attach("Clicks", clicks(12))
        session.attach("Orders", orders)
        with closing(sqlite3.connect(shop)) as database, database:
            database.execute("INSERT INTO orders VALUES (3, 3.0)")
        reports = session.run_live(latency="5s", until="8s")
        assert sum(sum(report.arrived.values()) for report in reports) == 2 + 1 + 1
        assert answers(session) == ([("a", 4), ("b", 4), ("c", 4)], [(7, 10.5)], [(1,), (2,), (3,)])
        assert session.sources["Clicks"].ended and not session.sources["Orders"].problem


def test_event_times_in_the_future_are_taken_and_said(spark: SparkSession) -> None:
    """A row a thousand years ahead takes the windows along, for good: that is what its text means over these rows."""
    today = dt.datetime.now(dt.UTC).replace(tzinfo=None)
    rows = ({"id": place, "at": today + dt.timedelta(days)} for place, days in enumerate([-0.2, -0.1, 365_000, 0]))
    with Session(spark) as session:
        session.add_stream("Clicks", rows, history=2, batch=1, time="at")
        session.register("SELECT id FROM Clicks WHERE at > now() - INTERVAL 1 DAY", name="last")
        assert answers(session) == ([(0,), (1,)],) and session.sources["Clicks"].ahead == 0
        session.run(1)
        assert answers(session) == ([(2,)],)
        session.run(1)
        assert answers(session) == ([(2,)],)  # the row of now comes a thousand years late
        assert session.sources["Clicks"].ahead > 364_000 * 86_400


def test_it_plays_what_comes_and_says_how_far_behind_it_is(spark: SparkSession, tmp_path: Path) -> None:
    with Session(spark) as session:
        session.add_stream("Clicks", clicks(500))
        session.register("SELECT COUNT(*) AS n FROM Clicks", name="all")
        assert session.live("1s").ready()
        source = session.sources["Clicks"]
        assert source.waiting == session.streams["Clicks"].rows > 0 and source.rate > 0 and source.lag > 0
        session.player.play(latency=5.0)
        assert session.player.wait(300) and session.player.position.state is PlayerState.ENDED
        source = session.sources["Clicks"]
        assert (source.waiting, source.lag, source.ended) == (0, 0.0, True)
        assert session.query("all").result().values.tolist() == [[500]]


@pytest.mark.parametrize("kind", ["iterator", "csv", "jsonl"])
def test_a_look_grows_over_rows_that_are_quarantined(tmp_path: Path, kind: str) -> None:
    """A bad row in thirty made no look a full one: 30 rows a second were read, and not 20,000."""
    values = ["x" if n % 30 == 29 else n for n in range(4_000)]
    if kind != "iterator":
        lines = ["n", *map(str, values)] if kind == "csv" else [f'{{"n": {n}}}'.replace("x", '"x"') for n in values]
        (tmp_path / f"in.{kind}").write_text("\n".join(lines) + "\n")
    reader = open_live(({"n": n} for n in values) if kind == "iterator" else str(tmp_path / f"*.{kind}"))
    assert reader is not None
    log = ingest("s", pa.table({"n": pa.array([], pa.int64())}), tmp_path / "log").growing(durable=False)
    with closing(LiveSources()) as live:
        live.attach("s", reader)
        streams = {"s": replayed(log, 0, 10)}
        logged = [live.take_in(streams, 60.0, 10_000) for _ in range(4)]
        assert all(now > 1.8 * before for before, now in pairwise(logged)), logged
        assert streams["s"].quarantined_rows >= sum(logged) // 30


def test_rows_are_logged_ahead_up_to_a_limit(tmp_path: Path) -> None:
    log = ingest("s", pa.table({"n": pa.array([], pa.int64())}), tmp_path / "log").growing(durable=False)
    live = LiveSources()
    reader = open_live({"n": n} for n in range(1_000_000))
    assert reader is not None
    live.attach("s", reader)
    streams = {"s": replayed(log, 0, 10)}
    assert live.take_in(streams) == 10 and live.take_in(streams) == 0  # what the next batch lacks
    minute = 60.0  # in which any source gives 100 rows
    assert [live.take_in(streams, minute, 130) for _ in range(3)] == [100, 20, 0]
    assert [live.take_in(streams, minute, 10_000) for _ in range(3)] == [200, 400, 800], "it gave them in time"
    assert live.take_in(streams, 1e-9, 1_000_000) == 1_600 and live.take_in(streams, 1e-9, 1_000_000) < 1_600
    live.close()


def test_an_iterator_that_waits_holds_nobody_up(tmp_path: Path) -> None:
    log = ingest("s", pa.table({"n": pa.array([], pa.int64())}), tmp_path / "log").growing(durable=False)
    messages: queue.Queue[dict[str, object]] = queue.Queue()
    messages.put({"n": 0})
    live, reader = LiveSources(), open_live(iter(messages.get, LAST))
    assert reader is not None
    live.attach("s", reader)
    streams = {"s": replayed(log, 0, 1_000)}
    assert live.take_in(streams) == 1
    assert live.take_in(streams) == 0, "it is given nothing"
    messages.put({"n": 1})
    until = time.monotonic() + 120
    while not live.take_in(streams):
        assert time.monotonic() < until
    assert not live.ended(streams)
    messages.put(LAST)
    live.close()


def test_the_size_of_a_batch_follows_what_batches_take() -> None:
    size = BatchSize(1_000, latency=1.0)
    assert size.after(1_000, 0.3).rows == 2_000  # nothing says yet that more rows take longer
    for _ in range(20):
        size = size.after(size.rows, 0.2 + size.rows * 1e-3)
    assert 0.6 < 0.2 + size.rows * 1e-3 < 0.75
    assert size.after(size.rows, 0.2 + size.rows * 1e-3).rows == size.rows, "it does not swing"
    assert size.after(size.rows, 100).rows < size.rows
    assert size.after(0, 0.1) == size, "no row says nothing"
    assert size.after(10, 0.1).rows == size.rows, "a batch that was not full does not say what a full one would take"
    assert BatchSize(LEAST_ROWS, 0.1).after(50, 0.01).after(LEAST_ROWS, 100).rows >= LEAST_ROWS
    size = BatchSize(1_000, latency=1.0)
    assert size.of({"a": 100, "b": 200}) == {"a": 100, "b": 200}
    assert size.of({"a": 5_000, "b": 0, "c": 10}) == {"a": 990, "b": 0, "c": 9}


@pytest.mark.parametrize(
    ("latency", "fixed", "per_row"),
    [
        pytest.param(1.0, 0.5, 1e-5, id="half of the latency goes before the first row"),
        pytest.param(1.0, 0.9, 1e-4, id="nearly all of it"),
        pytest.param(1.0, 1.3, 1e-5, id="more than all of it"),
        pytest.param(5.0, 0.1, 2e-4, id="rows cost most"),
    ],
)
def test_rows_that_pile_up_are_worked_off_as_fast_as_can_be(latency: float, fixed: float, per_row: float) -> None:
    """A batch of 100 rows for each half second kept the latency, while 100,000 rows waited."""
    noise, size = random.Random(7), BatchSize(LEAST_ROWS, latency)
    rows = seconds = 0.0
    for batch in range(120):
        took = (fixed + per_row * size.rows) * noise.uniform(0.9, 1.1) * (3 if batch % 40 == 39 else 1)
        rows, seconds = rows + size.rows, seconds + took
        size = size.after(size.rows, took)
    allowed = max(0.75 * latency, 1.5 * fixed)
    assert rows / seconds > 0.45 * (allowed - fixed) / per_row / allowed
    assert fixed + per_row * size.rows < 1.5 * allowed


@pytest.mark.parametrize("given", ["soon", 0, -1, "0s"])
def test_a_latency_is_a_length_of_time(given: str | int) -> None:
    with pytest.raises(QueryError, match="latency is"):
        seconds_of(given, "latency")


def test_a_sink_has_every_change_once(spark: SparkSession, tmp_path: Path) -> None:
    """Its changes accumulate to the answer, in a session that was closed meanwhile, with a table that was updated."""
    changes: list[pd.DataFrame] = []
    pages = "SELECT p.title, COUNT(*) AS n FROM Clicks c JOIN Pages p ON c.page = p.page GROUP BY p.title"
    with Session(spark, tmp_path / "s") as session:
        session.add_stream("Clicks", pd.DataFrame(clicks(12)), 2, 3)
        session.add_table("Pages", [{"page": "a", "title": "A"}, {"page": "b", "title": "B"}], key=["page"])
        session.register(pages, name="by_title")
        session.register("SELECT id FROM Clicks BEGIN NOW - 3 END NOW", name="last")
        session.add_sink("by_title", tmp_path / "out")
        session.add_sink("by_title", lambda batch, rows: changes.append(rows), name="calls")
        with pytest.raises(QueryError, match="the changes of last are not kept for a sink"):
            session.add_sink("last", tmp_path / "last")
        session.run(2)
    with Session.open(tmp_path / "s", spark) as session:
        session.update_table("Pages", [{"page": "c", "title": "A"}], delete=[{"page": "b"}])
        session.run(5)
        session.add_sink("by_title", lambda batch, rows: changes.append(rows), name="calls")
        expected = sorted(session.query("by_title").result().itertuples(index=False, name=None))
    written = [pd.read_parquet(file) for file in sorted((tmp_path / "out").iterdir())]
    for brought in (changes, written):
        totals = pd.concat(brought).groupby(["title", "n"])["weight"].sum()
        assert sorted(totals[totals != 0].index.tolist()) == expected == [("A", 8)]
        assert totals.min() == 0 and len(brought) == len(written)
