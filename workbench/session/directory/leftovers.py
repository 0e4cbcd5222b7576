"""Files of a session's folder that no commit names, kept for a while and then removed.

They are mostly what was being written when the session ended, and of no use. But nothing is removed on the word of the
catalog alone: opening a session moves them to the folder ``leftovers``, under the path that they had, and they go when
the session has made 20 more commits, or with ``Session.check(empty=True)``.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from workbench.files.writing import make_folder

LEFTOVERS = "leftovers"
KEPT_COMMITS = 20
"""Commits after which leftovers are removed."""


class Leftovers:
    """The leftovers of a session.

    Args:
        session: the session's folder.
    """

    def __init__(self, session: Path) -> None:
        self._session = session
        self._folder = session / LEFTOVERS

    def collect(self, paths: Iterable[Path], commits: int) -> None:
        """Move files and folders here, as of a number of commits; together they become one folder.

        What cannot be moved, as on a full disk, stays where it is until the next time.
        """
        into: Path | None = None
        with suppress(OSError):
            for path in paths:
                into = into or self._new_folder(commits)
                target = into / path.relative_to(self._session)
                make_folder(target.parent)
                os.rename(path, target)

    def expire(self, commits: int) -> None:
        """Remove what was collected long ago, by the number of commits since."""
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
