"""The folder a session lives in, and who may write there.

One process writes, under a lock on ``writer.lock`` that the system takes back when the process dies, however it dies.
Whoever else opens the folder reads what was committed last.

A folder is new when it has nothing of a session. One that has something, but no catalog, has lost it: neither does a
new session begin there, nor is anything taken away. A session that is opened begins on a copy of its catalog; the file
itself is opened when all was looked at and found whole.
"""

from __future__ import annotations

import errno
import fcntl
import grp
import os
import socket
import stat
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from workbench.catalog.catalog import Catalog
from workbench.catalog.database import RESTORE, CatalogError
from workbench.engine.storage.file_collection import FileCollector
from workbench.errors import SessionError, WorkbenchError
from workbench.files.mapped import MAPPED, remove_folder
from workbench.files.writing import FOR_GROUP, FOR_OWNER, checksum_of, ensure_file, is_for_group
from workbench.session.directory.leftovers import SET_ASIDE, SetAside
from workbench.session.directory.mark import MARK, Mark, MarkFile, read_mark

CATALOG = "catalog.sqlite"
WRITER = "writer.lock"
READERS = "readers.lock"
STATE, STREAMS = "state", "streams"


@dataclass
class Home:
    """The folder of an open session. Make one with ``Home.new`` or ``Home.found``.

    Attributes:
        path: the folder.
        temporary: whether it goes when the session is closed.
        read_only: why this session may not write; ``None`` when it may.
        closed: whether the session has ended.
        lost: how the catalog falls short of the session: commits that are not in it; "" when it does not.
        altered: how the catalog's bytes differ from those that the session left; "" when they do not.
    """

    path: Path
    temporary: bool = False
    read_only: str | None = None
    closed: bool = False
    lost: str = ""
    altered: str = ""
    _writing: IO[bytes] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        self.collector = FileCollector(self.path / READERS)
        self.set_aside = SetAside(self.path)
        self._mark = MarkFile(self.path)

    @staticmethod
    def new(path: str | Path | None, group: str | int | None = None) -> Home:
        """A folder for a new session; ``None`` makes a temporary one.

        Args:
            path: of the folder.
            group: who may read and write it besides its owner, by name or number.

        Raises:
            SessionError: there is a session in it, or what is left of one; or it cannot be written to, or be the
                group's.
        """
        folder = Path(tempfile.mkdtemp(prefix="argus-") if path is None else path).expanduser().resolve()
        if (folder / CATALOG).exists():
            hint = f"Session.open({str(path)!r}) goes on with it; a new session needs another folder"
            raise SessionError(f"there is already a session in {folder}", hint=hint)
        _check_remains(folder)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            _give_to(folder, group)
            writing = _lock(folder)
        except OSError as problem:
            reason = problem.strerror or str(problem)
            raise SessionError(f"no session can be kept in {folder}: {reason}", hint="give another folder") from problem
        if writing is None:
            raise SessionError(f"there is already a session in {folder}", hint="give another folder")
        return Home(folder, temporary=path is None, _writing=writing)

    @staticmethod
    def found(path: str | Path, group: str | int | None = None) -> Home:
        """The folder of a session that is there; read-only when another process writes or the folder allows no more.

        Args:
            path: of the folder.
            group: who may read and write it from now on besides its owner; ``None`` changes nothing of that.

        Raises:
            SessionError: there is no session in it, or it has no catalog any more, or cannot be the group's.
        """
        folder = Path(path).expanduser().resolve()
        if not (folder / CATALOG).exists():
            _check_remains(folder)
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
        home = Home(folder, _writing=writing)
        try:
            _give_to(folder, group, keep=True)
        except BaseException:
            home.close()
            raise
        return home

    @property
    def group(self) -> int | None:
        """The number of the group that the folder is for; ``None`` when it is for its owner alone."""
        return self.path.stat().st_gid if is_for_group(self.path) else None

    @property
    def state(self) -> Path:
        """Where the engine keeps rows."""
        return self.path / STATE

    @property
    def streams(self) -> Path:
        """Where the rows of streams are, arrived or not."""
        return self.path / STREAMS

    @contextmanager
    def beginning(self) -> Iterator[Catalog]:
        """The catalog of a session that begins or goes on; when that fails, the folder is as free as it was before."""
        there = (self.path / CATALOG).exists()
        catalog: Catalog | None = None
        try:
            catalog = self._found_catalog() if there else self.catalog()
            yield catalog
        except BaseException:
            if catalog is not None:
                catalog.close()
            if not there:
                for file in (*self.path.glob(f"{CATALOG}*"), self.path / MARK):
                    file.unlink(missing_ok=True)
            self.close()
            raise

    def catalog(self) -> Catalog:
        """The session's catalog: the file, for who writes; a copy of the last commit for who reads."""
        path = self.path / CATALOG
        return Catalog(path, copied=True) if self.read_only else Catalog(path, durable=not self.temporary)

    def _found_catalog(self) -> Catalog:
        """A copy of the catalog of a session that is opened.

        Raises:
            CatalogError: it is damaged, or that of another session.
        """
        path, mark = self.path / CATALOG, read_mark(self.path)
        alone = self.read_only is None
        catalog = Catalog(path, copied=True, inspected=alone)
        rows = catalog.session
        if mark is None:
            return catalog
        if mark.session != rows.identity:
            catalog.close()
            raise CatalogError(
                f"{path} (or its log {path.name}-wal) is of another session than {self.path / MARK}",
                hint=f"{RESTORE}; where {MARK} is the wrong one, remove that",
            )
        log = path.with_name(f"{CATALOG}-wal")
        if rows.commits < mark.commits:
            self.lost = f"{log} is damaged or missing: {path} has {rows.commits:,} of {mark.commits:,} commits"
        logged = log.exists() and log.stat().st_size
        if alone and mark.catalog is not None and not logged and checksum_of(path) != mark.catalog:
            self.altered = f"{path} is damaged: its bytes are not those that the session left"
        return catalog

    def identify(self, identity: str, commits: int) -> None:
        """Write beside the catalog which session it is of; a temporary one is never opened again."""
        if not self.temporary:
            self._mark.put(Mark(identity, commits))

    def committed(self, commits: int) -> None:
        """There was a commit: write its number down, and remove what was set aside long before it."""
        with suppress(OSError):  # the commit stands; a number that is too low only tells less
            self._mark.committed(commits)
        self.set_aside.expire(commits)

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

    def stop_changing(self, reason: str) -> None:
        """Change nothing from now on; others may not write either, as long as this session is open."""
        self.read_only = reason

    def forgo_writing(self, reason: str) -> None:
        """Only read from now on, and let others write."""
        self.read_only = reason
        self._unlock()

    def close(self) -> None:
        """Let others write; a temporary folder is removed."""
        if self._writing is not None:
            with suppress(OSError):  # a disk that is full keeps nobody from closing
                self._mark.closed(self.path / CATALOG)
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


