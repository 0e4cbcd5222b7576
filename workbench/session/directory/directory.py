"""The folder a session lives in, and who may write there.

A session at an address, as of an object store, lives in its store, and each process has a folder for it: with what
changes, made from the journal (``workbench.files.journal``), and with the files that it has read or written. The
journal says who writes. What follows is of a session that lives in a folder.

One process writes, under a lock on ``writer.lock`` that the system takes back when the process dies, however it dies.
Another process that opens the folder reads what was committed last.

A folder is new when it has nothing of a session. One that has something, but no catalog, has lost it: neither does a
new session begin there, nor is anything taken away. A session that is opened begins on a copy of its catalog; the file
itself is opened when all was looked at and found whole.
"""

from __future__ import annotations

import atexit
import errno
import fcntl
import os
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from workbench.catalog.catalog import Catalog
from workbench.catalog.database import RESTORE, CatalogError
from workbench.engine.storage.file_collection import FileCollector
from workbench.errors import SessionError, WorkbenchError
from workbench.files.inside import what_leads_out
from workbench.files.journal import Journal
from workbench.files.mapped import MAPPED, remove_at_exit, remove_folder
from workbench.files.shared import share_folder, unshare_folder
from workbench.files.store import is_address, whole_address, whole_place
from workbench.files.writing import checksum_of, ensure_file, is_for_group
from workbench.session.directory.at_store import journal_at
from workbench.session.directory.identity import IDENTITY, Identity, IdentityFile, read_identity
from workbench.session.directory.leftovers import LEFTOVERS, Leftovers
from workbench.session.directory.permissions import set_permissions

PREFIX = "argus-session-"
"""How the names of temporary folders begin."""
_COPY = "argus-copy-"
"""How those are called in which a process has the files of a session at an address."""
CATALOG = "catalog.sqlite"
WRITER = "writer.lock"
READERS = "readers.lock"
STATE, STREAMS, SINKS, SENT, SPOOLED = "state", "streams", "sinks", "sent", "spooled"


