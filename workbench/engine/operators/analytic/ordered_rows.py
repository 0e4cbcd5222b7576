"""Rows of partitions in their order, before and after a batch: their numbers, ranks and neighbours.

A row that occurs several times stands there once, with how often it was there before the batch and is after it. What
rows are ordered by are stored values, so this needs no expression: they are ranked in this process.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from workbench.arrow.types import Mask
from workbench.engine.operators.analytic.partitions import Found, Prefixes
from workbench.engine.storage.comparable import numbers_in_order
from workbench.engine.storage.grouping import Positions, group_numbers, order_by, with_equal_bits
from workbench.engine.storage.indexes.key_index import row_hashes
from workbench.engine.storage.indexes.order_index import RowOrder
from workbench.engine.storage.indexes.prefix_index import Along, SumAlong
from workbench.engine.storage.layout import BATCH, WEIGHT, only

ORDER_COLUMNS = ("_part", "_place", "_rank", "_group", "_last", "_rows", "_sign", "_keep", "_same")
"""Columns that ordered rows get: the number of their partition, their own from 1, that of their first peer, how many
groups of peers there are up to them, the number of their last peer, how many rows the partition has, 1 for rows after
the batch and -1 for those before it, 1 where the row's values are wanted and it is not only a neighbour, and a number
that equal rows before and after the batch have, or -1 where it is not told which are equal."""


def prefix_columns(of: Along, at: int) -> tuple[str, ...]:
    """The columns with what is known of all rows before a partition's: how many values, and their sum, or the best."""
    return (f"_count{at}", f"_sum{at}") if isinstance(of, SumAlong) else (f"_best{at}",)


@dataclass(frozen=True)
class OrderedRows:
    """Different rows, partition by partition in their order.

    Attributes:
        rows: each once, without marks.
        part: the number of its partition.
        peer: the number of its group of peers.
        before, after: how often it was there before the batch, and is after it.
        prefixes: what is known of rows that are not read, by the number of their partition; ``None``: all are read.
        unread: of each how many of its partition stand before it and are not read, and how many are not read at all.
    """

    rows: pa.RecordBatch
    part: Positions
    peer: Positions
    before: Positions
    after: Positions
    prefixes: Prefixes | None = None
    unread: Positions | None = None

    @staticmethod
    def of(
        before: Sequence[pa.RecordBatch],
        change: Sequence[pa.RecordBatch],
        order: RowOrder,
        found: Found | None = None,
    ) -> OrderedRows:
        """Put rows in order.

        Args:
            before: rows before the batch, as a Z-set; rows that cancel are left out.
            change: what the batch changes.
            order: of the rows, which have these columns.
            found: what is known of rows that are not read.
        """
        there, changed = (sum(batch.num_rows for batch in some) for some in (before, change))
        together = pa.concat_batches([*before, *change])
        names = [name for name in together.schema.names if name not in (BATCH, WEIGHT)]
        # Equal values get the same bits, or it would be open which of -0.0 and 0.0 stands for both.
        columns = [with_equal_bits(together.column(name)) for name in names]
        values = pa.RecordBatch.from_arrays(columns, schema=only(together.schema, names))
        weights = together.column(WEIGHT).to_numpy()
        part, keys, ties = _sort_numbers(values, order, len(weights))  # there may be no column
        at = order_by([part, *keys, *ties])
        new_peer = _differs([part, *keys], at)
        starts = np.flatnonzero(new_peer | _differs(ties, at))
        was = np.where(np.arange(there + changed) < there, weights, 0)
        earlier, after = (np.add.reduceat(some[at], starts) if len(at) else some for some in (was, weights))
        peer, first = (np.cumsum(new_peer) - 1)[starts], at[starts]
        ordered = OrderedRows(values.take(pa.array(first)), part[first], peer, earlier, after)
        if found is None or found.prefixes is None or found.unread is None:
            return ordered
        starts, _ = _starts(ordered.part)
        hashes, _ = row_hashes(ordered.rows.take(pa.array(starts)), order.partition, nulls=True)
        return replace(ordered, prefixes=found.prefixes.of(hashes), unread=found.unread[:, first])

    def chosen(self, which: Mask) -> OrderedRows:
        """The rows that a mask chooses."""
        at = np.flatnonzero(which)
        rows = self.rows.take(pa.array(at))
        return OrderedRows(rows, self.part[at], self.peer[at], self.before[at], self.after[at])

    def with_counts(self, before: Positions, after: Positions) -> OrderedRows:
        """The rows, each so often."""
        return replace(self, before=before, after=after)

    def side(self, sign: int) -> Side:
        """The rows before the batch (-1) or after it (1), repeated by their multiplicity."""
        return Side.of(self, np.maximum(self.after if sign > 0 else self.before, 0), sign)


