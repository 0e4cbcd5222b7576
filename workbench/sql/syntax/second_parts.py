"""Forms of two parts of which the parser is content with the first: WHEN and THEN, BETWEEN and AND, JOIN and ON."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise, zip_longest

from sqlglot.tokenizer_core import Token, TokenType

from workbench.sql.syntax.source_text import SourceText, error_at

_ENDING = {
    TokenType.FROM, TokenType.WHERE, TokenType.GROUP_BY, TokenType.HAVING, TokenType.QUALIFY, TokenType.ORDER_BY,
    TokenType.LIMIT, TokenType.UNION, TokenType.INTERSECT, TokenType.EXCEPT, TokenType.R_PAREN, TokenType.SEMICOLON,
    TokenType.COMMA,
}  # fmt: skip
"""What ends a part of a clause."""
_BEHIND_BETWEEN = _ENDING | {TokenType.OR, TokenType.THEN, TokenType.ELSE, TokenType.END, TokenType.WHEN}
_WITHOUT_CONDITION = {TokenType.CROSS, TokenType.NATURAL, TokenType.POSITIONAL}
_CONDITIONS = {TokenType.ON, TokenType.USING}


def refuse_lacking_then(source: SourceText, statement: Sequence[Token]) -> None:
    """Refuse a WHEN without THEN, which the parser would read over.

    Raises:
        SqlError: there is one, with the place where THEN is missing.
    """
    waiting: list[bool] = [False]  # of each open parenthesis and CASE whether a WHEN is without its THEN
    opened: list[TokenType] = []
    for token, following in zip_longest(statement, statement[1:]):
        kind, after = token.token_type, None if following is None else following.token_type
        in_case = opened[-1:] == [TokenType.CASE]
        if kind in (TokenType.L_PAREN, TokenType.CASE):
            opened.append(kind)
            waiting.append(False)
        elif waiting[-1] and (kind in (TokenType.WHEN, TokenType.ELSE) or (kind is TokenType.END and after in _ENDING)):
            hint = "as in CASE WHEN a > 3 THEN 1 ELSE 0 END"
            raise error_at(token, "THEN is missing before it", source, hint)
        elif opened and (kind is TokenType.R_PAREN or (kind is TokenType.END and in_case)):
            opened.pop()
            waiting.pop()
        elif kind in (TokenType.WHEN, TokenType.THEN):
            waiting[-1] = kind is TokenType.WHEN


def refuse_lacking_and(source: SourceText, statement: Sequence[Token]) -> None:
    """Refuse a BETWEEN with one end.

    Raises:
        SqlError: there is one, with the place where AND is missing.
    """
    open_ones: list[bool] = [False]  # of each open parenthesis and CASE whether a BETWEEN is without its AND
    for before, token in pairwise([statement[0], *statement]):
        kind = token.token_type if before.token_type is not TokenType.DOT else TokenType.VAR
        if open_ones[-1] and kind in _BEHIND_BETWEEN:
            break
        if kind in (TokenType.L_PAREN, TokenType.CASE):
            open_ones.append(False)
        elif kind in (TokenType.R_PAREN, TokenType.END) and len(open_ones) > 1:
            open_ones.pop()
        elif kind in (TokenType.BETWEEN, TokenType.AND):
            open_ones[-1] = kind is TokenType.BETWEEN
    else:
        if not open_ones[-1]:
            return
        token = statement[-1]
    raise error_at(token, "BETWEEN has two ends", source, "write AND between them: BETWEEN a AND b")


def refuse_lacking_on(source: SourceText, statement: Sequence[Token]) -> None:
    """Refuse a JOIN without a condition, where the database of the dialect does.

    Raises:
        SqlError: there is one, with its place.
    """
    if not source.rules.joins_have_conditions:
        return
    waiting: list[list[Token]] = [[]]  # of each open parenthesis the joins without their conditions
    before: list[TokenType] = []
    for token in [*statement, None]:
        kind = TokenType.SEMICOLON if token is None else token.token_type
        if kind in _ENDING and waiting[-1]:
            hint = "say how rows belong together, as in ON a.key = b.key; CROSS JOIN pairs each with each"
            raise error_at(waiting[-1][-1], "JOIN has no condition", source, hint)
        if kind is TokenType.L_PAREN:
            waiting.append([])
        elif kind is TokenType.R_PAREN and len(waiting) > 1:
            waiting.pop()
        elif kind is TokenType.JOIN and token is not None and not _WITHOUT_CONDITION & set(before[-3:]):
            waiting[-1].append(token)
        elif kind in _CONDITIONS and waiting[-1]:
            waiting[-1].pop()
        before.append(kind)
