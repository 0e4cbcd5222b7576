"""How large a query may be: how deep its text nests, how high an expression is, and how long when it is written out.

Parsing, planning and Spark follow an expression from its top to its leaves, one call inside another. So that none of
them ever runs out of stack or time, what is too deep or too long is refused here, by name, before anything is done with
it; and the interpreter's limit is set so that what is not refused can be followed.
"""

from __future__ import annotations

import sys

import sqlglot
from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from workbench.errors import UnsupportedError
from workbench.sql.algebra.expressions import Call, Expression
from workbench.sql.logical import Block, Input, LogicalQuery, SetOperation, output_columns
from workbench.sql.syntax.caret import SourceText

MOST_CHARACTERS = 500_000
"""Characters of a text."""
MOST_NESTED = 200
"""Parentheses, subqueries, CASE and NOT inside one another."""
MOST_HIGH = 1_200
"""Operators on the way from the top of an expression to a leaf: a sum of a thousand terms is a thousand high."""
MOST_PARTS = 100_000
"""Operators, columns and constants of an expression, with the views it is made of written out."""

MOST_JOINED = 40
"""Streams, and views that group, in one join, with views written out; their orders are searched."""
MOST_READ = 1_200
"""Times that a query reads a stream, with views written out: a UNION of a thousand parts reads a thousand."""
MOST_COLUMNS = 5_000
"""Columns that a query selects."""
MOST_WINDOWS = 300
"""Windows that one row is in: a day that moves every five minutes has 288."""

_FRAMES = 10_000
"""Python calls that following the highest expression takes inside one another, with some to spare."""
sys.setrecursionlimit(max(_FRAMES, sys.getrecursionlimit()))

_OPENING = {TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE, TokenType.CASE}
_CLOSING = {TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE, TokenType.END}
_PREFIXES = {TokenType.NOT, TokenType.DASH, TokenType.PLUS, TokenType.TILDE}
_SPLIT = "compute a part of it in a view: CREATE VIEW name AS SELECT …"
_TOO_DEEP = "group a part of it in a view of its own, or compute it before it enters the stream"


def refuse_nesting(sql: str, dialect: str) -> None:
    """Refuse a text that is too long, or nests too deep to be parsed.

    Raises:
        UnsupportedError: at the first token that is too deep.
    """
    if len(sql) > MOST_CHARACTERS:
        raise UnsupportedError(
            f"a text of {len(sql):,} characters is not supported", hint=f"at most {MOST_CHARACTERS:,}"
        )
    nested = prefixes = 0
    for token in sqlglot.tokenize(sql, dialect=dialect):
        prefixes = prefixes + 1 if token.token_type in _PREFIXES else 0
        if token.token_type in _OPENING:
            nested += 1
        elif token.token_type in _CLOSING:
            nested = max(0, nested - 1)
        if nested + prefixes > MOST_NESTED:
            raise _nested(token, sql)


def _nested(token: Token, sql: str) -> UnsupportedError:
    length = token.end + 1 - token.start
    what = f"more than {MOST_NESTED} parentheses, CASE or NOT inside one another are not supported"
    return UnsupportedError(what, sql=sql, position=token.start, length=length, hint=_SPLIT)


def refuse_height(tree: exp.Expr, source: SourceText) -> None:
    """Refuse a syntax tree that is too high to be followed, such as a sum of thousands of terms.

    Raises:
        UnsupportedError: at the first of its deepest parts.
    """
    rest = [(tree, 1)]
    while rest:
        node, height = rest.pop()
        if height > MOST_HIGH:
            place = source.of(node)
            raise UnsupportedError(
                f"more than {MOST_HIGH:,} operators in a row are not supported", **place, hint=_SPLIT
            )
        rest += [(child, height + 1) for child in node.iter_expressions()]


def refuse_extent(expression: Expression, source: SourceText, node: exp.Expr, known: dict[int, Extent]) -> None:
    """Refuse an expression that is too high or too long with all the views that it is made of written out.

    Args:
        known: the extents of expressions measured before, by identity; this one is added.

    Raises:
        UnsupportedError: at its node.
    """
    parts, height = _extent(expression, known)
    if parts > MOST_PARTS:
        what = f"an expression of more than {MOST_PARTS:,} parts, with views written out, is not supported"
    elif height > MOST_HIGH:
        what = f"more than {MOST_HIGH:,} operators inside one another, with views written out, are not supported"
    else:
        return
    raise UnsupportedError(what, **source.of(node), hint=_TOO_DEEP)


def refuse_shape(query: LogicalQuery, source: SourceText, node: exp.Expr) -> None:
    """Refuse a query that reads or selects too much; the queries inside it were looked at before.

    Raises:
        UnsupportedError: at its node.
    """
    if (columns := len(output_columns(query))) > MOST_COLUMNS:
        what = f"a query with {columns:,} columns is not supported"
        raise UnsupportedError(what, **source.of(node), hint=f"select at most {MOST_COLUMNS:,}")
    if (read := _read(query)) > MOST_READ:
        what = f"a query that reads streams {read:,} times, with views written out, is not supported"
        raise UnsupportedError(what, **source.of(node), hint=f"read them at most {MOST_READ:,} times")


def _read(query: Input) -> int:
    match query:
        case Block():
            return sum(map(_read, query.inputs))
        case SetOperation():
            return sum(map(_read, query.branches))
        case _:
            return 1


Extent = tuple[int, int, Expression]
"""Parts and height of an expression; and itself, so that its identity stays its own."""


def _extent(expression: Expression, known: dict[int, Extent]) -> tuple[int, int]:
    """Parts and height, each shared part looked at once."""
    rest = [expression]
    while rest:
        top = rest[-1]
        arguments = top.arguments if isinstance(top, Call) else ()
        missing = [a for a in arguments if id(a) not in known]
        if missing:
            rest += missing
            continue
        rest.pop()
        below = [known[id(a)] for a in arguments]
        known[id(top)] = (1 + sum(e[0] for e in below), 1 + max((e[1] for e in below), default=0), top)
    parts, height, _ = known[id(expression)]
    return parts, height
