"""Subscribers have the answer after every batch, by whatever way they read it, and whenever they come again."""

from __future__ import annotations

import json
import threading
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.flight as flight
import pytest

from workbench import Session
from workbench.engine.spark.in_process import InProcess
from workbench.errors import EngineError, QueryError, SessionError

TOKEN = "0123456789abcdefg"
Rows = Counter[tuple[object, ...]]
Events = Iterator[tuple[int, str, bool, Rows]]
"""The batch, the place, whether it is the whole answer, and the rows of each event."""


def table(rows: int = 40) -> pa.Table:
    rng = Random(5)
    return pa.table({"g": [rng.choice("abc") for _ in range(rows)], "v": [rng.randrange(4) for _ in range(rows)]})


@contextmanager
def session_of(path: Path | None = None) -> Iterator[Session]:
    with Session(InProcess(), path) as session:
        session.add_stream("t", table(), history=4, batch=3)
        session.register("SELECT g, COUNT(*) AS n, SUM(v) AS s FROM t GROUP BY g", name="sums")
        session.register("SELECT g, v FROM t WHERE v > 1", name="some rows")
        yield session


def bag(rows: pa.Table) -> Rows:
    counted: Rows = Counter()
    for row in rows.to_pylist():
        weight = row.pop("weight", 1)
        counted[tuple(row.values())] += weight
    return counted


def sse(url: str, name: str, since: str | None, last: str | None = None) -> Events:
    """Events over HTTP, as a browser reads them."""
    quoted = name.replace(" ", "%20")
    asked = urllib.request.Request(f"{url}/{quoted}/changes" + (f"?since={since}" if since is not None else ""))
    if last is not None:
        asked.add_header("Last-Event-ID", last)
    with urllib.request.urlopen(asked, timeout=60) as answer:
        assert answer.headers["Content-Type"] == "text/event-stream"
        fields, parts = dict[str, str](), Counter[tuple[object, ...]]()
        for line in answer:
            text = line.decode().rstrip("\n")
            if text and not text.startswith(":"):
                field, _, value = text.partition(": ")
                fields[field] = value
            elif fields and not text:
                data = json.loads(fields["data"])
                if fields["event"] == "ended":
                    return
                for row in data.get("rows", data.get("changes")):
                    weight = row.pop("weight", 1)
                    parts[tuple(row.values())] += weight
                if not data["more"]:
                    yield data["batch"], fields["id"], fields["event"] == "answer", parts
                    parts = Counter()
                fields = {}


def flown(url: str, name: str, since: str | None, last: str | None = None) -> Events:
    """Record batches over Arrow Flight."""
    place = last if last is not None else since
    ticket = {"query": name, "follow": True} | ({} if place is None else {"since": place})
    with flight.connect(url) as client:
        reader = client.do_get(flight.Ticket(json.dumps(ticket).encode()))
        with suppress(StopIteration):
            while True:
                chunk = reader.read_chunk()
                told = json.loads(chunk.app_metadata.to_pybytes())
                yield told["batch"], told["place"], told["whole"], bag(pa.Table.from_batches([chunk.data]))


def followed(session: Session, name: str, since: str | None, last: str | None = None) -> Events:
    """Events in the process."""
    for event in session.subscribe(name, None if since is None else int(since)):
        yield event.batch, event.place.text, event.whole, bag(event.rows)


Reader = Callable[..., Events]


@pytest.fixture
def readers() -> Iterator[tuple[Session, dict[str, Reader]]]:
    with session_of() as session:
        served = session.serve(flight=0)
        assert served.flight_url is not None
        url, flight_url = served.url, served.flight_url
        yield (
            session,
            {
                "sse": lambda *asked: sse(url, *asked),
                "flight": lambda *asked: flown(flight_url, *asked),
                "process": lambda *asked: followed(session, *asked),
            },
        )
        served.close()


def apply(state: Rows, event: tuple[int, str, bool, Rows]) -> Rows:
    _, _, whole, rows = event
    changed = Counter() if whole else Counter(state)
    for row, weight in rows.items():
        changed[row] += weight
    return Counter({row: weight for row, weight in changed.items() if weight})


def up_to(events: Events, state: Rows, batch: int) -> tuple[Rows, str]:
    """The state after a batch, and the place there."""
    for event in events:
        state, place = apply(state, event), event[1]
        if event[0] >= batch:
            return state, place
    raise AssertionError("the events have ended")


def truth(session: Session, name: str, batch: int) -> Rows:
    return bag(session.query(name).arrow_result(batch=batch))


@pytest.mark.parametrize("way", ["sse", "flight", "process"])
@pytest.mark.parametrize("name", ["sums", "some rows"])
@pytest.mark.parametrize("since", [None, "-1", "2"])
def test_a_subscriber_has_the_answer_after_every_batch(
    readers: tuple[Session, dict[str, Reader]], way: str, name: str, since: str | None
) -> None:
    session, ways = readers
    session.run(3)
    state = Counter() if since in (None, "-1") else truth(session, name, 2)
    with closing(ways[way](name, since)) as events:
        state, place = up_to(events, state, 3)
        assert state == truth(session, name, 3)
        for batch in (4, 5):
            session.run(1)
            state, place = up_to(events, state, batch)
            assert state == truth(session, name, batch)
    session.run(2)
    if way != "process":  # it comes again with the place of the last event
        with closing(ways[way](name, None, place)) as events:
            first = next(events)
            assert not first[2]  # only what it lacks
            state = apply(state, first)
            state = state if first[0] == 7 else up_to(events, state, 7)[0]
            assert state == truth(session, name, 7)
        session.seek(2)
        with closing(ways[way](name, None, place)) as events:  # what it has is of another history
            batch, _, whole, rows = next(events)
            assert (batch, whole, rows) == (2, True, truth(session, name, 2))


