"""Rows as texts, one for each row: two rows are equal, to the sign of a zero, where their texts are.

Arrow makes them and reads them, column by column, and its texts of values are exact both ways. As in PostgreSQL's COPY,
a tab stands between two columns, and NULL is ``\\N``.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from workbench.errors import StreamError

_TEXT = pa.large_string()
_BETWEEN, _NULL = "\t", "\\N"
_ESCAPES = (("\\", "\\s"), (_BETWEEN, "\\t"))
_ROWS = 65_536


def texts_of_rows(columns: Iterable[pa.Array], more: pa.Array | None = None) -> pa.Array:
    """The text of each row.

    Args:
        columns: of the stream.
        more: members that are no columns; a row without has a text without them.

    Example:
        >>> texts_of_rows([pa.array([1, None]), pa.array(["a\\tb", "\\\\N"])]).to_pylist()
        ['1\\ta\\\\tb', '\\\\N\\t\\\\sN']
    """
    texts = pc.binary_join_element_wise(
        *map(_fields, columns), pa.scalar(_BETWEEN, _TEXT), null_handling="replace", null_replacement=_NULL
    )
    if more is None or more.null_count == len(more):
        return texts
    with_more = pc.binary_join_element_wise(texts, _fields(more), pa.scalar(_BETWEEN, _TEXT))
    return pc.if_else(more.is_valid(), with_more, texts)


def texts_of_keys(columns: Iterable[pa.Array]) -> pa.Array:
    """The text of the key of each row, NULL where a column of it is NULL; 0.0 and -0.0 are one key.

    Example:
        >>> texts_of_keys([pa.array([-0.0, 1.5, None]), pa.array(["a", "b", "c"])]).to_pylist()
        ['0\\ta', '1.5\\tb', None]
    """
    positive = [pc.add(column, 0.0) if pa.types.is_floating(column.type) else column for column in columns]
    return pc.binary_join_element_wise(*map(_fields, positive), pa.scalar(_BETWEEN, _TEXT))


def rows_of_texts(texts: Sequence[str], schema: pa.Schema) -> pa.Table:
    """The inverse of ``texts_of_rows``.

    Args:
        texts: of rows.
        schema: of the columns; the last one is ``more``.

    Raises:
        StreamError: a text is none of such a row.

    Example:
        >>> columns = pa.schema([("m", pa.decimal128(9, 2)), ("s", pa.string()), ("more", pa.string())])
        >>> rows_of_texts(["1.50\\t\\\\sN"], columns).to_pylist()
        [{'m': Decimal('1.50'), 's': '\\\\N', 'more': None}]
    """
    with _damage_said():
        plain = pa.array(texts, _TEXT)
        padded = pc.binary_join_element_wise(plain, pa.scalar(_NULL, _TEXT), pa.scalar(_BETWEEN, _TEXT))
        without_more = pc.equal(pc.count_substring(plain, _BETWEEN), len(schema) - 2)
        fields = pc.split_pattern(pc.if_else(without_more, padded, plain), _BETWEEN)
        if fields.null_count or pc.any(pc.not_equal(pc.list_value_length(fields), len(schema))).as_py():
            raise ValueError("a row has not the columns of the stream")
        places = np.arange(len(texts)) * len(schema)
        columns = [_values(fields.flatten().take(pa.array(places + at)), f.type) for at, f in enumerate(schema)]
        if pc.all(pc.starts_with(columns[-1], "{")).as_py() is False:
            raise ValueError("a row has not the columns of the stream")
        return pa.Table.from_arrays(columns, schema=schema)


@contextmanager
def _damage_said() -> Iterator[None]:
    try:
        yield
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise StreamError(f"the current rows of a stream are damaged: {error}", hint="restore its file") from error


def _fields(column: pa.Array) -> pa.Array:
    texts = column.cast(_TEXT)
    if pa.types.is_string(column.type):
        for char, escape in _ESCAPES:
            texts = pc.replace_substring(texts, char, escape)
    return texts


def _values(fields: pa.Array, type_: pa.DataType) -> pa.Array:
    fields = pc.if_else(pc.equal(fields, _NULL), pa.scalar(None, _TEXT), fields)
    if pa.types.is_string(type_):
        for char, escape in reversed(_ESCAPES):
            fields = pc.replace_substring(fields, escape, char)
    return fields.cast(type_)


def json_rows(database: sqlite3.Connection, relation: str, schema: pa.Schema) -> Iterator[tuple[pa.Table, list[int]]]:
    """Rows of a relation in which versions before 0.3 kept them as JSON, with how many copies there are of each."""
    entries = database.execute(f"SELECT coalesce(row, key), copies FROM {relation}")
    while some := entries.fetchmany(_ROWS):
        with _damage_said():
            columns = zip(*(json.loads(text) for text, _ in some), strict=True)
            arrays = [pa.array(c, _stored_as(f.type)).cast(f.type) for c, f in zip(columns, schema, strict=True)]
        yield pa.Table.from_arrays(arrays, schema=schema), [copies for _, copies in some]


def _stored_as(type_: pa.DataType) -> pa.DataType:
    if pa.types.is_decimal(type_):
        return pa.string()
    if pa.types.is_timestamp(type_):
        return pa.int64()
    return pa.int32() if pa.types.is_date(type_) else type_
