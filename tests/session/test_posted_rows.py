"""Rows that programs send by HTTP: acknowledged when they are logged, whatever is sent, and never logged twice."""

from __future__ import annotations

import json
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from workbench import Session
from workbench.engine.spark.in_process import InProcess
from workbench.errors import SessionError, StreamError

COLUMNS = {"id": "integer", "amount": "decimal(10,2)", "note": "string"}
JSON, LINES, CSV = "application/json", "application/x-ndjson", "text/csv; charset=utf-8"


@pytest.fixture
def session() -> Iterator[Session]:
    with Session(InProcess()) as session:
        yield session


def url_of(session: Session, stream: str = "t") -> str:
    return session.sources[stream].source.rpartition(" ")[2]


def post(url: str, body: object, kind: str = JSON, **headers: str) -> tuple[int, dict[str, object]]:
    content = body if isinstance(body, bytes) else body.encode() if isinstance(body, str) else json.dumps(body).encode()
    named = {"Content-Type": kind, **{name.replace("_", "-"): value for name, value in headers.items()}}
    try:
        with urllib.request.urlopen(urllib.request.Request(url, content, named, method="POST"), timeout=60) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as error:
        with error:
            text = error.read()
            return error.code, json.loads(text) if text.startswith(b"{") else {}


def rows_of(session: Session, stream: str = "t") -> list[tuple[object, ...]]:
    session.run(100)
    query = session.register(f"SELECT * FROM {stream}", name="all_rows")
    return sorted((tuple(row) for row in query.result().astype(object).itertuples(index=False)), key=str)


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        (JSON, '[{"id": 1, "amount": 2.50, "note": "a"}, {"id": 2, "amount": 3, "note": null}]'),
        (LINES, '{"id": 1, "amount": 2.50, "note": "a"}\n{"id": 2, "amount": 3}\n'),
        (CSV, "id,amount,note\n1,2.50,a\n2,3,\n"),
        (CSV, '"note","id","amount"\r\n"a",1,2.50\r\n"",2,3\r\n'),
    ],
)
@pytest.mark.parametrize("columns", [COLUMNS, None])
def test_every_form_gives_the_same_rows(session: Session, kind: str, body: str, columns: dict[str, str] | None) -> None:
    answers = list[tuple[int, dict[str, object]]]()
    if columns is None:  # the first request says what columns there are
        port = _free_port()
        address = f"listen://127.0.0.1:{port}/t"

        sender = threading.Thread(target=_post_when_heard, args=(port, body, kind, answers))
        sender.start()
        session.add_stream("t", address)
        sender.join()
    else:
        session.add_stream("t", "listen://127.0.0.1:0/t", columns=columns)
        answers.append(post(url_of(session), body, kind))
    assert answers == [(200, {"records": 2, "known": False})]
    assert session.streams["t"].waiting == 2  # acknowledged: it is in the log
    rows = [(str(id_), float(str(amount)), note or None) for id_, amount, note in _by_name(session)]
    assert rows == [("1", 2.5, "a"), ("2", 3.0, None)]
    # CSV and JSON come to the same columns afterwards, too.
    assert post(url_of(session), '{"id": 3, "amount": 4.25, "note": "c"}')[0] == 200
    assert post(url_of(session), "id,amount,note\n4,4.50,d\n", CSV)[0] == 200
    assert session.streams["t"].quarantined_rows == 0
    assert [row[0] for row in _by_name(session)] == [1, 2, 3, 4]


