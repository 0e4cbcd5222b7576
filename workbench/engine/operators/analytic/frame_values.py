"""Computes values of analytic functions by position in a partition: the value at a position, a sum, a minimum or
maximum.

Counts and exact sums are differences of running ones, limb by limb (``storage.reduction``), and those of DOUBLE digit
by digit (``storage.exact_sums``), so that nothing depends on the order in which they are added up. The least and the
greatest of a frame are found by rank, so for every type: along the order where frames begin at the first row or end at
the last, and else in a sparse table, of which only the level is kept that a frame asks. What needs all values in order,
such as a median, is of a whole partition, and is counted through as in a group.

Source: Bender, Farach-Colton, The LCA problem revisited (LATIN 2000), for sparse tables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from workbench.arrow.types import Mask, to_arrow
from workbench.engine.operators.analytic.frame_statistics import statistic_over_frames
from workbench.engine.operators.analytic.frames import FrameRange, Frames, OrderedBatch
from workbench.engine.operators.analytic.matching import Matching, ShownRows
from workbench.engine.operators.analytic.ordered_rows import prefix_columns
from workbench.engine.operators.grouped.moments import moment_values
from workbench.engine.physical.analytic.reach import exact_products_of, known_along, running
from workbench.engine.physical.row_inputs import ProductInput, SingleInput, row_input, single_inputs
from workbench.engine.physical.value_statistics import ValueStatistic, statistic_of_values
from workbench.engine.storage.exact_sums import ExactSums
from workbench.engine.storage.grouping import Positions, group_rows
from workbench.engine.storage.indexes.prefix_index import Along
from workbench.engine.storage.reduction import Limbs, decimals_of, limbs_of
from workbench.sql.algebra.analytic import DISTRIBUTIONS, NEIGHBOURS, POSITIONS, AnalyticCall, Frame, FrameEnd, Over
from workbench.sql.algebra.expressions import AggregateCall, Column, Constant
from workbench.sql.algebra.patterns import MatchPattern, Navigation
from workbench.sql.algebra.types import DataType
from workbench.sql.functions.aggregate_rules import RULES, Powers

_FARTHEST = 2**40
"""More rows than a partition has."""

MarkValue = Callable[[OrderedBatch], npt.NDArray[Any]]

NUMBERS = {"row_number": "_place", "rank": "_rank", "dense_rank": "_group"}
"""Functions whose value is a mark of the row."""


@dataclass(frozen=True)
class FrameValue:
    """A function over ordered rows, ready to be evaluated.

    Attributes:
        function: which one.
        arguments: over the rows' columns; what is a constant of the function itself is not among them.
        before: the columns with what is known of all rows before: of each of what is kept along the order those it has.
        of_values: the statistic of all values of a partition that it is.
    """

    function: AnalyticCall
    arguments: tuple[SingleInput, ...]
    before: tuple[tuple[str, ...], ...] = ()
    of_values: ValueStatistic | None = None

    @property
    def inputs(self) -> tuple[SingleInput, ...]:
        """The inputs from which it is computed."""
        return self.arguments if self.of_values is None else single_inputs(self.of_values.of.value)

    def values(self, batch: OrderedBatch) -> pa.Array:
        """The value of each wanted row, in the function's stored type."""
        name = self.function.function
        if name in NUMBERS:
            return pa.array(batch.mark(NUMBERS[name]))
        if self.function.pattern is not None and self.function.value is not None:
            return self._match(batch, self.function.pattern, self.function.value)
        if name in _SHARES:
            return self._share(batch, _SHARES[name](batch))
        if name == "ntile":
            return pa.array(_ntile(batch, _whole_number(self.function, 0)))
        if self.of_values is not None:
            return statistic_over_frames(self.function, batch, self.of_values)
        arguments = [argument.values(batch.rows) for argument in self.arguments]
        if name in NEIGHBOURS:
            return self._neighbour(batch, arguments)
        once = self._once(batch, arguments) if self.function.distinct else None
        if products := exact_products_of(self.function):
            return self._of_products(batch, products, once)
        if once is not None:
            arguments = [pc.if_else(once, argument, None) for argument in arguments]
        return self._of_frame(batch, batch.frames(self.function), arguments)

    def _share(self, batch: OrderedBatch, shares: npt.NDArray[np.float64]) -> pa.Array:
        """A share, or on which side of a number it is."""
        if not self.function.arguments:
            return pa.array(shares)
        (number,) = self.function.arguments
        assert isinstance(number, Constant) and isinstance(number.value, float)
        return pa.array((shares > number.value).astype(np.int64) - (shares < number.value))

    def _match(self, batch: OrderedBatch, pattern: MatchPattern, read: Navigation) -> pa.Array:
        """A value of matches; these are found once for all values of them."""
        of_conditions = self.arguments[: pattern.arguments]
        key = (pattern, of_conditions)
        types = [argument.type for argument in self.function.arguments]
        known, more = (
            tuple(argument.values(batch.rows) for argument in some)
            for some in (of_conditions, self.arguments[pattern.arguments :])
        )
        matching = Matching(batch, pattern, known, partial(_statistic, types), batch.limits.choices_per_match)
        if key not in batch.shared_values:
            batch.shared_values[key] = ShownRows.of(matching)
        shown: ShownRows = batch.shared_values[key]
        return shown.values(replace(matching, arguments=(*known, *more)), read)

    def _once(self, batch: OrderedBatch, arguments: list[pa.Array]) -> Mask:
        """Of equal values in a partition, the one that is in a frame where any of them is: the first, or the last."""
        at, starts = group_rows([batch.rows.column("_part"), *arguments], batch.rows.num_rows)
        frame = self.function.frame
        nearest = np.minimum if frame is None or frame.start is None else np.maximum
        once = np.zeros(batch.rows.num_rows, dtype=bool)
        once[nearest.reduceat(at, starts) if len(at) else at] = True
        return once

    def _of_frame(self, batch: OrderedBatch, frames: Frames, arguments: list[pa.Array]) -> pa.Array:
        name = self.function.function
        if name in POSITIONS:
            at, known = self._position(batch, frames, arguments)
            return _taken(arguments[0], at, known)
        if name == "count":
            return pa.array(self._counts(batch, frames, arguments))
        if name == "sum":
            return self._sum(batch, frames, arguments[0]).cast(to_arrow(self.function.type))
        return _extreme(batch, frames, self.function, arguments[0], self._known(batch, 0))

    def _known(self, batch: OrderedBatch, column: int, at: int = 0) -> pa.Array | None:
        """The known values of all rows before each partition's rows; ``None``: there are none."""
        return batch.rows.column(self.before[at][column]).take(pa.array(batch.starts)) if self.before else None

    def _sums_before(self, batch: OrderedBatch, at: int = 0) -> ExactSums:
        """The sum of all rows that come before the partition of each wanted row."""
        texts = self._known(batch, 1, at)
        none = ExactSums({}, len(batch.starts))
        return (none if texts is None else ExactSums.of_texts(texts)).chosen(batch.group)

    def _counts_before(self, batch: OrderedBatch) -> Positions:
        known = self._known(batch, 0)
        none = np.zeros(len(batch.wanted), dtype=np.int64)
        return none if known is None else np.asarray(known.fill_null(0).to_numpy()[batch.group])

    def _of_products(self, batch: OrderedBatch, products: Iterable[Powers], once: Mask | None) -> pa.Array:
        """A statistic of exact sums, once for each of the different frames."""
        ends = [end for frame in batch.frames(self.function) for end in (frame.low, frame.high)]
        each, which = np.unique(np.stack(ends), axis=1, return_inverse=True)
        different = tuple(FrameRange(*each[at : at + 2]) for at in range(0, len(each), 2))
        weights = np.ones(batch.rows.num_rows, dtype=np.int64) if once is None else once.astype(np.int64)
        sums, counts = {}, np.zeros(each.shape[1], dtype=np.int64)
        # Frames of two partitions differ where anything is known of rows before.
        which, of_each = which.reshape(-1), np.zeros(each.shape[1], dtype=np.int64)
        of_each[which] = np.arange(len(batch.wanted))
        for number, powers in enumerate(products):
            product = ProductInput(self.arguments, powers)
            counts = _differences(np.asarray(product.values(batch.rows).is_valid()) * weights, different)
            counts = counts + self._counts_before(batch)[of_each]
            digits = product.products(batch.rows, weights).columns
            own = ExactSums({at: _differences(d, different) for at, d in digits.items()}, len(counts))
            sums[powers] = own.plus(self._sums_before(batch, number).chosen(of_each))
        return moment_values(self.function.function, counts, sums).take(pa.array(which))

    def _neighbour(self, batch: OrderedBatch, arguments: list[pa.Array]) -> pa.Array:
        value, default = arguments[0], arguments[-1] if len(self.function.arguments) > 2 else None
        by, said = self._offsets(batch, arguments)
        by = -by if self.function.function == "lag" else by
        part = batch.part
        at = batch.wanted + by
        known = said & (at >= part.low) & (at < part.high)
        if self.function.ignore_nulls:
            some = _Known.of(value)
            low, high = some.count[part.low], some.count[part.high]
            number = some.count[batch.wanted + (by > 0)] + by - (by > 0)
            known = np.where(by == 0, known, said & (number >= low) & (number < high))
            at = np.where(by == 0, at, some.place(number))
        values = _taken(value, at, known).cast(to_arrow(self.function.type))
        if default is None:
            return values
        # A neighbour that is there and is NULL stays NULL.
        return pc.if_else(pa.array(known | ~said), values, default.take(pa.array(batch.wanted)).cast(values.type))

    def _offsets(self, batch: OrderedBatch, arguments: list[pa.Array]) -> tuple[Positions, Mask]:
        """How many rows away the value of each wanted row is, and whether that is known."""
        if _constant_offset(self.function):
            number = np.full(len(batch.wanted), _whole_number(self.function, 1))
            return number, np.ones(len(number), dtype=bool)
        given = arguments[1].take(pa.array(batch.wanted))
        number = given.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
        return np.clip(number, -_FARTHEST, _FARTHEST), np.asarray(given.is_valid())

    def _position(self, batch: OrderedBatch, frames: Frames, arguments: list[pa.Array]) -> tuple[Positions, Mask]:
        """The place of the row whose value it is, and whether there is one."""
        value = arguments[0]
        some = _Known.of(value) if self.function.ignore_nulls else None
        ranges = frames if some is None else [FrameRange(some.count[f.low], some.count[f.high]) for f in frames]
        length = np.sum([f.lengths for f in ranges], axis=0)
        left = length if self.function.function == "last_value" else np.ones_like(length)
        if self.function.function == "nth_value":
            left, _ = self._offsets(batch, arguments)
        known, at = np.asarray((left > 0) & (left <= length)), np.zeros_like(length)
        for each in ranges:
            at = np.where((left > 0) & (left <= each.lengths), each.low + left - 1, at)
            left = left - each.lengths
        return (at if some is None else some.place(at)), known

    def _counts(self, batch: OrderedBatch, frames: Frames, arguments: list[pa.Array]) -> Positions:
        if not arguments:
            if not running(self.function):
                return np.asarray(sum(frame.lengths for frame in frames))
            # Rows that are not read have numbers, too: the last one has that of all.
            unread = batch.rows.column("_place").to_numpy()[batch.part.high - 1] - batch.part.lengths
            return unread + frames[0].lengths
        return _differences(np.diff(_Known.of(arguments[0]).count), frames) + self._counts_before(batch)

    def _sum(self, batch: OrderedBatch, frames: Frames, value: pa.Array) -> pa.Array:
        none = self._counts(batch, frames, [value]) == 0
        scale = value.type.scale if pa.types.is_decimal(value.type) else 0
        sums = [_differences(limb, frames) for limb in limbs_of(value)]
        if self.before:
            sums = _added(sums, self._sums_before(batch).limbs())
        return decimals_of(sums, scale, none)


