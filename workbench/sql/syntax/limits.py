"""Limits of texts: how deep one may nest, and how high an expression of it may be; ``query_limits`` has the others.

Parsing, planning and Spark recurse from the top of an expression to its leaves. So that none of them runs out of stack
or time, a query beyond these limits is refused by name. The interpreter's recursion limit is set to hold the rest.
"""

from __future__ import annotations

import sys

from sqlglot import exp
from sqlglot.tokenizer_core import TokenType

from workbench.errors import UnsupportedError
from workbench.sql.syntax.source_text import SourceText

_MAX_CHARACTERS = 500_000
"""Characters of a text."""
MAX_NESTED = 200
"""Parentheses, subqueries, CASE and NOT inside one another."""
MAX_HEIGHT = 1_200
"""Operators on the way from the top of an expression to a leaf: a sum of a thousand terms is a thousand high."""
_FRAMES = 10_000
"""Python calls that following the highest expression takes inside one another, with some to spare."""
sys.setrecursionlimit(max(_FRAMES, sys.getrecursionlimit()))

_OPENING = {TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE, TokenType.CASE}
_CLOSING = {TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE, TokenType.END}
_PREFIXES = {TokenType.NOT, TokenType.DASH, TokenType.PLUS, TokenType.TILDE}
SPLIT = "compute a part of it in a view: CREATE VIEW name AS SELECT …"
"""The hint where a text is too deep."""


def refuse_nesting(source: SourceText) -> None:
    """Refuse a text that is too long, or nests too deep to be parsed.

    Raises:
        UnsupportedError: at the first token that is too deep.
    """
    if len(source.sql) > _MAX_CHARACTERS:
        what = f"a text of {len(source.sql):,} characters is not supported"
        raise UnsupportedError(what, hint=f"at most {_MAX_CHARACTERS:,}")
    nested = prefixes = 0
    for token in source.tokens:
        prefixes = prefixes + 1 if token.token_type in _PREFIXES else 0
        if token.token_type in _OPENING:
            nested += 1
        elif token.token_type in _CLOSING:
            nested = max(0, nested - 1)
        if nested + prefixes > MAX_NESTED:
            what = f"more than {MAX_NESTED} parentheses, CASE or NOT inside one another are not supported"
            raise UnsupportedError(what, **source.span(token.start, token.end + 1), hint=SPLIT)


def refuse_height(tree: exp.Expr, source: SourceText) -> None:
    """Refuse a syntax tree that is too high to be followed, such as a sum of thousands of terms.

    Raises:
        UnsupportedError: at the first of its deepest parts.
    """
    rest = [(tree, 1)]
    while rest:
        node, height = rest.pop()
        if height > MAX_HEIGHT:
            place = source.of(node)
            raise UnsupportedError(
                f"more than {MAX_HEIGHT:,} operators in a row are not supported", **place, hint=SPLIT
            )
        rest += [(child, height + 1) for child in node.iter_expressions()]
