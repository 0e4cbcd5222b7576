"""What a folder says of its session beside the catalog: which one it is, and how far its catalog has come.

SQLite notices neither that its log was lost, nor that a database of somebody else has taken the place of its own. So
the folder has a mark, ``session.json``: the identity of the session, which its catalog has too; the number of the last
commit, written after each; and once the session was closed, the checksum of the catalog. A mark that is itself damaged
or gone is made anew from a catalog that is whole.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, replace
from pathlib import Path
from zlib import crc32

from workbench.files.writing import NewFile, checksum_of

MARK = "session.json"
_SIZE = 200
"""Bytes of the file: it is written over in place, after every commit, and never has another length."""


@dataclass(frozen=True)
class Mark:
    """What the file says.

    Attributes:
        session: the identity.
        commits: the number of the last commit.
        catalog: the checksum of the catalog's file; ``None`` while somebody writes it, and after a crash.
    """

    session: str
    commits: int = 0
    catalog: int | None = None

    def text(self) -> str:
        """The file's content; it has a checksum of its own."""
        about = json.dumps([self.session, self.commits, self.catalog])
        said = {"session": self.session, "commits": self.commits, "catalog": self.catalog}
        return json.dumps({**said, "checksum": crc32(about.encode())}).ljust(_SIZE - 1) + "\n"


def read_mark(folder: Path) -> Mark | None:
    """The mark of a folder; ``None`` where there is none that is whole."""
    try:
        text = (folder / MARK).read_text()
        said = json.loads(text)
        found = Mark(said["session"], said["commits"], said["catalog"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return found if found.text() == text else None


class MarkFile:
    """The mark of a session that this process writes.

    Args:
        folder: of the session.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / MARK
        self._said: Mark | None = None

    def put(self, mark: Mark) -> None:
        """Write a mark."""
        if self._said is None:
            with NewFile(self._path) as file:
                file.write(mark.text().encode())
        else:
            with self._path.open("r+b", buffering=0) as there:
                there.write(mark.text().encode())
        self._said = mark

    def committed(self, commits: int) -> None:
        """Say that there was a commit."""
        if self._said is not None:
            self.put(replace(self._said, commits=commits))

    def closed(self, catalog: Path) -> None:
        """Say what the catalog is like now that nobody writes it."""
        log = catalog.with_name(f"{catalog.name}-wal")
        if self._said is not None and not (log.exists() and os.path.getsize(log)):
            self.put(replace(self._said, catalog=checksum_of(catalog)))
