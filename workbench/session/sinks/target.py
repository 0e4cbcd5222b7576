"""Deliveries of a sink, and the protocol of its target."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol, runtime_checkable

import pandas as pd
import pyarrow as pa

from workbench.sql.algebra.types import DataType


@dataclass(frozen=True)
class AnswerSource:
    """The changes of a query.

    Attributes:
        registration: which registration of its name it is.
        types: gives those of its columns, which may change.
        changes: gives its changes after a batch, in the order of batches, as ``Query.arrow_changes``; ``None``: all.
        latest: the batch that its answer is of.
        line: the line of history that the session has; another one from when on batches are not what they were.
        check: raises where the query was dropped, registered again or disabled.
    """

    registration: str
    types: Callable[[], tuple[DataType, ...]]
    changes: Callable[[int | None], pa.Table]
    latest: Callable[[], int]
    line: Callable[[], int] = lambda: 0
    check: Callable[[], None] = lambda: None


@dataclass(frozen=True)
class Delivery:
    """A delivery: the changes that a target gets at once.

    Attributes:
        number: counts on, also where the session has gone back; the target knows the delivery by it.
        line, batch: the target has the answer of this batch of this line of history then.
    """

    number: int
    line: int
    batch: int


@runtime_checkable
class TakesDeliveries(Protocol):
    """A function, as a target, that tells the batch of the session from the number of the delivery."""

    def __call__(self, batch: int, changes: pd.DataFrame) -> object:
        """Take changes by the number of their delivery, as every function does."""

    def take(self, delivery: Delivery, changes: pd.DataFrame) -> object:
        """Take the changes of a delivery."""


class Target(Protocol):
    """Takes the changes of one batch after the other, all in one thread.

    Attributes:
        keeps_numbers: whether it keeps the number of a batch with its rows, so that it has both or none.
    """

    keeps_numbers: ClassVar[bool] = False

    @property
    def description(self) -> str:
        """The target in words, to show."""

    def where(self, query: str) -> str | None:
        """The place that it writes to, which no second sink may write to; ``None``: others may, too."""
        return None

    def begin(self, sink: str, types: Sequence[DataType]) -> int | None:
        """Get ready, before the first batch and after each failure.

        Args:
            sink: the sink's id.
            types: of the query's columns.

        Returns:
            The number of the last batch of this sink that it has, where it is known.

        Raises:
            SessionError: it has what another sink sent.
            Exception: it cannot be reached; it is tried again later.
        """
        return None

    def claim(self, query: str) -> None:
        """Be the only sink that writes there; called after ``begin``.

        Raises:
            SessionError: another one does.
            Exception: nothing could be written there; it is tried again later.
        """
        return None

    def bring(self, query: str, delivery: Delivery, changes: pa.Table) -> None:
        """Take a delivery; most targets need only its batch and changes.

        Raises:
            Exception: as ``write``.
        """
        self.write(query, delivery.number, changes)

    def write(self, query: str, batch: int, changes: pa.Table) -> None:
        """Take the changes of a batch.

        Args:
            query: its name.
            batch: its number, which grows from one to the next, also where the session has gone back.
            changes: the column ``weight``, then the query's, of the types of ``to_shown``.

        Raises:
            Exception: it could not; the batch is sent again later.
        """

    def close(self) -> None:
        """Close the connections."""
        return None
