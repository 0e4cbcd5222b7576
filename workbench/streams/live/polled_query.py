"""A query that is polled on a database as a live source, by columns that only grow.

Any database with a driver of Python's DB-API (PEP 249) will do. A poll asks for rows after the largest value so far,
and for those before it that may have been committed late (``late_commits``). A row whose value there is NULL, or is of
another type, has no place among the others: it is quarantined, once, and the rest goes on. Rows that are updated or
deleted are found where all of the query is compared from time to time.
"""

from __future__ import annotations

import datetime as dt
import json
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from decimal import Decimal
from numbers import Real
from typing import Any, TypeAlias
from zlib import crc32

import pyarrow as pa

from workbench.errors import StreamError, nearest, shown
from workbench.errors.secrets import hide_secrets, without_secrets
from workbench.sql.algebra.column_names import stored_name
from workbench.sql.algebra.types import DataType
from workbench.sql.windows.stream_time import short_duration
from workbench.streams.corrections.declared import Changes, Corrections
from workbench.streams.files.envelopes import MEMBERS
from workbench.streams.files.json_records import rows_of, within_depth
from workbench.streams.files.json_schema import schema_of, suggested_times
from workbench.streams.files.json_values import JsonRecord
from workbench.streams.live.late_commits import QueryPosition, ReadRows
from workbench.streams.live.reader import Fetched, NothingYet, OffsetMark, Offsets, TypedReader
from workbench.streams.source import QuarantinedRow

DriverRow: TypeAlias = "Sequence[Any] | Exception"
"""A row, or why the driver cannot give it."""

_LARGEST = ""
"""The offset: the largest value."""
_MISPLACED, _READ, _COMPARED, _PART = (f"{OffsetMark.NOTE}{name}" for name in ("", "read", "compared", "part"))
"""What is remembered: checksums of rows without a place, the rows that were read, when all were compared, and of a
comparison how many parts were read."""
_MOST_NULLS = 100
"""Rows without a value that are looked for in a poll."""
_COMPARED_ROWS = 20_000
"""Rows of a comparison that are read at a time."""


class PolledQuery:
    """A query to poll, as the source of ``add_stream``.

    Args:
        connect: opens a connection, which is closed after each poll.
        sql: the query, in the words of that database.
        by: the column of its rows that only grows, of whole numbers, texts or times; or several of them in the order of
            their weight, as a time and a number. Rows that are equal in them are told apart by all their values.
        lag: for how long a row may become visible after another with a larger value, ``"30s"``. ``None``: ten seconds,
            for at most 1,000 rows. Of PostgreSQL all transactions are waited for that are open, however long.
        every: how often all rows are read and compared with those of the stream, ``"10 minutes"``, so that updates and
            deletes are found. The stream needs a ``key`` then, and ``by`` may be left out.

    Raises:
        StreamError: neither ``by`` nor ``every`` is given, or a length of time is none.

    Example:
        >>> import sqlite3
        >>> PolledQuery(lambda: sqlite3.connect("shop.db"), "SELECT * FROM orders", by=["changed", "id"], lag="1m").by
        ('changed', 'id')
    """

    def __init__(
        self,
        connect: Callable[[], Any],
        sql: str,
        by: str | Sequence[str] | None = None,
        lag: str | float | None = None,
        every: str | float | None = None,
    ) -> None:
        if not by and every is None:
            raise StreamError("a polled query needs a column that only grows", hint="by='id', or every='10 minutes'")
        self.connect, self.sql = connect, sql
        self.by = (by,) if isinstance(by, str) else tuple(by or ())
        self.lag, self.every = _seconds("lag", lag), _seconds("every", every)


