"""Which ranges of partitions a batch touches: the rows that changed values are computed of, and no others.

    Around   values of a frame                 the rows around those that change, as far as frames reach
             values of all rows before         those from the first that changes on, and sums up to it
             the first and last values         the first and last rows; where these change, all
    First    the first rows of an order        as many as are kept
    Carried  the nearest value, not NULL       those that change, up to the next that is not NULL (``carried_values``)

Their ends are found in the runs of an index (``key_places``).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

import numpy as np

from workbench.arrow.types import Mask
from workbench.engine.operators.analytic.key_places import KeyPlaces, Partitions
from workbench.engine.physical.analytic.reach import Margin
from workbench.engine.storage.grouping import Positions
from workbench.engine.storage.indexes.order_index import OrderKeys


@dataclass(frozen=True)
class Ranges:
    """Ranges of rows, which may overlap, by partition.

    Attributes:
        low, high: the least key of each, before its rows, and the greatest one, behind them.
    """

    low: KeyPlaces
    high: KeyPlaces

    def chosen(self, which: Mask) -> Ranges:
        """The ranges at some positions."""
        return Ranges(self.low.chosen(which), self.high.chosen(which))

    def and_(self, other: Ranges) -> Ranges:
        """These ranges, followed by others."""
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
class Around:
    """The rows around changed rows within a margin, and the further rows of the partition that the margin needs."""

    margin: Margin

    def ranges(self, partitions: Partitions, most: Positions) -> Ranges:
        """Make ranges: one for changed rows that are near each other, and one for all rows after the first of them.

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
