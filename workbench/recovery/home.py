"""The folder a session lives in, and who may write there.

One process writes, under a lock on ``writer.lock`` that the system takes back when the process dies, however it dies.
Whoever else opens the folder reads what was committed last.
"""

from __future__ import annotations

import errno
import fcntl
import os
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from workbench.catalog.catalog import Catalog
from workbench.engine.discarded import Discarded
from workbench.engine.mapped_files import MAPPED, remove_folder
from workbench.errors import SessionError

CATALOG = "catalog.sqlite"
WRITER = "writer.lock"
READERS = "readers.lock"


@dataclass
class Home:
    """The folder of an open session. Make one with ``Home.new`` or ``Home.found``.

    Attributes:
        path: the folder.
        temporary: whether it goes when the session is closed.
        read_only: why this session may not write; ``None`` when it may.
        closed: whether the session has ended.
    """

    path: Path
    temporary: bool = False
    read_only: str | None = None
    closed: bool = False
    _writing: IO[bytes] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        self.discarded = Discarded(self.path / READERS)

    @staticmethod
    def new(path: str | Path | None) -> Home:
        """A folder for a new session; ``None`` makes a temporary one.

        Raises:
            SessionError: there is a session in it, or it cannot be written to.
        """
        folder = Path(tempfile.mkdtemp(prefix="argus-") if path is None else path).expanduser().resolve()
        if (folder / CATALOG).exists():
            hint = f"Session.open({str(path)!r}) goes on with it; a new session needs another folder"
            raise SessionError(f"there is already a session in {folder}", hint=hint)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            writing = _lock(folder)
        except OSError as problem:
            reason = problem.strerror or str(problem)
            raise SessionError(f"no session can be kept in {folder}: {reason}", hint="give another folder") from problem
        if writing is None:
            raise SessionError(f"there is already a session in {folder}", hint="give another folder")
        return Home(folder, temporary=path is None, _writing=writing)

    @staticmethod
    def found(path: str | Path) -> Home:
        """The folder of a session that is there; read-only when another process writes or the folder allows no more.

        Raises:
            SessionError: there is no session in it.
        """
        folder = Path(path).expanduser().resolve()
        if not (folder / CATALOG).exists():
            raise SessionError(
                f"there is no session in {folder}", hint=f"%argus save, or Session(path={str(path)!r}), makes one"
            )
        if not os.access(folder, os.W_OK):
            return Home(folder, read_only="the folder cannot be written to")
        try:
            writing = _lock(folder)
        except OSError as problem:
            if problem.errno not in (errno.EACCES, errno.EROFS, errno.EPERM):
                raise SessionError(f"{folder} cannot be used: {problem.strerror}") from problem
            return Home(folder, read_only="the folder cannot be written to")
        if writing is None:
            return Home(folder, read_only=f"it is open elsewhere, {_holder(folder)}")
        return Home(folder, _writing=writing)

    @property
    def state(self) -> Path:
        """Where the engine keeps rows."""
        return self.path / "state"

    @property
    def streams(self) -> Path:
        """Where the rows of streams are, arrived or not."""
        return self.path / "streams"

    @contextmanager
    def beginning(self) -> Iterator[Catalog]:
        """The catalog of a session that begins or goes on; when that fails, the folder is as free as it was before."""
        there = (self.path / CATALOG).exists()
        catalog: Catalog | None = None
        try:
            catalog = self.catalog()
            yield catalog
        except BaseException:
            if catalog is not None:
                catalog.close()
            if not there:
                for file in self.path.glob(f"{CATALOG}*"):
                    file.unlink()
            self.close()
            raise

    def catalog(self) -> Catalog:
        """The session's catalog: the file, for who writes; a copy of the last commit for who reads."""
        path = self.path / CATALOG
        return Catalog(path, copied=True) if self.read_only else Catalog(path, durable=not self.temporary)

    def check_open(self) -> None:
        """Nothing while the session is open.

        Raises:
            SessionError: it is closed.
        """
        if self.closed:
            hint = f"Session.open({str(self.path)!r}) goes on with it"
            if self.temporary:
                hint = "its folder was temporary and is gone; save(path) keeps a session, and so does Session(path=...)"
            raise SessionError("the session is closed", hint=hint)

    def check_writable(self) -> None:
        """Nothing when this session may write.

        Raises:
            SessionError: it may not; the message says why.
        """
        self.check_open()
        if self.read_only is not None:
            hint = "it can be asked for results, changes, explain and plan; to change it, open it when that is over"
            raise SessionError(f"the session is read-only: {self.read_only}", hint=hint)

    def forgo_writing(self, reason: str) -> None:
        """Only read from now on, and let others write."""
        self.read_only = reason
        self._unlock()

    def close(self) -> None:
        """Let others write; a temporary folder is removed."""
        self.closed = True
        self._unlock()
        if self.temporary:
            remove_folder(self.path)
        else:
            MAPPED.forget_below(self.path)

    def _unlock(self) -> None:
        if self._writing is not None:
            self._writing.close()
            self._writing = None


def _lock(folder: Path) -> IO[bytes] | None:
    """The lock of who writes; ``None`` when somebody else has it."""
    file = (folder / WRITER).open("ab")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        return None
    file.truncate(0)
    file.write(f"process {os.getpid()} on {socket.gethostname()}".encode())
    file.flush()
    return file


def _holder(folder: Path) -> str:
    return (folder / WRITER).read_text(errors="replace") or "in another process"
