"""Lineage: for each row one bit for every node of its local tree, set where the row belongs to the node.

CACQ gives every tuple a bitmap of the queries it is still good for (CACQ 3.2). Here the bits stand in words of 64, each
a column of the stored rows: bit 70 is bit 6 of the column ``_bits1``. Rows that were written before a tree had as many
nodes lack the later words, and belong to none of the nodes there.

In Python the lineages of ``n`` rows are an array of shape (n, words).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from workbench.arrow.types import Mask
from workbench.engine.storage.grouping import Positions, group_rows, group_sizes, numbers_of

WORD_BITS = 64
"""Bits in a word."""

Bits = npt.NDArray[np.uint64]


def word_column(word: int) -> str:
    """The column that holds bits 64·word … 64·word+63."""
    return f"_bits{word}"


def has_bit(bit: int) -> str:
    """SQL: the row's lineage has the bit."""
    return f"getbit({word_column(bit // WORD_BITS)}, {bit % WORD_BITS}) = 1"


def word_values(batch: pa.RecordBatch, word: int) -> Bits:
    """A word of each row's lineage; rows that lack the word belong to none of its nodes."""
    at = batch.schema.get_field_index(word_column(word))
    if at < 0:
        return np.zeros(batch.num_rows, dtype=np.uint64)
    return np.asarray(batch.column(at).to_numpy(zero_copy_only=False).view(np.uint64))


def rows_with_bit(batch: pa.RecordBatch, bit: int, rows: Positions | None = None) -> Mask:
    """Which of some rows, or of all, have a bit."""
    words = word_values(batch, bit // WORD_BITS)
    # Only the rows asked for are read: a segment may be large, and they few.
    words = words if rows is None else words[rows]
    return ((words >> np.uint64(bit % WORD_BITS)) & np.uint64(1)).astype(bool)


def rows_with_bits(batch: pa.RecordBatch, bits: Iterable[int], rows: Positions | None = None) -> Mask:
    """Which of some rows, or of all, have all of some bits."""
    every = np.ones(batch.num_rows if rows is None else len(rows), dtype=bool)
    for bit in bits:
        every &= rows_with_bit(batch, bit, rows)
    return every


def mask(bits: Iterable[int], words: int) -> Bits:
    """Words with the given bits set."""
    out = np.zeros(words, dtype=np.uint64)
    for bit in bits:
        out[bit // WORD_BITS] |= np.uint64(1 << (bit % WORD_BITS))
    return out


def word_arrays(bits: Bits) -> list[pa.Array]:
    """Lineages as columns, one for each word."""
    return [pa.array(np.ascontiguousarray(bits[:, word]).view(np.int64)) for word in range(bits.shape[1])]


def patterns(bits: Bits) -> tuple[Bits, Positions, Positions]:
    """The different lineages among rows, which of them each row has, and how many rows have each.

    Rows are many, and their lineages few: a few conditions that hold or do not.
    """
    if len(bits) and (bits == bits[0]).all():
        return bits[:1], np.zeros(len(bits), dtype=np.int64), np.array([len(bits)])
    order, starts = group_rows(word_arrays(bits), len(bits))
    return bits[order[starts]], numbers_of(order, starts), group_sizes(starts, len(bits))


def bit_matrix(bits: Bits, positions: Positions) -> Mask:
    """Which rows have which of some bits: (n, words) in, (n, positions) out."""
    little = np.ascontiguousarray(bits).astype("<u8", copy=False).view(np.uint8)
    return np.unpackbits(little, axis=1, bitorder="little").view(bool)[:, positions]


def having_all(bits: Bits, sets: Sequence[Sequence[int]]) -> Mask:
    """Which rows have all bits of which sets, none of them empty: (n, words) in, (n, sets) out."""
    if not sets:
        return np.empty((len(bits), 0), dtype=bool)
    read = bit_matrix(bits, np.array([some[0] for some in sets], dtype=np.int64))
    for place in range(1, max(map(len, sets), default=0)):
        longer = [number for number, some in enumerate(sets) if len(some) > place]
        read[:, longer] &= bit_matrix(bits, np.array([sets[number][place] for number in longer], dtype=np.int64))
    return read


def count_bits(bits: Bits, rows: Positions) -> Positions:
    """How many rows have each bit, ``rows`` being how many have each lineage: (n, words) in, (64 · words,) out."""
    little = bits.astype("<u8").view(np.uint8).reshape(len(bits), -1)
    return rows @ np.unpackbits(little, axis=1, bitorder="little").astype(np.int64)
