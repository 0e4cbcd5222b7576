"""Collection of files that are not needed any more: each is removed as soon as it can have no reader.

While a batch replaces the files that an answer is read from, another thread or process may be reading the answer.
Readers do not wait for the batch, nor the batch for them: the replaced files stay until there are no readers. Readers
share a lock on a file of the session's folder, and removing needs it exclusively; the operating system frees the lock
of a process that dies. Files that are not removed are in no manifest: opening the session puts them aside as leftovers.

Attempts of tasks that fail, or that Spark runs twice, write files that no answer names. Those are found by their age.

Readers of a store are on other machines, and have no lock: what is replaced stays there for as long as they may take.
"""

from __future__ import annotations

import fcntl
import os
import threading
import time
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from workbench.engine.storage.segments import remove_segments
from workbench.files.shared import stored_below
from workbench.files.writing import ensure_file

ASIDE = "aside-"
"""How the names of temporary folders begin that lie among those of trees."""

_ROWS, _PART = (".arrow", ".index", ".parquet"), "."
"""How the names of files of rows and of their indexes end, and how those of unfinished ones begin."""


class FileCollector:
    """Removes files of one session.

    Args:
        lock: the file that readers share; made if the folder can be written.
    """

    def __init__(self, lock: Path) -> None:
        self._path = lock
        self._lock = threading.Lock()
        self._waiting: list[str] = []
        self._replaced: dict[str, float] = {}
        """Since when files are not needed, which a store may still have."""
        if os.access(lock.parent, os.W_OK):
            ensure_file(lock)

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Remove nothing meanwhile; to be entered before it is decided which files are read."""
        with self._path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH)
            yield
        self.collect(())

    def collect(self, files: Iterable[str]) -> None:
        """Remove files, now or when there are no readers any more."""
        with self._lock:
            self._waiting += files
            if not self._waiting:
                return
            with self._exclusive() as exclusive:
                if exclusive:
                    removing, self._waiting = self._waiting, []
                    remove_segments(removing)
                    self._replaced.update(dict.fromkeys(removing, time.monotonic()))

    def without_readers(self, files: Iterable[str], seconds: float) -> list[str]:
        """Those of some files of a store that were needed no more some seconds ago; nothing is to be known of others.

        Args:
            files: that no state names.
            seconds: that a reader may take.
        """
        with self._lock:
            last = time.monotonic() - seconds
            recent = {file: since for file, since in self._replaced.items() if since > last}
            self._replaced = recent
            return [file for file in files if file not in recent]

    @contextmanager
    def exclusive(self) -> Iterator[bool]:
        """Whether there are no readers; if so, none can begin meanwhile."""
        with self._lock, self._exclusive() as exclusive:
            yield exclusive

    @contextmanager
    def _exclusive(self) -> Iterator[bool]:
        with self._path.open("rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                file.close()
            yield not file.closed


def unnamed_files(folders: Iterable[Path], named: Collection[str], seconds: float) -> list[str]:
    """The files of rows below some folders, whole or not, that are old and not named; none of temporary folders.

    Age is told by the newest file: of a network's disk the clock is another one than that of this machine.

    Args:
        folders: of all trees, or of all logs.
        named: the files that states name.
        seconds: by which a file is older than the newest one.
    """
    times = {path: time for folder in folders for path, time in _times_below(folder).items()}
    stems, newest = {_stem(file) for file in named}, max(times.values(), default=0.0)
    return [file for file, time in times.items() if _stem(file) not in stems and newest - time >= seconds]


def _times_below(folder: Path) -> dict[str, float]:
    """When the files of rows below a folder were written, by one clock alone: of its store, or of its disk."""
    if stored := stored_below(folder):
        return {path: each.written for path, each in stored.items() if path.endswith(_ROWS)}
    times: dict[str, float] = {}
    for above, inner, names in os.walk(folder):
        inner[:] = [name for name in inner if not name.startswith(ASIDE)]
        for name in names:
            if name.endswith(_ROWS) or name.startswith(_PART):
                with suppress(FileNotFoundError):  # it is removed meanwhile
                    times[f"{above}/{name}"] = os.stat(f"{above}/{name}").st_mtime
    return times


def _stem(file: str) -> str:
    """The name of a file without the suffix of an index."""
    above, _, name = file.rpartition("/")
    return f"{above}/{name.partition('.')[0]}"