def _unnoticed(query: PolledQuery) -> tuple[str, ...]:
    """A note on changes that a poll cannot see: those of rows that it has read."""
    if query.every is not None:
        return ()
    by = " or ".join(query.by)
    also = "every='10 minutes' with key=[…] compares all rows, and finds updates and deletes"
    return (f"polled by {by}: a row that is updated is not read again unless its {by} grows; {also}",)


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
        self._parts: Iterator[tuple[list[str], list[DriverRow]]] = iter(())
        self._part = 0
        notes: tuple[str, ...] = ()
        if schema is None:
            names, rows = self._first()
            if not rows:
                raise NothingYet("the polled query has no rows yet")
            for column in query.by:
                if column not in names:
                    hint = nearest(column, names) or f"it has {', '.join(names[:8])}"
                    raise StreamError(f"the polled query has no column {column}", hint=hint)
            records = [dict(zip(names, row, strict=True)) for row in rows if not isinstance(row, Exception)]
            records = [record for record in records if not isinstance(within_depth(record), str)]
            schema = schema_of(records)
            notes = (*suggested_times(records, schema), *_unnoticed(query))
            for column in query.by:
                if not _can_grow(by := schema.field(column).type):
                    hint = "poll by a column of whole numbers, texts or times, each larger than those before"
                    raise StreamError(f"a query cannot be polled by {column}, which is {by}", hint=hint)
        how = f"polled by {', '.join(query.by)}" if query.by else f"compared every {query.every:g} s"
        super().__init__(schema, hide_secrets(f"{query.sql} ({how})"), notes=notes)

    def corrections(self, key: Sequence[str]) -> Corrections | None:
        """Upserts, where all rows are compared.

        Raises:
            StreamError: there is no key.
        """
        if self._query.every is None:
            return None
        if not key:
            raise StreamError(
                "rows are compared by a key", hint="key=['id'] names the columns that say which row it is"
            )
        return Corrections(Changes.UPSERT, tuple(map(stored_name, key)))

    def fetch(self, offsets: Offsets, most: int) -> Fetched:
        """Rows that were not read yet; or all of them, when it is time."""
        part, compared = int(offsets.get(_PART, "0") or 0), float(offsets.get(_COMPARED, "-inf"))
        every = self._query.every
        if every is not None and (part or time.time() >= compared + every):
            return self._compared(part, offsets)
        return self._polled(offsets, most) if self._query.by else Fetched(self._nothing, {})

    def declare(self, types: Mapping[str, DataType]) -> None:
        """Read as texts what is declared, but for the columns that it is polled by, whose values are compared."""
        as_they_are = (*map(stored_name, self._query.by), MEMBERS)  # a row has all members
        super().declare({name: type_ for name, type_ in types.items() if name not in as_they_are})

    @property
    def _nothing(self) -> pa.RecordBatch:
        return pa.RecordBatch.from_pylist([], schema=self._schema)

    def _polled(self, offsets: Offsets, most: int) -> Fetched:
        """Rows after the largest position, and those before it that are new."""
        misplaced = set(json.loads(offsets.get(_MISPLACED, "[]")))
        read = ReadRows.stored(offsets.get(_READ), offsets.get(_LARGEST))
        limit, polled = most + len(read.rows) + len(misplaced), time.time()
        names, rows, committed_before, open_from = self._poll(read.start, limit)
        if gone := [column for column in self._query.by if column not in names]:
            message = f"the polled query has no column {gone[0]} any more"
            raise StreamError(message, hint="name the columns in the query")
        at = [names.index(column) for column in self._query.by]
        positions = [self._position(row, at) for row in rows]
        placed = [place for place, position in enumerate(positions) if position is not None]
        told = [self._name(rows[place], positions[place]) for place in placed]
        new = [(place, name) for place, name, is_new in zip(placed, told, read.are_new(told), strict=True) if is_new]
        new, has_more = new[:most], len(rows) >= limit
        largest = _largest(read, [positions[place] for place in placed], new[-1][0] if new else None, placed, has_more)
        records = {place: _record(names, rows[place]) for place, _ in new}
        for place, row in enumerate(rows):
            if positions[place] is None and (known := crc32(repr(row).encode(errors="replace"))) not in misplaced:
                misplaced.add(known)
                records[place] = self._why_misplaced(row, at)
        chunk = rows_of([(place + 1, rows[place], record) for place, record in sorted(records.items())], self._schema)
        before = read.text
        read.add((name for _, name in new), largest, open_from)
        read.forget(polled, self._query.lag, committed_before, has_more)
        after = {_LARGEST: json.dumps(largest), _MISPLACED: json.dumps(sorted(misplaced)), _READ: read.text}
        is_same = not records and read.text == before
        after = {} if is_same else {n: value for n, value in after.items() if value not in ("null", "[]")}
        return Fetched(chunk.rows, after, chunk.quarantined, found=replace(chunk.found, tabular=True))

    def _position(self, row: DriverRow, at: Sequence[int]) -> QueryPosition | None:
        """Values of a row that can be compared with those that the columns have otherwise; ``None``: they cannot be."""
        if isinstance(row, Exception):
            return None
        types = [self._schema.field(column).type for column in self._query.by]
        found = [_place(row[place], type_) for place, type_ in zip(at, types, strict=True)]
        return None if None in found else found

    def _name(self, row: DriverRow, position: QueryPosition | None) -> str:
        """What tells a row from others: its place where that is unique, and many rows may have one time."""
        by, place = self._query.by, json.dumps(position)
        is_unique = len(by) > 1 or not pa.types.is_temporal(self._schema.field(by[0]).type)
        return place if is_unique else f"{place} {crc32(repr(row).encode(errors='replace'))}"

    def _why_misplaced(self, row: DriverRow, at: Sequence[int]) -> str:
        if isinstance(row, Exception):
            return f"it cannot be read: {hide_secrets(str(row))}"
        column, value = next(
            (c, row[place])
            for c, place in zip(self._query.by, at, strict=True)
            if _place(row[place], self._schema.field(c).type) is None
        )
        return f"{column}: {shown(value)} does not say where the row belongs"

    def _compared(self, part: int, offsets: Offsets) -> Fetched:
        """A part of all rows."""
        if part == 0 or part != self._part:
            self._parts = self._all()
        names, rows = next(self._parts)
        known, records = set(json.loads(offsets.get(_MISPLACED, "[]"))), list[tuple[int, object, JsonRecord | str]]()
        for number, row in enumerate(rows, 1):
            if not isinstance(row, Exception):
                records.append((number, row, _record(names, row)))
        chunk = rows_of(records, self._schema)
        odd = [(repr(row), QuarantinedRow(0, "", str(row))) for row in rows if isinstance(row, Exception)]
        odd += [(entry.text, entry) for entry in chunk.quarantined]
        named = {crc32(text.encode(errors="replace")): entry for text, entry in odd}
        new = tuple(entry for name, entry in named.items() if name not in known)
        continues = len(rows) == _COMPARED_ROWS
        self._part = part + 1 if continues else 0
        after = {_PART: str(self._part), _COMPARED: str(time.time())}
        after |= {_MISPLACED: json.dumps(sorted(known | {*named}))} if odd else {}
        found = replace(chunk.found, tabular=True)
        return Fetched(chunk.rows, after, new, found=found, whole=True, continues=continues)

    def _all(self) -> Iterator[tuple[list[str], list[DriverRow]]]:
        """All rows in parts, of which the last one is not full."""
        with closing(self._query.connect()) as connection:
            cursor = _cursor(connection)
            cursor.execute(self._query.sql)
            names = [column[0] for column in cursor.description]
            while True:
                rows = _rows(cursor, _COMPARED_ROWS)
                yield names, rows
                if len(rows) < _COMPARED_ROWS:
                    return

    def _first(self) -> tuple[list[str], Sequence[DriverRow]]:
        try:
            if not self._query.by:
                return next(self._all())
            return self._poll(None, 10_000)[:2]
        except Exception as error:  # each driver has errors of its own
            message = f"the polled query cannot be read: {type(error).__name__}: {error}"
            hint = "check how it connects, its user and password, and its text"
            if hasattr(self._query.connect, "cursor"):
                hint = "give a function that opens a connection for each poll: lambda: sqlite3.connect('shop.db')"
            raise StreamError(message, hint=hint) from without_secrets(error)

    def _poll(
        self, after: QueryPosition | None, most: int
    ) -> tuple[list[str], list[DriverRow], int | None, int | None]:
        """Columns, rows, the transaction before which all had ended before, and the first that had not begun after."""
        by = ['"' + column.replace('"', '""') + '"' for column in self._query.by]
        some, none = " AND ".join(f"{one} IS NOT NULL" for one in by), " OR ".join(f"{one} IS NULL" for one in by)
        with closing(self._query.connect()) as connection:
            committed_before = _snapshot(connection, "xmin")
            cursor = _cursor(connection)
            polled = f"SELECT * FROM ({self._query.sql}) polled WHERE"
            cursor.execute(
                f"{polled} {some if after is None else _after(by, after)} ORDER BY {', '.join(by)} LIMIT {most}"
            )
            names, rows = [column[0] for column in cursor.description], _rows(cursor, most)
            open_from = _snapshot(connection, "xmax")
            cursor.execute(f"{polled} {none} LIMIT {_MOST_NULLS}")
            return names, [*rows, *_rows(cursor, _MOST_NULLS)], committed_before, open_from


