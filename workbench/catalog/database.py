"""The SQLite database of a catalog: opening or copying it, savepoints that nest, and statements that only read.

A commit is written to SQLite's log and forced to the disk, so that what is removed after it was really replaced. A
catalog that is never opened again does without.
"""

from __future__ import annotations

import re
import shutil
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from workbench.catalog.aggregate_relations import aggregate_relations
from workbench.catalog.codec import present_json
from workbench.catalog.schema import DDL, DERIVED, MIGRATIONS, VERSION
from workbench.errors import WorkbenchError, nearest
from workbench.files.journal import DATABASE
from workbench.files.recorded import RecordedConnection
from workbench.files.shared import journal_of
from workbench.files.writing import ensure_file

_STATEMENTS = 512
"""How many prepared statements SQLite keeps."""
RESTORE = "nothing was changed: put the file back from a copy of the session's folder"
_EVERY_PROBLEM = "PRAGMA integrity_check(1000000)"
_READING = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}

_TABLES = "its tables are streams, queries, nodes, reads, serves and others, which %argus catalog lists"


class CatalogError(WorkbenchError):
    """The catalog cannot be opened, read or written."""


class Database:
    """A connection in autocommit mode; several statements belong together inside a ``savepoint``.

    Args:
        path: the file, made when it is not there; ``None`` for memory.
        durable: whether a commit must survive that the machine loses its power.

    Raises:
        CatalogError: the file is no catalog, or one of another version.
    """

    def __init__(self, path: Path | None = None, durable: bool = True) -> None:
        try:
            if path is not None:
                ensure_file(path)  # SQLite gives its log the mode of the database
            # A session may run batches in another thread than it was made in; it never uses two at a time.
            self._connection = sqlite3.connect(
                path or ":memory:",
                isolation_level=None,
                check_same_thread=False,
                cached_statements=_STATEMENTS,
                factory=RecordedConnection,
            )
        except (OSError, sqlite3.Error) as error:
            raise CatalogError(f"{path} cannot be opened: {error}") from error
        try:
            self._prepare(path, durable)
        except sqlite3.Error as error:
            self.close()
            raise CatalogError(f"{path} is not a catalog of the workbench, or is damaged: {error}") from error
        except CatalogError:
            self.close()
            raise
        self._depth = 0
        if path is not None and path.suffix == DATABASE and (kept := journal_of(path)) is not None:
            kept[0].include(kept[1])  # as it was made, or brought to this version
            self._connection.record(*kept)

    @staticmethod
    def copied(path: Path) -> Database:
        """A catalog's last commit, copied into memory: what others commit meanwhile does not change it.

        Raises:
            CatalogError: the file is no catalog, or one of another version.
        """
        return Database._copied(path, reading(path))

    @staticmethod
    def inspected(path: Path) -> Database:
        """A catalog without a writer, copied into memory after a check of all its pages.

        It is looked at in another place: opening it would already bring SQLite's log into it, also one that is not its
        own or is damaged.

        Raises:
            CatalogError: the file is empty, is no catalog or one of another version, or is not whole.
        """
        try:
            with TemporaryDirectory(prefix="argus-catalog-") as elsewhere:
                return Database._inspected(path, Path(elsewhere))
        except OSError as error:
            raise CatalogError(f"{path} cannot be read: {error}") from error

    @staticmethod
    def _inspected(path: Path, elsewhere: Path) -> Database:
        if not path.stat().st_size:
            raise CatalogError(f"{path} is empty (or all of it was in {_log(path).name})", hint=RESTORE)
        for part in (path, _log(path)):
            if part.exists():
                shutil.copyfile(part, elsewhere / part.name)
        source = sqlite3.connect(elsewhere / path.name, isolation_level=None, check_same_thread=False)
        try:
            copy = Database._copied(path, source)
        except CatalogError as error:
            where = f" (or its log {_log(path).name} is damaged or missing)"
            raise CatalogError(f"{error.message}{where}", hint=error.hint or RESTORE) from error
        if problems := copy._problems():
            copy.close()
            where = f"{path} (or its log {_log(path).name})"
            raise CatalogError(f"{where} is damaged: {'; '.join(problems[:2])}", hint=RESTORE)
        return copy

    @staticmethod
    def _copied(path: Path, source: sqlite3.Connection) -> Database:
        copy = Database()
        try:
            source.backup(copy._connection)
            copy._check(path)
        except sqlite3.Error as error:
            copy.close()
            raise CatalogError(f"{path} is not a catalog of the workbench, or is damaged: {error}") from error
        except CatalogError:
            copy.close()
            raise
        finally:
            source.close()
        return copy

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def copy_to(self, path: Path) -> None:
        """Write the contents to a new file."""
        ensure_file(path)
        self._connection.execute("VACUUM INTO ?", (str(path),))

    def run(self, sql: str, values: Iterable[object] = ()) -> int:
        """Execute a statement that changes something; how many rows it changed."""
        return self._connection.execute(sql, tuple(values)).rowcount

    def run_many(self, sql: str, rows: Iterable[tuple[object, ...]]) -> None:
        """Execute it once for each row of values."""
        self._connection.executemany(sql, rows)

    def insert(
        self, table: str, rows: Iterable[tuple[object, ...]], *, missing: bool = False, columns: str = ""
    ) -> None:
        """Insert rows; with ``missing`` only those that are not there. ``columns``: whose values; all unless given."""
        rows = list(rows)
        if rows:
            into, marks = f"{table} ({columns})" if columns else table, ", ".join("?" * len(rows[0]))
            self.run_many(f"INSERT {'OR IGNORE ' if missing else ''}INTO {into} VALUES ({marks})", rows)

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
        """A savepoint: the changes inside are kept or undone as a whole; without ``keep`` they are always undone."""
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
            self._end(name, keep)

    def _end(self, name: str, keep: bool) -> None:
        if not self._connection.in_transaction:
            return  # SQLite has undone everything by itself, as it does when the disk is full
        try:
            if not keep:
                self.run(f"ROLLBACK TO {name}")
            self.run(f"RELEASE {name}")
        except (sqlite3.Error, OSError):
            if self.outermost and self._connection.in_transaction:
                self.run("ROLLBACK")  # a commit that fails stays open
            raise

    @property
    def tables(self) -> list[str]:
        """Names of all tables."""
        return self.column("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")

    @property
    def relations(self) -> list[str]:
        """Names of all tables, and of the relations that follow from them."""
        return sorted([*self.tables, *self.column("SELECT name FROM sqlite_temp_master WHERE type = 'view'")])

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
            why = "a catalog is only read: use SELECT" if refused else _in_words(str(error))
            missing = re.fullmatch("there is no relation (.*)", why)
            near = nearest(missing[1], self.relations) if missing else None
            raise CatalogError(why, hint=near or _TABLES) from error
        finally:
            self._connection.set_authorizer(None)
        return names, rows

    def _prepare(self, path: Path | None, durable: bool) -> None:
        if not self.column("PRAGMA user_version")[0] and not self.tables:
            self._create()
        self._check(path)
        self.run("PRAGMA journal_mode = WAL")
        self.run(f"PRAGMA synchronous = {'FULL' if durable else 'OFF'}")

    def _check(self, path: Path | None) -> None:
        if self.column("SELECT name FROM sqlite_master WHERE type IN ('trigger', 'view')"):
            raise CatalogError(f"{path} is not a catalog of the workbench: it has triggers or views", hint=RESTORE)
        (version,) = self.column("PRAGMA user_version")
        if version == 0:
            raise CatalogError(f"{path} is not a catalog of the workbench")
        self._connection.create_function("present_json", 1, present_json, deterministic=True)
        # Relations that follow from others name columns that older versions lack.
        for view in self.column("SELECT name FROM sqlite_temp_master WHERE type = 'view'"):
            self.run(f"DROP VIEW temp.{view}")
        while version in MIGRATIONS:
            script, version = MIGRATIONS[version], version + 1
            self._connection.executescript(f"BEGIN IMMEDIATE; {script} PRAGMA user_version = {version}; COMMIT")
        if version != VERSION:
            raise CatalogError(
                f"{path} has catalog version {version}, and this workbench reads version {VERSION}",
                hint="open it with the workbench that wrote it, or start with an empty folder",
            )
        self._connection.create_function("aggregate_relations", 1, aggregate_relations, deterministic=True)
        self._connection.executescript(DERIVED)

    def _problems(self) -> list[str]:
        """The problems of the database file itself."""
        try:
            # SQLite 3.40 takes values for NULL where a table has no rowid and its key is not its first columns.
            found = [text for text in self.column(_EVERY_PROBLEM) if not text.startswith(("ok", "NULL value in"))]
            return [*found, *(f"it has no relation {table}" for table in self._missing_tables())]
        except sqlite3.Error as error:
            return [str(error)]

    def _missing_tables(self) -> list[str]:
        """The relations that every catalog has, but this one has not."""
        whole = Database()
        try:
            return [table for table in whole.tables if table not in self.tables]
        finally:
            whole.close()

    def _create(self) -> None:
        self._connection.executescript(f"BEGIN IMMEDIATE; {DDL}")
        self.run(f"PRAGMA user_version = {VERSION}")
        self.run("COMMIT")


