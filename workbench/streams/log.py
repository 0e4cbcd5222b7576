"""One stream's rows on disk: Parquet files in arrival order, read back by row number.

A log is written once and never changes. Its manifest is written last and the folder renamed into place after that, so
a folder with a manifest is complete. The manifest has the checksums of the other files, and the session's catalog has
that of the manifest.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Any
from zlib import crc32

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from workbench.errors import StreamError
from workbench.files.writing import NewFile, write_file
from workbench.sql.algebra.column_names import stored_name, written_name
from workbench.sql.algebra.type_names import parse_type
from workbench.sql.algebra.types import DataType, Kind
from workbench.streams.arrow_types import to_arrow, to_data_type
from workbench.streams.convert import beyond_years
from workbench.streams.lateness import Lateness

ROW_GROUP_ROWS = 65_536
FILE_ROWS = 8 * ROW_GROUP_ROWS
SET_ASIDE_KEPT = 1_000
MANIFEST = "manifest.json"
SET_ASIDE = "set_aside.jsonl"
LATE = "late.npy"
_VERSION = 1
_HINT = "add the stream again; the folder may have been moved or cut short"
_TEXT_LENGTH = 200


@dataclass(frozen=True, slots=True)
class LogFile:
    """One Parquet file: the rows ``[start, start + rows)`` of its stream."""

    path: Path
    start: int
    rows: int


@dataclass(frozen=True, slots=True)
class SetAside:
    """A row that does not fit the stream's columns, or comes too late.

    Attributes:
        line: its 1-based line (CSV) or row number in the source.
        text: the row.
        reason: why it was set aside.
        row: where it is in the log, from 0, if it comes too late; what does not fit is not there.
    """

    line: int
    text: str
    reason: str
    row: int | None = None


@dataclass(frozen=True)
class StreamLog:
    """The rows of one stream or table, in arrival order.

    ``set_aside`` holds the first 1,000 rows that do not fit or come too late; the file ``set_aside.jsonl`` in the
    folder holds all of them. ``set_aside_total`` is the number of those that do not fit, and ``late`` has the places of
    those that come later than ``lateness`` allows, in order.
    """

    name: str
    folder: Path
    schema: pa.Schema
    rows: int
    files: tuple[LogFile, ...]
    set_aside: tuple[SetAside, ...]
    set_aside_total: int
    lateness: Lateness | None = None
    late: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64), compare=False, repr=False)
    checksum: int | None = None
    """Of the manifest."""
    checksums: Mapping[str, int] = field(default_factory=dict)
    """Of the other files, by their names; an older log has none."""

    @property
    def columns(self) -> tuple[tuple[str, DataType], ...]:
        """Stored names of the columns, and their types."""
        return tuple((field.name, to_data_type(field.type)) for field in self.schema)

    def read(self, start: int, stop: int) -> pa.Table:
        """The rows ``[start, stop)`` in arrival order; as with a Python slice, what lies beyond the end is not there.

        Only the row groups that hold these rows are read.

        Raises:
            StreamError: a file of the log is missing or damaged.
        """
        start, stop = max(0, start), min(stop, self.rows)
        if start >= stop:
            return self.schema.empty_table()
        first = bisect_right(self.files, start, key=lambda file: file.start) - 1
        pieces = []
        for file in self.files[first:]:
            if file.start >= stop:
                break
            pieces.append(self._read_file(file, max(0, start - file.start), min(file.rows, stop - file.start)))
        return pa.concat_tables(pieces)

    def on_time(self, start: int, stop: int) -> pa.Table:
        """The rows of ``read`` that do not come too late."""
        rows = self.read(start, stop)
        late = self.late_between(start, stop)
        if not len(late):
            return rows
        return rows.filter(pa.array(~np.isin(np.arange(rows.num_rows), late - max(0, start))))

    def late_between(self, start: int, stop: int) -> NDArray[np.int64]:
        """Where among the rows ``[start, stop)`` those are that come too late."""
        first, last = np.searchsorted(self.late, [start, stop])
        return self.late[first:last]

    def _read_file(self, file: LogFile, start: int, stop: int) -> pa.Table:
        first = start // ROW_GROUP_ROWS
        groups = range(first, -(-stop // ROW_GROUP_ROWS))
        damaged = f"stream {self.name}: its stored rows cannot be read from {file.path}"
        hint = "restore the session's folder, or add the stream again"
        try:
            with pq.ParquetFile(file.path) as parquet:
                table = parquet.read_row_groups(list(groups), use_threads=False)
            rows = table.slice(start - first * ROW_GROUP_ROWS, stop - start).cast(self.schema)
        except (OSError, pa.ArrowException) as error:
            raise StreamError(damaged, hint=hint) from error
        # No source brings such a time (convert), and Python has none.
        for column, values in zip(rows.column_names, rows.columns, strict=True):
            if beyond_years(values):
                raise StreamError(f"{damaged}: {column} has a time beyond the years 1 to 9999", hint=hint)
        return rows


class LogWriter:
    """Writes a log's rows in row groups of 65,536 and files of eight such groups, holding one row group in memory."""

    def __init__(self, folder: Path, schema: pa.Schema) -> None:
        self.rows = 0
        self.checksums: dict[str, int] = {}
        """Of the files that are closed, by their names."""
        self._folder = folder
        self._schema = schema
        self._files: list[LogFile] = []
        self._waiting: list[pa.Table] = []
        self._waiting_rows = 0
        self._writer: pq.ParquetWriter | None = None
        self._file: NewFile | None = None

    def __enter__(self) -> LogWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._close_file()

    def append(self, rows: pa.Table) -> None:
        """Adds rows of the log's schema at the end."""
        self._waiting.append(rows)
        self._waiting_rows += rows.num_rows
        self.rows += rows.num_rows
        if self._waiting_rows >= ROW_GROUP_ROWS:
            self._write_groups(self._waiting_rows // ROW_GROUP_ROWS * ROW_GROUP_ROWS)

    def finish(self) -> tuple[LogFile, ...]:
        """Writes what is still in memory and returns the files."""
        self._write_groups(self._waiting_rows)
        self._close_file()
        return tuple(self._files)

    def _write_groups(self, stop: int) -> None:
        table = pa.concat_tables([self._schema.empty_table(), *self._waiting])
        for start in range(0, stop, ROW_GROUP_ROWS):
            self._write_group(table.slice(start, min(ROW_GROUP_ROWS, stop - start)))
        # A slice would keep all of its table's memory alive; what is left over is less than a row group.
        self._waiting = [pa.concat_tables([table.slice(stop)]).combine_chunks()]
        self._waiting_rows -= stop

    def _write_group(self, group: pa.Table) -> None:
        if self._writer is None:
            path = self._folder / f"rows-{len(self._files):05d}.parquet"
            start = sum(file.rows for file in self._files)
            self._file = NewFile(path)
            self._writer = pq.ParquetWriter(self._file, self._schema, compression="zstd")
            self._files.append(LogFile(path, start, 0))
        self._writer.write_table(group, row_group_size=ROW_GROUP_ROWS)
        last = self._files[-1]
        self._files[-1] = LogFile(last.path, last.start, last.rows + group.num_rows)
        if self._files[-1].rows >= FILE_ROWS:
            self._close_file()

    def _close_file(self) -> None:
        writer, file, self._writer, self._file = self._writer, self._file, None, None
        if file is not None:
            with file:
                if writer is not None:
                    writer.close()
            self.checksums[self._files[-1].path.name] = file.checksum


def write_set_aside(out: NewFile, entries: Iterable[SetAside]) -> None:
    """Appends entries to the side file, their text cut to 200 characters."""
    for entry in entries:
        fields: dict[str, object] = {"line": entry.line, "text": entry.text[:_TEXT_LENGTH], "reason": entry.reason}
        if entry.row is not None:
            fields["row"] = entry.row
        out.write((json.dumps(fields, ensure_ascii=False) + "\n").encode())


def write_manifest(
    name: str,
    folder: Path,
    schema: pa.Schema,
    files: Iterable[LogFile],
    set_aside_total: int,
    lateness: Lateness | None,
    late: Sequence[NDArray[np.int64]],
    checksums: Mapping[str, int],
) -> None:
    """Writes what `open_log` needs besides the rows; ``checksums``: of the files that are there already."""
    summed = dict(checksums)
    manifest: dict[str, object] = {
        "version": _VERSION,
        "name": name,
        "columns": [[field.name, str(to_data_type(field.type))] for field in schema],
        "files": [[file.path.name, file.rows] for file in files],
        "set_aside_total": set_aside_total,
    }
    if lateness is not None:
        manifest["lateness"] = [lateness.time, lateness.kind.name, lateness.allowed]
        with NewFile(folder / LATE) as file:
            np.save(file, np.concatenate([np.zeros(0, dtype=np.int64), *late]))
        summed[LATE] = file.checksum
    manifest["checksums"] = summed
    write_file(folder / MANIFEST, json.dumps(manifest, indent=1, ensure_ascii=False).encode())


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
    summed = manifest.get("checksums", {})
    try:
        names = [name for name, _ in manifest["files"]] + [LATE] * ("lateness" in manifest)
        return {str(name): None for name in names} | {str(name): int(sum_) for name, sum_ in summed.items()}
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise StreamError(f"{folder / MANIFEST} is damaged: {error}", hint=_HINT) from error


def _older_names(manifest: Mapping[str, Any]) -> bool:
    """Whether columns have the analyst's names: so it was before there were stored names; plain ones are the same."""
    try:
        return any(name != stored_name(written_name(name)) for name, _ in manifest.get("columns", ()))
    except (TypeError, ValueError, AttributeError):
        return False  # it is damaged, which is said where the columns are read


def _manifest(folder: Path) -> tuple[dict[str, Any], int]:
    """What a log's manifest says, and its checksum."""
    try:
        written = (folder / MANIFEST).read_bytes()
        manifest = json.loads(written)
    except (OSError, ValueError) as error:
        message = f"{folder} holds no stored stream: {folder / MANIFEST} is missing or damaged"
        raise StreamError(message, hint=_HINT) from error
    if not isinstance(manifest, dict) or manifest.get("version") != _VERSION or _older_names(manifest):
        raise StreamError(
            f"{folder} was written by another version of the workbench", hint="add the stream again from its source"
        )
    return manifest, crc32(written)


def _log(folder: Path, manifest: Mapping[str, Any], checksum: int) -> StreamLog:
    files = tuple(_files(folder, manifest["files"]))
    late = {"late": np.load(folder / LATE)} if "lateness" in manifest else {}
    return StreamLog(
        name=manifest["name"],
        folder=folder,
        schema=log_schema((name, parse_type(type_)) for name, type_ in manifest["columns"]),
        rows=sum(file.rows for file in files),
        files=files,
        set_aside=_first_set_aside(folder),
        set_aside_total=manifest["set_aside_total"],
        lateness=_lateness(*manifest["lateness"]) if late else None,
        checksum=checksum,
        checksums=manifest.get("checksums", {}),
        **late,
    )


def _lateness(time: str, kind: str, allowed: int) -> Lateness:
    return Lateness(time, Kind[kind], allowed)


def log_schema(columns: Iterable[tuple[str, DataType]]) -> pa.Schema:
    """The Arrow schema of a log with these columns."""
    return pa.schema([pa.field(name, to_arrow(type_)) for name, type_ in columns])


def _files(folder: Path, entries: Iterable[tuple[str, int]]) -> Iterator[LogFile]:
    start = 0
    for name, rows in entries:
        yield LogFile(folder / name, start, rows)
        start += rows


def _first_set_aside(folder: Path) -> tuple[SetAside, ...]:
    path = folder / SET_ASIDE
    if not path.exists():
        return ()
    with path.open(encoding="utf-8") as lines:
        return tuple(SetAside(**json.loads(line)) for line in islice(lines, SET_ASIDE_KEPT))
