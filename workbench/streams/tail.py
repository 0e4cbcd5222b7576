"""The growing part of a log: rows that came after the stream was added, in an SQLite file.

One transaction takes in rows, what they change of the current rows, where in the source they came from, and what of
them was quarantined. So whenever the process ends, the offsets are those of exactly the rows that are there.

Many rows that come together are a file beside it, which is whole before the transaction names it, so that tasks on
other machines read them, and a commit has no rows. What a transaction wrote that was undone, no part names.
"""

from __future__ import annotations

import sqlite3
import threading
import uuid
from collections.abc import Container, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from zlib import crc32

import pyarrow as pa

from workbench.errors import StreamError
from workbench.files.recorded import RecordedConnection
from workbench.files.shared import all_stored, journal_of
from workbench.files.writing import force_to_disk
from workbench.sql.algebra.column_names import stored_name
from workbench.streams.corrections.current_rows import CREATE
from workbench.streams.drift import Drift, without_empty_more
from workbench.streams.row_groups import LogFile, write_rows
from workbench.streams.source import QuarantinedRow

TAIL = "tail.sqlite"
MOST_DRIFTS = 200
"""New members that are remembered: a source may have keys that are data."""
PART_ROWS = 65_536
"""The most rows of one part, which is read as a whole."""
FILED_ROWS = 20_000
"""Rows that come together, from which on they are a file: of fewer a cluster makes no tasks (``Limits.of_cluster``)."""
_LATER = "later-"
"""How the names of such files begin."""

_Part = tuple[int, int, int, bytes | str]
"""A row of the relation ``parts``; the content of one that is a file is its name."""
_IN_FILES = "typeof(content) = 'text'"
_RELATIONS = f"""
CREATE TABLE IF NOT EXISTS parts (
    start INTEGER PRIMARY KEY, rows INTEGER NOT NULL, checksum INTEGER NOT NULL, content BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS offsets (place TEXT PRIMARY KEY, next TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS quarantined (line INTEGER NOT NULL, text TEXT NOT NULL, reason TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS records (entry INTEGER PRIMARY KEY, number INTEGER NOT NULL, record TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS taken_in (place INTEGER PRIMARY KEY);
CREATE TABLE IF NOT EXISTS drifts (
    name TEXT NOT NULL, is_new INTEGER NOT NULL, type TEXT NOT NULL, first INTEGER NOT NULL, rows INTEGER NOT NULL,
    tabular INTEGER NOT NULL, PRIMARY KEY (name, is_new));
{CREATE};
"""


@dataclass(frozen=True)
class WaitingRecord:
    """A quarantined row of which the whole record is kept.

    Attributes:
        copied: whether it was quarantined when the stream was added.
        entry: its place among those that were quarantined then, or what the tail calls it.
        line: of the source.
        number: that of the last row before it, as the events of corrections count.
        reason: why it was quarantined.
        record: the text of its JSON object.
    """

    copied: bool
    entry: int
    line: int
    number: int
    reason: str
    record: str


