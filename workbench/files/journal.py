"""What changes in a session's folder, as a log of numbered commits in a store, from which any machine makes the folder.

Rows are in files that are written once (``store``). What changes, SQLite databases and a few small files, is as a
driver needs it in a folder of its own disk, and in the store as commits: the statements of a transaction, or the bytes
of a file. A commit is an object that is made only if there is none of its number, before the transaction ends here. So
one number is one commit, and the number fences: who comes late has lost the session to who took the number, and writes
nothing more. A snapshot now and then has all files, so that a reader begins there.

Sources: D. Ongaro, J. Ousterhout, In search of an understandable consensus algorithm (USENIX ATC 2014), for a log with
snapshots; the conditional writes of object stores take the place of its votes.
"""

from __future__ import annotations

import os
import socket
import sqlite3
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from itertools import count, takewhile
from pathlib import Path
from typing import NoReturn

from workbench.files.commits import FileChange, JournalCommit, database_bytes, repeat, replaying
from workbench.files.inside import path_inside
from workbench.files.store import Store
from workbench.files.writing import make_folder, replacing

COMMITS, SNAPSHOTS = "commits", "snapshots"
REQUESTS = "requests"
"""The folder of what readers ask the writer for, and the setting that has the number of the last one taken up."""
DATABASE = ".sqlite"
"""How the names of databases end."""
_AT_A_TIME = 16
_SNAPSHOT_BYTES, _SNAPSHOT_COMMITS = 1 << 20, 256
"""A snapshot is due after 256 commits, or when they have as many bytes as the last one, and at least these."""

READERS_SECONDS = 3_600.0
"""As long as a reader may take, what has been replaced is still there."""


_OWNERS: set[str] = set()
"""Those of journals that are open in this process."""


class Fenced(OSError):
    """Another process has taken the session over, or it is not known whether a commit was stored."""


