"""The player: orders return at once, the work is done in a thread, and a cell can work meanwhile."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import MappingProxyType

import pandas as pd
import pytest

from workbench.engine.schedule import Progress
from workbench.errors import EngineError, QueryError
from workbench.session.player import Player, PlayerState, Position
from workbench.streams.ingest import ingest
from workbench.streams.stream import Stream, replayed

DAYS = pd.date_range("2002-11-20", periods=100)


@dataclass
class Recorded:
    """A session of one stream, a row a day, whose batches do nothing but wait for leave."""

    stream: Stream
    batch: int = 0
    leave: threading.Event = field(default_factory=threading.Event)
    fails_at: int | None = None
    progress: Progress | None = None

    @property
    def streams(self) -> MappingProxyType[str, Stream]:
        return MappingProxyType({"s": self.stream})

    @property
    def now(self) -> pd.Timestamp:
        return DAYS[self.stream.position - 1]

    def run(self, batches: int = 1) -> list[int]:
        assert self.leave.wait(120)
        if not self.stream.waiting:
            return []
        if self.batch + 1 == self.fails_at:
            raise EngineError("Spark could not")
        self.stream = self.stream.next()[0]
        self.batch += 1
        return [self.batch]

    def seek(self, batch: int, progress: Callable[[int], None]) -> None:
        self.stream, self.batch = self.stream.rewound(), 0
        for _ in range(batch):
            progress(self.run()[0])

    def interrupt(self) -> None:
        self.fails_at = self.batch + 1
        self.leave.set()


class Coming:
    """Batches of rows that have come; a session gets one for each time that rows are said to be there."""

    def __init__(self, session: Recorded) -> None:
        self.session, self.pause, self.ended = session, 0.01, False
        self.came = threading.Semaphore(0)
        self.looks = threading.Semaphore(0)

    def ready(self) -> bool:
        self.looks.release()
        self.ended = not self.session.stream.waiting
        return not self.ended and self.came.acquire(blocking=False)

    def step(self) -> int:
        return self.session.run()[0]


@pytest.fixture
def session(tmp_path) -> Recorded:
    log = ingest("s", pd.DataFrame({"day": DAYS, "n": range(100)}), tmp_path / "s", time="day")
    made = Recorded(replayed(log, history=10, batch=10, time="day"))
    made.leave.set()
    return made


@pytest.fixture
def player(session: Recorded) -> Iterator[Player]:
    made = Player(session)
    yield made
    session.leave.set()
    made.close()
    assert not any(thread.name == "argus-player" for thread in threading.enumerate())


def heard(player: Player) -> list[Position]:
    positions: list[Position] = []
    player.subscribe(positions.append)
    return positions


def test_it_plays_as_many_batches_as_asked_and_tells_of_each(player, session):
    positions = heard(player)
    player.play(3)
    assert player.wait(120)
    assert (session.batch, player.position.state) == (3, PlayerState.PAUSED)
    assert {p.batch for p in positions} == {0, 1, 2, 3}
    assert player.position.clock == DAYS[39]


def test_it_stands_where_the_session_stands_whoever_ran_its_batches(player, session):
    session.run()
    assert (player.position.batch, player.position.clock) == (1, DAYS[19])


def test_it_plays_to_the_end_and_says_so(player, session):
    player.play()
    assert player.wait(120)
    assert (session.batch, player.position.state, session.stream.position) == (9, PlayerState.ENDED, 100)
    player.play(1)
    assert player.wait(120)
    assert player.position.state is PlayerState.ENDED


def test_orders_return_while_a_batch_runs_and_pause_waits_for_its_end(player, session):
    session.leave.clear()
    player.play()
    while player.position.since is None:
        time.sleep(0.005)
    player.pause()
    assert player.position.state is PlayerState.PAUSED
    assert not player.wait(0.05)
    session.leave.set()
    assert player.wait(120)
    assert session.batch == 1


def test_live_it_waits_for_rows_and_ends_with_them(player, session):
    coming = Coming(session)
    session.live = lambda latency: coming
    player.play(latency=2.0)
    for _ in range(3):
        assert coming.looks.acquire(timeout=120)
    assert (session.batch, player.position.state, player.position.since) == (0, PlayerState.PLAYING, None)
    assert player.position.latency == 2.0
    coming.came.release(2)
    while session.batch < 2:
        time.sleep(0.005)
    player.pause()
    assert player.wait(120)
    coming.came.release(20)
    assert (session.batch, player.position.state) == (2, PlayerState.PAUSED)
    player.play(3, latency=2.0)
    assert player.wait(120)
    assert session.batch == 5
    player.play(latency=2.0)
    assert player.wait(120)
    assert (session.batch, player.position.state) == (9, PlayerState.ENDED)
    player.go_back(0)
    player.play(1)  # as ever, in batches of its own size
    assert player.wait(120)
    assert (session.batch, player.position.latency) == (1, None)


def test_a_batch_that_takes_long_is_told_of_while_it_runs(player, session, monkeypatch):
    monkeypatch.setattr("workbench.session.player.TICK", 0.01)
    session.leave.clear()
    positions = heard(player)
    player.play(1)
    for done in range(3):
        session.progress = Progress(1, done, 3)
        while not any(p.progress == session.progress for p in positions):
            time.sleep(0.005)
    session.progress = None
    session.leave.set()
    assert player.wait(120)
    while positions[-1] != player.position:
        time.sleep(0.005)
    assert positions[-1].since is None
    told = len(positions)
    time.sleep(0.05)
    assert len(positions) == told, "nothing runs, and something is told"


def test_a_batch_that_fails_stops_it_and_it_can_be_played_again(player, session):
    session.fails_at = 2
    player.play()
    assert player.wait(120)
    assert (player.position.state, str(player.position.problem)) == (PlayerState.STOPPED, "Spark could not")
    assert session.batch == 1
    session.fails_at = None
    player.play(1)
    assert player.wait(120)
    assert (player.position.state, player.position.problem, session.batch) == (PlayerState.PAUSED, None, 2)


def test_going_back_is_done_in_the_thread_and_nothing_is_played_after_it(player, session):
    player.play(5)
    assert player.wait(120)
    session.leave.clear()
    player.go_back(2)
    assert player.position.state is PlayerState.GOING_BACK
    session.leave.set()
    assert player.wait(120)
    assert (session.batch, player.position.clock) == (2, DAYS[29])
    with pytest.raises(QueryError, match="the last batch that was run is 2"):
        player.go_back(3)


def test_speed_keeps_the_streams_time(player, session):
    player.speed = 10 * 86_400 / 0.3  # the ten days of a batch in 0.3 seconds
    begun = time.monotonic()
    player.play(3)
    assert player.wait(120)
    assert time.monotonic() - begun > 0.5
    assert session.batch == 3


def test_a_pause_or_another_speed_does_not_wait_until_the_next_batch_is_due(player):
    player.speed = 1
    player.play()
    while player.position.due is None:
        time.sleep(0.005)
    player.pause()
    assert player.wait(120)
    player.play()
    player.speed = None
    assert player.wait(120)
    assert player.position.state is PlayerState.ENDED


def test_until_the_next_batch_is_due_it_is_told_when(player, monkeypatch):
    """Who shows positions leaves out some that come close together; the last of them must not be lost."""
    monkeypatch.setattr("workbench.session.player.TICK", 0.01)
    positions = heard(player)
    player.speed = 1
    player.play()
    while player.position.due is None:
        time.sleep(0.005)
    positions.clear()
    while len(positions) < 3:
        time.sleep(0.005)
    assert all(p.due is not None and p.since is None for p in positions)
    player.pause()
    assert player.wait(120)


@pytest.mark.parametrize("order", [lambda p: p.play(0), lambda p: setattr(p, "speed", 0.0)])
def test_orders_that_make_no_sense_change_nothing(player, order):
    with pytest.raises(QueryError):
        order(player)
    assert player.position == Player(player._session).position


def test_a_listener_that_left_hears_nothing(player):
    positions: list[Position] = []
    player.subscribe(positions.append)()
    player.play(1)
    assert player.wait(120)
    assert not positions


def test_an_interrupt_stops_the_batch_that_is_running(session, player) -> None:
    session.leave.clear()
    begun = threading.Event()
    player.subscribe(lambda position: begun.set() if position.since is not None else None)
    player.play()
    assert begun.wait(120)
    player.interrupt()
    assert player.position.state is PlayerState.STOPPED and session.batch == 0
