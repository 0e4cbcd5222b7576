"""Commits of a journal: what they say, their bytes, and how their statements are repeated."""

from __future__ import annotations

import json
import sqlite3
import uuid
import zlib
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

RecordedStatement = tuple[str, Sequence[Sequence[Any]]]
"""An SQL statement, and the rows of values that it was executed with."""
FileChange = tuple[str, "bytes | Sequence[RecordedStatement] | None"]
"""A file by its name in the folder: its new bytes, what was done to a database, or ``None``: it was removed."""


@dataclass(frozen=True)
class JournalCommit:
    """A commit as the journal has it.

    Attributes:
        owner: who made it: no other process has it.
        by: the same in words; "" where the owner gave the session back.
        snapshot: the name of the last snapshot, and the number of the commit that it is of.
        changes: what it changes.
        nonce: no other commit has it.
    """

    owner: str
    by: str
    snapshot: tuple[str, int]
    changes: Sequence[FileChange] = ()
    nonce: str = field(default_factory=lambda: uuid.uuid4().hex)

    def encoded(self) -> bytes:
        """Its bytes."""
        blobs: list[bytes] = []

        def blob(value: Any) -> dict[str, int]:
            blobs.append(bytes(value))
            return {"bytes": len(blobs[-1])}

        fields = [self.owner, self.by, self.snapshot, self.changes, self.nonce]
        text = json.dumps(fields, default=blob).encode()
        return zlib.compress(b"".join([len(text).to_bytes(8), text, *blobs]), 1)

    @staticmethod
    def decoded(data: bytes) -> JournalCommit:
        """A commit from its bytes.

        Raises:
            OSError: they are not those of a commit.
        """
        try:
            content = memoryview(zlib.decompress(data))
            place = 8 + int.from_bytes(content[:8])

            def blob(value: dict[str, int]) -> bytes:
                nonlocal place
                place += value["bytes"]
                return bytes(content[place - value["bytes"] : place])

            owner, by, (name, number), changes, nonce = json.loads(bytes(content[8:place]), object_hook=blob)
            return JournalCommit(owner, by, (name, number), [(file, change) for file, change in changes], nonce)
        except (zlib.error, ValueError, KeyError, TypeError) as problem:
            raise OSError(f"a commit is damaged: {problem}") from problem


def database_bytes(path: Path) -> bytes:
    """The bytes of a database as its last transaction left it, also where it is open."""
    with closing(sqlite3.connect(path)) as database:
        return database.serialize()


def replaying(path: Path) -> sqlite3.Connection:
    """A connection for statements of a store, which open no other file."""
    database = sqlite3.connect(path, isolation_level=None)
    database.execute("PRAGMA synchronous = OFF")
    refused = (sqlite3.SQLITE_ATTACH, sqlite3.SQLITE_DETACH, sqlite3.SQLITE_PRAGMA)
    database.set_authorizer(
        lambda action, *_: sqlite3.SQLITE_DENY if action in refused else sqlite3.SQLITE_OK,
    )
    return database


def repeat(database: sqlite3.Connection, statements: Sequence[RecordedStatement]) -> None:
    """Execute statements again, as one transaction.

    Raises:
        OSError: SQLite refuses one.
    """
    try:
        database.execute("BEGIN")
        for sql, rows in statements:
            for row in rows:
                database.execute(sql, row)
        database.execute("COMMIT")
    except sqlite3.Error as problem:
        raise OSError(f"a commit cannot be repeated: {problem}") from problem
