"""The rows that a stream with corrections has now, so that what a change takes back is a row that is there.

A Z-set of a stream must never count a row less than zero times: no SQL has an answer over such rows. So every change is
compared with the current rows, which are kept on disk, by key: an update takes back exactly the row that was there, and
what takes back a row that is not there is rejected.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa

from workbench.sql.algebra.column_names import display_name
from workbench.streams.corrections.declared import EVENT, WEIGHT, Corrections

CREATE = "CREATE TABLE IF NOT EXISTS current (key TEXT PRIMARY KEY, row TEXT, copies INTEGER NOT NULL) WITHOUT ROWID"
_JSON = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False)


@dataclass(frozen=True)
class Applied:
    """What some rows of a source have become.

    Attributes:
        rows: for the log, with ``_weight`` and ``_event``.
        rejected: the places of rows that changed nothing, and why.
    """

    rows: pa.Table
    rejected: Sequence[tuple[int, str]]


class CurrentRows:
    """The current rows of one stream, by key.

    Args:
        database: has the relation ``current``; who opened it commits.
        schema: of the stream's columns.
        corrections: of the stream.
    """

    def __init__(self, database: sqlite3.Connection, schema: pa.Schema, corrections: Corrections) -> None:
        database.execute(CREATE)
        self._database = database
        self._schema = schema
        self._corrections = corrections

    def apply(self, rows: pa.Table, lines: Sequence[int]) -> Applied:
        """Apply rows of the source, one after the other.

        Args:
            rows: of the source, with what they have for their changes.
            lines: of each its line.
        """
        values = rows.select(self._schema.names).combine_chunks()
        changes = self._corrections.changes_of(rows)
        return self.change(values, changes, self._corrections.events_of(rows, lines))

    def change(self, values: pa.Table, changes: Sequence[int | str], events: Sequence[int]) -> Applied:
        """Let rows come (above 0) or go (below 0); a text rejects a row.

        Args:
            values: the rows; of one that goes by its key, the key is enough.
            changes: of each row.
            events: of each row.
        """
        texts = _texts(values)
        keys = self._keys(values) if self._corrections.key else [*texts]
        before = self._look_up(keys)
        now = dict(before)
        log = _Emitted()
        for place, (change, key, text) in enumerate(zip(changes, keys, texts, strict=True)):
            if isinstance(change, str):
                log.rejected.append((place, change))
            elif key is None:
                log.rejected.append((place, f"a column of the key is NULL: {', '.join(self._key_names)}"))
            elif change and not self._apply_one(place, change, key, text, now, log, events[place]):
                log.rejected.append((place, self._was_not_there(change, now.get(key))))
        self._store(before, now)
        return Applied(log.table(values, self._schema), log.rejected)

    def _apply_one(
        self, place: int, change: int, key: str, text: str, now: dict[str, _Current], log: _Emitted, event: int
    ) -> bool:
        """Whether the row could come or go."""
        row, copies = now.get(key, (None, 0))
        if not self._corrections.key:
            if copies + change < 0:
                return False
            now[key] = (None, copies + change)
            log.emit_new(place, change, event)
            return True
        if change < 0:
            if row is None:
                return False
            log.emit_old(row, event)
            now[key] = (None, 0)
            return True
        if row != text:
            if row is not None:
                log.emit_old(row, event)
            log.emit_new(place, 1, event)
            now[key] = (text, 1)
        return True

    def _was_not_there(self, change: int, current: _Current | None) -> str:
        if self._corrections.key:
            return f"it takes back a row that is not there: no row has its key ({', '.join(self._key_names)})"
        copies = 0 if current is None else current[1]
        return f"it takes back {-change} of a row that is there {copies} times"

    @property
    def _key_names(self) -> list[str]:
        return [display_name(name) for name in self._corrections.key]

    def _keys(self, values: pa.Table) -> list[str | None]:
        columns = [_plain(values.column(name)) for name in self._corrections.key]
        # 0.0 and -0.0 are one key.
        columns = [[v + 0.0 if isinstance(v, float) else v for v in column] for column in columns]
        return [None if None in row else _JSON.encode(row) for row in zip(*columns, strict=True)]

    def _look_up(self, keys: Sequence[str | None]) -> dict[str, _Current]:
        asked = json.dumps([*dict.fromkeys(key for key in keys if key is not None)])
        found = self._database.execute(
            "SELECT key, row, copies FROM current WHERE key IN (SELECT value FROM json_each(?))", [asked]
        )
        return {key: (row, copies) for key, row, copies in found}

    def _store(self, before: dict[str, _Current], now: dict[str, _Current]) -> None:
        changed = [(key, *current) for key, current in now.items() if before.get(key) != current]
        self._database.executemany("DELETE FROM current WHERE key = ?", ([key] for key, _, n in changed if not n))
        self._database.executemany(
            "INSERT OR REPLACE INTO current VALUES (?, ?, ?)", (entry for entry in changed if entry[2])
        )


_Current = tuple[str | None, int]
"""The row of a key (``None`` where the row is its own key), and how many copies of it there are."""


class _Emitted:
    """The rows for the log, as they are decided one after the other."""

    def __init__(self) -> None:
        self.rejected: list[tuple[int, str]] = []
        self._old: list[str] = []
        self._picked: list[int] = []
        self._weights: list[int] = []
        self._events: list[int] = []

    def emit_new(self, place: int, weight: int, event: int) -> None:
        """The row at a place of the source's rows comes, or goes."""
        self._add(place, weight, event)

    def emit_old(self, row: str, event: int) -> None:
        """A current row goes."""
        self._old.append(row)
        self._add(-len(self._old), -1, event)

    def _add(self, picked: int, weight: int, event: int) -> None:
        self._picked.append(picked)
        self._weights.append(weight)
        self._events.append(event)

    def table(self, values: pa.Table, schema: pa.Schema) -> pa.Table:
        """The rows with their marks."""
        both = pa.concat_tables([values.select(schema.names), _rows(self._old, schema)])
        # Old rows stand behind the new ones.
        places = [place if place >= 0 else values.num_rows - place - 1 for place in self._picked]
        chosen = both.take(pa.array(places, pa.int64()))
        chosen = chosen.append_column(WEIGHT, pa.array(self._weights, pa.int64()))
        return chosen.append_column(EVENT, pa.array(self._events, pa.int64()))


def _texts(rows: pa.Table) -> list[str]:
    """Each row as JSON: equal texts are equal rows, to the sign of a zero."""
    columns = [_plain(column) for column in rows.columns]
    return [_JSON.encode(row) for row in zip(*columns, strict=True)]


def _rows(texts: Sequence[str], schema: pa.Schema) -> pa.Table:
    """The inverse of ``_texts``."""
    columns = [*zip(*map(json.loads, texts), strict=True)] or [()] * len(schema)
    arrays = [pa.array(c, _stored_as(f.type)).cast(f.type) for c, f in zip(columns, schema, strict=True)]
    return pa.Table.from_arrays(arrays, schema=schema)


def _plain(column: pa.ChunkedArray) -> list[object]:
    """The values of a column as JSON has them."""
    plain: list[object] = column.cast(_stored_as(column.type)).to_pylist()
    return plain


def _stored_as(type_: pa.DataType) -> pa.DataType:
    if pa.types.is_decimal(type_):
        return pa.string()
    if pa.types.is_timestamp(type_):
        return pa.int64()
    return pa.int32() if pa.types.is_date(type_) else type_
