"""A stream's log, replayed batch by batch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import pyarrow as pa

from workbench.errors import StreamError
from workbench.streams.log import ROW_GROUP_ROWS, StreamLog

DEFAULT_BATCH = 1_000


@dataclass(frozen=True)
class Replay:
    """Where a stream's replay stands; immutable, so a batch that failed can be taken again.

    The rows ``[0, history)`` are batch 0; ``position`` is the next row to arrive.
    """

    log: StreamLog
    history: int
    batch: int
    position: int

    @property
    def finished(self) -> bool:
        """Whether every row has arrived."""
        return self.position >= self.log.rows

    def next(self, size: int | None = None) -> tuple[Replay, pa.Table]:
        """The replay after the next batch, and the batch: fewer rows at the end, none after it.

        Rows that come too late are not among them, though they count as rows taken.

        Args:
            size: rows to take, instead of the stream's own batch size; 0 takes none.

        Raises:
            StreamError: ``size`` is no whole number or negative, or the log cannot be read.
        """
        size = self.batch if size is None else _count(self.log, "batch", size, least=0)
        stop = min(self.log.rows, self.position + size)
        return replace(self, position=stop), self.log.on_time(self.position, stop)

    def late_since(self, before: Replay) -> int:
        """How many rows came too late since the replay stood where it stood before."""
        return len(self.log.late_between(before.position, self.position))

    def rewound(self) -> Replay:
        """The replay before its first batch."""
        return replace(self, position=self.history)

    def in_batches_of(self, rows: int) -> Replay:
        """The replay with so many rows in every batch to come.

        Raises:
            StreamError: it is no whole number of at least 1.
        """
        return replace(self, batch=_count(self.log, "batch", rows, least=1))

    def history_tables(self) -> Iterator[pa.Table]:
        """The history in order, in tables of at most 65,536 rows."""
        for start in range(0, self.history, ROW_GROUP_ROWS):
            yield self.log.on_time(start, min(self.history, start + ROW_GROUP_ROWS))

    def arrivals(self, batches: Mapping[int, int]) -> Iterator[tuple[int, pa.Table]]:
        """All rows that have arrived, each with its batch.

        Args:
            batches: how many rows each batch after the history took.
        """
        yield from ((0, table) for table in self.history_tables())
        start = self.history
        for batch, rows in batches.items():
            yield batch, self.log.on_time(start, start + rows)
            start += rows


def start(log: StreamLog, history: int | None = None, batch: int | None = None) -> Replay:
    """A replay before its first batch.

    Args:
        log: the stream's rows.
        history: how many rows have arrived already, 0 if ``None``; all of them if the log has fewer, as a session may
            be tried on a small sample.
        batch: rows per batch, 1,000 if ``None``.

    Raises:
        StreamError: a number is negative, no whole number, or ``batch`` is 0.
    """
    history = 0 if history is None else _count(log, "history", history, least=0)
    history = min(history, log.rows)
    batch = DEFAULT_BATCH if batch is None else _count(log, "batch", batch, least=1)
    return Replay(log, history, batch, history)


def static(log: StreamLog) -> Replay:
    """A table's replay: everything is history and nothing more arrives."""
    return start(log, history=log.rows)


def _count(log: StreamLog, what: str, value: int, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise StreamError(f"stream {log.name}: {what} is {value!r}", hint=f"a whole number of rows, at least {least}")
    return value
