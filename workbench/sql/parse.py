"""Text to statements: sqlglot's parser, its errors in our words, and nothing else.

No optimizer of sqlglot is used: several of its rewrites are not exact under NULLs or change types.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import sqlglot
from sqlglot import exp
from sqlglot.errors import ParseError, SqlglotError

from workbench.errors import SqlError, UnsupportedError, nearest
from workbench.sql.caret import SourceText
from workbench.sql.syntax import refuse_gaps, syntax_error


@dataclass(frozen=True)
class Select:
    """A query: a SELECT, a set operation of them, or one in parentheses."""

    expression: exp.Expr


@dataclass(frozen=True)
class CreateView:
    """CREATE VIEW name (columns) AS expression; no columns means those of the query."""

    name: str
    columns: tuple[str, ...]
    expression: exp.Expr


Statement = Select | CreateView


def parse(sql: str, dialect: str) -> tuple[Statement, ...]:
    """The statements of ``sql``, which semicolons separate.

    Args:
        sql: the text of a cell.
        dialect: a dialect name of sqlglot, such as ``oracle`` or ``spark``.

    Raises:
        SqlError: the text is not SQL of the dialect, with the place; or the dialect is unknown.
        UnsupportedError: a statement is neither a query nor CREATE VIEW.

    Example:
        >>> [type(s).__name__ for s in parse("CREATE VIEW v AS SELECT a FROM t; SELECT a FROM v", "spark")]
        ['CreateView', 'Select']
    """
    known = [name for name in sqlglot.Dialect.classes if name]
    if dialect.lower() not in known:
        hint = nearest(dialect, known) or "oracle and spark are good choices"
        raise SqlError(f"unknown dialect {dialect}", hint=hint)
    try:
        trees = sqlglot.parse(sql, dialect=dialect.lower())
    except ParseError as error:
        raise syntax_error(sql, dialect.lower(), error) from None
    except SqlglotError:
        raise SqlError("syntax error: a quote or comment is not closed", sql=sql, position=_unclosed(sql)) from None
    refuse_gaps(sql, dialect.lower())
    source = SourceText(sql)
    return tuple(_statement(tree, source) for tree in trees if tree is not None and not isinstance(tree, exp.Semicolon))


def _statement(tree: exp.Expr, source: SourceText) -> Statement:
    match tree:
        case exp.Select() | exp.SetOperation() | exp.Subquery():
            return Select(tree)
        case exp.Create() if tree.kind == "VIEW":
            return _create_view(tree, source)
        case _:
            word = str(tree.this).split()[0].upper() if isinstance(tree, exp.Command) else tree.key.upper()
            what = f"{word} {tree.kind}" if isinstance(tree, exp.Create) else word
            raise UnsupportedError(
                f"{what} is not supported", **source.word(word), hint="a query is a SELECT, with views by CREATE VIEW"
            )


def _create_view(tree: exp.Create, source: SourceText) -> CreateView:
    source.refuse_others(tree, {"this", "kind", "expression", "replace", "exists"}, "CREATE VIEW")
    if not isinstance(tree.expression, (exp.Select, exp.SetOperation, exp.Subquery)):
        raise SqlError("CREATE VIEW needs AS and a SELECT", **source.word("VIEW"))
    named = tree.this
    columns: tuple[str, ...] = ()
    if isinstance(named, exp.Schema):
        columns = tuple(part.name for part in named.expressions)
        named = named.this
    source.refuse_others(named, {"this"}, "a view name")
    return CreateView(named.name, columns, tree.expression)


def _unclosed(sql: str) -> int | None:
    """Where the quote or comment that never ends begins."""
    closed = re.compile(r"'(?:[^'\\]|\\.|'')*'|\"[^\"]*\"|`[^`]*`|--[^\n]*|/\*.*?\*/", re.S)
    rest = closed.sub(lambda m: " " * len(m[0]), sql)
    match = re.search(r"['\"`]|/\*", rest)
    return match.start() if match else None
