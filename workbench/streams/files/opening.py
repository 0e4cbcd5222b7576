"""Files of a source, on this machine or at a URL, as readable bytes: decompressed, and how much of them is read.

A file says by its first bytes how it is compressed, whatever its name says.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zipfile
from pathlib import Path
from typing import Any

import pyarrow as pa

from workbench.errors import StreamError
from workbench.streams.files.urls import UrlFile

_BUFFER = 1 << 18


class SourceFile(io.BufferedReader):
    """An open file, which is read from its beginning to its end.

    Args:
        file: that may be compressed by gzip, bzip2, xz or zstd, or be the only one in a ZIP archive.

    Attributes:
        inner_name: what the file is called that is read: in an archive it has a name of its own.
        compressed: whether it is, or is in an archive.

    Raises:
        StreamError: it is at a URL and cannot be read, or it is an archive of many files.
        OSError: it cannot be read.
    """

    def __init__(self, file: Path | UrlFile) -> None:
        self._stored: Any = file.open("rb")
        self._size = self._stored.seek(0, io.SEEK_END) if self._stored.seekable() else 0
        if self._size:
            self._stored.seek(0)
        self.inner_name = file.name
        try:
            unpacked = self._unpacked(file)
            self.compressed = unpacked is not self._stored
            super().__init__(unpacked, _BUFFER)
        except BaseException:
            self._stored.close()
            raise

    @property
    def share(self) -> float:
        """The share of the file that is read, from 0 to 1; 0 where that is unknown."""
        return 0.0 if self.closed or not self._size else self._stored.tell() / self._size

    def close(self) -> None:
        """Close the file, and the archive that contains it."""
        super().close()
        self._stored.close()

    def _unpacked(self, file: Path | UrlFile) -> Any:
        first = self._stored.peek(8)
        if first.startswith(b"\x1f\x8b"):
            return _Unpacked(gzip.GzipFile(fileobj=self._stored))
        if first.startswith(b"(\xb5/\xfd"):
            return pa.CompressedInputStream(pa.PythonFile(self._stored, "r"), "zstd")
        if first.startswith(b"\xfd7zXZ\0"):
            return _Unpacked(lzma.LZMAFile(self._stored))
        if first[:3] == b"BZh" and first[4:8] == b"1AY&":
            return _Unpacked(bz2.BZ2File(self._stored))
        return _Unpacked(self._only_member(file)) if first.startswith(b"PK\x03\x04") else self._stored

    def _only_member(self, file: Path | UrlFile) -> Any:
        if isinstance(file, UrlFile):
            self._stored.close()
            self._stored = file.open_anywhere()
        try:
            archive = zipfile.ZipFile(self._stored)
            members = [one.filename for one in archive.infolist() if _is_data(one)]
            if len(members) != 1:
                raise StreamError(
                    f"{file} is an archive of {len(members)} files", hint="unpack it, and give one of them"
                )
            self.inner_name = Path(members[0]).name
            return archive.open(members[0])
        except (zipfile.BadZipFile, RuntimeError, NotImplementedError) as error:  # cut, encrypted, a rare method
            raise StreamError(
                f"the archive {file} cannot be read: {error}", hint="unpack it, and give the file"
            ) from error


def _is_data(member: zipfile.ZipInfo) -> bool:
    """Whether a member of an archive is a file of its own, and none that a system puts beside it."""
    name = Path(member.filename)
    return not (member.is_dir() or name.name.startswith(".") or "__MACOSX" in name.parts)


class _Unpacked(io.RawIOBase):
    """The bytes of a compressed file as far as they are whole; its own ``readinto`` loses those before a damage."""

    def __init__(self, file: Any) -> None:
        self._file = file

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            data = self._file.read1(len(buffer))
        except (lzma.LZMAError, zipfile.BadZipFile) as error:
            raise OSError(str(error)) from error
        buffer[: len(data)] = data
        return len(data)