def _after(by: Sequence[str], position: QueryPosition) -> str:
    """The condition of rows after a position: larger in a column, and equal in those before it.

    Example:
        >>> _after(["a", "b"], [1, "x"])
        "(a > 1 OR (a = 1 AND (b > 'x')))"
    """
    first, value = by[0], _literal(position[0])
    rest = f" OR ({first} = {value} AND {_after(by[1:], position[1:])})" if by[1:] else ""
    return f"({first} > {value}{rest})"


def _snapshot(connection: Any, part: str) -> int | None:
    """A part of the snapshot of PostgreSQL; ``None`` for another database."""
    if not type(connection).__module__.startswith("psycopg"):
        return None
    cursor = connection.cursor()
    cursor.execute(f"SELECT pg_snapshot_{part}(pg_current_snapshot())::text")
    return int(cursor.fetchone()[0])


def _cursor(connection: Any) -> Any:
    """A cursor; of SQLite one that gives bytes where a text is none, instead of an error."""
    if isinstance(connection, sqlite3.Connection) and connection.text_factory is str:
        connection.text_factory = _text_or_bytes
    return connection.cursor()


def _text_or_bytes(value: bytes) -> str | bytes:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return _NoText(value)


def _rows(cursor: Any, most: int) -> list[DriverRow]:
    """Rows of a cursor; for one that the driver cannot give, why it cannot.

    Raises:
        Exception: the driver cannot go on after such a row.
    """
    if not hasattr(cursor, "scroll"):
        return [*cursor.fetchmany(most)] if hasattr(cursor, "fetchmany") else [*cursor.fetchall()]
    rows = list[DriverRow]()
    while len(rows) < most:
        try:
            row = cursor.fetchone()
        except Exception as error:  # psycopg has no date beyond the year 9999
            rows.append(error)
            cursor.scroll(1)
            continue
        if row is None:
            break
        rows.append(row)
    return rows


