"""Which dialects are read, and their tokens.

A query has the meaning of Spark, or of Oracle in ``oracle``. The other dialects in ``EXAMINED`` are read too, and
constructs that mean something else there are refused by ``binder.differences``. Any further dialect is refused.
"""

from __future__ import annotations

import logging
import re
from contextlib import suppress
from functools import cache
from itertools import pairwise
from typing import cast

import sqlglot
from sqlglot.tokenizer_core import Token, TokenType
from sqlglot.tokens import Tokenizer

from workbench.errors import SqlError, UnsupportedError, nearest
from workbench.sql.dialects import DIALECTS
from workbench.sql.syntax.interval_texts import with_whole_intervals
from workbench.sql.syntax.shorthands import with_directions
from workbench.sql.syntax.table_functions import as_calls

# Without a handler, sqlglot would warn on the standard error of texts that are refused anyway.
logging.getLogger("sqlglot").addHandler(logging.NullHandler())

SPARK_FAMILY = frozenset({"spark", "spark2", "databricks", "hive"})
"""Dialects of a function that was compared with no database."""
ONLY_DUCKDB, ONLY_POSTGRES = frozenset({"duckdb"}), frozenset({"postgres"})
DATABASES = ONLY_DUCKDB | ONLY_POSTGRES
"""Dialects of which more functions than usual were compared."""
EXAMINED = frozenset(DIALECTS)
"""The dialects that are read."""
_IGNORES_CASE = "it compares texts without regard to upper and lower case"
_REASONS = {
    **dict.fromkeys(("mysql", "tsql", "fabric", "singlestore", "teradata"), _IGNORES_CASE),
    "redshift": "it compares texts without regard to blanks at their end",
    "exasol": "it takes the empty text for NULL",
    "sqlite": "its values have types of their own, whatever the column",
    "clickhouse": "it gives 0 and not NULL where there are no values",
    "snowflake": "its divisions and averages keep six digits",
}
_OPENING = re.compile(r"/\*|['\"`]")
_FUNCTION_NAMES = (TokenType.WINDOW, TokenType.SESSION)
"""Key words that are names of functions before a parenthesis."""


def known_dialect(dialect: str) -> str:
    """The name of a dialect in lower case.

    Raises:
        SqlError: the dialect is unknown.
        UnsupportedError: its texts mean something else than what would be evaluated; the message has the reason.

    Example:
        >>> known_dialect("Oracle")
        'oracle'
    """
    name = dialect.lower()
    if name in EXAMINED:
        return name
    # Only now: the names of all dialects are known when all their modules are imported.
    known = [name for name in sqlglot.Dialect.classes if name]
    if name not in known:
        raise SqlError(
            f"unknown dialect {dialect}", hint=nearest(dialect, EXAMINED) or f"{', '.join(sorted(EXAMINED))} are read"
        )
    reason = _REASONS.get(name, "what its functions mean was not compared with what is evaluated")
    others = ", ".join(sorted(EXAMINED - SPARK_FAMILY - {"oracle"}))
    hint = f"write the query in spark or oracle; {others} are read too"
    raise UnsupportedError(f"the dialect {name} is not supported: {reason}", hint=hint)


