"""Files of a session's folder that no commit names, kept for a while and then removed.

They are mostly what was being written when the session ended, and of no use. But nothing is removed on the word of the
catalog alone: opening a session moves them to the folder ``leftovers``, under the path that they had, and they go when
the session has made 20 more commits, or with ``Session.check(empty=True)``. Gigabytes of an attempt that was killed go
with the first commit, in another thread: the session works then without them.
"""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from workbench.files.writing import make_folder

LEFTOVERS = "leftovers"
KEPT_COMMITS = 20
"""Commits after which leftovers are removed."""
LARGE = 64 << 20
"""Bytes of leftovers that are not kept beyond a commit."""


class Leftovers:
    """The leftovers of a session.

    Args:
        session: the session's folder.
    """

    def __init__(self, session: Path) -> None:
        self._session = session
        self._folder = session / LEFTOVERS
        self._large: list[Path] = []

    def collect(self, paths: Iterable[Path], commits: int, keep: bool = False) -> None:
        """Move files and folders here, as of a number of commits; together they become one folder.

        Where the session is repaired, large ones are kept as long as others. What cannot be moved, as on a full disk,
        stays where it is until the next time.
        """
        into: Path | None = None
        with suppress(OSError):
            for path in paths:
                into = into or self._new_folder(commits)
                target = into / path.relative_to(self._session)
                make_folder(target.parent)
                os.rename(path, target)
        self._large = [] if keep else [folder for folder in self._collected() if _bytes(folder) >= LARGE]

    def expire(self, commits: int) -> None:
        """Remove files that were collected many commits ago; large ones are removed in another thread."""
        if self._large:
            remove, self._large = self._large, []
            threading.Thread(target=_remove, args=(remove,), name="argus-leftovers", daemon=True).start()
        for folder in self._collected():
            if int(folder.name.partition("-")[0]) + KEPT_COMMITS <= commits:
                shutil.rmtree(folder, ignore_errors=True)

    def remove_all(self) -> None:
        """Remove all of them."""
        shutil.rmtree(self._folder, ignore_errors=True)

    @property
    def files(self) -> list[Path]:
        """All files there."""
        return [path for path in self._folder.rglob("*") if path.is_file()]

    def _collected(self) -> list[Path]:
        if not self._folder.is_dir():
            return []
        return [folder for folder in self._folder.iterdir() if folder.name.partition("-")[0].isdecimal()]

    def _new_folder(self, commits: int) -> Path:
        number = 1 + len(self._collected())
        while (folder := self._folder / f"{commits}-{number}").exists():
            number += 1
        make_folder(folder)
        return folder


def _remove(folders: Iterable[Path]) -> None:
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)


def _bytes(folder: Path) -> int:
    """The size of the files; a file that is removed meanwhile has none."""
    total = 0
    for file in folder.rglob("*"):
        with suppress(OSError):
            total += file.lstat().st_size
    return total
