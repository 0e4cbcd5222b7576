"""The files of rows that this process has in its memory, mapped or, when small, read: a bounded number, and few that
were removed.

A map outlives its file: while any process has it, the disk keeps the rows of a removed file. So this process removes
files through this module. Other processes remove files too (Spark's Python workers read what the driver removes), so
from time to time all maps are checked, and those of removed files are dropped.

Arrow's maps need no descriptor once their file is closed, so a process with thousands of maps has no more descriptors
than one without. (Those of ``numpy`` and ``mmap`` keep one each.)
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

from workbench.files.constant_columns import without_runs
from workbench.files.packs import PACKING, bytes_of, check_cached, file_of, is_small_part, local_extent, session_folder
from workbench.files.shared import local_path, removed, stored_below
from workbench.files.writing import make_like
from workbench.limits import SESSION_LIMITS

_MOST = 4_096
"""The most files that are mapped; Linux allows a process 65,530 maps. A file takes 0.1 ms to be mapped again."""
SMALL_FILE = 32 * 1024
"""Bytes of a file that is read instead: that takes a third of the time, since a map is filled page by page when it is
first used. Nearly all files of a batch of some thousand rows are smaller."""

LOOKING = 1.0
"""Seconds from one check of all files to the next; more where a check takes long, as on a network's disk."""
LOOKING_SHARE = 0.01
"""The largest share of time that checks may take. A file takes a microsecond on a local disk."""


@dataclass
class _Known:
    """What is in memory of one file: the rows of it, or of parts of it; of some as this process has written them.

    Attributes:
        rows: by path.
        written: the paths of those that this process has written.
        places: the files of this machine that have the rows.
        bytes: that were read.
    """

    rows: dict[str, pa.RecordBatch] = field(default_factory=dict)
    written: set[str] = field(default_factory=set)
    places: set[str] = field(default_factory=set)
    bytes: int = 0


class MappedFiles:
    """The maps of one process. A file, or a part of a pack, is one Arrow record batch, written once and read in place.

    A batch stays readable for as long as a caller has it, also when its map was dropped here. What is not mapped but
    read has a bound for each session (``Limits.bytes_read_in_process``), of its own files.

    Args:
        most: how many files stay mapped at most; the least recently used ones are dropped.
    """

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._bytes = Counter[str]()
        """Of the small files and parts in memory, by the session's folder."""
        self._due = 0.0
        self._lock = threading.Lock()
        self._mapped: OrderedDict[str, _Known] = OrderedDict()

    def batch(self, path: str) -> pa.RecordBatch:
        """The rows of a file, or of a part of a pack; nothing is read yet.

        Raises:
            FileNotFoundError: there is no such file.
        """
        file = file_of(path)
        with self._lock:
            if time.monotonic() >= self._due:
                self._drop_removed()
            if (known := self._mapped.get(file)) is not None and path in known.rows:
                self._mapped.move_to_end(file)
                return known.rows[path]
        rows, read, place = _rows(path)
        self._keep(path, rows, read, place)
        return rows

    def keep(self, path: str, rows: pa.RecordBatch, data: pa.Buffer) -> None:
        """Have the rows of a small file that this process has just written, and need not read.

        Args:
            path: of the file, or of the part of a pack.
            rows: as they were written. Those that are a part of more rows would keep all of these in memory.
            data: the bytes of the file.
        """
        own = rows.get_total_buffer_size() <= 2 * data.size
        kept = rows if own else pa.ipc.open_file(data).get_batch(0)
        self._keep(path, kept, data.size, local_path(file_of(path)), written=True)

    def wrote(self, path: str) -> bool:
        """Whether this process has the rows of a path as it wrote them: what the disk has cannot have damaged them."""
        with self._lock:
            return (known := self._mapped.get(file_of(path))) is not None and path in known.written

    def _keep(self, path: str, rows: pa.RecordBatch, read: int, place: str, written: bool = False) -> None:
        """Keep the rows of a path, of which ``read`` bytes are in memory, and a file of this machine has all."""
        file, session = file_of(path), session_folder(path)
        most_bytes = SESSION_LIMITS.of(session).bytes_read_in_process
        with self._lock:
            known = self._mapped.setdefault(file, _Known())
            if path not in known.rows:
                known.bytes += read
                self._bytes[session] += read
            known.rows[path] = rows
            known.places.add(place)
            if written:
                known.written.add(path)
            self._mapped.move_to_end(file)
            while len(self._mapped) > self._most:
                self._drop(next(iter(self._mapped)))
            while self._bytes[session] > most_bytes:
                own = (at for at, others in self._mapped.items() if others.bytes and session_folder(at) == session)
                if (first := next(own)) == file:
                    break
                self._drop(first)

    def forget(self, path: str) -> None:
        """Drop the memory map of a removed file, and the maps of its parts."""
        with self._lock:
            self._drop(path)

    def _drop(self, file: str) -> None:
        if (known := self._mapped.pop(file, None)) is not None:
            self._bytes[session_folder(file)] -= known.bytes

    def forget_below(self, folder: str | Path) -> None:
        """Drop the maps of all files below a folder."""
        inside = f"{folder}{os.sep}"
        with self._lock:
            for path in [path for path in self._mapped if path.startswith(inside)]:
                self._drop(path)

    def forget_all(self) -> None:
        """Drop all maps, in a process that was forked: it needs none of its parent's."""
        self._lock = threading.Lock()  # a thread that held the other one is not here to give it back
        self._mapped, self._bytes = OrderedDict(), Counter()

    def __len__(self) -> int:
        return len(self._mapped)

    def look(self) -> float:
        """Drop the maps of removed files; the seconds until the next check is due."""
        with self._lock:
            self._drop_removed()
            return self._due - time.monotonic()

    def _drop_removed(self) -> None:
        started = time.monotonic()
        gone = [
            path
            for path, known in self._mapped.items()
            if not all(map(os.path.exists, known.places)) and not PACKING.fills(path)
        ]
        for path in gone:
            self._drop(path)
        now = time.monotonic()
        self._due = now + max(LOOKING, (now - started) / LOOKING_SHARE)