@pytest.mark.parametrize("way", ["sse", "flight", "process"])
def test_going_back_sends_the_answer_again(readers: tuple[Session, dict[str, Reader]], way: str) -> None:
    session, ways = readers
    session.run(4)
    with closing(ways[way]("sums", None)) as events:
        up_to(events, Counter(), 4)
        session.seek(1)
        event = next(events)
        assert (event[0], event[2], event[3]) == (1, True, truth(session, "sums", 1))
        session.run(1)
        assert up_to(events, event[3], 2)[0] == truth(session, "sums", 2)


@pytest.mark.parametrize("way", ["sse", "flight", "process"])
def test_a_dropped_query_ends_its_events(readers: tuple[Session, dict[str, Reader]], way: str) -> None:
    session, ways = readers
    with closing(ways[way]("sums", None)) as events:
        next(events)
        session.drop("sums")
        with suppress(QueryError, flight.FlightError, pa.ArrowException):
            assert next(events, None) is None


def test_answers_and_queries_are_read(readers: tuple[Session, dict[str, Reader]]) -> None:
    session, _ = readers
    session.run(2)
    served = session.serve(flight=0)
    with urllib.request.urlopen(served.url) as answer:
        listed = json.loads(answer.read())
    assert [query["query"] for query in listed] == ["sums", "some rows"]
    assert listed[0]["columns"][1] == {"name": "n", "type": "integer"}
    with urllib.request.urlopen(f"{served.url}/sums") as answer:
        told = json.loads(answer.read())
    assert told["batch"] == 2
    assert Counter(tuple(row.values()) for row in told["rows"]) == truth(session, "sums", 2)
    assert served.flight_url is not None
    with flight.connect(served.flight_url) as client:
        assert [info.descriptor.path for info in client.list_flights()] == [[b"sums"], [b"some rows"]]
        info = client.get_flight_info(flight.FlightDescriptor.for_path("sums"))
        rows = client.do_get(info.endpoints[0].ticket).read_all()
        assert (bag(rows), rows.schema) == (truth(session, "sums", 2), info.schema)
        changes = client.do_get(flight.Ticket(b'{"query": "sums", "since": 1}')).read_all()
        assert bag(changes) == bag(session.query("sums").arrow_changes(1).drop_columns(["batch"]))
        for wrong in (
            b"sums",
            b'{"query": "nothing"}',
            b'{"query": "sums", "since": "x"}',
            b'{"query": "sums", "at": 1}',
        ):
            with pytest.raises(flight.FlightServerError):
                client.do_get(flight.Ticket(wrong)).read_all()
        with pytest.raises(pa.ArrowNotImplementedError):
            client.do_put(flight.FlightDescriptor.for_path("sums"), rows.schema)[0].close()
    served.close()


@pytest.mark.parametrize(
    ("path", "status"), [("/nothing", 404), ("/nothing/changes", 404), ("/sums/changes?since=x", 404), ("s", 404)]
)
def test_what_is_not_there_is_refused(readers: tuple[Session, dict[str, Reader]], path: str, status: int) -> None:
    session, _ = readers
    served = session.serve()
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(served.url + path)
    with refused.value as answer:
        assert answer.code == status
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(urllib.request.Request(f"{served.url}/sums", b"{}", method="POST"))
    with refused.value as answer:
        assert answer.code == 405
    served.close()


def test_a_token_is_needed_beyond_this_machine() -> None:
    with session_of() as session:
        for flight_port in (None, 0):
            with pytest.raises(SessionError, match="it needs a token there"):
                session.serve(host="0.0.0.0", flight=flight_port)
        served = session.serve(token=TOKEN, flight=0)
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(served.url)
        refused.value.close()
        assert refused.value.code == 403
        with urllib.request.urlopen(f"{served.url}?token={TOKEN}") as answer:
            assert len(json.loads(answer.read())) == 2
        assert served.flight_url is not None
        with flight.connect(served.flight_url) as client:
            with pytest.raises(flight.FlightUnauthenticatedError):
                client.do_get(flight.Ticket(b'{"query": "sums"}')).read_all()
            with_token = flight.FlightCallOptions(headers=[(b"authorization", f"Bearer {TOKEN}".encode())])
            assert client.do_get(flight.Ticket(b'{"query": "sums"}'), with_token).read_all().num_rows == 2
        served.close()


def test_what_keeps_no_changes_is_refused_and_its_answer_is_read() -> None:
    with session_of() as session:
        session.register("SELECT COUNT(*) AS n FROM t", name="asked", results="off")
        with pytest.raises(QueryError, match="not kept"):
            next(session.subscribe("asked"))
        served = session.serve()
        with urllib.request.urlopen(f"{served.url}/asked") as answer:
            assert json.loads(answer.read())["rows"] == [{"n": 4}]
        served.close()


def test_a_reader_of_another_process_s_session_follows_it(tmp_path: Path) -> None:
    with session_of(tmp_path / "s") as session, Session.open(tmp_path / "s", InProcess()) as reader:
        assert reader.read_only
        events = reader.subscribe("sums")
        assert next(events).batch == 0
        session.run(1)
        event = next(events)
        assert (event.batch, event.whole) == (1, False)


def test_a_closed_session_ends_its_subscribers() -> None:
    with session_of() as session:
        events, ended = session.subscribe("sums"), threading.Event()
        next(events)

        def wait() -> None:
            with suppress(SessionError, QueryError, EngineError):
                for _ in events:
                    pass
            ended.set()

        thread: Any = threading.Thread(target=wait, daemon=True)
        thread.start()
    assert ended.wait(120)
