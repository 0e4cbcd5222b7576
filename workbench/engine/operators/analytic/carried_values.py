"""Which ranges of partitions a batch touches where values are carried over NULLs, as of LAST_VALUE IGNORE NULLS."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workbench.engine.operators.analytic.key_places import End, Partitions
from workbench.engine.operators.analytic.ranges import Ranges
from workbench.engine.storage.grouping import Positions
from workbench.engine.storage.indexes.order_index import OrderKeys


@dataclass(frozen=True)
class CarriedValues:
    """Rows that change, with the nearest ones in which a column is not NULL: values of a row are carried up to these.

    Attributes:
        column: which one.
        onwards, backwards: whether values are carried to the rows behind theirs, and to those before.
        peers: whether the peers of a row that changes change, too.
    """

    column: str
    onwards: bool
    backwards: bool
    peers: bool

    def ranges(self, partitions: Partitions, most: Positions) -> Ranges:
        """For each changed row one around it, and one for each row whose value is carried to it."""
        known, (of, keys) = partitions.known, partitions.changed
        if known is None:
            raise AssertionError(f"no index of rows with {self.column}")
        few = (1 + self.onwards + self.backwards) * np.bincount(of, minlength=len(most)) <= most
        of, keys = of[few[of]], keys[few[of]]
        carries = np.isin(keys, known.change.run.orders)
        first, last = self._peers(partitions, keys, keys)
        # A row whose value is carried to one side may be shown with what is carried to it from the other.
        rows = 1 + (self.onwards and self.backwards)
        earlier, later = _nearest(known, of, first, rows, "left"), _nearest(known, of, last, rows, "right")
        whole = np.where(carries & self.backwards, earlier[0], first), np.where(carries & self.onwards, later[0], last)
        ends = [whole, *[earlier[1:]] * self.onwards, *[later[:0:-1]] * self.backwards]
        low, high = self._peers(partitions, *(np.concatenate(keys) for keys in zip(*ends, strict=True)))
        at = np.tile(of, len(ends))
        return Ranges(partitions.places(at, low, "left"), partitions.places(at, high, "right"))

    def _peers(self, partitions: Partitions, low: OrderKeys, high: OrderKeys) -> tuple[OrderKeys, OrderKeys]:
        """The first and the last peers of keys, where these count."""
        return (partitions.index.first_peer(low), partitions.index.last_peer(high)) if self.peers else (low, high)


def _nearest(
    known: Partitions, of: Positions, keys: OrderKeys, rows: int, side: End
) -> tuple[OrderKeys, OrderKeys, OrderKeys]:
    """How far from each key a number of known rows before or behind it may stand, and the range that has these rows.

    Entries that are taken back may stand nearer, so the range is from the nearest entry to the first up to which that
    number is there, before the batch and after it, or to the end of the partition; without an entry it is the key.
    """
    places = known.places(of, keys, side)
    far = (known.rows_before if side == "left" else known.rows_behind)(places, rows).keys
    left = known.entries_left(places, side)
    some, near = np.sum(left, axis=0) > 0, keys.copy()
    near[some] = known.nearest_entry(places.chosen(some), [each[some] for each in left], 1, side)
    return far, np.where(some, far, keys), near
