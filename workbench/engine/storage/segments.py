"""Segments: files of rows that are written once, and mapped into memory where they are read.

A segment is one Arrow record batch, uncompressed. So opening it costs the same however large it is, columns are read
only where they are needed, and all processes of a machine share the pages.
"""

from __future__ import annotations

import os
import uuid
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pyarrow as pa

from workbench.engine.storage.layout import conform
from workbench.errors import EngineError
from workbench.files.mapped import MAPPED, SMALL_FILE, remove_file
from workbench.files.writing import NewFile, checksum_of, make_folder, write_file
from workbench.limits import LIMITS, Limits


@dataclass(frozen=True, slots=True)
class Segment:
    """A file of rows.

    Attributes:
        path: where it is.
        rows: how many there are.
        checksum: of its bytes (``workbench.files.writing``); ``None`` where it is not known, as in the tasks of a job.
    """

    path: str
    rows: int
    checksum: int | None = None


Run = tuple[Segment, ...]
"""Segments written together: the rows of one change, or of one merge."""


_MARKED: OrderedDict[str, list[Segment]] = OrderedDict()
"""What this process has written with each of the last marks."""

_MOST_MARKS = 64
"""The most marks that are known: a task asks soon for its own."""


class SegmentWriter:
    """Writes rows to segments as they come; ``close`` gives the segments.

    Args:
        folder: of the segments.
        mark: what the names of the files begin with.
        limits: rows of a segment.
    """

    def __init__(self, folder: str, mark: str = "", limits: Limits = LIMITS) -> None:
        self._rows = limits.rows_per_segment
        self._folder = Path(folder)
        self._mark = mark
        self._waiting: list[pa.RecordBatch] = []
        self._written: list[Segment] = []

    def add(self, batch: pa.RecordBatch) -> None:
        """Take some rows."""
        self._waiting.append(batch)
        if sum(b.num_rows for b in self._waiting) >= self._rows:
            self._write()

    def close(self) -> list[Segment]:
        """Write the rest."""
        if any(batch.num_rows for batch in self._waiting):
            self._write()
        if self._mark:
            _MARKED[self._mark] = self._written
            while len(_MARKED) > _MOST_MARKS:
                _MARKED.popitem(last=False)
        return self._written

    def _write(self) -> None:
        # A folder that held no file may be missing in a copy of the session.
        make_folder(self._folder)
        # Strings of more than 2 GiB stay several batches; each becomes a file.
        for batch in pa.Table.from_batches(self._waiting).combine_chunks().to_batches():
            # A random name: what a failed or repeated task wrote is never read.
            path = f"{self._folder}/{self._mark}{uuid.uuid4().hex}.arrow"
            try:
                checksum = _write_small(path, batch) if batch.nbytes <= SMALL_FILE else _write_large(path, batch)
            except BaseException:
                Path(path).unlink(missing_ok=True)  # on a full disk every byte counts
                raise
            self._written.append(Segment(path, batch.num_rows, checksum))
        self._waiting = []


def _write_small(path: str, batch: pa.RecordBatch) -> int:
    """Write a file by one call, which takes half the time, and keep its bytes: they are read next; the checksum."""
    data = pa.BufferOutputStream()
    with pa.ipc.new_file(data, batch.schema) as writer:
        writer.write_batch(batch)
    written = data.getvalue()
    checksum = write_file(Path(path), written)
    MAPPED.keep(path, written)
    return checksum


def _write_large(path: str, batch: pa.RecordBatch) -> int:
    """Write a file column by column, so that its rows are in memory once; the checksum."""
    with NewFile(path) as file, pa.ipc.new_file(file, batch.schema) as writer:
        writer.write_batch(batch)
    return file.checksum


def write_segments(table: pa.Table, folder: Path, limits: Limits = LIMITS) -> Run:
    """Write the rows of a table."""
    writer = SegmentWriter(str(folder), limits=limits)
    for batch in table.to_batches():
        writer.add(batch)
    return tuple(writer.close())


def segments_marked(mark: str, folder: str) -> list[Segment]:
    """The segments of a folder that were written with a mark: by this process, or by another one on this machine."""
    if (written := _MARKED.get(mark)) is not None:
        return written
    paths = [path for path in _beginning(folder, mark) if path.endswith(".arrow")]
    return [Segment(path, open_segment(path).num_rows, checksum_of(path)) for path in paths]


def open_segment(path: str) -> pa.RecordBatch:
    """The rows of a segment, mapped; nothing is read yet."""
    return MAPPED.batch(path)


def check_segments(segments: Iterable[Segment]) -> None:
    """Check that segments have the bytes that were written, before their rows are copied.

    A copy of damaged rows would get a right checksum, and nothing would tell of the damage any more.

    Raises:
        EngineError: a segment has other bytes; the message names the file.
    """
    for segment in segments:
        if segment.checksum is not None and checksum_of(segment.path) != segment.checksum:
            raise EngineError(
                f"{segment.path} is damaged: its bytes are not those that were written",
                hint="close the session, and open it with repair=True to compute it anew from the streams",
            )


def remove_segment(path: str) -> None:
    """Delete a segment and its indexes. A reader that has it open keeps its rows."""
    folder, name = os.path.split(path)
    for file in _beginning(folder, f"{os.path.splitext(name)[0]}."):
        remove_file(Path(file))


def _beginning(folder: str, start: str) -> list[str]:
    """The files of a folder whose names begin so. Names are random: for ``glob`` each would be a pattern to compile."""
    try:
        names = os.listdir(folder)
    except FileNotFoundError:
        return []
    return [os.path.join(folder, name) for name in sorted(names) if name.startswith(start)]


Share = list[tuple[str, int, int]]
"""The input of one task: segments, each with its first row and the number of rows."""


def shares(segments: Iterable[Segment], tasks: int) -> list[Share]:
    """The rows of segments in ``tasks`` parts of about equal size."""
    parts: list[Share] = [[] for _ in range(tasks)]
    for segment in segments:
        cuts = [segment.rows * i // tasks for i in range(tasks + 1)]
        for share, (start, end) in zip(parts, pairwise(cuts), strict=True):
            if end > start:
                share.append((segment.path, start, end - start))
    return parts


def read_share(share: Share, schema: pa.Schema, limits: Limits = LIMITS) -> Iterator[pa.RecordBatch]:
    """The rows of a share in a schema (``conform``), at most ``Limits.rows_handed_on`` at a time."""
    most = limits.rows_handed_on
    for path, start, rows in share:
        batch = open_segment(path)
        for first in range(start, start + rows, most):
            yield conform(batch.slice(first, min(most, start + rows - first)), schema)
