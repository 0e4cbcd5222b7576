"""What a plan that is made once reads of the rows of one node, and which of a segment's rows these are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from workbench.engine.key_index import Positions
from workbench.engine.layout import BATCH, WEIGHT, Layout, only, word_column
from workbench.engine.lineage import WORD


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
        words = batch.column(at).to_numpy(zero_copy_only=False).view(np.uint64)
        return ((words[rows] >> np.uint64(self.bit % WORD)) & np.uint64(1)).astype(bool)

    def own(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The rows of the node, the columns of ``found`` alone."""
        mine = self.has(batch, np.arange(batch.num_rows))
        rows = batch.select(self.found.names)
        return rows if mine.all() else rows.filter(pa.array(mine))
