"""Finding the rows of a segment by their time: PSoup keeps its results sorted by time for that (PSoup 3.3, 4.3).

A segment's index (``sorted_index``) is the times of its rows in order, and where each row stands. So the rows that a
window lets in or out are found at a cost that follows their number, and not that of the rows there are.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

import numpy as np

from workbench.engine.storage.segments import open_segment
from workbench.engine.storage.sorted_index import Positions, sorted_index
from workbench.sql.windows.bounds import Interval
from workbench.streams.arrow_types import Mask, Times, times_of


def rows_within(segment: str, column: str, intervals: Iterable[Interval]) -> Positions:
    """The rows of a segment whose time is in one of some intervals that have nothing in common."""
    times, rows = _index(segment, column)
    parts = [
        rows[np.searchsorted(times, i.low, side="left") : np.searchsorted(times, i.high, side="right")]
        for i in intervals
    ]
    return np.concatenate([np.empty(0, dtype=np.int64), *parts])


def inside(times: Times, known: Mask, interval: Interval) -> Mask:
    """Which times are in an interval."""
    return np.asarray(known & (times >= interval.low) & (times <= interval.high))


def count_within(segment: str, column: str, interval: Interval) -> int:
    """How many rows of a segment have their time in an interval."""
    times, _ = _index(segment, column)
    first, after = np.searchsorted(times, interval.low), np.searchsorted(times, interval.high, side="right")
    return max(0, int(after) - int(first))


@lru_cache(maxsize=4_096)
def earliest(segment: str, column: str) -> int | None:
    """The least time of a segment's rows, if any has one; no index is made to find it."""
    times, known = times_of(open_segment(segment).column(column))
    return int(times[known].min()) if known.any() else None


def _index(segment: str, column: str) -> tuple[Times, Positions]:
    def entries() -> tuple[Times, Positions]:
        times, known = times_of(open_segment(segment).column(column))
        rows = np.flatnonzero(known)
        return times[rows], rows

    return sorted_index(segment, f"time {column}", entries)
