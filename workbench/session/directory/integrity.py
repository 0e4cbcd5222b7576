"""Whether files still are what was written: there, of their size, and with their checksum.

Reading is what takes time, so several files are read at once, and ``FileVerifier`` reads a file that was whole once.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from workbench.files.packs import bytes_checksum, extent_of, file_of, length_of
from workbench.files.shared import is_stored, present, stored_below
from workbench.files.store import Stored

_AT_A_TIME = 8
"""Files that are read at once: computing checksums of them keeps several cores busy."""


@dataclass(frozen=True)
class StoredFile:
    """A file that a commit names, or a part of a pack.

    Attributes:
        path: of the file, or of the part.
        bytes: how many it has; ``None`` where that is not known.
        checksum: of its bytes; ``None`` where that is not known, as in sessions that older versions wrote.
    """

    path: Path
    bytes: int | None
    checksum: int | None

    @property
    def file(self) -> str:
        """The file that it is, or is in."""
        return file_of(str(self.path))

    @property
    def size(self) -> int:
        """The present number of bytes."""
        return length_of(str(self.path))

    def problem(self, read: bool = True) -> str:
        """Its problem; "" when it is whole. Without ``read`` only its size is looked at."""
        file, first, part = extent_of(str(self.path))
        try:
            size = os.path.getsize(present(file))
            expected = self.bytes if part is None else max(size, first + part)
            if expected is not None and size != expected:
                return f"{file} is damaged: it has {size:,} bytes instead of {expected:,}"
            if read and self.checksum is not None and bytes_checksum(str(self.path)) != self.checksum:
                return f"{file} is damaged: its bytes are not those that were written"
        except FileNotFoundError:
            return f"{file} is missing"
        except OSError as problem:
            return f"{file} cannot be read: {problem.strerror}"
        return ""


class FileVerifier:
    """Verifies files, and reads each one only until it was whole once."""

    def __init__(self) -> None:
        self._whole: set[StoredFile] = set()

    def problems(self, files: Iterable[StoredFile]) -> dict[Path, str]:
        """The damaged files, each with the damage."""
        distinct = list(dict.fromkeys(files))
        with ThreadPoolExecutor(_AT_A_TIME, thread_name_prefix="argus-verify") as pool:
            problems = pool.map(lambda file: file.problem(read=file not in self._whole), distinct)
            by_file = dict(zip(distinct, problems, strict=True))
        self._whole = {file for file, problem in by_file.items() if not problem}
        return {file.path: problem for file, problem in by_file.items() if problem}


class StoreVerifier:
    """Verifies that files are in a store, with the sizes that they were written with; later ones are taken for whole.

    Args:
        folder: of the session that has the store.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._found: dict[Path, str] | None = None

    def problems(self, files: Iterable[StoredFile]) -> dict[Path, str]:
        """The damaged files, each with the damage."""
        files = list(files)
        if self._found is None:
            stored = stored_below(self._folder)
            self._found = {file.path: problem for file in files if (problem := _problem_in_store(file, stored))}
        return {file.path: self._found[file.path] for file in files if file.path in self._found}


def _problem_in_store(file: StoredFile, stored: Mapping[str, Stored]) -> str:
    name, first, part = extent_of(str(file.path))
    if (there := stored.get(name)) is None:
        return "" if is_stored(name) else f"{name} is missing"
    expected = file.bytes if part is None else max(there.bytes, first + part)
    if expected is not None and there.bytes != expected:
        return f"{name} is damaged: it has {there.bytes:,} bytes instead of {expected:,}"
    return ""
