"""A stream or table of a session, as the analyst sees it."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from workbench.optimizer.statistics import SAMPLE_ROWS, StreamStatistics, collect
from workbench.sql.algebra.column_names import display_name
from workbench.sql.algebra.types import DataType
from workbench.streams.lateness import Lateness
from workbench.streams.log import SetAside
from workbench.streams.replay import Replay

SLICE_ROWS = 1_000
"""A sample is taken in slices of so many neighbouring rows."""


@dataclass(frozen=True)
class Stream:
    """A stream or table of a session and where its replay stands."""

    replay: Replay
    time: str | None = None
    table: bool = False

    @property
    def name(self) -> str:
        """What queries call it."""
        return self.replay.log.name

    @property
    def columns(self) -> tuple[tuple[str, DataType], ...]:
        """Names and types."""
        return tuple((display_name(name), type_) for name, type_ in self.stored_columns)

    @property
    def stored_columns(self) -> tuple[tuple[str, DataType], ...]:
        """Stored names and types, as its rows have them."""
        return self.replay.log.columns

    @property
    def rows(self) -> int:
        """All rows there are."""
        return self.replay.log.rows

    @property
    def history(self) -> int:
        """Rows that were there from the start."""
        return self.replay.history

    @property
    def batch(self) -> int:
        """Rows that arrive with each batch."""
        return self.replay.batch

    @property
    def position(self) -> int:
        """Rows that have arrived, history included."""
        return self.replay.position

    def statistics(self) -> StreamStatistics:
        """What the rows that have arrived look like, from a sample spread over them."""
        seen, slices = self.position, max(1, SAMPLE_ROWS // SLICE_ROWS)
        if seen <= SAMPLE_ROWS:
            return collect(self.replay.log.on_time(0, seen), seen)
        starts = (seen * i // slices for i in range(slices))
        return collect(pa.concat_tables(self.replay.log.on_time(s, s + SLICE_ROWS) for s in starts), seen)

    @property
    def lateness(self) -> Lateness | None:
        """By how much rows may be late; ``None``: as much as they like."""
        return self.replay.log.lateness

    @property
    def late(self) -> int:
        """Rows that came too late so far, and were set aside."""
        return len(self.replay.log.late_between(0, self.position))

    @property
    def set_aside_total(self) -> int:
        """Rows of the source that do not fit its columns, and those that came too late so far."""
        return self.replay.log.set_aside_total + self.late

    @property
    def set_aside(self) -> tuple[SetAside, ...]:
        """The first of these rows, each with its line, its text and why it was set aside."""
        return tuple(entry for entry in self.replay.log.set_aside if entry.row is None or entry.row < self.position)
