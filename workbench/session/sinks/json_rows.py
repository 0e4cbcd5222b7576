"""Rows as JSON, for every target that takes it: no digit is lost, and nothing that a query can give stops a sink.

An INTEGER is a number with all digits, a DOUBLE the shortest number that reads back as the same; a DECIMAL is a text,
since most readers make numbers of 64 bits of others. Times are ISO 8601's with microseconds, bytes hexadecimal digits,
arrays, structs and maps JSON. JSON has no NaN: it is null, as NULL is; infinities are the texts inf and -inf.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

import pandas as pd
import pyarrow as pa

from workbench.session.sinks.rows import Row, typed_changes
from workbench.sql.algebra.types import DataType
from workbench.streams.stored_values import as_python, plain


def json_changes(batch: int, changes: pd.DataFrame, types: Sequence[DataType]) -> pa.Table:
    """The changes of a batch as ``typed_changes`` gives them, with the values that JSON has."""
    return typed_changes(batch, changes, types, nan=False)


def rows_of(changes: pa.Table) -> list[Row]:
    """The weights and columns of changes, row by row.

    Example:
        >>> rows_of(pa.table({"batch": [3], "weight": [-1], "id": [7]}))
        [{'weight': -1, 'id': 7}]
    """
    columns = {name: as_python(changes.column(name)) for name in changes.column_names[1:]}
    return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]


def to_json(value: object) -> bytes:
    """A value, a row, or rows as JSON.

    Example:
        >>> from decimal import Decimal
        >>> to_json({"x": 0.1, "m": Decimal("9007199254740993.07"), "b": bytes([255, 0])})
        b'{"x": 0.1, "m": "9007199254740993.07", "b": "FF00"}'
    """
    return json.dumps(plain(value), ensure_ascii=False).encode()
