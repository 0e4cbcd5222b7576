"""Scans: the columns and rows that an operator reads of one node, out of the rows of its whole tree."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa

from workbench.arrow.types import Mask
from workbench.engine.storage.grouping import Positions
from workbench.engine.storage.layout import BATCH, GROUPING_SET, MEMBER, WEIGHT, Layout, conform, only
from workbench.engine.storage.lineage import (
    WORD_BITS,
    Bits,
    having_all,
    mask,
    patterns,
    rows_with_bit,
    rows_with_bits,
    word_arrays,
    word_column,
    word_values,
)

Readers = tuple[tuple[int, tuple[int, ...]], ...]
"""For each of some fused operators its number, and the bits of the nodes whose common rows it reads."""


def read_by(lineages: Bits, words: Sequence[int], readers: Readers) -> Mask:
    """Which reader reads rows of which lineage, as a mask of shape (lineages, readers)."""
    first = {word: place * WORD_BITS for place, word in enumerate(words)}
    sets = [[first[bit // WORD_BITS] + bit % WORD_BITS for bit in bits] for _, bits in readers]
    return having_all(lineages, sets)


@dataclass(frozen=True)
class Scan:
    """A scan of one node.

    Attributes:
        schema: the columns that the operator gets, without batch and weight.
        types: their names and Spark's types.
        keys: the columns by which rows are joined or looked up; one may stand there twice.
        bit: of the node; ``None`` where all rows are meant.
    """

    schema: pa.Schema
    types: tuple[tuple[str, str], ...]
    keys: tuple[pa.Field, ...]
    bit: int | None

    @staticmethod
    def of(layout: Layout, names: Sequence[str], keys: Sequence[str], bit: int | None) -> Scan:
        """A scan of some columns of rows that are stored in a layout."""
        fields = tuple(layout.arrow.field(key) for key in keys)
        return Scan(only(layout.arrow, names), layout.types(names), fields, bit)

    def with_key(self, name: str) -> Scan:
        """The scan with one more key, an additional column of numbers."""
        return replace(self, keys=(*self.keys, pa.field(name, pa.int64())))

    @cached_property
    def output(self) -> pa.Schema:
        """The columns of the rows that the operator gets, with batch and weight."""
        return pa.schema([*self.schema, pa.field(BATCH, pa.int32()), pa.field(WEIGHT, pa.int64())])

    @cached_property
    def paired(self) -> pa.Schema:
        """The columns of rows that are paired: the columns of ``output``, and the keys."""
        return pa.schema(list({field.name: field for field in (*self.output, *self.keys)}.values()))

    @property
    def ddl(self) -> str:
        """``output`` in Spark's DDL."""
        return ", ".join([*(f"`{name}` {type_}" for name, type_ in self.types), f"{BATCH} int", f"{WEIGHT} bigint"])

    @cached_property
    def input(self) -> pa.Schema:
        """The columns that are read from changed rows: ``output``, keys, and the word with the node's bit."""
        word = [] if self.bit is None else [pa.field(word_column(self.bit // WORD_BITS), pa.int64())]
        return pa.schema([*self.paired, *word])

    @cached_property
    def key_columns(self) -> tuple[str, ...]:
        """Names of the key's columns."""
        return tuple(field.name for field in self.keys)

    def belong(self, batch: pa.RecordBatch, rows: Positions | None = None) -> Mask:
        """Which of some rows, or of all, belong to the node."""
        if self.bit is None:
            return np.ones(batch.num_rows if rows is None else len(rows), dtype=bool)
        return rows_with_bit(batch, self.bit, rows)

    def take(self, batch: pa.RecordBatch, rows: Positions) -> pa.RecordBatch:
        """Some rows, by position, with the columns of ``output``."""
        return conform(batch.select(self.output.names).take(pa.array(rows)), self.output)

    def select(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """The rows of the node, with the columns of ``output``."""
        own = self.belong(batch)
        rows = batch.select(self.output.names)
        yield rows if own.all() else rows.filter(pa.array(own))


@dataclass(frozen=True)
class FusedScan:
    """A scan of one tree for fused operators: a row counts once for each of them that reads a node it belongs to.

    Attributes:
        rows: what is read, and by what it is looked up; of all nodes (its ``bit`` is ``None``).
        readers: who reads them.
    """

    rows: Scan
    readers: Readers

    @property
    def output(self) -> pa.Schema:
        """The columns of the rows that the operators get; ``MEMBER`` says which of them."""
        return pa.schema([*self.rows.output, pa.field(MEMBER, pa.int64())])

    @property
    def input(self) -> pa.Schema:
        """The columns that are read."""
        words = dict.fromkeys(word_column(bit // WORD_BITS) for _, bits in self.readers for bit in bits)
        return pa.schema([*self.rows.input, *(pa.field(word, pa.int64()) for word in words)])

    @property
    def key_columns(self) -> tuple[str, ...]:
        """Names of the key's columns."""
        return self.rows.key_columns

    def select(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """Every row once for each operator that reads it, with the columns of ``output``."""
        parts = [(np.flatnonzero(rows_with_bits(batch, bits)), member) for member, bits in self.readers]
        rows = np.concatenate([at for at, _ in parts])
        yield self.take(batch, rows, np.repeat([member for _, member in parts], [len(at) for at, _ in parts]))

    def belong(self, batch: pa.RecordBatch, rows: Positions, members: Positions) -> Mask:
        """Whether each row is read by the operator that is given for it."""
        read = np.zeros(len(rows), dtype=bool)
        for member, bits in self.readers:
            own = members == member
            if own.any():
                read[own] = rows_with_bits(batch, bits, rows[own])
        return read

    def take(self, batch: pa.RecordBatch, rows: Positions, members: Positions) -> pa.RecordBatch:
        """Take rows by position, as rows of the operators that are given for them."""
        taken = self.rows.take(batch, rows)
        return pa.RecordBatch.from_arrays([*taken.columns, pa.array(members.astype(np.int64))], schema=self.output)


@dataclass(frozen=True)
class LineageScan:
    """A scan of one tree for fused operators that group: a row once, with the lineage that says which of them read it.

    Where operators group differently, it comes once for each grouping, with the bits of those that group so.

    Attributes:
        rows: what is read; of all nodes (its ``bit`` is ``None``).
        readers: for each grouping its readers.
        words: the words of lineage that the rows come with; none where one operator alone reads them.
    """

    rows: Scan
    readers: tuple[Readers, ...]
    words: tuple[int, ...]

    @cached_property
    def input(self) -> pa.Schema:
        """The columns that are read from changed rows."""
        read = (bit // WORD_BITS for readers in self.readers for _, bits in readers for bit in bits)
        return pa.schema([*self.rows.input, *_word_fields([*self.words, *read])])

    @cached_property
    def output(self) -> pa.Schema:
        """The columns of the rows that come."""
        return pa.schema([*self.rows.output, *_word_fields(self.words), pa.field(GROUPING_SET, pa.int64())])

    def select(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """The rows that have readers, with the columns of ``output``."""
        none = np.empty((batch.num_rows, 0), dtype=np.uint64)
        lineage = np.stack([word_values(batch, word) for word in self.words], axis=1) if self.words else none
        rows = batch.select(self.rows.output.names)
        for number, (readers, read_bits) in enumerate(zip(self.readers, self._read_bits, strict=True)):
            own = lineage & read_bits
            read = self._read(own, readers) if self.words else _read_alone(batch, readers)
            chosen = rows if read.all() else rows.filter(pa.array(read))
            sets = pa.array(np.full(chosen.num_rows, number))
            yield pa.RecordBatch.from_arrays([*chosen.columns, *word_arrays(own[read]), sets], schema=self.output)

    @cached_property
    def _read_bits(self) -> list[Bits]:
        """For each grouping the bits of all nodes that are read, in the words of lineage."""
        words, most = list(self.words), max(self.words, default=-1) + 1
        read = [[bit for _, bits in readers for bit in bits if words] for readers in self.readers]
        return [mask(bits, most)[words] for bits in read]

    def _read(self, own: Bits, readers: Readers) -> Mask:
        """Which rows have readers, by the bits of what is read."""
        if all(len(bits) == 1 for _, bits in readers):
            return np.asarray(own.any(axis=1))
        lineages, which, _ = patterns(own)
        return np.asarray(read_by(lineages, self.words, readers).any(axis=1))[which]


def _read_alone(batch: pa.RecordBatch, readers: Readers) -> Mask:
    """Which rows the only operator reads; of groupings that are not its own none."""
    return rows_with_bits(batch, readers[0][1]) if readers else np.zeros(batch.num_rows, dtype=bool)


def _word_fields(words: Iterable[int]) -> list[pa.Field]:
    return [pa.field(word_column(word), pa.int64()) for word in dict.fromkeys(words)]
