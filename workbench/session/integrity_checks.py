"""Verifies a session's files while it runs: all at once, or some after each batch.

After every tenth batch a thread verifies some of them, so that in time each is read again and no batch waits for it.
Those that are in a store alone are not fetched for that: a machine that fetches one compares its checksum.
A damaged file is named, and nothing is changed in the session any more: rows that follow from damaged ones would be
wrong.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

from workbench.explain.text import counted
from workbench.files.shared import is_elsewhere
from workbench.network.network import checked_query
from workbench.session.changes import StateStore
from workbench.session.directory.integrity import FileVerifier, StoredFile
from workbench.session.directory.opening import Opening

BATCHES = 10
"""Batches after which some files are verified."""
BYTES = 64 << 20
"""Bytes that are verified then, and at least one file."""


@dataclass(frozen=True)
class CheckReport:
    """The result of verifying a session's files.

    Attributes:
        files, bytes: how many were verified.
        damaged: those that are not what was written, each with what is wrong.
        unverified: those without a checksum, since an older version wrote them.
        leftovers: files that no commit names, which were put aside when the session was opened.
        seconds: how long it took.
    """

    files: int
    bytes: int
    damaged: dict[str, str]
    unverified: tuple[str, ...]
    leftovers: tuple[str, ...]
    seconds: float

    @property
    def whole(self) -> bool:
        """Whether no file is damaged."""
        return not self.damaged

    def __str__(self) -> str:
        result = "all are whole" if self.whole else f"{counted(len(self.damaged), 'is', 'are')} damaged"
        size = f"{self.bytes / 1e6:,.1f} MB, in {self.seconds:.2f} s"
        lines = [f"{counted(self.files, 'file')}, {size}: {result}", *self.damaged.values()]
        if self.unverified:
            lines.append(f"{counted(len(self.unverified), 'file has', 'files have')} no checksum, by an older version")
        if self.leftovers:
            lines.append(f"{counted(len(self.leftovers), 'file is', 'files are')} left over; --empty removes them")
        return "\n".join(lines)


class IntegrityChecks:
    """Verifies the files of one session.

    Args:
        store: the session's state.
        opening: names the files.
    """

    def __init__(self, store: StateStore, opening: Opening) -> None:
        self._store = store
        self._opening = opening
        self._batches = 0
        self._left: list[StoredFile] = []
        self._running: Future[None] | None = None
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="argus-integrity")

    def after_batch(self) -> None:
        """Every ``BATCHES`` calls, start to verify some files in the other thread."""
        self._batches += 1
        if self._batches % BATCHES == 0 and (self._running is None or self._running.done()):
            self.verify_some()

    def verify_some(self) -> None:
        """Start to verify the next files in the other thread."""
        with self._store.exclusively():
            self._left = self._left or [one for one in self._opening.stored_files() if not is_elsewhere(one.file)]
            self._running = self._pool.submit(self._verify_next)

    def check(self, empty: bool = False) -> CheckReport:
        """Verify all files now; see ``Session.check``."""
        started, directory = time.perf_counter(), self._store.directory
        with self._store.exclusively():
            if empty:
                directory.check_writable()
                directory.leftovers.remove_all()
            with self._store.pinned():
                files = list(dict.fromkeys(self._opening.stored_files()))
                damaged = {str(path): problem for path, problem in FileVerifier().problems(files).items()}
                size = sum(file.size for file in files if str(file.path) not in damaged)
            if damaged:
                self._refuse_changes(damaged)
            unverified = tuple(str(file.path) for file in files if file.checksum is None)
            leftovers = tuple(map(str, directory.leftovers.files))
        return CheckReport(
            len({file.file for file in files}), size, damaged, unverified, leftovers, time.perf_counter() - started
        )

    def wait(self) -> None:
        """Return when no files are being verified in the other thread."""
        if self._running is not None:
            self._running.result()

    def close(self) -> None:
        """End the thread; not under the session's lock, which it may be waiting for."""
        self._left = []
        self._pool.shutdown()

    def _verify_next(self) -> None:
        verified = 0
        while self._left and verified < BYTES:
            file = self._left.pop()
            with self._store.directory.collector.reading():
                problem = file.problem()
                verified += 0 if problem else file.size
            if problem:
                with self._store.exclusively():
                    # A batch may have replaced it since the list was made.
                    if any(file.path == named.path for named in self._opening.stored_files()):
                        self._refuse_changes({str(file.path): problem})

    def _refuse_changes(self, damaged: Mapping[str, str]) -> None:
        """Change nothing any more, and disable the queries that read damaged files."""
        state, directory = self._store.last, self._store.directory
        if directory.read_only is None:
            hint = "close the session, and open it with repair=True to compute anew what follows from the streams"
            directory.refuse_changes(f"{'; '.join(damaged.values())}; {hint}")
        reasons = {}
        for name, plan in state.network.queries.items():
            tree = state.engine.by_root.get(plan.read.root)
            paths = () if tree is None else (segment.path for segment in tree.segments)
            if broken := sorted(damaged.keys() & set(paths)):
                reasons[checked_query(name)] = damaged[broken[0]]
        self._store.disable(reasons)
