"""Where the files of a session are kept for all its machines: a folder, or an object store.

A file has one name for ever and is never written over, so no cache, no listing and no late read can be wrong: a reader
has a file whole or not at all. Names have slashes, and are relative to the store.
"""

from __future__ import annotations

import os
import re
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

from workbench.files.writing import make_folder, replacing, write_file

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

R = TypeVar("R")

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/+")
"""How an address begins that is no folder of this machine; a path that was made of one has one slash only."""
_FOLDER = "file"
"""The scheme of a folder that machines share."""

_HDFS = ("hdfs", "viewfs", "webhdfs", "swebhdfs")
"""Schemes of HDFS. Its clients replace a file that is there, or cannot tell (``put_first``): pyarrow's ``move`` removes
it, and libhdfs opens a file to write over it."""

_CREDENTIALS = ("AWS_", "AZURE_", "GOOGLE_")
"""How variables begin that say where an object store is, and who asks."""
_REQUEST_SECONDS, _RETRY_SECONDS = 30, 60
"""The longest that one request takes, and that failed ones are repeated."""
_REQUEST_BYTES = 32 * 1024 * 1024
"""Of an object that is stored or read by one request: a slow line needs more time for more."""
LISTED_AT_ONCE = 1_000
"""Objects that one request lists."""

_REFUSALS = {
    r"169\.254\.169\.254|metadata\.google|[Cc]redential": "this machine has no credentials for it",
    "NoSuchBucket|ContainerNotFound|bucket does not exist": "there is no bucket of this name",
    "InvalidAccessKeyId|SignatureDoesNotMatch|ExpiredToken|InvalidToken|401 Unauthorized": (
        "it does not know the credentials of this machine"
    ),
    "AccessDenied|AuthorizationPermissionMismatch|403 Forbidden": "the credentials of this machine do not allow it",
    "error sending request|error trying to connect|dns error|timed out": "it does not answer",
}
"""What a store refuses, by signs in its answers: "Error responses" of S3, of Azure's and of Google's store."""

LATE_SECONDS = 10.0
"""How long to wait for a file that another machine has just written."""
_FIRST_PAUSE, _LONGEST_PAUSE = 0.05, 1.0
"""Seconds between two looks, which double: a store is paid by requests."""


class Stored(NamedTuple):
    """A file of a store: its name, its bytes, and when it was written, by the store's own clock, in seconds.

    An object that is stored again under its name has another ``etag``, if it has other bytes.
    """

    name: str
    bytes: int
    written: float
    etag: str = ""


class Refusal(OSError):
    """An object store refuses a request.

    Args:
        name: what it was asked for.
        why: in words.
    """

    def __init__(self, name: str, why: str) -> None:
        super().__init__(f"the object store does not give or take {name!r}: {why}")
        self.why = why


class Store(Protocol):
    """Files by name. Every method raises ``OSError`` where the store cannot be reached, or refuses."""

    def put(self, name: str, data: ReadableBuffer) -> None:
        """Store a file of a new name, whole or not at all."""

    def put_first(self, name: str, data: ReadableBuffer) -> bool:
        """Store a file unless there is another of that name; whether the one that is there has these bytes.

        So a request whose answer was lost may be repeated. What several writers store must have who writes in it.
        """

    def get(self, name: str, first: int = 0, length: int | None = None) -> bytes:
        """The bytes of a file, or some of them.

        Raises:
            FileNotFoundError: there is none of that name.
        """

    def names(self, below: str = "") -> Iterator[Stored]:
        """The files whose name begins with that of a folder; a store may take long to list them."""

    def top_files(self, after: str = "") -> Iterator[Stored]:
        """The files that are in no folder below; those whose names come after one in the order of names."""

    def remove(self, names: Iterable[str]) -> None:
        """Remove files; those that are not there are removed."""


def is_address(path: str | Path) -> bool:
    """Whether a path is an address, as of an object store, and not a folder.

    Example:
        >>> [*map(is_address, ("s3://bucket/argus", Path("s3://bucket"), "dbfs:/argus", "/a:/b"))]
        [True, True, True, False]
    """
    return _SCHEME.match(str(path)) is not None


