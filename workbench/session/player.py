"""Plays a session's batches in a background thread: play, pause, step, run to the end, go back.

Nothing here knows of Spark or of a notebook. A cell that registers a query or reads an answer runs while a session
plays: what changes something waits for the end of the batch, what reads does not (``Session``).
"""

from __future__ import annotations

import datetime as dt
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol

from workbench.errors import QueryError
from workbench.errors.public_api import public_api
from workbench.errors.unknown_attributes import TellsNames
from workbench.streams.stream import Stream

if TYPE_CHECKING:
    from workbench.engine.schedule import Progress
    from workbench.session.live.live_run import LiveRun

BREATH = 0.01
"""Seconds between two batches at full speed. Locks are not fair: a cell that waits for one gets it now."""

TICK = 0.5
"""Seconds between two looks at what is played."""

STOPPING = 0.1
"""Seconds until what was not yet begun is interrupted again."""

CLOSING = 30.0
"""Seconds that ``close`` waits for the batch that is running."""


class Playable(Protocol):
    """The methods of a session that a player calls."""

    @property
    def batch(self) -> int:
        """The last batch that was run."""

    @property
    def streams(self) -> Mapping[str, Stream]:
        """Streams and tables by name."""

    @property
    def now(self) -> dt.datetime | None:
        """The latest event time that any stream has brought."""

    @property
    def progress(self) -> Progress | None:
        """The progress of the running batch; ``None`` when no batch runs."""

    def run(self, batches: int = 1) -> Sequence[Any]:
        """Run batches; nothing comes back at the streams' end."""

    def seek(self, batch: int, progress: Callable[[Any], None] | None = None) -> None:
        """Go back to the state after a batch."""

    def interrupt(self) -> None:
        """Stop what another thread is computing; it is undone."""

    def live(self, latency: float) -> LiveRun:
        """Batches as rows come, one at a time."""


class PlayerState(StrEnum):
    """The state of a player."""

    PAUSED = "paused"
    PLAYING = "playing"
    GOING_BACK = "going back"
    ENDED = "at the end"
    STOPPED = "stopped"


@dataclass(frozen=True)
class Position:
    """The position of a player.

    Attributes:
        state: what it is doing.
        batch: the last batch that was run.
        clock: event time it has come to; ``None`` when the streams have no time.
        left: batches still to be played; ``None`` while it plays to the end.
        since: when what runs now was begun, ``None`` when nothing runs; as ``time.monotonic`` gives it.
        due: when the next batch is due, ``None`` when it is not waiting for one.
        problem: what stopped it.
        progress: how far the batch is that runs, ``None`` when there is none.
        latency: seconds that a batch may take while it plays rows as they come; ``None`` when it plays batches.
    """

    state: PlayerState
    batch: int
    clock: dt.datetime | None = None
    left: int | None = 0
    since: float | None = None
    due: float | None = None
    problem: BaseException | None = None
    progress: Progress | None = None
    latency: float | None = None