@dataclass
class SessionDirectory:
    """The folder of an open session. Make one with ``SessionDirectory.new`` or ``SessionDirectory.existing``.

    Attributes:
        path: the folder.
        temporary: whether it goes when the session is closed.
        read_only: why this session may not write; ``None`` when it may.
        closed: whether the session has ended.
        lost: how the catalog falls short of the session: commits that are not in it; "" when it does not.
        altered: how the catalog's bytes differ from those that the session left; "" when they do not.
        address: of its store; "" for one that lives in its folder.
        journal: of what changes in it; ``None`` for one that lives in its folder.
    """

    path: Path
    temporary: bool = False
    read_only: str | None = None
    closed: bool = False
    lost: str = ""
    altered: str = ""
    address: str = ""
    journal: Journal | None = field(default=None, repr=False)
    _writing: IO[bytes] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        self.collector = FileCollector(self.path / READERS)
        self.leftovers = Leftovers(self.path)
        self._identity = IdentityFile(self.path)

    @staticmethod
    def new(path: str | Path | None, group: str | int | None = None) -> SessionDirectory:
        """A folder for a new session; ``None`` makes a temporary one.

        Args:
            path: of the folder.
            group: who may read and write it besides its owner, by name or number.

        Raises:
            SessionError: there is a session in it, or what is left of one; or it is an address, or it cannot be written
                to, or be the group's.
        """
        if path is not None and is_address(path):
            return SessionDirectory._at(path, group, new=True)
        folder = Path(whole_place(tempfile.mkdtemp(prefix=PREFIX) if path is None else path))
        if (folder / CATALOG).exists():
            hint = f"Session.open({str(path)!r}) goes on with it; a new session needs another folder"
            raise SessionError(f"there is already a session in {folder}", hint=hint)
        _check_remains(folder)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            set_permissions(folder, group, _parts(folder))
            writing = _lock(folder)
        except OSError as problem:
            is_file = isinstance(problem, FileExistsError | NotADirectoryError)
            why = "there is a file of that name" if is_file else problem.strerror or str(problem)
            raise SessionError(f"no session can be kept in {folder}: {why}", hint="give another folder") from problem
        if writing is None:
            raise SessionError(f"there is already a session in {folder}", hint="give another folder")
        directory = SessionDirectory(folder, temporary=path is None, _writing=writing)
        _MADE[:] = [(made, process) for made, process in _MADE if not made.closed]
        _MADE.append((directory, os.getpid()))
        return directory

    @staticmethod
    def existing(
        path: str | Path, group: str | int | None = None, reading: bool = False, take_over: bool = False
    ) -> SessionDirectory:
        """The folder of a session that is there; read-only when another process writes or the folder allows no more.

        Args:
            path: of the folder.
            group: who may read and write it from now on besides its owner; ``None`` changes nothing of that.
            reading: whether it is only to be read, so that another process may write.
            take_over: whether to write also where another process of a store's session does.

        Raises:
            SessionError: there is no session in it, or it has no catalog any more, or cannot be the group's, or
                something in it leads out of it.
        """
        if is_address(path):
            return SessionDirectory._at(path, group, reading=reading, take_over=take_over)
        folder = Path(whole_place(path))
        if what := what_leads_out(_tops(folder)):
            raise SessionError(what, hint="a session's folder has files and folders alone: put there what it leads to")
        if not (folder / CATALOG).exists():
            _check_remains(folder)
            raise SessionError(
                f"there is no session in {folder}", hint=f"%argus save, or Session(path={str(path)!r}), makes one"
            )
        if reading:
            return SessionDirectory(folder, read_only="it was opened to be read")
        if not os.access(folder, os.W_OK):
            return SessionDirectory(folder, read_only="the folder cannot be written to")
        try:
            writing = _lock(folder)
        except OSError as problem:
            if problem.errno not in (errno.EACCES, errno.EROFS, errno.EPERM):
                raise SessionError(f"{folder} cannot be used: {problem.strerror}") from problem
            return SessionDirectory(folder, read_only="the folder cannot be written to")
        if writing is None and take_over:
            hint = "its end, also by a crash, gives the folder back"
            raise SessionError(f"{folder} is open elsewhere, {_holder(folder)}, and cannot be taken over", hint=hint)
        if writing is None:
            return SessionDirectory(folder, read_only=f"it is open elsewhere, {_holder(folder)}")
        directory = SessionDirectory(folder, _writing=writing)
        try:
            set_permissions(folder, group, _parts(folder), keep=True)
        except BaseException:
            directory.close()
            raise
        return directory

    @staticmethod
    def _at(
        path: str | Path, group: str | int | None, new: bool = False, reading: bool = False, take_over: bool = False
    ) -> SessionDirectory:
        """The directory of a session at an address."""
        address = whole_address(path)
        if group is not None:
            hint = "the rules of the store say who may read and write there"
            raise SessionError(f"{address} is for no group of this machine", hint=hint)
        folder = Path(tempfile.mkdtemp(prefix=_COPY))
        remove_at_exit(str(folder))
        try:
            ensure_file(folder / READERS)
            journal, holder = journal_at(address, folder, new, reading, take_over)
        except BaseException:
            remove_folder(folder)
            raise
        directory = SessionDirectory(folder, address=address, journal=journal)
        if reading or holder:
            directory.read_only = "it was opened to be read" if reading else f"it is open elsewhere, {holder}"
        journal.on_lost = directory.refuse_changes
        share_folder(folder, address, journal)
        return directory

    @property
    def place(self) -> str:
        """Where the session lives."""
        return self.address or str(self.path)

    @property
    def durable(self) -> bool:
        """Whether its files must survive that this machine loses its power."""
        return not self.temporary and self.journal is None

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
    def starting(self) -> Iterator[Catalog]:
        """The catalog of a session that begins or goes on; when that fails, the folder is as free as it was before."""
        is_new = not (self.path / CATALOG).exists()
        catalog: Catalog | None = None
        try:
            if is_new:
                catalog = self.catalog()
            else:
                with decoding_catalog(self.path / CATALOG):
                    catalog = self._inspected_catalog()
            yield catalog
        except BaseException:
            if catalog is not None:
                catalog.close()
            if is_new:
                for file in (*self.path.glob(f"{CATALOG}*"), self.path / IDENTITY):
                    file.unlink(missing_ok=True)
                if self.journal is not None:
                    self.journal.discard()
            self.close()
            raise

    def catalog(self) -> Catalog:
        """The session's catalog: the file itself for writing, or a copy of the last commit for reading."""
        path = self.path / CATALOG
        return Catalog(path, copied=True) if self.read_only else Catalog(path, durable=self.durable)

    def _inspected_catalog(self) -> Catalog:
        """A copy of the catalog of a session that is opened.

        Raises:
            CatalogError: it is damaged, or that of another session.
        """
        path, identity = self.path / CATALOG, read_identity(self.path)
        alone = self.read_only is None
        catalog = Catalog(path, copied=True, inspected=alone)
        if identity is None:
            return catalog
        if identity.session != catalog.identity:
            catalog.close()
            raise CatalogError(
                f"{path} (or its log {path.name}-wal) is of another session than {self.path / IDENTITY}",
                hint=f"{RESTORE}; where {IDENTITY} is the wrong one, remove that",
            )
        log = path.with_name(f"{CATALOG}-wal")
        if catalog.commits < identity.commits:
            commits = f"{catalog.commits:,} of {identity.commits:,} commits"
            self.lost = f"{log} is damaged or missing: {path} has {commits}"
        logged = log.exists() and log.stat().st_size
        if alone and identity.catalog is not None and not logged and checksum_of(path) != identity.catalog:
            self.altered = f"{path} is damaged: its bytes are not those that the session left"
        return catalog

    def write_identity(self, identity: str, commits: int) -> None:
        """Write the session's identity into a file in its folder; a temporary folder is never opened again."""
        if self.durable:
            self._identity.write(Identity(identity, commits))

    def committed(self, commits: int) -> None:
        """Write the number of the last commit, and remove leftovers from long before it."""
        with suppress(OSError):  # the commit stands; a number that is too low only tells less
            self._identity.committed(commits)
        self.leftovers.expire(commits)

    def check_open(self) -> None:
        """Check that the session is open.

        Raises:
            SessionError: it is closed, or its folder is gone.
        """
        if self.closed:
            hint = f"Session.open({self.place!r}) goes on with it"
            if self.temporary:
                hint = "its folder was temporary and is gone; save(path) keeps a session, and so does Session(path=...)"
            raise SessionError("the session is closed", hint=hint)
        if self._is_gone:
            hint = "where it was only renamed, give it this name again, and the session goes on; else close() it"
            raise SessionError(f"the session's folder {self.path} was removed or renamed", hint=hint)

    @property
    def _is_gone(self) -> bool:
        """Whether the folder was removed, or replaced by another one."""
        try:
            if self._writing is None:
                return not (self.path / CATALOG).exists()
            return not os.path.samestat(os.fstat(self._writing.fileno()), os.stat(self.path / WRITER))
        except FileNotFoundError:
            return True

    def check_writable(self) -> None:
        """Check that this session may write.

        Raises:
            SessionError: it may not; the message says why.
        """
        self.check_open()
        if self.read_only is not None:
            hint = "it can be asked for results, changes, explain and plan; to change it, open it when that is over"
            if self.journal is not None and not self.journal.lost:
                hint += "; session.request(…), or %%argus NAME --request, asks who writes for a query"
            raise SessionError(f"the session is read-only: {self.read_only}", hint=hint)

    def refuse_changes(self, reason: str) -> None:
        """Make the session read-only, for a reason that errors say. It keeps its lock, so no other session writes."""
        self.read_only = reason

    def keep(self) -> None:
        """Leave a temporary folder where it is when the session is closed.

        Raises:
            SessionError: it is closed, or its folder is gone.
        """
        self.check_open()
        self.temporary = False

    def release(self, reason: str) -> None:
        """Make the session read-only, as ``refuse_changes`` does, and give up the lock: another session may write."""
        self.read_only = reason
        self._unlock()

    def close(self) -> None:
        """Give up the lock; a temporary folder is removed."""
        if self._writing is not None:
            with suppress(OSError):  # a session on a full disk can be closed too
                self._identity.closed(self.path / CATALOG)
        self.closed = True
        self._unlock()
        unshare_folder(self.path)
        if self.temporary or self.address:
            remove_folder(self.path)
        else:
            MAPPED.forget_below(self.path)

    def _unlock(self) -> None:
        if self.journal is not None:
            with suppress(OSError):  # who opens it takes it over
                self.journal.close()
        if self._writing is not None:
            self._writing.close()
            self._writing = None


