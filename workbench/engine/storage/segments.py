"""Segments: files of rows that are written once, and mapped into memory where they are read.

A segment is one Arrow record batch, uncompressed. So opening it costs the same however large it is, columns are read
only where they are needed, and all processes of a machine share the pages.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import chain, pairwise
from operator import attrgetter
from pathlib import Path
from zlib import crc32

import pyarrow as pa

from workbench.engine.storage.buckets import EVERY_BUCKET
from workbench.engine.storage.layout import conform
from workbench.errors import EngineError
from workbench.files.constant_columns import with_runs
from workbench.files.mapped import MAPPED, remove_file
from workbench.files.packs import PACKING, bytes_checksum, bytes_of, file_of
from workbench.files.shared import is_cached, local_path
from workbench.files.writing import NewFile, make_folder, write_file
from workbench.limits import LIMITS, Limits


@dataclass(frozen=True, slots=True)
class Segment:
    """A file of rows, or a part of a pack (``workbench.files.packs``).

    Attributes:
        path: where it is.
        rows: how many there are.
        checksum: of its bytes (``workbench.files.writing``); ``None`` where an older version wrote it.
        bytes: how many it has, known without the file; 0 where that is not known.
        buckets: the set of those that its rows may be of (``buckets``): of every one, where they are not told apart.
        by: the number of the key that these are of (``BucketKey``).
        file: the one that it is, or is in. Every commit compares those of all segments.
    """

    path: str
    rows: int
    checksum: int | None = None
    bytes: int = 0
    buckets: int = EVERY_BUCKET
    by: int = 0
    file: str = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "file", file_of(self.path))

    def buckets_by(self, key: int) -> int:
        """The buckets that its rows may be of by a key."""
        return self.buckets if self.by == key else EVERY_BUCKET


_OPTIONS = pa.ipc.IpcWriteOptions()
"""Those that each file would make for itself."""

Run = tuple[Segment, ...]
"""Segments written together: the rows of one change, or of one merge."""

SegmentFields = tuple[str, int, int | None, int, int, int]
"""A segment in terms of JSON."""


def segment_fields(segment: Segment) -> SegmentFields:
    """A segment as a task answers with it."""
    return segment.path, segment.rows, segment.checksum, segment.bytes, segment.buckets, segment.by


def segments_of(fields: Iterable[SegmentFields]) -> Run:
    """The segments that tasks have answered with."""
    return tuple(Segment(*of_segment) for of_segment in fields)


def files_of(segments: Iterable[Segment]) -> frozenset[str]:
    """The files that have some segments; others may have rows in them, too."""
    return frozenset(map(attrgetter("file"), segments))


class SegmentWriter:
    """Writes rows to segments as they come; ``close`` gives the segments.

    Args:
        folder: of the segments.
        limits: rows and bytes of a segment, bytes of a part of a pack.
        buckets: those of the rows.
        by: the number of their key.
    """

    def __init__(self, folder: str, limits: Limits = LIMITS, buckets: int = EVERY_BUCKET, by: int = 0) -> None:
        self._rows, self._bytes = limits.rows_per_segment, limits.bytes_per_segment
        self._part, self._pack = limits.bytes_per_part, limits.bytes_per_pack
        self._folder, self._buckets, self._by = folder, buckets, by
        self._waiting: list[pa.RecordBatch] = []
        self._written: list[Segment] = []

    def add(self, batch: pa.RecordBatch) -> None:
        """Take some rows."""
        self._waiting.append(batch)
        waiting = self._waiting
        if sum(b.num_rows for b in waiting) >= self._rows and sum(b.nbytes for b in waiting) >= self._bytes:
            self._write()

    def close(self) -> list[Segment]:
        """Write the rest."""
        if any(batch.num_rows for batch in self._waiting):
            self._write()
        return self._written

    def parts(self, batch: pa.RecordBatch) -> Iterable[tuple[pa.RecordBatch, int]]:
        """What is written of rows that came together, each part with its buckets."""
        yield batch, self._buckets

    def _write(self) -> None:
        batches = self._waiting
        if len(batches) > 1:  # strings of more than 2 GiB stay several batches; each becomes a file
            batches = pa.Table.from_batches(batches).combine_chunks().to_batches()
        # What a worker writes for a store is one object, however large it is.
        most = self._pack if is_cached(self._folder) else self._part
        files = list[str]()
        for batch, buckets in chain.from_iterable(map(self.parts, batches)):
            # To ask for the bytes of a slice takes as long as to write it.
            small = batch.get_total_buffer_size() <= most or batch.nbytes <= most
            data = bytes_of_rows(batch) if small else None
            path = None if data is None else PACKING.add(self._folder, data)
            if data is None or path is None:
                path, checksum, size = self._write_file(batch, data)
                files.append(path)
            else:
                checksum, size = crc32(data), data.size
                if size <= self._part:
                    MAPPED.keep(path, batch, data)
            self._written.append(Segment(path, batch.num_rows, checksum, size, buckets, self._by))
        self._waiting = []
        try:
            PACKING.store(self._folder, files)
        except BaseException:
            for path in files:
                Path(local_path(path)).unlink(missing_ok=True)
            raise

    def _write_file(self, batch: pa.RecordBatch, data: pa.Buffer | None) -> tuple[str, int, int]:
        """Write a separate file; its path, checksum and bytes. ``data`` is its content, where that is small."""
        # A folder that held no file may be missing in a copy of the session.
        make_folder(Path(local_path(self._folder)))
        # A random name: what a failed or repeated task wrote is never read.
        path = f"{self._folder}/{uuid.uuid4().hex}.arrow"
        local = local_path(path)
        try:
            checksum, size = _write_large(local, batch) if data is None else (write_file(Path(local), data), data.size)
        except BaseException:
            Path(local).unlink(missing_ok=True)  # on a full disk every byte counts
            raise
        if data is not None:
            MAPPED.keep(path, batch, data)
        return path, checksum, size


def bytes_of_rows(batch: pa.RecordBatch) -> pa.Buffer:
    """The bytes of a file of few rows: to write it by one call takes half the time."""
    data = pa.BufferOutputStream()
    with pa.ipc.new_file(data, batch.schema, options=_OPTIONS) as writer:
        writer.write_batch(batch)
    return data.getvalue()


def _write_large(path: str, batch: pa.RecordBatch) -> tuple[int, int]:
    """Write a file column by column, so that its rows are in memory once; the checksum, and how many bytes it has."""
    rows = with_runs(batch)
    with NewFile(path) as file, pa.ipc.new_file(file, rows.schema) as writer:
        writer.write_batch(rows)
    return file.checksum, file.bytes


def write_segments(
    table: pa.Table, folder: Path, limits: Limits = LIMITS, buckets: int = EVERY_BUCKET, by: int = 0
) -> Run:
    """Write the rows of a table; see ``SegmentWriter``."""
    writer = SegmentWriter(str(folder), limits, buckets, by)
    for batch in table.to_batches():
        writer.add(batch)
    return tuple(writer.close())


def segment_copied_to(segment: Segment, folder: str) -> Segment:
    """A part of a pack in the pack that is filled, where there is one, of a folder.

    Raises:
        EngineError: it is damaged.
    """
    check_segments([segment])
    data = bytes_of(segment.path)
    path = PACKING.add(folder, data)
    return segment if path is None else replace(segment, path=path)


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
        if segment.checksum is not None and bytes_checksum(segment.path) != segment.checksum:
            raise EngineError(
                f"{segment.path} is damaged: its bytes are not those that were written",
                hint="close the session, and open it with repair=True to compute it anew from the streams",
            )


def remove_segments(files: Iterable[str]) -> None:
    """Delete files of rows and their indexes on this machine. A reader that has one open keeps its rows."""
    stems: dict[str, set[str]] = {}
    for file in files:
        folder, name = os.path.split(file)
        if name.startswith("."):  # a part of one, which was never finished
            remove_file(Path(file))
            continue
        stems.setdefault(folder, set()).add(name.partition(".")[0])
    for folder, of_folder in stems.items():
        for name in _names(folder):
            if name.partition(".")[0] in of_folder:
                remove_file(Path(folder, name))


def _names(folder: str) -> list[str]:
    """The names of the files of a folder."""
    try:
        return sorted(os.listdir(folder))
    except FileNotFoundError:
        return []


def that_may_have(segments: Iterable[Segment], buckets: int, key: int = 0) -> Run:
    """The segments that may have rows of some buckets by a key."""
    return tuple(segment for segment in segments if segment.buckets_by(key) & buckets)


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
            number = min(most, start + rows - first)
            # A slice makes its columns anew.
            yield conform(batch if number == batch.num_rows else batch.slice(first, number), schema)
