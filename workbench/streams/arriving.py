"""The rows that a batch brings, named by where they are in the stream's log: who needs values reads them.

What is in the log's files a task on another machine can read, too: it is told the files and the positions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from workbench.files.cache import CHECKSUMS
from workbench.files.packs import check_cached
from workbench.streams.log import CHUNK_ROWS, StreamLog
from workbench.streams.row_groups import LogFile


@dataclass(frozen=True)
class ArrivingRows:
    """Rows of one stream, in the order in which they arrive.

    Attributes:
        log: of the stream.
        parts: positions in the log, among them those of late rows, which do not arrive; or rows that were read.
    """

    log: StreamLog
    parts: tuple[range | pa.Table, ...]

    @cached_property
    def rows(self) -> int:
        """The number of rows."""
        return sum(part.num_rows if isinstance(part, pa.Table) else on_time(self.log, part) for part in self.parts)

    def tables(self, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        """The rows, at most 65,536 at a time of those that are read now.

        Args:
            columns: stored names of those to read; all if ``None``.
        """
        for part in self.parts:
            if isinstance(part, pa.Table):
                yield part if columns is None else part.select(columns)
            else:
                for piece in cut_at_multiples(part, CHUNK_ROWS):
                    yield self.log.on_time(piece.start, piece.stop, columns)

    def table(self, columns: Sequence[str] | None = None) -> pa.Table:
        """All rows together."""
        return pa.concat_tables([self.log.on_time(0, 0, columns), *self.tables(columns)], promote_options="default")


def on_time(log: StreamLog, positions: range) -> int:
    """How many rows at some positions are not late."""
    return len(positions) - len(log.late_between(positions.start, positions.stop))


def cut_at_multiples(positions: range, rows: int) -> Iterator[range]:
    """Positions in pieces that end at multiples of a number of rows, as row groups do.

    Example:
        >>> list(cut_at_multiples(range(5, 25), 10))
        [range(5, 10), range(10, 20), range(20, 25)]
    """
    start = positions.start
    while start < positions.stop:
        stop = min(positions.stop, (start // rows + 1) * rows)
        yield range(start, stop)
        start = stop


def without_rows(log: StreamLog) -> StreamLog:
    """The description of how to read a log, without its files: tasks get it once."""
    return replace(
        log, files=(), copied=0, late=np.zeros(0, dtype=np.int64), tail=None, quarantined_first=(), misfits_copied=0,
        checksum=None, guesses={}, notes=(), drifts_copied=(),
    )  # fmt: skip


def files_with(log: StreamLog, positions: range) -> list[LogFile]:
    """The files of a log that have some of the rows at these positions."""
    later = () if log.tail is None else log.tail.files(positions.start, positions.stop)
    return [file for file in (*log.files, *later) if file.has_some(positions.start, positions.stop)]


def are_in_files(log: StreamLog, positions: range) -> bool:
    """Whether all rows at these positions are in files, which tasks can read."""
    start, stop = positions.start, positions.stop
    there = (range(max(file.start, start), min(file.stop, stop)) for file in files_with(log, positions))
    return sum(map(len, there)) == len(positions)


def told_of(log: StreamLog, positions: range) -> dict[str, Any]:
    """The positions of rows in the files of a log, ready for JSON: tasks get it in each batch."""
    return {
        "positions": [positions.start, positions.stop],
        "files": [[str(file.path), *astuple(file)[1:]] for file in files_with(log, positions)],
        "late": log.late_between(positions.start, positions.stop).tolist(),
    }


def as_told(log: StreamLog, told: Mapping[str, Any]) -> ArrivingRows:
    """The rows that a job's driver describes to a task (``told_of``), of a log ``without_rows``."""
    positions = range(*told["positions"])
    files = tuple(LogFile(Path(path), *told_of_it) for path, *told_of_it in told["files"])
    for file in files:
        CHECKSUMS.tell(str(file.path), file.checksum)
        check_cached(str(file.path))
    late = np.array(told["late"], dtype=np.int64)
    return ArrivingRows(replace(log, files=files, copied=positions.stop, late=late), (positions,))
