"""Clauses of MATCH_RECOGNIZE that sqlglot's parser does not know, taken out of its tokens."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot.tokenizer_core import Token, TokenType

from workbench.sql.syntax.row_patterns import pattern_variable

_CLAUSES = ("SUBSET", "WITHIN")
NAVIGATIONS = {"FIRST": "MATCH_FIRST", "LAST": "MATCH_LAST"}
"""Functions that the parser would take for aggregates -> what they are called in its tree."""
_SIDES = ("NEXT", "FIRST", "LAST")


def taken_out(tokens: list[Token], begin: int) -> list[tuple[str, list[Token]]]:
    """Take SUBSET and WITHIN out of the tokens of one MATCH_RECOGNIZE, and write LAST into SKIP TO a variable.

    Args:
        tokens: of the statement; those of the clauses leave it.
        begin: where MATCH_RECOGNIZE stands.

    Returns:
        Each clause with its tokens.
    """
    clauses: list[tuple[str, list[Token]]] = []
    depth, at, behind = 0, begin + 1, False
    while at < len(tokens):
        token = tokens[at]
        word = token.text.upper()
        depth += (token.token_type is TokenType.L_PAREN) - (token.token_type is TokenType.R_PAREN)
        if depth == 0:
            break
        following = tokens[at + 1].text.upper() if at + 1 < len(tokens) else ""
        if depth == 1 and (tokens[at - 1].text.upper(), word) == ("SKIP", "TO") and following not in _SIDES:
            tokens.insert(at + 1, Token(TokenType.VAR, "LAST", start=token.start, end=token.end))
        if word in NAVIGATIONS and following == "(":
            token.text, token.token_type = NAVIGATIONS[word], TokenType.VAR
        behind = (behind or word == "PATTERN") and word != "DEFINE"
        if depth == 1 and behind and word in _CLAUSES:
            end = _end_of(tokens, at + 1)
            clauses.append((word, tokens[at + 1 : end]))
            del tokens[at:end]
            continue
        at += 1
    return clauses


def subset_of(tokens: Sequence[Token]) -> tuple[str, list[str]]:
    """The name of a subset, and its variables, of ``U = (A, B)``."""
    names = [_name(token) for token in tokens if token.token_type in (TokenType.VAR, TokenType.IDENTIFIER)]
    return names[0] if names else "", names[1:]


def _name(token: Token) -> str:
    return pattern_variable(token.text, token.token_type is TokenType.IDENTIFIER)


def _end_of(tokens: Sequence[Token], at: int) -> int:
    depth = 0
    while at < len(tokens):
        token = tokens[at]
        if depth == 0 and (token.text.upper() in (*_CLAUSES, "DEFINE") or token.token_type is TokenType.R_PAREN):
            return at
        depth += (token.token_type is TokenType.L_PAREN) - (token.token_type is TokenType.R_PAREN)
        at += 1
    return at
