"""Batches as rows come: each step logs what has come, and runs a batch when something waits."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from workbench.engine.reports import BatchReport
from workbench.limits import LIMITS, Limits
from workbench.session.changes import StateStore
from workbench.session.live.batch_size import LEAST_ROWS, BatchSize
from workbench.session.live.overload import Overload
from workbench.session.live.priorities import Priorities
from workbench.session.live.sources import LiveSources
from workbench.session.live.suspension import Suspension
from workbench.streams.cut import BatchCut
from workbench.streams.whole_transactions import cut_at_borders, ready

LOGGING = 0.25
"""The part of the latency for which rows are logged at most before each batch: those that wait are on disk."""
AHEAD, LEAST_AHEAD = 10, 100_000
"""Batches, and least rows, that are logged ahead: an iterator could otherwise fill the disk."""
LONGEST_PAUSE = 0.25
"""Seconds between two looks at sources that have nothing."""

RunBatch = Callable[[Mapping[str, int | BatchCut]], BatchReport]
"""Runs a batch of a number of rows of each stream, or of a cut of it."""


class LiveRun:
    """Runs batches of a session's live streams, as large as keep a latency.

    Args:
        store: the session's state.
        live: its live sources.
        suspension: suspends and resumes queries.
        run_batch: runs a batch of a number of rows of each stream, or of others.
        latency: seconds that a batch may take.
        limits: when streams are behind.

    Attributes:
        ended: whether no source will bring more rows, and none waits.
        pause: seconds to wait when nothing has come.
    """

    def __init__(
        self,
        store: StateStore,
        live: LiveSources,
        suspension: Suspension,
        run_batch: RunBatch,
        latency: float,
        limits: Limits = LIMITS,
    ) -> None:
        self._store, self._live, self._suspension, self._run_batch = store, live, suspension, run_batch
        self._size = BatchSize(LEAST_ROWS, latency)
        self._overload, self._priorities = Overload(latency, limits), Priorities(latency, limits)
        self._waiting: Mapping[str, int] = {}
        self.ended = False
        self.pause = min(latency * LOGGING, LONGEST_PAUSE)

    def ready(self) -> bool:
        """Log the rows that have come, and resume queries when there is time; whether rows wait for a batch."""
        begun = time.monotonic()
        live = self._live
        with self._store.exclusively():
            state = self._store.state
            ahead = max(LEAST_AHEAD, AHEAD * self._size.rows)
            seconds = self._size.latency * LOGGING
            while live.take_in(state.streams, seconds, ahead) and time.monotonic() - begun < seconds:
                pass
            self._waiting = ready(state.streams)
            self.ended = live.ended(state.streams) and not any(self._waiting.values())
        if names := self._priorities.to_resume(state.queries.values(), live.status(state.streams), self.ended):
            self._suspension.resume(names)
        return any(self._waiting.values())

    def step(self) -> BatchReport:
        """Run a batch of rows that wait, after ``ready`` said that some do."""
        state = self._store.state
        streams, sources = state.streams, self._live.status(state.streams)
        sizes: Mapping[str, int | BatchCut]
        sizes = whole = self._size.of({name: rows for name, rows in self._waiting.items() if name in streams})
        if names := self._priorities.to_suspend(state.queries.values(), sources):
            self._suspension.suspend(names, by_load=True)
        else:
            sizes = self._overload.cuts(whole, streams, sources)
        report = self._run_batch(cut_at_borders(streams, sizes))
        self._size = self._size.after(report.rows, report.seconds)
        return report
