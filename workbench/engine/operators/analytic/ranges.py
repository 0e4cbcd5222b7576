"""Which ranges of partitions a batch touches: the rows that changed values are computed of, and no others.

    Around   values of a frame                 the rows around those that change, as far as frames reach
             values of all rows before         those from the first that changes on, and sums up to it
             the first and last values         the first and last rows; where these change, all
    First    the first rows of an order        as many as are kept
    Carried  the nearest value, not NULL       those that change, up to the next that is not NULL (``carried_values``)

Ranges are found in the runs of an index (``storage.indexes.order_index``), in the order before the batch and in that
after it, of all partitions together: a step of a binary search is one of all their keys.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Literal

import numpy as np

from workbench.arrow.types import Mask
from workbench.engine.physical.analytic.reach import Margin
from workbench.engine.storage.grouping import Positions
from workbench.engine.storage.indexes.key_index import Hashes
from workbench.engine.storage.indexes.order_index import OrderIndex, OrderKeys
from workbench.engine.storage.indexes.rank_index import GroupedRun, sums_between

End = Literal["left", "right"]
"""Whether a search ends before the entries of a key, or behind them."""

MOST_KEYS = 1_048_576
"""Keys that are looked at together, about, to find the rows a number of places away."""


@dataclass(frozen=True)
class KeyPlaces:
    """Keys, and where they stand.

    Attributes:
        of: the partition of each, by position.
        keys: of rows.
        at: in each run, that of the change last, how many entries stand before those of the key, or up to them.
    """

    of: Positions
    keys: OrderKeys
    at: tuple[Positions, ...]

    def chosen(self, which: Mask | Positions) -> KeyPlaces:
        """Some of them."""
        return KeyPlaces(self.of[which], self.keys[which], tuple(at[which] for at in self.at))

    def and_(self, other: KeyPlaces) -> KeyPlaces:
        """These, and others behind them."""
        at = tuple(np.concatenate(both) for both in zip(self.at, other.at, strict=True))
        return KeyPlaces(np.append(self.of, other.of), np.append(self.keys, other.keys), at)

    def put(self, which: Positions, places: KeyPlaces) -> None:
        """Put others in the place of some, of the same partitions."""
        self.keys[which] = places.keys
        for own, at in zip(self.at, places.at, strict=True):
            own[which] = at


@dataclass(frozen=True)
class Ranges:
    """Ranges of rows, which may overlap, by partition.

    Attributes:
        low, high: the least key of each, before its rows, and the greatest one, behind them.
    """

    low: KeyPlaces
    high: KeyPlaces

    def chosen(self, which: Mask) -> Ranges:
        """Some of them."""
        return Ranges(self.low.chosen(which), self.high.chosen(which))

    def and_(self, other: Ranges) -> Ranges:
        """These, and others."""
        return Ranges(self.low.and_(other.low), self.high.and_(other.high))

    def apart(self) -> Ranges:
        """Ranges of the same rows, in order, of which none overlaps another."""
        starts, ends = (np.sum(places.at, axis=0) for places in (self.low, self.high))  # in order as the places are
        order = np.lexsort((starts, self.low.of))
        of, starts, through = self.low.of[order], starts[order], np.maximum.accumulate(ends[order])
        first = np.flatnonzero(np.append(True, (of[1:] != of[:-1]) | (starts[1:] > through[:-1]))[: len(of)])
        if not len(first):
            return self
        high = tuple(np.maximum.reduceat(at[order], first) for at in self.high.at)
        return Ranges(self.low.chosen(order[first]), KeyPlaces(of[first], self.high.keys[order[first]], high))


@dataclass(frozen=True)
class Slices:
    """A run of the index, and for each partition where its entries begin and end."""

    run: GroupedRun
    first: Positions
    after: Positions

    def count(self, first: Positions, end: Positions) -> Positions:
        """How many rows some ranges of entries come to."""
        return sums_between(self.run.through, first, end)


@dataclass(frozen=True)
class Partitions:
    """Partitions with rows that change.

    Attributes:
        index: of their rows.
        hashes: of the partitions, in order.
        stored: the runs of the segments.
        change: that of the rows that change; each partition has one at least.
        known: the rows of these partitions in which a column is not NULL, where one is carried.
    """

    index: OrderIndex
    hashes: Hashes
    stored: Sequence[Slices]
    change: Slices
    known: Partitions | None = None

    @staticmethod
    def of(index: OrderIndex, hashes: Hashes, stored: Sequence[GroupedRun], change: GroupedRun) -> Partitions:
        """Find the partitions in the runs."""
        *slices, changed = (Slices(run, *run.slices(hashes)) for run in (*stored, change))
        return Partitions(index, hashes, slices, changed)

    @property
    def every(self) -> Positions:
        """The position of each."""
        return np.arange(len(self.hashes))

    @cached_property
    def changed(self) -> tuple[Positions, OrderKeys]:
        """The different keys of the rows that change, in order, and before them the partition of each."""
        keys = self.change.run.orders
        new = np.append(True, keys[1:] != keys[:-1])
        return np.repeat(self.every, self.change.after - self.change.first)[new], keys[new]

    @property
    def runs(self) -> tuple[Slices, ...]:
        """All runs, that of the change last."""
        return (*self.stored, self.change)

    def places(self, of: Positions, keys: OrderKeys, end: End) -> KeyPlaces:
        """Where keys stand in partitions: before their entries, or behind them."""
        found = [_search(s.run.orders, s.first[of], s.after[of], keys, end) for s in self.runs]
        return KeyPlaces(of, keys, tuple(found))

    def behind(self, places: KeyPlaces) -> KeyPlaces:
        """The places behind the entries of keys, of those before them: few keys have an entry in each run."""
        found = []
        for slices, at in zip(self.runs, places.at, strict=True):
            orders, after, end = slices.run.orders, slices.after[places.of], at.copy()
            some = np.flatnonzero(at < after)
            some = some[orders[at[some]] == places.keys[some]]
            end[some] = _search(orders, at[some], after[some], places.keys[some], "right")
            found.append(end)
        return KeyPlaces(places.of, places.keys, tuple(found))

    def begins(self, of: Positions) -> KeyPlaces:
        """Where partitions begin."""
        return KeyPlaces(of, self.index.begin(self.hashes[of]), tuple(s.first[of] for s in self.runs))

    def ends(self, of: Positions) -> KeyPlaces:
        """Where partitions end."""
        return KeyPlaces(of, self.index.end(self.hashes[of]), tuple(s.after[of] for s in self.runs))

    def counts(self, places: KeyPlaces) -> tuple[Positions, Positions]:
        """How many rows of its partition stand before each place, before the batch and after it."""
        each = [s.count(s.first[places.of], at) for s, at in zip(self.runs, places.at, strict=True)]
        before = sum(each[:-1], start=np.zeros(len(places.of), dtype=np.int64))
        return before, before + each[-1]

    def keys_at(self, of: Positions, ranks: Positions, after: int) -> OrderKeys:
        """The keys of the rows before which a number of rows stand in partitions, before the batch or after it.

        Beyond the last row it is the end of the partition. Each step halves the longest run that is left.
        """
        runs, found = self.runs, self.index.end(self.hashes[of])
        low, high = (
            np.stack([ends[of] for ends in each]) for each in zip(*((s.first, s.after) for s in runs), strict=True)
        )
        left = np.flatnonzero((low < high).any(axis=0))
        while len(left):
            longest = (high[:, left] - low[:, left]).argmax(axis=0)
            middle = (low[longest, left] + high[longest, left]) // 2
            pivot = found[left]
            for number, slices in enumerate(runs):
                own = longest == number
                pivot[own] = slices.run.orders[middle[own]]
            up_to = np.stack(
                [
                    _search(s.run.orders, lo, hi, pivot, "right")
                    for s, lo, hi in zip(runs, low[:, left], high[:, left], strict=True)
                ]
            )
            counts = self.counts(KeyPlaces(of[left], pivot, tuple(up_to)))[after]
            enough = counts > ranks[left]
            some = left[enough]
            found[some] = pivot[enough]
            high[:, some] = [
                _search(s.run.orders, lo, hi, pivot[enough], "left")
                for s, lo, hi in zip(runs, low[:, some], up_to[:, enough], strict=True)
            ]
            low[:, left[~enough]] = up_to[:, ~enough]
            left = left[(low[:, left] < high[:, left]).any(axis=0)]
        return found

    def rows_before(self, places: KeyPlaces, rows: int) -> KeyPlaces:
        """For each place one from which on a number of rows stand before it, before the batch and after it.

        Where there are fewer, it is the begin of the partition.
        """
        return self._away(places, rows, "left", self.begins(places.of))

    def rows_behind(self, places: KeyPlaces, rows: int) -> KeyPlaces:
        """``rows_before``, for the rows behind a place, until the end of the partition."""
        return self._away(places, rows, "right", self.ends(places.of))

    def _away(self, places: KeyPlaces, rows: int, side: End, found: KeyPlaces) -> KeyPlaces:
        if not rows:
            return places
        left, together = self.entries_left(places, side), max(1, MOST_KEYS // (rows * len(self.runs)))
        known = np.flatnonzero(np.sum(left, axis=0) >= rows)
        for some in np.split(known, range(together, len(known), together)):
            # Entries that take rows back count against others, so that more may be needed than rows. Where even many
            # more do not do, all rows of the partition are read.
            entries = rows
            while len(some) and len(some) * entries <= 4 * max(MOST_KEYS, rows):
                nearest = self.nearest_entry(places.chosen(some), [each[some] for each in left], entries, side)
                far = self.places(places.of[some], nearest, side)
                counts = zip(self.counts(places.chosen(some)), self.counts(far), strict=True)
                enough = np.logical_and.reduce([np.abs(there - here) >= rows for here, there in counts])
                found.put(some[enough], far.chosen(enough))
                some, entries = some[~enough], 2 * entries
                some = some[np.sum([each[some] for each in left], axis=0) >= entries]
        return found

    def groups_away(self, places: KeyPlaces, groups: int, side: End) -> KeyPlaces:
        """For each place one from which on a number of groups of peers stand before it, or up to which behind it.

        They are there before the batch and after it. Where there are fewer, it is where the partition begins or ends.
        """
        peers = self.index.first_peer if side == "left" else self.index.last_peer
        found = places.chosen(np.arange(len(places.of)))
        wanted = np.full(len(places.of), groups)
        some = np.flatnonzero(wanted)
        while len(some):
            here = found.chosen(some)
            left = self.entries_left(here, side)
            there = np.sum(left, axis=0) > 0
            here, some = here.chosen(there), some[there]
            near = self.nearest_entry(here, [each[there] for each in left], 1, side)
            far = self.places(here.of, peers(near), side)
            counts = zip(self.counts(here), self.counts(far), strict=True)
            wanted[some] -= np.logical_and.reduce([before != behind for before, behind in counts])
            found.put(some, far)
            some = some[wanted[some] > 0]
        return found

    def entries_left(self, places: KeyPlaces, side: End) -> list[Positions]:
        """How many entries of each run its partition has before each place, or behind it."""
        if side == "left":
            return [at - s.first[places.of] for s, at in zip(self.runs, places.at, strict=True)]
        return [s.after[places.of] - at for s, at in zip(self.runs, places.at, strict=True)]

    def nearest_entry(self, places: KeyPlaces, left: Sequence[Positions], entries: int, side: End) -> OrderKeys:
        """The key of the entry that is a number of entries away from each place; no fewer are there."""
        columns, steps = list[OrderKeys](), np.arange(entries)
        nothing = (self.index.begin if side == "left" else self.index.end)(self.hashes[places.of])
        for slices, at, there in zip(self.runs, places.at, left, strict=True):
            if len(slices.run.orders):
                entry = at[:, None] + (-1 - steps if side == "left" else steps)
                near = slices.run.orders[np.clip(entry, 0, len(slices.run.orders) - 1)]
                columns.append(np.where(steps < there[:, None], near, nothing[:, None]))
        in_order = np.sort(np.concatenate(columns, axis=1), axis=1)
        return np.asarray(in_order[:, -entries if side == "left" else entries - 1])


@dataclass(frozen=True)
class Around:
    """Rows around those that change, as far as a margin says; and what it wants of the partition besides."""

    margin: Margin

    def ranges(self, partitions: Partitions, most: Positions) -> Ranges:
        """Ranges, one for changed rows that stand near each other, and one of all that follows the first of them.

        Args:
            partitions: with rows that change.
            most: ranges of each partition; one that has more has none here.
        """
        margin, (of, keys) = self.margin, partitions.changed
        sought = 2 * margin.ends  # before the batch and after it, each in the time of a range
        every = np.flatnonzero(sought <= most)
        places, least, greatest = self._keys_of_ends(partitions, every)
        if margin.onwards:
            of, keys = every, partitions.change.run.orders[partitions.change.first[every]]
            for each in np.split(least, len(margin.tiles)) if margin.tiles else ():
                keys = _lesser(keys, each)
        before, behind = self._reached(partitions, of, keys, keys)
        if not margin.onwards:
            (_, starts), (_, ends) = partitions.counts(before), partitions.counts(behind)
            apart = np.append(True, (of[1:] != of[:-1]) | (starts[1:] - ends[:-1] > 2 * (margin.rows + margin.groups)))
            first = np.flatnonzero(apart)
            last = np.append(first[1:], len(of)) - 1
            few = (np.bincount(of[first], minlength=len(most)) + sought <= most)[of[first]]
            before, behind = before.chosen(first[few]), behind.chosen(last[few])
            if len(places):
                there = np.isin(places, before.of)
                low, high = self._reached(partitions, places[there], least[there], greatest[there])
                before, behind = before.and_(low), behind.and_(high)
        low, high = self._away(partitions, before, behind)
        if margin.kinds > 1:  # from the rows that change in one way on, as far as their values look in the other
            low, high = self._away(partitions, *self._reached(partitions, low.of, low.keys, high.keys))
        ranges = Ranges(low, partitions.ends(low.of) if margin.onwards else high)
        return self._with_ends(partitions, ranges) if margin.first or margin.last else ranges

    def _keys_of_ends(self, partitions: Partitions, every: Positions) -> tuple[Positions, OrderKeys, OrderKeys]:
        """Some partitions for each end of tiles, one after the other, and between which keys the end moves."""
        tiles = self.margin.tiles
        if not tiles:
            nothing = partitions.change.run.orders[:0]
            return every[:0], nothing, nothing
        sizes = partitions.counts(partitions.ends(every))
        ends = [[end for tile in tiles for end in tile.ends(size)] for size in sizes]
        found = [
            np.split(partitions.keys_at(np.tile(every, len(own)), np.concatenate(own), after), len(own))
            for after, own in enumerate(ends)
        ]
        of_tile = np.repeat(np.arange(len(tiles)), [len(tile.ends(every)) for tile in tiles])
        keys = [[both[at] for both in found for at in np.flatnonzero(of_tile == tile)] for tile in range(len(tiles))]
        least, greatest = (np.concatenate([reduce(choose, each) for each in keys]) for choose in (_lesser, _greater))
        return np.tile(every, len(tiles)), least, greatest

    def _reached(
        self, partitions: Partitions, of: Positions, low: OrderKeys, high: OrderKeys
    ) -> tuple[KeyPlaces, KeyPlaces]:
        """The places before and behind some keys, at the distance of the margin."""
        index, by = partitions.index, self.margin.distance
        if by:
            low, high = index.at_distance(low, -by), index.at_distance(high, by)
        elif self.margin.peers:
            low, high = index.first_peer(low), index.last_peer(high)
        before = partitions.places(of, low, "left")
        return before, partitions.behind(before) if low is high else partitions.places(of, high, "right")

    def _away(self, partitions: Partitions, before: KeyPlaces, behind: KeyPlaces) -> tuple[KeyPlaces, KeyPlaces]:
        """Places as many groups and rows away as the margin has."""
        margin, index = self.margin, partitions.index
        before = partitions.groups_away(before, margin.groups, "left")
        low = partitions.rows_before(before, margin.rows)
        if margin.rows and margin.peers:
            low = partitions.places(low.of, index.first_peer(low.keys), "left")
        if margin.onwards:
            return low, behind
        high = partitions.rows_behind(partitions.groups_away(behind, margin.groups, "right"), margin.rows)
        if margin.rows and margin.peers:
            high = partitions.places(high.of, index.last_peer(high.keys), "right")
        return low, high

    def _with_ends(self, partitions: Partitions, ranges: Ranges) -> Ranges:
        """Ranges with the first and the last rows of their partitions; all rows where one of these changes."""
        every, (of, keys) = partitions.every, partitions.changed
        begins, ends = partitions.begins(every), partitions.ends(every)
        first_rows, last_rows = (
            partitions.rows_behind(begins, self.margin.first),
            partitions.rows_before(ends, self.margin.last),
        )
        before = partitions.places(of, keys, "left")
        behind = partitions.behind(before)
        all_rows = np.minimum.reduce(partitions.counts(before)) < self.margin.first
        left = zip(partitions.counts(ends), partitions.counts(behind), strict=True)
        all_rows |= np.minimum.reduce([total[of] - up_to for total, up_to in left]) < self.margin.last
        whole = np.zeros(len(every), dtype=bool)
        whole[of[all_rows]] = True
        there = np.isin(every, ranges.low.of)
        low, high = (places.chosen(~whole[places.of]) for places in (ranges.low, ranges.high))
        low, high = low.and_(begins.chosen(whole & there)), high.and_(ends.chosen(whole & there))
        if self.margin.first:
            low, high = low.and_(begins.chosen(there & ~whole)), high.and_(first_rows.chosen(there & ~whole))
        if self.margin.last and not self.margin.onwards:
            low, high = low.and_(last_rows.chosen(there & ~whole)), high.and_(ends.chosen(there & ~whole))
        return Ranges(low, high)


@dataclass(frozen=True)
class First:
    """A number of first rows; with ``peers`` also the peers of the last one."""

    rows: int
    peers: bool

    def ranges(self, partitions: Partitions, most: Positions) -> Ranges:
        """One range of each partition, with these rows as they are before the batch and after it."""
        low = partitions.begins(partitions.every)
        high = partitions.rows_behind(low, self.rows) if self.rows else partitions.ends(partitions.every)
        if self.peers:
            high = partitions.places(partitions.every, partitions.index.last_peer(high.keys), "right")
        return Ranges(low, high)


def _lesser(one: OrderKeys, other: OrderKeys) -> OrderKeys:
    return np.where(one < other, one, other)


def _greater(one: OrderKeys, other: OrderKeys) -> OrderKeys:
    return np.where(one < other, other, one)


def _search(orders: OrderKeys, low: Positions, high: Positions, keys: OrderKeys, end: End) -> Positions:
    """Where keys stand among the entries between two places each: binary searches, a step of all at a time."""
    low, high = low.copy(), high.copy()
    left = np.flatnonzero(low < high)
    while len(left):
        middle = (low[left] + high[left]) // 2
        behind = orders[middle] < keys[left] if end == "left" else orders[middle] <= keys[left]
        low[left[behind]], high[left[~behind]] = middle[behind] + 1, middle[~behind]
        left = left[low[left] < high[left]]
    return low