def frame_value(function: AnalyticCall, along: tuple[Along, ...]) -> FrameValue:
    """A function over ordered rows.

    Args:
        function: which one.
        along: of what rows come with what is known of all rows before their partition's.
    """
    name, given = function.function, function.arguments
    own = () if name in DISTRIBUTIONS else (*given[:1], *given[2:]) if _constant_offset(function) else given
    if name in RULES and not RULES[name].framed and not RULES[name].products:
        statistic = AggregateCall(name, given, function.type, function.distinct)
        return FrameValue(function, (), of_values=statistic_of_values(statistic))
    known = known_along(function) or () if running(function) and along else ()
    return FrameValue(function, tuple(map(row_input, own)), tuple(prefix_columns(k, along.index(k)) for k in known))


@dataclass(frozen=True)
class _Gathered(OrderedBatch):
    """Rows of partitions, gathered one after the other, and frames as ranges of them."""

    ranges: FrameRange = field(kw_only=True)

    def frames(self, function: AnalyticCall) -> Frames:
        """The ranges."""
        return (self.ranges,)


def _statistic(
    types: Sequence[DataType], read: Navigation, argument: pa.Array | None, rows: Positions, ranges: FrameRange
) -> pa.Array:
    """A statistic of ranges of some rows, which need not be neighbours; see ``matching.Statistic``."""
    if argument is None:
        return pa.array(ranges.lengths)
    if not len(rows):
        known = 0 if read.found == "count" else None
        return pa.array([known] * len(ranges.low), to_arrow(read.type))
    over = Over((), ())
    value = Column("_value", types[read.argument])
    function = AnalyticCall(read.found, (value,), read.type, over, Frame("rows", FrameEnd("0"), FrameEnd("0")))
    together = pa.RecordBatch.from_arrays([argument.take(pa.array(rows))], names=[value.name])
    return frame_value(function, ()).values(_Gathered(together, np.arange(len(ranges.low)), ranges=ranges))