def _rows(path: str) -> tuple[pa.RecordBatch, int, str]:
    """The rows of a file or part, how many bytes were read for them (none: it is mapped), and which file has them."""
    if (data := PACKING.waiting(path)) is not None:
        return pa.ipc.open_file(data).get_batch(0), data.size, local_path(file_of(path))
    check_cached(path)
    file, first, size = local_extent(path)
    if size > SMALL_FILE and not is_small_part(path):
        with pa.memory_map(file) as mapped:
            mapped.seek(first)
            return without_runs(pa.ipc.open_file(mapped.read_buffer(size)).get_batch(0)), 0, file
    data = bytes_of(path)
    return without_runs(pa.ipc.open_file(data).get_batch(0)), data.size, file


MAPPED = MappedFiles()
"""The maps of this process: of all its sessions, or of all the tasks of a Python worker."""


def remove_file(path: Path) -> None:
    """Remove a file of rows, if it is there; processes that have it mapped can go on reading."""
    path.unlink(missing_ok=True)
    MAPPED.forget(str(path))


def remove_folder(folder: Path) -> None:
    """Remove a folder with all files of rows in it, as far as it can be removed."""
    shutil.rmtree(folder, ignore_errors=True)
    MAPPED.forget_below(folder)


def remove_at_exit(folder: str) -> None:
    """Remove a folder when this process ends; one that is forked from it leaves the folder alone."""
    atexit.register(_remove_own, folder, os.getpid())


def _remove_own(folder: str, process: int) -> None:
    if os.getpid() == process:
        remove_folder(Path(folder))


@contextmanager
def temporary_folder(prefix: str, parent: Path | None) -> Iterator[Path]:
    """A folder for temporary rows, removed with all that is in it.

    Args:
        prefix: what its name begins with.
        parent: where it is made; where the system has temporary files when ``None``.
    """
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
    try:
        if parent is not None:
            make_like(folder, parent)
        yield folder
    finally:
        remove_folder(folder)
        removed(stored_below(folder))
