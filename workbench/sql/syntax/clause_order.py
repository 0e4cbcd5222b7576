"""The order of clauses: refuses a clause that comes too late, and one that comes twice."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot.tokenizer_core import Token, TokenType

from workbench.errors import SqlError
from workbench.sql.syntax.source_text import SourceText, error_at
from workbench.sql.syntax.window_clause import BEFORE_VALUE

_CLAUSES = {
    TokenType.WHERE: 1, TokenType.GROUP_BY: 2, TokenType.HAVING: 3, TokenType.QUALIFY: 3, TokenType.ORDER_BY: 4,
    TokenType.LIMIT: 5,
}  # fmt: skip
"""The order of clauses; those of one number may stand in any order."""
_OF_GROUPS = "HAVING is the condition of groups"
_ALL_CONDITIONS, _ALL_COLUMNS = "conditions, with AND between them", "columns, with commas between them"
_HOLDS = {
    TokenType.FROM: "tables, with JOIN between them", TokenType.WHERE: _ALL_CONDITIONS,
    TokenType.HAVING: _ALL_CONDITIONS, TokenType.QUALIFY: _ALL_CONDITIONS, TokenType.GROUP_BY: _ALL_COLUMNS,
    TokenType.ORDER_BY: _ALL_COLUMNS, TokenType.LIMIT: "",
}  # fmt: skip
"""What a clause holds, of which a query has one."""
_SET_OPERATORS = {TokenType.UNION, TokenType.EXCEPT, TokenType.INTERSECT}
_QUERIES = _SET_OPERATORS | {TokenType.SELECT}
_OF_ANSWERS = {TokenType.ORDER_BY, TokenType.LIMIT}
"""Clauses behind all queries of a set operation."""


def refuse_order_of_clauses(source: SourceText, statement: Sequence[Token]) -> None:
    """Refuse a clause that comes too late, such as WHERE after GROUP BY, since the parser would move it.

    Raises:
        SqlError: there is one, with its place.
    """
    latest: list[Token | None] = [None]  # of each open parenthesis the clause that stands farthest in the order
    for preceding, token, following in zip([None, *statement], statement, [*statement[1:], None], strict=False):
        if token.token_type is TokenType.L_PAREN:
            latest.append(None)
        elif token.token_type is TokenType.R_PAREN and len(latest) > 1:
            latest.pop()
        elif token.token_type in _SET_OPERATORS and latest[-1] is not None and latest[-1].token_type in _OF_ANSWERS:
            what = f"{latest[-1].text.upper()} stands before {token.text.upper()}"
            raise error_at(token, what, source, "it is of the whole answer, at the end; of one query, in parentheses")
        elif token.token_type in (TokenType.SELECT, TokenType.FROM):
            latest[-1] = None
        elif (rank := _rank(preceding, token, following)) is not None:
            before = latest[-1]
            if before is not None and rank < _CLAUSES[before.token_type]:
                word, earlier = token.text.upper(), before.text.upper()
                if (word, earlier, source.dialect) == ("GROUP BY", "HAVING", "oracle"):
                    continue  # there they may stand in any order
                hint = _OF_GROUPS if (word, earlier) == ("WHERE", "GROUP BY") else f"move {word} … before {earlier}"
                raise error_at(token, f"{word} stands before {earlier}", source, hint)
            latest[-1] = token


def misplaced_clause(source: SourceText, statement: Sequence[Token], at: int) -> SqlError | None:
    """The error for a clause that comes twice in its query, and for FROM after a clause that must follow it."""
    token, behind, depth = statement[at], None, 0
    if token.token_type not in _HOLDS:
        return None
    word = token.text.upper()
    for before in reversed(statement[:at]):
        kind = before.token_type
        depth += (kind is TokenType.R_PAREN) - (kind is TokenType.L_PAREN)
        if depth < 0 or (depth == 0 and kind in _QUERIES):
            break
        if depth == 0 and kind is token.token_type:
            hint = f"one {word} holds all {_HOLDS[kind]}" if _HOLDS[kind] else "leave one out"
            return error_at(token, f"{word} stands twice", source, hint)
        if depth == 0 and kind in _CLAUSES:
            behind = before.text.upper()
    if behind is None or token.token_type is not TokenType.FROM or depth < 0:
        return None
    return error_at(token, f"FROM stands before {behind}", source, f"move FROM … before {behind}")


def _rank(preceding: Token | None, token: Token, following: Token | None) -> int | None:
    """The place of a clause in the order of clauses; ``None`` of another word, such as a column called limit."""
    if preceding is not None and preceding.token_type in BEFORE_VALUE:
        return None  # a column that is called so
    begins = following is not None and following.token_type in (TokenType.NUMBER, TokenType.L_PAREN, TokenType.ALL)
    return _CLAUSES.get(token.token_type) if token.token_type is not TokenType.LIMIT or begins else None
