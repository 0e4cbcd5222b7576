"""Lineage and the grouped filter: which nodes of a local tree a row belongs to, for all nodes at once.

CACQ gives every tuple a bitmap of the queries it is still good for and indexes the predicates on one expression in a
*grouped filter* (CACQ 3.2.6). Here a tree's selections are compiled into one table per tested expression: the sorted
constants cut its values into ranges; each range, each constant and NULL has a row of bits, a bit being set where the
node's tests on this expression are satisfied. A row's lineage is the AND over the expressions of the table rows its
values fall into: one binary search per expression, whatever the number of nodes.

Spark evaluates the expressions; what is compiled here only looks up. This module needs numpy and pyarrow alone, since
it runs in Spark's Python workers.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

WORD = 64
Bits = npt.NDArray[np.uint64]


@dataclass(frozen=True)
class RangeTable:
    """The bits of every range of one tested expression.

    ``points``: sorted distinct constants, as int64, float64 or str. ``bits``: shape (2·points + 2, words): rows for
    below the first point, at it, between it and the next, …, above the last, and one for NULL.
    """

    column: str
    points: npt.NDArray[np.generic]
    bits: Bits

    def rank(self, values: pa.Array) -> npt.NDArray[np.int64]:
        """The row of ``bits`` each value falls into."""
        if not len(self.points):
            return np.asarray(values.is_null()).astype(np.int64)
        if self.points.dtype == object:
            encoded = values.dictionary_encode()
            known = np.array(encoded.dictionary.to_pylist(), dtype=object)
            ranks = np.append(self._search(known), len(self.bits) - 1)
            return ranks[encoded.indices.fill_null(len(known)).to_numpy(zero_copy_only=False).astype(np.int64)]
        ranks = self._search(comparable(values))
        if values.null_count:
            ranks[np.asarray(values.is_null())] = len(self.bits) - 1
        return ranks

    def _search(self, values: npt.NDArray[np.generic]) -> npt.NDArray[np.int64]:
        left = np.searchsorted(self.points, values, side="left")
        return (left + np.searchsorted(self.points, values, side="right")).astype(np.int64)


@dataclass(frozen=True)
class Disjunction:
    """An ORPred whose literals test different expressions: satisfied by a row when any of the tables says so.

    ``tables`` have one word whose lowest bit tells; ``without``: the bits of the nodes that do not need this ORPred.
    """

    tables: tuple[RangeTable, ...]
    without: Bits


@dataclass(frozen=True)
class GroupedFilter:
    """All selections of a local tree, compiled.

    ``always``: every bit in use; ``keep``: the bits each of which is worth keeping a row for; ``combinations``, shape
    (n, words): bits that are only together.
    """

    tables: tuple[RangeTable, ...]
    disjunctions: tuple[Disjunction, ...]
    always: Bits
    keep: Bits
    combinations: Bits

    def lineage(self, batch: pa.RecordBatch) -> Bits:
        """The lineage of each row, shape (rows, words)."""
        bits = np.broadcast_to(self.always, (batch.num_rows, len(self.always))).copy()
        for table in self.tables:
            bits &= table.bits[table.rank(batch.column(table.column))]
        for disjunction in self.disjunctions:
            satisfied = np.zeros(batch.num_rows, dtype=bool)
            for table in disjunction.tables:
                satisfied |= table.bits[table.rank(batch.column(table.column)), 0].astype(bool)
            bits[~satisfied] &= disjunction.without
        return bits

    def combined(self, bits: Bits) -> npt.NDArray[np.bool_]:
        """Which rows have all bits of which combination: shape (rows, words) in, (rows, n) out."""
        out = np.empty((len(bits), len(self.combinations)), dtype=bool)
        for position, wanted in enumerate(self.combinations):
            out[:, position] = ((bits & wanted) == wanted).all(axis=1)
        return out


def comparable(values: pa.Array) -> npt.NDArray[np.generic]:
    """Values as numbers that order as they do; what stands for NULL is arbitrary.

    Decimals become their unscaled integers (beyond 64 bits: the largest or smallest one), dates days and timestamps
    microseconds since 1970, booleans 0 and 1. NaN sorts last, as in Spark.
    """
    if pa.types.is_decimal(values.type):
        return _unscaled(values)
    if pa.types.is_boolean(values.type):
        return values.cast(pa.int8()).fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    if pa.types.is_date32(values.type):
        return values.cast(pa.int32()).fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    if pa.types.is_timestamp(values.type):
        return values.cast(pa.timestamp("us")).cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
    return values.fill_null(0).to_numpy(zero_copy_only=False)


def _unscaled(values: pa.Array) -> npt.NDArray[np.int64]:
    words = np.frombuffer(values.buffers()[1], dtype=np.int64)
    words = words[2 * values.offset : 2 * (values.offset + len(values))].reshape(-1, 2)
    low, high = words[:, 0], words[:, 1]
    limits = np.iinfo(np.int64)
    fits = high == (low >> 63)
    return np.where(fits, low, np.where(high < 0, limits.min, limits.max))


def comparable_constant(value: object, scale: int) -> int | float | str:
    """A constant in the order of ``comparable``: ``scale`` is that of the decimal it is compared with."""
    match value:
        case bool():
            return int(value)
        case Decimal():
            return int(value.scaleb(scale))
        case dt.datetime():
            return (value - dt.datetime(1970, 1, 1)) // dt.timedelta(microseconds=1)
        case dt.date():
            return (value - dt.date(1970, 1, 1)).days
        case int() | float() | str():
            return value
    raise TypeError(f"no order for {value!r}")


def mask(bits: list[int], words: int) -> Bits:
    """Words with the given bits set."""
    out = np.zeros(words, dtype=np.uint64)
    for bit in bits:
        out[bit // WORD] |= np.uint64(1 << (bit % WORD))
    return out


def patterns(bits: Bits) -> tuple[Bits, npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The different lineages among rows, which of them each row has, and how many rows have each.

    Rows are many, and their lineages few: a few conditions that hold or do not.
    """
    if bits.shape[1] == 1:
        one, which, rows = np.unique(bits[:, 0], return_inverse=True, return_counts=True)
        return one.reshape(-1, 1), which, rows
    whole = np.ascontiguousarray(bits).view(np.dtype((np.void, bits.dtype.itemsize * bits.shape[1])))[:, 0]
    found, which, rows = np.unique(whole, return_inverse=True, return_counts=True)
    return found.view(np.uint64).reshape(-1, bits.shape[1]), which, rows


def count_bits(bits: Bits, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """How many rows have each bit, ``rows`` being how many have each lineage: (n, words) in, (64 · words,) out."""
    little = bits.astype("<u8").view(np.uint8).reshape(len(bits), -1)
    return rows @ np.unpackbits(little, axis=1, bitorder="little").astype(np.int64)
