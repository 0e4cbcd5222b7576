"""Delta tables: folders whose log says which of their Parquet files have rows; others were taken out of the table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from workbench.errors import StreamError
from workbench.errors.extras import optional_module
from workbench.files.store import is_address, whole_address


def is_delta_table(path: str | Path) -> bool:
    """Whether a folder, or what is at an address of an object store, is a Delta table."""
    if is_address(path):
        found: bool = delta_client().DeltaTable.is_deltatable(whole_address(path), storage_options(path))
        return found
    return (Path(path) / "_delta_log").is_dir()


def storage_options(path: str | Path) -> dict[str, str] | None:
    """The options for deltalake of an object store, which may have no TLS; ``None`` for a folder."""
    return {"allow_http": "true"} if is_address(path) else None


def delta_client() -> Any:
    """The module ``deltalake``.

    Raises:
        StreamError: it is not installed.
    """
    return optional_module("deltalake", "delta", "Delta tables need deltalake", "exceptions")


def delta_table(path: str | Path) -> Any:
    """The table at a path or URL, with its newest version.

    Raises:
        StreamError: deltalake is not installed, or there is no such table.
    """
    delta = delta_client()
    try:
        return delta.DeltaTable(str(path), storage_options=storage_options(path))
    except (delta.exceptions.DeltaError, OSError, ValueError) as error:
        raise StreamError(f"{path} is no Delta table that can be read: {error}", hint="check the path") from error
