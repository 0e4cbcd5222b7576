"""Files of a source, on this machine or at a URL, as readable bytes: decompressed, and how much of them is read."""

from __future__ import annotations

import gzip
import io
from pathlib import Path
from typing import Any

import pyarrow as pa

from workbench.streams.files.urls import UrlFile

_BUFFER = 1 << 18
PACKED = (".gz", ".zst")
"""How the names of files end that are compressed."""


class SourceFile(io.BufferedReader):
    """An open file, which is read from its beginning to its end.

    Args:
        file: that may be compressed by gzip or zstd, as its name says.

    Raises:
        StreamError: it is at a URL and cannot be read.
        OSError: it cannot be read.
    """

    def __init__(self, file: Path | UrlFile) -> None:
        self._stored: Any = file.open("rb")
        self._size = self._stored.seek(0, io.SEEK_END) if self._stored.seekable() else 0
        if self._size:
            self._stored.seek(0)
        super().__init__(_unpacked(self._stored, file.suffix.lower()), _BUFFER)

    @property
    def share(self) -> float:
        """How much of it is read, of 1; 0 where that is unknown."""
        return 0.0 if self.closed or not self._size else self._stored.tell() / self._size

    def close(self) -> None:
        """Closes it, and what it is stored in."""
        super().close()
        self._stored.close()


class _Gunzipped(io.RawIOBase):
    """The bytes of a gzip file as far as they are whole: its own ``readinto`` would lose those before a damage."""

    def __init__(self, stored: Any) -> None:
        self._file = gzip.GzipFile(fileobj=stored)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._file.read1(len(buffer))
        buffer[: len(data)] = data
        return len(data)


def _unpacked(stored: Any, suffix: str) -> Any:
    match suffix:
        case ".gz":
            return _Gunzipped(stored)
        case ".zst":
            return pa.CompressedInputStream(pa.PythonFile(stored, "r"), "zstd")
    return stored
