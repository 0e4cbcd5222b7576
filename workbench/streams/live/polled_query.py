"""A query that is polled on a database as a live source, by a column that only grows.

Any database with a driver of Python's DB-API (PEP 249) will do. The offset is the largest value of the column that
was read, so a row that comes later with a smaller or an equal value is not seen: the column must be unique and grow in
the order in which rows become visible, as a sequence does where one writer uses it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa

from workbench.errors import StreamError, nearest
from workbench.streams.files.json_lines import column_of, schema_of
from workbench.streams.live.reader import Fetched, Offsets, TypedReader

_WHOLE = ""


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
        StreamError: it cannot be read, has no rows yet, or no such column.
    """

    def __init__(self, query: PolledQuery, schema: pa.Schema | None = None) -> None:
        self._query = query
        if schema is None:
            names, rows = self._first()
            if not rows:
                hint = "add the stream when the query has a first row, which says what types there are"
                raise StreamError("the polled query has no rows yet", hint=hint)
            if query.by not in names:
                raise StreamError(f"the polled query has no column {query.by}", hint=nearest(query.by, names))
            schema = schema_of([dict(zip(names, row, strict=True)) for row in rows])
        super().__init__(schema, f"{query.sql} (polled by {query.by})")

    def fetch(self, offsets: Offsets, most: int) -> Fetched:
        """Rows beyond the largest value so far."""
        names, rows = self._poll(json.loads(offsets[_WHOLE]) if _WHOLE in offsets else None, most)
        if differing := set(names) ^ set(self._schema.names):
            message = f"the polled query has other columns than before: {', '.join(sorted(differing))}"
            raise StreamError(message, hint="name the columns in the query")
        columns = [column_of([row[names.index(f.name)] for row in rows], f.type) for f in self._schema]
        offset = {_WHOLE: json.dumps(rows[-1][names.index(self._query.by)])} if rows else {}
        return Fetched(pa.RecordBatch.from_arrays(columns, schema=self._schema), offset)

    def _first(self) -> tuple[list[str], Sequence[Sequence[Any]]]:
        try:
            return self._poll(None, 10_000)
        except Exception as error:  # each driver has errors of its own
            message = f"the polled query cannot be read: {type(error).__name__}: {error}"
            raise StreamError(message, hint="check how it connects, its user and password, and its text") from error

    def _poll(self, after: int | str | None, most: int) -> tuple[list[str], Sequence[Sequence[Any]]]:
        by = '"' + self._query.by.replace('"', '""') + '"'
        where = "" if after is None else f" WHERE {by} > {_literal(after)}"
        connection = self._query.connect()
        try:
            cursor = connection.cursor()
            cursor.execute(f"SELECT * FROM ({self._query.sql}) polled{where} ORDER BY {by} LIMIT {most}")
            return [column[0] for column in cursor.description], cursor.fetchall()
        finally:
            connection.close()


def _literal(value: int | str) -> str:
    # Drivers differ in how they write parameters; a number or a quoted text is the same in all of them.
    return str(int(value)) if isinstance(value, int) else "'" + str(value).replace("'", "''") + "'"
