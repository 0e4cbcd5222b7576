"""Delta tables: folders whose log says which of their Parquet files have rows; others were taken out of the table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from workbench.errors import StreamError


def is_delta_table(path: str | Path) -> bool:
    """Whether a folder is a Delta table."""
    return (Path(path) / "_delta_log").is_dir()


def delta_table(path: str | Path) -> Any:
    """The table at a path or URL, with its newest version.

    Raises:
        StreamError: deltalake is not installed, or there is no such table.
    """
    try:
        from deltalake import DeltaTable
        from deltalake.exceptions import DeltaError
    except ImportError as error:
        raise StreamError("Delta tables are read by deltalake", hint="pip install 'argus-workbench[delta]'") from error
    try:
        return DeltaTable(str(path))
    except (DeltaError, OSError, ValueError) as error:
        raise StreamError(f"{path} is no Delta table that can be read: {error}", hint="check the path") from error
