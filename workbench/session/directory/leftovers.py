"""What opening a session finds in its folder that no commit speaks of, kept for a while and then removed.

It is mostly what was being written when the session ended, and of no use. But nothing is removed on the word of the
catalog alone: it is put into the folder ``set_aside``, under the path that it had, and goes when the session has made
20 more commits, or when somebody says so (``Session.check(empty=True)``).
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from workbench.files.writing import make_folder

SET_ASIDE = "set_aside"
KEPT_COMMITS = 20
"""After so many more commits what was set aside goes."""


class SetAside:
    """The folder of what was set aside in a session.

    Args:
        session: the session's folder.
    """

    def __init__(self, session: Path) -> None:
        self._session = session
        self._folder = session / SET_ASIDE

    def take(self, paths: Iterable[Path], commits: int) -> None:
        """Set files and folders aside, as of a number of commits; together they become one folder.

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
        """Remove what was set aside long ago, now that there have been so many commits."""
        for folder in self._taken():
            if int(folder.name.partition("-")[0]) + KEPT_COMMITS <= commits:
                shutil.rmtree(folder, ignore_errors=True)

    def empty(self) -> None:
        """Remove all of it."""
        shutil.rmtree(self._folder, ignore_errors=True)

    @property
    def files(self) -> list[Path]:
        """All files there."""
        return [path for path in self._folder.rglob("*") if path.is_file()]

    def _taken(self) -> Iterator[Path]:
        if self._folder.is_dir():
            yield from (f for f in self._folder.iterdir() if f.name.partition("-")[0].isdecimal())

    def _new_folder(self, commits: int) -> Path:
        number = 1 + sum(1 for _ in self._taken())
        while (folder := self._folder / f"{commits}-{number}").exists():
            number += 1
        make_folder(folder)
        return folder
