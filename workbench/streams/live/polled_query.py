"""A query that is polled on a database as a live source, by a column that only grows.

Any database with a driver of Python's DB-API (PEP 249) will do. The offset is the largest value of the column that
was read, so a row that comes later with a smaller or an equal value is not seen: the column must be unique and grow in
the order in which rows become visible, as a sequence does where one writer uses it. A row whose value there is NULL, or
is of another type, has no place among the others: it is quarantined, once, and the rest goes on.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from numbers import Real
from typing import Any
from zlib import crc32

import pyarrow as pa

from workbench.errors import StreamError, nearest, shown
from workbench.errors.secrets import hide_secrets, without_secrets
from workbench.sql.algebra.column_names import stored_name
from workbench.sql.algebra.types import DataType
from workbench.streams.files.envelopes import MEMBERS
from workbench.streams.files.json_records import rows_of, within_depth
from workbench.streams.files.json_schema import schema_of
from workbench.streams.files.json_values import JsonRecord
from workbench.streams.live.reader import Fetched, NothingYet, OffsetMark, Offsets, TypedReader

_WHOLE, _MISPLACED = "", OffsetMark.NOTE.value
"""The offsets: the largest value of the column, and checksums of the rows that have none."""
_MOST_NULLS = 100
"""Rows without a value that are looked for in a poll."""


class PolledQuery:
    """A query to poll, as the source of ``add_stream``.

    Args:
        connect: opens a connection, which is closed after each poll.
        sql: the query, in the words of that database.
        by: the column of its rows that only grows: whole numbers or texts.

    Example:
        >>> import sqlite3
        >>> PolledQuery(lambda: sqlite3.connect("shop.db"), "SELECT * FROM orders", by="id").by
        'id'
    """

    def __init__(self, connect: Callable[[], Any], sql: str, by: str) -> None:
        self.connect, self.sql, self.by = connect, sql, by


class QueryReader(TypedReader):
    """Reads a polled query.

    Args:
        query: what to poll.
        schema: the columns, where the stream has been added before; ``None``: those of the first rows.

    Raises:
        StreamError: it cannot be read, has no rows yet, or no such column of whole numbers or texts.
    """

    def __init__(self, query: PolledQuery, schema: pa.Schema | None = None) -> None:
        self._query = query
        if schema is None:
            names, rows = self._first()
            if not rows:
                raise NothingYet("the polled query has no rows yet")
            if query.by not in names:
                raise StreamError(f"the polled query has no column {query.by}", hint=nearest(query.by, names))
            records = [dict(zip(names, row, strict=True)) for row in rows]
            schema = schema_of([record for record in records if not isinstance(within_depth(record), str)])
            if not (_is_whole(by := schema.field(query.by).type) or pa.types.is_string(by)):
                hint = "poll by a column of whole numbers or texts, each larger than those before"
                raise StreamError(f"a query cannot be polled by {query.by}, which is {by}", hint=hint)
        super().__init__(schema, hide_secrets(f"{query.sql} (polled by {query.by})"))

    def fetch(self, offsets: Offsets, most: int) -> Fetched:
        """Rows beyond the largest value so far."""
        misplaced = set(json.loads(offsets.get(_MISPLACED, "[]")))
        resumed = json.loads(offsets[_WHOLE]) if _WHOLE in offsets else None
        names, rows = self._poll(resumed, most + len(misplaced))
        if self._query.by not in names:
            message = f"the polled query has no column {self._query.by} any more"
            raise StreamError(message, hint="name the columns in the query")
        records, place, largest = list[tuple[int, object, JsonRecord | str]](), names.index(self._query.by), resumed
        for number, row in enumerate(rows, 1):
            value = row[place]
            if self._is_place(value):
                largest = value if isinstance(value, str) else int(value)
                records.append((number, row, within_depth(dict(zip(names, row, strict=True)))))
            elif (known := crc32(repr(row).encode(errors="replace"))) not in misplaced:
                misplaced.add(known)
                records.append((number, row, f"{self._query.by}: {shown(value)} does not say where the row belongs"))
        chunk = rows_of(records, self._schema)
        changed = {_WHOLE: json.dumps(largest), _MISPLACED: json.dumps(sorted(misplaced))} if records else {}
        after = {n: at for n, at in changed.items() if at not in ("null", "[]")}
        return Fetched(chunk.rows, after, chunk.quarantined, found=replace(chunk.found, tabular=True))

    def declare(self, types: Mapping[str, DataType]) -> None:
        """Read as texts what is declared, but for the column that it is polled by, whose values are compared."""
        as_they_are = (stored_name(self._query.by), MEMBERS)  # a row has all members
        super().declare({name: type_ for name, type_ in types.items() if name not in as_they_are})

    def _is_place(self, value: Any) -> bool:
        """Whether a value can be compared with those that the column has otherwise."""
        if pa.types.is_string(self._schema.field(self._query.by).type):
            return isinstance(value, str)
        return not isinstance(value, bool) and isinstance(value, Real | Decimal) and bool(value == value // 1)

    def _first(self) -> tuple[list[str], Sequence[Sequence[Any]]]:
        try:
            return self._poll(None, 10_000)
        except Exception as error:  # each driver has errors of its own
            message = f"the polled query cannot be read: {type(error).__name__}: {error}"
            hint = "check how it connects, its user and password, and its text"
            raise StreamError(message, hint=hint) from without_secrets(error)

    def _poll(self, after: int | str | None, most: int) -> tuple[list[str], Sequence[Sequence[Any]]]:
        by = '"' + self._query.by.replace('"', '""') + '"'
        rows_after = f"{by} IS NOT NULL" if after is None else f"{by} > {_literal(after)}"
        connection = self._query.connect()
        try:
            cursor = connection.cursor()
            polled = f"SELECT * FROM ({self._query.sql}) polled WHERE"
            cursor.execute(f"{polled} {rows_after} ORDER BY {by} LIMIT {most}")
            names, rows = [column[0] for column in cursor.description], [*cursor.fetchall()]
            cursor.execute(f"{polled} {by} IS NULL LIMIT {_MOST_NULLS}")
            return names, [*rows, *cursor.fetchall()]
        finally:
            connection.close()


def _is_whole(type_: pa.DataType) -> bool:
    return pa.types.is_integer(type_) or (pa.types.is_decimal(type_) and type_.scale <= 0)


def _literal(value: int | str) -> str:
    # Drivers differ in how they write parameters; a number or a quoted text is the same in all of them.
    return str(int(value)) if isinstance(value, int) else "'" + str(value).replace("'", "''") + "'"
