"""Packs: files that hold the contents of many small files, one after the other.

To make a file takes a quarter of a millisecond of the processor, and to remove it or to force it to the disk as much;
to write a thousand rows takes less. So the small files of one batch, or of one task, are collected in memory and
written as one file: once, and whole or not at all. A part of a pack has a name of its own, which stands for a path
wherever rows are read.

Sources: M. Rosenblum, J. Ousterhout, The design and implementation of a log-structured file system (SOSP 1991).
"""

from __future__ import annotations

import os
import threading
import uuid
from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

import pyarrow as pa

from workbench.files.cache import CHECKSUMS
from workbench.files.shared import is_cached, local_path, present, present_part, storing
from workbench.files.writing import NewFile, checksum_of, make_folder
from workbench.limits import SESSION_LIMITS

PACKS = "packs"
"""The folder of packs, beside those of trees."""

_ENDING = ".arrow"
_PART = f"{_ENDING}@"
_ALIGNED = 64
"""Arrow's columns begin at multiples of this."""
_ANY = ""


class Extent(NamedTuple):
    """Where the bytes of a file of rows are: in which file, from where on, and how many; ``None`` for a whole file."""

    file: str
    first: int = 0
    bytes: int | None = None


@lru_cache(maxsize=65_536)
def extent_of(path: str) -> Extent:
    """Where the bytes of a file of rows are, or of a part of a pack.

    Example:
        >>> extent_of("state/packs/7.arrow@64+200")
        Extent(file='state/packs/7.arrow', first=64, bytes=200)
        >>> extent_of("state/G1/3.arrow")
        Extent(file='state/G1/3.arrow', first=0, bytes=None)
    """
    stem, part, extent = path.rpartition(_PART)
    if not part:
        return Extent(path)
    first, _, size = extent.partition("+")
    return Extent(stem + _ENDING, int(first), int(size))


def file_of(path: str) -> str:
    """The file that has the rows of a path."""
    stem, part, _ = path.rpartition(_PART)
    return stem + _ENDING if part else path


@lru_cache(maxsize=65_536)
def session_folder(path: str) -> str:
    """The folder of the session that a file of rows, or a part of a pack, is of: it is in the folder of a tree there.

    Example:
        >>> session_folder("state/packs/7.arrow@64+200"), session_folder("state/G1/3.arrow")
        ('state', 'state')
    """
    return os.path.dirname(os.path.dirname(file_of(path)))


def length_of(path: str) -> int:
    """The number of bytes of a file or a part of a pack."""
    size = extent_of(path).bytes
    return os.path.getsize(present(path)) if size is None else size


def is_small_part(path: str) -> bool:
    """Whether a path is a part of a pack that is read, and not mapped, and has no files of indexes."""
    size = extent_of(path).bytes
    return size is not None and size <= SESSION_LIMITS.of(session_folder(path)).bytes_per_part


class LocalExtent(NamedTuple):
    """Where this machine has the bytes of a path: in which file, from where on, and how many."""

    file: str
    first: int
    bytes: int


def local_extent(path: str) -> LocalExtent:
    """Where this machine has a file or part that is written, fetched if need be.

    Raises:
        FileNotFoundError: there is no such file.
    """
    file, first, size = extent_of(path)
    if size is None:
        local = present(file)
        return LocalExtent(local, 0, os.path.getsize(local))
    local, begin = present_part(file, first, size)
    return LocalExtent(local, first - begin, size)


@dataclass
class _Pack:
    """A pack that is filled.

    Attributes:
        path: of its file.
        bytes: of its parts.
        parts: what was added, by path.
        file: what is written of it so far; ``None`` where nothing is.
        written: how many parts the file has.
    """

    path: str
    bytes: int = 0
    parts: dict[str, pa.Buffer] = field(default_factory=dict)
    file: NewFile | None = None
    written: int = 0

    def add(self, data: pa.Buffer) -> str:
        """Take a part; its path."""
        path = f"{self.path}@{self.bytes}+{data.size}"
        self.parts[path] = data
        self.bytes += _room(data)
        return path

    def write(self) -> None:
        """Write the parts that the file does not have yet."""
        path = Path(local_path(self.path))
        try:
            if self.file is None:
                make_folder(path.parent)
                self.file = NewFile(path, checked=False)
            for part in islice(self.parts.values(), self.written, None):
                self.file.write(part)
                self.file.write(bytes(_room(part) - part.size))
            self.file.flush()
        except BaseException:
            self.remove()  # on a full disk every byte counts
            raise
        self.written = len(self.parts)

    def close(self) -> None:
        """Write all of the file."""
        self.write()
        if self.file is not None:
            self.file.close()

    def leave(self) -> None:
        """Write no more; parts that the file does not have are dropped."""
        if self.file is not None:
            with suppress(OSError):  # there may be no room for the rest
                self.file.close()

    def remove(self) -> None:
        """Remove what is written; it may be written anew."""
        self.leave()
        if self.file is not None:
            Path(local_path(self.path)).unlink(missing_ok=True)
        self.file, self.written = None, 0


