"""How rows are stored: values, the batch that brought the change, its weight, and words of lineage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa

from workbench.arrow.types import to_arrow
from workbench.engine.storage.lineage import word_column
from workbench.sql.algebra.types import DataType
from workbench.streams.corrections.declared import WEIGHT as WEIGHT

BATCH = "_batch"
"""Column: the batch that brought the change."""
MEMBER = "_member"
"""Column: among fused operators, the number of the one whose row it is."""
GROUPING_SET = "_set"
"""Column: among fused operators that group differently, the number of the grouping by which the row is grouped."""
BRANCH = "_branch"
"""Column: the position of the set operator's branch that the row comes from."""


@dataclass(frozen=True)
class Layout:
    """Names and types of a relation's columns: values, batch, weight, and words of lineage."""

    columns: Mapping[str, DataType]
    words: int = 0

    def types(self, names: Sequence[str]) -> tuple[tuple[str, str], ...]:
        """Some of the columns, each with Spark's name of its type."""
        known = {name: type_.stored for name, type_ in self.columns.items()} | {BATCH: "int"}
        return tuple((name, known.get(name, "bigint")) for name in names)

    def ddl(self, names: Sequence[str]) -> str:
        """The schema of some of the columns in Spark's DDL, in the order of ``names``."""
        return ", ".join(f"`{name}` {type_}" for name, type_ in self.types(names))

    @cached_property
    def arrow(self) -> pa.Schema:
        """The schema in Arrow."""
        fields = [pa.field(name, to_arrow(type_)) for name, type_ in self.columns.items()]
        fields += [pa.field(BATCH, pa.int32()), pa.field(WEIGHT, pa.int64())]
        return pa.schema(fields + [pa.field(word_column(w), pa.int64()) for w in range(self.words)])


def conform(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """Rows in a schema: columns in order; those they do not have are NULL, words of lineage 0.

    Example:
        >>> rows = pa.RecordBatch.from_pydict({"b": [1, 2], "a": ["x", None]})
        >>> conform(rows, pa.schema([("a", pa.string()), ("_bits0", pa.int64())])).to_pydict()
        {'a': ['x', None], '_bits0': [0, 0]}
    """
    if batch.schema.equals(schema):
        return batch
    with suppress(KeyError):  # a column is missing
        if (chosen := batch.select(schema.names)).schema.equals(schema):
            return chosen  # in a tenth of the time
    return pa.RecordBatch.from_arrays([_column(batch, field) for field in schema], schema=schema)


def one_batch(batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    """Batches of one schema as one, at least one; of one alone nothing is copied, as Arrow does.

    Example:
        >>> rows = pa.RecordBatch.from_pydict({"a": [1, 2]})
        >>> one_batch([rows]) is rows, one_batch([rows, rows]).num_rows
        (True, 4)
    """
    return batches[0] if len(batches) == 1 else pa.concat_batches(batches)


def _column(batch: pa.RecordBatch, field: pa.Field) -> pa.Array:
    at = batch.schema.get_field_index(field.name)
    if at >= 0:
        column = batch.column(at)
        return column if column.type == field.type else column.cast(field.type)
    if field.name.startswith("_bits"):
        return pa.array([0] * batch.num_rows, type=pa.int64())
    return pa.nulls(batch.num_rows, field.type)


def only(schema: pa.Schema, names: Sequence[str]) -> pa.Schema:
    """The schema of some of the columns, in the order of ``names``."""
    return pa.schema([schema.field(name) for name in names])