def whole_address(path: str | Path) -> str:
    """An address as it was before it was made a path.

    Example:
        >>> whole_address(Path("s3://bucket/argus/")), whole_address("file:///shared/argus")
        ('s3://bucket/argus', 'file:///shared/argus')
    """
    scheme, rest = _SCHEME.sub(r"\1 ", str(path).rstrip("/")).split(" ", 1)
    return f"{scheme}://{'/' if scheme == _FOLDER else ''}{rest}"


def whole_place(path: str | Path) -> str:
    """An address as it is, or the folder of a path from the root on."""
    return whole_address(path) if is_address(path) else str(Path(path).expanduser().resolve())


def store_at(place: str) -> Store:
    """The store of a folder or an address, with the credentials that the environment has now.

    Raises:
        ModuleNotFoundError: the address needs obstore, which is not installed.
        ValueError: it is of no kind that obstore knows, or of HDFS.

    Example:
        >>> import tempfile
        >>> store = store_at(tempfile.mkdtemp())
        >>> store.put_first("commits/1", b"first"), store.put_first("commits/1", b"second")
        (True, False)
        >>> store.get("commits/1", first=1, length=2)
        b'ir'
        >>> store.put("a", b""), store.put("b", b""), [each.name for each in store.top_files(after="a")]
        (None, None, ['b'])
    """
    return _opened(place, tuple((name, value) for name, value in os.environ.items() if name.startswith(_CREDENTIALS)))


@lru_cache
def _opened(place: str, environment: tuple[tuple[str, str], ...]) -> Store:
    """A store, opened once as long as the environment stays as it is."""
    if place.partition(":")[0] in _HDFS:
        raise ValueError(
            "by HDFS a commit cannot be made only if there is none of its number; by an object store it can"
        )
    if place.startswith(f"{_FOLDER}:"):
        return FolderStore(Path(whole_address(place).removeprefix(f"{_FOLDER}://")))
    return ObjectStore(place) if is_address(place) else FolderStore(Path(place))


def awaited(read: Callable[[], R], seconds: float = LATE_SECONDS) -> R:
    """What reading a file gives, which storage may show late: NFS with cached attributes, a mounted object store.

    Raises:
        FileNotFoundError: there is none after these seconds.
    """
    until, pause = time.monotonic() + seconds, _FIRST_PAUSE
    while True:
        try:
            return read()
        except FileNotFoundError:
            if time.monotonic() >= until:
                raise
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)


