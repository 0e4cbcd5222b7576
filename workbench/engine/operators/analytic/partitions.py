"""The stored rows of partitions that change: of a small one all, of a large one those that the batch touches."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from workbench.arrow.types import Mask
from workbench.engine.operators.analytic.ranges import CarriedValues, KeyPlaces, Partitions, Ranges, Reading
from workbench.engine.operators.grouped.state_lookup import KeyedLookup
from workbench.engine.storage.grouping import Positions, group_rows
from workbench.engine.storage.indexes.key_index import Hashes, Key, KeyRanges, candidates_of_each, row_hashes
from workbench.engine.storage.indexes.order_index import OrderIndex, PrefixSums, RowOrder
from workbench.engine.storage.scan import Scan
from workbench.engine.storage.segments import Run, open_segment, read_share
from workbench.limits import LIMITS, Limits


@dataclass(frozen=True)
class Prefixes:
    """What stands before the rows that are read from partitions.

    Attributes:
        hashes: of the partitions, in order.
        rows: how many rows.
        sums: of each summed column the sums, unscaled integers of Python, and how many values each is of.
    """

    hashes: Hashes
    rows: Positions
    sums: tuple[tuple[npt.NDArray[np.object_], Positions], ...]

    def of(self, hashes: Hashes) -> Prefixes:
        """Those of some partitions; before the rows of those that are not known nothing stands."""
        at = np.searchsorted(self.hashes, hashes)
        known = np.append(self.hashes, 0)[at] == hashes
        known &= at < len(self.hashes)

        def chosen(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
            return np.where(known, np.append(values, 0)[at], 0)

        return Prefixes(hashes, chosen(self.rows), tuple((chosen(sums), chosen(counts)) for sums, counts in self.sums))


@dataclass(frozen=True)
class Found:
    """Stored rows, and what stands before those of partitions of which a range is read; before others nothing does."""

    rows: list[pa.RecordBatch]
    prefixes: Prefixes | None = None


@dataclass(frozen=True)
class PartitionLookup:
    """Reads rows of partitions.

    Attributes:
        scan: what is read; its keys are the partition.
        order: of the rows.
        reading: which rows of a large partition are enough; ``None``: all are needed.
        summed: the columns whose sums before the range are needed.
        limits: which partitions are large.
    """

    scan: Scan
    order: RowOrder
    reading: Reading | None = None
    summed: tuple[str, ...] = ()
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
        if found.prefixes is not None:
            together = together.filter(pa.array(~np.isin(hashes, found.prefixes.hashes)))
        return Found([*found.rows, *self._whole(together, stored)], found.prefixes)

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
        """The rows of large partitions, as far as they are touched."""
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
        sums = [[index.sums(segment.path, column) for segment in stored] for column in self.summed]
        of_large = changed.filter(pa.array(np.isin(hashes, partitions[large])))
        those = _partitions(index, partitions[large], of_large, stored)
        if those is None or any(run is None for some in sums for run in some):
            return nothing
        if isinstance(reading, CarriedValues):
            known = replace(index, known=reading.column)
            those = replace(those, known=_partitions(known, partitions[large], of_large, stored))
        most = self.limits.ranges_per_large_partition * sizes[large] // self.limits.rows_of_large_partition
        ranges = reading.ranges(those, most)
        ranges = ranges.chosen(_are_alone(those, one_of_each.take(pa.array(large)), stored)[ranges.low.of])
        if not len(ranges.low.of):
            return nothing
        return Found(list(_rows(those, ranges, stored, self.scan)), _prefixes(those, ranges.low, sums))

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


def _rows(partitions: Partitions, ranges: Ranges, stored: Run, scan: Scan) -> Iterable[pa.RecordBatch]:
    """The stored rows of ranges, each once."""
    together = zip(stored, partitions.stored, ranges.low.at, ranges.high.at, strict=False)  # not those of the change
    for segment, slices, low, high in together:
        order = np.argsort(low, kind="stable")
        through = np.maximum.accumulate(high[order])
        low = np.maximum(low[order], np.append(0, through[:-1]))
        counts = through - np.minimum(low, through)
        if total := int(counts.sum()):
            at = np.arange(total) + np.repeat(low - np.cumsum(counts) + counts, counts)
            yield scan.take(open_segment(segment.path), slices.run.rows[at])


def _prefixes(partitions: Partitions, low: KeyPlaces, sums: Sequence[Sequence[PrefixSums | None]]) -> Prefixes:
    """What stands before the first range of each partition."""
    of, first = np.unique(low.of, return_index=True)
    places = [(s.first[of], at[first]) for s, at in zip(partitions.stored, low.at, strict=False)]
    rows, _ = partitions.counts(low.chosen(first))
    none = np.zeros(len(of), dtype=np.int64)
    totals = []
    for along in sums:
        each = [s.between(*place) for s, place in zip(along, places, strict=True) if s is not None]
        # Those of several segments together may have more digits than 64 bits.
        total = sum((part.astype(object) for part, _ in each), start=none.astype(object))
        totals.append((total, sum((count for _, count in each), start=none)))
    return Prefixes(partitions.hashes[of], rows, tuple(totals))


def selected(segments: Run, scan: Scan) -> Iterable[pa.RecordBatch]:
    """The rows of a node in some segments."""
    for batch in read_share([(segment.path, 0, segment.rows) for segment in segments], scan.input):
        yield from scan.select(batch)


def _first_of_each(rows: pa.RecordBatch, names: Sequence[str]) -> pa.RecordBatch:
    """One row of each partition."""
    order, starts = group_rows([rows.column(name) for name in names], rows.num_rows)
    return rows.take(pa.array(order[starts]))
