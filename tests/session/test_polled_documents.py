"""A document at a URL that is polled: each row once, whatever the server does between two polls."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import product
from pathlib import Path
from random import Random

import pytest
from long import some

from workbench import Session
from workbench.engine.spark.in_process import InProcess
from workbench.errors import StreamError


class Server:
    """Gives a document; ``versions`` says how it tells whether that is another one."""

    def __init__(self, versions: str) -> None:
        self.versions, self.status, self.gives, self.unchanged = versions, 200, 0, 0
        self.asked = list[str]()
        self.show([])

    def show(self, rows: object, media: str = "application/json") -> None:
        self.media = media
        self.content = rows.encode() if isinstance(rows, str) else json.dumps(rows).encode()
        self.number = getattr(self, "number", 0) + 1

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        known = {"etag": ("If-None-Match", "ETag"), "modified": ("If-Modified-Since", "Last-Modified")}
        asked, told = known.get(self.versions, ("", ""))
        version = f'"{self.number}"' if asked == "If-None-Match" else f"Fri, 27 Nov 2026 10:00:{self.number:02} GMT"
        self.asked.append(request.path)
        if asked and request.headers.get(asked) == version:
            self.unchanged += 1
            request.send_response(304)
            request.end_headers()
            return
        self.gives += 1
        request.send_response(self.status)
        request.send_header("Content-Type", self.media)
        if told:
            request.send_header(told, version)
        if self.status == 302:
            request.send_header("Location", "http://127.0.0.1:1/")
        request.send_header("Content-Length", str(len(self.content)))
        request.end_headers()
        request.wfile.write(self.content)


@contextmanager
def serving(versions: str = "etag") -> Iterator[tuple[Server, str]]:
    server = Server(versions)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            server.answer(self)

        def log_message(self, *about: object) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=http.serve_forever, daemon=True)
    thread.start()
    try:
        yield server, f"poll+http://127.0.0.1:{http.server_port}/rows?every=1ms"
    finally:
        http.shutdown()
        http.server_close()
        thread.join()


def answer(session: Session) -> list[tuple[object, ...]]:
    while session.run(5):
        pass
    rows = session.register("SELECT id, v FROM t", name="rows").result()
    return sorted((int(id_), str(v)) for id_, v in rows.to_numpy().tolist())


def shown(rows: list[tuple[int, str]], form: str) -> tuple[str, str]:
    if form == "csv":
        return "".join(f"{one}\n" for one in ["id,v", *(f"{id_},{v}" for id_, v in rows)]), "text/csv"
    records = [{"id": id_, "v": v} for id_, v in rows]
    if form == "lines":
        return "".join(f"{json.dumps(one)}\n" for one in records), "application/x-ndjson"
    return json.dumps({"data": {"items": records}} if form == "within" else records), "application/json"


ALIKE = [
    *(("etag", "json", "key"), ("modified", "csv", "grows"), ("", "within", "latest")),
    *product(("etag", "modified", ""), ("json", "lines", "csv", "within"), ("grows", "latest", "key")),
]


@pytest.mark.parametrize(("versions", "form", "kept"), some(ALIKE, 3))
def test_each_row_comes_once(versions: str, form: str, kept: str, tmp_path: Path) -> None:
    """A file that grows, a list of the latest rows, and all rows that there are, beside a list in Python."""
    rng = Random(f"{versions} {form} {kept}")
    with serving(versions) as (server, url):
        url += "&rows=data.items" if form == "within" else ""
        rows = [(n, rng.choice("ab")) for n in range(5)]
        server.show(*shown(rows, form))
        every = list(rows)
        session = Session(InProcess(), tmp_path / "s")
        session.add_stream("t", url, key=["id"] if kept == "key" else None)
        assert answer(session) == sorted(every)
        for step in range(4):
            new = [(10 * step + n + 5, rng.choice("ab")) for n in range(rng.randrange(3))]
            if kept == "key":
                rows = [(id_, rng.choice("ab")) for id_, _ in rows if rng.random() < 0.7] + new
                every = rows if rows else every
            else:
                rows = [*rows, *new] if kept == "grows" else [*rows, *new][-6:]
                if rng.random() < 0.3:
                    new = [*new, rows[-1]]  # one more, equal to another
                    rows = [*rows, rows[-1]]
                every = [*every, *new]
            if step == 2:  # in another process
                session.close()
                session = Session.open(tmp_path / "s", InProcess())
            if rows:
                server.show(*shown(rows, form))
            assert answer(session) == sorted(every), step
        assert not versions or server.unchanged
        assert not any("every" in path or "rows=" in path for path in server.asked)  # these are none of the server's
        session.close()


def test_what_cannot_be_read_is_said_and_loses_nothing() -> None:
    with serving() as (server, url), Session(InProcess()) as session:
        with pytest.raises(StreamError, match="has no row yet"):
            session.add_stream("t", url)
        server.show(*shown([(1, "a")], "json"))
        session.add_stream("t", url)
        assert answer(session) == [(1, "a")]
        for status, document, media, said in (
            (500, "", "text/plain", "500"),
            (302, "", "text/plain", "redirect"),
            (200, "<html>", "text/html", "text/html"),
            (200, "{", "application/json", "no JSON"),
        ):
            server.status = status
            server.show(document, media)
            assert answer(session) == [(1, "a")]
            assert said in session.sources["t"].problem
        server.status = 200
        server.show([{"id": "x", "v": "a"}, {"id": 1, "v": "a"}, {"id": 2, "v": "b"}])
        assert answer(session) == [(1, "a"), (2, "b")]
        assert not session.sources["t"].problem
        server.show([{"id": "x", "v": "a"}, {"id": 3, "v": "b"}])
        assert answer(session) == [(1, "a"), (2, "b"), (3, "b")]
        assert session.streams["t"].quarantined_rows == 1


def test_secrets_are_variables_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("API_KEY", "s3cret&more")
    with serving() as (server, url), Session(InProcess()) as session:
        server.show(*shown([(1, "a")], "json"))
        with pytest.raises(StreamError, match="apikey would be kept"):
            session.add_stream("t", f"{url}&apikey=abc")
        session.add_stream("t", f"{url}&apikey=$API_KEY&limit=5")
        assert server.asked[-1] == "/rows?apikey=s3cret%26more&limit=5"
        assert "s3cret" not in repr(session.sources)
        for wrong in ("every=0s", "every=soon"):
            with pytest.raises(StreamError, match="no length of time"):
                session.add_stream("u", url.replace("every=1ms", wrong))


def test_dates_are_read_as_people_write_them(tmp_path: Path) -> None:
    with serving() as (server, url), Session(InProcess(), tmp_path / "s") as session:
        server.show([{"id": 1, "day": "31.12.2025", "within": {"at": "1.1.2026 9:05"}}])
        session.add_stream("t", url)
        session.run(1)
        answer = session.register("SELECT id, DATE_ADD(day, 1) AS next, within.at FROM t", name="q").result()
    assert [*map(str, answer.iloc[0])] == ["1", "2026-01-01", "2026-01-01 09:05:00"]
