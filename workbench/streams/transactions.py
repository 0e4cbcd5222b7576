"""Rows that belong together, since they are of one transaction of the source.

A row of such a log has in ``TRANSACTION`` which transaction it is of. Rows of one stand side by side, and transactions
are in the order of their commits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from workbench.errors import StreamError, nearest
from workbench.sql.algebra.column_names import display_name, stored_name
from workbench.sql.algebra.types import DataType, Kind
from workbench.streams.corrections.declared import EVENT, TRANSACTION
from workbench.streams.files.envelopes import TRANSACTION_BLOCK

_GROWING = (Kind.INTEGER, Kind.DATE, Kind.TIMESTAMP)


@dataclass(frozen=True)
class Transactions:
    """Which transaction a stream's rows are of.

    Attributes:
        column: stored name of the source's column that says it.
        origin: what streams have alike whose transactions are the same.
        growing: whether later transactions have larger ids.
    """

    column: str
    origin: str
    growing: bool = True

    @property
    def type(self) -> pa.DataType:
        """The type of the ids in the log."""
        return pa.int64() if self.growing else pa.string()

    def ids(self, values: pa.ChunkedArray) -> pa.ChunkedArray:
        """The ids of rows from the values of the column.

        Example:
            >>> Transactions("tx", "tx").ids(pa.chunked_array([[7, None]])).to_pylist()
            [7, None]
        """
        if pa.types.is_date(values.type):
            values = values.cast(pa.timestamp("us"))
        return values.cast(self.type)

    def marked(self, rows: pa.Table, given: pa.Table, lines: NDArray[np.int64]) -> pa.Table:
        """Rows for the log with what transaction they are of.

        Args:
            rows: for the log; those of a stream that is corrected have the lines that they are of as their events.
            given: rows of the source, with the column.
            lines: of these.
        """
        ids = self.ids(given.column(self.column))
        if not len(ids):
            ids = pa.chunked_array([pa.nulls(rows.num_rows, self.type)])
        elif EVENT in rows.column_names:
            places = np.searchsorted(lines, rows.column(EVENT).to_numpy())
            ids = ids.take(pa.array(np.minimum(places, max(0, len(lines) - 1))))
        return rows.append_column(TRANSACTION, ids)


def transactions_of(column: str, types: Mapping[str, DataType]) -> Transactions:
    """The transactions that a column identifies; streams whose columns have the same name have the same transactions.

    Args:
        column: its name; of envelopes the block of their transaction.
        types: of the source's columns, by their stored names.

    Raises:
        StreamError: there is no such column.
    """
    stored = stored_name(column)
    if column == TRANSACTION_BLOCK and stored not in types and stored_name(TRANSACTION) in types:
        return Transactions(stored_name(TRANSACTION), column, growing=False)
    if (type_ := types.get(stored)) is None:
        known = [*map(display_name, types)]
        hint = nearest(column, known) or f"one of {', '.join(known)}"
        raise StreamError(f"no column {column} for transactions", hint=hint)
    return Transactions(stored, stored, type_.kind in _GROWING)


def last_begin(ids: pa.ChunkedArray) -> int:
    """Where the last transaction among rows begins.

    Example:
        >>> last_begin(pa.chunked_array([[1, 1, 2, 2]])), last_begin(pa.chunked_array([["a", None]]))
        (2, 1)
    """
    values = ids.combine_chunks().dictionary_encode(null_encoding="encode").indices.to_numpy()
    differs = np.flatnonzero(values[1:] != values[:-1])
    return int(differs[-1]) + 1 if len(differs) else 0
