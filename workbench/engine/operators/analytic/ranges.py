"""Which range of a partition a batch touches: the rows that changed values are computed of, and no others.

    Around   values that look a few rows back and ahead    the rows around those that change
    From     values that follow from all rows before       those from the first that changes on, and sums up to it
    First    the first rows of an order                    as many as are kept

A range is found by binary search in the runs of an index (``storage.indexes.order_index``), in the order before the
batch and in that after it; it is the hull of both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from workbench.engine.storage.grouping import Positions
from workbench.engine.storage.indexes.order_index import OrderIndex, OrderKeys
from workbench.engine.storage.indexes.rank_index import CountedRun, Ranked

KeyRange = tuple[bytes, bytes]
"""The least and the greatest key of some rows."""


@dataclass(frozen=True)
class Partition:
    """A partition whose rows change.

    Attributes:
        index: of its rows.
        hash: of the partition.
        before, after: its rows before the batch and after it.
        changed: the different keys of the rows that change, in order; at least one.
    """

    index: OrderIndex
    hash: np.uint64
    before: Ranked[CountedRun]
    after: Ranked[CountedRun]
    changed: OrderKeys

    @property
    def whole(self) -> KeyRange:
        """All of its rows."""
        return self.index.begin(self.hash), self.index.end(self.hash)

    def from_before(self, key: bytes, rows: int) -> bytes:
        """The least key of the rows that begin a number of rows before a key."""
        keys = [self.index.padded(key)]
        for side in (self.before, self.after) if rows else ():
            rank = int(_counts(side, np.array([key], dtype=self.changed.dtype), "left")[0]) - rows
            keys.append(self.whole[0] if rank <= 0 else self.key_at(side, rank))
        return min(keys)

    def until_after(self, key: bytes, rows: int) -> bytes:
        """The greatest key of the rows that end a number of rows after a key."""
        keys = [self.index.padded(key)]
        for side in (self.before, self.after) if rows else ():
            rank = int(_counts(side, np.array([key], dtype=self.changed.dtype), "right")[0]) + rows - 1
            keys.append(self.whole[1] if rank >= side.total else self.key_at(side, rank))
        return max(keys)

    def key_at(self, side: Ranked[CountedRun], rank: int) -> bytes:
        """The key of the row at a place, from 0."""
        run, at = side.place_at(rank)
        return self.index.padded(run.orders[at])


@dataclass(frozen=True)
class NeighbouringRows:
    """Rows around those that change: a number on each side."""

    rows: int

    def ranges(self, partition: Partition, most: int) -> list[KeyRange]:
        """Ranges, one for changed rows that stand near each other; they may overlap. None where they are too many."""
        changed = partition.changed
        starts, ends = (_counts(partition.after, changed, side) for side in ("left", "right"))
        apart = np.flatnonzero(starts[1:] - ends[:-1] > 2 * self.rows) + 1
        if len(apart) >= most:
            return []
        return [
            (partition.from_before(some[0], self.rows), partition.until_after(some[-1], self.rows))
            for some in np.split(changed, apart)
        ]


@dataclass(frozen=True)
class From:
    """All rows from a number before the first that changes; with ``peers`` its peers change, and all come or none."""

    rows: int
    peers: bool

    def ranges(self, partition: Partition, most: int) -> list[KeyRange]:
        """The only range."""
        first = self._first(partition, partition.index.padded(partition.changed[0]))
        return [(self._first(partition, partition.from_before(first, self.rows)), partition.whole[1])]

    def _first(self, partition: Partition, key: bytes) -> bytes:
        return partition.index.first_peer(key) if self.peers else key


@dataclass(frozen=True)
class First:
    """A number of first rows; with ``peers`` also the peers of the last one."""

    rows: int
    peers: bool

    def ranges(self, partition: Partition, most: int) -> list[KeyRange]:
        """The only range, of the rows after the batch."""
        first, last = partition.whole
        if partition.after.total > self.rows > 0:
            key = partition.key_at(partition.after, self.rows - 1)
            last = partition.index.last_peer(key) if self.peers else key
        return [(first, last)]


Reading = NeighbouringRows | From | First


def merged(ranges: Sequence[KeyRange]) -> list[KeyRange]:
    """Ranges without those that overlap: these become one."""
    apart: list[KeyRange] = []
    for first, last in sorted(ranges):
        if apart and first <= apart[-1][1]:
            apart[-1] = apart[-1][0], max(apart[-1][1], last)
        else:
            apart.append((first, last))
    return apart


def _counts(side: Ranked[CountedRun], keys: OrderKeys, end: str) -> Positions:
    """How many rows have a lesser key than each (``left``), or no greater one (``right``)."""
    total = np.zeros(len(keys), dtype=np.int64)
    for run, first, after in side.parts:
        at = first + np.searchsorted(run.orders[first:after], keys, side=end)  # type: ignore[call-overload]
        total += np.where(at > 0, run.through[at - 1], 0) - run.up_to(first) if after > first else 0
    return total
