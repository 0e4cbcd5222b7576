"""Flink's functions of windows in FROM, in the words that sqlglot parses.

``TABLE(SESSION(TABLE bid PARTITION BY bidder, DESCRIPTOR(t), INTERVAL '10' SECOND))`` becomes the call
``SESSION(bid, PARTITION_BY(bidder), DESCRIPTOR(t), INTERVAL '10' SECOND)`` of tokens that keep their places.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot.tokenizer_core import Token, TokenType

TUMBLE, HOP, SESSION = "tumble", "hop", "session"
WINDOWS = (TUMBLE, HOP, SESSION)
DESCRIPTOR, PARTITION_BY = "descriptor", "partition_by"


def as_calls(tokens: Sequence[Token]) -> list[Token]:
    """The tokens of a text, its functions of windows in FROM as calls."""
    result = list(tokens)
    for at in reversed(range(len(result) - 1)):
        if _is_window(result, at):
            _plain_arguments(result, at + 1)
            if _is_table(result, at - 2) and result[at - 1].token_type is TokenType.L_PAREN:
                closing = closing_parenthesis(result, at - 1)
                del result[closing : closing + 1], result[at - 2 : at]
    return result


def closing_parenthesis(tokens: Sequence[Token], opening: int) -> int:
    """The index of the parenthesis that closes one; the number of tokens, if none does."""
    depth = 0
    for at in range(opening, len(tokens)):
        depth += (tokens[at].token_type is TokenType.L_PAREN) - (tokens[at].token_type is TokenType.R_PAREN)
        if not depth:
            return at
    return len(tokens)


def _is_window(tokens: Sequence[Token], at: int) -> bool:
    """Whether a call of a function of windows begins, whose first argument is a table."""
    named = tokens[at].text.lower() in WINDOWS and tokens[at].token_type is not TokenType.STRING
    return named and tokens[at + 1].token_type is TokenType.L_PAREN and _is_table(tokens, at + 2)


def _is_table(tokens: Sequence[Token], at: int) -> bool:
    return 0 <= at < len(tokens) and tokens[at].token_type is TokenType.TABLE


def _plain_arguments(tokens: list[Token], opening: int) -> None:
    """Write the table and PARTITION BY of a call as arguments like others."""
    closing = closing_parenthesis(tokens, opening)
    words = [t for t in range(opening + 2, closing) if tokens[t].token_type is TokenType.PARTITION_BY]
    ends = [t for t in range(opening + 2, closing) if tokens[t].text.lower() == DESCRIPTOR]
    if words and ends and words[0] < ends[0] - 1:
        word, comma = tokens[words[0]], ends[0] - 1
        tokens.insert(comma, _token(TokenType.R_PAREN, ")", word))
        tokens[words[0] : words[0] + 1] = [
            _token(TokenType.COMMA, ",", word),
            _token(TokenType.VAR, PARTITION_BY, word),
            _token(TokenType.L_PAREN, "(", word),
        ]
    del tokens[opening + 1]


def _token(kind: TokenType, text: str, place: Token) -> Token:
    return Token(kind, text, place.line, place.col, place.start, place.end)
