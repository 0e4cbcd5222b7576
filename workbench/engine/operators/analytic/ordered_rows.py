"""Rows of partitions in their order, before and after a batch: their numbers, ranks and neighbours.

A row that occurs several times stands there once, with how often it was there before the batch and is after it. What
rows are ordered by are stored values, so this needs no expression: they are ranked in this process.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from workbench.engine.storage.comparable import ASCENDING, Direction, dense_ranks
from workbench.engine.storage.grouping import Positions, group_rows
from workbench.engine.storage.layout import BATCH, WEIGHT
from workbench.engine.storage.lineage import Mask

MARKS = ("_part", "_row", "_rank", "_group", "_last", "_rows", "_sign", "_keep")
"""Columns that ordered rows get: the number of their partition, their own from 1, that of their first peer, how many
groups of peers there are up to them, the number of their last peer, how many rows the partition has, 1 for rows after
the batch and -1 for those before it, and 1 where the row's values are wanted and it is not only a neighbour."""


@dataclass(frozen=True)
class RowOrder:
    """By which columns rows are partitioned and ordered; peers are in the order of ``ties``."""

    partition: tuple[str, ...]
    keys: tuple[tuple[str, Direction], ...]
    ties: tuple[str, ...]


@dataclass(frozen=True)
class OrderedRows:
    """Different rows, partition by partition in their order.

    Attributes:
        rows: each once, without marks.
        part: the number of its partition.
        peer: the number of its group of peers.
        before, after: how often it was there before the batch, and is after it.
    """

    rows: pa.RecordBatch
    part: Positions
    peer: Positions
    before: Positions
    after: Positions

    @staticmethod
    def of(before: Sequence[pa.RecordBatch], change: Sequence[pa.RecordBatch], order: RowOrder) -> OrderedRows:
        """Put rows in order.

        Args:
            before: rows before the batch, as a Z-set; rows that cancel are left out.
            change: what the batch changes.
            order: of the rows, which have these columns.
        """
        there, changed = (sum(batch.num_rows for batch in some) for some in (before, change))
        together = pa.concat_batches([*before, *change])
        values = together.select([name for name in together.schema.names if name not in (BATCH, WEIGHT)])
        weights = together.column(WEIGHT).to_numpy()
        at, starts = group_rows(values.columns, there + changed)
        after = np.add.reduceat(weights[at], starts) if len(at) else np.zeros(0, dtype=np.int64)
        was = np.where(np.arange(there + changed) < there, weights, 0)[at]
        earlier = np.add.reduceat(was, starts) if len(at) else after
        return _in_order(values.take(pa.array(at[starts])), earlier, after, order)

    def chosen(self, which: Mask) -> OrderedRows:
        """Some of the rows."""
        at = np.flatnonzero(which)
        rows = self.rows.take(pa.array(at))
        return OrderedRows(rows, self.part[at], self.peer[at], self.before[at], self.after[at])

    def with_counts(self, before: Positions, after: Positions) -> OrderedRows:
        """The rows, each so often."""
        return OrderedRows(self.rows, self.part, self.peer, before, after)

    def side(self, sign: int) -> Side:
        """The rows before the batch (-1) or after it (1), each as often as it is there."""
        return Side.of(self, np.maximum(self.after if sign > 0 else self.before, 0), sign)


@dataclass(frozen=True)
class Side:
    """Rows as they stand in their partitions, each as often as it is there, with their marks.

    ``at``: which of the different rows each is.
    """

    ordered: OrderedRows
    sign: int
    at: Positions
    part: Positions
    row: Positions
    rank: Positions
    group: Positions
    last: Positions
    rows: Positions

    @staticmethod
    def of(ordered: OrderedRows, counts: Positions, sign: int) -> Side:
        """Number the rows."""
        at = np.repeat(np.arange(len(counts)), counts)
        part, peer = ordered.part[at], ordered.peer[at]
        place = np.arange(len(at))
        first_of_part, parts = _starts(part)
        first_of_peer, peers = _starts(peer)
        begin = first_of_part[parts]
        ends = np.append(first_of_part[1:], len(at))
        peer_ends = np.append(first_of_peer[1:], len(at))
        return Side(
            ordered,
            sign,
            at,
            part,
            row=place - begin + 1,
            rank=first_of_peer[peers] - begin + 1,
            group=peers - (peers[begin] if len(at) else peers) + 1,
            last=peer_ends[peers] - begin,
            rows=ends[parts] - begin,
        )

    def batch(self, handed_on: Mask, wanted: Mask) -> pa.RecordBatch:
        """Some of the rows with their marks; the partitions of both sides have different numbers."""
        chosen = np.flatnonzero(handed_on)
        rows = self.ordered.rows.take(pa.array(self.at[chosen]))
        part = self.part * 2 + (self.sign > 0)
        numbers = (part, self.row, self.rank, self.group, self.last, self.rows)
        marks: list[npt.NDArray[Any]] = [number[chosen] for number in numbers]
        marks += [np.full(len(chosen), self.sign), wanted[chosen]]
        return pa.RecordBatch.from_arrays(
            [*rows.columns, *(pa.array(mark.astype(np.int64)) for mark in marks)], names=[*rows.schema.names, *MARKS]
        )


def _in_order(rows: pa.RecordBatch, before: Positions, after: Positions, order: RowOrder) -> OrderedRows:
    part = np.zeros(rows.num_rows, dtype=np.int64)
    at, starts = group_rows([rows.column(name) for name in order.partition], rows.num_rows)
    part[at] = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(at))))
    keys = [dense_ranks(rows.column(name), direction) for name, direction in order.keys]
    ties = [dense_ranks(rows.column(name), ASCENDING) for name in order.ties]
    sorted_ = np.lexsort([*ties[::-1], *keys[::-1], part])
    new = np.ones(len(sorted_), dtype=bool)
    if len(sorted_):
        new[1:] = np.logical_or.reduce([key[sorted_[1:]] != key[sorted_[:-1]] for key in (part, *keys)])
    peer = np.cumsum(new) - 1
    return OrderedRows(rows.take(pa.array(sorted_)), part[sorted_], peer, before[sorted_], after[sorted_])


def _starts(numbers: Positions) -> tuple[Positions, Positions]:
    """Where runs of equal numbers start, and for each place the number of its run."""
    new = np.ones(len(numbers), dtype=bool)
    new[1:] = numbers[1:] != numbers[:-1]
    return np.flatnonzero(new), np.cumsum(new) - 1
