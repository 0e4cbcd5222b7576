"""Where sessions may change: from the begin to the end of those that changed rows are in, or would be in.

The rows of a group are looked up in the order of their times. Around changed times twice as much is looked at until
there is a gap on both sides, so a batch reads the sessions that it touches, after a logarithm of look-ups, but
not the group.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from workbench.arrow.types import Mask
from workbench.engine.operators.grouped.state_lookup import KeyedLookup
from workbench.engine.physical.row_inputs import SingleInput
from workbench.engine.storage.comparable import Orders, order_numbers
from workbench.engine.storage.grouping import Positions
from workbench.engine.storage.segments import Run, Segment

_FIRST, _LAST = np.iinfo(np.int64).min, np.iinfo(np.int64).max


@dataclass(frozen=True)
class TimeOrder:
    """Rows in the order of a time, in microseconds.

    Attributes:
        name: tells it apart from other orders.
        value: of the time.
    """

    name: str
    value: SingleInput

    def orders(self, rows: pa.RecordBatch) -> tuple[Orders, Mask]:
        """The time of each row, and which rows have one."""
        times = self.value.values(rows)
        return order_numbers(times), np.asarray(times.is_valid())


@dataclass(frozen=True)
class SessionRanges:
    """Ranges of time in which sessions may change; the ranges of one group do not overlap.

    Attributes:
        groups: the row of each range's group.
        low, high: the first and the last time of each range, in microseconds.
    """

    groups: pa.RecordBatch
    low: Positions
    high: Positions

    @staticmethod
    def around(dirty: pa.RecordBatch, lookup: KeyedLookup, before: Run, change: Run, gap: int) -> SessionRanges:
        """The sessions of changed rows, before the change and after it.

        Args:
            dirty: the groups that change, one row each.
            lookup: finds the rows of groups, in the order of their times.
            before, change: rows that were there, and those that come and go.
            gap: how many microseconds a row may be after the one before it, in one session.
        """
        group, times = _times(lookup, dirty, None, change)
        if not len(group):
            return SessionRanges(dirty.slice(0, 0), times, times)
        # Changed rows that are no gap apart are of one session.
        first = np.flatnonzero(_begins(group, times, gap))
        group, low, high = group[first], times[first], times[np.append(first[1:], len(times)) - 1]
        unbounded, reach = np.arange(len(group)), 2 * gap + 1
        while len(unbounded):
            some = _Unbounded(low[unbounded], high[unbounded], gap)
            within = _earlier(some.low, reach), _later(some.high, reach)
            found = _times(lookup, dirty.take(pa.array(group[unbounded])), within, (*before, *change))
            low[unbounded], high[unbounded], bounded = some.extended(*found, *within)
            unbounded, reach = unbounded[~bounded], min(2 * reach, _LAST)
        # Ranges are whole sessions by now: those that meet are equal.
        order = np.lexsort((low, group))
        once = order[(np.diff(group[order], prepend=-1) != 0) | (np.diff(low[order], prepend=0) != 0)]
        return SessionRanges(dirty.take(pa.array(group[once])), low[once], high[once])

    def rows_of(self, lookup: KeyedLookup, segments: Iterable[Segment]) -> Iterable[pa.RecordBatch]:
        """The rows in the ranges."""
        return lookup.rows_of(self.groups, segments, (self.low, self.high))


def _times(
    lookup: KeyedLookup, groups: pa.RecordBatch, within: tuple[Positions, Positions] | None, segments: Iterable[Segment]
) -> tuple[Positions, Positions]:
    """The groups and times of rows, in the order of both, whether the rows are there or have been taken back."""
    assert lookup.order is not None
    parts = [(np.zeros(0, np.int64), np.zeros(0, np.int64))]
    for group, rows, at in lookup.pairs(groups, segments, within):
        # The time may be computed: of the rows that were found alone.
        found, of = np.unique(at, return_inverse=True)
        times, known = lookup.order.orders(rows if len(found) == rows.num_rows else rows.take(pa.array(found)))
        parts.append((group[known[of]], times[of[known[of]]]))
    group, times = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    order = np.lexsort((times, group))
    return group[order], times[order]


def _begins(of: Positions, times: Positions, gap: int) -> Mask:
    """Which rows begin a session; rows are ordered by their group and by time."""
    begins = np.ones(len(times), dtype=bool)
    # Of two times in order the difference may need the sign's bit, too.
    begins[1:] = (of[1:] != of[:-1]) | (np.diff(times).view(np.uint64) > gap)
    return begins


@dataclass(frozen=True)
class _Unbounded:
    """Ranges whose sessions may extend before or after them."""

    low: Positions
    high: Positions
    gap: int

    def extended(
        self, of: Positions, times: Positions, first: Positions, last: Positions
    ) -> tuple[Positions, Positions, Mask]:
        """Extend the ranges to all rows without a gap between them; and say which ranges have a gap on both sides.

        Args:
            of: the range of each row, in order; each has rows.
            times: of the rows, in order within a range.
            first, last: from when to when rows of each range were looked for.
        """
        ranges = np.arange(len(self.low))
        begin, end = np.searchsorted(of, ranges), np.searchsorted(of, ranges, side="right")
        begins = _begins(of, times, self.gap)
        # The last begin of a session that is not later than the range, and the first one that is.
        at = np.flatnonzero(begins & (times <= self.low[of]))
        low_at = at[np.searchsorted(of[at], ranges, side="right") - 1]
        later = np.flatnonzero(begins & (times > self.high[of]))
        next_ = np.append(later, len(of))[np.searchsorted(of[later], ranges)]
        high_at = np.minimum(next_, end) - 1
        bounded = (low_at > begin) | (first == _FIRST) | (_apart(first, times[low_at]) > self.gap)
        bounded &= (next_ < end) | (last == _LAST) | (_apart(times[high_at], last) > self.gap)
        return times[low_at], times[high_at], bounded


def _apart(early: Positions, late: Positions) -> npt.NDArray[np.uint64]:
    """How many microseconds are between two times, which 64 bits tell without a sign."""
    return (late - early).view(np.uint64)


def _earlier(times: Positions, by: int) -> Positions:
    """Times some microseconds before, or the first one there is."""
    return np.where(_apart(np.full_like(times, _FIRST), times) > by, times - by, _FIRST)


def _later(times: Positions, by: int) -> Positions:
    """Times some microseconds after, or the last one there is."""
    return np.where(_apart(times, np.full_like(times, _LAST)) > by, times + by, _LAST)