_MADE: list[tuple[SessionDirectory, int]] = []
"""New sessions that are not closed, each with the process that made it: a process has those of its parent, too."""


@atexit.register
def _remove_temporary() -> None:
    """Remove the temporary folders of sessions that were not closed, as the process ends.

    It is registered as this module is imported, so what a notebook registers is done before: what it keeps stays.
    """
    for directory, process in _MADE:
        if directory.temporary and not directory.closed and process == os.getpid():
            remove_folder(directory.path)


@contextmanager
def decoding_catalog(path: Path) -> Iterator[None]:
    """Within the context, a catalog's rows become objects; if that fails, the catalog is damaged.

    Raises:
        CatalogError: something was raised that is no error of the workbench.
    """
    try:
        yield
    except WorkbenchError:
        raise
    except Exception as problem:  # whatever comes of bytes that are not those that were written
        raise CatalogError(f"{path} is damaged: {type(problem).__name__}: {problem}", hint=RESTORE) from problem


def _check_remains(folder: Path) -> None:
    """Check that a folder has nothing of a session.

    Raises:
        SessionError: it has; the message names what is missing.
    """
    remains = [folder / IDENTITY, *(f for part in (STATE, STREAMS, LEFTOVERS) for f in (folder / part).rglob("*"))]
    if any(path.is_file() for path in remains):
        hint = f"{RESTORE}; a new session needs another folder"
        raise SessionError(f"{folder / CATALOG} is missing, and the session's other files are there", hint=hint)


def _parts(folder: Path) -> Iterator[Path]:
    """All that a session has in its folder; other files of the analyst may be there too."""
    for part in _tops(folder):
        yield from (part, *part.rglob("*")) if part.is_dir() else (part,)


def _tops(folder: Path) -> Iterator[Path]:
    """The top-level files and folders of a session."""
    yield from (*folder.glob(f"{CATALOG}*"), *folder.glob("*.lock"), *folder.glob(IDENTITY))
    for part in (folder / name for name in (STATE, STREAMS, LEFTOVERS, SINKS, SENT, SPOOLED)):
        if os.path.lexists(part):
            yield part


def _lock(folder: Path) -> IO[bytes] | None:
    """The writer's lock; ``None`` when another process has it."""
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
