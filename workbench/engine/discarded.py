"""Files that nobody needs any more, removed as soon as nobody reads.

A cell may read an answer while a batch in another thread replaces what the answer is read from. Readers do not wait for
the batch, nor the batch for them: what it replaced stays until the last reader is done.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from workbench.engine.segments import remove_segment


class Discarded:
    """The files of one engine that are to be removed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._readers = 0
        self._waiting: list[str] = []

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Remove nothing meanwhile; to be entered before it is known what will be read."""
        with self._lock:
            self._readers += 1
        try:
            yield
        finally:
            with self._lock:
                self._readers -= 1
            self.add(())

    def add(self, files: Iterable[str]) -> None:
        """Remove files, now or when nobody reads any more."""
        with self._lock:
            self._waiting += files
            if self._readers:
                return
            removing, self._waiting = self._waiting, []
        for file in removing:
            remove_segment(file)
