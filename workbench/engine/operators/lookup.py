"""Look-up of changed rows of one side of a join among the rows of the other side, by an access path.

What is found are candidates: pairs whose keys have equal hashes, and whose values are within the path's bands as far as
an index tells. Values decide whether a pair is one of the path.

Where a side's rows only decide which rows of the other side stay, such as the one row of ``(SELECT AVG(x) FROM t)``
in a comparison, the retracted row and the new one cancel in the index: only the rows between the old value and the new
one are read (``Lookup.weights``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from workbench.arrow.types import Mask
from workbench.engine.physical.access_paths import AccessPath
from workbench.engine.physical.prefix_band import PrefixBand
from workbench.engine.spark.arrow_tasks import go_on
from workbench.engine.storage.comparable import Orders
from workbench.engine.storage.grouping import Positions, not_distinct, true_rows
from workbench.engine.storage.indexes.key_index import (
    Hashes,
    Key,
    KeyRanges,
    candidates,
    count_candidates,
    one_match,
    row_hashes,
)
from workbench.engine.storage.layout import BATCH, WEIGHT, conform, one_batch
from workbench.engine.storage.scan import Scan
from workbench.engine.storage.segments import Run, open_segment
from workbench.limits import LIMITS, Limits

EarlyTest = Callable[[Positions, Positions, pa.RecordBatch], tuple[Positions, Positions]]
"""Which candidates are left, as positions in the changed rows and in a segment."""


@dataclass(frozen=True)
class Lookup:
    """Looks up rows of one side among the rows of the other by an access path.

    Attributes:
        path: the access path.
        changed: the side of the rows, 0 for the left one.
        own, other: what is read from this side, and from the other.
        rows: changed rows.
        at: the positions of those that are looked up.
        ranges: their keys.
        weights: their weights, where rows may cancel; else ``None``.
        limits: of pairs that are made together.
    """

    path: AccessPath
    changed: int
    own: Scan
    other: Scan
    rows: pa.RecordBatch
    at: Positions
    ranges: KeyRanges
    weights: Positions | None = None
    limits: Limits = LIMITS

    @staticmethod
    def of(
        path: AccessPath, changed: int, own: Scan, other: Scan, rows: pa.RecordBatch, cancels: bool, limits: Limits
    ) -> Lookup | None:
        """The look-up of the rows of the node that may have partners; ``None`` where none may.

        Args:
            path, changed, own, other, rows, limits: see the attributes.
            cancels: whether rows that the path finds for several changed rows may cancel.
        """
        hashes, found = row_hashes(rows, path.key_columns(changed))
        found = found & own.belong(rows)
        bounds: list[tuple[Orders | None, Orders | None]] = []
        for _, bands in path.orders(1 - changed):
            low, high = None, None
            for band in bands:
                orders, known = band.end(changed).orders(rows)
                least, greatest, possible = band.bounds(changed, orders)
                found &= known & possible
                low, high = least if low is None else low, greatest if high is None else high
            bounds.append((low, high))
        at = np.flatnonzero(found)
        at = at[np.argsort(hashes[at])]  # look-ups in order find what they need in the cache
        if not len(at):
            return None
        match path.bands:
            case (PrefixBand(long=side) as band,) if side == changed:
                orders, _ = band.end(changed).orders(rows)
                asked, each = band.asked(orders[at])
                ranges = KeyRanges(hashes[at[asked]], ((each, each),))
                return Lookup(path, changed, own, other, rows, at[asked], ranges, None, limits)
        ranges = KeyRanges(hashes[at], tuple((_taken(low, at), _taken(high, at)) for low, high in bounds))
        weights = _that_cancel(path, changed, rows, at, hashes[at]) if cancels else None
        return Lookup(path, changed, own, other, rows, at, ranges, weights, limits)

    @cached_property
    def key(self) -> Key:
        """The key by which the other side's rows are looked up."""
        side = 1 - self.changed
        return Key(self.path.key_columns(side), orders=tuple(end for end, _ in self.path.orders(side)))

    def count(self, others: Run) -> int:
        """How many candidates there are: whatever node they belong to, or of the node where all its rows are."""
        if not self._by_index:
            return len(self.at) * sum(len(self._of_node(open_segment(segment.path))) for segment in others)
        return sum(count_candidates(segment.path, self.key, self.ranges, self.weights) for segment in others)

    def pairs(
        self, others: Run, once: bool = False, early: EarlyTest | None = None
    ) -> Iterator[tuple[pa.RecordBatch, pa.RecordBatch]]:
        """The candidates of the node: rows of the left side, paired with rows of the right side.

        About ``Limits.pairs_handed_on`` come together, out of as many segments as it takes: nearly all segments are
        small, and work on pairs costs more for each batch than for each pair.

        Args:
            others: the segments of the other side.
            once: for each row one of the rows of a segment that match is enough.
            early: tests many candidates before they are pairs.
        """
        waiting: list[tuple[Positions, pa.RecordBatch]] = []
        number = 0
        for segment in others:
            rows = open_segment(segment.path)
            for at, partners in self._one_each(segment.path) if once else self._all(segment.path, early):
                if not len(at):
                    continue
                waiting.append((at, conform(rows, self.other.paired).take(pa.array(partners))))
                number += len(at)
                if number >= self.limits.pairs_handed_on:
                    yield self._sides(waiting)
                    waiting, number = [], 0
        if waiting:
            yield self._sides(waiting)

    @property
    def _by_index(self) -> bool:
        """Whether rows are looked up; else every row is a candidate."""
        return bool(self.path.keys or self.path.bands)

    def _all(self, segment: str, early: EarlyTest | None) -> Iterator[tuple[Positions, Positions]]:
        """All candidates of a segment, as positions in ``rows`` and in the segment."""
        batch = open_segment(segment)
        at_once = self.limits.pairs_handed_on if early is None else self.limits.pairs_tested_together
        if self._by_index:
            found = candidates(segment, self.key, self.ranges, at_once, self.weights)
        else:
            found = self._every(batch, at_once)
        for asked, partners in found:
            go_on()
            belong = self.other.belong(batch, partners)
            at, partners = self.at[asked[belong]], partners[belong]
            yield (
                (at, partners)
                if early is None or len(at) < self.limits.pairs_tested_early
                else early(at, partners, batch)
            )

    def _every(self, segment: pa.RecordBatch, at_once: int) -> Iterator[tuple[Positions, Positions]]:
        """Pair all rows of the node in a segment with all rows that are looked up; pairs of one stored row are
        together.
        """
        asked, size, own = np.arange(len(self.at)), max(1, at_once // len(self.at)), self._of_node(segment)
        for first in range(0, len(own), size):
            partners = own[first : first + size]
            yield np.repeat(asked, len(partners)), np.tile(partners, len(asked))

    def _of_node(self, segment: pa.RecordBatch) -> Positions:
        """The rows of the other side's node in a segment."""
        return np.flatnonzero(self.other.belong(segment))

    def _one_each(self, segment: str) -> Iterator[tuple[Positions, Positions]]:
        """For each row that has a match in a segment one of them."""
        batch = open_segment(segment)
        own, other = (
            rows.select([*dict.fromkeys(of.key_columns)]) for rows, of in ((self.rows, self.own), (batch, self.other))
        )

        def matches(asked: Positions, partners: Positions) -> Mask:
            keys = own.take(pa.array(self.at[asked])), other.take(pa.array(partners))
            return self.other.belong(batch, partners) & path_has(self.path, *keys[:: 1 - 2 * self.changed])

        asked, partners = one_match(segment, self.key, self.ranges, matches)
        yield self.at[asked], partners

    def _sides(self, found: Sequence[tuple[Positions, pa.RecordBatch]]) -> tuple[pa.RecordBatch, pa.RecordBatch]:
        """Positions in ``rows`` and the rows beside them as rows of the left and of the right side."""
        at = np.concatenate([at for at, _ in found])
        mine = conform(self.rows, self.own.paired).take(pa.array(at))
        others = one_batch([rows for _, rows in found])
        return (mine, others) if self.changed == 0 else (others, mine)


def path_has(path: AccessPath, left: pa.RecordBatch, right: pa.RecordBatch) -> Mask:
    """Which pairs have equal keys of an access path, and are within its bands.

    Args:
        path: the access path.
        left, right: pair by pair, with the columns of keys and bands.
    """
    found = np.ones(left.num_rows, dtype=bool)
    for own, other in zip(path.key_columns(0), path.key_columns(1), strict=True):
        found &= true_rows(pc.equal(left.column(own), right.column(other)))
    for band in path.bands:
        found &= band.has(left, right)
    return found


def is_first_path(paths: Sequence[AccessPath], path: AccessPath, left: pa.RecordBatch, right: pa.RecordBatch) -> Mask:
    """Which pairs an access path finds that none before it finds.

    Values decide, not their hashes, so that a collision neither doubles a pair nor loses it.

    Args:
        paths: all access paths.
        path: the one by which the pairs were found.
        left, right: see ``path_has``.
    """
    first = path_has(path, left, right)
    for other in paths[: paths.index(path)]:
        first &= ~path_has(other, left, right)
    return first


def single_batch(rows: pa.RecordBatch) -> bool:
    """Whether all rows are of one batch, so that pairs of one stored row have one batch as well."""
    return bool(pc.count_distinct(rows.column(BATCH)).as_py() == 1)


def _that_cancel(
    path: AccessPath, changed: int, rows: pa.RecordBatch, at: Positions, hashes: Hashes
) -> Positions | None:
    """The weights of rows that cancel where an index finds the same rows for them; ``None`` where that is not sure.

    Args:
        path, changed, rows: see ``Lookup``.
        at: positions in the order of their hashes.
        hashes: of their keys.
    """
    weights = rows.column(WEIGHT).to_numpy()[at]
    exact = len(path.bands) == 1 and path.bands[0].counted
    if not exact or not single_batch(rows) or not (np.abs(weights) == 1).all() or (weights == weights[0]).all():
        return None
    # Rows of one hash must have one key.
    next_ = np.flatnonzero(hashes[1:] == hashes[:-1])
    for name in path.key_columns(changed):
        ahead, behind = (rows.column(name).take(pa.array(at[next_ + shift])) for shift in (1, 0))
        if not not_distinct(ahead, behind).all():
            return None
    return weights


def _taken(orders: Orders | None, at: Positions) -> Orders | None:
    return None if orders is None else orders[at]
