"""Files that machines without a common folder have from each other, through a store.

The path that a file has in the driver names it everywhere. Another machine has it in a folder of its own, where it is
fetched when it is first read, whole or not at all; what it writes there it stores before it answers. Files are written
once, so what was fetched stays right. The few that change are the driver's, with a journal in the store. Where a
session has no store, a path is a path. A worker waits for a file that another machine has just written, which storage
may show late: NFS with cached attributes, a mounted object store.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO

from workbench.files.cache import LocalCache
from workbench.files.journal import Journal
from workbench.files.store import LATE_SECONDS, Store, Stored, awaited, store_at
from workbench.files.writing import make_folder, replacing

_AT_A_TIME = 16
"""Files that are fetched or stored together."""

_FETCHED_TOGETHER = 1_048_576
"""Bytes of a pack that a machine fetches at a time where it needs a small part: it will need others beside it."""

_LARGE_PART = _FETCHED_TOGETHER // 4
"""Bytes of a part that is fetched alone."""

_NOT_SHARED = ".index"
"""How the names of files end that each machine makes for itself."""

_LOCAL_FOLDERS = "SPARK_LOCAL_DIRS"
"""The variable of Python workers that has the folders of their executor, which Spark removes with it."""


@dataclass
class SharedFolder:
    """A folder of the driver whose files other machines have through a store.

    Attributes:
        name: its path in the driver.
        address: of the store.
        here: where this machine has the files.
        cache: bounds what is kept here; the driver keeps all.
        journal: of the files that change; workers have none.
    """

    name: str
    address: str
    here: str
    cache: LocalCache | None = None
    journal: Journal | None = None

    @property
    def store(self) -> Store:
        """The store."""
        return store_at(self.address)

    def local(self, path: str) -> str:
        """Where this machine has a file of the folder, or will have it."""
        return f"{self.here}{path[len(self.name) :]}"

    def stored_name(self, path: str) -> str:
        """The name of a file in the store."""
        return path[len(self.name) + 1 :]

    def fetch(self, path: str) -> str:
        """Where this machine has a file, which is fetched if it is not there yet.

        Raises:
            FileNotFoundError: it was not stored.
        """
        local = self.local(path)
        if path.endswith(_NOT_SHARED) or os.path.exists(local):
            if self.cache is not None:
                self.cache.use(local)
            return local
        return self._fetched(local, path)

    def fetch_part(self, path: str, first: int, size: int) -> tuple[str, int]:
        """Where this machine has a part of a file, which is fetched if it is not there yet, and what begins there.

        Args:
            path: of the file.
            first, size: where the part begins in it, and how many bytes it has.

        Raises:
            FileNotFoundError: the file was not stored.
        """
        whole, end = self.local(path), first + size
        if os.path.exists(whole):
            return self.fetch(path), 0
        if size <= _LARGE_PART:
            first -= first % _FETCHED_TOGETHER
            end += -end % _FETCHED_TOGETHER
        stem, ending = os.path.splitext(whole)
        local = f"{stem}.{first}+{end - first}{ending}"
        if not os.path.exists(local):
            return self._fetched(local, path, first, end - first), first
        if self.cache is not None:
            self.cache.use(local)
        return local, first

    def _fetched(self, local: str, path: str, *part: int) -> str:
        data = awaited(lambda: self.store.get(self.stored_name(path), *part), _SHARING.late_seconds)
        make_folder(Path(local).parent)
        with replacing(Path(local)) as file:
            file.write(data)
        self._added(len(data))
        return local

    def store_file(self, path: str) -> Future[None]:
        """Begin to store a file that this machine has just written, and goes on to have."""
        # Opened now: it may be removed here before it is read.
        file = open(self.local(path), "rb")  # noqa: SIM115
        self._added(os.fstat(file.fileno()).st_size)
        return _requests(os.getpid()).submit(self._store, path, file)

    def _store(self, path: str, file: BinaryIO) -> None:
        with file:
            self.store.put(self.stored_name(path), file.read())

    def _added(self, size: int) -> None:
        if self.cache is not None:
            self.cache.add(size)


@dataclass
class _Sharing:
    """The folders of this process that are shared through a store, by their paths in the driver.

    Threads read them while they change, so they are replaced and not changed.

    Attributes:
        late_seconds: how long this process waits for a file; a driver has written what it reads, or knows who did.
    """

    folders: Mapping[str, SharedFolder] = field(default_factory=dict)
    late_seconds: float = 0.0


_SHARING = _Sharing()


def share_folder(folder: Path, address: str, journal: Journal) -> None:
    """Let other machines have the files of a folder of this process through a store."""
    shared = SharedFolder(str(folder), address, str(folder), journal=journal)
    _SHARING.folders = {**_SHARING.folders, shared.name: shared}


def unshare_folder(folder: Path) -> None:
    """End that."""
    _SHARING.folders = {name: shared for name, shared in _SHARING.folders.items() if name != str(folder)}


def shared_text(path: str | Path, most_bytes: int) -> str:
    """What a worker must know of the shared folder that a path is in; "" where it is in none.

    Args:
        path: in the driver.
        most_bytes: that a machine keeps of its files, about.
    """
    folder = _folder_of(str(path))
    return "" if folder is None else json.dumps([folder.name, folder.address, most_bytes])


def share_here(text: str) -> None:
    """Let the next tasks of this worker have the files of a driver's folder, and of no other, in one of its executor.

    Args:
        text: says which (``shared_text``).
    """
    _SHARING.folders = {(folder := _folder_here(text)).name: folder} if text else {}
    _SHARING.late_seconds = LATE_SECONDS


def folder_of_executor() -> str:
    """Where a worker has files that go with its executor; in another process the folder of temporary files."""
    return os.environ.get(_LOCAL_FOLDERS, "").partition(",")[0] or tempfile.gettempdir()


@lru_cache
def _folder_here(text: str) -> SharedFolder:
    name, address, most_bytes = json.loads(text)
    here = Path(folder_of_executor(), f"argus-{hashlib.sha256(f'{name} {address}'.encode()).hexdigest()[:16]}")
    here.mkdir(mode=0o700, parents=True, exist_ok=True)
    return SharedFolder(name, address, str(here), LocalCache(str(here), most_bytes))


def is_cached(path: str) -> bool:
    """Whether this is a worker that has a file from a store, or has stored it."""
    folder = _folder_of(path)
    return folder is not None and folder.cache is not None


def local_path(path: str) -> str:
    """Where this machine has a file, or will have it."""
    folder = _folder_of(path)
    return path if folder is None else folder.local(path)


def present(path: str) -> str:
    """Where this machine has a file, fetched if need be; the path itself where no store is used.

    Raises:
        FileNotFoundError: it was not stored, or a worker does not see it within some seconds.
        OSError: the store cannot be reached.
    """
    if (folder := _folder_of(path)) is not None:
        return folder.fetch(path)
    if _SHARING.late_seconds and not path.endswith(_NOT_SHARED):
        awaited(lambda: os.stat(path), _SHARING.late_seconds)
    return path


def fetch_together(paths: Iterable[str]) -> None:
    """Fetch the files that are read next and are not here; a missing file is reported to its reader."""
    if len(elsewhere := [path for path in paths if is_elsewhere(path)]) > 1:
        with suppress(OSError):
            for file in [_requests(os.getpid()).submit(present, path) for path in elsewhere]:
                file.result()


def present_part(path: str, first: int, size: int) -> tuple[str, int]:
    """Where this machine has a part of a file, fetched if need be without the others, and which byte begins there.

    Raises:
        FileNotFoundError: see ``present``.
        OSError: the store cannot be reached.
    """
    folder = _folder_of(path)
    return (present(path), 0) if folder is None else folder.fetch_part(path, first, size)


def storing(paths: Iterable[str]) -> list[Future[None]]:
    """Begin to store files that this machine has just written; no commit names a file before it is stored.

    Raises:
        OSError: one is not there.
    """
    of_store = [(folder, path) for path in paths if (folder := _folder_of(path)) is not None]
    return [folder.store_file(path) for folder, path in of_store]


def all_stored(paths: Iterable[str]) -> None:
    """Store files that this machine has just written; other machines read them next.

    Raises:
        OSError: the store does not take one.
    """
    for file in storing(paths):
        file.result()


@lru_cache
def _requests(process: int) -> ThreadPoolExecutor:
    """The threads that fetch and store files, of a process: one that is forked has none of them."""
    return ThreadPoolExecutor(_AT_A_TIME, thread_name_prefix="argus-store")


def journal_of(path: Path) -> tuple[Journal, str] | None:
    """The journal that a file of this process belongs to, and its name there; ``None`` where there is none."""
    folder = _folder_of(str(path))
    return None if folder is None or folder.journal is None else (folder.journal, folder.stored_name(str(path)))


def files_below(folder: Path) -> list[str]:
    """The files in a folder, here or in its store."""
    return sorted({*stored_below(folder), *(str(file) for file in folder.iterdir() if file.is_file())})


def write_small(path: Path, data: bytes, soon: bool = False) -> None:
    """Write a small file that changes, whole or not at all.

    Args:
        path: of the file.
        data: its bytes.
        soon: whether a store may get it with the next commit of whatever, and not now.

    Raises:
        OSError: it cannot be written, or its session is another process's by now.
    """
    if (kept := journal_of(path)) is None:
        with replacing(path) as file:
            file.write(data)
    elif soon:
        kept[0].stage(kept[1], data)
    else:
        kept[0].write(kept[1], data)


def remove_small(path: Path) -> None:
    """Remove a small file that changes, with the next commit."""
    if (kept := journal_of(path)) is None:
        path.unlink(missing_ok=True)
    else:
        kept[0].stage(kept[1], None)


def removed(paths: Iterable[str]) -> None:
    """Remove files from their store, which this machine has removed."""
    of_folder: dict[str, list[str]] = {}
    for path in paths:
        if (folder := _folder_of(path)) is not None and not path.endswith(_NOT_SHARED):
            of_folder.setdefault(folder.name, []).append(folder.stored_name(path))
    for name, names in of_folder.items():
        _SHARING.folders[name].store.remove(names)


def stored_below(path: str | Path) -> dict[str, Stored]:
    """The stored files of a shared folder, or of one in it, by their paths in the driver."""
    folder = _folder_of(str(path))
    if folder is None:
        return {}
    below = folder.stored_name(str(path))
    return {f"{folder.name}/{each.name}": each for each in folder.store.names(below)}


def is_elsewhere(path: str) -> bool:
    """Whether a file is in a store, and this machine has not fetched it, or some of it alone."""
    folder = _folder_of(path)
    return folder is not None and not os.path.exists(folder.local(path))


def is_stored(path: str) -> bool:
    """Whether the store has a file; its listing may show a new one late."""
    folder = _folder_of(path)
    try:
        return folder is not None and bool(folder.store.get(folder.stored_name(path), 0, 1))
    except FileNotFoundError:
        return False


def _folder_of(path: str) -> SharedFolder | None:
    for name, folder in _SHARING.folders.items():
        if path.startswith(name) and path[len(name) :][:1] in ("", "/"):
            return folder
    return None
