"""Whether files are what was written: there, of their size, and with their checksum.

Reading is what takes time, so several files are read at once, and a file that was found whole is not read again by
whoever follows a session that goes on. (``Upkeep`` reads all of them again, some after every batch.)
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from workbench.files.writing import checksum_of

AT_A_TIME = 8
"""So many files are read at once: computing checksums of them keeps several cores busy."""


@dataclass(frozen=True)
class Expected:
    """A file that a commit names.

    Attributes:
        path: of the file.
        bytes: how many it has; ``None`` where that is not known.
        checksum: of its bytes; ``None`` where that is not known, as in sessions that were written by older versions.
    """

    path: Path
    bytes: int | None
    checksum: int | None

    def wrong(self, reading: bool = True) -> str:
        """What is wrong with it; nothing when it is whole. Without ``reading`` only its size is looked at."""
        try:
            size = os.path.getsize(self.path)
            if self.bytes is not None and size != self.bytes:
                return f"{self.path} is damaged: it has {size:,} bytes instead of {self.bytes:,}"
            if reading and self.checksum is not None and checksum_of(self.path) != self.checksum:
                return f"{self.path} is damaged: its bytes are not those that were written"
        except FileNotFoundError:
            return f"{self.path} is missing"
        except OSError as problem:
            return f"{self.path} cannot be read: {problem.strerror}"
        return ""


class FilesCheck:
    """Looks at files, at the bytes of each one once."""

    def __init__(self) -> None:
        self._whole: set[Expected] = set()

    def wrong(self, files: Iterable[Expected]) -> dict[Path, str]:
        """Those that are not whole, each with what is wrong with it."""
        wanted = list(dict.fromkeys(files))
        with ThreadPoolExecutor(AT_A_TIME, thread_name_prefix="argus-check") as pool:
            found = dict(zip(wanted, pool.map(lambda f: f.wrong(reading=f not in self._whole), wanted), strict=True))
        self._whole = {file for file, wrong in found.items() if not wrong}
        return {file.path: wrong for file, wrong in found.items() if wrong}
