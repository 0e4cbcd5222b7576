"""A stream or table of a session, as the analyst sees it."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.sql.types import DataType
from workbench.streams.log import SetAside
from workbench.streams.replay import Replay


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

    @property
    def set_aside_total(self) -> int:
        """Rows of the source that did not fit its columns."""
        return self.replay.log.set_aside_total

    @property
    def set_aside(self) -> tuple[SetAside, ...]:
        """The first of these rows, each with its line, its text and why it does not fit."""
        return self.replay.log.set_aside