@dataclass(frozen=True)
class _Known:
    """The values that are not NULL.

    Attributes:
        at: their places.
        count: how many are before each place, and behind the last one all.
    """

    at: Positions
    count: Positions

    @staticmethod
    def of(values: pa.Array) -> _Known:
        if not values.null_count:
            return _Known(np.arange(len(values)), np.arange(len(values) + 1))
        valid = np.asarray(values.is_valid())
        return _Known(np.flatnonzero(valid), np.concatenate([[0], np.cumsum(valid)]))

    def place(self, number: Positions) -> Positions:
        """The place of the value with a number; any place where there is no such value."""
        return self.at[np.clip(number, 0, len(self.at) - 1)] if len(self.at) else np.zeros_like(number)


def _taken(values: pa.Array, at: Positions, known: Mask) -> pa.Array:
    return values.take(pa.array(np.where(known, at, 0), mask=~known))


def _constant_offset(function: AnalyticCall) -> bool:
    """Whether its values are of rows that are as far away from every row."""
    if function.function not in (*NEIGHBOURS, "nth_value"):
        return False
    offset = function.arguments[1]
    return isinstance(offset, Constant) and isinstance(offset.value, int)


def _whole_number(function: AnalyticCall, argument: int) -> int:
    constant = function.arguments[argument]
    assert isinstance(constant, Constant)
    return int(str(constant.value))


