"""Indexes of a segment: its rows in the order of a key, in a file next to it that is memory-mapped, too.

The first process that looks for a key writes its index, which is removed with its segment. Indexes of few rows, and of
parts of packs, stay in the memory of each process: to make one again takes as long as to write and to open a file.
``key_index`` has the keys that are hashes; the keys that are times are here. PSoup keeps its results sorted by time
(PSoup 3.3, 4.3), so that finding the rows that a window lets in or out costs what their number costs, and not the
number of all rows.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from workbench.arrow.types import Mask, Times, times_of
from workbench.engine.storage.grouping import Positions
from workbench.engine.storage.in_memory import InMemory
from workbench.engine.storage.segments import open_segment
from workbench.files.mapped import MAPPED
from workbench.files.packs import extent_of, is_small_part, session_folder
from workbench.files.shared import local_path
from workbench.files.writing import replacing
from workbench.limits import SESSION_LIMITS
from workbench.sql.windows.bounds import Interval


def _size(columns: list[npt.NDArray[Any]]) -> int:
    return sum(column.nbytes for column in columns)


IN_MEMORY = InMemory(_size)
"""The indexes of this process, of all its sessions."""

_VERSION = 2
"""Goes up when keys get other hashes, or an index other columns: files that older workbenches left are not read."""

Entries = tuple[npt.NDArray[Any], Positions]
"""Keys in order, and where in the segment the row of each stands."""

TimeIntervals = Mapping[str, Interval]
"""For every column with a time its interval; both ends belong to it."""


def sorted_index(segment: str, key: str, make: Callable[[], Entries]) -> Entries:
    """A segment's index.

    Args:
        segment: its path.
        key: names the index among the segment's indexes.
        make: gives its entries, in any order, when the index is not there yet.
    """

    def ordered() -> Entries:
        keys, rows = make()
        order = np.argsort(keys)  # twice as fast as a stable one; equal keys may stand in any order
        return keys[order], rows[order]

    keys, rows = index_columns(segment, key, ordered)
    return keys, rows


def index_columns(segment: str, key: str, make: Callable[[], Sequence[npt.NDArray[Any]]]) -> list[npt.NDArray[Any]]:
    """The columns of a segment's index: arrays of one length, as they were made.

    Args:
        segment: its path.
        key: names the index among the segment's indexes.
        make: gives the columns when the index is not there yet.
    """
    if (known := IN_MEMORY.get((segment, key))) is not None:
        return known
    most = SESSION_LIMITS.of(session_folder(segment)).rows_indexed_in_memory
    if is_small_part(segment) or open_segment(segment).num_rows <= most:
        return IN_MEMORY.add((segment, key), list(make()))
    file, first, _ = extent_of(segment)
    index_file = f"{os.path.splitext(file)[0]}.{first}.{_name(_VERSION, key)}.index"
    try:
        index = MAPPED.batch(index_file)
    except FileNotFoundError:
        _write(Path(index_file), make())
        index = MAPPED.batch(index_file)
    return [_values(column) for column in index.columns]


def rows_within(segment: str, column: str, intervals: Iterable[Interval]) -> Positions:
    """The rows of a segment whose time is in one of some disjoint intervals."""
    times, rows = _time_index(segment, column)
    parts = [
        rows[np.searchsorted(times, i.low, side="left") : np.searchsorted(times, i.high, side="right")]
        for i in intervals
    ]
    return np.concatenate([np.empty(0, dtype=np.int64), *parts])


def count_within(segment: str, column: str, interval: Interval) -> int:
    """How many rows of a segment have their time in an interval."""
    times, _ = _time_index(segment, column)
    first, after = np.searchsorted(times, interval.low), np.searchsorted(times, interval.high, side="right")
    return max(0, int(after) - int(first))


def rows_in_intervals(rows: pa.RecordBatch, extent: TimeIntervals) -> Mask:
    """Which rows have each of their times in its interval; a row without one of the times is outside."""
    inside = np.ones(rows.num_rows, dtype=bool)
    for column, interval in extent.items():
        times, known = times_of(rows.column(column))
        inside &= known & (times >= interval.low) & (times <= interval.high)
    return inside


@lru_cache(maxsize=4_096)
def earliest_time(segment: str, column: str) -> int | None:
    """The least time of a segment's rows, if any has one; it is found without an index."""
    times, known = times_of(open_segment(segment).column(column))
    return int(times[known].min()) if known.any() else None


def _time_index(segment: str, column: str) -> tuple[Times, Positions]:
    def entries() -> tuple[Times, Positions]:
        times, known = times_of(open_segment(segment).column(column))
        rows = np.flatnonzero(known)
        return times[rows], rows

    return sorted_index(segment, f"time {column}", entries)


@lru_cache(maxsize=4_096)
def _name(version: int, key: str) -> str:
    return sha256(f"{version} {key}".encode()).hexdigest()[:16]


def _column(values: npt.NDArray[Any]) -> pa.Array:
    """Numbers, or bytes of one length."""
    if values.dtype.kind != "S":
        return pa.array(values)
    bytes_ = pa.py_buffer(np.ascontiguousarray(values))
    return pa.FixedSizeBinaryArray.from_buffers(pa.binary(values.dtype.itemsize), len(values), [None, bytes_])


def _values(column: pa.Array) -> npt.NDArray[Any]:
    """What ``_column`` made of them."""
    if not pa.types.is_fixed_size_binary(column.type):
        return np.asarray(column.to_numpy())
    width = column.type.byte_width
    return np.frombuffer(column.buffers()[1], dtype=f"S{width}", count=len(column), offset=column.offset * width)


def _write(file: Path, columns: Sequence[npt.NDArray[Any]]) -> None:
    index = pa.RecordBatch.from_arrays(list(map(_column, columns)), names=[str(at) for at in range(len(columns))])
    # Two tasks may write the same index at a time; both write the same bytes, and the last one stays.
    with replacing(Path(local_path(str(file)))) as out, pa.ipc.new_file(out, index.schema) as writer:
        writer.write_batch(index)