class Tail:
    """The rows of one stream from a position on.

    Args:
        path: of the file; it is made where there is none.
        start: the position of its first row.
        durable: whether rows must survive a loss of power.
    """

    def __init__(self, path: Path, start: int, durable: bool = True) -> None:
        self.path = path
        self._start = start
        self._durable = durable
        self._lock = threading.RLock()
        self._written = list[Path]()
        """The files of the transaction that is open."""
        self._offsets: tuple[tuple[int, int], Mapping[str, str]] = (-1, -1), {}
        """The offsets as they were last read, and of which version of the file they are."""
        is_new = not path.exists()
        self._database = sqlite3.connect(
            path, isolation_level=None, check_same_thread=False, factory=RecordedConnection
        )
        self._database.execute("PRAGMA journal_mode = WAL")
        self._database.execute(f"PRAGMA synchronous = {'FULL' if durable else 'OFF'}")
        self._database.executescript(_RELATIONS)
        if (kept := journal_of(path)) is not None:
            journal, name = kept
            if journal.writing and (is_new or name not in journal.files):
                journal.write_databases([name])
            elif journal.writing:
                journal.include(name)  # an older version may have made it
            self._database.record(journal, name)

    @property
    def rows(self) -> int:
        """The number of rows."""
        last = self._first("SELECT start + rows FROM parts ORDER BY start DESC LIMIT 1")
        return last - self._start if last is not None else 0

    @property
    def misfits(self) -> int:
        """The number of quarantined rows."""
        return int(self._first("SELECT count(*) FROM quarantined") or 0)

    @property
    def taken_in(self) -> frozenset[int]:
        """The places of quarantined rows of those that were copied that have been taken in since."""
        with self._lock:
            return frozenset(place for (place,) in self._database.execute("SELECT place FROM taken_in"))

    def waiting(self, at_most: int = -1) -> list[WaitingRecord]:
        """The first of the quarantined rows whose records are kept, in the order in which they came; -1: all."""
        query = "SELECT entry, line, number, reason, record FROM records JOIN quarantined ON entry = quarantined.rowid"
        with self._lock:
            found = self._database.execute(f"{query} ORDER BY entry LIMIT ?", [at_most]).fetchall()
        return [WaitingRecord(False, *entry) for entry in found]

    def settle(self, taken: Iterable[WaitingRecord], others: Iterable[tuple[WaitingRecord, str]]) -> None:
        """Remember which waiting records were taken in, and why others were not; belongs inside a transaction."""
        for one in taken:
            if one.copied:
                self._database.execute("INSERT INTO taken_in VALUES (?)", [one.entry])
            else:
                self._database.execute("DELETE FROM quarantined WHERE rowid = ?", [one.entry])
                self._database.execute("DELETE FROM records WHERE entry = ?", [one.entry])
        for one, reason in others:
            if not one.copied:
                self._database.execute("UPDATE quarantined SET reason = ? WHERE rowid = ?", [reason, one.entry])

    def quarantined(self, at_most: int, skip: int = 0) -> tuple[QuarantinedRow, ...]:
        """The first of the quarantined rows, after some."""
        query = "SELECT line, text, reason FROM quarantined ORDER BY rowid LIMIT ? OFFSET ?"
        with self._lock:
            found = self._database.execute(query, [at_most, skip]).fetchall()
        return tuple(QuarantinedRow(*entry) for entry in found)

    @property
    def offsets(self) -> Mapping[str, str]:
        """Where the source resumes, by its partitions."""
        with self._lock:
            version = (self._database.execute("PRAGMA data_version").fetchone()[0], self._database.total_changes)
            if version == self._offsets[0]:
                return self._offsets[1]
            found = self._database.execute("SELECT place, next FROM offsets").fetchall()
            offsets = MappingProxyType({str(place): str(following) for place, following in found})
            if not self._database.in_transaction:  # it may be undone
                self._offsets = version, offsets
        return offsets

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All that is written within is there as a whole, or not at all."""
        with self._lock:
            self._database.execute("BEGIN IMMEDIATE")
            self._written.clear()
            try:
                yield self._database
                self._database.execute("COMMIT")
            except BaseException:
                if self._database.in_transaction:  # on a full disk SQLite has undone everything by itself
                    self._database.execute("ROLLBACK")
                    for path in self._written:
                        path.unlink(missing_ok=True)
                raise

    def append_file(self, name: str, rows: int, checksum: int) -> None:
        """Add rows that a task has written (``later_file``); belongs inside a transaction."""
        self._database.execute("INSERT INTO parts VALUES (?, ?, ?, ?)", (self._start + self.rows, rows, checksum, name))

    def append(
        self, rows: pa.Table, quarantined: Iterable[QuarantinedRow] = (), offsets: Mapping[str, str] | None = None
    ) -> None:
        """Add rows of the log's schema; belongs inside a transaction.

        Args:
            rows: those that fit.
            quarantined: those that do not.
            offsets: where the source resumes after them, for the partitions that have gone on.
        """
        parts = [self._file(rows)] if rows.num_rows >= FILED_ROWS else [*self._contents(rows)]
        self._database.executemany("INSERT INTO parts VALUES (?, ?, ?, ?)", parts)
        for entry in quarantined:
            shown = (entry.line, entry.text, entry.reason)
            place = self._database.execute("INSERT INTO quarantined VALUES (?, ?, ?)", shown).lastrowid
            if entry.record is not None:
                self._database.execute("INSERT INTO records VALUES (?, ?, ?)", (place, entry.number, entry.record))
        self._database.executemany("INSERT OR REPLACE INTO offsets VALUES (?, ?)", (offsets or {}).items())

    def forget(self, entries: Iterable[str]) -> None:
        """Remove entries of the offsets; belongs inside a transaction."""
        self._database.executemany("DELETE FROM offsets WHERE place = ?", ((entry,) for entry in entries))

    def note_drifts(self, drifts: Iterable[Drift], there: Container[str]) -> None:
        """Remember what drifts in rows that are added; belongs inside their transaction.

        Args:
            drifts: in them.
            there: stored names of the columns that they have: of those that only some records lacked nothing is said.
        """
        known = {drift.key: drift for drift in self._drifts()}
        for drift in [*known.values()]:
            if not drift.is_sure and stored_name(drift.name) in there:
                self._database.execute("DELETE FROM drifts WHERE name = ? AND is_new = 0", [drift.name])
                del known[drift.key]
        for drift in drifts:
            if drift.key in known or len(known) < MOST_DRIFTS:
                whole = known[drift.key].and_then(drift) if drift.key in known else drift
                known[drift.key] = whole
                values = (*whole.key, whole.type, whole.first, whole.rows, whole.tabular)
                self._database.execute("INSERT OR REPLACE INTO drifts VALUES (?, ?, ?, ?, ?, ?)", values)

    def drifts(self) -> tuple[Drift, ...]:
        """What drifts in its rows."""
        with self._lock:
            return self._drifts()

    def _drifts(self) -> tuple[Drift, ...]:
        found = self._database.execute("SELECT name, type, first, rows, tabular FROM drifts ORDER BY first, name")
        return tuple(Drift(name, type_, first, rows, bool(tabular)) for name, type_, first, rows, tabular in found)

    def replace_offsets(self, offsets: Mapping[str, str]) -> None:
        """Write offsets so that nothing of those they replace is left in the file, nor in its log."""
        with self._lock:
            self._database.execute("PRAGMA secure_delete = ON")
            with self.transaction():
                self._database.executemany("INSERT OR REPLACE INTO offsets VALUES (?, ?)", offsets.items())
            self._database.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def _contents(self, rows: pa.Table) -> Iterator[_Part]:
        """Rows that come next as parts of the file itself."""
        start = self._start + self.rows
        for first in range(0, rows.num_rows, PART_ROWS):
            part = without_empty_more(rows.slice(first, PART_ROWS))
            content = _content(part)
            yield start + first, part.num_rows, crc32(content), content

    def _file(self, rows: pa.Table) -> _Part:
        """Rows that come next as a file that survives what its transaction survives, there for all machines."""
        path = later_file(self.path.parent)
        self._written.append(path)
        checksum = write_rows(path, without_empty_more(rows))
        if self._durable:
            force_to_disk([str(path)])
        all_stored([str(path)])
        return self._start + self.rows, rows.num_rows, checksum, path.name

    def files(self, start: int, stop: int) -> list[LogFile]:
        """The files that have some of the rows ``[start, stop)``."""
        query = f"SELECT start, rows, checksum, content FROM parts WHERE {_IN_FILES} AND start < ? AND start + rows > ?"
        with self._lock:
            found = self._database.execute(f"{query} ORDER BY start", [stop, start]).fetchall()
        return [LogFile(self.path.with_name(name), first, rows, checksum) for first, rows, checksum, name in found]

    def unnamed(self, paths: Iterable[Path]) -> list[Path]:
        """Those of some files that are its own, and of which the transaction did not end."""
        named = {file.path for file in self.files(0, self._start + self.rows)}
        own = (path for path in paths if path.parent == self.path.parent and path.name.startswith(_LATER))
        return [path for path in own if path not in named]

    def read(self, start: int, stop: int) -> Iterator[pa.Table | LogFile]:
        """The rows ``[start, stop)`` by their positions in the log, in order; or the file that has some of them.

        Raises:
            StreamError: a part has other bytes than were written.
        """
        try:
            with self._lock:
                parts = self._database.execute(
                    "SELECT * FROM parts WHERE start < ? AND start + rows > ? ORDER BY start",
                    [stop, start],
                ).fetchall()
        except sqlite3.DatabaseError as error:
            raise StreamError(f"{self.path} is damaged: {error}", hint="restore the file") from error
        for first, rows, checksum, content in parts:
            if isinstance(content, str):
                yield LogFile(self.path.with_name(content), first, rows, checksum)
                continue
            if crc32(content) != checksum:
                raise StreamError(f"{self.path} is damaged: its rows from {first} on", hint="restore the file")
            with pa.ipc.open_stream(content) as reader:
                part = reader.read_all()
            yield part.slice(max(0, start - first), stop - max(start, first))

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._database.close()

    def _first(self, query: str) -> int | None:
        with self._lock:
            found = self._database.execute(query).fetchone()
        return None if found is None else found[0]


def later_file(folder: Path) -> Path:
    """The path of a new file for rows of a tail.

    Args:
        folder: of the log.
    """
    return folder / f"{_LATER}{uuid.uuid4().hex}.parquet"


def files_of_tail(path: Path) -> dict[str, int]:
    """The names of the files that a tail has beside it, with their checksums; none where there is no tail."""
    if path.exists():
        with closing(sqlite3.connect(path)) as database, suppress(sqlite3.DatabaseError):  # said where it is read
            return dict(database.execute(f"SELECT content, checksum FROM parts WHERE {_IN_FILES}").fetchall())
    return {}


def _content(rows: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer:
        writer.write_table(rows)
    return sink.getvalue().to_pybytes()
