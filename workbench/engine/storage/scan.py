"""What a plan that is made once reads of the rows of one node, and which of a segment's rows these are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from workbench.engine.physical.grouped_filter import WORD
from workbench.engine.storage.layout import BATCH, MEMBER, WEIGHT, Layout, conform, only, word_column
from workbench.engine.storage.sorted_index import Positions


@dataclass(frozen=True)
class Leaf:
    """What is read of one node.

    Attributes:
        schema: the columns to hand on.
        types: their names and Spark's types.
        keys: the columns by which rows find each other or are looked up.
        bit: of the node; ``None`` where all rows are meant.
    """

    schema: pa.Schema
    types: tuple[tuple[str, str], ...]
    keys: tuple[pa.Field, ...]
    bit: int | None

    @staticmethod
    def of(layout: Layout, names: Sequence[str], keys: Sequence[str], bit: int | None) -> Leaf:
        """Some columns of rows of a layout."""
        fields = tuple(layout.arrow.field(key) for key in keys)
        return Leaf(only(layout.arrow, names), layout.types(names), fields, bit)

    @staticmethod
    def everything(layout: Layout) -> Leaf:
        """All columns of all rows, also their lineage."""
        names = [name for name in layout.arrow.names if name not in (BATCH, WEIGHT)]
        return Leaf.of(layout, names, (), None)

    @property
    def found(self) -> pa.Schema:
        """The columns of rows that are handed on."""
        return pa.schema([*self.schema, pa.field(BATCH, pa.int32()), pa.field(WEIGHT, pa.int64())])

    @property
    def changed(self) -> pa.Schema:
        """The columns of rows that look for others."""
        word = [] if self.bit is None else [pa.field(word_column(self.bit // WORD), pa.int64())]
        return pa.schema(list({field.name: field for field in (*self.found, *self.keys, *word)}.values()))

    @property
    def key(self) -> tuple[str, ...]:
        """Names of the key's columns; one may stand there twice."""
        return tuple(field.name for field in self.keys)

    @property
    def spark(self) -> str:
        """The columns of ``found`` in Spark's DDL."""
        return ", ".join([*(f"`{name}` {type_}" for name, type_ in self.types), f"{BATCH} int", f"{WEIGHT} bigint"])

    def has(self, batch: pa.RecordBatch, rows: Positions) -> npt.NDArray[np.bool_]:
        """Whether each of some rows belongs to the node; rows written before there was such a word have none of it."""
        if self.bit is None:
            return np.ones(len(rows), dtype=bool)
        at = batch.schema.get_field_index(word_column(self.bit // WORD))
        if at < 0:
            return np.zeros(len(rows), dtype=bool)
        return has(batch.column(at), self.bit, rows)

    def taken(self, batch: pa.RecordBatch, rows: Positions) -> pa.RecordBatch:
        """Some rows, by position, the columns of ``found`` alone."""
        return conform(batch.select(self.found.names).take(pa.array(rows)), self.found)

    def own(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The rows of the node, the columns of ``found`` alone."""
        mine = self.has(batch, np.arange(batch.num_rows))
        rows = batch.select(self.found.names)
        return rows if mine.all() else rows.filter(pa.array(mine))


@dataclass(frozen=True)
class SharedLeaf:
    """What a family of siblings reads of one operator: a row counts once for each member that reads a node it is in.

    Attributes:
        rows: what is read, and by what it is looked up; of all nodes (its ``bit`` is ``None``).
        readers: for each member the bit of the node it reads.
    """

    rows: Leaf
    readers: tuple[tuple[int, int], ...]

    @property
    def found(self) -> pa.Schema:
        """The columns of rows that are handed on."""
        return pa.schema([*self.rows.found, pa.field(MEMBER, pa.int64())])

    @property
    def key(self) -> tuple[str, ...]:
        """Names of the key's columns; one may stand there twice."""
        return self.rows.key

    @property
    def changed(self) -> pa.Schema:
        """The columns that are read of rows that have changed."""
        return pa.schema([*self.rows.changed, *(pa.field(name, pa.int64()) for name in self._words)])

    @property
    def spark(self) -> str:
        """The columns of ``found`` in Spark's DDL."""
        return f"{self.rows.spark}, {MEMBER} bigint"

    def own(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Every row once for each member that reads it, the columns of ``found`` alone."""
        parts = [(np.flatnonzero(has(batch.column(word), bit)), member) for member, bit, word in self._placed]
        rows = np.concatenate([at for at, _ in parts])
        return self.of_members(batch, rows, np.repeat([m for _, m in parts], [len(at) for at, _ in parts]))

    def read_by(self, batch: pa.RecordBatch, rows: Positions, members: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Whether each of some rows is read by the member beside it."""
        read = np.zeros(len(rows), dtype=bool)
        names = set(batch.schema.names)
        for member, bit, word in self._placed:
            own = members == member
            if word in names and own.any():
                read[own] = has(batch.column(word), bit, rows[own])
        return read

    def of_members(self, batch: pa.RecordBatch, rows: Positions, members: npt.NDArray[np.int64]) -> pa.RecordBatch:
        """Some rows, by position, as rows of the members beside them."""
        taken = self.rows.taken(batch, rows)
        return pa.RecordBatch.from_arrays([*taken.columns, pa.array(members.astype(np.int64))], schema=self.found)

    @property
    def _placed(self) -> list[tuple[int, int, str]]:
        """Members, their bits, and the columns that hold these."""
        return [(member, bit, word_column(bit // WORD)) for member, bit in self.readers]

    @property
    def _words(self) -> list[str]:
        return list(dict.fromkeys(word for _, _, word in self._placed))


def has(word: pa.Array, bit: int, rows: Positions | None = None) -> npt.NDArray[np.bool_]:
    """Which of some rows, or of all, have a bit, given the word that it is in."""
    words = word.to_numpy(zero_copy_only=False).view(np.uint64)
    # Only these are looked at: a segment may be large, and what is found few.
    words = words if rows is None else words[rows]
    return ((words >> np.uint64(bit % WORD)) & np.uint64(1)).astype(bool)
