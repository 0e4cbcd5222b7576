"""A Delta table, also at an object store: changes are appended, and the batch number is the transaction's version.

Delta's protocol keeps for an application (``txnAppId``) the last version (``txnVersion``) that it wrote, in the commit
that has the rows, so each batch is there exactly once. Source: Delta Lake protocol, "Transaction Identifiers".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from workbench.arrow.stored_values import with_inner_types, with_plain_months
from workbench.errors import SessionError
from workbench.files.store import store_at, whole_place
from workbench.session.sinks.folder import check_writable
from workbench.session.sinks.rows import numbered_changes
from workbench.session.sinks.target import Target
from workbench.sql.algebra.types import DataType
from workbench.streams.files.delta_table import delta_client, is_delta_table, storage_options

DELTA = "delta:"
_OWNER = "changes that were sent by "
"""The description of a table begins so that a sink has made."""


class DeltaTarget(Target):
    """Appends ``batch``, ``weight`` and the query's columns to a Delta table, which is made where there is none.

    Args:
        folder: of the table, or its address at an object store.

    Raises:
        StreamError: deltalake is not installed.
        ModuleNotFoundError, ValueError: as ``FolderTarget``.
    """

    keeps_numbers = True

    def __init__(self, folder: str) -> None:
        delta_client()
        self._place = whole_place(folder)
        store_at(self._place)
        self._sink, self._is_there = "", False

    @property
    def description(self) -> str:
        """The folder."""
        return f"{DELTA}{self._place}"

    def where(self, query: str) -> str:
        """The folder, by its whole path or its address."""
        return self._place

    def begin(self, sink: str, types: Sequence[DataType]) -> int | None:
        """The version that the table has of this sink."""
        self._sink = f"argus-{sink}"
        self._is_there = is_delta_table(self._place)
        if not self._is_there:
            check_writable(store_at(self._place))
            return None
        version: int | None = self._table().transaction_version(self._sink)
        return version

    def write(self, query: str, batch: int, changes: pa.Table) -> None:
        """Append the batch, in one commit with its number."""
        delta = delta_client()
        self._is_there = self._is_there or is_delta_table(self._place)  # another sink may have made one
        there = self._table() if self._is_there else self._place
        properties = delta.CommitProperties(app_transactions=[delta.Transaction(self._sink, batch)])
        rows = with_plain_months(numbered_changes(batch, changes))
        rows = rows.cast(pa.schema([(field.name, _without_durations(field.type)) for field in rows.schema]))
        owner = f"{_OWNER}{self._sink}"  # of a table that is made now
        delta.write_deltalake(
            there,
            rows,
            mode="append",
            description=owner,
            commit_properties=properties,
            storage_options=storage_options(self._place),
        )
        self._is_there = True

    def _table(self) -> Any:
        """The table.

        Raises:
            SessionError: another sink has made it, so their changes would be mixed.
        """
        table = delta_client().DeltaTable(self._place, storage_options=storage_options(self._place))
        owner = table.metadata().description or ""
        if owner.startswith(_OWNER) and owner != f"{_OWNER}{self._sink}":
            hint = "of another session maybe, or one that was dropped: give another folder, or remove the table"
            raise SessionError(f"{self._place} has what another sink has sent", hint=hint)
        return table


def _without_durations(type_: pa.DataType) -> pa.DataType:
    """Intervals and times of the day as microseconds, since Delta has no such types."""
    is_number = pa.types.is_duration(type_) or pa.types.is_time(type_)
    return pa.int64() if is_number else with_inner_types(type_, _without_durations)
