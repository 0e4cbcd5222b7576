"""Sinks: each batch once where the target allows it, at their own pace, and from their place after a crash."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pytest

from workbench.errors import QueryError, SessionError
from workbench.limits import Limits
from workbench.session.sinks.sinks import Sinks
from workbench.session.sinks.target import AnswerSource
from workbench.sql.algebra.types import INTEGER


class Query:
    """A query whose batch *n* adds the row *n*; batch 3 changes nothing."""

    def __init__(self) -> None:
        self.latest, self.registration = 0, "first"

    def changes(self, since: int | None) -> pa.Table:
        first = 0 if since is None else since + 1
        batches = [batch for batch in range(first, self.latest + 1) if batch != 3]
        ids = pa.array(batches, pa.int64())
        return pa.table({"batch": ids, "weight": [1] * len(batches), "id": ids})

    def source(self, name: str) -> AnswerSource:
        if name != "q":
            raise QueryError(f"there is no query {name}")
        return AnswerSource(self.registration, lambda: (INTEGER,), self.changes, lambda: self.latest)


@pytest.fixture
def query() -> Query:
    return Query()


@pytest.fixture
def sinks(query: Query, tmp_path: Path) -> Iterator[Sinks]:
    limits = Limits(milliseconds_until_sent_again=20, milliseconds_until_sent_again_at_most=20)
    made = Sinks(tmp_path / "sinks", query.source, lambda: query.latest, limits=limits)
    yield made
    made.close()


def caught_up(sinks: Sinks, query: Query, *names: str) -> None:
    until = time.monotonic() + 120
    while any(sinks.statuses[name].behind for name in names) and time.monotonic() < until:
        time.sleep(0.01)
    assert not any(sinks.statuses[name].behind for name in names), sinks.statuses


def run(sinks: Sinks, query: Query, batches: int) -> None:
    for _ in range(batches):
        query.latest += 1
        sinks.notify()


def test_every_batch_is_brought_in_order(sinks: Sinks, query: Query, tmp_path: Path) -> None:
    taken: list[tuple[int, list[int]]] = []
    sinks.add("calls", "q", lambda batch, changes: taken.append((batch, changes["id"].tolist())))
    sinks.add("files", "q", tmp_path / "out")
    run(sinks, query, 5)
    caught_up(sinks, query, "calls", "files")
    assert taken == [(batch, [batch]) for batch in (0, 1, 2, 4, 5)]
    found = ds.dataset(tmp_path / "out").to_table().sort_by("batch").to_pylist()
    assert found == [{"batch": batch, "weight": 1, "id": batch} for batch in (0, 1, 2, 4, 5)]


def test_a_target_that_is_down_stops_nobody(
    sinks: Sinks, query: Query, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    down, taken = threading.Event(), list[int]()
    down.set()

    def moody(batch: int, changes: pd.DataFrame) -> None:
        if down.is_set() and batch == 2:
            raise OSError("out for lunch")
        taken.append(batch)

    sinks.add("moody", "q", moody)
    sinks.add("files", "q", str(tmp_path / "out"))
    run(sinks, query, 4)
    caught_up(sinks, query, "files")
    until = time.monotonic() + 120
    while not sinks.statuses["moody"].problem and time.monotonic() < until:
        time.sleep(0.01)
    status = sinks.statuses["moody"]
    assert (status.batch, status.behind, status.problem) == (1, 3, "OSError: out for lunch")
    down.clear()
    caught_up(sinks, query, "moody")
    assert taken == [0, 1, 2, 4] and sinks.statuses["moody"].problem == ""


def test_a_sink_goes_on_at_its_place(query: Query, tmp_path: Path) -> None:
    first = Sinks(tmp_path / "sinks", query.source, lambda: query.latest)
    taken: list[int] = []
    first.add("calls", "q", lambda batch, changes: taken.append(batch))
    first.add("files", "q", str(tmp_path / "out"))
    run(first, query, 2)
    first.close()
    assert taken == [0, 1, 2]
    query.latest += 2
    again = Sinks(tmp_path / "sinks", query.source, lambda: query.latest)
    again.go_on()
    caught_up(again, query, "files")
    assert again.statuses["calls"].problem.startswith("what it called was in a notebook or program")
    assert again.statuses["calls"].problem.endswith("add_sink('q', …, name='calls') gives it again")
    again.add("calls", "q", lambda batch, changes: taken.append(batch))
    caught_up(again, query, "calls")
    assert taken == [0, 1, 2, 4]
    assert len(list((tmp_path / "out").iterdir())) == 4
    again.close()
    # Another query of that name has other changes: the old place says nothing of them.
    query.registration = "second"
    third = Sinks(tmp_path / "sinks", query.source, lambda: query.latest)
    third.go_on()
    assert "registered before" in third.statuses["files"].problem
    with pytest.raises(SessionError, match="registered before"):
        third.add("files", "q", str(tmp_path / "out"))
    third.drop("files")
    assert "files" not in third.statuses
    third.close()


def test_a_webhook(sinks: Sinks, query: Query) -> None:
    posted: list[dict[str, object]] = []

    class Hook(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            posted.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *args: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Hook)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        sinks.add("hook", "q", f"http://127.0.0.1:{server.server_port}/changes")
        run(sinks, query, 1)
        caught_up(sinks, query, "hook")
    finally:
        server.shutdown()
        server.server_close()
    assert posted == [{"query": "q", "batch": b, "changes": [{"weight": 1, "id": b}]} for b in (0, 1)]


@pytest.mark.parametrize(
    ("name", "query_name", "target", "message"),
    [
        ("s", "q", 7, "an int is no sink"),
        ("s", "q", "mqtt://host/topic", "no sink of the kind mqtt:"),
        ("../s", "q", "out", "is no name of a sink"),
        ("s", "r", "out", "there is no query r"),
    ],
)
def test_what_is_no_sink_is_refused(sinks: Sinks, name: str, query_name: str, target: object, message: str) -> None:
    with pytest.raises((SessionError, QueryError), match=message):
        sinks.add(name, query_name, target)
    with pytest.raises(QueryError, match="there is no sink"):
        sinks.drop(name)
