"""Frames as places: of each row the first row of its frame, and the one behind the last.

Rows stand partition by partition in their order, so a frame is a range of places. A frame of ROWS is arithmetic on
places, one of GROUPS on the numbers of peers, and of RANGE a binary search of all rows at once for values that are so
far from their own. Where such values do not exist, of NULL and NaN, the frame ends at the peers, as in Spark.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from workbench.arrow.types import Mask
from workbench.engine.physical.join_keys import key_column
from workbench.engine.physical.stored.unscaled import fits_64_bits, large_integers
from workbench.engine.storage.comparable import comparable
from workbench.engine.storage.grouping import Positions, group_sizes
from workbench.engine.storage.indexes.order_index import DIGITS
from workbench.limits import LIMITS, Limits
from workbench.sql.algebra.analytic import AnalyticCall, Frame, FrameEnd
from workbench.sql.algebra.ordering import SortKey
from workbench.sql.algebra.types import DataType, Kind

_MOST = 2**63 - 1
_MICROSECONDS = {"DAY": 86_400_000_000, "SECOND": 1_000_000}


@dataclass(frozen=True)
class FrameRange:
    """Places of rows: from ``low`` up to ``high``, which is behind the last; nothing is in it where both are equal."""

    low: Positions
    high: Positions

    @property
    def lengths(self) -> Positions:
        """The number of rows of each frame."""
        return self.high - self.low

    def within(self, other: FrameRange) -> FrameRange:
        """The part of it within another range: empty where they do not meet."""
        return FrameRange(np.clip(self.low, other.low, other.high), np.clip(self.high, other.low, other.high))


Frames = tuple[FrameRange, ...]
"""The frame of each row: one range, or the ranges that EXCLUDE leaves of it, from the first to the last."""


@dataclass(frozen=True)
class OrderedBatch:
    """Rows in their order, with the marks of ``ordered_rows``; partitions follow one another.

    Attributes:
        rows: with their marks.
        wanted: the places of the rows whose values are computed.
        limits: of the work.
    """

    rows: pa.RecordBatch
    wanted: Positions
    limits: Limits = LIMITS

    @staticmethod
    def of(rows: pa.RecordBatch, limits: Limits = LIMITS) -> OrderedBatch:
        """The rows, of which those that are marked are wanted."""
        return OrderedBatch(rows, np.flatnonzero(rows.column("_keep").to_numpy()), limits)

    def mark(self, name: str) -> Positions:
        """A mark of the wanted rows."""
        return self.rows.column(name).to_numpy()[self.wanted]

    @cached_property
    def shared_values(self) -> dict[Any, Any]:
        """The values that several functions share, by their source: the matches of a pattern."""
        return {}

    @cached_property
    def parts(self) -> FrameRange:
        """The partition of each row."""
        return _runs(_new(self.rows.column("_part").to_numpy()))

    @cached_property
    def starts(self) -> Positions:
        """Where each partition begins."""
        return np.unique(self.parts.low)

    @cached_property
    def group(self) -> Positions:
        """The number of each wanted row's partition, among ``starts``."""
        return np.searchsorted(self.starts, self.part.low)

    @cached_property
    def part(self) -> FrameRange:
        """The partition of each wanted row."""
        return FrameRange(self.parts.low[self.wanted], self.parts.high[self.wanted])

    @cached_property
    def _new_peers(self) -> Mask:
        return _new(self.rows.column("_part").to_numpy()) | _new(self.rows.column("_group").to_numpy())

    @cached_property
    def peers(self) -> FrameRange:
        """The peers of each row."""
        return _runs(self._new_peers)

    def frames(self, function: AnalyticCall) -> Frames:
        """The frame of each wanted row."""
        whole, exclude = self._whole_frames(function), function.frame.exclude if function.frame is not None else ""
        if not exclude:
            return (whole,)
        own = FrameRange(self.wanted, self.wanted + 1)
        gone = (
            own
            if exclude == "current row"
            else FrameRange(*(p[self.wanted] for p in (self.peers.low, self.peers.high)))
        )
        before, after = FrameRange(whole.low, gone.low), FrameRange(gone.high, whole.high)
        kept = (before, own, after) if exclude == "ties" else (before, after)
        return tuple(stretch.within(whole) for stretch in kept)

    def _whole_frames(self, function: AnalyticCall) -> FrameRange:
        frame = function.frame
        if frame is None:
            return self.part
        if frame.unit == "rows":
            return self._frames(frame, self._row)
        if frame.unit == "groups" or not function.is_range:
            return self._frames(frame, self._group)
        (key,) = function.over.order
        values = _OrderedValues.of(self, self.rows.column(key_column(key.expression)), key)
        return self._frames(frame, values.places)

    def _frames(self, frame: Frame, place: Callable[[FrameEnd, bool], Positions]) -> FrameRange:
        low = self.part.low if frame.start is None else place(frame.start, False)
        high = self.part.high if frame.end is None else place(frame.end, True)
        low = np.clip(low, self.part.low, self.part.high)
        return FrameRange(low, np.maximum(np.clip(high, self.part.low, self.part.high), low))

    def _row(self, end: FrameEnd, after: bool) -> Positions:
        return self.wanted + (int(end.by) + after)

    def _group(self, end: FrameEnd, after: bool) -> Positions:
        starts = np.append(np.flatnonzero(self._new_peers), self.rows.num_rows)
        group = np.cumsum(self._new_peers)[self.wanted] - 1 + int(float(end.by)) + after
        # Beyond the partition, where a place is cut to its ends, any place of another one will do.
        return starts[np.clip(group, 0, len(starts) - 1)]


