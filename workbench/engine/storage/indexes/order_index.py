"""Rows by partition and order: neighbours of a row, and the row at a place, found without reading the partition.

An index of a segment has the rows of a node by the hash of their partition and, within it, by a *key*: bytes that order
as the columns do. A key is *coarse*: of a text it has the first bytes, and nothing that comes after a text. So rows of
one key are in no order, and a reader of some of them reads all; rows of different keys are in order. With each row
comes the sum of the weights so far, and on demand sums and extremes of columns (``prefix_index``). So how many rows
stand before a row, also where rows were taken back, is a difference of two entries in each run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from workbench.arrow.types import Mask, unscaled_integers
from workbench.engine.storage.comparable import ASCENDING, BEGIN, Direction, order_numbers, text_begins
from workbench.engine.storage.grouping import Positions, not_distinct
from workbench.engine.storage.indexes.key_index import Hashes, row_hashes
from workbench.engine.storage.indexes.prefix_index import Along
from workbench.engine.storage.indexes.rank_index import GroupedRun
from workbench.engine.storage.indexes.sorted_index import index_columns
from workbench.engine.storage.layout import WEIGHT, conform, only
from workbench.engine.storage.lineage import rows_with_bit
from workbench.engine.storage.segments import open_segment

OrderKeys = npt.NDArray[np.bytes_]
"""Keys of rows: bytes of one length, which begin with the hash of the partition."""

HASH, NUMBER, WIDE = 8, 8, 16
"""Bytes of a hash, of a number, and of a decimal of more digits than a number of 64 bits has."""

_SIGN = np.uint64(1 << 63)
_WORD = 2**64 - 1
"""The greatest number of 64 bits."""
_LARGEST, _ROUNDED = float(np.finfo(np.float64).max), 1e-15
"""The largest DOUBLE, and by how much of two numbers their sum may be rounded."""

_COLUMNS = 6
"""The most columns of a key: peers seldom need more to be told apart."""

DIGITS = 18
"""The most digits of decimals that 64-bit numbers tell apart."""


@dataclass(frozen=True)
class RowOrder:
    """The columns that partition and order rows; ``ties`` order peers."""

    partition: tuple[str, ...]
    keys: tuple[tuple[str, Direction], ...]
    ties: tuple[str, ...]


@dataclass(frozen=True)
class OrderIndex:
    """An order of the rows of a node, which its segments are indexed by.

    Attributes:
        order: of the rows.
        schema: of the columns that are read, with those of the order.
        bit: of the node; ``None``: all rows.
        known: a column of it; only rows in which it is not NULL are indexed. "": all are.
    """

    order: RowOrder
    schema: pa.Schema
    bit: int | None
    known: str = ""

    def of_segment(self, segment: str) -> GroupedRun | None:
        """The node's rows in a segment; ``None`` where two of its partitions have one hash."""

        def make() -> Sequence[npt.NDArray[Any]]:
            rows = open_segment(segment)
            at = np.arange(rows.num_rows)
            return self._entries(rows, at if self.bit is None else at[rows_with_bit(rows, self.bit)])

        keys, through, rows, hashes = index_columns(segment, self._name, make)
        return None if len(rows) and rows[0] < 0 else GroupedRun(keys, through, rows, hashes)

    def of_rows(self, rows: pa.RecordBatch) -> GroupedRun | None:
        """Rows that are in memory, all of them the node's."""
        keys, through, at, hashes = self._entries(rows, np.arange(rows.num_rows))
        return None if len(at) and at[0] < 0 else GroupedRun(keys, through, at, hashes)

    def along(self, segment: str, of: Along) -> list[npt.NDArray[Any]] | None:
        """What ``of`` keeps beside the entries of the segment's run; ``None`` where there is none."""
        run = self.of_segment(segment)
        if run is None:
            return None
        return index_columns(segment, f"{self._name}\x00{of.name}", lambda: of.prefixes(open_segment(segment), run))

    def keys(self, rows: pa.RecordBatch) -> OrderKeys:
        """The key of each row."""
        hashes, _ = row_hashes(rows, self.order.partition, nulls=True)
        parts = [hashes.astype(">u8").view(np.uint8).reshape(-1, HASH)]
        parts += [_encoded(rows.column(name), direction) for name, direction in self._columns]
        together = np.ascontiguousarray(np.concatenate(parts, axis=1))
        return together.view(f"S{self.width}").ravel()

    @cached_property
    def width(self) -> int:
        """Bytes of a key."""
        return HASH + sum(1 + _size(self.schema.field(name).type) for name, _ in self._columns)

    def begin(self, hashes: Hashes) -> OrderKeys:
        """A lower bound of the keys of each partition."""
        return hashes.astype(f">u{HASH}").view(f"S{HASH}").astype(f"S{self.width}")

    def end(self, hashes: Hashes) -> OrderKeys:
        """An upper bound of the keys of each partition."""
        return self._filled(self.begin(hashes), HASH, 0xFF)

    def first_peer(self, keys: OrderKeys) -> OrderKeys:
        """A lower bound of the keys of each row's peers."""
        return self._filled(keys, self._of_peers, 0)

    def last_peer(self, keys: OrderKeys) -> OrderKeys:
        """An upper bound of the keys of each row's peers."""
        return self._filled(keys, self._of_peers, 0xFF)

    def at_distance(self, keys: OrderKeys, by: float) -> OrderKeys:
        """Keys so far behind the peers of each in its partition, or before them (``by`` is negative).

        They are lower bounds of rows that are so far before, and upper ones of those so far behind: those of NULL and
        NaN are their own peers, and others are at most as far as numbers go. There is one column that rows are ordered
        by, a number or a time.
        """
        found = (self.first_peer if by < 0 else self.last_peer)(keys)
        (name, (descending, _)), at = self._columns[0], HASH + 1
        type_ = self.schema.field(name).type
        bytes_ = found.view(np.uint8).reshape(len(keys), self.width)
        some = np.flatnonzero(bytes_[:, HASH] == 1)  # neither NULL nor a bound
        numbers = bytes_[some, at : at + _size(type_)]
        moved = _added_to_order(~numbers if descending else numbers, type_, -by if descending else by)
        bytes_[some, at : at + _size(type_)] = ~moved if descending else moved
        return found

    def _filled(self, keys: OrderKeys, after: int, byte: int) -> OrderKeys:
        """Keys with one byte in all places after some."""
        bytes_ = np.array(keys, dtype=f"S{self.width}").view(np.uint8).reshape(len(keys), self.width)
        bytes_[:, after:] = byte
        return bytes_.view(f"S{self.width}").ravel()

    def same_partition(self, left: pa.RecordBatch, right: pa.RecordBatch) -> Mask:
        """Whether each row of the one is of the same partition as the row of the other."""
        columns = [not_distinct(left.column(n), right.column(n)) for n in self.order.partition]
        return np.logical_and.reduce([np.ones(left.num_rows, dtype=bool), *columns])

    @cached_property
    def _of_peers(self) -> int:
        """The bytes in which the keys of peers are equal."""
        ordered = self._columns[: len(self.order.keys)]
        return HASH + sum(1 + _size(self.schema.field(name).type) for name, _ in ordered)

    @cached_property
    def _columns(self) -> tuple[tuple[str, Direction], ...]:
        """The columns of keys: no more after one whose order a key has only in part."""
        columns: list[tuple[str, Direction]] = []
        for name, direction in (*self.order.keys, *((tie, ASCENDING) for tie in self.order.ties)):
            type_ = self.schema.field(name).type
            if len(columns) == _COLUMNS or not _size(type_):
                break
            columns.append((name, direction))
            if pa.types.is_string(type_):
                break
        return tuple(columns)

    @cached_property
    def _name(self) -> str:
        columns = (f"{name} {direction}" for name, direction in self._columns)
        known = ("known", self.known) if self.known else ()
        return "\x00".join(("order and hash", str(self.bit), *self.order.partition, "by", *columns, *known))

    def _entries(self, rows: pa.RecordBatch, at: Positions) -> tuple[OrderKeys, Positions, Positions, Hashes]:
        """Keys in order, sums of weights, positions, hashes; one entry at -1 where two partitions have one hash."""
        names = dict.fromkeys([*self.order.partition, *(name for name, _ in self._columns)])
        at = at[np.asarray(rows.column(self.known).is_valid())[at]] if self.known else at
        own = conform(rows.select(list(names)).take(pa.array(at)), only(self.schema, list(names)))
        keys = self.keys(own) if names else np.full(len(at), b"", dtype=f"S{self.width}")
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        # The bytes that keys begin with, as numbers: they are searched in a tenth of the time.
        hashes = keys.view(np.uint8).reshape(len(keys), self.width)[:, :HASH].copy().view(f">u{HASH}").ravel()
        hashes = hashes.astype(np.uint64)
        if self._collide(own, order, hashes):
            return keys[:1], np.zeros(1, dtype=np.int64), np.full(1, -1), hashes[:1]
        weights = rows.column(WEIGHT).to_numpy()[at]
        return keys, np.cumsum(weights[order]), at[order], hashes

    def _collide(self, rows: pa.RecordBatch, order: Positions, hashes: Hashes) -> bool:
        if not self.order.partition:
            return False
        next_ = np.flatnonzero(hashes[1:] == hashes[:-1])
        ahead, behind = (rows.take(pa.array(order[next_ + shift])) for shift in (1, 0))
        return not self.same_partition(ahead, behind).all()


