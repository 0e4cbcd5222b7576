"""A remote table that is asked by key: each key once, and again when its answer is too old."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pandas as pd
import pytest

from workbench import Session
from workbench.engine.spark.in_process import InProcess
from workbench.errors import StreamError
from workbench.streams.live import lookup
from workbench.streams.live.lookup import RemoteLookup

COLUMNS = {"currency": "string", "rate": "decimal(10, 4)", "asked_at": "timestamp"}
QUERY = "SELECT t.id, t.currency, r.rate FROM trades t JOIN rates r ON t.currency = r.currency"


class Rates:
    """A server of rates by currency."""

    def __init__(self) -> None:
        self.rates: dict[str, str] = {"EUR": "1.08", "JPY": "0.0065", "a/b ü": "7"}
        self.asked = Counter[str]()
        self.failing = set[str]()

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        key = unquote(request.path.removeprefix("/rates/"))
        self.asked[key] += 1
        status = 500 if key in self.failing else 200 if key in self.rates else 404
        content = f'{{"rate": {self.rates.get(key)}, "source": "test"}}'.encode() if status == 200 else b"{}"
        request.send_response(status)
        request.send_header("Content-Length", str(len(content)))
        request.end_headers()
        request.wfile.write(content)


@contextmanager
def serving() -> Iterator[tuple[Rates, str]]:
    rates = Rates()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            rates.answer(self)

        def log_message(self, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield rates, f"lookup+http://127.0.0.1:{server.server_port}/rates/{{currency}}?of=trades.currency"
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What could not be asked is asked again in the next batch."""
    monkeypatch.setattr(lookup, "_AGAIN", 0.0)


def trades(*currencies: str | None) -> pd.DataFrame:
    return pd.DataFrame({"id": range(len(currencies)), "currency": currencies})


def answer(session: Session) -> list[tuple[Any, ...]]:
    rows = session.query("priced").result()
    return sorted((int(i), c, float(r)) for i, c, r in rows.itertuples(index=False))


def test_each_key_is_asked_once_and_a_replay_asks_nothing(tmp_path: Path) -> None:
    rows = trades("EUR", "EUR", "JPY", None, "XXX", "EUR", "a/b ü", "XXX")
    with serving() as (server, url):
        with Session(InProcess(), path=tmp_path / "s") as session:
            session.add_stream("trades", rows, history=2, batch=2)
            session.add_stream("rates", url, columns=COLUMNS)
            session.register(QUERY, name="priced")
            session.run(1)
            assert answer(session) == [(0, "EUR", 1.08), (1, "EUR", 1.08), (2, "JPY", 0.0065)]
            assert server.asked == {"EUR": 1, "JPY": 1}
            session.run(2)
            right = [(0, "EUR", 1.08), (1, "EUR", 1.08), (2, "JPY", 0.0065), (5, "EUR", 1.08), (6, "a/b ü", 7.0)]
            assert answer(session) == right
            assert server.asked == {"EUR": 1, "JPY": 1, "XXX": 1, "a/b ü": 1}
            asked = session.ask("SELECT currency, asked_at FROM rates")
            assert len(asked) == 3 and asked["asked_at"].notna().all()
            server.rates["EUR"] = "9"
            before = [session.query("priced").result(batch=k).sort_values("id") for k in range(4)]
            session.seek(1)
            assert len(answer(session)) == 3
            session.run(2)
            for k in range(4):
                again = session.query("priced").result(batch=k).sort_values("id")
                pd.testing.assert_frame_equal(again.reset_index(drop=True), before[k].reset_index(drop=True))
            session.save(tmp_path / "copy")
        with Session.open(tmp_path / "s", spark=InProcess()) as session:
            session.run(2)
            assert answer(session) == right
        assert server.asked == {"EUR": 1, "JPY": 1, "XXX": 1, "a/b ü": 1}


def test_errors_are_said_and_asked_again() -> None:
    with serving() as (server, url), Session(InProcess()) as session:
        session.add_stream("trades", trades("EUR", "JPY"), history=1, batch=1)
        session.add_stream("rates", url, columns=COLUMNS)
        session.register(QUERY, name="priced")
        server.failing = {"EUR"}
        session.run(1)
        assert answer(session) == [(1, "JPY", 0.0065)]
        assert "currency EUR cannot be asked" in session.sources["rates"].problem
        server.failing = set()
        session.run(1)
        assert answer(session) == [(0, "EUR", 1.08), (1, "JPY", 0.0065)]
        assert session.sources["rates"].problem == "" and server.asked == {"EUR": 2, "JPY": 1}


