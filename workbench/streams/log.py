"""One stream's rows on disk: Parquet files in arrival order, read back by row number.

The rows of a stream with corrections have their weights (``corrections``).

What is copied when a stream is added is written once and never changes. Its manifest is written last and the folder
renamed into place after that, so a folder with a manifest is complete. The manifest has the checksums of the other
files, and the session's catalog has that of the manifest. Later rows are in the log's tail (``tail``).
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from workbench.arrow.types import to_column_type, to_field, type_of_field
from workbench.errors import StreamError
from workbench.files.inside import path_inside
from workbench.files.shared import fetch_together, present
from workbench.sql.algebra.column_names import display_name, stored_name
from workbench.sql.algebra.types import DataType
from workbench.streams.added_columns import AddedColumn, stored_names, with_added
from workbench.streams.convert import beyond_years
from workbench.streams.corrections.declared import CORRECTION_COLUMNS, EVENT, TRANSACTION, Corrections
from workbench.streams.drift import Drift
from workbench.streams.files.json_values import MORE, MORE_FIELD
from workbench.streams.guessing import Guess
from workbench.streams.lateness import Lateness
from workbench.streams.nan_values import nan_as_null
from workbench.streams.row_groups import LogFile, read_rows
from workbench.streams.source import QuarantinedRow
from workbench.streams.tail import TAIL, Tail, WaitingRecord, files_of_tail
from workbench.streams.transactions import Transactions, last_begin
from workbench.streams.widened_columns import WidenedColumn

WHOLE, KNOWN_TO, ENDED = "@whole", "@known_to", "@ended"
"""Entries of the offsets in a tail: what is known of its transactions (``StreamLog``)."""
NO_ID = -(2**63)
"""Before the first id of a transaction."""
_LOOKED_AT = 1_000
CHUNK_ROWS = 65_536
"""Rows of a source that are converted and written at a time."""
QUARANTINED_READ = 1_000
"""Quarantined rows that a log has in memory; its file has all."""
MANIFEST = "manifest.json"
RECORDS = "records.jsonl"
"""The file of the records of quarantined rows, each with its place, its line and the reason."""
QUARANTINE = "set_aside.jsonl"
"""The file of quarantined rows, and with ``set_aside_total`` in the manifest the name that version 0.1.0 gave them."""
LATE = "late.npy"
LOG_VERSION = 1
_HINT = "add the stream again; the folder may have been moved or cut short"


@dataclass(frozen=True)
class StreamLog:
    """The rows of one stream or table, in arrival order.

    Attributes:
        schema: of the rows as they are stored; those with members that are no columns have ``MORE``, too (``drift``).
        copied: rows that were copied when the stream was added.
        added: columns that it got later, whose values are read from such members.
        quarantined_first: the first 1,000 rows that were quarantined then; the file ``set_aside.jsonl`` has all.
        misfits_copied: how many rows of the source did not fit the columns then.
        corrections: how rows are taken back; ``None``: the stream is append-only.
        spelled: stored names of columns -> as the source spelled them, where that has capital letters.
        guesses: stored names of columns -> what their texts seem to be, where they were not declared.
        notes: what else was found out about how the source is written.
        widened: columns that have other types than they had then.
        late: positions of the rows that come later than ``lateness`` allows, ascending.
        checksum: of the manifest.
        tail: the rows that came later; ``None``: there never were any.
        transactions: which transaction of the source each row is of; ``None``: it does not say.
        nan_is_null: whether NaN of the source is read as NULL.
    """

    name: str
    folder: Path
    schema: pa.Schema
    copied: int
    files: tuple[LogFile, ...]
    quarantined_first: tuple[QuarantinedRow, ...]
    misfits_copied: int
    lateness: Lateness | None = None
    late: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64), compare=False, repr=False)
    checksum: int | None = None
    corrections: Corrections | None = None
    spelled: Mapping[str, str] = field(default_factory=dict, compare=False)
    guesses: Mapping[str, Guess] = field(default_factory=dict, compare=False)
    notes: tuple[str, ...] = field(default=(), compare=False)
    tail: Tail | None = field(default=None, compare=False, repr=False)
    added: tuple[AddedColumn, ...] = ()
    drifts_copied: tuple[Drift, ...] = field(default=(), compare=False)
    transactions: Transactions | None = None
    widened: tuple[WidenedColumn, ...] = ()
    nan_is_null: bool = False

    def with_widened(self, columns: Sequence[WidenedColumn]) -> StreamLog:
        """The log with columns of other types than they have."""
        by_name = {column.name: column for column in columns}
        schema = pa.schema([by_name[field.name].field if field.name in by_name else field for field in self.schema])
        read_as = {name: by_name[name].guess(self.guesses.get(name)) for name in by_name}
        others = {name: guess for name, guess in self.guesses.items() if name not in by_name}
        guesses = others | {name: guess for name, guess in read_as.items() if guess is not None}
        before = tuple(column for column in self.widened if column.name not in by_name)
        return replace(self, schema=schema, guesses=guesses, widened=(*before, *columns))

    @property
    def is_live(self) -> bool:
        """Whether it is of a live source, and says where that resumes; or of a table that began empty."""
        return self.tail is not None and (not self.copied or bool(self.tail.offsets))

    @property
    def rows(self) -> int:
        """The number of rows."""
        return self.copied + (self.tail.rows if self.tail is not None else 0)

    @property
    def misfits(self) -> int:
        """How many rows of the source do not fit the columns, or cannot be taken back."""
        if self.tail is None:
            return self.misfits_copied
        return self.misfits_copied - len(self.tail.taken_in) + self.tail.misfits

    @property
    def quarantined(self) -> tuple[QuarantinedRow, ...]:
        """The first 1,000 quarantined rows."""
        if self.tail is None:
            return self.quarantined_first
        taken = self.tail.taken_in
        first = [entry for place, entry in enumerate(self.quarantined_first) if place not in taken]
        return (*first, *self.tail.quarantined(QUARANTINED_READ - len(first)))

    def waiting(self, at_most: int = -1) -> Iterator[WaitingRecord]:
        """The quarantined rows whose records are kept, in the order in which they came; as many of the tail's."""
        taken = frozenset[int]() if self.tail is None else self.tail.taken_in
        for place, line, reason, record in map(json.loads, _lines(self.folder / RECORDS)):
            if place not in taken:
                yield WaitingRecord(True, place, line, line, reason, record)
        yield from self.tail.waiting(at_most) if self.tail is not None else ()

    def quarantined_later(self, skip: int) -> tuple[QuarantinedRow, ...]:
        """The first 1,000 rows of a live source that were quarantined after some of ``misfits``."""
        skip -= self.misfits_copied - (len(self.tail.taken_in) if self.tail is not None else 0)
        return self.tail.quarantined(QUARANTINED_READ, max(0, skip)) if self.tail is not None else ()

    @property
    def has_waiting(self) -> bool:
        """Whether there is a quarantined row whose record is kept."""
        return next(self.waiting(1), None) is not None

    def growing(self, durable: bool) -> StreamLog:
        """The log with a tail."""
        return self if self.tail is not None else replace(self, tail=Tail(self.folder / TAIL, self.copied, durable))

    @property
    def columns(self) -> tuple[tuple[str, DataType], ...]:
        """Stored names of the stream's columns, and their types."""
        return (*self.source_columns, *((column.name, column.type) for column in self.added))

    @property
    def source_columns(self) -> tuple[tuple[str, DataType], ...]:
        """The columns that the source had when the stream was added."""
        return tuple(
            (field.name, type_of_field(field))
            for field in self.schema
            if field.name not in (*CORRECTION_COLUMNS, TRANSACTION)
        )

    @property
    def drifts(self) -> tuple[Drift, ...]:
        """How its rows differ from its columns: members that are new, columns that are missing or have NaN."""
        later = self.tail.drifts() if self.tail is not None else ()
        added = {column.name for column in self.added}
        drifts = (drift for drift in (*self.drifts_copied, *later) if drift.is_sure)
        return tuple(drift for drift in drifts if not drift.is_new or stored_name(drift.name) not in added)

    @property
    def whole(self) -> int:
        """How many rows are of transactions of which there are all rows."""
        whole = None if self.tail is None else self.tail.offsets.get(WHOLE)
        return self.rows if whole is None else int(whole)

    @property
    def ended(self) -> bool:
        """Whether there will be no more rows."""
        return not self.is_live or (self.tail is not None and ENDED in self.tail.offsets)

    @property
    def known_to(self) -> int | None:
        """The id up to which there are all transactions, where ids grow; ``None``: there are all."""
        if self.ended:
            return None
        assert self.tail is not None
        if (known := self.tail.offsets.get(KNOWN_TO)) is not None:
            return int(known)
        stop = self.whole
        while stop:
            start = max(0, stop - CHUNK_ROWS)
            if len(ids := self.read(start, stop, [TRANSACTION]).column(0).drop_null()):
                return int(ids[-1].as_py())
            stop = start
        return NO_ID

    def begin_of_last_transaction(self) -> int:
        """The position of the first row of the transaction that the last row is of."""
        looked_at, start, begin = _LOOKED_AT, self.rows, 0
        while start and not begin:
            start, looked_at = max(0, self.rows - looked_at), 4 * looked_at
            begin = last_begin(self.read(start, self.rows, [TRANSACTION]).column(0))
        return start + begin

    def end_of_event(self, stop: int) -> int:
        """The first position from ``stop`` on that does not part the rows of one event: -old and +new."""
        return self._border(stop, EVENT) if self.corrections is not None else stop

    def end_of_transaction(self, stop: int) -> int:
        """The first position from ``stop`` on that parts no event and no transaction."""
        return self._border(stop, TRANSACTION) if self.transactions is not None else self.end_of_event(stop)

    def _border(self, stop: int, mark: str) -> int:
        while 0 < stop < self.rows:
            marks = self.read(stop - 1, stop + _LOOKED_AT, [mark]).column(mark).to_pylist()
            differs = [at for at, other in enumerate(marks[1:]) if other is None or other != marks[0]]
            if differs:
                return stop + differs[0]
            stop += len(marks) - 1
        return stop

    def read(self, start: int, stop: int, columns: Sequence[str] | None = None) -> pa.Table:
        """The rows ``[start, stop)`` in arrival order; as with a Python slice, what lies beyond the end is not there.

        Only the row groups that hold these rows are read.

        Args:
            columns: stored names of those to read; all if ``None``.

        Raises:
            StreamError: a file of the log is missing or damaged.
        """
        stored, added = stored_names(columns, self.added)
        rows = self._stored(start, stop, stored)
        read = with_added(rows, added, len(self.source_columns) if columns is None else rows.num_columns)
        if self.nan_is_null and (self.added or self.widened):
            read = nan_as_null(read)
        return read if columns is None else read.select(columns)

    def members(self) -> Iterator[pa.Array]:
        """The members that are no columns, of all rows that have any, as texts of JSON."""
        for start in range(0, self.rows, CHUNK_ROWS):
            rows = self._stored(start, start + CHUNK_ROWS, [MORE])
            if MORE in rows.column_names:
                yield rows[MORE].drop_null().combine_chunks()

    def _stored(self, start: int, stop: int, stored: Sequence[str] | None) -> pa.Table:
        """Rows as they are stored, those columns of them that are asked for."""
        start, stop = max(0, start), min(stop, self.rows)
        first = bisect_right(self.files, start, key=lambda file: file.start) - 1
        pieces = []
        parts: list[LogFile | pa.Table] = [file for file in self.files[max(0, first) :] if file.has_some(start, stop)]
        if self.tail is not None and stop > self.copied:
            parts += self.tail.read(max(start, self.copied), stop)
        fetch_together(str(part.path) for part in parts if isinstance(part, LogFile))
        for part in parts:
            if isinstance(part, LogFile):
                rows = max(0, start - part.start), min(part.stop, stop) - part.start
                pieces.append(self._read_file(part, *rows, stored))
            else:
                pieces.append(self._as_now(part.select(_there(stored, part.schema))))
        return pa.concat_tables([_of_columns(self.schema, stored).empty_table(), *pieces], promote_options="default")

    def left_over(self, paths: Iterable[Path]) -> list[Path]:
        """Those of the given files that were being written to the log when a process ended."""
        return [] if self.tail is None else self.tail.unnamed(paths)

    def on_time(self, start: int, stop: int, columns: Sequence[str] | None = None) -> pa.Table:
        """The rows of ``read`` without late rows."""
        rows = self.read(start, stop, columns)
        if self.transactions is not None and columns is None:
            rows = rows.drop_columns([TRANSACTION])  # batches are cut by it, and have no use for it
        late = self.late_between(start, stop)
        if not len(late):
            return rows
        return rows.filter(pa.array(~np.isin(np.arange(rows.num_rows), late - max(0, start))))

    def late_between(self, start: int, stop: int) -> NDArray[np.int64]:
        """Positions of the late rows among the rows ``[start, stop)``."""
        first, last = np.searchsorted(self.late, [start, stop])
        return self.late[first:last]

    def _read_file(self, file: LogFile, start: int, stop: int, columns: Sequence[str] | None) -> pa.Table:
        damaged = f"stream {self.name}: its stored rows cannot be read from {file.path}"
        hint = "restore the session's folder, or add the stream again"
        try:
            table = read_rows(present(str(file.path)), start, stop, partial(_there, columns))
            wanted = _of_columns(self.schema, there := _there(columns, table.schema))
            rows = self._as_now(table).cast(wanted.append(MORE_FIELD) if MORE in there else wanted)
        except (OSError, IndexError, pa.ArrowException) as error:  # IndexError: a file without rows
            raise StreamError(damaged, hint=hint) from error
        # No source brings such a time (convert), and Python has none.
        for column, values in zip(rows.column_names, rows.columns, strict=True):
            if beyond_years(values):
                raise StreamError(f"{damaged}: {column} has a time beyond the years 1 to 9999", hint=hint)
        return rows

    def _as_now(self, rows: pa.Table) -> pa.Table:
        """Rows with the types that the columns have now."""
        for column in self.widened:
            place = rows.schema.get_field_index(column.name)
            if place >= 0 and rows.schema.field(place).type != column.field.type:
                values, _ = column.values(rows.column(place).combine_chunks())
                rows = rows.set_column(place, column.field, values)
        return rows


