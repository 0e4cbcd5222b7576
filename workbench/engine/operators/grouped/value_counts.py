"""Counts of the values of groups: which values come into a group or leave it, and statistics over all of them.

The state of a group has a row for each value of an expression that is counted there (``physical.value_statistics``).
The change of these rows comes with the fragments of the group, in the same task.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from workbench.arrow.stored_values import as_shown, to_texts
from workbench.arrow.types import filled, to_arrow
from workbench.engine.operators.grouped.addends import added_to, reduced
from workbench.engine.operators.grouped.interpolation import between
from workbench.engine.operators.grouped.statistics import cast_or_null
from workbench.engine.physical.aggregate_plan import LIVE, GroupedPlan
from workbench.engine.physical.value_statistics import VALUES, CountedValues, DistinctPart, ValueStatistic
from workbench.engine.storage.grouping import (
    Positions,
    group_rows,
    group_sizes,
    not_distinct,
    numbers_of,
    with_equal_bits,
)
from workbench.engine.storage.layout import WEIGHT
from workbench.engine.storage.reduction import Cells
from workbench.engine.storage.sort_keys import last_values
from workbench.sql.functions.aggregate_rules import DESCENDING

CountArray = npt.NDArray[np.int64]

_MANTISSAS = 512
"""Mantissas, each at least a half, whose product is not too small for a DOUBLE."""


@dataclass(frozen=True)
class ChangedValues:
    """The values of dirty groups whose count changes.

    Attributes:
        rows: of the state, one for each value.
        group: the position of each value's group among the dirty groups.
    """

    rows: pa.RecordBatch
    group: Positions

    @staticmethod
    def split(plan: GroupedPlan, dirty: pa.RecordBatch) -> tuple[pa.RecordBatch, ChangedValues | None]:
        """Split rows into rows of groups and rows of their values; ``None`` where no values are counted."""
        if not plan.counted:
            return dirty, None
        of_group = dirty.column(VALUES).to_numpy() == 0
        at, values = np.flatnonzero(of_group), np.flatnonzero(~of_group)
        order, starts = group_rows([dirty.column(name) for name in plan.keys], dirty.num_rows)
        number = numbers_of(order, starts)
        position = np.empty(len(starts), dtype=np.int64)
        position[number[at]] = np.arange(len(at))
        return dirty.take(pa.array(at)), ChangedValues(dirty.take(pa.array(values)), position[number[values]])

    @property
    def counts(self) -> CountArray:
        """By how much each count changes."""
        return _counts(self.rows)

    def of(self, values: CountedValues) -> ChangedValues:
        """The changes of one expression's values."""
        own = np.flatnonzero(self.rows.column(VALUES).to_numpy() == values.number)
        return ChangedValues(self.rows.take(pa.array(own)), self.group[own])

    def distinct_change(self, part: DistinctPart, before: CountArray, groups: int) -> pa.Array:
        """The change of a part that takes each value once.

        Args:
            part: which one; these are the values that it is of.
            before: how often each value was in its group.
            groups: how many dirty groups there are.
        """
        change = (before + self.counts > 0).astype(np.int64) - (before > 0)
        moving = np.flatnonzero(change)
        moving = moving[np.argsort(self.group[moving], kind="stable")]
        values = self.rows.column(part.of.column).take(pa.array(moving))
        batch = pa.RecordBatch.from_pydict({part.of.column: values, WEIGHT: change[moving]})
        added = added_to(part.part, batch, 0, lambda value: value.values(batch))
        owner = self.group[moving]
        starts = np.flatnonzero(np.diff(owner, prepend=-1))
        cells = Cells.of_one_reader(starts, len(moving))
        place = np.full(groups, -1, dtype=np.int64)
        place[owner[starts]] = np.arange(len(starts))
        sums = reduced(part.part, added, cells) if len(moving) else pa.nulls(0, to_arrow(part.type))
        return sums.take(pa.array(place, mask=place < 0))


