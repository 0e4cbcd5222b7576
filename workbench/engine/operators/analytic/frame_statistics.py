"""Statistics of the values of frames, such as a median and a list, which need all of them.

The values of a whole partition are counted through as in a group. Of frames each has its own copy of its values: they
are put in order together, or stand in the order of their rows. So a frame may have ``LONGEST_FRAME`` rows at most; a
query with a longer one stops (``sql.checks``).
"""

from __future__ import annotations

import itertools

import numpy as np
import pyarrow as pa

from workbench.arrow.types import Mask, to_arrow
from workbench.engine.operators.analytic.frames import FrameRange, Frames, OrderedBatch
from workbench.engine.operators.grouped.value_counts import SortedValues, lists_of_groups
from workbench.engine.physical.value_statistics import ValueStatistic
from workbench.engine.storage.grouping import Positions
from workbench.engine.storage.sort_keys import last_values
from workbench.sql.algebra.analytic import LONGEST_FRAME, ROW_ORDER, AnalyticCall
from workbench.sql.functions.aggregate_rules import ARRAYS

_FIRST_KEYS = {"listagg": 2, **ARRAYS}
"""Lists, and how many arguments stand before the keys that their values are ordered by."""
_SORTED_TOGETHER = 1_000_000
"""Values of frames that are sorted at a time, about; they are copied for each frame that they are in."""


def statistic_over_frames(function: AnalyticCall, batch: OrderedBatch, statistic: ValueStatistic) -> pa.Array:
    """The statistic of the frame of each wanted row, in the function's stored type."""
    if function.arguments[_FIRST_KEYS.get(function.function, len(function.arguments)) :] == (ROW_ORDER,):
        found = _lists_of_frames(function, batch, statistic)
    else:
        of_values = _of_partition if function.frame is None else _of_frames
        found = of_values(function, batch, statistic)
    return found.cast(to_arrow(function.type))


def _of_partition(function: AnalyticCall, batch: OrderedBatch, statistic: ValueStatistic) -> pa.Array:
    """A statistic of all values of each wanted row's partition."""
    values = statistic.of.value.values(batch.rows)
    group = np.searchsorted(batch.starts, batch.parts.low)
    known = np.asarray(values.is_valid())
    pieces = [(values.filter(pa.array(known)), group[known], np.ones(int(known.sum()), dtype=np.int64))]
    found = SortedValues.of(pieces, len(batch.starts)).statistic(statistic)
    return found.take(pa.array(group[batch.wanted]))


def _of_frames(function: AnalyticCall, batch: OrderedBatch, statistic: ValueStatistic) -> pa.Array:
    """A statistic of the values of each wanted row's frame, each of which is short."""
    values, frames = statistic.of.value.values(batch.rows), _short_frames(function, batch)
    known, through = np.asarray(values.is_valid()), np.cumsum(sum(frame.lengths for frame in frames))
    cuts = np.searchsorted(through, np.arange(0, through[-1] if len(through) else 0, _SORTED_TOGETHER))
    found = [pa.nulls(0, to_arrow(function.type))]
    for low, high in itertools.pairwise([*np.unique([0, *cuts]), len(through)]):
        pieces = []
        for frame in frames:
            group, at = _rows_of(FrameRange(frame.low[low:high], frame.high[low:high]), known)
            pieces.append((values.take(pa.array(at)), group, np.ones(len(at), dtype=np.int64)))
        found.append(SortedValues.of(pieces, high - low).statistic(statistic).cast(to_arrow(function.type)))
    return pa.concat_arrays(found)


def _lists_of_frames(function: AnalyticCall, batch: OrderedBatch, statistic: ValueStatistic) -> pa.Array:
    """The list of the values of each wanted row's frame, in the order of the rows."""
    values, frames = statistic.of.value.values(batch.rows), _short_frames(function, batch)
    known = np.asarray(values.is_valid())
    each = [_rows_of(frame, known) for frame in frames]
    group, at = (np.concatenate(some) for some in zip(*each, strict=True))
    if len(frames) > 1:
        order = np.argsort(group, kind="stable")  # stretches of a frame come one after the other
        group, at = group[order], at[order]
    place = np.cumsum(known) - 1
    elements = last_values(values.filter(pa.array(known)), [to_arrow(type_) for type_ in statistic.last_of])
    return lists_of_groups(elements.take(pa.array(place[at])), group, len(batch.wanted), statistic)


def _short_frames(function: AnalyticCall, batch: OrderedBatch) -> Frames:
    """The frames, without those that are too long: their query stops (``checks``)."""
    frames = batch.frames(function)
    if function.frame is None or function.frame.is_short:
        return frames
    short = sum(frame.lengths for frame in frames) <= LONGEST_FRAME
    return tuple(FrameRange(frame.low, np.where(short, frame.high, frame.low)) for frame in frames)


def _rows_of(frames: FrameRange, known: Mask) -> tuple[Positions, Positions]:
    """The known rows of frames, frame by frame: the number of the frame, and the place of the row."""
    lengths = frames.lengths
    group = np.repeat(np.arange(len(lengths)), lengths)
    at = np.arange(len(group)) + np.repeat(frames.low - np.cumsum(lengths) + lengths, lengths)
    return group[known[at]], at[known[at]]
