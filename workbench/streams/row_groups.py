"""The files of a log, read by row groups. The last group stays in memory: the next small batch mostly reads it."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from workbench.files.writing import NewFile

ROW_GROUP_ROWS = 16_384
"""Rows of a row group, which a batch reads whole, however few of its rows it takes: at 65,536 that took 29 ms for 4,000
rows of ten columns, and takes 6."""
_FILES = 64
"""Files whose layout is cached."""
_GROUPS = 16
"""Row groups that are cached, one for each stream where streams are read in turn."""


@dataclass(frozen=True, slots=True)
class LogFile:
    """One Parquet file: the rows ``[start, start + rows)`` of its stream.

    Attributes:
        path: of the file.
        start, rows: which rows it has.
        checksum: of its bytes; ``None`` where that is not known.
    """

    path: Path
    start: int
    rows: int
    checksum: int | None = None

    @property
    def stop(self) -> int:
        """The position after its last row."""
        return self.start + self.rows

    def has_some(self, start: int, stop: int) -> bool:
        """Whether some of the rows ``[start, stop)`` are in it."""
        return self.start < stop and start < self.stop


def write_rows(path: Path, rows: pa.Table) -> int:
    """Write rows as a file; its checksum."""
    with NewFile(path) as file:
        pq.write_table(rows, file, row_group_size=ROW_GROUP_ROWS, compression="zstd")
    return file.checksum


def read_rows(path: str, start: int, stop: int, columns: Callable[[pa.Schema], list[str]]) -> pa.Table:
    """The rows ``[start, stop)`` of a file; only the row groups that hold them are read.

    Args:
        path: of the file. All of its groups but the last one are of one size.
        start, stop: positions in it.
        columns: chooses the columns to read from those of the file.
    """
    written = os.stat(path).st_mtime_ns
    size, schema = _layout(path, written)
    first, names = start // size, tuple(columns(schema))
    groups = range(first, -(-stop // size))
    table = _kept(path, written, first, names) if len(groups) == 1 else _read(path, groups, names)
    return table.slice(start - first * size, stop - start)


@lru_cache(maxsize=_FILES)
def _layout(path: str, written: int) -> tuple[int, pa.Schema]:
    """The rows of a row group, and the columns; ``written``, the time of writing, is a part of the cache's key."""
    with pq.ParquetFile(path) as parquet:
        return max(1, parquet.metadata.row_group(0).num_rows), parquet.schema_arrow


@lru_cache(maxsize=_GROUPS)
def _kept(path: str, written: int, group: int, names: tuple[str, ...]) -> pa.Table:
    return _read(path, range(group, group + 1), names)


def _read(path: str, groups: range, names: tuple[str, ...]) -> pa.Table:
    with pq.ParquetFile(path) as parquet:
        return parquet.read_row_groups(list(groups), columns=[*names], use_threads=False)
