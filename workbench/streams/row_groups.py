"""The rows of a file of a log, by its row groups. The group that was read last is kept: the next batch of few rows
mostly reads the rows of it that come next.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import lru_cache

import pyarrow as pa
import pyarrow.parquet as pq

_FILES = 64
"""Files of which the columns are known."""
_GROUPS = 4
"""Groups that are kept, of as many streams that are read in turn."""


def read_rows(path: str, start: int, stop: int, columns: Callable[[pa.Schema], list[str]]) -> pa.Table:
    """The rows ``[start, stop)`` of a file; only the row groups that hold them are read.

    Args:
        path: of the file. All of its groups but the last one are of one size.
        start, stop: positions in it.
        columns: which of those that are there are wanted.
    """
    written = os.stat(path).st_mtime_ns
    size, schema = _layout(path, written)
    first, names = start // size, tuple(columns(schema))
    groups = range(first, -(-stop // size))
    table = _kept(path, written, first, names) if len(groups) == 1 else _read(path, groups, names)
    return table.slice(start - first * size, stop - start)


@lru_cache(maxsize=_FILES)
def _layout(path: str, written: int) -> tuple[int, pa.Schema]:
    """How many rows a group has, and the columns; ``written``: when the file was."""
    with pq.ParquetFile(path) as parquet:
        return max(1, parquet.metadata.row_group(0).num_rows), parquet.schema_arrow


@lru_cache(maxsize=_GROUPS)
def _kept(path: str, written: int, group: int, names: tuple[str, ...]) -> pa.Table:
    return _read(path, range(group, group + 1), names)


def _read(path: str, groups: range, names: tuple[str, ...]) -> pa.Table:
    with pq.ParquetFile(path) as parquet:
        return parquet.read_row_groups(list(groups), columns=[*names], use_threads=False)
