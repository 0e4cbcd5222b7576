"""Text to statements: sqlglot's parser, its errors in our words, and nothing else.

No optimizer of sqlglot is used: several of its rewrites are not exact under NULLs or change types.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import sqlglot
from sqlglot import exp
from sqlglot.errors import ParseError, SqlglotError
from sqlglot.tokenizer_core import TokenType

from workbench.errors import SqlError, UnsupportedError, nearest
from workbench.sql.binder.window_functions import WINDOW
from workbench.sql.syntax.caret import SourceText
from workbench.sql.syntax.dialects import refuse_dialect
from workbench.sql.syntax.extent import refuse_height, refuse_nesting
from workbench.sql.syntax.syntax_errors import refuse_extra_arguments, refuse_gaps, syntax_error
from workbench.sql.syntax.window_clause import Clause, cut


@dataclass(frozen=True)
class Select:
    """A query: a SELECT, a set operation of them, or one in parentheses; and its window clause, if it has one."""

    expression: exp.Expr
    clause: Clause | None = None


@dataclass(frozen=True)
class CreateView:
    """CREATE VIEW name (columns) AS expression; no columns means those of the query."""

    name: str
    columns: tuple[str, ...]
    expression: exp.Expr
    replace: bool = False
    clause: Clause | None = None


Statement = Select | CreateView

_CLOSED = re.compile(r"'(?:[^'\\]|\\.|'')*'|\"[^\"]*\"|`[^`]*`|--[^\n]*|/\*.*?\*/", re.S)
"""What is quoted or commented out."""


def parse(sql: str, dialect: str) -> tuple[Statement, ...]:
    """The statements of ``sql``, which semicolons separate.

    Args:
        sql: the text of a cell.
        dialect: a dialect name of sqlglot, such as ``oracle`` or ``spark``.

    Raises:
        SqlError: the text is not SQL of the dialect, with the place; or the dialect is unknown.
        UnsupportedError: a statement is neither a query nor CREATE VIEW; or the dialect is not read.

    Example:
        >>> [type(s).__name__ for s in parse("CREATE VIEW v AS SELECT a FROM t; SELECT a FROM v", "spark")]
        ['CreateView', 'Select']
    """
    dialect = known_dialect(dialect)
    try:
        refuse_nesting(sql, dialect)
        sql, clauses = cut(sql)
        sql = _doubled_quotes(_window_calls(sql), dialect)
        refuse_extra_arguments(sql, dialect)
        trees = sqlglot.parse(sql, dialect=dialect)
    except ParseError as error:
        raise syntax_error(sql, dialect, error) from None
    except SqlglotError:
        raise SqlError("syntax error: a quote or comment is not closed", sql=sql, position=_unclosed(sql)) from None
    refuse_gaps(sql, dialect)
    source = SourceText(sql)
    for tree in trees:
        if tree is not None:
            refuse_height(tree, source)
    statements = [_statement(t, source) for t in trees if t is not None and not isinstance(t, exp.Semicolon)]
    return tuple(_with_clauses(statements, clauses, sql, dialect))


def known_dialect(dialect: str) -> str:
    """The name of a dialect, in lower case.

    Raises:
        SqlError: it is unknown.
        UnsupportedError: it is not read.
    """
    known = [name for name in sqlglot.Dialect.classes if name]
    if dialect.lower() not in known:
        hint = nearest(dialect, known) or "oracle and spark are good choices"
        raise SqlError(f"unknown dialect {dialect}", hint=hint)
    refuse_dialect(dialect.lower())
    return dialect.lower()


def _with_clauses(
    statements: list[Statement], clauses: Sequence[Clause], sql: str, dialect: str
) -> Iterator[Statement]:
    """The statements, each with the window clause that stands at its end."""
    ends = [token.start for token in sqlglot.tokenize(sql, dialect=dialect) if token.token_type is TokenType.SEMICOLON]
    filled = [i for i, (start, end) in enumerate(pairwise([0, *ends, len(sql)])) if sql[start:end].strip("; \n\t\r")]
    of_part = {sum(end < clause.at for end in ends): clause for clause in clauses}
    if len(of_part) < len(clauses):
        twice = max(clause.at for clause in clauses)
        raise SqlError("a statement has one window clause", sql=sql, position=twice, hint="leave one of them out")
    for part, statement in zip(filled, statements, strict=False):
        yield replace(statement, clause=of_part.get(part))


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
    source.refuse_others(tree, {"this", "kind", "expression", "replace"}, "CREATE VIEW")
    if not isinstance(tree.expression, (exp.Select, exp.SetOperation, exp.Subquery)):
        raise SqlError("CREATE VIEW needs AS and a SELECT", **source.word("VIEW"))
    named = tree.this
    columns: tuple[str, ...] = ()
    if isinstance(named, exp.Schema):
        columns = tuple(part.name for part in named.expressions)
        named = named.this
    source.refuse_others(named, {"this"}, "a view name")
    return CreateView(named.name, columns, tree.expression, bool(tree.args.get("replace")))


def _window_calls(sql: str) -> str:
    """The text with ``window(…)`` under a name that is no key word, of the same length."""
    quiet = _CLOSED.sub(lambda m: " " * len(m[0]), sql)
    for call in re.finditer(r"\bwindow(?=\s*\()", quiet, re.I):
        sql = sql[: call.start()] + WINDOW + sql[call.end() :]
    return sql


def _doubled_quotes(sql: str, dialect: str) -> str:
    """The text with a quote that is doubled inside a text written with a backslash, which has the same length.

    Since Spark 4 ``'it''s'`` is one text with a quote in it; the parser would read two texts in a row.
    """
    if dialect not in ("spark", "databricks"):
        return sql
    for token, following in pairwise(sqlglot.tokenize(sql, dialect=dialect)):
        quote, at = sql[token.end], following.start
        if {token.token_type, following.token_type} == {TokenType.STRING} and token.end + 1 == at and sql[at] == quote:
            sql = f"{sql[: token.end]}\\{sql[at:]}"
    return sql


def _unclosed(sql: str) -> int | None:
    """Where the quote or comment that never ends begins."""
    rest = _CLOSED.sub(lambda m: " " * len(m[0]), sql)
    match = re.search(r"['\"`]|/\*", rest)
    return match.start() if match else None