@dataclass(frozen=True)
class SortedValues:
    """The values of groups in order, group by group, and how often each is there; no count is 0.

    Attributes:
        values: NaN is the largest number.
        group: the position of each value's group.
        counts: how often the group has the value.
        groups: how many groups there are.
    """

    values: pa.Array
    group: Positions
    counts: CountArray
    groups: int

    @staticmethod
    def of(pieces: Sequence[tuple[pa.Array, Positions, CountArray]], groups: int) -> SortedValues:
        """Values from several changes of counts: values, groups and counts of each."""
        values = with_equal_bits(pa.concat_arrays([piece[0] for piece in pieces]))
        group = np.concatenate([piece[1] for piece in pieces])
        counts = np.concatenate([piece[2] for piece in pieces])
        table = pa.table({"group": pa.array(group), "value": values})
        order = pc.sort_indices(table, [("group", "ascending"), ("value", "ascending")])
        values, at = values.take(order), order.to_numpy()
        group, counts = group[at], counts[at]
        if len(at):
            new = np.ones(len(at), dtype=bool)
            new[1:] = (group[1:] != group[:-1]) | ~not_distinct(values[1:], values[:-1])
            starts = np.flatnonzero(new)
            counts = np.add.reduceat(counts, starts)
            left = starts[counts > 0]
            values, group, counts = values.take(pa.array(left)), group[left], counts[counts > 0]
        return SortedValues(values, group, counts, groups)

    def statistic(self, statistic: ValueStatistic) -> pa.Array:
        """A statistic of each group; NULL of a group without values."""
        own = replace(self, counts=np.ones_like(self.counts)) if statistic.distinct else self
        match statistic.function:
            case "min":
                result = own._taken(own._first)
            case "max":
                result = own._taken(np.append(own._first[1:], len(own.group)) - 1)
            case "mode":
                result = own._taken(own._most_frequent())
            case "median" | "percentile":
                result = own._percentile(float(statistic.fraction))
            case "quantile_cont":
                result = own._interpolated(float(statistic.fraction))
            case "mad":
                result = own._median_deviation()
            case "percentile_disc" | "percentile_disc_desc":
                result = own._at_ranks(statistic)
            case "entropy":
                result = own._entropy()
            case "product":
                result = own._product()
            case "frequencies":
                return own._frequencies(statistic)
            case _:
                return own._lists(statistic)
        return shown_statistic(result, statistic)

    @property
    def _first(self) -> Positions:
        """Where the values of each group that has some begin."""
        return np.flatnonzero(np.diff(self.group, prepend=-1))

    @property
    def _totals(self) -> CountArray:
        """How many values each group has, equal ones counted."""
        totals = np.zeros(self.groups, dtype=np.int64)
        np.add.at(totals, self.group, self.counts)
        return totals

    @property
    def _floats(self) -> npt.NDArray[np.float64]:
        return np.asarray(self.values.to_numpy(zero_copy_only=False), dtype=np.float64)

    def _taken(self, at: Positions) -> pa.Array:
        """For each group the value at a position; there is one for each group that has values."""
        place = np.full(self.groups, -1, dtype=np.int64)
        place[self.group[self._first]] = at
        return self.values.take(pa.array(place, mask=place < 0))

    def _numbers(self, numbers: npt.NDArray[np.float64]) -> pa.Array:
        return pa.array(numbers, mask=self._totals == 0)

    def _most_frequent(self) -> Positions:
        """Of equally frequent values the smallest, so that the answer does not depend on the order of rows."""
        order = np.lexsort((np.arange(len(self.group)), -self.counts, self.group))
        return order[self._first]

    def _entropy(self) -> pa.Array:
        """The entropy of each group's values, in bits."""
        totals = self._totals
        share = self.counts / totals[self.group]
        entropy = np.bincount(self.group, -share * np.log2(share), self.groups)
        return self._numbers(np.asarray(entropy, dtype=np.float64))

    def _product(self) -> pa.Array:
        """The product of each group's DOUBLEs, in their order.

        Mantissas and exponents are multiplied apart, and only some mantissas at a time, so that no product of some
        values is too large or too small.
        """
        group = np.repeat(self.group, self.counts)
        mantissas, powers = np.frexp(np.repeat(self._floats, self.counts))
        exponents = np.bincount(group, powers, self.groups).astype(np.int64)
        while len(group) and len(group) > len(self._first):
            starts = _starts_of_some(group, _MANTISSAS)
            mantissas, powers = np.frexp(np.multiply.reduceat(mantissas, starts))
            group = group[starts]
            np.add.at(exponents, group, powers)
        products = np.ones(self.groups)
        products[group] = mantissas
        return self._numbers(np.ldexp(products, exponents))

    def _frequencies(self, statistic: ValueStatistic) -> pa.Array:
        """How often each value of each group is there, in the order of the values, as the text of an array."""
        ends = np.searchsorted(self.group, np.arange(self.groups + 1)).astype(np.int32)
        texts = to_texts(pa.ListArray.from_arrays(ends, pa.array(self.counts)), statistic.type)
        return pc.if_else(pa.array(self._totals > 0), texts, None)

    def _lists(self, statistic: ValueStatistic) -> pa.Array:
        """The last values of all tuples of each group, in their order: as a joined text, or as the text of an array."""
        at = np.arange(len(self.group))
        if statistic.function.endswith(DESCENDING):
            at = at[::-1]
            at = at[np.argsort(self.group[at], kind="stable")]
        if statistic.limit is None:
            at = np.repeat(at, self.counts[at])
        else:
            at = np.repeat(at, np.minimum(self.counts[at], statistic.limit))
            at = at[np.arange(len(at)) - np.searchsorted(self.group[at], self.group[at]) < statistic.limit]
        elements = last_values(self.values.take(pa.array(at)), [to_arrow(type_) for type_ in statistic.last_of])
        return lists_of_groups(elements, self.group[at], self.groups, statistic)

    def _at_ranks(self, statistic: ValueStatistic) -> pa.Array:
        """The value at a place of each group, equal ones counted."""
        totals, through = self._totals, np.cumsum(self.counts)
        there = totals[totals > 0]
        ranks = np.array([place_of(statistic, int(total)) for total in there], dtype=np.int64)
        return self._taken(np.searchsorted(through, np.cumsum(there) - there + ranks, side="right"))

    def _percentile(self, fraction: float) -> pa.Array:
        """The percentile of each group."""
        totals, through = self._totals, np.cumsum(self.counts)
        before = np.cumsum(totals) - totals
        if not len(self.group):
            return pa.nulls(self.groups, pa.float64())
        last = len(self.group) - 1

        def value_at(rank: CountArray) -> npt.NDArray[np.float64]:
            return self._floats[np.minimum(np.searchsorted(through, before + rank, side="right"), last)]

        return self._numbers(percentile(np.maximum(totals, 1), fraction, value_at))

    def _interpolated(self, fraction: float) -> pa.Array:
        """The percentile of each group, in the type of the values."""
        through, totals = np.cumsum(self.counts), self._totals
        there = np.flatnonzero(totals)
        before, place = (np.cumsum(totals) - totals)[there], np.full(self.groups, -1, dtype=np.int64)
        low, high, share = ranks_around(totals[there], fraction)
        at_low, at_high = (np.searchsorted(through, before + rank, side="right") for rank in (low, high))
        found = between(self.values.take(pa.array(at_low)), self.values.take(pa.array(at_high)), share)
        place[there] = np.arange(len(there))
        return found.take(pa.array(place, mask=place < 0))

    def _median_deviation(self) -> pa.Array:
        """The median of the distances of the values of each group from its median."""
        middle = self._percentile(0.5).to_numpy(zero_copy_only=False)
        with np.errstate(invalid="ignore"):
            away = np.abs(self._floats - middle[self.group])
        return SortedValues.of([(pa.array(away), self.group, self.counts)], self.groups)._percentile(0.5)


