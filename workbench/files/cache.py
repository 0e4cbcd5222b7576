"""The files that a machine has of a store: as many bytes as it may keep, those that were used last.

All worker processes of a machine have one folder, and none leads. The time of a file says when it was last used, as
nearly as a minute; a process that has added a share of the bytes looks through the folder, and removes what was not
used the longest. A file that is mapped stays readable, and one that is read again is fetched again.
"""

from __future__ import annotations

import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

_USED_SECONDS = 60.0
"""How long a use is not written down again."""
_SHARE = 16
"""Which part of the bytes one process adds before it looks through the folder."""
_KNOWN = 65_536
"""Files whose last use, or checksum, a process knows."""


class LocalCache:
    """The cache of one machine, as one of its processes uses it.

    Args:
        folder: of the files; those whose names begin with a dot are being written.
        most_bytes: that are kept, about.
    """

    def __init__(self, folder: str, most_bytes: int) -> None:
        self.most_bytes = most_bytes
        self._folder = folder
        self._added = most_bytes  # others may have filled it before
        self._used: OrderedDict[str, float] = OrderedDict()
        self._lock = threading.Lock()

    def use(self, file: str) -> None:
        """A file is read now."""
        now = time.monotonic()
        with self._lock:
            if now - self._used.get(file, -_USED_SECONDS) < _USED_SECONDS:
                return
            self._used[file] = now
            self._used.move_to_end(file)
            while len(self._used) > _KNOWN:
                self._used.popitem(last=False)
        with suppress(FileNotFoundError):
            os.utime(file)

    def add(self, size: int) -> None:
        """A file of some bytes has been added."""
        with self._lock:
            self._added += size
            if self._added * _SHARE < self.most_bytes:
                return
            self._added = 0
        self._evict()

    def _evict(self) -> None:
        found = []
        for above, _, names in os.walk(self._folder):
            for name in names:
                with suppress(FileNotFoundError):
                    if not name.startswith("."):
                        status = os.stat(path := os.path.join(above, name))
                        found.append((status.st_mtime_ns, status.st_size, path))
        left = sum(size for _, size, _ in found)
        for _, size, path in sorted(found):
            if left <= self.most_bytes:
                return
            Path(path).unlink(missing_ok=True)
            left -= size


class Expected:
    """The checksums that the driver of a job gave, of files or parts of packs, by their paths.

    Example:
        >>> expected, found = Expected(), {"a": 7}
        >>> expected.tell("a", 7)
        >>> expected.check("a", lambda path: found[path], lambda path: None)
        >>> expected.tell("a", 8)
        >>> expected.check("a", lambda path: found[path], lambda path: None)
        Traceback (most recent call last):
        OSError: a is damaged: its bytes are not those that were written
    """

    def __init__(self) -> None:
        self._told: OrderedDict[str, int] = OrderedDict()
        self._lock = threading.Lock()

    def tell(self, path: str, checksum: int | None) -> None:
        """Note the checksum with which a path was written."""
        with self._lock:
            if checksum is not None:
                self._told[path] = checksum
            while len(self._told) > _KNOWN:
                self._told.popitem(last=False)

    def check(self, path: str, checksum: Callable[[str], int], fetch_again: Callable[[str], None]) -> None:
        """Compare the bytes of a path with the checksum that the driver gave, if it gave one.

        Args:
            path: of a file, or of a part of a pack.
            checksum: of the bytes that a path has.
            fetch_again: makes this machine fetch the file anew: its disk may be what is broken.

        Raises:
            OSError: it is not what was written, also in the store.
        """
        told = self._told.get(path)
        if told is None or checksum(path) == told:
            return
        fetch_again(path)
        if checksum(path) != told:
            raise OSError(f"{path} is damaged: its bytes are not those that were written")


CHECKSUMS = Expected()
"""What this process was told."""
