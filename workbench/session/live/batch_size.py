"""Live running: batches as large as keep the wanted latency, for as long as rows come.

The size of a batch follows what the last ones took (an adaptive batch size, T11.1.3). It is changed only where a batch
was slower than the latency, or took less than half of it, so that it does not swing with every batch.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass

from workbench.errors import QueryError
from workbench.sql.windows.stream_time import short_duration

LEAST_ROWS, MOST_ROWS = 100, 1_000_000
_LARGER, _SMALLER = 2.0, 0.25
"""A batch is at most so much larger, and at least so large, as the one before."""
_AIM = 0.75
"""The part of the latency that a batch is to take: some is left for the rows that wait for it to begin."""


@dataclass(frozen=True)
class BatchSize:
    """How many rows of each stream a batch takes.

    Attributes:
        rows: of every live stream.
        latency: seconds that a batch may take.

    Example:
        >>> size = BatchSize(1_000, latency=1.0)
        >>> size.after(rows=1_000, seconds=0.6).rows, size.after(1_000, 3.0).rows, size.after(1_000, 0.3).rows
        (1000, 250, 2000)
    """

    rows: int
    latency: float

    def after(self, rows: int, seconds: float) -> BatchSize:
        """The size after a batch of so many rows."""
        if self.latency / 2 <= seconds <= self.latency or (seconds < self.latency and rows < self.rows):
            return self
        factor = min(_LARGER, max(_SMALLER, _AIM * self.latency / max(seconds, 1e-3)))
        return BatchSize(min(MOST_ROWS, max(LEAST_ROWS, int(self.rows * factor))), self.latency)

    def of(self, waiting: Mapping[str, int]) -> dict[str, int]:
        """The rows to take of each stream: a busy one gets what the others do not need."""
        share = {name: min(rows, self.rows) for name, rows in waiting.items()}
        total = sum(share.values())
        if total <= self.rows:
            return share
        return {name: max(1, rows * self.rows // total) if rows else 0 for name, rows in share.items()}


def seconds_of(given: str | float | dt.timedelta, what: str) -> float:
    """A length of time in seconds.

    Raises:
        QueryError: it is none, or not above 0.

    Example:
        >>> seconds_of("500ms", "latency"), seconds_of("2 minutes", "latency"), seconds_of(3, "latency")
        (0.5, 120, 3)
    """
    seconds: float | None
    match given:
        case dt.timedelta():
            seconds = given.total_seconds()
        case str():
            seconds = short_duration(given)
        case _:
            seconds = given
    if seconds is None or not seconds > 0:
        raise QueryError(f"{what} is {given!r}", hint="a length of time: '500ms', '1s', '2 minutes', or seconds")
    return seconds
