"""What transactions change of one table, as rows with what each does, and in which transaction."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from workbench.arrow.types import Mask
from workbench.errors import shown
from workbench.streams.corrections.declared import (
    DEBEZIUM_CHANGE,
    DEBEZIUM_UNSENT,
    TAKES_IF_THERE,
    TRANSACTION,
    TRUNCATES,
)
from workbench.streams.corrections.unsent import stated_unsent
from workbench.streams.live.postgres.pgoutput import UNSENT, RowChange, RowTexts
from workbench.streams.live.postgres.replication import lsn_text
from workbench.streams.live.postgres.texts import column_of_texts
from workbench.streams.source import QuarantinedRow

CONTROL = (
    pa.field(DEBEZIUM_CHANGE, pa.int64()),
    pa.field(DEBEZIUM_UNSENT, pa.string()),
    pa.field(TRANSACTION, pa.int64()),
)
"""The columns that say what a row does: it comes or goes, what of it was not sent, and the place of its transaction."""


@dataclass(slots=True)
class _Row:
    """A row with its change, the number of its event, and the position of its transaction."""

    values: RowTexts
    change: int
    event: int
    transaction: int


class ChangedRows:
    """Collects the rows of transactions: those that come, and those that they take back.

    Args:
        columns: of the table.
        identity: those of them by which changes say which row they mean; none where they have whole rows.
        own: names of the stream's columns; others are kept beside them (``drift``).

    Attributes:
        done: how many rows are of transactions that have ended.
    """

    def __init__(self, columns: pa.Schema, identity: Collection[str], own: Collection[str]) -> None:
        self._columns, self._identity, self._own = columns, identity, own
        self._rows = list[_Row]()
        self._transaction, self._event, self.done = 0, 0, 0

    def __len__(self) -> int:
        return len(self._rows)

    def begin(self, transaction: int) -> None:
        """The rows that follow are of a transaction."""
        self._transaction = transaction

    def end(self) -> None:
        """All rows so far are of transactions that have ended."""
        self.done = len(self)

    def put(self, values: RowTexts, change: int = 1, same_event: bool = False) -> None:
        """A row comes, or does what ``change`` says.

        Args:
            same_event: whether it replaces the row before.
        """
        self._event += not same_event
        self._rows.append(_Row(values, change, self._event, self._transaction))

    def apply(self, change: RowChange, places: Mapping[str, int]) -> None:
        """Apply a change.

        Args:
            places: of the columns in its rows; one that is not among them is NULL.
        """
        old, new = (self._picked(values, places) for values in (change.old, change.new))
        if old is not None and new is not None and change.whole_old:
            new = tuple(before if after is UNSENT else after for before, after in zip(old, new, strict=True))
        if old is not None:
            self.put(old, TAKES_IF_THERE)
        if new is not None:
            self.put(new, same_event=old is not None)

    def empty(self) -> None:
        """Remove all rows."""
        self.put((None,) * len(self._columns), TRUNCATES)

    def taken(self, count: int) -> tuple[pa.RecordBatch, list[int], list[QuarantinedRow]]:
        """Takes the first rows out: those that have values of the columns, their events from 1 on, and the others.

        Args:
            count: of the rows.
        """
        rows, left = self._rows[:count], self._rows[count:]
        begin = rows[-1].event if rows else 0
        for row in left:
            row.event -= begin
        self._rows = left
        self._event, self.done = self._event - begin, max(0, self.done - count)
        columns, quarantined, unfit, bad = self._converted(rows)
        missing = [np.array([row.values[at] is UNSENT for row in rows], np.bool_) for at in range(len(self._columns))]
        unsent = stated_unsent(self._columns, missing)
        columns |= {
            # Of a row with such a value at least the one that it replaces goes.
            DEBEZIUM_CHANGE: pa.array(np.where(unfit, TAKES_IF_THERE, [row.change for row in rows]), pa.int64()),
            DEBEZIUM_UNSENT: unsent,
            TRANSACTION: pa.array([row.transaction for row in rows], pa.int64()),
        }
        batch = pa.RecordBatch.from_arrays([*columns.values()], schema=pa.schema([*self._columns, *CONTROL]))
        events = [row.event for row, is_bad in zip(rows, bad, strict=True) if not is_bad]
        return batch.filter(pa.array(~bad)) if bad.any() else batch, events, quarantined

    def _picked(self, values: RowTexts | None, places: Mapping[str, int]) -> RowTexts | None:
        if values is None:
            return None
        return tuple(values[places[name]] if name in places else None for name in self._columns.names)

    def _converted(self, rows: Sequence[_Row]) -> tuple[dict[str, pa.Array], list[QuarantinedRow], Mask, Mask]:
        """The columns, the rows of which a value is none of its column's, where they are, and which say nothing."""
        columns, reasons = dict[str, pa.Array](), dict[int, str]()
        unfit, bad = np.zeros(len(rows), np.bool_), np.full(len(rows), not self._identity)
        for at, (name, type_) in enumerate(zip(self._columns.names, self._columns.types, strict=True)):
            texts = [text if isinstance(text := row.values[at], str) else None for row in rows]
            columns[name], misfit = column_of_texts(texts, type_)
            for place in [] if misfit is None else np.flatnonzero(misfit).tolist():
                unfit[place] = True
                bad[place] |= name in self._identity
                reasons.setdefault(place, f"{name}: {shown(texts[place])} is no {type_}")
        quarantined = [
            QuarantinedRow(place + 1, str([*rows[place].values]), f"at {lsn_text(rows[place].transaction)}: {reason}")
            for place, reason in sorted(reasons.items())
        ]
        return columns, quarantined, unfit, bad & unfit
