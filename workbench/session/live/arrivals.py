"""Measures how fast rows come to a live stream, and how long the rows have waited that no batch has taken."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

RATE_SECONDS = 10.0
"""The last seconds that the rate is measured in."""


class Arrivals:
    """The times at which rows of one stream were logged, in this process alone.

    Args:
        rows: that are in the log.
        clock: seconds, as ``time.monotonic`` gives them.

    Example:
        >>> seconds = iter((0.0, 2.0, 4.0, 5.0, 6.0))
        >>> arrivals = Arrivals(100, lambda: next(seconds))
        >>> arrivals.logged(300)
        >>> arrivals.logged(500)
        >>> arrivals.rate(), arrivals.lag(300)
        (80.0, 2.0)
    """

    def __init__(self, rows: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._marks = deque([(clock(), rows)])
        """Moments, and how many rows there were then: the last before those that count, and these."""

    def logged(self, rows: int) -> None:
        """Note how many rows are in the log now."""
        if rows > self._marks[-1][1]:
            self._marks.append((self._clock(), rows))

    def rate(self) -> float:
        """Rows that came in a second, on average over the last seconds."""
        now = self._clock()
        begin = next((mark for mark in reversed(self._marks) if mark[0] <= now - RATE_SECONDS), self._marks[0])
        seconds = min(now - begin[0], RATE_SECONDS)
        return (self._marks[-1][1] - begin[1]) / seconds if seconds > 0 else 0.0

    def lag(self, position: int) -> float:
        """Seconds that the first row has waited which no batch has taken; 0 when all were taken.

        Args:
            position: rows that batches have taken.
        """
        now = self._clock()
        self._forget(now, position)
        return next((now - at for at, rows in self._marks if rows > position), 0.0)

    def _forget(self, now: float, position: int) -> None:
        """Forget what neither the rate nor the lag needs."""
        while len(self._marks) > 1 and self._marks[1][0] <= now - RATE_SECONDS and self._marks[1][1] <= position:
            self._marks.popleft()