@dataclass(frozen=True)
class _OrderedValues:
    """What rows are ordered by, as ascending numbers, and which rows have some that have distances.

    Attributes:
        batch: the rows.
        keys: the number of each row.
        some: of each wanted row, the places in its partition of rows that have a number.
        known: which wanted rows have one.
        order: what they are of.
    """

    batch: OrderedBatch
    keys: npt.NDArray[Any]
    some: FrameRange
    known: Mask
    order: SortKey

    @staticmethod
    def of(batch: OrderedBatch, values: pa.Array, order: SortKey) -> _OrderedValues:
        known = np.asarray(values.is_valid())
        if pa.types.is_floating(values.type):
            known = known & ~np.asarray(pc.is_nan(values).fill_null(False))
        # Ends of decimals of more digits are exact as integers of Python.
        wide = pa.types.is_decimal(values.type) and values.type.precision > DIGITS
        wide = wide and not fits_64_bits(values)
        numbers: npt.NDArray[Any] = large_integers(values) if wide else comparable(values)
        if order.descending:
            # The negative of the least whole number would not fit.
            numbers = ~numbers if numbers.dtype.kind == "i" else -numbers
        counts = np.concatenate([[0], np.cumsum(known)])
        first = np.flatnonzero(known)
        low, high = counts[batch.part.low], counts[batch.part.high]
        begin = first[np.minimum(low, len(first) - 1)] if len(first) else batch.part.low
        return _OrderedValues(batch, numbers, FrameRange(begin, begin + high - low), known[batch.wanted], order)

    def places(self, end: FrameEnd, after: bool) -> Positions:
        """The first row that is in a frame that begins so, or the one behind the last in a frame that ends so."""
        peers = self.batch.peers
        own = (peers.high if after else peers.low)[self.batch.wanted]
        if not float(end.by):
            return own
        keys, type_ = self.keys[self.batch.wanted], self.order.expression.type
        if end.unit == "MONTH":
            found = self._search(self._months_away(keys, int(end.by)), np.full(len(keys), after))
        else:
            found = self._search(*_at_distance(keys, _distance(end, after, type_), after))
        return np.where(self.known, found, own)

    def _months_away(self, keys: npt.NDArray[Any], by: int) -> npt.NDArray[Any]:
        """Times that are months away, on the same day, or on the last one of a month that has none."""
        descending, day = self.order.descending, _MICROSECONDS["DAY"]
        times = ~keys if descending else keys
        is_date = self.order.expression.type.kind is Kind.DATE
        days, since = (times, np.zeros_like(times)) if is_date else np.divmod(times, day)
        dates = days.astype("datetime64[D]")
        months = dates.astype("datetime64[M]")
        moved = months + (-by if descending else by)
        within = np.minimum(dates - months.astype("datetime64[D]"), _last_day(moved))
        reached = (moved.astype("datetime64[D]") + within).astype(np.int64)
        reached = reached if is_date else reached * day + since
        return ~reached if descending else reached

    def _search(self, asked: npt.NDArray[Any], equal_before: Mask) -> Positions:
        """By binary search in all partitions at once."""
        low, high = self.some.low.copy(), self.some.high.copy()
        while len(open_ := np.flatnonzero(low < high)):
            middle = (low[open_] + high[open_]) // 2
            keys, wanted = self.keys[middle], asked[open_]
            before = (keys < wanted) | ((keys == wanted) & equal_before[open_])
            low[open_[before]] = middle[before] + 1
            high[open_[~before]] = middle[~before]
        return low


def _last_day(months: npt.NDArray[np.datetime64]) -> npt.NDArray[np.timedelta64]:
    """How many days behind the first one the last day of a month is."""
    return (months + 1).astype("datetime64[D]") - months.astype("datetime64[D]") - 1


def _distance(end: FrameEnd, after: bool, type_: DataType) -> float | int:
    """How far an end is in the numbers of ``comparable``."""
    if type_.kind is Kind.DOUBLE:
        return float(end.by)
    if type_.kind is Kind.TIMESTAMP:
        return int(end.by) * _MICROSECONDS[end.unit]
    unscaled = Decimal(end.by).scaleb(type_.scale)
    return int(unscaled.to_integral_value(ROUND_FLOOR if after else ROUND_CEILING))


def _at_distance(keys: npt.NDArray[Any], by: float | int, after: bool) -> tuple[npt.NDArray[Any], Mask]:
    """Numbers that are so far away, and of each whether what is equal to it stands before the place that is asked.

    Where 64 bits do not hold a number, all that they hold stand on one side of it.
    """
    before = np.full(len(keys), after)
    if keys.dtype.kind != "i":
        return keys + by, before
    by = max(-3 * _MOST, min(int(by), 3 * _MOST))  # no two numbers are farther apart
    while by:
        step = max(-_MOST, min(by, _MOST))
        moved = keys + np.int64(step)
        beyond = moved < keys if step > 0 else moved > keys
        keys = np.where(beyond, _MOST if step > 0 else -_MOST - 1, moved)
        before = np.where(beyond, step > 0, before)
        by -= step
    return keys, before


def _new(numbers: npt.NDArray[Any]) -> Mask:
    """Which numbers differ from the one before."""
    new = np.ones(len(numbers), dtype=bool)
    new[1:] = numbers[1:] != numbers[:-1]
    return new


def _runs(new: Mask) -> FrameRange:
    starts = np.flatnonzero(new)
    sizes = group_sizes(starts, len(new))
    return FrameRange(np.repeat(starts, sizes), np.repeat(starts + sizes, sizes))
