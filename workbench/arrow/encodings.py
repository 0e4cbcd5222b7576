"""Columns of Arrow that are encoded in ways that only some of its functions take, as plain ones.

These are extension types that have a meaning in SQL (UUID, JSON, truth values of a byte), runs of equal values, and
lists that are views.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

_HEX = np.frombuffer(b"".join(b"%02x" % byte for byte in range(256)), dtype="S2")
_PARTS = ((0, 4), (4, 6), (6, 8), (8, 10), (10, 16))
"""The bytes between the dashes of a UUID."""


def plain_type(type_: pa.DataType) -> pa.DataType:
    """The plain type for values of a type, which is itself for most.

    Example:
        >>> plain_type(pa.uuid()), plain_type(pa.list_view(pa.int8())), plain_type(pa.int8())
        (DataType(string), ListType(list<item: int8>), DataType(int8))
    """
    is_ = pa.types
    if isinstance(type_, pa.UuidType):
        return pa.string()
    if isinstance(type_, pa.Bool8Type):
        return pa.bool_()
    if isinstance(type_, pa.JsonType):
        return plain_type(type_.storage_type)
    if is_.is_run_end_encoded(type_):
        return plain_type(type_.value_type)
    if is_.is_list_view(type_) or is_.is_large_list_view(type_):
        return pa.list_(type_.value_type)
    return type_


def plain_batches(schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> tuple[pa.Schema, Iterable[pa.RecordBatch]]:
    """A schema and its batches with plain columns instead of encoded ones."""
    plain = pa.schema([field.with_type(plain_type(field.type)) for field in schema], schema.metadata)
    return (schema, batches) if plain.equals(schema) else (plain, _decoded(plain, batches))


def _decoded(schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        yield pa.RecordBatch.from_arrays([*map(plain_array, batch.columns)], schema=schema)


def plain_array(values: pa.Array) -> pa.Array:
    """Decode an array to its plain type, such as a dictionary array to its values.

    Example:
        >>> plain_array(pa.array([[1, 2], None], pa.list_view(pa.int8()))).to_pylist()
        [[1, 2], None]
    """
    wanted = plain_type(values.type)
    if wanted == values.type:
        return values
    if isinstance(values.type, pa.UuidType):
        return _uuid_texts(values.storage)
    if isinstance(values, pa.ExtensionArray):
        return plain_array(values.storage).cast(wanted)
    if pa.types.is_run_end_encoded(values.type):
        return plain_array(pc.run_end_decode(values))
    # A cast of Arrow's counts the places of NULL wrongly.
    lengths = pc.list_value_length(values).fill_null(0).to_numpy(zero_copy_only=False)
    ends = pa.array(np.concatenate([[0], np.cumsum(lengths)]), pa.int32())
    return pa.ListArray.from_arrays(ends, values.flatten(), mask=values.is_null())


def _uuid_texts(values: pa.Array) -> pa.Array:
    """Sixteen bytes each as 8-4-4-4-12 digits."""
    stored = np.frombuffer(values.buffers()[1] or b"", dtype=np.uint8).reshape(-1, 16)
    digits = _HEX[stored[values.offset : values.offset + len(values)]]
    texts = np.full((len(values), 36), ord("-"), dtype=np.uint8)
    at = 0
    for first, end in _PARTS:
        width = 2 * (end - first)
        texts[:, at : at + width] = np.ascontiguousarray(digits[:, first:end]).view(np.uint8).reshape(-1, width)
        at += width + 1
    offsets = pa.py_buffer(np.arange(0, 36 * (len(values) + 1), 36, dtype=np.int32))
    plain = pa.StringArray.from_buffers(len(values), offsets, pa.py_buffer(texts.tobytes()))
    return pc.if_else(values.is_valid(), plain, None) if values.null_count else plain
