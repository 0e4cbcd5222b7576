"""Whether files still are what was written: there, of their size, and with their checksum.

Reading is what takes time, so several files are read at once, and ``FileVerifier`` reads a file that was whole once.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from workbench.files.writing import checksum_of

_AT_A_TIME = 8
"""Files that are read at once: computing checksums of them keeps several cores busy."""


@dataclass(frozen=True)
class StoredFile:
    """A file that a commit names.

    Attributes:
        path: of the file.
        bytes: how many it has; ``None`` where that is not known.
        checksum: of its bytes; ``None`` where that is not known, as in sessions that older versions wrote.
    """

    path: Path
    bytes: int | None
    checksum: int | None

    def problem(self, read: bool = True) -> str:
        """Its problem; "" when it is whole. Without ``read`` only its size is looked at."""
        try:
            size = os.path.getsize(self.path)
            if self.bytes is not None and size != self.bytes:
                return f"{self.path} is damaged: it has {size:,} bytes instead of {self.bytes:,}"
            if read and self.checksum is not None and checksum_of(self.path) != self.checksum:
                return f"{self.path} is damaged: its bytes are not those that were written"
        except FileNotFoundError:
            return f"{self.path} is missing"
        except OSError as problem:
            return f"{self.path} cannot be read: {problem.strerror}"
        return ""


class FileVerifier:
    """Verifies files, and reads each one only until it was whole once."""

    def __init__(self) -> None:
        self._whole: set[StoredFile] = set()

    def problems(self, files: Iterable[StoredFile]) -> dict[Path, str]:
        """The files that are not whole, each with what is wrong with it."""
        distinct = list(dict.fromkeys(files))
        with ThreadPoolExecutor(_AT_A_TIME, thread_name_prefix="argus-verify") as pool:
            problems = pool.map(lambda file: file.problem(read=file not in self._whole), distinct)
            by_file = dict(zip(distinct, problems, strict=True))
        self._whole = {file for file, problem in by_file.items() if not problem}
        return {file.path: problem for file, problem in by_file.items() if problem}
