"""Rows of answers with the types that are shown, and as pandas."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pyarrow as pa

from workbench.arrow.stored_values import as_python, as_shown, has_in_python
from workbench.arrow.types import to_arrow
from workbench.sql.algebra.column_names import unique_names
from workbench.sql.algebra.types import INSTANT, DataType
from workbench.sql.algebra.zones import UTC

_NULL = 0x7FF8_0000_0000_07A2
"""The bits of the NaN that is NULL."""


def as_shown_table(rows: pa.Table, types: Sequence[DataType], timezone: str = UTC) -> pa.Table:
    """Rows whose columns, which are as they are stored, get the types of ``to_shown``; instants are shown in a zone.

    Example:
        >>> from workbench.sql.algebra.types import BINARY
        >>> as_shown_table(pa.table({"b": ["FF"]}), [BINARY]).to_pylist()
        [{'b': b'\\xff'}]
    """
    columns = [as_shown(column, type_) for column, type_ in zip(rows.columns, types, strict=True)]
    zoned = pa.timestamp("us", timezone)
    columns = [c.cast(zoned) if type_ == INSTANT else c for c, type_ in zip(columns, types, strict=True)]
    return pa.Table.from_arrays(columns, names=rows.column_names)


def shown_schema(columns: Sequence[tuple[str, DataType]], timezone: str = UTC) -> pa.Schema:
    """The schema that ``as_shown_table`` gives rows of some columns.

    Example:
        >>> from workbench.sql.algebra.types import BINARY
        >>> shown_schema([("b", BINARY)]).types
        [DataType(binary)]
    """
    types = [type_ for _, type_ in columns]
    empty = [pa.array([], to_arrow(type_)) for type_ in types]
    return as_shown_table(pa.Table.from_arrays(empty, unique_names([n for n, _ in columns])), types, timezone).schema


def frame_of(rows: pa.Table) -> pd.DataFrame:
    """Rows of ``as_shown_table`` as pandas.

    Decimals and dates stay exact (``Decimal``, ``datetime.date``); integers with NULLs are ``Int64``, not floats; NULL
    of a DOUBLE is a NaN that ``nulls_of`` knows; instants are ``datetime64[us, zone]``, intervals ``timedelta64[us]``,
    arrays lists, structs and maps dicts, and BINARY is ``bytes``. A date or time beyond the years 1 to 9999, which
    Python has not, is its text.

    Example:
        >>> frame_of(pa.table({"n": [1, None]})).dtypes["n"]
        Int64Dtype()
    """
    columns = dict(enumerate(rows.columns))
    objects = {i: as_python(column) for i, column in columns.items() if _is_of_objects(column)}
    plain = [pa.nulls(len(rows)) if i in objects else column for i, column in columns.items()]
    # One thread: handing columns to others takes longer than they do, of 20 rows as of 1,000,000.
    frame = pa.table(plain, [f"_{i}" for i in columns]).to_pandas(integer_object_nulls=True, use_threads=False)
    for i, column in columns.items():
        if pa.types.is_integer(column.type) and column.null_count:
            frame[f"_{i}"] = frame[f"_{i}"].astype("Int64")
        if pa.types.is_float64(column.type) and column.null_count:
            frame[f"_{i}"] = _with_nulls(column)
        if i in objects:
            frame[f"_{i}"] = pd.Series(objects[i], dtype=object)
    frame.columns = pd.Index(rows.column_names, dtype=object)
    return frame


def nulls_of(values: pd.Series) -> pd.Series:
    """Which values of a column of an answer are NULL, and not NaN.

    Both are NaN in a column of ``float64``. That of NULL has bits of its own, 1954 in its lowest 51, which R uses for
    its NA; they stay when rows are chosen, sorted and joined. What pandas computes of such a value is NULL or NaN.

    Example:
        >>> shown = frame_of(pa.table({"x": [float("nan"), None, 1.0]}))
        >>> shown["x"].isna().tolist(), nulls_of(shown["x"]).tolist()
        ([True, True, False], [False, True, False])
    """
    if values.dtype != np.float64:
        return values.isna()
    return pd.Series(values.to_numpy().view(np.int64) == _NULL, index=values.index, name=values.name)


def is_null_number(value: float) -> bool:
    """Whether a number of such a column is NULL."""
    return bool(np.float64(value).view(np.int64) == _NULL)


def _with_nulls(column: pa.ChunkedArray) -> pd.Series:
    numbers = column.to_numpy().copy()
    numbers.view(np.int64)[np.asarray(column.is_null())] = _NULL
    return pd.Series(numbers)


def _is_of_objects(column: pa.ChunkedArray) -> bool:
    """Whether a column is one of Python's objects: of values with parts, bytes, or times that pandas has not."""
    is_time = pa.types.is_date(column.type) or pa.types.is_timestamp(column.type)
    return pa.types.is_nested(column.type) or pa.types.is_binary(column.type) or (is_time and not has_in_python(column))
