"""What can go wrong, one class per stage.

Errors carry fields, and the text is put together once, in ``__str__``: a short message, the place in the SQL with a
caret where there is one, and a hint. A notebook shows exactly that, without a traceback.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class WorkbenchError(Exception):
    """Root of everything the workbench raises on purpose.

    Args:
        message: one sentence, what is wrong.
        sql: the statement the error is in, if it is in one.
        position: 0-based offset into ``sql`` of the offending text, ``None`` when unknown.
        length: how many characters the offending text has.
        hint: what to try.

    Example:
        >>> print(SqlError("unknown column amout", sql="SELECT amout FROM f", position=7, length=5, hint="amount"))
        unknown column amout
          SELECT amout FROM f
                 ^^^^^
        hint: amount
    """

    def __init__(
        self,
        message: str,
        *,
        sql: str | None = None,
        position: int | None = None,
        length: int = 1,
        hint: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.sql = sql
        self.position = position
        self.length = max(1, length)
        self.hint = hint

    def __str__(self) -> str:
        lines = [self.message, *self._excerpt()]
        if self.hint:
            lines.append(f"hint: {self.hint}")
        return "\n".join(lines)

    def _render_traceback_(self) -> list[str]:
        """What IPython shows: the text alone, no stack."""
        return str(self).splitlines()

    def _excerpt(self) -> list[str]:
        """The line of SQL with the error and a caret line under it; nothing when the place is unknown."""
        if self.sql is None or self.position is None:
            return []
        start = self.sql.rfind("\n", 0, self.position) + 1
        end = self.sql.find("\n", self.position)
        line = self.sql[start : len(self.sql) if end < 0 else end]
        column = self.position - start
        shown = line.replace("\t", " ")
        marks = min(self.length, max(1, len(shown) - column))
        return [f"  {shown}", "  " + " " * column + "^" * marks]


class SqlError(WorkbenchError):
    """The text of a query cannot be accepted: syntax, names or types."""


class UnsupportedError(SqlError):
    """The query is good SQL, but asks for a construct the workbench does not evaluate."""


class StreamError(WorkbenchError):
    """A stream or table cannot be added or read."""


class QueryError(WorkbenchError):
    """A query name is unknown or cannot be used, or the query was disabled."""


class SessionError(WorkbenchError):
    """A session's folder cannot be opened, or the session may only be read."""


class EngineError(WorkbenchError):
    """Spark could not evaluate a batch or initialize nodes."""


class EnvironmentProblem(WorkbenchError):
    """Something outside the workbench is missing: Java, the dot program, a folder one may write to."""


def nearest(word: str, choices: Iterable[str], what: str = "did you mean") -> str | None:
    """A hint that names the closest of ``choices``, ``None`` when nothing is close.

    Example:
        >>> nearest("amout", ["amount", "tran_date"])
        'did you mean amount?'
    """
    by_folded = {choice.lower(): choice for choice in choices}
    close = difflib.get_close_matches(word.lower(), by_folded, n=1, cutoff=0.6)
    return f"{what} {by_folded[close[0]]}?" if close else None
