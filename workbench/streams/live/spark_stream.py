"""A streaming DataFrame of Spark as a live source, so that every connector of Spark is one.

Spark writes each of its micro-batches into a folder of the session, by ``foreachBatch``, and the log takes them
from there: rows wait on disk. Spark repeats a micro-batch after a crash, with the same number and rows, so one that is
there, or in the log already, is left out. Its checkpoint is in the same folder.
Source: Structured Streaming Programming Guide, "Using Foreach and ForeachBatch".
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq

from workbench.errors import StreamError
from workbench.files.shared import journal_of
from workbench.files.writing import make_folder
from workbench.sql.algebra.types import DataType
from workbench.streams.live.reader import Fetched, Offsets, TypedReader
from workbench.streams.source import QuarantinedRow

_NEXT, _FOLDER = "", "folder"
"""The offsets: the next micro-batch with the rows of it that were read, and which folder that is said of."""
_PAUSE = 5.0
"""Seconds after which a query that failed is started again."""
_FIRST = 30.0
"""Seconds to wait at most for the first micro-batch of a query that was just started, or its word of none."""
_HINT = "it is started again in a few seconds"


def is_streaming(source: object) -> bool:
    """Whether a source is a streaming DataFrame."""
    return bool(getattr(source, "isStreaming", False)) and hasattr(source, "writeStream")


class SparkStreamReader(TypedReader):
    """Reads a streaming DataFrame; its query begins with the first rows that are asked for.

    Args:
        frame: of ``spark.readStream``.
        folder: for micro-batches and the checkpoint; it must last as long as the stream does.

    Raises:
        StreamError: its session is in a store.
    """

    gives_records = False

    def __init__(self, frame: Any, folder: Path) -> None:
        if journal_of(folder) is not None:
            hint = "read its topic or its files as a source of the session, as kafka://…"
            raise StreamError("a streaming DataFrame needs a session in a folder", hint=hint)
        super().__init__(_schema(frame), "a streaming DataFrame of Spark")
        self._frame, self._folder = frame, folder
        self._query: Any = None
        self._again, self._said = 0.0, ""

    def widen(self, types: Iterable[tuple[str, DataType]]) -> None:
        """Nothing: Spark says which types there are, and none is taken from first records."""

    def fetch(self, offsets: Offsets, most: int) -> Fetched:
        """Rows of micro-batches that have been written."""
        self._start(offsets.get(_FOLDER))
        over = not self._query.isActive
        rows, count = [pa.RecordBatch.from_pylist([], schema=self._schema)], 0
        batch, read = _place(offsets)
        quarantined = list[QuarantinedRow]()
        for written in self._written():
            number = int(written.name)
            if number < batch:
                shutil.rmtree(written)  # it is in the log
                continue
            try:
                table = self._read(written)
            except (OSError, pa.ArrowException) as error:
                quarantined.append(QuarantinedRow(0, written.name, f"micro-batch {number} cannot be read: {error}"))
                batch, read = number + 1, 0
                continue
            start = read if number == batch else 0
            taken = table.slice(start, most - count)
            rows += taken.to_batches()
            count += taken.num_rows
            stop = start + taken.num_rows
            batch, read = (number + 1, 0) if stop == table.num_rows else (number, stop)
            if count == most:
                break
        taken = count or quarantined
        if not taken and over:
            self._check()
            return Fetched(rows[0], {}, ended=True)
        after = {_NEXT: f"{batch}:{read}", _FOLDER: self._name} if taken else {}
        return Fetched(pa.concat_batches(rows), after, tuple(quarantined))

    def close(self) -> None:
        """Stop the query; its files stay."""
        if self._query is not None:
            self._query.stop()

    @property
    def _name(self) -> str:
        return (self._folder / "name").read_text()

    def _start(self, expected: str | None) -> None:
        """Let the query run, in the folder that the log speaks of."""
        if self._query is not None:
            return
        if time.monotonic() < self._again:
            raise StreamError(self._said, hint=_HINT)
        name = self._folder / "name"
        if not name.exists() and expected is None:
            make_folder(self._folder)
            name.write_text(uuid4().hex)
        if expected is not None and (not name.exists() or name.read_text() != expected):
            hint = "restore the folder, or add the DataFrame as another stream"
            raise StreamError(f"Spark's checkpoint is not in {self._folder} any more", hint=hint)
        checkpoint = (self._folder / "checkpoint").absolute().as_uri()
        writer = self._frame.writeStream.foreachBatch(self._write).option("checkpointLocation", checkpoint)
        self._query = writer.start()
        until = time.monotonic() + _FIRST
        while self._query.isActive and self._query.lastProgress is None and time.monotonic() < until:
            if any(self._written()):
                return
            time.sleep(0.05)

    def _write(self, frame: Any, number: int) -> None:
        """Write a micro-batch, whole or not at all; called by Spark."""
        whole = self._folder / "batches" / f"{number:012d}"
        if not whole.exists():
            part = self._folder / f"{number:012d}.part"
            frame.write.mode("overwrite").parquet(part.absolute().as_uri())
            make_folder(whole.parent)
            part.rename(whole)

    def _check(self) -> None:
        """Say why the query failed, if it did; it is started again after a while."""
        problem = self._query.exception()
        if problem is not None:
            reason = next((line for line in str(problem).splitlines() if line.strip()), type(problem).__name__)
            self._said = f"Spark's streaming query failed: {reason}"
            self._query, self._again = None, time.monotonic() + _PAUSE
            raise StreamError(self._said, hint=_HINT)

    def _written(self) -> Iterator[Path]:
        yield from sorted((self._folder / "batches").glob("[0-9]*"))

    def _read(self, folder: Path) -> pa.Table:
        parts = [pq.read_table(part).cast(self._schema) for part in sorted(folder.glob("*.parquet"))]
        return pa.concat_tables([self._schema.empty_table(), *parts])


def _place(offsets: Offsets) -> tuple[int, int]:
    batch, _, read = offsets.get(_NEXT, "0:0").partition(":")
    return int(batch), int(read)


def _schema(frame: Any) -> pa.Schema:
    """The columns as they are read back from Parquet: times are UTC without a zone."""
    from pyspark.sql.pandas.types import to_arrow_schema

    fields = to_arrow_schema(frame.schema, timezone="UTC")
    times = [pa.timestamp("us") if pa.types.is_timestamp(field.type) else field.type for field in fields]
    return pa.schema([pa.field(field.name, type_) for field, type_ in zip(fields, times, strict=True)])
