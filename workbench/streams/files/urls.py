"""Files at a URL, copied to this machine to be read: whatever fsspec knows, as object stores and web servers."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from workbench.errors import EnvironmentProblem, StreamError
from workbench.errors.secrets import without_secrets
from workbench.streams.addresses.address import shown_address, usable_url

_FOUND = "is the address right, and may this machine read it?"


def is_url(source: str | Path) -> bool:
    """Whether a source is a URL.

    Example:
        >>> is_url("s3://bucket/trades.parquet"), is_url("trades.parquet")
        (True, False)
    """
    return "://" in str(source)


def download(url: str, folder: Path) -> list[Path]:
    """Copies of the files that a URL names, in the order of their names.

    Args:
        url: of a file, or with a pattern: ``"s3://bucket/trades-*.parquet"``. Credentials come from the environment, as
            fsspec reads them, or as ``$NAME`` in the URL of a web server.
        folder: for the copies.

    Raises:
        EnvironmentProblem: fsspec is not installed, or not the package for this kind of URL.
        StreamError: there is no such file, or it cannot be read.
    """
    shown, url = shown_address(url), usable_url(url)
    try:
        import fsspec
    except ImportError:
        raise EnvironmentProblem(f"{shown} is read by fsspec", hint='pip install "argus-workbench[urls]"') from None
    try:
        files = sorted(fsspec.open_files(url, "rb"), key=lambda file: str(file.path))
        if not files:
            raise StreamError(f"no file matches {shown}", hint=_FOUND)
        return [_copy(file, folder / f"{number:06}") for number, file in enumerate(files)]
    except (ValueError, ImportError) as error:  # an unknown protocol, and a known one without its package
        raise EnvironmentProblem(f"{shown} cannot be read: {error}") from without_secrets(error)
    except StreamError:
        raise
    except Exception as error:  # each kind of file system has errors of its own
        what = f"{shown} cannot be read: {error or type(error).__name__}"
        raise StreamError(what, hint=_FOUND) from without_secrets(error)


def _copy(file: Any, folder: Path) -> Path:
    """A copy of a file of fsspec, under its own name, which says what it is."""
    folder.mkdir(parents=True)
    path = folder / (Path(str(file.path)).name or "file")
    with file as opened, path.open("wb") as copy:
        shutil.copyfileobj(opened, copy)
    return path
