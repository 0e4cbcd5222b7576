"""Syntax errors in words for an analyst: where the text stops making sense, and the key word that was meant.

The parser is lenient in places; what it would pass over in silence is refused here.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from itertools import pairwise

import sqlglot
from sqlglot.errors import ParseError
from sqlglot.tokenizer_core import Token, TokenType

from workbench.errors import SqlError

_KEY_WORDS = ("SELECT", "FROM", "WHERE", "GROUP BY", "HAVING", "JOIN", "UNION", "INTERSECT", "DISTINCT", "BETWEEN")
_CLOSE = 0.75
"""How alike a word must be to a key word to be taken for a misspelling of it: FORM and FROM just are."""
_ENDING = {
    TokenType.FROM, TokenType.WHERE, TokenType.GROUP_BY, TokenType.HAVING, TokenType.UNION, TokenType.INTERSECT,
    TokenType.EXCEPT, TokenType.R_PAREN, TokenType.SEMICOLON, TokenType.COMMA,
}  # fmt: skip
_TRAILING_COMMAS = {"bigquery", "clickhouse", "duckdb", "snowflake"}
"""Dialects in which a comma may end a list."""

_MOST = {
    **dict.fromkeys(("LOG10", "LOG2", "DATE", "INT", "BIGINT", "DOUBLE", "FLOAT", "STRING", "BOOLEAN"), 1),
    **dict.fromkeys(("PERCENTILE", "MOD", "ADD_MONTHS", "TRUNC", "DATE_TRUNC", "DATE_FORMAT", "LTRIM", "RTRIM", "NVL",
                     "IFNULL"), 2),
    **dict.fromkeys(("TO_DATE", "TO_TIMESTAMP", "LPAD", "RPAD", "DATE_ADD", "DATE_SUB", "DATEDIFF"), 3),
}  # fmt: skip
"""How many arguments a function takes at most, where the parser passes over further ones."""


def syntax_error(sql: str, dialect: str, error: ParseError) -> SqlError:
    """What the parser says about a text, as an error with a place and, for a misspelled key word, a hint.

    Example:
        >>> try:
        ...     sqlglot.parse("SELECT a FORM T", dialect="oracle")
        ... except ParseError as error:
        ...     print(syntax_error("SELECT a FORM T", "oracle", error))
        syntax error: unexpected T
          SELECT a FORM T
                        ^
        hint: did you mean FROM?
    """
    details = error.errors[0] if error.errors else {}
    tokens = sqlglot.tokenize(sql, dialect=dialect)
    spot = (details.get("line"), details.get("col"))
    at = next((i for i, token in enumerate(tokens) if (token.line, token.col) == spot), None)
    if at is None:
        return SqlError("syntax error: unexpected end", sql=sql, position=len(sql.rstrip()))
    description = str(details.get("description") or "")
    opened = _unclosed(tokens)
    if re.match(r"Expect\w* \)", description) and opened is not None:
        return _at(opened, "a parenthesis is not closed", sql)
    last = at + 1 == len(tokens) or tokens[at + 1].token_type is TokenType.SEMICOLON
    expected = re.match(r"Expect\w* (\)|\w[\w ()]*?)(?= but got|$)", description)
    found = tokens[at]
    counted = re.match(r"The number of provided arguments \(\d+\) is greater than .*\((\d+)\)", description)
    if counted:
        what = f"the function takes at most {counted[1]} argument{'s' * (counted[1] != '1')}"
    elif expected:
        what = f"expected {expected[1]}"
    elif description.startswith("Required") and last:
        what = f"the text ends after {found.text}"
    elif description.startswith("Required") and found.token_type is TokenType.R_PAREN:
        hint = "TRUNC takes a date and a unit, as in TRUNC(d, 'MM'); of numbers there are FLOOR and CEIL"
        return _at(found, "something is missing before )", sql, hint if "DateTrunc" in description else None)
    else:
        what = f"unexpected {sql[found.start : found.end + 1]}"
    return _at(found, what, sql, _misspelled([*tokens[max(0, at - 1) : at + 1], tokens[0]]))


def refuse_gaps(sql: str, dialect: str) -> None:
    """Refuse what the parser passes over: a comma that ends a list, and ON without a condition.

    Raises:
        SqlError: something is missing after such a word.
    """
    for token, following in pairwise([*sqlglot.tokenize(sql, dialect=dialect), None]):
        assert token is not None
        comma = token.token_type is TokenType.COMMA and dialect not in _TRAILING_COMMAS
        if not (comma or token.token_type is TokenType.ON):
            continue
        if following is None:
            raise _at(token, f"the text ends after {token.text}", sql)
        if following.token_type in _ENDING:
            raise _at(token, f"nothing stands between {token.text} and {following.text}", sql)


def refuse_extra_arguments(sql: str, dialect: str) -> None:
    """Refuse more arguments than a function takes, where the parser would drop them.

    Raises:
        SqlError: at the first argument too many.
    """
    open_: list[tuple[Token | None, int]] = []
    before: Token | None = None
    for token in sqlglot.tokenize(sql, dialect=dialect):
        if token.token_type is TokenType.L_PAREN:
            open_.append((before, 1))
        elif token.token_type is TokenType.R_PAREN and open_:
            open_.pop()
        elif token.token_type is TokenType.COMMA and open_:
            function, count = open_[-1]
            most = _MOST.get(function.text.upper()) if function is not None else None
            if function is not None and count == most:
                raise SqlError(f"{function.text} takes at most {most} argument{'s' * (most > 1)}", sql=sql,
                               position=token.start, hint="leave out what follows")  # fmt: skip
            open_[-1] = function, count + 1
        before = token


def _at(token: Token, what: str, sql: str, hint: str | None = None) -> SqlError:
    length = token.end + 1 - token.start
    return SqlError(f"syntax error: {what}", sql=sql, position=token.start, length=length, hint=hint)


def _unclosed(tokens: Sequence[Token]) -> Token | None:
    """The last parenthesis that opens and never closes."""
    opened: list[Token] = []
    for token in tokens:
        if token.token_type is TokenType.L_PAREN:
            opened.append(token)
        elif token.token_type is TokenType.R_PAREN and opened:
            opened.pop()
    return opened[-1] if opened else None


def _misspelled(tokens: Sequence[Token]) -> str | None:
    """A hint for the first of the words that is nearly a key word."""
    for token in tokens:
        word = token.text.upper()
        close = difflib.get_close_matches(word, _KEY_WORDS, n=1, cutoff=_CLOSE)
        if close and close[0] != word:
            return f"did you mean {close[0]}?"
    return None
