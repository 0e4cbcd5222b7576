"""Files that nobody needs any more, removed as soon as nobody reads.

Somebody may be reading an answer, in another thread or from another process, while a batch replaces what the answer is
read from. Readers do not wait for the batch, nor the batch for them: what it replaced stays until no one reads. Readers
share a lock on a file of the session's folder, and who removes must have it alone; the system takes a lock back from
whoever dies. What is not removed is in nobody's manifest, and is set aside when the session is opened the next time.
"""

from __future__ import annotations

import fcntl
import os
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from workbench.engine.storage.segments import remove_segment
from workbench.files.checked import ensure_file


class Discarded:
    """The files of one session that are to be removed.

    Args:
        lock: the file that readers share; made if the folder can be written.
    """

    def __init__(self, lock: Path) -> None:
        self._path = lock
        self._lock = threading.Lock()
        self._waiting: list[str] = []
        if os.access(lock.parent, os.W_OK):
            ensure_file(lock)

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Remove nothing meanwhile; to be entered before it is known what will be read."""
        with self._path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH)
            yield
        self.add(())

    def add(self, files: Iterable[str]) -> None:
        """Remove files, now or when nobody reads any more."""
        with self._lock:
            self._waiting += files
            if not self._waiting:
                return
            with self._alone() as alone:
                if alone:
                    removing, self._waiting = self._waiting, []
                    for path in removing:
                        remove_segment(path)

    @contextmanager
    def alone(self) -> Iterator[bool]:
        """Whether nobody reads; if so, nobody begins to meanwhile."""
        with self._lock, self._alone() as alone:
            yield alone

    @contextmanager
    def _alone(self) -> Iterator[bool]:
        with self._path.open("rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                file.close()
            yield not file.closed
