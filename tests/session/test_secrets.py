"""Secrets of every kind of source and sink, in every place of an address: in no file, error, status, log or drawing."""

from __future__ import annotations

import base64
import json
import logging
import traceback
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import ClassVar
from urllib.parse import quote

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from servers import Broker

from workbench import Session
from workbench.engine.spark.doctor import report
from workbench.errors import SessionError, UnexpectedError, WorkbenchError
from workbench.monitoring.batch_log import log_to
from workbench.monitoring.metrics import metrics_text
from workbench.notebook.display import sinks_table
from workbench.session.live.sources import SIGNATURE, SOURCE, LiveSources
from workbench.session.sinks.sinks import Sinks
from workbench.session.sinks.target import AnswerSource
from workbench.sql.algebra.types import INTEGER, DataType
from workbench.streams.addresses.kinds import HTTP, KAFKA, KINDS, POSTGRES
from workbench.streams.ingest import ingest
from workbench.streams.live.polled_query import PolledQuery
from workbench.streams.live.sources import open_live
from workbench.streams.stream import replayed

SECRET = "s3cr3t/Pa+ss"
ROWS = pa.table({"batch": [0], "weight": [1], "id": [1]})


def types() -> tuple[DataType, ...]:
    return (INTEGER,)


SPELLINGS = (SECRET, quote(SECRET, safe=""), quote(SECRET), base64.b64encode(f"me:{SECRET}".encode()).decode())


def places(scheme: str, rest: str, options: Iterator[str] | list[str]) -> list[str]:
    """Addresses with the secret in each place that an address has."""
    written = quote(SECRET, safe="")
    users = [f"{scheme}://me:{written}@{rest}", f"{scheme}://me:{SECRET}@{rest}", f"{scheme}://{written}@{rest}"]
    named = [f"{scheme}://{rest}{'&' if '?' in rest else '?'}{name}={written}" for name in options]
    return [
        *users,
        *named,
        f"{scheme}://{rest}#{written}",
        f"{scheme}://{rest}?{written}",
        f"{scheme}://{rest}?a=1&a={written}",
    ]


UNKNOWN = ["token", "sig", "x", "api_key", "X-Amz-Signature", "the+password", "PASSWORD", "sasl.pass.word"]
SINKS = [
    *places("http", "127.0.0.1:9/x", UNKNOWN),
    *places("https", "127.0.0.1:9/x", UNKNOWN),
    *places("kafka", "127.0.0.1:9/t", [*UNKNOWN, *sorted(KAFKA.secret)]),
    *places("postgresql", "127.0.0.1:9/db", [*UNKNOWN, *sorted(POSTGRES.secret)])[:2],
    *places("postgres", "127.0.0.1:9/db", [*UNKNOWN, *sorted(POSTGRES.secret)])[3:],
    f"host=127.0.0.1 user=me password={SECRET}",
    f"jdbc:postgresql://127.0.0.1:9/db?user=me&password={SECRET}",
    f"s3://me:{SECRET}@bucket/x",
    f"delta:s3://me:{SECRET}@bucket/x",
    f"s3://bucket/x?secret={SECRET}",
    f"gs:/me:{SECRET}@bucket/x",
]
SOURCES = [
    *places("kafka", "127.0.0.1:9/t", [*UNKNOWN, *sorted(KAFKA.secret)]),
    *places("socket", "127.0.0.1:9", UNKNOWN),
    f"s3://me:{SECRET}@bucket/x.parquet",
    *places("https", "127.0.0.1:9/x.csv", UNKNOWN),
    *places("nosuch", "127.0.0.1:9/x.csv", UNKNOWN),
    f"jdbc:postgresql://127.0.0.1:9/db?user=me&password={SECRET}",
    f"host=127.0.0.1 user=me password={SECRET}",
]


def has_secret(text: str) -> bool:
    return any(spelling in text for spelling in SPELLINGS) or "s3cr3t" in text


def files_with_secrets(folder: Path) -> list[str]:
    raw = [spelling.encode() for spelling in (*SPELLINGS, "s3cr3t")]
    found = [path for path in folder.rglob("*") if path.is_file() and any(s in path.read_bytes() for s in raw)]
    return [*map(str, found), *(str(path) for path in folder.rglob("*") if "s3cr3t" in path.name)]


