"""A folder that gets a Parquet file for each batch: there whole or not at all, and one sent again replaces its file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from workbench.arrow.stored_values import with_plain_months
from workbench.errors import SessionError
from workbench.files.writing import make_folder, replacing
from workbench.session.sinks.rows import numbered_changes
from workbench.session.sinks.target import Target
from workbench.sql.algebra.types import DataType

_OWNER = b"argus.sink"
"""Metadata of a file: the sink that wrote it."""


def check_writable(folder: Path) -> None:
    """Make a folder where there is none, and try to write a file.

    Raises:
        OSError: it cannot be written to.
    """
    make_folder(folder)
    part = folder / ".argus-try"
    with replacing(part) as file:
        file.write(b"")
    part.unlink(missing_ok=True)


class FolderTarget(Target):
    """Writes a Parquet file for each batch.

    Args:
        folder: is made where there is none.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._sink = ""

    @property
    def description(self) -> str:
        """The folder."""
        return str(self._folder)

    def where(self, query: str) -> str:
        """The folder, by its whole path."""
        return str(self._folder.resolve())

    def begin(self, sink: str, types: Sequence[DataType]) -> int | None:
        """The number of the last file; none is kept of a folder from which files are moved away."""
        self._sink = sink
        check_writable(self._folder)
        if (last := self._last()) is None:
            return None
        self._check_own(last)
        return int(last.stem.partition("-")[2])

    def write(self, query: str, batch: int, changes: pa.Table) -> None:
        """Write the file of the batch, or replace it."""
        if (last := self._last()) is not None:
            self._check_own(last)
        rows = with_plain_months(numbered_changes(batch, changes))
        path = self._folder / f"batch-{batch:09d}.parquet"
        with replacing(path) as file:
            pq.write_table(rows.replace_schema_metadata({_OWNER: self._sink}), file)
        for part in self._folder.glob(f".{path.name}.*"):  # of a process that was killed while it wrote
            part.unlink(missing_ok=True)

    def _last(self) -> Path | None:
        return max(self._folder.glob("batch-*.parquet"), default=None)

    def _check_own(self, file: Path) -> None:
        """Check that this sink has written a file, or an earlier version, which did not say who writes.

        Raises:
            SessionError: another sink has; its files would be replaced, and the answers be mixed.
        """
        owner = (pq.read_schema(file).metadata or {}).get(_OWNER)
        if owner not in (None, self._sink.encode()):
            hint = "of another session maybe, or one that was dropped: give another folder, or empty it"
            raise SessionError(f"{self._folder} has what another sink has sent", hint=hint)
