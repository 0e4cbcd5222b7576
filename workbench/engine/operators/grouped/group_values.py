"""The values of dirty groups after a batch: those that are stored, and the change.

The values of a small group are read, sorted and counted through, for all small groups together. Values at an end of the
order, as MAX and the first elements of an array, are taken from the ends of the runs. A value at another place in the
order of a large group is found by ranks, which takes the logarithm of its size. The most frequent value is one of those
that change, or the one before, unless that became rarer.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from workbench.arrow.types import filled
from workbench.engine.operators.grouped.interpolation import between
from workbench.engine.operators.grouped.state_lookup import KeyedLookup
from workbench.engine.operators.grouped.value_counts import (
    ChangedValues,
    CountArray,
    SortedValues,
    median_deviation,
    middle_of,
    percentile,
    place_of,
    ranks_around,
    shown_statistic,
)
from workbench.engine.physical.aggregate_plan import LIVE, GroupedPlan
from workbench.engine.physical.value_statistics import VALUES, CountedValues, ValueStatistic
from workbench.engine.storage.grouping import Positions, not_distinct
from workbench.engine.storage.indexes.key_index import Hashes, Key, KeyRanges, candidates_of_each, key_hashes
from workbench.engine.storage.indexes.rank_index import RankedGroup, RankKey, SortedRun, values_at_end
from workbench.engine.storage.scan import Scan
from workbench.engine.storage.segments import Run
from workbench.limits import LIMITS, Limits

_PLACES = ("percentile_disc", "percentile_disc_desc")
"""Statistics that are the value at one place in the order of the values."""
_PERCENTILES = ("median", "percentile")
_ENTRIES_READ = 4
"""Of a group in the time in which one is found in the index."""


@dataclass(frozen=True)
class GroupValues:
    """The values of one expression in the dirty groups.

    Attributes:
        plan: how the operator groups.
        of: the expression.
        dirty: the dirty groups.
        changed: the values of theirs whose counts change.
        state: what is read from the state; ``None`` while the operator is hydrated.
        stored: the segments of the state.
        limits: which groups are large.
    """

    plan: GroupedPlan
    of: CountedValues
    dirty: pa.RecordBatch
    changed: ChangedValues
    state: Scan | None
    stored: Run
    limits: Limits = LIMITS

    def statistic(self, statistic: ValueStatistic, before: pa.Array | None = None) -> pa.Array:
        """A statistic of each dirty group.

        Args:
            statistic: which one.
            before: what it was before the batch; ``None`` where that is not known.
        """
        if statistic.function == "mode" and not statistic.distinct and before is not None and self.stored:
            return self._most_frequent(statistic, before)
        if statistic.ends is not None and self._far_apart(statistic.ends[0]):
            return self._at_end(*statistic.ends).statistic(statistic)
        if statistic.function not in (*_PLACES, *_PERCENTILES, "quantile_cont", "mad") or not self.ranked:
            return self._sorted.statistic(statistic)
        at = np.array(sorted(self.ranked), dtype=np.int64)
        mask = np.zeros(self.dirty.num_rows, dtype=bool)
        mask[at] = True
        small, large = self._sorted_small.statistic(statistic), self._by_rank(statistic, at)
        return pc.replace_with_mask(small, pa.array(mask), shown_statistic(large, statistic).cast(small.type))

    def _far_apart(self, number: int) -> bool:
        """Whether it pays to read only some values at an end of the order of each group."""
        few = max(self.limits.values_of_large_group, _ENTRIES_READ * (number + 1) * self.dirty.num_rows)
        return self.state is not None and int(self._sizes.sum()) > few and bool(self._runs)

    def _at_end(self, number: int, last: bool) -> SortedValues:
        """At least a number of values at an end of the order of each group, or all of them."""
        slices = [(run, *run.slices(self._hashes)) for run in self._runs]
        return SortedValues.of(list(values_at_end(slices, number, last)), self.dirty.num_rows)

    def _by_rank(self, statistic: ValueStatistic, at: Positions) -> pa.Array:
        """A statistic of some large groups."""
        groups = [self.ranked[int(group)] for group in at]
        totals = np.array([group.total for group in groups], dtype=np.int64)
        there = totals > 0
        filled = [group for group in groups if group.total]

        def value_at(ranks: CountArray) -> npt.NDArray[np.float64]:
            values = (group.value_at(int(rank)).as_py() for group, rank in zip(filled, ranks, strict=True))
            return np.array(list(values), dtype=np.float64)

        if statistic.function in _PERCENTILES:
            numbers = np.zeros(len(at))
            numbers[there] = percentile(totals[there], float(statistic.fraction), value_at)
            return pa.array(numbers, mask=~there)
        if statistic.function == "mad":
            return pa.array([self._median_deviation(int(each), statistic) for each in at], pa.float64())
        type_ = self.dirty.schema.field(self.of.column).type

        def values_at(ranks: Sequence[int]) -> pa.Array:
            each = zip(groups, ranks, strict=True)
            return pa.array([group.value_at(at).as_py() if group.total else None for group, at in each], type_)

        if statistic.function == "quantile_cont":
            low, high, share = ranks_around(np.maximum(totals, 1), float(statistic.fraction))
            return between(values_at(low.tolist()), values_at(high.tolist()), share)
        return values_at([place_of(statistic, total) for total in totals.tolist()])

    def _median_deviation(self, group: int, statistic: ValueStatistic) -> float | None:
        """MAD of a large group; where its median is not finite, distances are not in the order of values."""
        ranked = self.ranked[group]
        if not ranked.total:
            return None

        @cache
        def value_at(rank: int) -> float:
            return float(ranked.value_at(rank).as_py())

        if math.isfinite(middle_of(ranked.total, value_at)):
            return median_deviation(ranked.total, value_at)
        found: float = self._read(np.array([group])).statistic(statistic)[group].as_py()
        return found

    def _most_frequent(self, statistic: ValueStatistic, before: pa.Array) -> pa.Array:
        """MODE of each dirty group: of other values none is more frequent now than the mode before the batch was."""
        rows, group, groups = self.changed.rows, self.changed.group, self.dirty.num_rows
        before, had = before.cast(rows.schema.field(self.of.column).type), np.flatnonzero(before.is_valid())
        at = self._asked.schema.get_field_index(self.of.column)
        asked = self._asked.set_column(at, self._asked.schema.field(at), before).take(pa.array(had))
        assert self.state is not None
        keys = list(self.state.key_columns)
        together = pa.concat_batches([rows.select(keys), asked.select(keys)])
        stored = np.zeros(together.num_rows, dtype=np.int64)
        lookup = KeyedLookup(self.state.key_columns, self.state, limits=self.limits)
        for entry, found, places in lookup.pairs(together, self.stored):
            np.add.at(stored, entry, filled(found.column(LIVE), 0).to_numpy()[places])
        counts, highest = stored[: len(group)] + self.changed.counts, np.zeros(groups, dtype=np.int64)
        np.maximum.at(highest, group, counts)
        was = np.zeros(groups, dtype=np.int64)
        was[had] = stored[len(group) :]
        again = not_distinct(rows.column(self.of.column), before.take(pa.array(group)))
        now = was.copy()
        now[group[again]] = counts[again]
        calm = np.setdiff1d(had, group[again])
        pieces = [(rows.column(self.of.column), group, counts), (before.take(pa.array(calm)), calm, was[calm])]
        result = SortedValues.of(pieces, groups).statistic(statistic)
        unsure = (now < was) & (highest <= was)
        unsure[(was == 0) & (self._sizes > 0)] = True
        if not unsure.any():
            return result
        return pc.if_else(pa.array(unsure), self._read(np.flatnonzero(unsure)).statistic(statistic), result)

    @cached_property
    def _sorted(self) -> SortedValues:
        return self._read(np.arange(self.dirty.num_rows))

    @cached_property
    def _sorted_small(self) -> SortedValues:
        small = np.ones(self.dirty.num_rows, dtype=bool)
        small[list(self.ranked)] = False
        return self._read(np.flatnonzero(small))

    def _read(self, chosen: Positions) -> SortedValues:
        """The values of some groups in order."""
        own = np.isin(self.changed.group, chosen)
        rows = self.changed.rows.filter(pa.array(own))
        pieces = [(rows.column(self.of.column), self.changed.group[own], self.changed.counts[own])]
        if self.state is not None:
            scan = replace(self.state, keys=self.state.keys[: len(self._key.columns)])
            some = self._asked.take(pa.array(chosen))
            for group, found, at in KeyedLookup(scan.key_columns, scan, limits=self.limits).pairs(some, self.stored):
                values, counts = (found.column(name).take(pa.array(at)) for name in (self.of.column, LIVE))
                pieces.append((values, chosen[group], counts.to_numpy()))
        return SortedValues.of(pieces, self.dirty.num_rows)

    @property
    def _key(self) -> RankKey:
        return RankKey((*self.plan.keys, VALUES), self.of.column, LIVE)

    @cached_property
    def _asked(self) -> pa.RecordBatch:
        """The dirty groups as their values are found: with the number of the expression."""
        number = pa.array(np.full(self.dirty.num_rows, self.of.number))
        return self.dirty.set_column(self.dirty.schema.get_field_index(VALUES), VALUES, number)

    @cached_property
    def _hashes(self) -> Hashes:
        return key_hashes([self._asked.column(name) for name in self._key.columns], nulls=True)[0]

    @cached_property
    def _sizes(self) -> Positions:
        """The approximate number of stored changes of values of each dirty group."""
        key, ranges = Key(self._key.columns, nulls=True), KeyRanges(self._hashes)
        none = np.zeros(self.dirty.num_rows, dtype=np.int64)
        return sum((candidates_of_each(segment.path, key, ranges) for segment in self.stored), start=none)

    @cached_property
    def ranked(self) -> Mapping[int, RankedGroup]:
        """The large groups, by position: those in which values are found by rank."""
        if self.state is None:
            return {}
        large = np.flatnonzero(self._sizes > self.limits.values_of_large_group)
        if not len(large) or not self._runs:
            return {}
        slices = [(run, *run.slices(self._hashes[large])) for run in self._runs]
        return {
            int(group): RankedGroup(tuple((run, int(low[at]), int(high[at])) for run, low, high in slices))
            for at, group in enumerate(large)
        }

    @cached_property
    def _runs(self) -> Sequence[SortedRun]:
        """The values that are stored, and those that change, in order; none where two groups have one hash."""
        stored = [SortedRun.of_segment(segment.path, self._key) for segment in self.stored]
        runs = [run for run in (*stored, SortedRun.of_rows(self.changed.rows, self._key)) if run is not None]
        return runs if len(runs) > len(stored) else ()
