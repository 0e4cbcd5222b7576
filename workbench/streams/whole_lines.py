"""The lines of a text file that can be read: whole ones, in UTF-8, up to where the file is cut short."""

from __future__ import annotations

import gzip
import io
import re
import zlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

_CHUNK = 1 << 20
_BLANK_LINE = re.compile(rb"^\r?\n", re.MULTILINE)


class WholeLines:
    """A readable file that ends after the last whole line when its gzip data are truncated or damaged.

    A cut line could look like a good one with a shorter number in it, so it is held back; ``cut`` then says why the
    file ended and ``rest`` holds that line. Lines that are not UTF-8 would stop Arrow; they are left out and kept, with
    their numbers, in ``not_text``. Blank lines Arrow skips without a word. Both are counted, for `physical`.
    """

    def __init__(self, path: Path) -> None:
        self.cut: str | None = None
        self.rest = b""
        self.not_text: list[tuple[int, bytes]] = []
        self.quotes = 0
        self.closed = False
        self._file = _open(path)
        self._ready = memoryview(b"")
        self._ended = False
        self._lines = 0
        self._skipped: list[int] = []

    def __enter__(self) -> WholeLines:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def read(self, size: int) -> bytes:
        """At most ``size`` bytes; none at the end."""
        while not self._ready and not self._ended:
            self._ready = memoryview(self._next_lines())
        part, self._ready = self._ready[:size], self._ready[size:]
        return bytes(part)

    def close(self) -> None:
        """Closes the file."""
        self.closed = True
        self._file.close()

    def physical(self, lines: NDArray[np.int64]) -> NDArray[np.int64]:
        """Line numbers in the file, from ones that count neither blank lines nor those that were left out."""
        skipped = np.array(self._skipped, dtype=np.int64)
        return lines + np.searchsorted(skipped - np.arange(len(skipped)), lines, side="right")

    def _next_lines(self) -> bytes:
        try:
            data = self._file.read1(_CHUNK)
        except (EOFError, OSError, zlib.error) as error:
            self.cut = str(error)
            data = b""
        if not data:
            self._ended = True
            if self.cut is not None or not self.rest:
                return b""
            data = b"\n"
        data = self.rest + data
        end = data.rfind(b"\n") + 1
        self.rest = data[end:]
        return self._readable(data[:end])

    def _readable(self, lines: bytes) -> bytes:
        """The lines without those that are not UTF-8; only a chunk that has such is looked at line by line."""
        try:
            lines.decode()
        except UnicodeDecodeError:
            return b"".join(self._line(line + b"\n") for line in lines.split(b"\n")[:-1])
        self._count(lines)
        return lines

    def _line(self, line: bytes) -> bytes:
        try:
            line.decode()
        except UnicodeDecodeError:
            self._lines += 1
            self._skipped.append(self._lines)
            self.not_text.append((self._lines, line))
            return b""
        self._count(line)
        return line

    def _count(self, lines: bytes) -> None:
        if b"\n\n" in lines or b"\n\r\n" in lines or lines.startswith((b"\n", b"\r\n")):
            before = position = 0
            for match in _BLANK_LINE.finditer(lines):
                before += lines.count(b"\n", position, match.start())
                position = match.start()
                self._skipped.append(self._lines + before + 1)
        self._lines += lines.count(b"\n")
        self.quotes += lines.count(b'"')


def _open(path: Path) -> gzip.GzipFile | io.BufferedReader:
    return gzip.open(path, "rb") if path.suffix.lower() == ".gz" else path.open("rb")