def _size(type_: pa.DataType) -> int:
    """The number of bytes of a value of a type in a key; 0 for a type that cannot be in one."""
    if pa.types.is_string(type_):
        return BEGIN
    if pa.types.is_decimal(type_):
        return NUMBER if type_.precision <= DIGITS else WIDE
    known = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_date32, pa.types.is_timestamp)
    return NUMBER if any(test(type_) for test in known) else 0


def _encoded(column: pa.Array, direction: Direction) -> npt.NDArray[np.uint8]:
    """Values as bytes that order as they do, after one that says where NULL stands."""
    descending, nulls_first = direction
    missing = np.asarray(column.is_null())
    if pa.types.is_string(column.type):
        bytes_ = text_begins(column).view(np.uint8).reshape(-1, BEGIN)
    elif _size(column.type) == WIDE:
        low, high = (unscaled_integers(column, word).view(np.uint64) for word in (0, 1))
        words = np.column_stack([high ^ _SIGN, low])
        bytes_ = words.astype(">u8").view(np.uint8).reshape(-1, WIDE)
    else:
        numbers = order_numbers(column).view(np.uint64) ^ _SIGN
        bytes_ = numbers.astype(">u8").view(np.uint8).reshape(-1, NUMBER)
    bytes_ = ~bytes_ if descending else bytes_
    mark = np.where(missing, 0 if nulls_first else 2, 1).astype(np.uint8)
    return np.column_stack([mark, np.where(missing[:, None], np.uint8(0), bytes_)])


