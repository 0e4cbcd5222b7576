"""The stored rows of partitions that change: of a small one all, of a large one those that the batch touches."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from workbench.arrow.types import Mask
from workbench.engine.operators.analytic.carried_values import CarriedValues
from workbench.engine.operators.analytic.key_places import Partitions
from workbench.engine.operators.analytic.ranges import Around, First, Ranges
from workbench.engine.operators.grouped.state_lookup import KeyedLookup
from workbench.engine.storage.grouping import Positions, group_rows
from workbench.engine.storage.indexes.key_index import Hashes, Key, KeyRanges, candidates_of_each, row_hashes
from workbench.engine.storage.indexes.order_index import OrderIndex, RowOrder
from workbench.engine.storage.indexes.prefix_index import Along, EntryRange
from workbench.engine.storage.scan import Scan
from workbench.engine.storage.segments import Run, open_segment, read_share
from workbench.limits import LIMITS, Limits

Reading = Around | First | CarriedValues
"""What says which ranges of a large partition are read."""


@dataclass(frozen=True)
class Prefixes:
    """What is known of the rows of partitions that are not read and come before the last range that is.

    Attributes:
        hashes: of the partitions, in order.
        known: of each of what is kept along the order what it comes to there, in its columns (``prefix_index``).
    """

    hashes: Hashes
    known: tuple[tuple[pa.Array, ...], ...]

    def of(self, hashes: Hashes) -> Prefixes:
        """The prefixes of some partitions, NULL for partitions without one."""
        at = np.searchsorted(self.hashes, hashes)
        there = np.append(self.hashes, 0)[at] == hashes
        there &= at < len(self.hashes)
        taken = pa.array(np.where(there, at, 0), mask=~there)
        return Prefixes(hashes, tuple(tuple(column.take(taken) for column in columns) for columns in self.known))


@dataclass(frozen=True)
class Found:
    """Stored rows that were read, and what is known of the other rows of their partitions.

    Attributes:
        rows: those that are read.
        prefixes: of partitions of which ranges are read.
        unread: for each row, and behind these for each that changes, how many of its partition stand before it and are
            not read, and how many are not read in all.
    """

    rows: list[pa.RecordBatch]
    prefixes: Prefixes | None = None
    unread: Positions | None = None


@dataclass(frozen=True)
class PartitionLookup:
    """Reads rows of partitions.

    Attributes:
        scan: what is read; its keys are the partition.
        order: of the rows.
        reading: which rows of a large partition are enough; ``None``: all are needed.
        along: what has to be known of all rows before the range.
        limits: which partitions are large.
    """

    scan: Scan
    order: RowOrder
    reading: Reading | None = None
    along: tuple[Along, ...] = ()
    limits: Limits = LIMITS

    def of(self, changed: Sequence[pa.RecordBatch], stored: Run) -> Found:
        """The rows to read for a change.

        Args:
            changed: rows that change, all of the node.
            stored: the segments of the rows before.
        """
        together = pa.concat_batches(changed)
        if self.reading is None or not together.num_rows:
            return Found(list(self._whole(together, stored)))
        hashes = self._hashes(together)
        found = self._by_range(self.reading, together, hashes, stored)
        if found.prefixes is None or found.unread is None:
            return Found(list(self._whole(together, stored)))
        whole = list(self._whole(together.filter(pa.array(~np.isin(hashes, found.prefixes.hashes))), stored))
        of_ranges = sum(batch.num_rows for batch in found.rows)
        unread = np.insert(found.unread, [of_ranges] * sum(batch.num_rows for batch in whole), 0, axis=1)
        return Found([*found.rows, *whole], found.prefixes, unread)

    def _whole(self, changed: pa.RecordBatch, stored: Run) -> Iterable[pa.RecordBatch]:
        """All rows of the partitions that some rows belong to."""
        if not changed.num_rows:
            return
        names = self.order.partition
        if not names:
            yield from selected(stored, self.scan)
            return
        yield from KeyedLookup(names, self.scan, limits=self.limits).rows_of(
            _first_of_each(changed, names).select(names), stored
        )

    def _by_range(self, reading: Reading, changed: pa.RecordBatch, hashes: Hashes, stored: Run) -> Found:
        """The rows of the touched ranges of large partitions."""
        nothing = Found([])
        one_of_each = _first_of_each(changed, self.order.partition)
        in_order = np.argsort(self._hashes(one_of_each))
        one_of_each = one_of_each.take(pa.array(in_order))
        partitions = self._hashes(one_of_each)
        if (partitions[1:] == partitions[:-1]).any():
            return nothing
        sizes = self._sizes(partitions, stored)
        large = np.flatnonzero(sizes > self.limits.rows_of_large_partition)
        if not len(large):
            return nothing
        schema = pa.schema(list({f.name: f for f in (*self.scan.schema, *self.scan.keys)}.values()))
        index = OrderIndex(self.order, schema, self.scan.bit)
        of_large = changed.filter(pa.array(np.isin(hashes, partitions[large])))
        those = _partitions(index, partitions[large], of_large, stored)
        if those is None:
            return nothing
        if isinstance(reading, CarriedValues):
            known = replace(index, known=reading.column)
            those = replace(those, known=_partitions(known, partitions[large], of_large, stored))
        most = self.limits.ranges_per_large_partition * sizes[large] // self.limits.rows_of_large_partition
        ranges = reading.ranges(those, most)
        ranges = ranges.chosen(_are_alone(those, one_of_each.take(pa.array(large)), stored)[ranges.low.of])
        ranges = ranges.apart()
        prefixes, certain = _prefixes(those, ranges, stored, self.along)
        if not certain.all():
            ranges = ranges.chosen(certain[ranges.low.of])
            prefixes, _ = _prefixes(those, ranges, stored, self.along)
        if not len(ranges.low.of):
            return nothing
        unread = _unread(those, ranges)
        rows, numbers = list[pa.RecordBatch](), list[Positions]()
        for segment, places, own in zip(stored, _places(those, ranges), those.stored, strict=False):
            if len(places[0]):
                rows.append(self.scan.take(open_segment(segment.path), own.run.rows[places[0]]))
                numbers.append(unread[:, places[1]])
        of_change = np.zeros((2, changed.num_rows), dtype=np.int64)
        *_, (entries, of_range) = _places(those, ranges)
        of_change[:, np.flatnonzero(np.isin(hashes, partitions[large]))[those.change.run.rows[entries]]] = unread[
            :, of_range
        ]
        return Found(rows, prefixes, np.concatenate([*numbers, of_change], axis=1))

    def _hashes(self, rows: pa.RecordBatch) -> Hashes:
        return row_hashes(rows, self.order.partition, nulls=True)[0]

    def _sizes(self, partitions: Hashes, stored: Run) -> Positions:
        """About how many stored rows each partition has."""
        if not self.order.partition:
            return np.array([sum(segment.rows for segment in stored)])
        key, asked = Key(self.scan.key_columns, nulls=True), KeyRanges(partitions)
        none = np.zeros(len(partitions), dtype=np.int64)
        return sum((candidates_of_each(segment.path, key, asked) for segment in stored), start=none)


def _partitions(index: OrderIndex, hashes: Hashes, changed: pa.RecordBatch, stored: Run) -> Partitions | None:
    """Partitions in which rows change; ``None`` where two of a segment have one hash."""
    change, *runs = (index.of_rows(changed), *(index.of_segment(segment.path) for segment in stored))
    if change is None or None in runs:
        return None
    return Partitions.of(index, hashes, [run for run in runs if run is not None], change)


def _are_alone(partitions: Partitions, one_of_each: pa.RecordBatch, stored: Run) -> Mask:
    """Whether no segment has another partition with the hash of a partition."""
    alone = np.ones(len(partitions.hashes), dtype=bool)
    for segment, slices in zip(stored, partitions.stored, strict=True):
        there = np.flatnonzero(slices.after > slices.first)
        names = list(partitions.index.order.partition)
        rows = open_segment(segment.path).select(names).take(pa.array(slices.run.rows[slices.first[there]]))
        alone[there] &= partitions.index.same_partition(one_of_each.take(pa.array(there)), rows)
    return alone


def _places(partitions: Partitions, ranges: Ranges) -> Iterable[tuple[Positions, Positions]]:
    """In each run, that of the change last, the entries of ranges, and of each which range it is in."""
    for low, high in zip(ranges.low.at, ranges.high.at, strict=True):
        counts = high - low
        entries = np.arange(counts.sum()) + np.repeat(low - np.cumsum(counts) + counts, counts)
        yield entries, np.repeat(np.arange(len(counts)), counts)


def _unread(partitions: Partitions, ranges: Ranges) -> Positions:
    """For each range how many rows of its partition stand before it in none, and how many are in none at all."""
    of = ranges.low.of
    (starts, _), (ends, _) = partitions.counts(ranges.low), partitions.counts(ranges.high)
    read = np.append(0, np.cumsum(ends - starts))
    first, behind = np.searchsorted(of, of), np.searchsorted(of, of, side="right")
    total, _ = partitions.counts(partitions.ends(of))
    return np.stack([starts - (read[:-1] - read[first]), total - (read[behind] - read[first])])


def _prefixes(partitions: Partitions, ranges: Ranges, stored: Run, along: Sequence[Along]) -> tuple[Prefixes, Mask]:
    """What is known of the rows before the last range of each partition that are in none; and where that is certain."""
    of = np.unique(ranges.low.of)
    last = np.searchsorted(ranges.low.of, of, side="right") - 1
    second = (last > 0) & (ranges.low.of[last - 1] == of)
    certain, known = np.ones(len(partitions.hashes), dtype=bool), []
    for each in along:
        places = [
            EntryRange(
                open_segment(segment.path), kept, s.first[of], np.where(second, high[last - 1], s.first[of]), low[last]
            )
            for segment, s, low, high in zip(stored, partitions.stored, ranges.low.at, ranges.high.at, strict=False)
            if (kept := partitions.index.along(segment.path, each)) is not None
        ]  # not those of the change
        before = each.before(places, len(of))
        certain[of] &= before.certain
        known.append(before.columns)
    return Prefixes(partitions.hashes[of], tuple(known)), certain


def selected(segments: Run, scan: Scan) -> Iterable[pa.RecordBatch]:
    """The rows of a node in some segments."""
    for batch in read_share([(segment.path, 0, segment.rows) for segment in segments], scan.input):
        yield from scan.select(batch)


def _first_of_each(rows: pa.RecordBatch, names: Sequence[str]) -> pa.RecordBatch:
    """One row of each partition."""
    order, starts = group_rows([rows.column(name) for name in names], rows.num_rows)
    return rows.take(pa.array(order[starts]))
