"""The file ``session.json`` of a session's folder: which session it is, and how far its catalog has come.

SQLite notices neither that its log was lost, nor that another database has taken the place of its own. So the folder
has the identity of the session, which its catalog has too; the number of the last commit, written after each; and once
the session was closed, the checksum of the catalog. A file that is itself damaged or gone is made anew from a catalog
that is whole.
"""

from __future__ import annotations

import json
import os
import uuid
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from zlib import crc32

from workbench.files.writing import NewFile, checksum_of

IDENTITY = "session.json"
_SIZE = 200
"""Bytes of the file: it is written over in place, after every commit, and never has another length."""


@dataclass(frozen=True)
class Identity:
    """The content of the file.

    Attributes:
        session: the identity.
        commits: the number of the last commit.
        catalog: the checksum of the catalog's file; ``None`` while it has a writer, and after a crash.
    """

    session: str
    commits: int = 0
    catalog: int | None = None

    @property
    def text(self) -> str:
        """The content of the file, with a checksum."""
        checksum = crc32(json.dumps([*asdict(self).values()]).encode())
        return json.dumps({**asdict(self), "checksum": checksum}).ljust(_SIZE - 1) + "\n"


def new_identity() -> str:
    """An identity that no other session has."""
    return uuid.uuid4().hex


def read_identity(folder: Path) -> Identity | None:
    """The identity in a folder; ``None`` where there is no file that is whole."""
    try:
        text = (folder / IDENTITY).read_text()
        fields = json.loads(text)
        identity = Identity(fields["session"], fields["commits"], fields["catalog"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return identity if identity.text == text else None


class IdentityFile:
    """The file of a session that this process writes.

    Args:
        folder: of the session.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / IDENTITY
        self._written: Identity | None = None

    def write(self, identity: Identity) -> None:
        """Write the file, the first time a new one."""
        content = identity.text.encode()
        if self._written is None:
            with NewFile(self._path) as file:
                file.write(content)
        else:
            with self._path.open("r+b", buffering=0) as existing:
                existing.write(content)
        self._written = identity

    def committed(self, commits: int) -> None:
        """Write the number of the last commit."""
        if self._written is not None:
            self.write(replace(self._written, commits=commits))

    def closed(self, catalog: Path) -> None:
        """Write the checksum of the catalog, which has no writer now."""
        log = catalog.with_name(f"{catalog.name}-wal")
        if self._written is not None and not (log.exists() and os.path.getsize(log)):
            self.write(replace(self._written, catalog=checksum_of(catalog)))