def test_texts_of_a_first_request_that_are_dates_are_read_as_such_and_said(session: Session) -> None:
    def days(text: str) -> list[dict[str, object]]:
        return [{"day": text, "to": {"days": [text]}}]

    port = _free_port()
    sender = threading.Thread(target=_post_when_heard, args=(port, days("31.12.2025"), JSON, []))
    sender.start()
    session.add_stream("t", f"listen://127.0.0.1:{port}/t")
    sender.join()
    post(url_of(session), days("02.01.2026"))
    post(url_of(session), days("bald"))
    assert [note.partition(";")[0] for note in session.streams["t"].notes] == [
        "day: texts, read as dates as d.M.yyyy",
        "to.days: texts, read as dates as d.M.yyyy",
    ]
    session.run(100)
    found = session.register("SELECT day, to.days[0] AS first FROM t", name="days").result()
    assert sorted(map(tuple, found.astype(str).values.tolist())) == [("2025-12-31",) * 2, ("2026-01-02",) * 2]
    assert session.streams["t"].quarantined_rows == 1


def _by_name(session: Session) -> list[tuple[object, ...]]:
    session.run(100)
    query = session.register("SELECT id, amount, note FROM t", name="named")
    rows = query.result().astype(object)
    return sorted(tuple(None if value != value else value for value in row) for row in rows.itertuples(index=False))


def _post_when_heard(port: int, body: object, kind: str, answers: list[tuple[int, dict[str, object]]]) -> None:
    while not answers:
        try:
            answers.append(post(f"http://127.0.0.1:{port}/t", body, kind))
        except OSError:
            time.sleep(0.02)


def _free_port() -> int:
    import socket

    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        (JSON, [{"id": 1, "amount": 1}, {"id": "x", "amount": 1}, 5, {"id": 2, "amount": "1.234"}]),
        (LINES, '{"id": 1, "amount": 1}\n{"id": "x", "amount": 1}\n{"id": \nnull\n{"id": 2, "amount": "y"}\n'),
        (CSV, "id,amount\n1,1\nx,1\n7,8,9\n2,1.234\n"),
    ],
)
def test_a_bad_row_is_quarantined_and_stops_no_other(session: Session, kind: str, body: object) -> None:
    session.add_stream("t", "listen://127.0.0.1:0/t", columns=COLUMNS)
    status, told = post(url_of(session), body, kind)
    assert (status, told["known"]) == (200, False)
    assert [row[0] for row in rows_of(session)] == [1]
    assert session.streams["t"].quarantined_rows == told["records"] - 1  # type: ignore[operator]


@pytest.mark.parametrize(
    ("status", "body", "headers"),
    [
        (400, "{", {}),
        (400, '{"a": 1, "a": 2}', {}),
        (400, "", {"kind": CSV}),
        (400, b"\xff\xfe", {}),
        (415, "id=1", {"kind": "application/x-www-form-urlencoded"}),
        (415, "[]", {"kind": "text/plain"}),
        (413, "[" + " " * 3_000 + "]", {}),
        (400, "[]", {"Argus_Producer": "a"}),
        (400, "[]", {"Argus_Producer": "/a", "Argus_Number": "1"}),
        (400, "[]", {"Argus_Producer": "a", "Argus_Number": "-1"}),
        (403, "[]", {"Host": "evil.example.org"}),
        (403, "[]", {"Origin": "https://evil.example.org"}),
    ],
)
def test_what_is_no_request_for_rows_logs_nothing(
    session: Session, status: int, body: str | bytes, headers: dict[str, str]
) -> None:
    session.add_stream("t", "listen://127.0.0.1:0/t?largest=2000", columns=COLUMNS)
    assert post(url_of(session), body, **headers)[0] == status
    assert session.streams["t"].rows == 0


def test_a_request_that_is_sent_again_is_not_logged_twice(tmp_path: Path) -> None:
    """A producer numbers its requests; also after the session was closed, and where it kept no answer."""
    port = _free_port()
    named = {"Argus_Producer": "till-7"}
    with Session(InProcess(), tmp_path / "s") as session:
        session.add_stream("t", f"listen://127.0.0.1:{port}/t", columns=COLUMNS)
        url = url_of(session)
        assert post(url, [{"id": 1}], **named, Argus_Number="1") == (200, {"records": 1, "known": False})
        assert post(url, [{"id": 1}], **named, Argus_Number="1") == (200, {"records": 0, "known": True})
        assert post(url, [{"id": 2}], Argus_Producer="other", Argus_Number="1")[1]["known"] is False
        assert post(url, [], **named, Argus_Number="2") == (200, {"records": 0, "known": False})
    with pytest.raises(OSError):
        post(url, [{"id": 9}])
    with Session.open(tmp_path / "s", InProcess()) as session:  # it listens again by itself
        assert post(url, [{"id": 1}], **named, Argus_Number="1") == (200, {"records": 0, "known": True})
        assert post(url, [{"id": 3}], **named, Argus_Number="5")[1] == {"records": 1, "known": False}
        assert [row[0] for row in rows_of(session)] == [1, 2, 3]