def test_an_answer_that_is_too_old_is_asked_again_and_takes_the_earlier_back() -> None:
    with serving() as (server, url), Session(InProcess()) as session:
        session.add_stream("trades", trades("EUR", "JPY", "EUR", "EUR"), history=2, batch=1)
        session.add_stream("rates", f"{url}&ttl=1ms", columns=COLUMNS)
        session.register(QUERY, name="priced")
        session.run(1)
        assert len(answer(session)) == 3
        server.rates["EUR"] = "2"
        del server.rates["JPY"]
        session.run(1)
        assert answer(session) == [(0, "EUR", 2.0), (2, "EUR", 2.0), (3, "EUR", 2.0)]
        assert session.query("priced").result(batch=1)["rate"].astype(str).tolist().count("1.0800") == 2


def test_a_table_of_a_database_is_asked(tmp_path: Path) -> None:
    path, asked = tmp_path / "rates.db", list[str]()
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE TABLE rates (currency TEXT PRIMARY KEY, rate TEXT)")
        database.executemany("INSERT INTO rates VALUES (?, ?)", [("EUR", "1.08"), ("JPY", "0.0065")])

    def ask(currency: str) -> dict[str, Any] | None:
        asked.append(currency)
        with closing(sqlite3.connect(path)) as connection:
            found = connection.execute("SELECT rate FROM rates WHERE currency = ?", [currency]).fetchone()
        return None if found is None else {"rate": found[0]}

    with Session(InProcess()) as session:
        session.add_stream("trades", trades("EUR", "JPY", "EUR", "XXX"), history=1, batch=3)
        session.add_stream("rates", RemoteLookup(ask, of="trades.currency"), columns=COLUMNS)
        session.register(QUERY, name="priced")
        session.run(1)
        assert answer(session) == [(0, "EUR", 1.08), (1, "JPY", 0.0065), (2, "EUR", 1.08)]
        session.run(1)
        assert sorted(asked) == ["EUR", "JPY", "XXX"]


def test_a_key_that_one_answer_cannot_be_read_of_stops_no_other() -> None:
    with serving() as (server, url), Session(InProcess()) as session:
        server.rates["EUR"] = json.dumps("no number")
        session.add_stream("trades", trades("EUR", "JPY"), history=1, batch=1)
        session.add_stream("rates", url, columns=COLUMNS)
        session.register(QUERY, name="priced")
        session.run(1)
        assert answer(session) == [(1, "JPY", 0.0065)]
        assert session.streams["rates"].quarantined_rows == 1


@pytest.mark.parametrize(
    ("url", "columns", "said"),
    [
        ("lookup+http://127.0.0.1:1/rates?of=trades.currency", COLUMNS, "has no key in its path"),
        ("lookup+http://127.0.0.1:1/rates/{currency}", COLUMNS, "of= is missing"),
        ("lookup+http://127.0.0.1:1/rates/{currency}?of=trades.currency&ttl=x", COLUMNS, "ttl=x is no length of time"),
        ("lookup+http://127.0.0.1:1/rates/{currency}?of=trades.currency", None, "is asked when trades has rows"),
        ("lookup+http://127.0.0.1:1/rates/{curency}?of=trades.currency", COLUMNS, "has no column curency"),
    ],
)
def test_mistakes_are_said_when_it_is_added(url: str, columns: dict[str, str] | None, said: str) -> None:
    with Session(InProcess()) as session, pytest.raises(StreamError, match=said):
        session.add_stream("rates", url, columns=columns)


def test_a_function_is_attached_again(tmp_path: Path) -> None:
    known, asked = {"EUR": {"rate": "1.08"}, "JPY": {"rate": "0.0065"}}, list[str]()

    def ask(currency: str) -> dict[str, str] | None:
        asked.append(currency)
        return known.get(currency)

    def table() -> RemoteLookup:
        return RemoteLookup(ask, of="trades.currency")

    with Session(InProcess(), path=tmp_path / "s") as session:
        session.add_stream("trades", trades("EUR", "JPY", "EUR"), history=1, batch=1)
        session.add_stream("rates", table(), columns=COLUMNS)
        session.register(QUERY, name="priced")
        session.run(1)
    with Session.open(tmp_path / "s", spark=InProcess()) as session:
        session.attach("rates", table())
        session.run(1)
        assert answer(session) == [(0, "EUR", 1.08), (1, "JPY", 0.0065), (2, "EUR", 1.08)]
    assert sorted(asked) == ["EUR", "JPY"]


def test_keys_of_a_live_stream_are_asked_as_they_come() -> None:
    with serving() as (server, url), Session(InProcess()) as session:
        rows = iter([{"id": n, "currency": currency} for n, currency in enumerate(["EUR", "JPY", "EUR", "JPY"])])
        session.add_stream("rates", url, columns=COLUMNS)  # before the stream whose keys it asks for
        session.add_stream("trades", rows, history=1, batch=2)
        session.register(QUERY, name="priced")
        session.run(2)
        assert [row[0] for row in answer(session)] == [0, 1, 2, 3] and server.asked == {"EUR": 1, "JPY": 1}