def _can_grow(type_: pa.DataType) -> bool:
    is_ = pa.types
    whole = is_.is_integer(type_) or (is_.is_decimal(type_) and type_.scale <= 0)
    return bool(whole or is_.is_string(type_) or is_.is_date(type_) or is_.is_timestamp(type_))


def _place(value: Any, type_: pa.DataType) -> int | str | None:
    """A value as it is stored and compared; ``None`` where it is none of the column's."""
    if pa.types.is_string(type_):
        return value if isinstance(value, str) else None
    if pa.types.is_temporal(type_):
        if isinstance(value, dt.datetime):
            value = value if value.tzinfo is None else value.astimezone(dt.UTC)
            return value.isoformat(" ")
        return value.isoformat() if isinstance(value, dt.date) else None
    is_whole = not isinstance(value, bool) and isinstance(value, Real | Decimal) and bool(value == value // 1)
    return int(value) if is_whole else None


def _record(names: Sequence[str], row: DriverRow) -> JsonRecord | str:
    if isinstance(row, Exception):
        return str(row)
    if odd := [name for name, value in zip(names, row, strict=True) if isinstance(value, _NoText)]:
        return f"{odd[0]}: its bytes are no text in UTF-8"
    return within_depth(dict(zip(names, row, strict=True)))


class _NoText(bytes):
    """What stands in a text of SQLite and is none."""


def _largest(
    read: ReadRows, positions: Sequence[QueryPosition | None], last: int | None, placed: Sequence[int], has_more: bool
) -> QueryPosition | None:
    """The largest position of rows that were read, where the database says which is larger.

    Args:
        read: before.
        positions: of the rows of a poll, in its order.
        last: the last row that is taken, as ``placed`` calls it; ``None``: none is.
        placed: what these rows are called.
        has_more: whether there may be more rows.
    """
    if last is None:
        return read.largest
    at = placed.index(last)
    is_before = read.largest in positions[at + 1 :]
    is_beyond = has_more and read.start != read.largest and read.largest not in positions
    return read.largest if is_before or is_beyond else positions[at]


def _literal(value: int | str) -> str:
    # Drivers differ in how they write parameters; a number or a quoted text is the same in all of them.
    return str(int(value)) if isinstance(value, int) else "'" + str(value).replace("'", "''") + "'"


def _seconds(what: str, given: str | float | None) -> float | None:
    seconds = short_duration(given) if isinstance(given, str) else given
    if given is not None and (seconds is None or seconds < 0):
        raise StreamError(f"{what} is {given!r}", hint=f"a length of time, as in {what}='30s'")
    return seconds
