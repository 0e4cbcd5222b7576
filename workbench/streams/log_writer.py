"""Writes a stream's log: rows as Parquet files, quarantined rows as JSON lines, the manifest last."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, astuple
from pathlib import Path
from types import TracebackType

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from workbench.arrow.types import type_of_field
from workbench.files.writing import NewFile, write_file
from workbench.streams.corrections.declared import CORRECTION_COLUMNS, TRANSACTION, Corrections
from workbench.streams.drift import Drift, without_empty_more
from workbench.streams.guessing import Guess
from workbench.streams.lateness import Lateness
from workbench.streams.log import CHUNK_ROWS, LATE, LOG_VERSION, MANIFEST, QUARANTINE, RECORDS
from workbench.streams.row_groups import ROW_GROUP_ROWS
from workbench.streams.source import QuarantinedRow
from workbench.streams.transactions import Transactions

_MARKS = (*CORRECTION_COLUMNS, TRANSACTION)
FILE_ROWS = 8 * CHUNK_ROWS


class LogWriter:
    """Writes chunks of 65,536 rows into files of eight such chunks, and holds one chunk in memory.

    Args:
        name: of the stream.
        folder: of the log; it exists.
        schema: of the rows.
        lateness: how late rows may be, where the stream says so.
        corrections: how rows are taken back, where they are.
        spelled: stored names of columns -> as the source spells them, where that has capital letters.
        guesses: stored names of columns -> what their texts seem to be.
        notes: what else was found out about how the source is written.
        transactions: which transaction each row is of, where the source says so.
        nan_is_null: whether NaN is read as NULL.
    """

    def __init__(
        self,
        name: str,
        folder: Path,
        schema: pa.Schema,
        lateness: Lateness | None,
        corrections: Corrections | None = None,
        spelled: Mapping[str, str] | None = None,
        guesses: Mapping[str, Guess] | None = None,
        notes: Sequence[str] = (),
        transactions: Transactions | None = None,
        nan_is_null: bool = False,
    ) -> None:
        self.rows = 0
        self._name = name
        self._folder = folder
        self._schema = schema
        self._lateness = lateness
        self._corrections = corrections
        self._spelled = spelled or {}
        self._guesses, self._notes, self.transactions = guesses or {}, notes, transactions
        self._nan_is_null = nan_is_null
        self._checksums: dict[str, int] = {}
        self._files: list[tuple[str, int]] = []
        self._waiting: list[pa.Table] = []
        self._waiting_rows = 0
        self._writer: pq.ParquetWriter | None = None
        self._file: NewFile | None = None
        self._quarantine, self._records = NewFile(folder / QUARANTINE), NewFile(folder / RECORDS)
        self._misfits = self._entries = 0
        self._late: list[int] = []
        self._drifts: dict[tuple[str, int], Drift] = {}

    def __enter__(self) -> LogWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._close_file()
        self._quarantine.close()
        self._records.close()

    def append(
        self,
        rows: pa.Table,
        misfits: Sequence[QuarantinedRow],
        late: Sequence[QuarantinedRow],
        drifts: Iterable[Drift] = (),
    ) -> None:
        """Adds rows of the log's schema at the end, and the quarantined rows of the same part of the source.

        Args:
            rows: the rows that fit, late ones among them.
            misfits: rows of the source that do not fit.
            late: the late ones of ``rows``, with their positions in the log.
            drifts: what of the rows drifts.
        """
        for drift in drifts:
            known = self._drifts.get(drift.key)
            self._drifts[drift.key] = drift if known is None else known.and_then(drift)
        self._misfits += len(misfits)
        for entry in sorted([*misfits, *late], key=lambda entry: entry.line):
            fields: dict[str, object] = {"line": entry.line, "text": entry.text, "reason": entry.reason}
            if entry.row is not None:
                fields["row"] = entry.row
                self._late.append(entry.row)
            self._quarantine.write((json.dumps(fields, ensure_ascii=False) + "\n").encode())
            if entry.record is not None:
                self._records.write(f"{json.dumps([self._entries, entry.line, entry.reason, entry.record])}\n".encode())
            self._entries += 1
        self._waiting.append(rows)
        self._waiting_rows += rows.num_rows
        self.rows += rows.num_rows
        if self._waiting_rows >= CHUNK_ROWS:
            self._write_chunks(self._waiting_rows // CHUNK_ROWS * CHUNK_ROWS)

    def finish(self) -> None:
        """Writes what is still in memory, and the manifest, which makes the log complete."""
        self._write_chunks(self._waiting_rows)
        self._close_file()
        self._quarantine.close()
        self._records.close()
        self._checksums |= {QUARANTINE: self._quarantine.checksum, RECORDS: self._records.checksum}
        manifest: dict[str, object] = {
            "version": LOG_VERSION,
            "name": self._name,
            "columns": [[f.name, str(type_of_field(f))] for f in self._schema if f.name not in _MARKS],
            "files": self._files,
            "set_aside_total": self._misfits,
        }
        if self._spelled:
            manifest["spelled"] = self._spelled
        if self._guesses:
            manifest["guesses"] = {name: guess.to_json() for name, guess in self._guesses.items()}
        if self._drifts:
            manifest["drifts"] = [[*astuple(drift)] for drift in self._drifts.values()]
        if self._notes:
            manifest["notes"] = [*self._notes]
        if self._nan_is_null:
            manifest["nan_is_null"] = True
        if self._corrections is not None:
            manifest["corrections"] = asdict(self._corrections)
        if self.transactions is not None:
            manifest["transactions"] = asdict(self.transactions)
        if self._lateness is not None:
            manifest["lateness"] = [self._lateness.time, self._lateness.kind.name, self._lateness.allowed]
            with NewFile(self._folder / LATE) as file:
                np.save(file, np.array(self._late, dtype=np.int64))
            self._checksums[LATE] = file.checksum
        manifest["checksums"] = self._checksums
        write_file(self._folder / MANIFEST, json.dumps(manifest, indent=1, ensure_ascii=False).encode())

    def _write_chunks(self, stop: int) -> None:
        table = pa.concat_tables([self._schema.empty_table(), *self._waiting], promote_options="default")
        for start in range(0, stop, CHUNK_ROWS):
            self._write_chunk(table.slice(start, min(CHUNK_ROWS, stop - start)))
        # A slice would keep all of its table's memory alive; what is left over is less than a chunk.
        self._waiting = [pa.concat_tables([table.slice(stop)]).combine_chunks()]
        self._waiting_rows -= stop

    def _write_chunk(self, chunk: pa.Table) -> None:
        chunk = without_empty_more(chunk)
        if self._writer is not None and self._writer.schema.names != chunk.schema.names:
            self._close_file()  # all rows of a file have members that are no columns, or none
        if self._writer is None:
            name = f"rows-{len(self._files):05d}.parquet"
            self._file = NewFile(self._folder / name)
            self._writer = pq.ParquetWriter(self._file, chunk.schema, compression="zstd")
            self._files.append((name, 0))
        self._writer.write_table(chunk, row_group_size=ROW_GROUP_ROWS)
        name, rows = self._files[-1]
        self._files[-1] = (name, rows + chunk.num_rows)
        if rows + chunk.num_rows >= FILE_ROWS:
            self._close_file()

    def _close_file(self) -> None:
        writer, file, self._writer, self._file = self._writer, self._file, None, None
        if file is not None:
            with file:
                if writer is not None:
                    writer.close()
            self._checksums[self._files[-1][0]] = file.checksum