class FolderStore:
    """A folder that all machines share; it is for whom its folder is for (``writing``).

    Args:
        folder: which one.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def put(self, name: str, data: ReadableBuffer) -> None:
        """Store a file by renaming it when it is whole."""
        path = self.folder / name
        make_folder(path.parent)
        with replacing(path) as file:
            file.write(data)

    def put_first(self, name: str, data: ReadableBuffer) -> bool:
        """Store a file by giving it a second name, which fails where there is one."""
        path = self.folder / name
        make_folder(path.parent)
        part = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
        try:
            write_file(part, data)
            os.link(part, path)
        except FileExistsError:
            return self.get(name) == bytes(data)
        finally:
            part.unlink(missing_ok=True)
        return True

    def get(self, name: str, first: int = 0, length: int | None = None) -> bytes:
        """The bytes of a file, or some of them."""
        with open(self.folder / name, "rb") as file:
            file.seek(first)
            return file.read(-1 if length is None else length)

    def names(self, below: str = "") -> Iterator[Stored]:
        """The files of a folder and of those in it, but for unfinished ones."""
        for above, _, names in os.walk(self.folder / below):
            for name in names:
                path = f"{above}/{name}"
                with suppress(FileNotFoundError):
                    if not name.startswith("."):
                        status = os.stat(path)
                        yield Stored(path.removeprefix(f"{self.folder}/"), status.st_size, status.st_mtime)

    def top_files(self, after: str = "") -> Iterator[Stored]:
        """The files that are in the folder itself."""
        with suppress(FileNotFoundError), os.scandir(self.folder) as entries:
            for entry in entries:
                if entry.name > after and entry.is_file():
                    status = entry.stat()
                    yield Stored(entry.name, status.st_size, status.st_mtime)

    def remove(self, names: Iterable[str]) -> None:
        """Remove files."""
        for name in names:
            (self.folder / name).unlink(missing_ok=True)


class ObjectStore:
    """An object store that obstore knows: S3 and what speaks it, Google's and Azure's. A file is one request.

    Credentials are those of the machine: of its role, or of its environment (``AWS_ACCESS_KEY_ID`` and so on).

    Args:
        address: ``s3://bucket/prefix``, ``gs://…``, ``az://…``.

    Raises:
        ModuleNotFoundError: obstore is not installed.
        ValueError: obstore does not know the address.
    """

    def __init__(self, address: str) -> None:
        import obstore
        from obstore.store import from_url

        self._requests: Any = obstore
        try:
            self._store = from_url(
                address,
                client_options={"timeout": f"{_REQUEST_SECONDS}s", "allow_http": True},
                retry_config={"max_retries": 4, "retry_timeout": timedelta(seconds=_RETRY_SECONDS)},
            )
        except obstore.exceptions.BaseError as problem:
            raise ValueError(f"{address} is no object store that obstore knows, or lacks what names it") from problem

    def put(self, name: str, data: ReadableBuffer) -> None:
        """Store an object."""
        with _as_os_errors(name):
            self._requests.put(self._store, name, memoryview(data).cast("B"), chunk_size=_REQUEST_BYTES)

    def put_first(self, name: str, data: ReadableBuffer) -> bool:
        """Store an object if there is none of that name, by one request; a lost answer is settled by reading."""
        from obstore.exceptions import AlreadyExistsError, BaseError

        with _as_os_errors(name):
            try:
                self._requests.put(self._store, name, bytes(data), mode="create", use_multipart=False)
            except AlreadyExistsError:
                return self.get(name) == bytes(data)
            except BaseError:
                with suppress(FileNotFoundError):
                    return self.get(name) == bytes(data)
                raise
        return True

    def get(self, name: str, first: int = 0, length: int | None = None) -> bytes:
        """The bytes of an object, or some of them."""
        with _as_os_errors(name):
            if first or length is not None:
                end = {"length": length} if length is not None else {"end": 2**62}
                return bytes(self._requests.get_range(self._store, name, start=first, **end))
            return bytes(self._requests.get(self._store, name).bytes())

    def names(self, below: str = "", after: str = "") -> Iterator[Stored]:
        """The objects of a prefix, in the order of their names; one request for each thousand.

        Args:
            below: the prefix.
            after: only those whose names come after this one; the others are not asked for.
        """
        with _as_os_errors(below):
            listed = self._requests.list(
                self._store, prefix=below or None, offset=after or None, chunk_size=LISTED_AT_ONCE
            )
            for each in chain.from_iterable(listed):
                yield Stored(each["path"], each["size"], each["last_modified"].timestamp(), each["e_tag"] or "")

    def copy_to(self, file: IO[bytes], stored: Stored) -> None:
        """Copy an object into a file, by one request for each 32 MB.

        Raises:
            FileNotFoundError: it is not there any more, or another is there under its name.
        """
        from obstore.exceptions import PreconditionError

        only = {"if_match": stored.etag} if stored.etag else {}
        for first in range(0, stored.bytes, _REQUEST_BYTES):
            part = {"range": (first, min(stored.bytes, first + _REQUEST_BYTES)), **only}
            with _as_os_errors(stored.name):
                try:
                    file.write(self._requests.get(self._store, stored.name, options=part).bytes())
                except PreconditionError as problem:
                    raise FileNotFoundError(f"{stored.name} was replaced") from problem

    def top_files(self, after: str = "") -> Iterator[Stored]:
        """The objects without a slash in their names; a store lists those after a name at once."""
        return (each for each in self.names(after=after) if "/" not in each.name)

    def remove(self, names: Iterable[str]) -> None:
        """Remove objects."""
        if names := list(names):
            with _as_os_errors(names[0]), suppress(FileNotFoundError):
                self._requests.delete(self._store, names)


@contextmanager
def _as_os_errors(name: str) -> Iterator[None]:
    """Turns errors of obstore into ``OSError`` with the request, since its own message may have a secret."""
    from obstore.exceptions import BaseError

    try:
        yield
    except BaseError as problem:
        raise Refusal(name, _why(problem)) from problem


def _why(problem: Exception) -> str:
    """Why a store refuses a request, from the answer of the store or of a machine between."""
    said = (why for sign, why in _REFUSALS.items() if re.search(sign, str(problem)))
    return next(said, type(problem).__name__)
