"""Followers ask the writer for queries, which it registers between batches; and whoever goes on answers them."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from oracle.random_streams import stream

from workbench import Session
from workbench.engine.spark.in_process import InProcess
from workbench.errors import QueryError, SessionError, SqlError, WorkbenchError
from workbench.files import store as stores
from workbench.files.journal import request_name
from workbench.files.store import FolderStore, store_at
from workbench.limits import LIMITS
from workbench.session.requests import QueryRequest

AT_ONCE = replace(LIMITS, milliseconds_between_requests=10, pairs_compared_per_registration=500)
GROUPS = "SELECT g, COUNT(*) AS n, SUM(amount) AS s FROM t GROUP BY g"


@pytest.fixture
def address(tmp_path: Path) -> str:
    return f"file://{tmp_path}/store"


@pytest.fixture
def writer(address: str) -> Iterator[Session]:
    with Session(InProcess(), address, limits=AT_ONCE) as session:
        session.add_stream("t", stream(400, seed=61), history=30, batch=10)
        yield session


def follower(address: str, reading: bool = True) -> Session:
    return Session.open(address, InProcess(), reading=reading)


def answer(session: Session, name: str) -> pd.DataFrame:
    rows = session.query(name).result()
    return rows.sort_values(list(rows)).reset_index(drop=True)


def until_taken_up(session: Session, number: int) -> None:
    """Wait until a request was answered: a follower asks as this one did, and gets the answer to its own."""
    with follower(session.place) as other:
        other.request(f"SELECT k FROM t WHERE k > {number}", f"after_{number}")


def test_an_idle_writer_registers_what_a_follower_asks_for(writer: Session, address: str) -> None:
    with follower(address) as first, follower(address, reading=False) as second:
        asked = first.request(GROUPS, "groups")
        assert asked.name == "groups" and writer.query("groups").sql == GROUPS
        assert first.request("SELECT k FROM t WHERE amount > 5").name == "q1" == [*writer.queries][-1]
        writer.run(2)
        writer.register(GROUPS, "own")
        for session in (first, second, writer):
            pd.testing.assert_frame_equal(answer(session, "groups"), answer(writer, "own"))
        # Who asks again, and who asks for the same, gets the same query.
        assert second.request(GROUPS, "groups").name == "groups" and len(writer.queries) == 3
        assert writer.request("SELECT k FROM t", "at_once").name == "at_once"


@pytest.mark.slow
def test_a_writer_that_runs_takes_requests_up_between_two_batches(writer: Session, address: str) -> None:
    stops, batches = threading.Event(), list[int]()

    def run() -> None:
        while not stops.is_set() and writer.batch < 37:
            batches.append(writer.run(1)[0].batch)

    runs = threading.Thread(target=run)
    with follower(address) as other:
        runs.start()
        asked = [other.request(f"SELECT g, COUNT(*) AS n FROM t WHERE k > {k} GROUP BY g", f"q{k}") for k in range(4)]
        stops.set()
        runs.join()
        assert batches == [*range(1, writer.batch + 1)]
        for query in asked:
            writer.register(query.sql, "own")
            pd.testing.assert_frame_equal(answer(other, query.name), answer(writer, "own"))


@pytest.mark.slow
def test_many_who_ask_at_a_time_have_each_an_answer(writer: Session, address: str) -> None:
    def ask(at: int) -> tuple[int, int]:
        with follower(address) as other:
            return at, len(other.request(f"SELECT k FROM t WHERE k > {at}", f"q{at}").result())

    with ThreadPoolExecutor(6) as pool:
        for at, rows in pool.map(ask, range(12)):
            assert rows == len(writer.ask(f"SELECT k FROM t WHERE k > {at}"))
    assert sorted(writer.queries) == sorted(f"q{at}" for at in range(12))


@pytest.mark.parametrize(
    ("sql", "name", "kind", "message"),
    [
        ("SELECT kk FROM t", "x", SqlError, "kk"),
        ("SELECT k FROM t", "t", QueryError, "t is a stream"),
        ("SELECT k FROM t", "GROUPS", QueryError, "already a query or view called groups"),
        ("CREATE VIEW small AS SELECT k FROM t; SELECT * FROM small", "x", QueryError, "view called small"),
        ("SELECT a.k FROM t a JOIN t b ON a.k <> b.k + 0", "x", QueryError, "pairs of rows"),
    ],
)
def test_what_is_refused_is_the_error_of_who_asks(
    writer: Session, address: str, sql: str, name: str, kind: type[WorkbenchError], message: str
) -> None:
    writer.register("CREATE VIEW small AS SELECT k, amount FROM t WHERE k < 5", "small")
    writer.register(GROUPS, "groups")
    with follower(address) as other:
        with pytest.raises(kind, match=message):
            other.request(sql, name)
        assert {*other.queries} == {"small", "groups"} and other.request("SELECT k FROM t", "good").name == "good"


def test_an_error_of_the_writer_shows_the_place_in_the_text(writer: Session, address: str) -> None:
    sql = "SELECT kk FROM t"
    store_at(address).put(request_name(1), QueryRequest(sql, "x", "spark").encoded())
    until_taken_up(writer, 1)
    with follower(address) as other:
        problem = other.parts.requests.answer_of(1)
    assert problem is not None and problem["kind"] == "SqlError" and sql[problem["position"] :].startswith("kk")


def test_what_is_no_request_stops_no_other(writer: Session, address: str) -> None:
    store, number = store_at(address), random.randrange(3)
    bad = [
        b"\xff",
        b'{"sql": 3, "name": null, "dialect": "spark"}',
        b'{"sql": "SELECT k FROM t", "name": "a/b\\u0000"}',
    ]
    store.put(request_name(1), bad[number])
    until_taken_up(writer, 1)
    assert [*writer.queries] == ["after_1"]


def test_a_request_waits_for_who_goes_on(writer: Session, address: str) -> None:
    place = writer.place
    writer.close()
    with follower(address) as other, pytest.raises(SessionError, match="no process writes to the session"):
        other.request(GROUPS, "groups", within=0.05)
    with Session.open(place, InProcess(), limits=AT_ONCE) as again, follower(address) as other:
        assert other.request(GROUPS, "groups").name == "groups"
        until_taken_up(again, 2)
        assert "groups" in again.queries
        pd.testing.assert_frame_equal(answer(other, "groups"), answer(again, "groups"))
        # What was taken up is collected, and the next number is still the next.
        taken = {each.name for each in store_at(address).names("requests")}
    with Session.open(place, InProcess(), limits=replace(AT_ONCE, milliseconds_until_collected=0)) as last:
        assert len(taken) == 3 and not {each.name for each in store_at(address).names("requests")}
        until_taken_up(last, 9)
        assert "after_9" in last.queries


def test_a_query_that_ends_the_writer_is_not_computed_again(
    writer: Session, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Died(BaseException):
        """The process is gone."""

    requests = writer.parts.requests
    requests.close()

    def die(number: int, request: QueryRequest) -> None:
        raise Died

    monkeypatch.setattr(requests, "_register", die)
    store_at(address).put(request_name(1), QueryRequest(GROUPS, "groups", "spark").encoded())
    requests.find(0)
    with pytest.raises(Died):
        writer.run(1)
    writer.close()
    with Session.open(address, InProcess(), limits=AT_ONCE) as again, follower(address) as other:
        until_taken_up(again, 2)
        told = other.parts.requests.answer_of(1)
        assert told is not None and "ended while it registered this query" in told["message"]
        assert "groups" not in again.queries


def test_a_store_that_fails_loses_no_request(writer: Session, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fails: Callable[[str], bool] = lambda name: name.startswith("commits/")  # noqa: E731
    failing = threading.Event()

    class Failing(FolderStore):
        """Takes no commit for a while."""

        def put_first(self, name: str, data: object) -> bool:
            if failing.is_set() and fails(name):
                raise OSError("no route to the store")
            return super().put_first(name, data)  # type: ignore[arg-type]

    # The store of a writer is known from before; in another environment a session that is opened now has the other.
    writer.close()
    monkeypatch.setenv("AWS_REGION", "elsewhere")
    monkeypatch.setattr(stores, "FolderStore", Failing)
    with Session.open(address, InProcess(), limits=AT_ONCE) as again, follower(address) as other:
        again.parts.requests.close()
        other.parts.requests.put(QueryRequest(GROUPS, "groups", "spark"))
        again.parts.requests.find(0)
        failing.set()
        with pytest.raises(WorkbenchError):
            again.run(1)
        failing.clear()
        assert "groups" not in again.queries


def test_a_folder_takes_no_requests(tmp_path: Path) -> None:
    with Session(InProcess(), tmp_path / "folder") as session:
        session.add_stream("t", stream(40, seed=3), history=30)
        with follower(str(tmp_path / "folder")) as other, pytest.raises(SessionError, match="takes no requests"):
            other.request("SELECT k FROM t", "few")
