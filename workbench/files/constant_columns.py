"""Constant columns: whole numbers that are the same in all rows of a file are written once.

The weights of rows that came, the batch of a history, and lineages that all rows have are such columns: an eighth of
what is stored for TPC-H. In a file each is one run of Arrow's run-end encoding. Where it is read it is a slice of an
array of that number, which all columns share that have it, so a mapped file stays mapped.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pyarrow as pa

_WHOLE = (pa.int64(), pa.int32())
_SHARED = 64
"""Arrays that are kept for other columns. The longest ones have 2 MB, as segments have 250,000 rows."""


def with_runs(rows: pa.RecordBatch) -> pa.RecordBatch:
    """Rows as they are written: columns that are constant as one run.

    Example:
        >>> rows = pa.RecordBatch.from_pydict({"a": [7, 7], "b": [1, 2]})
        >>> with_runs(rows).schema.types
        [RunEndEncodedType(run_end_encoded<run_ends: int32, values: int64>), DataType(int64)]
    """
    return _with_columns(rows, [_as_run(column) if _is_constant(column) else column for column in rows.columns])


def without_runs(rows: pa.RecordBatch) -> pa.RecordBatch:
    """Rows as they were before ``with_runs``.

    Example:
        >>> rows = pa.RecordBatch.from_pydict({"a": [7, 7], "b": [1, 2]})
        >>> without_runs(with_runs(rows)).equals(rows)
        True
    """
    if not any(map(pa.types.is_run_end_encoded, rows.schema.types)):
        return rows
    return _with_columns(rows, [_expanded(c) if pa.types.is_run_end_encoded(c.type) else c for c in rows.columns])


def _is_constant(column: pa.Array) -> bool:
    if column.type not in _WHOLE or column.null_count or not len(column):
        return False
    numbers = column.to_numpy()
    return bool(numbers[0] == numbers[-1] and (numbers == numbers[0]).all())


def _as_run(column: pa.Array) -> pa.Array:
    return pa.RunEndEncodedArray.from_arrays(pa.array([len(column)], pa.int32()), column.slice(0, 1))


def _expanded(column: pa.Array) -> pa.Array:
    values = column.values
    return _array_of(values[0].as_py(), values.type, 1 << (len(column) - 1).bit_length()).slice(0, len(column))


@lru_cache(maxsize=_SHARED)
def _array_of(number: int, type_: pa.DataType, length: int) -> pa.Array:
    return pa.array(np.full(length, number, dtype=type_.to_pandas_dtype()))


def _with_columns(rows: pa.RecordBatch, columns: list[pa.Array]) -> pa.RecordBatch:
    """Rows with columns of other types in the same fields."""
    fields = [field.with_type(column.type) for field, column in zip(rows.schema, columns, strict=True)]
    return pa.RecordBatch.from_arrays(columns, schema=pa.schema(fields, rows.schema.metadata))