def _of_columns(schema: pa.Schema, columns: Sequence[str] | None) -> pa.Schema:
    return schema if columns is None else pa.schema([schema.field(name) for name in columns if name != MORE])


def _there(columns: Sequence[str] | None, schema: pa.Schema) -> list[str]:
    """Which of some columns a part of the log has: only some parts have ``MORE``."""
    return [*schema.names] if columns is None else [name for name in columns if name in schema.names or name != MORE]


def open_log(folder: Path) -> StreamLog:
    """The log that `workbench.streams.ingest.ingest` wrote into a folder.

    Raises:
        StreamError: the folder holds no complete log, or one of another version.
    """
    manifest, checksum = _manifest(folder)
    try:
        return _log(folder, manifest, checksum)
    except Exception as error:  # what a damaged file makes of any of this
        raise StreamError(f"{folder} holds a stored stream that is damaged: {error}", hint=_HINT) from error


def logged_files(folder: Path) -> dict[str, int | None]:
    """The files of a log besides its manifest, by name, with their checksums; ``None`` in a log that has none.

    Raises:
        StreamError: the manifest cannot be read.
    """
    manifest, _ = _manifest(folder)
    checksums = manifest.get("checksums", {})
    try:
        names = [name for name, _ in manifest["files"]] + [LATE] * ("lateness" in manifest)
        known = {str(name): int(checksum) for name, checksum in checksums.items()}
        return {str(name): None for name in names} | known | files_of_tail(folder / TAIL)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise StreamError(f"{folder / MANIFEST} is damaged: {error}", hint=_HINT) from error