@public_api
class Player(TellsNames):
    """Plays one session. Orders return at once; the thread that does the work is made with the first.

    Args:
        session: whose batches it runs.

    Example:
        >>> player = Player(session)  # doctest: +SKIP
        >>> player.speed = 86_400  # a day of the streams in a second  # doctest: +SKIP
        >>> player.play()  # doctest: +SKIP
        >>> player.pause()  # doctest: +SKIP
    """

    def __init__(self, session: Playable) -> None:
        self._made_by = os.getpid()
        self._session = session
        self._changed = threading.Condition()
        self._orders = 0
        self._left: int | None = 0
        self._back_to: int | None = None
        self._speed: float | None = None
        self._live: tuple[float, LiveRun] | None = None
        self._clock = session.now
        self._since: float | None = None
        self._due: float | None = None
        self._ended = False
        self._told = True
        self._problem: BaseException | None = None
        self._closed = False
        self._thread: threading.Thread | None = None
        self._listeners: list[Callable[[Position], None]] = []

    @property
    def position(self) -> Position:
        """The player's position now."""
        with self._changed:
            # Batches may have been run without the player.
            at, batch = self._session.now, self._session.batch
            latency = self._live[0] if self._live is not None else None
            now = self._since, self._due, self._problem, self._session.progress, latency
            return Position(self._state(), batch, at, self._left, *now)

    @property
    def speed(self) -> float | None:
        """Seconds of stream time played in a second; ``None``: as fast as it goes.

        Raises:
            QueryError: it is not positive, or no stream has a time.
        """
        return self._speed

    @speed.setter
    def speed(self, speed: float | None) -> None:
        if speed is not None and speed <= 0:
            raise QueryError(f"cannot play at speed {speed:g}", hint="1 plays a second of the streams in a second")
        if speed is not None and all(stream.time is None for stream in self._session.streams.values()):
            raise QueryError("no stream has a time to keep", hint="%argus stream … --time COLUMN")
        with self._changed:
            self._speed = speed
            self._orders += 1
            self._changed.notify_all()

    def play(self, batches: int | None = None, latency: float | None = None) -> None:
        """Play a number of batches, or to the streams' end.

        Args:
            batches: how many.
            latency: seconds that a batch may take; it then has the rows that have come, and waits where none have.
                ``None``: each stream's own number of rows, whether they come or not.

        Raises:
            QueryError: the number is not at least 1, the latency is not above 0, or there is no stream.
            SessionError: the session is read-only.
        """
        if batches is not None and batches < 1:
            raise QueryError(f"cannot play {batches} batches", hint="give a number of batches, 1 or more")
        if not self._session.streams:
            raise QueryError("there are no streams yet", hint="%argus help stream")
        live = None if latency is None else (latency, self._session.live(latency))
        with self._changed:
            self._live = live
        self._order(batches, self._back_to)

    def pause(self) -> None:
        """Stop after the batch that is running."""
        self._order(0, self._back_to)

    def interrupt(self) -> None:
        """Stop at once, and wait for that: a batch that is running is undone, and so is going back."""
        self._order(0, None)
        self._session.interrupt()
        while not self.wait(STOPPING):
            self._session.interrupt()

    def go_back(self, batch: int) -> None:
        """Go back to the state after a batch, and pause there.

        Raises:
            QueryError: that batch was not run yet.
        """
        if not 0 <= batch <= self._session.batch:
            hint = f"the last batch that was run is {self._session.batch}"
            raise QueryError(f"cannot go back to batch {batch}", hint=hint)
        self._order(0, batch)

    def subscribe(self, listener: Callable[[Position], None]) -> Callable[[], None]:
        """Tell ``listener`` of every change, and while it plays every ``TICK`` seconds, mostly from other threads.

        Calling the result ends that.
        """
        self._listeners.append(listener)

        def unsubscribe() -> None:
            with suppress(ValueError):
                self._listeners.remove(listener)

        return unsubscribe

    def announce(self) -> None:
        """Tell all listeners the present position, as after every change: a cell may have changed the shown content."""
        self._tell()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until nothing is played any more; whether that came within ``timeout`` seconds."""
        with self._changed:
            return self._changed.wait_for(lambda: self._closed or not self._busy(), timeout)

    def close(self) -> None:
        """End the thread, after the batch that is running."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(CLOSING)

    def _state(self) -> PlayerState:
        if self._back_to is not None:
            return PlayerState.GOING_BACK
        if self._left != 0:
            return PlayerState.PLAYING
        if self._problem is not None:
            return PlayerState.STOPPED
        return PlayerState.ENDED if self._ended else PlayerState.PAUSED

    def _ordered(self) -> bool:
        return self._left != 0 or self._back_to is not None

    def _underway(self) -> bool:
        return self._ordered() or self._since is not None

    def _busy(self) -> bool:
        return self._underway() or not self._told

    def _order(self, left: int | None, back_to: int | None) -> None:
        with self._changed:
            self._left, self._back_to, self._problem = left, back_to, None
            self._ended = self._ended and not self._ordered()
            self._orders += 1
            self._changed.notify_all()
            if self._thread is None and self._ordered():
                # A daemon: an interpreter that ends does not wait for the end of the streams.
                self._thread = threading.Thread(target=self._work, name="argus-player", daemon=True)
                self._thread.start()
                threading.Thread(target=self._tick, name="argus-player-tick", daemon=True).start()
        self._tell()

    def _tell(self) -> None:
        position = self.position
        for listener in list(self._listeners):
            listener(position)

    def _work(self) -> None:
        while self._ordered_to():
            orders, before, begun, live = self._orders, self._clock, time.monotonic(), self._live
            try:
                if live is not None and self._back_to is None and not self._rows_came(live[1], orders):
                    continue
                self._begin()
                self._do(self._back_to, live)
            except Exception as problem:  # whatever it is, it is shown where the analyst looks, and not in a thread
                self._done(problem=problem)
            self._pace(orders, before, begun)

    def _tick(self) -> None:
        """Tell listeners the progress of a long batch, or the time of the next one; also those that missed its end."""
        while not self._closed:
            with self._changed:
                self._changed.wait_for(lambda: self._closed or self._underway())
                over = self._changed.wait_for(lambda: self._closed or not self._underway(), TICK)
            if not over:
                self._tell()
                if not self._underway():  # what was told may have come after what was told of the end
                    self._tell()

    def _ordered_to(self) -> bool:
        """Wait for an order; whether one came before it was closed."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed or self._ordered())
            return not self._closed

    def _rows_came(self, live: LiveRun, orders: int) -> bool:
        """Wait for rows, or for their end; not whether another order came first."""
        while not live.ready() and not live.ended:
            with self._changed:
                if self._changed.wait_for(lambda: self._closed or self._orders != orders, live.pause):
                    return False
        return True

    def _begin(self) -> None:
        with self._changed:
            self._since, self._told = time.monotonic(), False
            self._changed.notify_all()
        self._tell()

    def _do(self, back_to: int | None, live: tuple[float, LiveRun] | None) -> None:
        if back_to is not None:
            self._session.seek(back_to, progress=lambda report: self._tell())
            self._done(went_back=True)
        elif live is None:
            self._done(ended=not self._session.run(1))
        elif live[1].ended:
            self._done(ended=True)
        else:
            live[1].step()
            self._done()

    def _done(self, went_back: bool = False, ended: bool = False, problem: BaseException | None = None) -> None:
        at = self._session.now
        with self._changed:
            if ended or problem is not None:
                self._left = 0
            elif self._left and not went_back:
                self._left -= 1
            if went_back or problem is not None:
                self._back_to = None
            self._ended, self._problem, self._clock, self._since = ended, problem, at, None
            self._changed.notify_all()
        self._tell()
        with self._changed:  # who waits is waited for until all listeners know
            self._told = True
            self._changed.notify_all()

    def _pace(self, orders: int, before: dt.datetime | None, begun: float) -> None:
        """Wait until the next batch is due, or there is another order."""
        with self._changed:
            pause = BREATH
            timed = self._speed is not None and self._live is None
            if timed and self._speed and before is not None and self._clock is not None:
                stream_time = (self._clock - before).total_seconds()
                pause = max(BREATH, stream_time / self._speed - (time.monotonic() - begun))
            self._due = time.monotonic() + pause if self._left != 0 and pause > BREATH else None
        if self._due is not None:
            self._tell()
        with self._changed:
            self._changed.wait_for(lambda: self._closed or self._orders != orders, pause)
            self._due = None