def told(problem: BaseException) -> str:
    """All that is shown of an error: its text, and with a traceback those of its causes."""
    lines = traceback.format_exception(problem)
    texts, inner = [str(problem), repr(problem)], problem.__cause__
    while inner is not None:
        texts.append(str(inner))
        inner = inner.__cause__
    return "\n".join([*texts, *(line for line in lines if not line.lstrip().startswith("File "))])


@pytest.fixture
def sinks(tmp_path: Path) -> Iterator[Sinks]:
    made = Sinks(
        tmp_path / "sinks",
        lambda name: AnswerSource("first", lambda: (INTEGER,), lambda since: ROWS, lambda: 0),
        lambda: 0,
    )
    yield made
    made.close()


@pytest.mark.parametrize("address", SINKS)
def test_a_sink_with_a_secret_is_refused_without_a_word_of_it(sinks: Sinks, address: str, tmp_path: Path) -> None:
    with pytest.raises(SessionError) as refused:
        sinks.add("x", "q", address)
    assert not has_secret(told(refused.value)), told(refused.value)
    assert not sinks.statuses and not files_with_secrets(tmp_path)


@pytest.mark.parametrize("address", SOURCES)
def test_a_source_with_a_secret_says_nothing_of_it(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(WorkbenchError) as refused:
        assert open_live(address) is None
        ingest("s", address, tmp_path / "s")
    assert not has_secret(told(refused.value)), told(refused.value)
    assert not files_with_secrets(tmp_path)


@pytest.mark.parametrize(
    "raised",
    [
        lambda: OSError(f"could not connect to postgresql://me:{SECRET}@host/db"),
        lambda: ValueError(f"invalid dsn: host=x password='{SECRET}' user=me"),
        lambda: RuntimeError(f"401 for https://host/x?access_token={SECRET}&page=2"),
    ],
)
def test_what_a_driver_says_is_shown_without_secrets(raised: Callable[[], Exception], tmp_path: Path) -> None:
    def connect() -> None:
        raise raised()

    with pytest.raises(WorkbenchError) as refused:
        open_live(PolledQuery(connect, f"SELECT * FROM remote('password={SECRET}')", by="id"))
    assert "***" in str(refused.value) and not has_secret(told(refused.value))
    assert not has_secret(str(UnexpectedError.of(raised())))


class Hook(BaseHTTPRequestHandler):
    """Takes what has the secret in three places, and refuses it the first time."""

    taken: ClassVar[list[tuple[str, str | None]]] = []

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.taken.append((self.path, self.headers["Authorization"]))
        self.send_response(500 if len(self.taken) == 1 else 200, SECRET)
        self.end_headers()

    def log_message(self, *args: object) -> None:
        pass


def test_a_secret_of_the_environment_is_sent_and_nowhere_else(
    sinks: Sinks, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Hook.taken.clear()
    monkeypatch.setenv("ARGUS_SECRET", SECRET)
    handler, written = log_to(tmp_path / "log.jsonl"), quote(SECRET, safe="")
    server = HTTPServer(("127.0.0.1", 0), Hook)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        status = sinks.add(
            "x", "q", f"http://me:$ARGUS_SECRET@127.0.0.1:{server.server_port}/a/$ARGUS_SECRET/?t=$ARGUS_SECRET"
        )
        shown = [repr(status)]
        while sinks.statuses["x"].behind:
            shown.append(repr(sinks.statuses["x"]))
    finally:
        server.shutdown()
        server.server_close()
        handler.close()
    basic = "Basic " + base64.b64encode(f"me:{SECRET}".encode()).decode()
    assert Hook.taken[-1] == (f"/a/{written}/?t={quote(SECRET)}", basic)
    assert any("***" in text for text in shown), "the server says the secret, and it was not shown"
    assert not any(map(has_secret, shown)) and not files_with_secrets(tmp_path)
    assert "$ARGUS_SECRET" in (tmp_path / "sinks" / "x.json").read_text()


def test_secrets_that_an_older_version_kept_are_taken_out(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    (tmp_path / "sinks").mkdir()
    stored = [
        f"http://me:{SECRET}@127.0.0.1:9/",
        f"http://127.0.0.1:9/?token={SECRET}",
        f"kafka://h:1/t?sasl.x={SECRET}",
    ]
    for number, target in enumerate(stored):
        place = {"query": "q", "registration": "first", "target": target, "batch": 3, "id": "a"}
        (tmp_path / "sinks" / f"{number}.json").write_text(json.dumps(place))
    again = Sinks(
        tmp_path / "sinks",
        lambda name: AnswerSource("first", lambda: (INTEGER,), lambda since: ROWS, lambda: 9),
        lambda: 9,
    )
    for _ in range(2):  # also when it is opened once more
        again.go_on()
        assert len(again.statuses) == 3 and not files_with_secrets(tmp_path)
        assert all("add_sink('q', …" in status.problem for status in again.statuses.values())
        assert not has_secret(repr(again.statuses))
    assert "taken out" not in repr(again.statuses)
    assert again.statuses["0"].batch == 3
    log = ingest("s", pa.table({"id": [1]}), tmp_path / "log").growing(True)
    assert log.tail is not None
    with log.tail.transaction():
        offsets = {SOURCE: f"kafka://127.0.0.1:9/t?sasl.x={SECRET}", SIGNATURE: ""}
        log.tail.append(log.schema.empty_table(), offsets=offsets)
    streams, live = {"s": replayed(log, None, 5, None, None)}, LiveSources()
    assert not has_secret(repr(live.status(streams)))
    live.adopt(streams)
    assert not files_with_secrets(tmp_path)
    live.take_in(streams)
    assert "attach('s', …) gives it again" in live.status(streams)["s"].problem
    log.tail.close()
    assert not has_secret(caplog.text)


def test_every_kind_has_its_lists_apart() -> None:
    for kind in KINDS.values():
        assert not (kind.harmless & kind.local or kind.harmless & kind.secret or kind.local & kind.secret)
        words = ("password", "secret", "pem", "passphrase", "token", "config", "extensions")
        suspicious = {name for name in kind.harmless if name.endswith(words)}
        assert not suspicious
        assert not {n for n in kind.harmless if n.endswith((".location", ".file", ".cmd", ".paths", ".template"))}
    assert HTTP.free and not KAFKA.free and not POSTGRES.free


def test_a_kafka_setting_that_loads_or_runs_is_refused_everywhere(sinks: Sinks) -> None:
    loads = ["plugin.library.paths", "ssl.engine.location", "ssl.engine.id", "ssl.providers", "sasl.kerberos.kinit.cmd"]
    for name in (*loads, "sasl.kerberos.principal"):
        for value in ("/tmp/x.so;touch /tmp/x", "$HOME;x"):
            address = f"kafka://127.0.0.1:9/t?{name}={quote(value, safe='')}"
            with pytest.raises(SessionError):
                sinks.add("x", "q", address)
            with pytest.raises(WorkbenchError):
                open_live(address)


def test_a_session_shows_no_secret_whatever_is_asked_of_it(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It runs, fails, is saved, drawn, measured, logged, examined and opened again."""
    monkeypatch.setenv("ARGUS_SECRET", SECRET)
    Hook.taken.clear()
    server, broker, handler = HTTPServer(("127.0.0.1", 0), Hook), Broker(), log_to(tmp_path / "log.jsonl")
    Thread(target=server.serve_forever, daemon=True).start()
    broker.put("t", {"id": 1})
    hook = f"http://me:$ARGUS_SECRET@127.0.0.1:{server.server_port}/$ARGUS_SECRET?t=$ARGUS_SECRET"
    outputs: list[object] = []
    try:
        for opened in (False, True):
            with Session.open(tmp_path / "s", spark) if opened else Session(spark, tmp_path / "s") as session:
                if not opened:
                    session.add_stream("t", broker.url("t", "client.id=a&sasl.password=$ARGUS_SECRET"))
                    session.register("SELECT id FROM t", name="q")
                    outputs.append(session.add_sink("q", hook, name="hook"))
                    outputs.append(session.add_sink("q", "postgresql://me:$ARGUS_SECRET@127.0.0.1:9/db", name="none"))
                session.run(1)
                outputs += [session.sources, session.sinks, metrics_text(session), session.network.to_dot(), report()]
                outputs += [session.query("q").explain(), sinks_table(session.sinks)]
                session.save(tmp_path / f"copy {opened}")
                outputs += [repr(session), session.check(), session.last_error]
    finally:
        server.shutdown()
        server.server_close()
        handler.close()
    assert Hook.taken and not any(has_secret(f"{output} {output!r}") for output in outputs)
    assert not files_with_secrets(tmp_path)
