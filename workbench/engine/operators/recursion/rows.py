"""Rows of the steps of a recursion in memory: looked up in what is stored, joined, and added up."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from workbench.engine.spark.arrow_tasks import go_on
from workbench.engine.storage.grouping import Positions, group_rows, not_distinct
from workbench.engine.storage.indexes.key_index import (
    Hashes,
    Key,
    KeyRanges,
    candidates,
    key_hashes,
    row_hashes,
)
from workbench.engine.storage.layout import WEIGHT
from workbench.engine.storage.scan import Scan
from workbench.engine.storage.segments import Run, open_segment
from workbench.limits import Limits


def rows_with_keys(
    segments: Run, scan: Scan, keys: Sequence[str], hashes: Hashes, limits: Limits, nulls: bool = False
) -> pa.RecordBatch:
    """The stored rows of a node that have one of some keys, and perhaps others; without keys all.

    Args:
        segments: where they are.
        scan: what is read of them.
        keys: the columns of the key.
        hashes: of the keys that are asked for.
        limits: of what is looked up together.
        nulls: whether NULL is a value of the key.
    """
    parts = [pa.RecordBatch.from_pylist([], scan.output)]
    asked = KeyRanges(np.unique(hashes))
    for segment in segments:
        go_on()
        rows = open_segment(segment.path)
        if keys:
            key = Key(tuple(keys), nulls)
            found = [at for _, at in candidates(segment.path, key, asked, limits.rows_looked_up_together)]
            at = np.sort(np.concatenate(found)) if found else np.zeros(0, dtype=np.int64)
        else:
            at = np.arange(rows.num_rows)
        at = at[scan.belong(rows, at)]
        if len(at):
            parts.append(scan.take(rows, at))
    return pa.concat_batches(parts)


def pairs(
    left: Sequence[pa.Array], right: Sequence[pa.Array], counts: tuple[int, int], most: int
) -> Iterator[tuple[Positions, Positions]]:
    """Positions of rows of two sides with keys of equal hashes, pair by pair; without keys all pairs.

    Args:
        left, right: the columns of the keys.
        counts: how many rows there are.
        most: pairs that come together, about.
    """
    (asked, has), (found, known) = (
        key_hashes(side) if side else (np.zeros(count, np.uint64), np.ones(count, dtype=bool))
        for side, count in ((left, counts[0]), (right, counts[1]))
    )
    rows, others = np.flatnonzero(has), np.flatnonzero(known)
    others = others[np.argsort(found[others], kind="stable")]
    first = np.searchsorted(found[others], asked[rows], side="left")
    number = np.searchsorted(found[others], asked[rows], side="right") - first
    rows, first, number = rows[number > 0], first[number > 0], number[number > 0]
    through = np.cumsum(number)
    begin = 0
    while begin < len(rows):
        go_on()
        before = through[begin - 1] if begin else 0
        end = max(begin + 1, int(np.searchsorted(through, before + most, side="right")))
        some = number[begin:end]
        within = np.arange(some.sum()) - np.repeat(np.cumsum(some) - some, some)
        yield np.repeat(rows[begin:end], some), others[np.repeat(first[begin:end], some) + within]
        begin = end


def added_up(rows: pa.RecordBatch) -> pa.RecordBatch:
    """Sum the weights of equal rows, and leave out rows of weight 0."""
    names = [name for name in rows.schema.names if name != WEIGHT]
    order, starts = group_rows([rows.column(name) for name in names], rows.num_rows)
    if not len(order):
        return rows
    weights = np.add.reduceat(rows.column(WEIGHT).to_numpy()[order], starts)
    kept = np.flatnonzero(weights)
    return with_weights(rows.take(pa.array(order[starts[kept]])), weights[kept])


def with_weights(rows: pa.RecordBatch, weights: Positions) -> pa.RecordBatch:
    """Rows with other weights."""
    if WEIGHT not in rows.schema.names:
        return rows.append_column(WEIGHT, pa.array(weights, pa.int64()))
    return rows.set_column(rows.schema.get_field_index(WEIGHT), WEIGHT, pa.array(weights, pa.int64()))


@dataclass
class NumberedRows:
    """Different rows, each with a number, which are found by their values.

    Attributes:
        rows: by number.
    """

    rows: pa.RecordBatch

    def __post_init__(self) -> None:
        self._names = self.rows.schema.names
        self._hashes = self._hashes_of(self.rows)
        self._order = np.argsort(self._hashes, kind="stable")
        self._hashes = self._hashes[self._order]

    def find(self, rows: pa.RecordBatch) -> Positions:
        """The number of each of some rows; -1 for one that is not among them."""
        hashes, found = self._hashes_of(rows), np.full(rows.num_rows, -1, dtype=np.int64)
        first = np.searchsorted(self._hashes, hashes, side="left")
        number = np.searchsorted(self._hashes, hashes, side="right") - first
        asked = np.repeat(np.arange(len(hashes)), number)
        within = np.arange(number.sum()) - np.repeat(np.cumsum(number) - number, number)
        numbers = self._order[np.repeat(first, number) + within]
        same = np.ones(len(asked), dtype=bool)
        for name in self._names:
            same &= not_distinct(
                rows.column(name).take(pa.array(asked)), self.rows.column(name).take(pa.array(numbers))
            )
        found[asked[same]] = numbers[same]
        return found

    def add(self, rows: pa.RecordBatch) -> Positions:
        """Add different rows that are not among them; their numbers."""
        numbers = np.arange(self.rows.num_rows, self.rows.num_rows + rows.num_rows)
        self.rows = pa.concat_batches([self.rows, rows.select(self._names)])
        hashes = np.concatenate([self._hashes, self._hashes_of(rows)])
        order = np.argsort(hashes, kind="stable")
        self._hashes, self._order = hashes[order], np.concatenate([self._order, numbers])[order]
        return numbers

    def _hashes_of(self, rows: pa.RecordBatch) -> npt.NDArray[np.uint64]:
        return row_hashes(rows, self._names, nulls=True)[0]