@contextmanager
def reading_catalog(path: Path) -> Iterator[None]:
    """What a catalog says becomes objects inside; if that fails, it is damaged.

    Raises:
        CatalogError: something was raised that is no error of the workbench.
    """
    try:
        yield
    except WorkbenchError:
        raise
    except Exception as problem:  # whatever comes of bytes that are not those that were written
        raise CatalogError(f"{path} is damaged: {type(problem).__name__}: {problem}", hint=RESTORE) from problem


def new_identity() -> str:
    """What no other session is called."""
    return uuid.uuid4().hex


def _check_remains(folder: Path) -> None:
    """Nothing when a folder has nothing of a session.

    Raises:
        SessionError: it has; the message names what is missing.
    """
    remains = [folder / MARK, *(f for part in (STATE, STREAMS, SET_ASIDE) for f in (folder / part).rglob("*"))]
    if any(path.is_file() for path in remains):
        hint = f"{RESTORE}; a new session needs another folder"
        raise SessionError(f"{folder / CATALOG} is missing, and the session's other files are there", hint=hint)


def _give_to(folder: Path, group: str | int | None, keep: bool = False) -> None:
    """Let a folder, and all of a session in it, be for its owner alone or for a group.

    Args:
        folder: of the session.
        group: its name or number; ``None`` for the owner alone.
        keep: whether a group that has it keeps it where none is named.

    Raises:
        SessionError: there is no such group, or the folder cannot be given to it.
    """
    about = folder.stat()
    number = about.st_gid if group is None else _group_number(group)
    mode = FOR_GROUP if group is not None or (keep and is_for_group(folder)) else FOR_OWNER
    if about.st_gid == number and stat.S_IMODE(about.st_mode) == mode:
        return
    if about.st_uid != os.geteuid():
        if group is not None:
            raise SessionError(f"{folder} cannot be given to the group {group}", hint="its owner can do that")
        return
    try:
        for path in (folder, *_parts(folder)):
            if path.stat().st_uid == about.st_uid and not path.is_symlink():
                os.chown(path, -1, number if mode == FOR_GROUP else -1)
                os.chmod(path, mode if path.is_dir() else mode & 0o660)
    except OSError as problem:
        hint = "its owner can do that, who must be in the group; `groups` lists yours"
        raise SessionError(f"{folder} cannot be given to the group {group}: {problem.strerror}", hint=hint) from problem


def _parts(folder: Path) -> Iterator[Path]:
    """All that a session has in its folder; other files of the analyst may be there too."""
    yield from (*folder.glob(f"{CATALOG}*"), *folder.glob("*.lock"), *folder.glob(MARK))
    for part in (folder / STATE, folder / STREAMS, folder / SET_ASIDE):
        if part.is_dir():
            yield from (part, *part.rglob("*"))


def _group_number(group: str | int) -> int:
    try:
        return grp.getgrnam(group).gr_gid if isinstance(group, str) else grp.getgrgid(group).gr_gid
    except (KeyError, TypeError, OverflowError, ValueError) as problem:
        raise SessionError(f"there is no group {group!r} on this machine", hint="`groups` lists yours") from problem


def _lock(folder: Path) -> IO[bytes] | None:
    """The lock of who writes; ``None`` when somebody else has it."""
    ensure_file(folder / WRITER)
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
