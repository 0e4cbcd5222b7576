"""The rows that a stream with corrections has now, so that what a change takes back is a row that is there.

A Z-set of a stream must never count a row less than zero times: no SQL has an answer over such rows. So every change is
compared with the current rows, which are kept on disk, by key: an update takes back exactly the row that was there, and
what takes back a row that is not there is rejected.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from workbench.sql.algebra.column_names import display_name, stored_name
from workbench.streams.corrections.declared import (
    DEBEZIUM_CHANGE,
    DEBEZIUM_UNSENT,
    EVENT,
    TAKES_IF_THERE,
    TRUNCATES,
    WEIGHT,
    Changes,
    Corrections,
)
from workbench.streams.corrections.row_texts import json_rows, rows_of_texts, texts_of_keys, texts_of_rows
from workbench.streams.corrections.unsent import unsent_columns
from workbench.streams.drift import with_members, without_empty_more
from workbench.streams.files.json_values import MORE, MORE_FIELD
from workbench.streams.source import QuarantinedRow
from workbench.streams.widened_columns import as_field

CREATE = "CREATE TABLE IF NOT EXISTS current (key TEXT PRIMARY KEY, fields TEXT, copies INTEGER NOT NULL) WITHOUT ROWID"
"""By the text of its key the text of each row (NULL: its key is the whole row), and how many copies of it there are."""
_CREATE_CONFIRMED = "CREATE TABLE IF NOT EXISTS confirmed (key TEXT PRIMARY KEY, event INTEGER NOT NULL) WITHOUT ROWID"
"""By the text of its key the last event that confirmed a row, or that there is none, and so emitted nothing."""
AFTER_ALL = np.iinfo(np.int64).max
"""The event of rows after all that a source had."""

_CHANGE, _UNSENT = stored_name(DEBEZIUM_CHANGE), stored_name(DEBEZIUM_UNSENT)


class CurrentRows:
    """The current rows of one stream, by key.

    Args:
        database: has the relation ``current``; who opened it commits. One that an earlier version wrote is converted.
        schema: of the stream's columns.
        corrections: of the stream.

    Attributes:
        is_new: whether nothing was kept in the database so far.
        confirms: whether the events are remembered that change nothing, as where a row is equal to the one that it
            replaces. A row before them, which was quarantined and is tried again, comes too late.
        rejects_for_good: whether what takes back a row that is not there is not tried again, so it is such an event.
    """

    def __init__(self, database: sqlite3.Connection, schema: pa.Schema, corrections: Corrections) -> None:
        database.execute(CREATE)
        database.execute(_CREATE_CONFIRMED)
        database.execute("CREATE TABLE IF NOT EXISTS current_schema (content BLOB NOT NULL)")
        self._database = database
        self._schema = schema.append(MORE_FIELD)
        self._corrections = corrections
        self._is_whole = self.confirms = self.rejects_for_good = False
        if any(name == "row" for _, name, *_ in database.execute("PRAGMA table_info(current)")):
            self._convert()
        known = database.execute("SELECT content FROM current_schema").fetchone()
        self.is_new = known is None
        if known is None or pa.ipc.read_schema(pa.py_buffer(known[0])) != self._schema:
            if known is not None:
                self._retype(pa.ipc.read_schema(pa.py_buffer(known[0])))
            database.execute("DELETE FROM current_schema")
            database.execute("INSERT INTO current_schema VALUES (?)", [self._schema.serialize().to_pybytes()])

    def rebuild(self, log: Iterable[pa.Table]) -> None:
        """Know the current rows of a log of which they were not kept, from all of its rows."""
        for rows in log:
            self.change(rows, {})

    def keys_of(self, rows: pa.Table) -> pa.Array:
        """The texts of the keys of some rows."""
        return texts_of_keys(_arrays(rows.select(self._corrections.key)))

    def confirm(self, rows: pa.Table, events: pa.Array | pa.ChunkedArray) -> None:
        """Remember that the rows of some keys were so, or not there, at events."""
        query = "INSERT INTO confirmed VALUES (?, ?) ON CONFLICT DO UPDATE SET event = max(event, excluded.event)"
        self._database.executemany(query, zip(self.keys_of(rows).to_pylist(), events.to_pylist(), strict=True))

    def confirmed(self, keys: Iterable[str]) -> NDArray[np.int64]:
        """The last event that confirmed the row of each key, or -1."""
        query = "SELECT coalesce(max(event), -1) FROM confirmed WHERE key = ?"
        return np.array([self._database.execute(query, [key]).fetchone()[0] for key in keys], np.int64)

    @property
    def has_confirmed(self) -> bool:
        """Whether any event is remembered."""
        return self._database.execute("SELECT 1 FROM confirmed").fetchone() is not None

    def apply(
        self, rows: pa.Table, lines: NDArray[np.int64], quarantined: Iterable[QuarantinedRow] = ()
    ) -> tuple[pa.Table, dict[int, str]]:
        """Apply rows of the source, one after the other; returns what ``change`` does.

        Args:
            rows: of the source, with what they have for their changes.
            lines: of each its line.
            quarantined: what does not fit of the same part of the source.
        """
        self.confirms = self.confirms or any(entry.record is not None for entry in quarantined)
        if _CHANGE not in rows.column_names:
            return self.change(*self._corrections.weighted(rows, lines))
        changed, reasons, begin = list[pa.Table](), dict[int, str](), 0
        truncates = np.flatnonzero(np.asarray(pc.equal(rows[_CHANGE], TRUNCATES))).tolist()
        for end in (*truncates, rows.num_rows):
            some = rows.slice(begin, end - begin)
            weighted = self._corrections.weighted(some, lines[begin:end])
            of_some, rejected = self.change(*weighted, unsent_columns(some[_UNSENT]))
            reasons |= {begin + at: why for at, why in rejected.items()}
            changed += [of_some] if end == rows.num_rows else [of_some, self._taken_back(int(lines[end]))]
            begin = end + 1
        return without_empty_more(pa.concat_tables(changed, promote_options="default")), reasons

    def begin_whole(self, event: int) -> pa.Table:
        """The rows that are applied from now on are all that there are; returns what goes at once.

        Where rows have keys nothing does: those that are the same stay, and ``end_whole`` takes back what has not come.
        """
        if not self._corrections.key:
            return self._taken_back(event)
        self._is_whole = True
        self._database.execute("CREATE TEMP TABLE IF NOT EXISTS come (key TEXT PRIMARY KEY) WITHOUT ROWID")
        self._database.execute("DELETE FROM come")
        return self._taken_back(event, "FALSE")

    def end_whole(self, event: int) -> pa.Table:
        """Remove the rows that a complete load did not contain."""
        rest = self._taken_back(event, "key NOT IN (SELECT key FROM come)" if self._is_whole else "FALSE")
        self._is_whole = False
        return rest

    def _taken_back(self, event: int, which: str = "TRUE") -> pa.Table:
        """Rows go, in one event."""
        entries = self._database.execute(f"SELECT coalesce(fields, key), copies FROM current WHERE {which}").fetchall()
        rows = rows_of_texts([text for text, _ in entries], self._schema)
        self._database.execute(f"DELETE FROM current WHERE {which}")
        weights = pa.array([-copies for _, copies in entries], pa.int64())
        return rows.append_column(WEIGHT, weights).append_column(EVENT, pa.array([event] * len(entries), pa.int64()))

    def change(
        self, changes: pa.Table, rejected: Mapping[int, str], unsent: Mapping[int, Sequence[str]] | None = None
    ) -> tuple[pa.Table, dict[int, str]]:
        """Let rows come or go, one after the other.

        Args:
            changes: rows with the columns of the log. One with a weight above 0 comes, one with a weight below 0 goes;
                of one that goes by its key, the key is enough.
            rejected: why some do neither, by their places; the weight of these is NULL.
            unsent: the columns that a row, which is there by its key, has as the one that it replaces has them.

        Returns:
            The rows for the log, and why changes were rejected, by their places.
        """
        if MORE not in changes.column_names:
            changes = changes.append_column(MORE_FIELD, pa.nulls(changes.num_rows, MORE_FIELD.type))
        values = pa.Table.from_arrays(changes.select(self._schema.names).columns, schema=self._schema)
        reasons, by_key = dict(rejected), bool(self._corrections.key)
        keys = self._keys(values).dictionary_encode()
        names = keys.dictionary.to_pylist()
        if self._is_whole:
            self._database.executemany("INSERT OR IGNORE INTO come VALUES (?)", ([name] for name in names))
        found = {key: row for key, name in enumerate(names) if (row := self._look_up(name)) is not None}
        stored = [fields for fields, _ in found.values()] if by_key else []
        old = rows_of_texts(stored, self._schema)
        before = {key: place if by_key else copies for place, (key, (_, copies)) in enumerate(found.items())}
        now, steps = dict(before), [*zip(keys.indices.to_pylist(), changes[WEIGHT].to_pylist(), strict=True)]
        texts = pa.array(stored, pa.large_string())
        if by_key:
            if unsent:
                values = self._filled(old, values, before, steps, changes[EVENT].to_pylist(), unsent, reasons)
            texts = pa.concat_arrays([texts, _texts(values)])
            unchanged = list[int]()
            emitted = [*self._replaced(steps, now, texts, len(old), self._images(values), reasons, unchanged)]
            if self.confirms and unchanged:
                self.confirm(values.take(pa.array(unchanged)), changes[EVENT].take(pa.array(unchanged)))
        else:
            emitted = [*_counted(steps, now, reasons)]
        changed = [(key, state) for key, state in now.items() if before.get(key) != state]
        entries = ((names[key], *((texts[state].as_py(), 1) if by_key else (None, state))) for key, state in changed)
        self._store((names[key] for key in before.keys() - now.keys()), entries)
        picked, weights, by = np.array(emitted, np.int64).reshape(-1, 3).T
        rows = pa.concat_tables([old, values]).take(pa.array(picked))
        marked = rows.append_column(WEIGHT, pa.array(weights)).append_column(EVENT, changes[EVENT].take(by))
        return without_empty_more(marked), reasons

    def _replaced(
        self,
        steps: Iterable[_Step],
        now: dict[int, int],
        texts: pa.Array,
        first: int,
        images: NDArray[np.bool_],
        reasons: dict[int, str],
        unchanged: list[int],
    ) -> Iterator[_Emitted]:
        """What changes by key emit.

        Args:
            steps: the changes.
            now: the place of the row of each key, as it is before them, and then after them.
            texts: of the rows at all places.
            first: the place of the row of the first change.
            images: which changes, of those that take a row back, take back one that is equal, and no other of its key.
            reasons: gets why changes are rejected.
            unchanged: gets which changes are made already.
        """
        equal = texts.dictionary_encode().indices.to_pylist()
        for by, (key, weight) in enumerate(steps):
            if key is None or weight is None:
                reasons.setdefault(by, f"a column of the key is NULL: {self._key_names}")
                continue
            if weight == 0:
                continue
            old, new = now.pop(key, None), first + by
            if images[by] and weight < 0 and old is not None and equal[old] != equal[new]:
                now[key] = old
                reasons[by] = f"it takes back an image of a row that has another one now ({self._key_names})"
            elif weight < 0 and old is None:
                if weight != TAKES_IF_THERE:
                    reasons[by] = f"it takes back a row that is not there: no row has its key ({self._key_names})"
                if weight == TAKES_IF_THERE or self.rejects_for_good:
                    unchanged.append(by)
            elif weight > 0 and old is not None and equal[old] == equal[new]:
                now[key] = old
                unchanged.append(by)
            else:
                if old is not None:
                    yield old, -1, by
                if weight > 0:
                    now[key] = new
                    yield new, 1, by

    def _filled(
        self,
        old: pa.Table,
        values: pa.Table,
        before: Mapping[int, int],
        steps: list[_Step],
        events: Sequence[int],
        unsent: Mapping[int, Sequence[str]],
        reasons: dict[int, str],
    ) -> pa.Table:
        """Rows with what was not sent: the value of the row that each replaces, or that its event takes back.

        Args:
            old: the rows before the changes.
            values: the rows of the changes.
            before: the place of the row of each key before the changes.
            steps: the changes; the weight of one that replaces no row becomes NULL.
            events: of the changes.
            unsent: names of columns, by the places of changes.
            reasons: gets why changes are rejected.
        """
        now, gone = dict(before), dict[int, int | None]()
        lacking = {name for some in unsent.values() for name in some}
        places = {name: np.arange(len(old) + len(values)) for name in lacking if name in values.column_names}
        more = [*old[MORE].to_pylist(), *values[MORE].to_pylist()] if len(lacking) > len(places) else []
        for by, ((key, weight), event) in enumerate(zip(steps, events, strict=True)):
            if key is None or not weight:
                continue
            replaced = now.pop(key, None)
            if weight < 0:
                gone = {event: replaced}
                continue
            replaced = gone.get(event) if replaced is None else replaced
            if by in unsent and replaced is None:
                names = ", ".join(map(display_name, unsent[by]))
                reasons[by] = (
                    f"{names}: the value was not sent, and no row has the key ({self._key_names}) to keep it from"
                )
                steps[by] = (key, None)
                continue
            for name in places.keys() & unsent.get(by, ()):
                places[name][len(old) + by] = places[name][replaced]
            if more and by in unsent and replaced is not None:
                more[len(old) + by] = with_members(more[len(old) + by], more[replaced], unsent[by])
            now[key] = len(old) + by
        if more:
            texts = pa.chunked_array([pa.array(more[len(old) :], MORE_FIELD.type)])
            values = values.set_column(values.column_names.index(MORE), MORE_FIELD, texts)
        for name, source in places.items():
            both = pa.chunked_array([*old[name].chunks, *values[name].chunks], values[name].type)
            filled = both.take(pa.array(source[len(old) :]))
            values = values.set_column(values.column_names.index(name), values.schema.field(name), filled)
        return values

    def _images(self, values: pa.Table) -> NDArray[np.bool_]:
        """Rows of a change data feed are images of what was there, unless they have nothing but the key."""
        if self._corrections.changes is not Changes.CDF:
            return np.zeros(values.num_rows, np.bool_)
        others = values.drop_columns([*self._corrections.key]).columns
        return np.any([np.zeros(values.num_rows), *(np.asarray(column.is_valid()) for column in others)], axis=0)

    @property
    def _key_names(self) -> str:
        return ", ".join(map(display_name, self._corrections.key))

    def _keys(self, values: pa.Table) -> pa.Array:
        key = self._corrections.key
        return texts_of_keys(_arrays(values.select(key))) if key else _texts(values)

    def _look_up(self, key: str) -> tuple[str, int] | None:
        row = self._database.execute("SELECT fields, copies FROM current WHERE key = ?", [key]).fetchone()
        return None if row is None else (row[0], row[1])

    def _store(self, gone: Iterable[str], entries: Iterable[tuple[str, str | None, int]]) -> None:
        self._database.executemany("DELETE FROM current WHERE key = ?", ([key] for key in gone))
        self._database.executemany("INSERT OR REPLACE INTO current VALUES (?, ?, ?)", entries)

    def _retype(self, before: pa.Schema) -> None:
        """Write all rows again with the present types of the columns."""
        entries = self._database.execute("SELECT coalesce(fields, key), copies FROM current").fetchall()
        self._database.execute("DELETE FROM current")
        rows = rows_of_texts([text for text, _ in entries], before)
        columns = [as_field(values, f)[0] for values, f in zip(_arrays(rows), self._schema, strict=True)]
        self._store_rows(pa.Table.from_arrays(columns, schema=self._schema), [copies for _, copies in entries])
        if confirmed := self._database.execute("SELECT key, event FROM confirmed").fetchall():
            self._database.execute("DELETE FROM confirmed")
            of_key = pa.schema([before.field(name) for name in self._corrections.key])
            keys = rows_of_texts([key for key, _ in confirmed], of_key.append(MORE_FIELD)).select(of_key.names)
            fields = map(self._schema.field, of_key.names)
            arrays = [as_field(values, f)[0] for values, f in zip(_arrays(keys), fields, strict=True)]
            self.confirm(pa.table(arrays, of_key.names), pa.array([event for _, event in confirmed]))

    def _convert(self) -> None:
        """Rewrite the rows of an earlier version of the store."""
        self._database.execute("ALTER TABLE current RENAME TO earlier")
        self._database.execute(CREATE)
        own = pa.schema(list(self._schema)[:-1])
        for earlier, copies in json_rows(self._database, "earlier", own):
            self._store_rows(earlier.append_column(MORE_FIELD, pa.nulls(len(copies), MORE_FIELD.type)), copies)
        self._database.execute("DROP TABLE earlier")

    def _store_rows(self, rows: pa.Table, copies: list[int]) -> None:
        fields = _texts(rows).to_pylist() if self._corrections.key else [None] * len(copies)
        self._store([], zip(self._keys(rows).to_pylist(), fields, copies, strict=True))


@contextmanager
def current_rows_in(
    file: Path, schema: pa.Schema, corrections: Corrections | None, growing: bool
) -> Iterator[CurrentRows | None]:
    """The current rows of a stream that is copied, in a file; ``None`` for one without corrections.

    They stay where there will be more changes, and with what confirms some of them, which is in no log.
    """
    if corrections is None:
        yield None
        return
    with closing(sqlite3.connect(file, isolation_level=None)) as database:
        database.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN")
        current = CurrentRows(database, schema, corrections)
        yield current
        stays = growing or current.has_confirmed
        database.execute("COMMIT")
    if not stays:
        file.unlink()


_Step = tuple[int | None, int | None]
"""The number of the key of a change, and its weight."""
_Emitted = tuple[int, int, int]
"""The place of a row for the log, its weight, and the place of the change that emits it."""


def _counted(steps: Iterable[_Step], now: dict[int, int], reasons: dict[int, str]) -> Iterator[_Emitted]:
    """What changes without a key emit; ``now``, how many copies of each row there are, is changed."""
    for by, (row, weight) in enumerate(steps):
        if row is None or not weight:
            continue
        copies = now.pop(row, 0)
        if copies + weight < 0:
            reasons[by] = f"it takes back {-weight} of a row that is there {copies} times"
        else:
            copies += weight
            yield by, weight, by
        if copies:
            now[row] = copies


def _texts(rows: pa.Table) -> pa.Array:
    *columns, more = _arrays(rows)
    return texts_of_rows(columns, more)


def _arrays(rows: pa.Table) -> list[pa.Array]:
    return [column.combine_chunks() for column in rows.columns]