def _added_to_order(numbers: npt.NDArray[np.uint8], type_: pa.DataType, by: float) -> npt.NDArray[np.uint8]:
    """Encoded numbers that are so far away, and for DOUBLE a little farther; none is beyond those of its bytes."""
    if pa.types.is_floating(type_):
        bits = (np.ascontiguousarray(numbers).view(">u8").ravel().astype(np.uint64) ^ _SIGN).view(np.int64)
        values = (bits ^ (bits >> 63 & np.int64(2**63 - 1))).view(np.float64)
        with np.errstate(over="ignore"):
            near = np.clip(values, -_LARGEST, _LARGEST)  # numbers before infinity may reach it
            moved = near + by + np.copysign((np.abs(near) + abs(by)) * _ROUNDED, by)
        moved = np.where(values == np.copysign(np.inf, by), values, moved)
        return np.where(np.isnan(values)[:, None], numbers, _encoded(pa.array(moved), ASCENDING)[:, 1:])
    return ~_plus(~numbers, -int(by)) if by < 0 else _plus(numbers, int(by))


def _plus(numbers: npt.NDArray[np.uint8], by: int) -> npt.NDArray[np.uint8]:
    """Encoded whole numbers plus one that is not negative; at most the greatest number of their bytes."""
    words = np.ascontiguousarray(numbers).view(">u8").astype(np.uint64)
    sums, carried = words.copy(), np.zeros(len(words), dtype=np.uint64)
    by = min(by, 2 ** (8 * numbers.shape[1]) - 1)
    for at in reversed(range(words.shape[1])):
        added = words[:, at] + np.uint64(by & _WORD)
        sums[:, at] = added + carried
        carried = ((added < words[:, at]) | (sums[:, at] < added)).astype(np.uint64)
        by >>= 64
    sums[carried > 0] = _WORD
    return sums.astype(">u8").view(np.uint8).reshape(numbers.shape)