def _log(path: Path) -> Path:
    """SQLite's log of a database."""
    return path.with_name(f"{path.name}-wal")


def reading(path: Path) -> sqlite3.Connection:
    """A connection that only reads a catalog that others may be writing.

    Raises:
        CatalogError: there is no such file.
    """
    # SQLite keeps a log and an index of it beside a database that is in use. Where it can neither find nor make them,
    # there is no writer, and the file is read as it is.
    error: sqlite3.Error | None = None
    for mode in ("mode=ro", "immutable=1"):
        try:
            connection = sqlite3.connect(
                f"{path.absolute().as_uri()}?{mode}", uri=True, isolation_level=None, check_same_thread=False
            )
            connection.execute("SELECT 1 FROM sqlite_master")
            return connection
        except sqlite3.Error as problem:
            error = problem
    raise CatalogError(f"{path} cannot be read: {error}") from error


_SAID = {
    "no such table: (.*)": r"there is no relation \1",
    "no such column: (.*)": r"there is no column \1",
    "no such function: (.*)": r"there is no function \1",
    'near "(.*)": syntax error': r"syntax error: unexpected \1",
    "incomplete input": "syntax error: the query has no end",
}
"""What SQLite says, and how it is said here."""


def _in_words(said: str) -> str:
    """What SQLite says, in the words of other errors.

    Example:
        >>> _in_words("no such table: nods"), _in_words('near "SELEC": syntax error')
        ('there is no relation nods', 'syntax error: unexpected SELEC')
    """
    found = (re.sub(pattern, text, said) for pattern, text in _SAID.items() if re.fullmatch(pattern, said))
    return next(found, said)
