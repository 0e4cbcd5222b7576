"""NaN of a source that is read as NULL, where the analyst says so; and times that are cut to microseconds.

It is replaced before values are converted, so that NaN among numbers that are declared to be integers or decimals is
NULL, too, and so that what takes a row back is equal to what put it there. Within arrays and structs it stays.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from workbench.arrow.types import Mask
from workbench.errors import StreamError
from workbench.sql.algebra.types import DataType, Kind
from workbench.streams.convert import is_text
from workbench.streams.drift import Differences
from workbench.streams.files.json_values import MORE
from workbench.streams.source import Chunk

KEEP, NULL = "keep", "null"
_NANOSECONDS = 1_000
"""Of a microsecond."""
_TEXT = r"^\s*[+-]?(?i:nan)\s*$"
_NUMBERS = (Kind.INTEGER, Kind.DECIMAL, Kind.DOUBLE)


def reads_nan_as_null(nan: str) -> bool:
    """Whether NaN is read as NULL, as it is declared: ``KEEP`` or ``NULL``, in any case.

    Raises:
        StreamError: it is neither.
    """
    if nan.lower() not in (KEEP, NULL):
        raise StreamError(f"nan is {KEEP} or {NULL}, not {nan}", hint=f"{NULL} reads NaN as NULL, {KEEP} as a number")
    return nan.lower() == NULL


def without_nan(chunk: Chunk, types: Mapping[str, DataType]) -> Chunk:
    """A chunk whose NaN is NULL, which its ``found`` says.

    Args:
        chunk: of the source.
        types: of its columns, in their order.

    Example:
        >>> from workbench.sql.algebra.types import INTEGER, STRING
        >>> rows = pa.RecordBatch.from_pydict({"n": ["1", "NaN"], "s": ["NaN", "x"]})
        >>> read = without_nan(Chunk(rows, np.array([1, 2])), {"n": INTEGER, "s": STRING})
        >>> read.rows.to_pydict(), read.found.nan
        ({'n': ['1', None], 's': ['NaN', 'x']}, {'n': (1, 1)})
    """
    columns, found = [], dict[str, tuple[int, int]]()
    named = zip(chunk.rows.schema.names, chunk.rows.columns, [*types.values(), None], strict=False)
    for name, values, type_ in named:
        mask = _nan(values) if name != MORE and type_ is not None and type_.kind in _NUMBERS else None
        if mask is not None and (places := np.flatnonzero(mask)).size:
            values = pc.if_else(pa.array(mask), pa.scalar(None, values.type), values)
            found[name] = int(places[0]), len(places)
        columns.append(values)
    if not found:
        return chunk
    rows = pa.RecordBatch.from_arrays(columns, names=chunk.rows.schema.names)
    return replace(chunk, rows=rows, found=chunk.found.and_then(Differences(nan=found)))


def with_finer_times(chunk: Chunk) -> Chunk:
    """A chunk whose ``found`` says which columns have times that are finer than a microsecond, to which they are cut.

    Example:
        >>> rows = pa.RecordBatch.from_pydict({"at": pa.array([1_000, 1_001], pa.timestamp("ns"))})
        >>> with_finer_times(Chunk(rows, np.array([1, 2]))).found.finer
        {'at': (1, 1)}
    """
    found = dict[str, tuple[int, int]]()
    for field, values in zip(chunk.rows.schema, chunk.rows.columns, strict=True):
        if pa.types.is_temporal(field.type) and getattr(field.type, "unit", "") == "ns":
            numbers = pc.fill_null(values.cast(pa.int64()), 0).to_numpy()
            if (places := np.flatnonzero(numbers % _NANOSECONDS)).size:
                found[field.name] = int(places[0]), len(places)
    return replace(chunk, found=chunk.found.and_then(Differences(finer=found))) if found else chunk


def nan_as_null(rows: pa.Table) -> pa.Table:
    """Rows of a log whose NaN is NULL: what a column that was added or widened later reads from texts."""
    for place, (field, values) in enumerate(zip(rows.schema, rows.columns, strict=True)):
        if pa.types.is_floating(field.type) and pc.any(pc.is_nan(values)).as_py():
            rows = rows.set_column(place, field, pc.if_else(pc.is_nan(values), pa.scalar(None, field.type), values))
    return rows


def _nan(values: pa.Array) -> Mask | None:
    """Which values are NaN; ``None`` of a type that has none."""
    plain = values.type.value_type if pa.types.is_dictionary(values.type) else values.type
    if is_text(plain):
        mask = pc.match_substring_regex(values.cast(pa.string()), _TEXT)
    elif pa.types.is_floating(plain):
        mask = pc.is_nan(values.cast(pa.float64()))
    else:
        return None
    return np.asarray(pc.fill_null(mask, False))
