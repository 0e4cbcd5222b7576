"""The stored rows of partitions that change: of a small one all, of a large one those that the batch touches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from workbench.engine.operators.analytic.ranges import KeyRange, Partition, Reading, merged
from workbench.engine.operators.grouped.state_lookup import KeyedLookup
from workbench.engine.storage.grouping import Positions, group_rows
from workbench.engine.storage.indexes.key_index import Hashes, Key, KeyRanges, candidates_of_each, row_hashes
from workbench.engine.storage.indexes.order_index import OrderIndex, OrderKeys, PrefixSums, RowOrder
from workbench.engine.storage.indexes.rank_index import CountedRun, Ranked
from workbench.engine.storage.scan import Scan
from workbench.engine.storage.segments import Run, open_segment, read_share
from workbench.limits import LIMITS, Limits


@dataclass(frozen=True)
class Prefix:
    """The rows of a partition before those that are read from it.

    Attributes:
        rows: how many rows.
        sums: of each summed column the sum, unscaled, and how many values it is of.
    """

    rows: int
    sums: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Found:
    """Stored rows, and by the hash of a partition what stands before them; of other partitions nothing does."""

    rows: list[pa.RecordBatch]
    prefixes: Mapping[int, Prefix] = field(default_factory=dict)


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
        rest = together.filter(pa.array(~np.isin(hashes, np.array(sorted(found.prefixes), dtype=np.uint64))))
        return Found([*found.rows, *self._whole(rest, stored)], found.prefixes)

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
        partitions = self._hashes(one_of_each)
        sizes = self._sizes(partitions, stored)
        large = np.flatnonzero(sizes > self.limits.rows_of_large_partition)
        if not len(large) or len(np.unique(partitions)) < len(partitions):
            return nothing
        schema = pa.schema(list({f.name: f for f in (*self.scan.schema, *self.scan.keys)}.values()))
        index = OrderIndex(self.order, schema, self.scan.bit)
        runs = [index.of_segment(segment.path) for segment in stored]
        change = index.of_rows(changed.filter(pa.array(np.isin(hashes, partitions[large]))))
        sums = [[index.sums(segment.path, column) for segment in stored] for column in self.summed]
        if change is None or any(run is None for run in (*runs, *(s for some in sums for s in some))):
            return nothing
        read = _Runs(index, [run for run in runs if run is not None], change, stored)
        rows, prefixes = list[pa.RecordBatch](), dict[int, Prefix]()
        for at in large:
            partition = read.partition(partitions[at])
            if not read.is_one_partition(partition, one_of_each.slice(at, 1)):
                continue
            most = self.limits.ranges_per_large_partition * int(sizes[at]) // self.limits.rows_of_large_partition
            ranges = merged(reading.ranges(partition, most))
            if not ranges:
                continue
            prefixes[int(partitions[at])] = read.prefix(partition, ranges[0], sums)
            rows += read.rows(partition, ranges, self.scan)
        return Found(rows, prefixes)

    def _hashes(self, rows: pa.RecordBatch) -> Hashes:
        return row_hashes(rows, self.order.partition, nulls=True)[0]

    def _sizes(self, partitions: Hashes, stored: Run) -> Positions:
        """About how many stored rows each partition has."""
        if not self.order.partition:
            return np.array([sum(segment.rows for segment in stored)])
        key, asked = Key(self.scan.key_columns, nulls=True), KeyRanges(partitions)
        none = np.zeros(len(partitions), dtype=np.int64)
        return sum((candidates_of_each(segment.path, key, asked) for segment in stored), start=none)


@dataclass(frozen=True)
class _Runs:
    """The runs of an index over all segments, and that of the change."""

    index: OrderIndex
    runs: Sequence[CountedRun]
    change: CountedRun
    stored: Run

    def partition(self, hash_: np.uint64) -> Partition:
        ends = np.array([self.index.begin(hash_), self.index.end(hash_)], dtype=self.change.orders.dtype)
        parts = [(run, *_slice(run.orders, ends)) for run in (*self.runs, self.change)]
        _, first, after = parts[-1]
        changed = np.unique(self.change.orders[first:after])
        return Partition(self.index, hash_, Ranked(tuple(parts[:-1])), Ranked(tuple(parts)), changed)

    def is_one_partition(self, partition: Partition, row: pa.RecordBatch) -> bool:
        """Whether no segment has another partition with the hash of a row's."""
        for segment, (run, first, after) in zip(self.stored, partition.before.parts, strict=True):
            if after > first:
                stored = open_segment(segment.path).slice(int(run.rows[first]), 1)
                if not self.index.same_partition(row, stored):
                    return False
        return True

    def prefix(self, partition: Partition, range_: KeyRange, sums: Sequence[Sequence[PrefixSums | None]]) -> Prefix:
        """The rows before a range."""
        low = np.array([range_[0]], dtype=self.change.orders.dtype)
        parts = [
            (run, first, first + int(np.searchsorted(run.orders[first:after], low)[0]))
            for run, first, after in partition.before.parts
        ]
        totals = []
        for along in sums:
            each = [s.between(first, end) for s, (_, first, end) in zip(along, parts, strict=True) if s is not None]
            totals.append((sum(total for total, _ in each), sum(count for _, count in each)))
        return Prefix(sum(run.count(first, end) for run, first, end in parts), tuple(totals))

    def rows(self, partition: Partition, ranges: Sequence[KeyRange], scan: Scan) -> Iterable[pa.RecordBatch]:
        """The stored rows of some ranges that do not overlap."""
        for segment, (run, first, after) in zip(self.stored, partition.before.parts, strict=True):
            keys: OrderKeys = run.orders[first:after]
            ends = np.array(ranges, dtype=self.change.orders.dtype).reshape(-1, 2)
            low, high = np.searchsorted(keys, ends[:, 0], "left"), np.searchsorted(keys, ends[:, 1], "right")
            at = [run.rows[first + a : first + b] for a, b in zip(low, high, strict=True) if b > a]
            if at:
                yield scan.take(open_segment(segment.path), np.concatenate(at))


def selected(segments: Run, scan: Scan) -> Iterable[pa.RecordBatch]:
    """The rows of a node in some segments."""
    for batch in read_share([(segment.path, 0, segment.rows) for segment in segments], scan.input):
        yield from scan.select(batch)


def _first_of_each(rows: pa.RecordBatch, names: Sequence[str]) -> pa.RecordBatch:
    """One row of each partition."""
    order, starts = group_rows([rows.column(name) for name in names], rows.num_rows)
    return rows.take(pa.array(order[starts]))


def _slice(keys: OrderKeys, ends: OrderKeys) -> tuple[int, int]:
    return int(np.searchsorted(keys, ends[0], "left")), int(np.searchsorted(keys, ends[1], "right"))
