"""A folder, also one at an object store, that gets a Parquet file for each batch: there whole or not at all.

A batch that is sent again replaces its file.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from workbench.arrow.stored_values import with_plain_months
from workbench.errors import SessionError
from workbench.files.store import Store, Stored, is_address, store_at, whole_place
from workbench.session.sinks.rows import numbered_changes
from workbench.session.sinks.target import Target
from workbench.sql.algebra.types import DataType

_OWNER = b"argus.sink"
"""Metadata of a file: the sink that wrote it."""
_FILE = re.compile(r"batch-(\d+)\.parquet")
_FOOTER = 65_536
"""Bytes of the end of a file in which its footer mostly is."""
_PROBE = ".argus-try"
"""A file that is written and removed to see whether files can be."""


def check_writable(store: Store) -> None:
    """Try to write a file; a folder of this machine is made where there is none.

    Raises:
        OSError: it cannot be written to.
    """
    store.put(_PROBE, b"")
    store.remove([_PROBE])


class FolderTarget(Target):
    """Writes a Parquet file for each batch.

    Args:
        folder: a path, which is made a folder where there is none, or the address of a folder at an object store.

    Raises:
        ModuleNotFoundError: the address needs obstore, which is not installed.
        ValueError: it is of no kind that obstore knows.
    """

    def __init__(self, folder: str | Path) -> None:
        self._place = whole_place(folder)
        self._store = store_at(self._place)
        self._sink = ""
        self._last = ""

    @property
    def description(self) -> str:
        """The folder."""
        return self._place

    def where(self, query: str) -> str:
        """The folder, by its whole path or its address."""
        return self._place

    def begin(self, sink: str, types: Sequence[DataType]) -> int | None:
        """The number of the last file; none is kept of a folder from which files are moved away."""
        self._sink, self._last, self._store = sink, "", store_at(self._place)
        self._check_own()
        if any(self._store.names("_delta_log")):
            raise SessionError(f"{self._place} is a Delta table", hint=f"delta:{self._place} appends to it")
        check_writable(self._store)
        return int(found[1]) if (found := _FILE.fullmatch(self._last)) else None

    def write(self, query: str, batch: int, changes: pa.Table) -> None:
        """Write the file of the batch, or replace it."""
        self._check_own()
        rows = with_plain_months(numbered_changes(batch, changes))
        written = pa.BufferOutputStream()
        pq.write_table(rows.replace_schema_metadata({_OWNER: self._sink}), written)
        self._last = f"batch-{batch:09d}.parquet"
        self._store.put(self._last, written.getvalue())
        if not is_address(self._place):
            for part in Path(self._place).glob(f".{self._last}.*"):  # of a process that was killed while it wrote
                part.unlink(missing_ok=True)

    def _check_own(self) -> None:
        """Check that this sink has written the last file, or an earlier version, which did not say who writes.

        Raises:
            SessionError: another sink has; its files would be replaced, and the answers be mixed.
        """
        files = (each for each in self._store.top_files(after=self._last) if _FILE.fullmatch(each.name))
        if (last := max(files, default=None)) is None:
            return
        self._last = last.name
        if self._owner(last) not in (None, self._sink.encode()):
            hint = "of another session maybe, or one that was dropped: give another folder, or empty it"
            raise SessionError(f"{self._place} has what another sink has sent", hint=hint)

    def _owner(self, file: Stored) -> bytes | None:
        """The sink that wrote a file, of which the end alone is read: its footer, and before that its length."""
        size = _FOOTER
        while True:
            first = max(0, file.bytes - size)
            end = self._store.get(file.name, first, file.bytes - first)
            size = int.from_bytes(end[-8:-4], "little") + 8
            if size <= len(end) or not first:
                return (pq.read_schema(pa.BufferReader(end)).metadata or {}).get(_OWNER)