def tokenize(sql: str, dialect: str) -> list[Token]:
    """The tokens of a text, each with its place (``start`` and ``end``, both included, from 0).

    Besides what sqlglot's tokenizers do:

    - ``for (...)`` begins a window clause, in whose head ``t--`` counts down and begins no comment;
    - ``window`` and ``session`` before a parenthesis are names of functions, and no key words;
    - ``regexp`` and ``rlike`` are no operators of postgres;
    - functions of windows in FROM are as in Flink (``table_functions``);
    - ``USING <`` is ASC in postgres, and ``USING >`` DESC (``shorthands``);
    - no part of the text of an interval is dropped (``interval_texts``);
    - ``interval + 1`` is a column of postgres, whose intervals are texts;
    - ``E'a\\n'`` is a text in postgres;
    - MATCH_RECOGNIZE is a key word in all dialects;
    - TIMESTAMP is not taken for TIMESTAMP WITH TIME ZONE;
    - in Spark a doubled quote inside a string is a quote, as it is since Spark 4.

    Raises:
        SqlError: a quote or comment is not closed, with its place.
    """
    try:
        read_as = sqlglot.Dialect.get_or_raise(dialect)
        read_as.NUMBERS_CAN_BE_UNDERSCORE_SEPARATED = DIALECTS[dialect].reserves_words
        tokens = _tokenizer(dialect)(dialect=read_as).tokenize(sql)
        tokens = _with_loop_heads(sql, dialect, tokens)
    except sqlglot.TokenError as error:
        hint = "end it with the sign that closes it; a quote inside of a text is doubled: 'it''s'"
        raise SqlError("syntax error: a quote or comment is not closed", sql=sql,
                       position=_unclosed(sql, dialect, error), hint=hint) from None  # fmt: skip
    rules = DIALECTS[dialect]
    for token in tokens:
        if token.token_type is TokenType.TIMESTAMPTZ and token.text.upper() == "TIMESTAMP":
            token.token_type = TokenType.TIMESTAMP
        if token.token_type is TokenType.BYTE_STRING and rules.texts_escape:
            token.token_type = TokenType.STRING
    for token, following in pairwise(tokens):
        if token.text.upper() == "MATCH_RECOGNIZE" and following.token_type is TokenType.L_PAREN:
            token.token_type = TokenType.MATCH_RECOGNIZE
        if token.token_type in _FUNCTION_NAMES and following.token_type is TokenType.L_PAREN:
            token.token_type = TokenType.VAR
        if rules.intervals_of_postgres and _is_interval_as_name(token, following):
            token.token_type = TokenType.VAR
        no_operator = not rules.has_rlike and token.token_type is TokenType.RLIKE and token.text.isalpha()
        if no_operator and following.token_type is not TokenType.L_PAREN:
            token.token_type = TokenType.VAR
    if rules.has_rows:
        tokens = with_directions(tokens)
    return as_calls(with_whole_intervals(tokens))


def _is_interval_as_name(token: Token, following: Token) -> bool:
    return token.token_type is TokenType.INTERVAL and following.token_type in (TokenType.PLUS, TokenType.DASH)


@cache
def _tokenizer(dialect: str, loop_head: bool = False) -> type[Tokenizer]:
    base = sqlglot.Dialect.get_or_raise(dialect).tokenizer_class
    changes: dict[str, object] = {}
    if DIALECTS[dialect].doubles_quotes:
        changes["STRING_ESCAPES"] = [*base.STRING_ESCAPES, "'", '"']
    if DIALECTS[dialect].explodes:
        changes["KEYWORDS"] = {**base.KEYWORDS, "!>": TokenType.LTE, "!<": TokenType.GTE}
    if loop_head:
        changes["COMMENTS"] = [comment for comment in base.COMMENTS if comment != "--"]
    return cast(type[Tokenizer], type(base)("_Tokenizer", (base,), changes))  # type: ignore[misc]


def is_loop(token: Token, following: Token | None) -> bool:
    """Whether a token begins a window clause ``for (...)``."""
    return token.token_type is TokenType.FOR and following is not None and following.token_type is TokenType.L_PAREN


def _with_loop_heads(sql: str, dialect: str, tokens: list[Token], first: int = 0) -> list[Token]:
    """The tokens, those from ``first`` on with heads of loops tokenized as such."""
    depth = 0
    for i, token in enumerate(tokens[:-1]):
        depth += (token.token_type is TokenType.L_PAREN) - (token.token_type is TokenType.R_PAREN)
        if depth == 0 and i >= first and is_loop(token, tokens[i + 1]):
            start = token.start
            body = sql.find("{", start)
            body = len(sql) if body < 0 else body
            head = _tokenizer(dialect, loop_head=True)(dialect=dialect).tokenize(_blanked(sql, start) + sql[start:body])
            rest = _tokenizer(dialect)(dialect=dialect).tokenize(_blanked(sql, body) + sql[body:])
            return _with_loop_heads(sql, dialect, tokens[:i] + head + rest, i + len(head))
    return tokens


def _blanked(sql: str, stop: int) -> str:
    """Blanks in place of the text up to ``stop``, so that what follows keeps its line and column."""
    return "\n".join(" " * len(line) for line in sql[:stop].split("\n"))


def _unclosed(sql: str, dialect: str, error: sqlglot.TokenError) -> int | None:
    """Where the quote or comment begins that never ends.

    Of most quotes sqlglot says it, as in ``Missing ' from 1:7``. Else it is the last sign up to which the text has
    tokens.
    """
    line, _, start = str(error.__cause__).rpartition(":")
    if line.startswith("Missing ") and start.isdigit():
        return int(start)
    for opening in reversed([*_OPENING.finditer(sql)]):
        with suppress(sqlglot.TokenError):
            _tokenizer(dialect)(dialect=dialect).tokenize(sql[: opening.start()])
            return opening.start()
    return None