def lists_of_groups(elements: pa.Array, group: Positions, groups: int, statistic: ValueStatistic) -> pa.Array:
    """The elements of each group as a joined text, or as the text of an array; NULL of a group that has none.

    Args:
        elements: group by group.
        group: of each.
        groups: how many there are.
        statistic: which list it is.
    """
    ends = np.searchsorted(group, np.arange(groups + 1)).astype(np.int32)
    if statistic.function.startswith("listagg"):
        texts = pc.binary_join(pa.ListArray.from_arrays(ends, elements), statistic.separator)
    else:
        shown = as_shown(elements, statistic.last_of[-1])
        texts = to_texts(pa.ListArray.from_arrays(ends, shown), statistic.type)
    return pc.if_else(pa.array(np.diff(ends) > 0), texts, None)


def _starts_of_some(group: Positions, most: int) -> Positions:
    """Where runs of one group begin, none of which is longer than some rows; groups stand in their order."""
    of_group = np.flatnonzero(np.diff(group, prepend=-1))
    place = np.arange(len(group)) - np.repeat(of_group, group_sizes(of_group, len(group)))
    return np.flatnonzero(place % most == 0)


def median_deviation(total: int, value_at: Callable[[int], float]) -> float:
    """The median of the distances from the median of the values, which is finite; NaN is farthest away.

    Those up to the median, and those behind it, are in the order of their distances, so the nearest of both are found
    by a binary search.

    Args:
        total: how many values there are, at least one.
        value_at: the value that has a rank, from 0.

    Example:
        >>> median_deviation(5, [1.0, 2.0, 4.0, 8.0, 100.0].__getitem__)
        3.0
    """
    half = (total - 1) // 2
    middle = middle_of(total, value_at)

    def up_to_median(rank: int, low: int, high: int) -> int:
        """How many of the ``rank`` nearest are up to the median: from ``low`` to ``high``."""
        low, high = max(low, rank - (total - half - 1)), min(high, rank, half + 1)
        while low < high:
            first = (low + high) // 2
            if value_at(half + rank - first) - middle <= middle - value_at(half - first):
                high = first
            else:
                low = first + 1
        return low

    nearer = up_to_median(half, 0, half)

    def away(rank: int) -> float:
        low = nearer if rank == half else up_to_median(rank, nearer, nearer + 1)
        behind = half + 1 + rank - low
        nearest = [middle - value_at(half - low)] if low <= half else []
        return min([*nearest, *([value_at(behind) - middle] if behind < total else [])])

    return middle_of(total, away)


