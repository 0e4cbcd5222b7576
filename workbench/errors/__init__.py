"""Errors of the workbench, one class per stage.

Errors carry fields, and the text is put together once, in ``__str__``: a short message, the place in the SQL with a
caret where there is one, and a hint. A notebook shows exactly that, without a traceback.
"""

from __future__ import annotations

import difflib
import re
import reprlib
from collections.abc import Callable, Iterable

from workbench.errors.secrets import hide_secrets

MOST_MESSAGE = 600
"""Characters of a message."""
MOST_HINT = 800
"""Characters of a hint."""
MOST_LINE = 104
"""Characters of the line of SQL that is shown: a longer one is wrapped in a cell, the caret below it elsewhere."""

MOST_WORD = 200
"""Characters of a word that others are compared with, which takes time with the square of its length."""

_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 60


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
        message = _one_line(hide_secrets(message), MOST_MESSAGE)
        super().__init__(message)
        self.message = message
        self.sql = sql
        self.position = position
        self.length = max(1, length)
        self.hint = None if hint is None else _one_line(hide_secrets(hint), MOST_HINT)

    def __str__(self) -> str:
        lines = [self.message, *self._excerpt()]
        if self.hint:
            lines.append(f"hint: {self.hint}")
        return "\n".join(lines)

    def _render_traceback_(self) -> list[str]:
        """What IPython shows: the text and its notes, no stack."""
        return "\n".join([str(self), *getattr(self, "__notes__", ())]).splitlines()

    def _excerpt(self) -> list[str]:
        """The line of SQL with the error and a caret line under it; nothing when the place is unknown."""
        if self.sql is None or self.position is None:
            return []
        start = self.sql.rfind("\n", 0, self.position) + 1
        end = self.sql.find("\n", self.position)
        line = self.sql[start : len(self.sql) if end < 0 else end]
        column = self.position - start
        marks = min(self.length, max(1, len(line) - column))
        # Of a long line what is around the place.
        first = max(0, min(column - MOST_LINE // 2, len(line) - MOST_LINE))
        left, right = "…" * (first > 0), "…" * (first + MOST_LINE < len(line))
        part = left + _printable(line[first + len(left) : first + MOST_LINE - len(right)]) + right
        marks = max(1, min(marks, first + len(part) - column))
        return [f"  {part}", "  " + " " * (column - first) + "^" * marks]


class SqlWarning(UserWarning):
    """A query is accepted, and holds something that is hardly meant; the text shows the place and what to try."""


class StreamWarning(UserWarning):
    """A source is read, and is hardly meant to be read so."""


class ConstraintWarning(UserWarning):
    """A row breaks what was declared of its stream; answers are right, and plans do not rely on it any more."""


class InputError(WorkbenchError):
    """A function of the workbench got an argument that it cannot take."""


class UnknownAttributeError(InputError, AttributeError):
    """An object of the workbench was asked for a method or property that it does not have."""


class ArgumentsError(InputError, TypeError):
    """A method was called with an argument too many, or without one that it needs."""


class UnknownNameError(InputError, KeyError):
    """A session has nothing of a name."""


class NoSuchPlaceError(InputError, IndexError):
    """There are fewer things than the place that was asked for."""


class UnexpectedError(WorkbenchError):
    """Something failed that no part of the workbench foresaw; the cause is chained."""

    @classmethod
    def of(cls, problem: BaseException) -> UnexpectedError:
        """The error for an exception."""
        try:
            text = next(iter(str(problem).strip().splitlines()), "no message")
        except Exception:  # an exception of the analyst's may not even have a text
            text = "no message"
        hint = "this is a defect of the workbench, not of what you wrote; %argus last-error shows all of it"
        return cls(f"{type(problem).__name__}: {text}", hint=hint)


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


class NotEmittedError(EngineError):
    """Operators take back rows in a batch that they have not emitted: what would be written is no bag of rows.

    ``roots``: the nodes that they compute.
    """

    def __init__(self, message: str, roots: frozenset[str]) -> None:
        super().__init__(message, hint="this is a defect of the workbench, not of what you wrote")
        self.roots = roots


class MagicError(WorkbenchError):
    """The line or cell of a magic cannot be understood."""


class EnvironmentProblem(WorkbenchError):
    """Something outside the workbench is missing: Java, the dot program, a folder one may write to."""


def shown(value: object) -> str:
    """A value for a message: always short, and without raising, even if its own ``repr`` raises.

    Example:
        >>> shown("three"), shown(10**30), shown([1] * 1000)
        ("'three'", '1000000000000000000000000000000', '[1, 1, 1, 1, 1, 1, ...]')
    """
    try:
        return _one_line(_SHORT.repr(value), 100)
    except Exception:
        return with_article(type(value).__name__)


def _one_line(text: str, most: int) -> str:
    """A text on one line that can be printed, its middle left out where it is longer than ``most``."""
    if len(text) > most:
        text = f"{text[: most // 2]} … {text[len(text) - most // 2 :]}"
    return _printable(" ".join(text.splitlines()) if len(text.splitlines()) > 1 else text)


def _printable(text: str) -> str:
    """A text as long, without characters that break a line or cannot be written."""
    return text if text.isprintable() else "".join(c if c.isprintable() else " " for c in text)


def with_article(noun: str) -> str:
    """A noun with its article.

    Example:
        >>> with_article("integer"), with_article("date"), with_article("URL")
        ('an integer', 'a date', 'a URL')
    """
    return f"{'an' if noun[:1] in 'aeioAEIO' or noun.startswith('un') else 'a'} {noun}"


def nearest(
    word: str, choices: Iterable[str], what: str = "did you mean", shown: Callable[[str], str] = str
) -> str | None:
    """A hint that names the closest of ``choices``, as they are ``shown``; ``None`` when nothing is close.

    Example:
        >>> nearest("amout", ["amount", "tran_date"])
        'did you mean amount?'
    """
    if len(word) > MOST_WORD:
        return None
    by_folded = {choice.lower(): choice for choice in choices}
    folded = word.lower()
    close = difflib.get_close_matches(folded, by_folded, n=1, cutoff=0.6)
    # Who knows a part of a name means the name: gesamt of "gesamt (brutto)".
    close = close or [name for name in by_folded if len(word) > 3 and re.search(rf"\b{re.escape(folded)}\b", name)][:1]
    return f"{what} {shown(by_folded[close[0]])}?" if close else None
