"""Rows of answers with the types that are shown, and as pandas."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import pyarrow as pa

from workbench.arrow.stored_values import as_python, as_shown, has_in_python
from workbench.sql.algebra.types import INSTANT, DataType
from workbench.sql.algebra.zones import UTC


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


def frame_of(rows: pa.Table) -> pd.DataFrame:
    """Rows of ``as_shown_table`` as pandas.

    Decimals and dates stay exact (``Decimal``, ``datetime.date``); integers with NULLs are ``Int64``, not floats; NULL
    and NaN of a DOUBLE are one; instants are ``datetime64[us, zone]``, intervals ``timedelta64[us]``, arrays lists,
    structs and maps dicts, and BINARY is ``bytes``. A date or time beyond the years 1 to 9999, which Python has not, is
    its text.

    Example:
        >>> frame_of(pa.table({"n": [1, None]})).dtypes["n"]
        Int64Dtype()
    """
    columns = dict(enumerate(rows.columns))
    objects = {i: as_python(column) for i, column in columns.items() if _is_of_objects(column)}
    plain = [pa.nulls(len(rows)) if i in objects else column for i, column in columns.items()]
    frame = pa.table(plain, [f"_{i}" for i in columns]).to_pandas(integer_object_nulls=True)
    for i, column in columns.items():
        if pa.types.is_integer(column.type) and column.null_count:
            frame[f"_{i}"] = frame[f"_{i}"].astype("Int64")
        if i in objects:
            frame[f"_{i}"] = pd.Series(objects[i], dtype=object)
    frame.columns = pd.Index(rows.column_names, dtype=object)
    return frame


def _is_of_objects(column: pa.ChunkedArray) -> bool:
    """Whether a column is one of Python's objects: of values with parts, bytes, or times that pandas has not."""
    is_time = pa.types.is_date(column.type) or pa.types.is_timestamp(column.type)
    return pa.types.is_nested(column.type) or pa.types.is_binary(column.type) or (is_time and not has_in_python(column))