@dataclass(frozen=True)
class Side:
    """Rows in the order of their partitions, repeated by their multiplicity, with their marks.

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
        earlier, besides = (0, 0) if ordered.unread is None else ordered.unread[:, at]
        ends = np.append(first_of_part[1:], len(at))
        peer_ends = np.append(first_of_peer[1:], len(at))
        return Side(
            ordered,
            sign,
            at,
            part,
            row=place - begin + 1 + earlier,
            rank=first_of_peer[peers] - begin + 1 + earlier,
            group=peers - (peers[begin] if len(at) else peers) + 1,
            last=peer_ends[peers] - begin + earlier,
            rows=ends[parts] - begin + besides,
        )

    def batch(self, handed_on: Mask, wanted: Mask, along: Sequence[Along] = (), whole: bool = False) -> pa.RecordBatch:
        """Some of the rows with their marks; the partitions of both sides have different numbers.

        Args:
            handed_on: which rows.
            wanted: of which of these the values are wanted.
            along: what is known of all rows before these comes as well (``prefix_columns``).
            whole: whether the other side is one of the same ordered rows.
        """
        chosen = np.flatnonzero(handed_on)
        rows = self.ordered.rows.take(pa.array(self.at[chosen]))
        part = self.part * 2 + (self.sign > 0)
        numbers = (part, self.row, self.rank, self.group, self.last, self.rows)
        marks: list[npt.NDArray[Any]] = [number[chosen] for number in numbers]
        same = self.at[chosen] if whole else np.full(len(chosen), -1)
        marks += [np.full(len(chosen), self.sign), wanted[chosen], same]
        columns = [*rows.columns, *(pa.array(mark.astype(np.int64)) for mark in marks)]
        names = [*rows.schema.names, *ORDER_COLUMNS]
        own = pa.array(self.part[chosen])
        for at, of in enumerate(along):
            columns += [values.take(own) for values in self._before(of, at, rows.schema)]
            names += prefix_columns(of, at)
        return pa.RecordBatch.from_arrays(columns, names=names)

    def _before(self, of: Along, at: int, schema: pa.Schema) -> Iterable[pa.Array]:
        """The known value of all rows before each partition's rows; NULL where there are none."""
        prefixes, parts = self.ordered.prefixes, int(self.ordered.part.max(initial=0)) + 1
        types = (pa.int64(), pa.string()) if isinstance(of, SumAlong) else (schema.field(of.column).type,)
        if prefixes is None:
            return [pa.nulls(parts, type_) for type_ in types]
        return [column.cast(type_) for column, type_ in zip(prefixes.known[at], types, strict=True)]


def _sort_numbers(
    rows: pa.RecordBatch, order: RowOrder, many: int
) -> tuple[Positions, list[Positions], list[Positions]]:
    """The number of each row's partition, and the numbers by which peers and then all different rows are in order."""
    part = group_numbers([rows.column(name) for name in order.partition], many)
    keys = [numbers_in_order(rows.column(name), direction) for name, direction in order.keys]
    # Peers of the node's order are ordered by their other columns: a row must have the same number in every batch.
    ranked = {*order.partition, *(name for name, _ in order.keys), *order.ties}
    others = sorted(name for name in rows.schema.names if name not in ranked)
    ties = [numbers_in_order(rows.column(name)) for name in (*order.ties, *others)]
    return part, [number for own in keys for number in own], [number for own in ties for number in own]


def _differs(numbers: Sequence[Positions], at: Positions) -> Mask:
    """Which rows, in their order, differ from the one before in some numbers."""
    new = np.zeros(len(at), dtype=bool)
    new[:1] = True
    for each in numbers:
        ordered = each[at]
        new[1:] |= ordered[1:] != ordered[:-1]
    return new


def _starts(numbers: Positions) -> tuple[Positions, Positions]:
    """Where runs of equal numbers start, and for each place the number of its run."""
    new = np.ones(len(numbers), dtype=bool)
    new[1:] = numbers[1:] != numbers[:-1]
    return np.flatnonzero(new), np.cumsum(new) - 1
