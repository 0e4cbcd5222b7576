"""A process that goes on with a session for a team: it answers followers, ends cleanly, and is started again."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.request import urlopen

import pytest
from oracle.random_streams import stream

from workbench import Session
from workbench.__main__ import main
from workbench.engine.reports import BatchReport
from workbench.engine.spark.in_process import InProcess
from workbench.errors import EngineError, QueryError, WorkbenchError
from workbench.files.commits import JournalCommit
from workbench.files.journal import Journal
from workbench.files.store import store_at
from workbench.session.failures.batches import Compute
from workbench.session.live.going_on import keep_going

GROUPS = "SELECT g, COUNT(*) AS n FROM t GROUP BY g"


@pytest.fixture
def address(tmp_path: Path) -> str:
    place = f"file://{tmp_path}/store"
    with Session(InProcess(), place) as session:
        session.add_stream("t", stream(90, seed=7), history=30, batch=10)
    return place


@dataclass
class Served:
    """A process that goes on with a session."""

    process: subprocess.Popen[str]

    def line(self, pattern: str) -> str:
        """The next line that it prints which has a pattern."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if re.search(pattern, line):
                return line
        raise AssertionError(f"nothing like {pattern} was printed; status {self.process.wait()}")

    def ended(self) -> int:
        return self.process.wait(60)


@contextmanager
def served(address: str, *more: str) -> Iterator[Served]:
    asked = [sys.executable, "-m", "workbench", "serve", address, "--live", "--latency", "100ms", *more]
    process = subprocess.Popen(asked, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        yield Served(process)
    finally:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


def test_it_answers_followers_and_ends_with_its_batch(address: str) -> None:
    with served(address) as first:
        page = first.line(" at http").split(" at ")[1].strip()
        assert b"<html" in urlopen(page).read()
        with Session.open(address, InProcess(), reading=True) as follower:
            counts = follower.request(GROUPS, "counts")
            first.line("^batch 1: 60 rows")
            assert follower.query("counts").result()["n"].sum() == 90 and counts.name == "counts"
        first.process.send_signal(signal.SIGTERM)
        assert "stopped after batch" in first.line("stopped") and first.ended() == 0
    # It has given the session back.
    with Session.open(address, InProcess()) as session:
        assert session.read_only is None and "counts" in session.queries


def test_it_is_started_again_where_it_was_killed_and_ends_where_another_takes_over(
    address: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with served(address) as first:
        first.line("^batch 1")
        first.process.kill()
        first.ended()
    with served(address) as second:
        second.line(" at http")
        with handlers_kept():
            assert main(["serve", address, "--live"]) == 1
        assert "is read-only: it is open elsewhere" in capsys.readouterr().err
        second.process.send_signal(signal.SIGSTOP)  # as long as another needs to take over, and to go on
        with Session.open(address, InProcess(), take_over=True) as taker:
            with Session.open(address, InProcess(), reading=True) as follower:
                assert follower.request(GROUPS, "asked").name == "asked"
            commits = {each.name for each in store_at(address).names("commits")}
            second.process.send_signal(signal.SIGCONT)
            assert "it is open elsewhere" in second.line("read-only") and second.ended() == 1
            assert commits == {each.name for each in store_at(address).names("commits")} and taker.read_only is None


@contextmanager
def handlers_kept() -> Iterator[None]:
    """The handlers of signals are afterwards what they were."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def test_what_fails_is_tried_again(address: str) -> None:
    ends, failures, reports = threading.Event(), list[WorkbenchError](), list[int]()
    with Session.open(address, InProcess()) as session:
        commit, times = session.parts.batches.commit, iter(range(100))

        def failing(compute: Compute) -> BatchReport:
            if next(times) < 2:
                raise EngineError("no route to the store")
            return commit(compute)

        session.parts.batches.commit = failing  # type: ignore[method-assign]
        timer = threading.Timer(30, ends.set)

        def told(report: BatchReport) -> None:
            reports.append(report.batch)
            ends.set()

        timer.start()
        assert keep_going(session, ends, "1s", told, failures.append) == ""
        timer.cancel()
        assert reports == [1] and len(failures) == 2
        session.parts.directory.refuse_changes("its store did not say")
        with pytest.raises(WorkbenchError, match="read-only"):
            keep_going(session, threading.Event(), "1s", told, failures.append)
        with pytest.raises(QueryError):
            keep_going(session, ends, "soon", told, failures.append)


def test_a_container_that_is_started_again_has_the_name_of_the_one_before(address: str, tmp_path: Path) -> None:
    store, here = store_at(address), Journal(store_at(address), tmp_path / "here")
    other = Journal(store, tmp_path / "other")
    for each in (here, other):
        each.folder.mkdir()
        each.restore()
    here.take_over(anyway=True)
    assert other.take_over() == here.by
    # A process of another container may have the number of this one.
    last = JournalCommit.decoded(store.get(f"commits/{here.number:010d}"))
    store.put(f"commits/{here.number + 1:010d}", JournalCommit("another", here.by, last.snapshot).encoded())
    assert other.take_over() == ""
