"""Looking at a session's files while it goes on: whether their bytes are still those that were written.

After a batch a thread reads some of them, in turn, so that in time each is read again and no batch waits for it. What
is found damaged is named, and nothing is changed in the session any more: rows that follow from damaged ones would be
wrong.
"""

from __future__ import annotations

import os
import time
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass

from workbench.explain.text import counted
from workbench.session.directory.files_check import Expected, FilesCheck
from workbench.session.directory.store import Store

BATCHES = 10
"""After so many batches some files are looked at."""
BYTES = 64 << 20
"""So many bytes are looked at then, and at least one file."""


@dataclass(frozen=True)
class Checked:
    """What became of looking at a session's files.

    Attributes:
        files, bytes: how many were looked at.
        damaged: those that are not what was written, each with what is wrong.
        unverified: those whose checksum nobody knows, since an older version wrote them.
        set_aside: files that no commit speaks of, which opening the session set aside.
        seconds: how long it took.
    """

    files: int
    bytes: int
    damaged: dict[str, str]
    unverified: tuple[str, ...]
    set_aside: tuple[str, ...]
    seconds: float

    @property
    def whole(self) -> bool:
        """Whether no file is damaged."""
        return not self.damaged

    def __str__(self) -> str:
        lines = [
            f"{counted(self.files, 'file')}, {self.bytes / 1e6:,.1f} MB, in {self.seconds:.2f} s:"
            f" {'all are whole' if self.whole else counted(len(self.damaged), 'is', 'are') + ' damaged'}"
        ]
        lines += self.damaged.values()
        if self.unverified:
            lines.append(f"{counted(len(self.unverified), 'file has', 'files have')} no checksum, by an older version")
        if self.set_aside:
            lines.append(f"{counted(len(self.set_aside), 'file is', 'files are')} set aside; --empty removes them")
        return "\n".join(lines)


class Upkeep:
    """Looks at the files of one session.

    Args:
        store: the session's state.
        lock: of the session's operations.
    """

    def __init__(self, store: Store, lock: AbstractContextManager[object]) -> None:
        self._store = store
        self._lock = lock
        self._batches = 0
        self._left: list[Expected] = []
        self._running: Future[None] | None = None
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="argus-upkeep")

    def after_batch(self) -> None:
        """Look at some files from time to time, in another thread; belongs under the session's lock."""
        self._batches += 1
        if self._batches % BATCHES or (self._running is not None and not self._running.done()):
            return
        self._left = self._left or self._store.expected_files()
        self._running = self._pool.submit(self._look_at_some)

    def check(self, empty: bool = False) -> Checked:
        """Look at all files now; belongs under the session's lock.

        Args:
            empty: whether to remove what was set aside.

        Raises:
            SessionError: the session is closed; or what was set aside is to be removed, and it may only be read.
        """
        started = time.perf_counter()
        home = self._store.home
        if empty:
            home.check_writable()
            home.set_aside.empty()
        with self._store.pinned():
            files = list(dict.fromkeys(self._store.expected_files()))
            damaged = {str(path): wrong for path, wrong in FilesCheck().wrong(files).items()}
            size = sum(os.path.getsize(file.path) for file in files if str(file.path) not in damaged)
        if damaged:
            self._store.found_damaged(damaged)
        unverified = tuple(str(file.path) for file in files if file.checksum is None)
        set_aside = tuple(map(str, home.set_aside.files))
        return Checked(len(files), size, damaged, unverified, set_aside, time.perf_counter() - started)

    def wait(self) -> None:
        """Return when no files are being looked at in the other thread."""
        if self._running is not None:
            self._running.result()

    def close(self) -> None:
        """End the thread; not under the session's lock, which it may be waiting for."""
        self._left = []
        self._pool.shutdown()

    def _look_at_some(self) -> None:
        looked = 0
        while self._left and looked < BYTES:
            file = self._left.pop()
            with self._store.home.collector.reading():
                wrong = file.wrong()
                looked += 0 if wrong else os.path.getsize(file.path)
            if wrong:
                with self._lock:
                    # A batch may have replaced it since the list was made.
                    if any(file.path == named.path for named in self._store.expected_files()):
                        self._store.found_damaged({str(file.path): wrong})
