"""Clauses of recursive queries of WITH that sqlglot's parser does not know: USING KEY with MIN and MAX, and SEARCH and
CYCLE by several columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

SEARCHES = ("DEPTH", "BREADTH")


@dataclass(frozen=True)
class KeyPart:
    """A column of USING KEY; ``best`` is the aggregate that chooses among its values, in upper case, if one does."""

    column: str
    best: str = ""


def key_taken_out(tokens: list[Token], begin: int) -> list[KeyPart]:
    """Take USING KEY out of the tokens of a query of WITH.

    Args:
        tokens: of the statement; those of the clause leave it.
        begin: where the name of the query stands.
    """
    at = begin + 1
    if at < len(tokens) and tokens[at].token_type is TokenType.L_PAREN:
        at = _behind(tokens, at)
    words = [token.text.upper() for token in tokens[at : at + 3]]
    if words != ["USING", "KEY", "("]:
        return []
    end = _behind(tokens, at + 2)
    parts, own = list[KeyPart](), list[str]()
    for token in tokens[at + 3 : end]:
        if token.text == "," or token is tokens[end - 1]:
            *call, column = [text for text in own if text not in "()"] or [""]
            parts.append(KeyPart(column, " ".join(call).upper()))
            own = []
        else:
            own.append(token.text)
    del tokens[at:end]
    return parts


def parsed_search(parser: Any) -> exp.RecursiveWithSearch | None:
    """SEARCH DEPTH FIRST BY a, b SET o: ``this`` are the columns, ``expression`` is what it sets."""
    if not parser._match_text_seq("SEARCH"):
        return None
    kind = next((word for word in SEARCHES if parser._match_text_seq(word, "FIRST", "BY")), None)
    if kind is None:
        parser.raise_error("Expected DEPTH FIRST BY or BREADTH FIRST BY")
    return _parsed(parser, str(kind))


def parsed_cycle(parser: Any) -> exp.RecursiveWithSearch | None:
    """CYCLE a, b SET c TO v DEFAULT d USING p."""
    return _parsed(parser, "CYCLE") if parser._match_text_seq("CYCLE") else None


def _parsed(parser: Any, kind: str) -> exp.RecursiveWithSearch:
    by = parser._parse_csv(parser._parse_id_var)
    if not by or not parser._match_text_seq("SET"):
        parser.raise_error(
            f"{kind} needs BY columns SET a name" if kind in SEARCHES else "CYCLE needs columns SET a name"
        )
    name = parser._parse_id_var()
    node = exp.RecursiveWithSearch(kind=kind, this=exp.Tuple(expressions=by), expression=name)
    if kind == "CYCLE":
        node.set("to", parser._match_text_seq("TO") and parser._parse_bitwise())
        node.set("default", parser._match(TokenType.DEFAULT) and parser._parse_bitwise())
        if not parser._match_text_seq("USING"):
            parser.raise_error("CYCLE needs USING and the name of the path")
        node.set("using", parser._parse_id_var())
    return node


def _behind(tokens: list[Token], at: int) -> int:
    """Behind the parenthesis that closes the one at a place."""
    depth = 0
    while at < len(tokens):
        depth += (tokens[at].token_type is TokenType.L_PAREN) - (tokens[at].token_type is TokenType.R_PAREN)
        at += 1
        if not depth:
            break
    return at
