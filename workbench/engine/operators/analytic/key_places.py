"""Places of keys in the runs of an index, and keys a number of rows or groups of peers away from them.

Keys are found in the order before the batch and in that after it, of all partitions that change together: those of all
are searched by one call for each run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from workbench.arrow.types import Mask
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
    """Keys, and their positions in partitions.

    Attributes:
        of: the partition of each, by position.
        keys: of rows.
        at: in each run, that of the change last, how many entries stand before those of the key, or up to them.
    """

    of: Positions
    keys: OrderKeys
    at: tuple[Positions, ...]

    def chosen(self, which: Mask | Positions) -> KeyPlaces:
        """The places at some positions."""
        return KeyPlaces(self.of[which], self.keys[which], tuple(at[which] for at in self.at))

    def and_(self, other: KeyPlaces) -> KeyPlaces:
        """These places, followed by others."""
        at = tuple(np.concatenate(both) for both in zip(self.at, other.at, strict=True))
        return KeyPlaces(np.append(self.of, other.of), np.append(self.keys, other.keys), at)

    def put(self, which: Positions, places: KeyPlaces) -> None:
        """Replace some entries by others of the same partitions."""
        self.keys[which] = places.keys
        for own, at in zip(self.at, places.at, strict=True):
            own[which] = at


@dataclass(frozen=True)
class Slices:
    """A run of the index, and for each partition where its entries begin and end."""

    run: GroupedRun
    first: Positions
    after: Positions

    def count(self, first: Positions, end: Positions) -> Positions:
        """The number of rows in ranges of entries."""
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
        """Find the positions of keys in partitions: before equal entries, or after them."""
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
        """Count the rows of the partition before each position, before the batch and after it."""
        each = [s.count(s.first[places.of], at) for s, at in zip(self.runs, places.at, strict=True)]
        before = sum(each[:-1], start=np.zeros(len(places.of), dtype=np.int64))
        return before, before + each[-1]

    def keys_at(self, of: Positions, ranks: Positions, after: int) -> OrderKeys:
        """The keys of the rows at given positions in partitions, before the batch or after it.

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
        """For each place, the place a number of rows before it, counted among rows of before and after the batch.

        If there are fewer rows, it is the begin of the partition.
        """
        return self._away(places, rows, "left", self.begins(places.of))

    def rows_behind(self, places: KeyPlaces, rows: int) -> KeyPlaces:
        """``rows_before``, for the rows behind a place, until the end of the partition."""
        return self._away(places, rows, "right", self.ends(places.of))

    def _away(self, places: KeyPlaces, rows: int, side: End, found: KeyPlaces) -> KeyPlaces:
        if not rows:
            return places
        # The rows of before the batch are stored ones. As many are there after it, unless some of them are taken back.
        left, together = self.entries_left(places, side)[:-1], max(1, MOST_KEYS // (rows * len(self.runs)))
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
        """For each place, the place a number of groups of peers before it or behind it, before and after the batch.

        If there are fewer groups, it is the begin or the end of the partition.
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
        """The key of the entry that is a number of entries away from each place; there must be as many.

        Args:
            left: how many entries of each run are left there; without the last run, entries of the stored ones count.
        """
        columns, steps = list[OrderKeys](), np.arange(entries)
        nothing = (self.index.begin if side == "left" else self.index.end)(self.hashes[places.of])
        for slices, at, there in zip(self.runs, places.at, left, strict=False):
            if len(slices.run.orders):
                entry = at[:, None] + (-1 - steps if side == "left" else steps)
                near = slices.run.orders[np.clip(entry, 0, len(slices.run.orders) - 1)]
                columns.append(np.where(steps < there[:, None], near, nothing[:, None]))
        if not columns:  # no run has an entry, so there is no place either
            return nothing
        in_order = np.sort(np.concatenate(columns, axis=1), axis=1)
        return np.asarray(in_order[:, -entries if side == "left" else entries - 1])


def _search(orders: OrderKeys, low: Positions, high: Positions, keys: OrderKeys, end: End) -> Positions:
    """Find the positions of keys among the entries between two positions each; all entries of a run are in order."""
    return np.clip(orders.searchsorted(keys, end), low, high)