def _older_names(manifest: Mapping[str, Any]) -> bool:
    """Whether columns have the analyst's names: so it was before there were stored names; plain ones are the same."""
    try:
        return any(name != stored_name(display_name(name)) for name, _ in manifest.get("columns", ()))
    except (TypeError, ValueError, AttributeError):
        return False  # it is damaged, which is said where the columns are read


def _manifest(folder: Path) -> tuple[dict[str, Any], int]:
    """The manifest of a log, and its checksum."""
    try:
        content = Path(present(str(folder / MANIFEST))).read_bytes()
        manifest = json.loads(content)
    except (OSError, ValueError) as error:
        message = f"{folder} holds no stored stream: {folder / MANIFEST} is missing or damaged"
        raise StreamError(message, hint=_HINT) from error
    if not isinstance(manifest, dict) or manifest.get("version") != LOG_VERSION or _older_names(manifest):
        raise StreamError(
            f"{folder} was written by another version of the workbench", hint="add the stream again from its source"
        )
    return manifest, crc32(content)


def _log(folder: Path, manifest: Mapping[str, Any], checksum: int) -> StreamLog:
    checksums = manifest.get("checksums", {})
    files = tuple(_files(folder, manifest["files"], checksums))
    late = {"late": np.load(present(str(folder / LATE)))} if "lateness" in manifest else {}
    return StreamLog(
        name=manifest["name"],
        folder=folder,
        schema=log_schema(
            ((name, to_column_type(type_)) for name, type_ in manifest["columns"]),
            "corrections" in manifest,
            transactions := Transactions(**manifest["transactions"]) if "transactions" in manifest else None,
        ),
        copied=(copied := sum(file.rows for file in files)),
        files=files,
        quarantined_first=_first_quarantined(folder),
        misfits_copied=manifest["set_aside_total"],
        lateness=Lateness.stored(*manifest["lateness"]) if late else None,
        checksum=checksum,
        spelled=manifest.get("spelled", {}),
        guesses={name: Guess.of_json(stored) for name, stored in manifest.get("guesses", {}).items()},
        notes=tuple(manifest.get("notes", ())),
        drifts_copied=tuple(Drift(*drift) for drift in manifest.get("drifts", ())),
        tail=Tail(folder / TAIL, copied) if (folder / TAIL).exists() else None,
        corrections=Corrections.stored(**manifest["corrections"]) if "corrections" in manifest else None,
        transactions=transactions,
        nan_is_null=manifest.get("nan_is_null", False),
        **late,
    )


def log_schema(
    columns: Iterable[tuple[str, DataType]], corrected: bool = False, transactions: Transactions | None = None
) -> pa.Schema:
    """The Arrow schema of a log with these columns; one that is corrected has the marks of its rows, too."""
    fields = [to_field(name, type_) for name, type_ in columns]
    fields += [pa.field(mark, pa.int64()) for mark in CORRECTION_COLUMNS if corrected]
    return pa.schema(fields + [pa.field(TRANSACTION, one.type) for one in (transactions,) if one is not None])


def _files(folder: Path, entries: Iterable[tuple[str, int]], checksums: Mapping[str, int]) -> Iterator[LogFile]:
    start = 0
    for name, rows in entries:
        yield LogFile(path_inside(folder, name), start, rows, checksums.get(name))
        start += rows


def _first_quarantined(folder: Path) -> tuple[QuarantinedRow, ...]:
    return tuple(QuarantinedRow(**json.loads(line)) for line in islice(_lines(folder / QUARANTINE), QUARANTINED_READ))


def _lines(path: Path) -> Iterator[str]:
    """The lines of a file; none where there is no file."""
    with suppress(FileNotFoundError), open(present(str(path)), encoding="utf-8") as lines:
        yield from lines