def _percent_rank(batch: OrderedBatch) -> npt.NDArray[np.float64]:
    others = batch.mark("_rows") - 1
    return np.asarray(np.where(others == 0, 0.0, (batch.mark("_rank") - 1) / np.maximum(others, 1)))


def _cume_dist(batch: OrderedBatch) -> npt.NDArray[np.float64]:
    return np.asarray(batch.mark("_last") / batch.mark("_rows"))


_SHARES: dict[str, MarkValue] = {"percent_rank": _percent_rank, "cume_dist": _cume_dist}


def _ntile(batch: OrderedBatch, tiles: int) -> Positions:
    """The number of a row's tile; the first tiles have one row more where they cannot be of one size."""
    row = batch.mark("_place") - 1
    size, large = np.divmod(batch.mark("_rows"), tiles)
    in_large = large * (size + 1)
    return np.where(row < in_large, row // (size + 1), large + (row - in_large) // np.maximum(size, 1)) + 1


def _differences(numbers: Positions, frames: Frames) -> Positions:
    sums = np.concatenate([[0], np.cumsum(numbers)])
    return np.asarray(sum(sums[frame.high] - sums[frame.low] for frame in frames))


def _added(one: Limbs, other: Limbs) -> Limbs:
    """Sums of limbs; the last one of the shorter is signed, and so is added to the same limb of the longer."""
    longer, shorter = sorted([one, other], key=len, reverse=True)
    return [limb + shorter[at] if at < len(shorter) else limb for at, limb in enumerate(longer)]


def _extreme(
    batch: OrderedBatch, frames: Frames, function: AnalyticCall, values: pa.Array, before: pa.Array | None
) -> pa.Array:
    """The least or the greatest value of each frame; ``before``: that of all rows before each partition's."""
    values = values if before is None else pa.concat_arrays([values, before.cast(values.type)])
    order = pc.sort_indices(values).to_numpy()  # NaN is the largest number, and NULL stands at the end
    known = len(values) - values.null_count
    rank = np.full(len(values), -1)
    ranks = np.arange(known)
    rank[order[:known]] = ranks if function.function == "max" else ranks[::-1]
    rank, earlier = rank[: batch.rows.num_rows], rank[batch.rows.num_rows :]
    frame, (first, *rest) = function.frame, frames
    if rest:
        best = np.maximum.reduce([_greatest(rank, stretch) for stretch in frames])
    elif frame is None or frame.start is None:
        best = _greatest_along(rank, batch.parts.low)[np.maximum(first.high - 1, 0)]
    elif frame.end is None:
        backwards = _greatest_along(rank[::-1], -batch.parts.high[::-1])[::-1]
        best = backwards[np.minimum(first.low, len(rank) - 1)]
    else:
        best = _greatest(rank, first)
    best = np.where(sum(stretch.lengths for stretch in frames) > 0, best, -1)
    best = best if before is None else np.maximum(best, earlier[batch.group])
    found = best >= 0
    best = np.where(found, best if function.function == "max" else known - 1 - best, 0)
    return _taken(values, order[best], found)


def _greatest_along(rank: Positions, part: Positions) -> Positions:
    """The greatest rank up to each row of its partition; numbers of partitions ascend."""
    above = np.cumsum(np.diff(part, prepend=part[:1]) != 0) * (int(rank.max(initial=0)) + 2)
    return np.asarray(np.maximum.accumulate(rank + above) - above)


def _greatest(rank: Positions, frames: FrameRange) -> Positions:
    """The greatest rank of each frame, by two overlapping stretches of a power of two."""
    best = np.full(len(frames.low), -1)
    level, length = rank, 1
    longest = int(frames.lengths.max(initial=0))
    while length <= longest:
        asks = np.flatnonzero((frames.lengths >= length) & (frames.lengths < 2 * length))
        best[asks] = np.maximum(level[frames.low[asks]], level[frames.high[asks] - length])
        if len(level) > length:
            level = np.maximum(level[:-length], level[length:])
        length *= 2
    return best
