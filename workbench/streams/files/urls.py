"""Files at a URL, read where they are: whatever fsspec knows, as object stores and web servers."""

from __future__ import annotations

import io
import re
import shutil
import tempfile
from dataclasses import dataclass
from itertools import chain
from pathlib import Path, PurePath
from typing import IO, Any

from workbench.errors import EnvironmentProblem, StreamError, nearest
from workbench.errors.secrets import without_secrets
from workbench.streams.addresses.address import shown_address, usable_url
from workbench.streams.files.partitions import split_pattern

_SCHEMES = ("kafka", "postgresql", "https", "s3", "gs", "socket", "lookup+https")
_FOUND = "is the address right, and may this machine read it?"


def is_url(source: str | Path) -> bool:
    """Whether a source is a URL.

    Example:
        >>> is_url("s3://bucket/trades.parquet"), is_url("trades.parquet")
        (True, False)
    """
    return "://" in str(source)


@dataclass(frozen=True)
class UrlFile:
    """A file at a URL, which is opened as a path is.

    Attributes:
        shown: its address, without secrets.
        name: of the file, which says what it is.
    """

    shown: str
    name: str
    _system: Any
    _path: str

    def __str__(self) -> str:
        return self.shown

    @property
    def suffix(self) -> str:
        """The end of its name, with the point."""
        return Path(self.name).suffix

    def below(self, pattern: str) -> PurePath:
        """Its path without the folders that a pattern of URLs names."""
        named = {*split_pattern(pattern)[0].parts}
        return PurePath(*(part for part in PurePath(self._path).parts if part not in named))

    def open(self, mode: str = "rb") -> IO[bytes]:
        """Its bytes; nothing is read that is not asked for.

        Raises:
            StreamError: it cannot be read. So does a later reading.
        """
        try:
            return io.BufferedReader(_Bytes(self._system.open(self._path, mode), self.shown))
        except Exception as error:  # each kind of file system has errors of its own
            raise _unreadable(self.shown, error) from without_secrets(error)

    def open_anywhere(self) -> IO[bytes]:
        """Its bytes, any part of which can be read: those of a server that gives no parts are copied."""
        opened = self.open()
        if opened.seekable():
            return opened
        copy = tempfile.TemporaryFile(prefix="argus-url-")  # noqa: SIM115 - it is returned
        with opened:
            shutil.copyfileobj(opened, copy)
        copy.seek(0)
        return copy


class _Bytes(io.RawIOBase):
    """A file of fsspec, whose errors name its address."""

    def __init__(self, file: Any, shown: str) -> None:
        self._file, self._shown = file, shown

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return self._file.size is not None if hasattr(self._file, "size") else bool(self._file.seekable())

    def readinto(self, buffer: Any) -> int:
        try:
            data = self._file.read(len(buffer))
        except Exception as error:  # as above
            raise _unreadable(self._shown, error) from without_secrets(error)
        buffer[: len(data)] = data
        return len(data)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return int(self._file.seek(offset, whence))

    def tell(self) -> int:
        return int(self._file.tell())

    def close(self) -> None:
        super().close()
        self._file.close()


def _unreadable(shown: str, error: Exception) -> StreamError:
    return StreamError(f"{shown} cannot be read: {error or type(error).__name__}", hint=_FOUND)


def url_files(url: str) -> list[UrlFile]:
    """The files that a URL names, in the order of their names.

    Args:
        url: of a file, or with a pattern: ``"s3://bucket/trades-*.parquet"``. Credentials come from the environment, as
            fsspec reads them, or as ``$NAME`` in the URL of a web server.

    Raises:
        EnvironmentProblem: fsspec is not installed, or not the package for this kind of URL.
        StreamError: there is no such file.
    """
    shown, url = shown_address(url), usable_url(url)
    if re.match("sqlite|mysql|mssql|oracle|duckdb", shown):
        what = f"{shown} is a database, and no file"
        raise EnvironmentProblem(what, hint="pandas.read_sql reads a query of it once, and a PolledQuery follows one")
    if re.fullmatch(r"[\w+]+:/*", shown):
        raise StreamError(f"{shown} names no file", hint=f"as in {shown.partition(':')[0]}://host/trades.csv")
    try:
        import fsspec
    except ImportError:
        raise EnvironmentProblem(f"{shown} is read by fsspec", hint='pip install "argus-workbench[urls]"') from None
    try:
        found = sorted(fsspec.open_files(url, "rb"), key=lambda file: str(file.path))
    except ImportError as error:
        named = re.findall(r'"([\w-]+)"|[Ii]nstall (\w+)', str(error))
        hint = f"pip install {' '.join(filter(None, chain.from_iterable(named)))}" if named else None
        raise EnvironmentProblem(f"{shown} cannot be read: {error}", hint=hint) from without_secrets(error)
    except ValueError as error:  # an unknown protocol
        hint = nearest(shown.partition(":")[0], _SCHEMES) or f"there are {', '.join(_SCHEMES)}, and those of fsspec"
        raise EnvironmentProblem(f"{shown} cannot be read: {error}", hint=hint) from without_secrets(error)
    except Exception as error:  # as above
        raise _unreadable(shown, error) from without_secrets(error)
    if not found:
        raise StreamError(f"no file matches {shown}", hint=_FOUND)
    base = shown.rpartition("/")[0]
    names = [Path(str(file.path).partition("?")[0]).name or "file" for file in found]
    several = len(found) > 1
    return [
        UrlFile(f"{base}/{name}" if several else shown, name, file.fs, str(file.path))
        for name, file in zip(names, found, strict=True)
    ]
