"""The SQLite database of a catalog: opening it, savepoints that nest, and statements of the analyst that only read."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from workbench.catalog.schema import AGGREGATE_RULES, DDL, VERSION
from workbench.errors import WorkbenchError

_STATEMENTS = 512
"""How many prepared statements SQLite keeps."""
_READING = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}


class CatalogError(WorkbenchError):
    """The catalog cannot be opened, read or written."""


class Database:
    """A connection in autocommit mode; several statements belong together inside a ``savepoint``.

    Args:
        path: the file, made when it is not there; ``None`` for memory.

    Raises:
        CatalogError: the file is no catalog, or one of another version.
    """

    def __init__(self, path: Path | None = None) -> None:
        try:
            # A session may run batches in another thread than it was made in; it never uses two at a time.
            self._connection = sqlite3.connect(
                path or ":memory:", isolation_level=None, check_same_thread=False, cached_statements=_STATEMENTS
            )
        except sqlite3.Error as error:
            raise CatalogError(f"{path} cannot be opened: {error}") from error
        try:
            self._prepare(path)
        except sqlite3.Error as error:
            self.close()
            raise CatalogError(f"{path} is not a catalog of the workbench: {error}") from error
        except CatalogError:
            self.close()
            raise
        self._depth = 0

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def run(self, sql: str, values: Iterable[object] = ()) -> int:
        """Execute a statement that changes something; how many rows it changed."""
        return self._connection.execute(sql, tuple(values)).rowcount

    def run_many(self, sql: str, rows: Iterable[tuple[object, ...]]) -> None:
        """Execute it once for each row of values."""
        self._connection.executemany(sql, rows)

    def insert(self, table: str, rows: Iterable[tuple[object, ...]], *, missing: bool = False) -> None:
        """Insert whole rows; with ``missing`` only those that are not there."""
        rows = list(rows)
        if rows:
            marks = ", ".join("?" * len(rows[0]))
            self.run_many(f"INSERT {'OR IGNORE ' if missing else ''}INTO {table} VALUES ({marks})", rows)

    def rows(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """All rows of a SELECT."""
        return self._connection.execute(sql, values).fetchall()

    def first(self, sql: str, *values: object) -> tuple[Any, ...] | None:
        """The first row of a SELECT, if there is one."""
        return self._connection.execute(sql, values).fetchone()

    def column(self, sql: str, *values: object) -> list[Any]:
        """The first column of a SELECT."""
        return [row[0] for row in self._connection.execute(sql, values)]

    @property
    def outermost(self) -> bool:
        """Whether no savepoint is open."""
        return self._depth == 0

    @contextmanager
    def savepoint(self, *, keep: bool = True) -> Iterator[None]:
        """What is done inside is kept or undone as a whole; without ``keep`` it is always undone."""
        name = f"level_{self._depth}"
        self.run(f"SAVEPOINT {name}")
        self._depth += 1
        try:
            yield
        except BaseException:
            keep = False
            raise
        finally:
            self._depth -= 1
            if not keep:
                self.run(f"ROLLBACK TO {name}")
            self.run(f"RELEASE {name}")

    @property
    def tables(self) -> list[str]:
        """Names of all tables."""
        return self.column("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")

    def read(self, sql: str) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
        """A SELECT of the analyst: column names and rows.

        Raises:
            CatalogError: it does something else than reading, or SQLite does not understand it.
        """
        refused: list[int] = []

        def authorize(action: int, *_: object) -> int:
            if action in _READING:
                return sqlite3.SQLITE_OK
            refused.append(action)
            return sqlite3.SQLITE_DENY

        self._connection.set_authorizer(authorize)
        try:
            cursor = self._connection.execute(sql)
            names, rows = tuple(d[0] for d in cursor.description or ()), cursor.fetchall()
        except (sqlite3.Error, sqlite3.Warning) as error:
            self._connection.set_authorizer(None)
            why = "a catalog is only read: use SELECT" if refused else str(error)
            raise CatalogError(why, hint=f"its tables are {', '.join(self.tables)}") from error
        finally:
            self._connection.set_authorizer(None)
        return names, rows

    def _prepare(self, path: Path | None) -> None:
        (version,) = self.column("PRAGMA user_version")
        if version == 0 and not self.tables:
            self._create()
        elif version == 0:
            raise CatalogError(f"{path} is not a catalog of the workbench")
        elif version != VERSION:
            raise CatalogError(
                f"{path} has catalog version {version}, and this workbench reads version {VERSION}",
                hint="open it with the workbench that wrote it, or start with an empty folder",
            )
        self.run("PRAGMA journal_mode = WAL")
        self.run("PRAGMA synchronous = NORMAL")

    def _create(self) -> None:
        self._connection.executescript(f"BEGIN IMMEDIATE; {DDL}")
        self.insert("aggregate_rules", AGGREGATE_RULES)
        self.run(f"PRAGMA user_version = {VERSION}")
        self.run("COMMIT")
