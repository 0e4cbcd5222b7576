"""Which queries live running suspends when rows come too fast, and when it resumes them: by their priorities.

A query below 0 may be suspended. Those of the lowest priority go first, all together, after some batches in a row at
which a stream was behind; if that does not help, the next. When no stream has been behind for a while, the most
important of them are resumed first. That costs as much as registering them, so the while doubles each time that they
have to be suspended again: under a constant overload they are not suspended and resumed in turn.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping

from workbench.limits import LIMITS, Limits
from workbench.session.live.sources import SourceStatus
from workbench.session.state import ACTIVE, QueryRecord

RECOVERED = 5.0
"""Queries are resumed when no row has waited longer than the latency for this factor times the latency."""
_LONGEST = 64
"""The while grows by at most this factor."""


class Priorities:
    """Watches whether all queries can be answered.

    Args:
        latency: seconds that a batch may take.
        limits: when streams are behind, and queries suspended.
        clock: seconds, as ``time.monotonic`` gives them.
    """

    def __init__(self, latency: float, limits: Limits = LIMITS, clock: Callable[[], float] = time.monotonic) -> None:
        self._latency, self._limits, self._clock = latency, limits, clock
        self._behind = 0
        self._recovered_since: float | None = None
        self._times, self._resumed = 1, False

    def to_suspend(self, queries: Iterable[QueryRecord], sources: Mapping[str, SourceStatus]) -> list[str]:
        """The queries to suspend before the next batch. It is asked once before each.

        Args:
            queries: of the session.
            sources: how they are now.
        """
        self._behind = self._behind + 1 if _lag(sources) > self._limits.latencies_behind * self._latency else 0
        running = [q for q in queries if q.priority < 0 and q.suspended is None and q.status == ACTIVE]
        if self._behind < self._limits.batches_behind or not running:
            return []
        self._behind = 0
        if self._resumed:
            self._times, self._resumed = min(_LONGEST, 2 * self._times), False
        lowest = min(query.priority for query in running)
        return [query.name for query in running if query.priority == lowest]

    def to_resume(
        self, queries: Iterable[QueryRecord], sources: Mapping[str, SourceStatus], ended: bool = False
    ) -> list[str]:
        """The queries to resume; arguments as ``to_suspend``. ``ended``: no more rows will come."""
        suspended = [query for query in queries if query.by_load]
        if ended:
            return [query.name for query in suspended]
        if not suspended or _lag(sources) > self._latency:
            self._recovered_since = None
            return []
        now = self._clock()
        self._recovered_since = now if self._recovered_since is None else self._recovered_since
        if now - self._recovered_since < self._times * RECOVERED * self._latency:
            return []
        self._recovered_since, self._resumed = None, True
        highest = max(query.priority for query in suspended)
        return [query.name for query in suspended if query.priority == highest]


def _lag(sources: Mapping[str, SourceStatus]) -> float:
    return max((source.lag for source in sources.values()), default=0.0)
