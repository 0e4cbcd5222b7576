"""SQLite connections that record what they change, for a journal."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any

from workbench.files.journal import Journal


class RecordedConnection(sqlite3.Connection):
    """A connection in autocommit mode whose transactions become commits of a journal, where it has one."""

    _journal: Journal | None = None
    _name = ""

    def record(self, journal: Journal, name: str) -> None:
        """Record statements from now on.

        Args:
            journal: gets them.
            name: of the database's file there; what is done to one that is not the journal's is not recorded.
        """
        self._journal, self._name = journal, name
        self._statements: list[tuple[str, list[Sequence[Any]]]] = []
        self._savepoints: list[tuple[str, int]] = []

    def execute(self, sql: str, values: Any = (), /) -> sqlite3.Cursor:
        """Execute a statement."""
        if self._journal is None:
            return super().execute(sql, values)
        match _first_words(sql):
            case "SAVEPOINT", name:
                if not self.in_transaction:
                    self._forget()  # SQLite undoes a transaction by itself, as when the disk is full
                done = super().execute(sql)
                self._savepoints.append((name, len(self._statements)))
                return done
            case "ROLLBACK", "TO":
                self._statements[self._savepoints[-1][1] :] = []
                return super().execute(sql)
            case (("BEGIN" | "ROLLBACK"), _):
                self._forget()
                return super().execute(sql)
            case "RELEASE", _:
                self._savepoints.pop()
                return super().execute(sql) if self._savepoints else self._commit(sql)
            case "COMMIT", _:
                return self._commit(sql)
        return self._recorded(sql, [values], lambda: sqlite3.Connection.execute(self, sql, values))

    def executemany(self, sql: str, rows: Iterable[Any], /) -> sqlite3.Cursor:
        """Execute a statement for each row of values."""
        if self._journal is None:
            return super().executemany(sql, rows)
        rows = [tuple(row) for row in rows]
        return self._recorded(sql, rows, lambda: sqlite3.Connection.executemany(self, sql, rows))

    def _recorded(self, sql: str, rows: list[Any], execute: Callable[[], sqlite3.Cursor]) -> sqlite3.Cursor:
        word, changes = _first_words(sql)[0], self.total_changes
        if alone := word in _CHANGING and not self.in_transaction:
            self.execute("BEGIN IMMEDIATE")
        done = execute()
        if word in _CHANGING or self.total_changes != changes:
            if self._statements and self._statements[-1][0] == sql:
                self._statements[-1][1].extend(map(tuple, rows))
            else:
                self._statements.append((sql, [tuple(row) for row in rows]))
        if alone:
            self.execute("COMMIT")
        return done

    def _commit(self, sql: str) -> sqlite3.Cursor:
        journal, statements = self._journal, [*self._statements]
        self._forget()
        if journal is None or not statements or not journal.writing or self._name not in journal.files:
            return super().execute(sql)
        with journal.committing([(self._name, statements)]):
            return super().execute(sql)

    def _forget(self) -> None:
        self._statements.clear()
        self._savepoints.clear()


_CHANGING = {"INSERT", "UPDATE", "DELETE", "REPLACE", "CREATE", "DROP", "ALTER"}
_WORD = re.compile(r"\w+")


@lru_cache(maxsize=4_096)
def _first_words(sql: str) -> tuple[str, str]:
    """The first word of a statement, and the second one, which may be a name.

    Example:
        >>> _first_words("ROLLBACK TO level_0"), _first_words(" commit")
        (('ROLLBACK', 'TO'), ('COMMIT', ''))
    """
    first, second, *_ = *_WORD.findall(sql[:80]), "", ""
    return first.upper(), second
