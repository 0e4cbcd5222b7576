"""Writes the files of a session: with a mode for their readers, a checksum, and as a whole or not at all.

Who may read a file follows from the folder that it is made in, so a Spark worker that knows a folder needs no more. A
folder for its owner alone (0700) has files of mode 0600; one for a group (2770, so that all below it belongs to that
group) has files of 0660. The umask of a process plays no part.

The checksum is CRC-32 of zlib, computed while writing. It finds every change of up to 32 bits in a row, and any other
one but for one in four thousand million. It guards against broken disks and copies, not against people.
"""

from __future__ import annotations

import io
import os
import shutil
import stat
import uuid
from collections.abc import Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from sys import maxsize
from typing import TYPE_CHECKING, Any
from zlib import crc32

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

FOR_OWNER, FOR_GROUP = 0o700, 0o2770
"""Modes of a session's folder."""

_AT_A_TIME = 1 << 20
"""Bytes of a file that are read, or written, together."""


class NewFile(io.RawIOBase):
    """A file that is written from its start to its end; ``checksum`` is that of the ``bytes`` so far.

    Args:
        path: of the file; an older file is overwritten.
        checked: whether there is a checksum; parts of a pack have their own.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "rows"
        >>> with NewFile(path) as file:
        ...     size = file.write(b"all of it")
        >>> file.checksum == checksum_of(path), oct(path.stat().st_mode & 0o777)
        (True, '0o600')
    """

    def __init__(self, path: str | Path, checked: bool = True) -> None:
        super().__init__()
        self.checksum = self.bytes = 0
        self._checked = checked
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            _give_mode(descriptor, 0o660 if is_for_group(os.path.dirname(path) or ".") else 0o600)
            self._file = open(descriptor, "wb", buffering=_AT_A_TIME)  # noqa: SIM115
        except BaseException:
            os.close(descriptor)
            raise

    def writable(self) -> bool:
        """Yes."""
        return True

    def write(self, data: ReadableBuffer, /) -> int:
        """Write all of some bytes."""
        if self._checked:
            self.checksum = crc32(data, self.checksum)
        written = self._file.write(data)
        self.bytes += written
        return written

    def tell(self) -> int:
        """The number of bytes written."""
        return self.bytes

    def flush(self) -> None:
        """Hand the written bytes to the system."""
        if not self._file.closed:
            self._file.flush()

    def close(self) -> None:
        """Write the rest, and close the file."""
        if not self.closed:
            try:
                self._file.close()
            finally:
                super().close()


def checksum_of(path: str | Path, size: int | None = None, first: int = 0) -> int:
    """The checksum of a file's bytes, or of some of them: ``size`` bytes from ``first`` on.

    Raises:
        OSError: it cannot be read.
    """
    with open(path, "rb", buffering=0) as file:
        file.seek(first)
        return checksum_of_next(file, maxsize if size is None else size)


def checksum_of_next(file: Any, size: int) -> int:
    """The checksum of the next bytes of an open file, ``size`` of them at most."""
    checksum, buffer = 0, memoryview(bytearray(min(size, _AT_A_TIME)))
    while count := file.readinto(buffer[:size]):
        checksum = crc32(buffer[:count], checksum)
        size -= count
    return checksum


def ensure_file(path: Path) -> None:
    """Make an empty file unless there is one."""
    if not path.exists():
        NewFile(path).close()


def copy_file(source: str | Path, target: Path) -> None:
    """Copy the bytes of a file to a new one."""
    with open(source, "rb") as there, NewFile(target) as file:
        shutil.copyfileobj(there, file, _AT_A_TIME)


def write_file(path: Path, data: ReadableBuffer) -> int:
    """Write a small file at once; its checksum."""
    with NewFile(path) as file:
        file.write(data)
    return file.checksum


@contextmanager
def replacing(path: Path) -> Iterator[NewFile]:
    """A new file that replaces ``path`` once it is complete; on an error it is removed.

    When the process is killed, a part of it may stay. It has a hidden name, so readers of the folder skip it.
    """
    part = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    try:
        with NewFile(part) as file:
            yield file
        os.replace(part, path)
    except BaseException:
        part.unlink(missing_ok=True)  # on a full disk every byte counts
        raise


def make_folder(path: Path) -> None:
    """Make a folder, and the missing ones above it, each with the mode of the folder above it."""
    if path.is_dir():
        return
    make_folder(path.parent)
    path.mkdir(exist_ok=True)
    make_like(path, path.parent)


def make_like(folder: Path, other: Path) -> None:
    """Give a folder the mode of another one: for the owner alone, or for a group."""
    mode = FOR_GROUP if is_for_group(other) else FOR_OWNER
    if stat.S_IMODE(os.stat(folder).st_mode) != mode:
        os.chmod(folder, mode)


def is_for_group(folder: str | Path) -> bool:
    """Whether a folder is for a group, and not for its owner alone."""
    return os.stat(folder).st_mode & FOR_GROUP == FOR_GROUP


def _give_mode(descriptor: int, mode: int) -> None:
    if stat.S_IMODE(os.fstat(descriptor).st_mode) != mode:
        os.fchmod(descriptor, mode)


AT_A_TIME = 16
"""Files that are forced to the disk together: the file system writes its journal once for all that wait, which
takes 15 to 20 ms for 30 files in 15 folders, where one after the other takes 280 ms (ext4)."""


def force_to_disk(files: Collection[str]) -> None:
    """Return when the disk has some files, and the names under which they are found.

    Raises:
        OSError: the disk is full, or broken.
    """
    folders = {str(folder) for file in files for folder in list(Path(file).parents)[:2]}
    with ThreadPoolExecutor(AT_A_TIME, thread_name_prefix="argus-disk") as pool:
        # Names last: a name on the disk must not precede the bytes of its file. ``list`` raises what a thread raised.
        list(pool.map(_force, files))
        list(pool.map(_force, folders))


def _force(path: str) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