def middle_of(total: int, value_at: Callable[[int], float]) -> float:
    """The value in the middle, or between the two in the middle; see ``percentile``."""
    low = value_at((total - 1) // 2)
    return low if total % 2 else low * 0.5 + value_at(total // 2) * 0.5


def shown_statistic(result: pa.Array, statistic: ValueStatistic) -> pa.Array:
    """The statistic from the value that was found in each group: the value, or the last one of a tuple."""
    if statistic.last_of:
        return last_values(result, [to_arrow(type_) for type_ in statistic.last_of])
    return cast_or_null(result, to_arrow(statistic.type))


def place_of(statistic: ValueStatistic, total: int) -> int:
    """The place, from 0, of the value that a statistic takes of a number of values in order.

    PERCENTILE_DISC takes the first value up to which there is at least the fraction of all values.

    Example:
        >>> from workbench.sql.algebra.types import DOUBLE
        >>> from workbench.engine.physical.row_inputs import row_input
        >>> from workbench.sql.algebra.expressions import Column
        >>> of = CountedValues(1, "x", DOUBLE, row_input(Column("x", DOUBLE)))
        >>> [place_of(ValueStatistic("percentile_disc", of, DOUBLE), total) for total in (1, 2, 3)]
        [0, 0, 1]
    """
    place = max(1, math.ceil(statistic.fraction * total)) - 1
    return place if statistic.function == "percentile_disc" else total - 1 - place


def percentile(
    totals: CountArray, fraction: float, value_at: Callable[[CountArray], npt.NDArray[np.float64]]
) -> npt.NDArray[np.float64]:
    """Percentiles as Spark computes them: linear between the two nearest values.

    Args:
        totals: how many values each group has, at least one.
        fraction: from 0 to 1.
        value_at: the value of each group that has a rank there, from 0.
    """
    low, high, share = ranks_around(totals, fraction)
    at_low, at_high = value_at(low), value_at(high)
    with np.errstate(invalid="ignore"):
        found = (1 - share) * at_low + share * at_high
    return np.where((low == high) | (at_low == at_high), at_low, found)


def ranks_around(totals: CountArray, fraction: float) -> tuple[CountArray, CountArray, npt.NDArray[np.float64]]:
    """The ranks of the two values that a percentile is between, from 0, and how far it is from the first.

    Example:
        >>> [part.tolist() for part in ranks_around(np.array([4]), 0.5)]
        [[1], [2], [0.5]]
    """
    position = (totals - 1) * fraction
    low, high = np.floor(position), np.ceil(position)
    return low.astype(np.int64), high.astype(np.int64), position - low


def _counts(rows: pa.RecordBatch) -> CountArray:
    return np.asarray(filled(rows.column(LIVE), 0).to_numpy(zero_copy_only=False))