def test_many_programs_send_while_batches_run(session: Session) -> None:
    session.add_stream("t", "listen://127.0.0.1:0/t", columns=COLUMNS, batch=50)
    total = session.register("SELECT COUNT(*) AS n, SUM(id) AS s FROM t", name="total")
    url, told = url_of(session), list[int]()

    def send(first: int) -> None:
        for number in range(first, first + 100, 10):
            told.append(post(url, [{"id": n} for n in range(number, number + 10)])[0])

    senders = [threading.Thread(target=send, args=(first,)) for first in range(0, 600, 100)]
    for sender in senders:
        sender.start()
    while any(sender.is_alive() for sender in senders):
        session.run(1)
    session.run(100)
    assert {*told} == {200}
    assert total.result().to_numpy().tolist() == [[600, sum(range(600))]]


def test_limits_are_said_and_nothing_is_lost(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr("workbench.streams.live.posted_rows.time", SimpleNamespace(monotonic=lambda: now[0]))
    session.add_stream("t", "listen://127.0.0.1:0/t?rate=20&waiting=25", columns=COLUMNS)
    url = url_of(session)
    assert post(url, [{"id": n} for n in range(25)])[0] == 200
    assert post(url, [{"id": 99}])[0] == 429  # 25 rows in this second
    now[0] += 0.4
    status, told = post(url, [{"id": 99}])
    assert (status, told["problem"]) == (503, "25 rows wait for a batch")
    session.run(1)
    assert post(url, [{"id": 30}])[0] == 200
    assert len(rows_of(session)) == 26


def test_a_token_is_needed_beyond_this_machine(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROWS_TOKEN", "0123456789abcdef")
    with pytest.raises(SessionError, match="it needs a token there"):
        session.add_stream("t", "listen://0.0.0.0:0/t", columns=COLUMNS)
    with pytest.raises(StreamError, match="would be kept"):
        session.add_stream("t", "listen://127.0.0.1:0/t?token=0123456789abcdef", columns=COLUMNS)
    session.add_stream("t", "listen://127.0.0.1:0/t?token=$ROWS_TOKEN", columns=COLUMNS)
    assert post(url_of(session), [{"id": 1}])[0] == 403
    assert post(url_of(session), [{"id": 1}], Authorization="Bearer 0123456789abcdef")[0] == 200


def test_a_port_is_let_go_when_the_stream_is_dropped_or_was_not_added(session: Session) -> None:
    port = _free_port()
    address = f"listen://127.0.0.1:{port}"
    with pytest.raises(StreamError):
        session.add_stream("t", f"{address}/t", columns=COLUMNS, time="nothing")
    session.add_stream("t", f"{address}/t", columns=COLUMNS)
    session.add_stream("u", f"{address}/u", columns=COLUMNS)  # one port has many streams
    assert post(f"http://127.0.0.1:{port}/u", [{"id": 1}])[0] == 200
    session.drop_stream("t")
    assert post(f"http://127.0.0.1:{port}/t", [{"id": 1}])[0] == 404
    session.drop_stream("u")
    with pytest.raises(OSError):
        post(f"http://127.0.0.1:{port}/u", [])
    for wrong in ("listen://127.0.0.1:1", "listen://127.0.0.1/t", "listen://127.0.0.1:1/t?rate=0"):
        with pytest.raises(StreamError):
            session.add_stream("w", wrong, columns=COLUMNS)
