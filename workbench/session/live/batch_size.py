"""Live running: batches as large as keep the wanted latency, for as long as rows come.

The size of a batch follows what the last ones took (an adaptive batch size, T11.1.3). A batch takes some time however
few rows it has, and more for each row; a line through the last batches says how much of either. The size is changed
only where another is right by a margin, so that it does not swing with every batch.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import astuple, dataclass, field, replace
from functools import cached_property
from math import inf, sqrt

from workbench.errors import QueryError
from workbench.sql.windows.stream_time import short_duration

LEAST_ROWS, MOST_ROWS = 100, 1_000_000
_AIM = 0.75
"""The part of the latency that a batch is to take: some is left for the rows that wait for it to begin."""
_OF_FIXED = 1.5
"""A batch may take this many times the fixed seconds, also beyond the latency: where it is not enough, smaller batches
would answer fewer rows a second, so rows would wait even longer."""
_MARGIN = 1.2
"""The size is changed where the right one is larger, or smaller, by this factor."""
_LARGER, _SMALLER = 2.0, 0.25
"""A batch is at most so much larger, and at least so large, as the one before."""
_TRIED = 1.5
"""So much larger a batch may be tried that could come to take too long."""
_DECAY = 0.9
"""The weight of a batch, relative to the one after it."""
_OUTLIER = 2.0
"""A batch that took more than this times what was expected counts as that: a pause of the machine says little."""
_DOUBT = 0.25
"""Standard errors that a row may take more or less than the line says. Where batches of about one size say little
about it, larger ones are tried, and say more."""
_SAME = 0.001
"""Sizes that differ by less than this part are one size."""


@dataclass(frozen=True)
class BatchCost:
    """The seconds of a batch by its rows: a line by least squares through the last batches, later ones counting more.

    Attributes:
        batches, rows, seconds, rows_squared, rows_seconds, seconds_squared: decayed sums over the batches.

    Example:
        >>> cost = BatchCost()
        >>> for rows in (1_000, 2_000, 4_000, 2_000):
        ...     cost = cost.after(rows, 0.2 + rows * 5e-5)
        >>> round(cost.fixed, 2), round(cost.of(10_000), 2), round(cost.rows_in(0.45))
        (0.2, 0.7, 5000)
    """

    batches: float = 0.0
    rows: float = 0.0
    seconds: float = 0.0
    rows_squared: float = 0.0
    rows_seconds: float = 0.0
    seconds_squared: float = 0.0

    @cached_property
    def per_row(self) -> tuple[float, float]:
        """Seconds for each row, at least and at most."""
        rows, seconds = self.rows / self.batches, self.seconds / self.batches
        variance = self.rows_squared / self.batches - rows**2
        if variance <= (_SAME * rows) ** 2:
            return 0.0, seconds / rows
        covariance = self.rows_seconds / self.batches - rows * seconds
        slope = covariance / variance
        rest = max(0.0, self.seconds_squared / self.batches - seconds**2 - slope * covariance)
        doubt = _DOUBT * sqrt(rest / (self.batches * variance))
        most = seconds / rows
        return min(max(slope - doubt, 0.0), most), min(max(slope + doubt, 0.0), most)

    @property
    def fixed(self) -> float:
        """Seconds that a batch takes at least, however few rows it has."""
        return (self.seconds - self.per_row[1] * self.rows) / self.batches

    def of(self, rows: float) -> float:
        """Seconds of a batch of a number of rows, at least if it is larger than most were."""
        return (self.seconds + self.per_row[0] * (rows * self.batches - self.rows)) / self.batches

    def rows_in(self, seconds: float) -> float:
        """Rows that a batch of some seconds may have; without end where a row may take none."""
        least = self.per_row[0]
        return (self.rows + (seconds * self.batches - self.seconds) / least) / self.batches if least else inf

    def after(self, rows: int, seconds: float) -> BatchCost:
        """The cost after one more batch, of at least one row."""
        taken = min(seconds, _OUTLIER * self.of(rows)) if self.batches else seconds
        new = (1.0, rows, taken, rows**2, rows * taken, taken**2)
        return BatchCost(*(_DECAY * sum_ + one for sum_, one in zip(astuple(self), new, strict=True)))


@dataclass(frozen=True)
class BatchSize:
    """How many rows of each stream a batch takes.

    Attributes:
        rows: of every live stream.
        latency: seconds that a batch may take.
        least: rows of a batch, however long they take.
        cost: what the last batches took.

    Example:
        >>> size = BatchSize(1_000, latency=1.0)
        >>> size.after(rows=1_000, seconds=0.3).rows, size.after(1_000, 0.3).after(2_000, 0.6).after(4_000, 1.2).rows
        (2000, 2500)
    """

    rows: int
    latency: float
    least: int = LEAST_ROWS
    cost: BatchCost = field(default=BatchCost())

    def after(self, rows: int, seconds: float) -> BatchSize:
        """The size after a batch of a number of rows; it grows after a full one only."""
        if not rows:
            return self
        cost = self.cost.after(rows, seconds)
        allowed = max(_AIM * self.latency, _OF_FIXED * cost.fixed)
        # If every row took its part of the seconds, the next batch would take not much more than is allowed.
        larger = min(_LARGER, max(_TRIED, allowed / max(seconds, 1e-9))) if rows >= self.rows else 1.0
        right = min(larger * self.rows, cost.rows_in(allowed))
        if self.rows / _MARGIN <= right <= self.rows * _MARGIN:
            return replace(self, cost=cost)
        size = int(max(right, _SMALLER * self.rows))
        return replace(self, rows=min(MOST_ROWS, max(self.least, size)), cost=cost)

    def of(self, waiting: Mapping[str, int]) -> dict[str, int]:
        """The rows to take of each stream: a busy stream gets the rows that the others do not need."""
        share = {name: min(rows, self.rows) for name, rows in waiting.items()}
        total = sum(share.values())
        if total <= self.rows:
            return share
        return {name: max(1, rows * self.rows // total) if rows else 0 for name, rows in share.items()}


def seconds_of(given: str | float | dt.timedelta, what: str) -> float:
    """A length of time in seconds.

    Raises:
        QueryError: it is no number above 0.

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
