"""The window clauses that SQL does not have: PSoup's ``BEGIN … END …``, and TelegraphCQ's loops of ``WindowIs``.

They stand at the end of a statement. Here they are found and cut out, and blanks are left in their place, so that what
the SQL parser says of the rest points at the right column. What is between their words is SQL again.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from workbench.errors import SqlError
from workbench.sql.syntax.caret import SourceText
from workbench.sql.syntax.extent import refuse_height

_QUIET = re.compile(r"'(?:[^'\\]|\\.|'')*'|\"[^\"]*\"|`[^`]*`|--[^\n]*|/\*.*?\*/", re.S)
_FOR = re.compile(r"\bfor\s*\(", re.I)
_BEGIN = re.compile(r"\bbegin\b", re.I)
_CASE_OR_END = re.compile(r"\b(case|end)\b", re.I)
_WINDOW_IS = re.compile(r"\s*(WindowIs|Windows)\s*\(", re.I)
_CHANGE = re.compile(r"\s*(\w+)\s*(\+\+|--|\+=|-=|\*=|=)(.*)", re.S)
_START = re.compile(r"\s*(\w+)\s*=(?!=)(.*)", re.S)


@dataclass(frozen=True)
class Piece:
    """A part of a text and where it begins."""

    text: str
    at: int

    @property
    def blank(self) -> bool:
        """Whether nothing stands there."""
        return not self.text.strip()


@dataclass(frozen=True)
class BeginEnd:
    """``BEGIN begin END end``: every stream of the statement from one time to another, both included (PSoup 3.1)."""

    at: int
    begin: Piece
    end: Piece


@dataclass(frozen=True)
class WindowIs:
    """``WindowIs(stream, left, right)``: a stream or its alias, and the ends of its window, both included."""

    stream: Piece
    left: Piece
    right: Piece


@dataclass(frozen=True)
class ForLoop:
    """``for (variable = start; condition; change) { WindowIs(…); … }`` (TelegraphCQ 4.1.1).

    ``change`` is an expression over the variable: ``t++`` is ``t + (1)``. It is put together here, so its place is that
    of what is added.
    """

    at: int
    variable: str
    start: Piece
    condition: Piece
    change: Piece
    windows: tuple[WindowIs, ...]


Clause = BeginEnd | ForLoop


def cut(sql: str) -> tuple[str, tuple[Clause, ...]]:
    """A text without its window clauses, blanks in their place, and the clauses.

    Raises:
        SqlError: a clause is not complete.

    Example:
        >>> rest, (clause,) = cut("SELECT a FROM s BEGIN NOW - 5 END NOW")
        >>> rest.rstrip(), clause.begin.text, clause.end.text
        ('SELECT a FROM s', ' NOW - 5 ', ' NOW')
    """
    clauses: list[Clause] = []
    clause: Clause
    while True:
        quiet = _quiet(sql)
        loop, begin = _FOR.search(quiet), _BEGIN.search(quiet)
        if loop is not None and (begin is None or loop.start() < begin.start()):
            clause, end = _loop(sql, quiet, loop)
        elif begin is not None:
            clause, end = _begin_end(sql, quiet, begin)
        else:
            return sql, tuple(clauses)
        clauses.append(clause)
        sql = sql[: clause.at] + re.sub(r"[^\n]", " ", sql[clause.at : end]) + sql[end:]


def parsed(sql: str, piece: Piece, dialect: str) -> exp.Expr:
    """The expression of a piece, whose tokens stand where they stand in the text.

    Raises:
        SqlError: it is none.
    """
    if piece.blank:
        raise SqlError("syntax error: an expression is missing in the window", sql=sql, position=piece.at)
    try:
        tree = sqlglot.parse_one(" " * piece.at + piece.text, dialect=dialect)
    except SqlglotError:
        place = piece.at + len(piece.text) - len(piece.text.lstrip())
        raise SqlError(
            "syntax error: this is no expression", sql=sql, position=place, length=len(piece.text.strip())
        ) from None
    refuse_height(tree, SourceText(sql))
    return tree


def _quiet(sql: str) -> str:
    """The text with what is quoted or commented out blanked."""
    return _QUIET.sub(lambda m: " " * len(m[0]), sql)


def _begin_end(sql: str, quiet: str, begin: re.Match[str]) -> tuple[BeginEnd, int]:
    stop = quiet.find(";", begin.end())
    stop = len(sql) if stop < 0 else stop
    depth = 0
    for word in _CASE_OR_END.finditer(quiet, begin.end(), stop):
        if word[0].lower() == "case":
            depth += 1
        elif depth:
            depth -= 1
        else:
            first, last = Piece(sql[begin.end() : word.start()], begin.end()), Piece(sql[word.end() : stop], word.end())
            return BeginEnd(begin.start(), first, last), stop
    hint = "write BEGIN NOW - 5 END NOW"
    raise SqlError("syntax error: BEGIN without END", sql=sql, position=begin.start(), length=5, hint=hint)


def _loop(sql: str, quiet: str, found: re.Match[str]) -> tuple[ForLoop, int]:
    # In the head of a loop two hyphens count down; elsewhere they begin a comment.
    code = quiet[: found.end()] + re.sub(r"'[^']*'", lambda m: " " * len(m[0]), sql[found.end() :])
    closing = _closing(sql, code, found.end() - 1, "()")
    head = _parts(sql, code, found.end(), closing, ";")
    if len(head) != 3:
        raise _incomplete(sql, found, "a loop has a start, a condition and a change")
    opening = re.compile(r"\s*\{").match(code, closing + 1)
    if opening is None:
        raise _incomplete(sql, found, "a loop has its windows in braces")
    quiet_body = code[: opening.end()] + _quiet(sql[opening.end() :])
    end = _closing(sql, quiet_body, opening.end() - 1, "{}")
    statements = [p for p in _parts(quiet_body, quiet_body, opening.end(), end, ";") if not p.blank]
    windows = tuple(_window_is(sql, quiet_body, statement) for statement in statements)
    if not windows:
        raise _incomplete(sql, found, "a loop has at least one WindowIs(stream, left, right)")
    change = _CHANGE.fullmatch(head[2].text)
    start = _START.fullmatch(head[0].text)
    if change is None or (start is None and not head[0].blank):
        raise _incomplete(sql, found, "write for (t = ST; t < ST + 50; t += 5)")
    variable = change[1]
    begin = Piece("0", head[0].at) if start is None else Piece(start[2], head[0].at + start.start(2))
    clause = ForLoop(found.start(), variable, begin, head[1], _changed(change, head[2].at), windows)
    return clause, end + 1


def _changed(change: re.Match[str], at: int) -> Piece:
    variable, operator, rest = change.groups()
    place = at + change.start(3)
    if operator == "=":
        return Piece(rest, place)
    added = "1" if operator in ("++", "--") else rest
    # INTERVAL stands beside its operator.
    left, right = ("", "") if added.strip().lower().startswith("interval") else ("(", ")")
    before = f"{variable} {operator[0]} {left}"
    return Piece(f"{before}{added}{right}", max(0, place - len(before)))


def _window_is(sql: str, quiet: str, statement: Piece) -> WindowIs:
    found = _WINDOW_IS.match(statement.text)
    place = statement.at + len(statement.text) - len(statement.text.lstrip())
    if found is None:
        hint = "write WindowIs(stream, left, right)"
        word = statement.text.split()[0]
        raise SqlError(
            "syntax error: only windows stand in a loop", sql=sql, position=place, length=len(word), hint=hint
        )
    opening = statement.at + found.end() - 1
    parts = _parts(sql, quiet, opening + 1, _closing(sql, quiet, opening, "()"), ",")
    if len(parts) != 3:
        message = f"{found[1]} takes a stream and two ends, not {len(parts)} arguments"
        raise SqlError(message, sql=sql, position=place, length=len(found[1]))
    return WindowIs(*parts)


def _closing(sql: str, quiet: str, opening: int, pair: str) -> int:
    depth = 0
    for at in range(opening, len(quiet)):
        depth += (quiet[at] == pair[0]) - (quiet[at] == pair[1])
        if depth == 0:
            return at
    what = "parenthesis" if pair == "()" else "brace"
    raise SqlError(f"syntax error: a {what} is not closed", sql=sql, position=opening)


def _parts(sql: str, quiet: str, start: int, stop: int, separator: str) -> list[Piece]:
    """What separators outside of parentheses separate; ``quiet`` is the text without what is quoted."""
    parts, depth, first = [], 0, start
    for at in range(start, stop):
        depth += (quiet[at] == "(") - (quiet[at] == ")")
        if quiet[at] == separator and depth == 0:
            parts.append(Piece(sql[first:at], first))
            first = at + 1
    return [*parts, Piece(sql[first:stop], first)]


def _incomplete(sql: str, found: re.Match[str], hint: str) -> SqlError:
    return SqlError("syntax error: the loop is not complete", sql=sql, position=found.start(), length=3, hint=hint)