def _room(part: pa.Buffer) -> int:
    return -(-part.size // _ALIGNED) * _ALIGNED


class Packs:
    """The packs that this process fills: one for each folder, about as large as its session lets them be."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._collecting: list[str] = []
        self._filled: dict[str, _Pack] = {}
        self._storing: dict[str, list[Future[None]]] = {}
        """What a store was asked to take of files in a folder, and is not known to have."""

    @contextmanager
    def collecting(self) -> Iterator[None]:
        """Collect small files of any folders within the context; files that are not written by its end are dropped."""
        self.begin(_ANY)
        try:
            yield
        finally:
            self.end(_ANY)

    def begin(self, above: str) -> None:
        """Collect small files of the folders in a folder from now on; ``seal`` writes them."""
        with self._lock:
            self._collecting.append(above)

    def end(self, above: str) -> None:
        """End one of the nested collections of a folder; after the last one, files that are not written are dropped."""
        with self._lock:
            self._collecting.remove(above)
            for folder in [*self._filled, *self._storing]:
                if not self._collects(folder):
                    self.drop(folder)

    def drop(self, above: str) -> None:
        """Forget the collected files that are not written, or that a store does not have yet."""
        with self._lock:
            if (pack := self._filled.pop(above, None)) is not None:
                pack.remove()
            self._storing.pop(above, None)

    def add(self, folder: str, data: pa.Buffer) -> str | None:
        """Take the bytes of a small file of a folder; its path, or ``None`` where nothing is collected."""
        above = os.path.dirname(folder)
        with self._lock:
            if not self._collects(above):
                return None
            if above not in self._filled:
                self._filled[above] = _Pack(f"{above}/{PACKS}/{uuid.uuid4().hex}{_ENDING}")
            path = self._filled[above].add(data)
            if self._filled[above].bytes > SESSION_LIMITS.of(above).bytes_per_pack:
                self._write()
            return path

    def store(self, folder: str, files: Iterable[str]) -> None:
        """Let the store of a folder, if it has one, take files that were written in it.

        Where small files are collected, ``seal`` waits for the store, and work goes on until then.

        Raises:
            OSError: the store did not take one, as far as that is known.
        """
        above = os.path.dirname(folder)
        with self._lock:
            collects, asked = self._collects(above), storing(files)
            if collects and asked:
                self._storing.setdefault(above, []).extend(asked)
        for file in () if collects else asked:
            file.result()

    def show(self, above: str = _ANY) -> None:
        """Write the collected files for other processes of this machine; the packs go on being filled.

        Args:
            above: whose files are read; those of all sessions of this process unless given.

        Raises:
            OSError: it cannot be written.
        """
        with self._lock:
            for folder, pack in self._filled.items():
                if above in (_ANY, folder):
                    pack.write()

    def leave(self) -> None:
        """Begin new packs; of the files that were collected those that were shown stay."""
        with self._lock:
            for pack in self._filled.values():
                pack.leave()
            self._filled.clear()

    def seal(self, above: str = _ANY) -> None:
        """Write the collected files, and wait for the store: other processes read them next, or a commit names them.

        Args:
            above: whose files are read or named; those of all sessions of this process unless given.

        Raises:
            OSError: it cannot be written, or the store did not take all of it.
        """
        self._write()
        with self._lock:
            asked = {folder: [*files] for folder, files in self._storing.items() if above in (_ANY, folder)}
        for file in chain.from_iterable(asked.values()):
            file.result()
        with self._lock:
            for folder, files in asked.items():
                self._storing[folder] = [file for file in self._storing.get(folder, ()) if file not in files]

    def _write(self) -> None:
        """Write the packs, and let their stores take them."""
        with self._lock:
            for above, pack in self._filled.items():
                pack.close()
                self.store(f"{above}/{PACKS}", [pack.path])
            self._filled.clear()

    def fills(self, file: str) -> bool:
        """Whether a file is a pack that is not written yet."""
        with self._lock:
            return any(pack.path == file for pack in self._filled.values())

    def waiting(self, path: str) -> pa.Buffer | None:
        """The bytes of a part that is not written yet."""
        with self._lock:
            return next((pack.parts[path] for pack in self._filled.values() if path in pack.parts), None)

    def _collects(self, folder: str) -> bool:
        return _ANY in self._collecting or folder in self._collecting


PACKING = Packs()
"""The packs of this process."""


def bytes_of(path: str) -> pa.Buffer:
    """The bytes of a small file, or of a part of a pack."""
    if (data := PACKING.waiting(path)) is not None:
        return data
    file, first, size = local_extent(path)
    with open(file, "rb", buffering=0) as opened:
        return pa.py_buffer(os.pread(opened.fileno(), size, first))


def check_cached(path: str) -> None:
    """Compare a worker's copy of a file from a store with the checksum that its job has.

    Raises:
        OSError: it is not what was written, also in the store.
    """
    if is_cached(path):
        CHECKSUMS.check(path, bytes_checksum, lambda path: Path(local_extent(path).file).unlink(missing_ok=True))


def bytes_checksum(path: str) -> int:
    """The checksum of the bytes of a file, or of a part of a pack."""
    if (data := PACKING.waiting(path)) is not None:
        return crc32(data)
    file, first, size = local_extent(path)
    return checksum_of(file, size, first)