class Journal:
    """The commits of one session, as this process knows them.

    Args:
        store: has them.
        folder: of this machine, empty; it gets what the commits say.

    Attributes:
        folder: as given.
        by: this process in words.
        number: of the last commit that the folder has.
        holder: who writes, in words; "" when none does.
        writing: whether this process does.
        lost: why it does not any more; "" while it does.
        files: the files in the folder that are the journal's.
        on_lost: is told why, once.

    Example:
        >>> import tempfile
        >>> from workbench.files.store import FolderStore
        >>> store, folders = FolderStore(Path(tempfile.mkdtemp())), [Path(tempfile.mkdtemp()) for _ in range(2)]
        >>> first, second = (Journal(store, folder) for folder in folders)
        >>> first.take_over(), first.write("a.json", b"1"), second.take_over(anyway=True)
        ('', None, '')
        >>> (folders[1] / "a.json").read_bytes()
        b'1'
        >>> try:
        ...     first.write("a.json", b"2")
        ... except Fenced:
        ...     print(first.lost.partition(" process")[0], second.follow())
        it is open elsewhere, False
    """

    def __init__(self, store: Store, folder: Path) -> None:
        self._store, self.folder = store, folder
        self.on_lost: Callable[[str], None] = lambda why: None
        self._owner, self.by = uuid.uuid4().hex, f"process {os.getpid()} on {socket.gethostname()}"
        _OWNERS.add(self._owner)
        self.number, self.holder, self.lost = 0, "", ""
        self._held_by = ""
        self.writing = False
        self.files: set[str] = set()
        self._lock = threading.RLock()
        self._staged: dict[str, bytes | None] = {}
        self._snapshot, self._size = ("", 0), 0
        self._snapshots: list[tuple[float, str, int]] = []
        """Those of this process that others have replaced: since when, their names and numbers."""
        self._first = 1
        """The first commit that may still be there."""
        self._looked = time.monotonic()
        self.bytes_since, self._due = 0, False
        self._interrupt: BaseException | None = None

    @property
    def is_new(self) -> bool:
        """Whether the store has nothing, no commit and no other file."""
        return next(iter(self._store.names()), None) is None

    def restore(self) -> None:
        """Make the folder as the last commit says.

        Raises:
            FileNotFoundError: there is no commit.
            OSError: the store cannot be reached, or a commit is damaged.
        """
        numbers = [int(Path(each.name).name) for each in self._store.names(COMMITS)]
        # A listing may show none yet: then each is asked for by its name.
        if not (numbers := numbers or [*takewhile(self._has, count(1))]):
            raise FileNotFoundError("the store has no commit")
        self._first = min(numbers)
        newest = self._commit(max(numbers))
        (name, after), changes = newest.snapshot, list[FileChange]()
        if name:
            data = self._store.get(name)
            self._size, changes = len(data), list(JournalCommit.decoded(data).changes)
        with ThreadPoolExecutor(_AT_A_TIME, thread_name_prefix="argus-commits") as pool:
            commits = pool.map(self._commit, range(after + 1, max(numbers) + 1))
            for name in [*self.files]:
                self._place(name, None)
            self.files.clear()
            self._apply([changes, *(commit.changes for commit in commits)])
        self._adopt(max(numbers), newest)

    def follow(self) -> bool:
        """Bring the folder to the last commit; whether there was one that it had not.

        Raises:
            OSError: the store cannot be reached, or a commit is damaged.
        """
        grown = False
        with self._lock:
            while True:
                try:
                    commit = self._commit(self.number + 1)
                except FileNotFoundError:
                    return grown or self._is_far_behind()
                self._apply([commit.changes])
                self._adopt(self.number + 1, commit)
                grown = True

    def _is_far_behind(self) -> bool:
        """Whether the next commit was removed long after it was made; then the folder is made again."""
        if not self.number or self.writing or time.monotonic() - self._looked < READERS_SECONDS / 2:
            return False
        before = self.number
        self.restore()
        return self.number > before

    def needs(self, name: str, last_request: int) -> bool:
        """Whether a file of the store is one from which the folder is made, or a request that comes after the last."""
        return (
            name == self._snapshot[0]
            or (name.startswith(f"{COMMITS}/") and name > _name(self._snapshot[1]))
            or (name.startswith(f"{REQUESTS}/") and name > request_name(last_request))
        )

    def take_over(self, anyway: bool = False) -> str:
        """Write from now on, where no other process does; who does, "" when it is this process.

        Args:
            anyway: whether to write also where another process does, which is late then.

        Raises:
            OSError: the store cannot be reached.
        """
        while True:
            self.follow()
            if self.holder and not anyway and _is_alive(self.holder, self._held_by):
                return self.holder
            if self._put([]):
                self.writing = True
                return ""

    def include(self, name: str) -> None:
        """Take a database into the journal that was made, or changed in another way than by recorded statements."""
        with self._lock:
            self.files.add(name)
            self._due = True

    def write_databases(self, names: Iterable[str]) -> None:
        """Commit databases as they are, which were just made.

        Raises:
            Fenced, OSError: as ``committing``.
        """
        with self.committing([(name, self._content(name)) for name in names]):
            pass

    def stage(self, name: str, content: bytes | None) -> None:
        """Write a small file, or remove it; that is committed with whatever comes next."""
        with self._lock:
            self._place(name, content)
            self._staged[name] = content
            if content is None:
                self.files.discard(name)

    def write(self, name: str, content: bytes) -> None:
        """Commit the bytes of a small file, and write it.

        Raises:
            Fenced: another process has taken over.
            OSError: the store did not take it.
        """
        with self.committing([(name, content)]):
            self._place(name, content)

    @contextmanager
    def committing(self, changes: Iterable[FileChange]) -> Iterator[None]:
        """Store a commit; within the context, what it says is done here, too.

        Raises:
            Fenced: another process has taken over; this one writes nothing more.
            OSError: the store did not take it, and it never will.
        """
        with self._lock:
            if self.lost:
                raise Fenced(self.lost)
            large = self.bytes_since > max(_SNAPSHOT_BYTES, self._size)
            if self._due or large or self.number - self._snapshot[1] > _SNAPSHOT_COMMITS:
                self._store_snapshot()
            whole = [*self._staged.items(), *changes]
            if not self._put(whole):
                self._lose(f"it is open elsewhere, {self._commit(self.number + 1).by or 'in another process'}")
            self._staged.clear()
            self._note(whole)
            try:
                yield
            except BaseException:
                self._note_lost("this machine could not keep what was committed; who opens it again has it")
                raise
            if (interrupt := self._interrupt) is not None:
                self._interrupt = None
                raise interrupt

    def close(self) -> None:
        """Give the session back."""
        with self._lock:
            if self.writing and not self.lost:
                self.by = ""
                self._put([*self._staged.items()])
            self.writing = False
            _OWNERS.discard(self._owner)

    def discard(self) -> None:
        """Remove all that the store has, of a session that could not begin."""
        with self._lock:
            self.writing = False
            self._store.remove([each.name for each in self._store.names()])

    def _put(self, changes: Sequence[FileChange]) -> bool:
        """Store a commit of the next number; whether it is there, and not that of another process.

        Raises:
            Fenced, OSError: as ``committing``.
        """
        name, body = _name(self.number + 1), JournalCommit(self._owner, self.by, self._snapshot, changes).encoded()
        try:
            stored = self._store.put_first(name, body)
        except BaseException as problem:  # its answer is lost, or an interrupt came before it
            if not self._is_stored(name, body):
                raise
            stored = True
            self._interrupt = None if isinstance(problem, OSError) else problem
        if stored:
            self.number += 1
            self.holder = self.by
            self.bytes_since += len(body)
        return stored

    def _is_stored(self, name: str, body: bytes) -> bool:
        """Whether a commit is there whose answer is lost: another one takes its number, so that it never comes later.

        Raises:
            Fenced: it is not known; who opens the session again sees it.
        """
        try:
            if self._store.put_first(name, JournalCommit(self._owner, self.by, self._snapshot).encoded()):
                self.number += 1
                return False
            return self._store.get(name) == body
        except OSError:
            self._lose("its store did not say whether it has the last change; who opens it again sees that")

    def _lose(self, why: str) -> NoReturn:
        self._note_lost(why)
        raise Fenced(why)

    def _note_lost(self, why: str) -> None:
        self.lost = why
        self.on_lost(why)

    def _commit(self, number: int) -> JournalCommit:
        return JournalCommit.decoded(self._store.get(_name(number)))

    def _has(self, number: int) -> bool:
        try:
            return bool(self._store.get(_name(number), 0, 1))
        except FileNotFoundError:
            return False

    def _adopt(self, number: int, commit: JournalCommit) -> None:
        self._looked = time.monotonic()
        self.number, self.holder, self._snapshot, self._held_by = number, commit.by, commit.snapshot, commit.owner

    def _store_snapshot(self) -> None:
        """Store all files as the last commit left them; the next commit says where."""
        there = [name for name in sorted(self.files) if (self.folder / name).exists()]
        data = JournalCommit(self._owner, "", ("", 0), [(name, self._content(name)) for name in there]).encoded()
        name = f"{SNAPSHOTS}/{self.number:010d}-{uuid.uuid4().hex}"
        self._store.put(name, data)
        self._snapshots.append((time.monotonic(), *self._snapshot))
        self._snapshot, self._size, self.bytes_since, self._due = (name, self.number), len(data), 0, False
        # Readers begin at the last snapshot, or at one that they have just read of.
        while self._snapshots and self._snapshots[0][0] < time.monotonic() - READERS_SECONDS:
            _, older, after = self._snapshots.pop(0)
            self._store.remove([*filter(None, [older]), *map(_name, range(self._first, after + 1))])
            self._first = after + 1

    def _content(self, name: str) -> bytes:
        return database_bytes(self.folder / name) if name.endswith(DATABASE) else (self.folder / name).read_bytes()

    def _note(self, changes: Iterable[FileChange]) -> None:
        for name, change in changes:
            if change is None:
                self.files.discard(name)
            else:
                self.files.add(name)

    def _apply(self, commits: Iterable[Sequence[FileChange]]) -> None:
        """Do in the folder what commits say."""
        with ExitStack() as opened:
            databases: dict[str, sqlite3.Connection] = {}
            for changes in commits:
                for name, change in changes:
                    if not isinstance(change, bytes | None):
                        if name not in databases:
                            path = path_inside(self.folder, name)
                            databases[name] = opened.enter_context(closing(replaying(path)))
                        repeat(databases[name], change)
                        continue
                    if (database := databases.pop(name, None)) is not None:
                        database.close()
                    self._place(name, change)
                self._note(changes)

    def _place(self, name: str, content: bytes | None) -> None:
        """Write a file of the folder, or remove it."""
        path = path_inside(self.folder, name)
        for beside in ("-wal", "-shm"):  # what SQLite has beside a database
            path.with_name(f"{path.name}{beside}").unlink(missing_ok=True)
        if content is None:
            path.unlink(missing_ok=True)
            return
        make_folder(path.parent)
        with replacing(path) as file:
            file.write(content)


def request_name(number: int) -> str:
    """The name of a request of readers in the store."""
    return f"{REQUESTS}/{number:010d}"


def _name(number: int) -> str:
    return f"{COMMITS}/{number:010d}"


def _is_alive(holder: str, owner: str) -> bool:
    """Whether a process may be alive: it is unless it was one of this machine that is not there any more.

    A container that is started again has the name and the number of the one before.
    """
    _, process, _, host = holder.split(" ", 3)
    if host != socket.gethostname():
        return True
    if int(process) == os.getpid():
        return owner in _OWNERS
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
