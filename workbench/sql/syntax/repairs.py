"""Slips of one word: the change near a word with which the statement can be read that the parser stumbles over.

Words are left out, exchanged, or put in, one at a time, and the parser is asked again; of the changes with which it
reads the whole statement the first is said. Which ones are tried follows from the words around and from the clause.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from workbench.errors import MOST_WORD
from workbench.sql.syntax.misspelled import reached
from workbench.sql.syntax.source_text import SourceText

_MOST_WORDS = 300
"""Words of a statement that is read again for each change."""
_PAIRS = {"(": ")", "[": "]", "{": "}"}
_ENDING = {
    TokenType.VAR, TokenType.IDENTIFIER, TokenType.NUMBER, TokenType.STRING, TokenType.R_PAREN, TokenType.R_BRACKET,
    TokenType.NULL, TokenType.TRUE, TokenType.FALSE, TokenType.END,
}  # fmt: skip
"""What a value may end with."""
_BEGINNING = {
    TokenType.VAR, TokenType.IDENTIFIER, TokenType.NUMBER, TokenType.STRING, TokenType.L_PAREN, TokenType.CASE,
    TokenType.NULL, TokenType.TRUE, TokenType.FALSE, TokenType.NOT, TokenType.EXISTS, TokenType.DATE,
    TokenType.TIMESTAMP, TokenType.INTERVAL, TokenType.STAR,
}  # fmt: skip
"""What a value may begin with."""
_COMPARING = {
    TokenType.EQ, TokenType.NEQ, TokenType.LT, TokenType.LTE, TokenType.GT, TokenType.GTE, TokenType.IN, TokenType.IS,
    TokenType.LIKE, TokenType.ILIKE, TokenType.BETWEEN, TokenType.EXISTS, TokenType.RLIKE,
}  # fmt: skip
CONDITIONS = {TokenType.WHERE, TokenType.ON, TokenType.HAVING, TokenType.QUALIFY}
_CLAUSES = CONDITIONS | {TokenType.SELECT, TokenType.FROM, TokenType.GROUP_BY, TokenType.ORDER_BY, TokenType.LIMIT}
_CARRYING = _CLAUSES | {TokenType.L_PAREN, TokenType.R_PAREN, TokenType.DCOLON, TokenType.ALIAS}
"""What is hardly ever too much."""
_BEHIND_NAMES = _CLAUSES | _COMPARING | {TokenType.COMMA}
_SIDES = {
    TokenType.LEFT, TokenType.RIGHT, TokenType.FULL, TokenType.INNER, TokenType.CROSS, TokenType.ANTI, TokenType.SEMI,
    TokenType.ASOF, TokenType.OUTER, TokenType.NATURAL,
}  # fmt: skip
_SIGNS = {"=", "<", ">"}
_OPENS = _SIGNS | {"IN", "AS", "OVER", "FILTER", "USING", "ROLLUP", "CUBE", "SETS", "EXISTS", "ANY", "ALL", "GROUP"}
"""Words and signs before parentheses; functions are others."""
_MOST_WRAPPED = 25
_BEHIND_FUNCTIONS = {"OVER", "FILTER"}
_NAME = "x"
"""A value that is put in where one may be missing."""


class Repair(NamedTuple):
    """A change of some words: those from ``first`` to before ``last`` become a text, and what is said of it."""

    first: int
    last: int
    text: str
    hint: str


def repair(source: SourceText, statement: Sequence[Token], at: int) -> str | None:
    """A hint for the word over which the parser stumbled: the change near it that makes the statement readable.

    Example:
        >>> source = SourceText("SELECT a FROM t t2 t2 WHERE b > 3")
        >>> repair(source, source.tokens, 5)
        't2 stands twice: leave one out'
        >>> source = SourceText("SELECT a FROM t WHERE a = 1 b = 2")
        >>> repair(source, source.tokens, 8)
        'AND or OR is missing between 1 and b'
    """
    if len(statement) > _MOST_WORDS:
        return None
    for change in _changes(source, statement, at):
        if reached(source, statement, change.first, change.last, change.text) == len(source.sql):
            return change.hint
    return None


def _changes(source: SourceText, statement: Sequence[Token], at: int) -> Iterator[Repair]:
    """What may be meant, the likelier first."""
    words = [source.token_text(token) for token in statement]
    near = [place for place in (at, at - 1, at + 1, at - 2) if 0 < place < len(words)]
    yield Repair(0, 0, "SELECT ", "a query begins with SELECT")
    for place in near:
        if words[place].upper() == words[place - 1].upper():
            yield Repair(place, place + 1, "", f"{words[place]} stands twice: leave one out")
    yield from _brackets(words)
    for place in range(2, len(words)):
        if words[place - 1] == "." and statement[place].token_type in _BEHIND_NAMES:
            yield Repair(place, place, f"{_NAME} ", f"a name is missing behind {words[place - 2]}.")
    for place in near:
        yield from _parentheses(source, statement, place)
    for place in near:
        yield from _missing(statement, words, place)
    for place in (at, at - 1, at + 1, at - 2):
        if 0 < place < len(words) and not {t.token_type for t in statement[place - 1 : place + 1]} & _CLAUSES:
            one, other = words[place - 1], words[place]
            yield Repair(place - 1, place + 1, f" {other} {one} ", f"write {other} before {one}: {other} {one}")
    for place in (at, at - 1, at - 2):
        if 0 <= place < len(words) and statement[place].token_type not in _CARRYING:
            yield Repair(place, place + 1, "", f"leave {words[place]} out")


def _brackets(words: Sequence[str]) -> Iterator[Repair]:
    """Repairs of a bracket that has a partner of another kind, or has no partner."""
    opened: list[int] = []
    for place, word in enumerate(words):
        if word in _PAIRS:
            opened.append(place)
        elif word in _PAIRS.values() and opened:
            start = opened.pop()
            if (meant := _PAIRS[words[start]]) != word:
                begins = next(one for one, end in _PAIRS.items() if end == word)
                changes = [
                    Repair(place, place + 1, meant, f"{words[start]} is closed by {meant}, not by {word}"),
                    Repair(start, start + 1, begins, f"write {begins} in the place of {words[start]}"),
                ]
                yield from changes if begins != "(" else reversed(changes)
    for start in reversed(opened):
        if words[start] != "(":
            yield Repair(start, start + 1, "(", f"write ( in the place of {words[start]}")
    surplus = words.count("(") - words.count(")")
    for place, word in enumerate(words):
        if (word == "(" and surplus > 0) or (word == ")" and surplus < 0):
            behind = f" behind {words[place - 1]}" if place else ""
            yield Repair(place, place + 1, "", f"{word}{behind} is one too many")


def _parentheses(source: SourceText, statement: Sequence[Token], place: int) -> Iterator[Repair]:
    """Parentheses around what follows a word that stands before some, from the most that may be meant; of a
    function from the least."""
    before = statement[place - 1].text
    is_function = before.upper() in exp.FUNCTION_BY_NAME
    if (before.upper().rpartition(" ")[2] not in _OPENS and not is_function) or statement[place].text == "(":
        return
    if before in _SIGNS and statement[place].token_type not in (TokenType.SELECT, TokenType.WITH):
        return
    depth, ends = 0, list[int]()
    for end in range(place, len(statement)):
        kind = statement[end].token_type
        depth += (kind is TokenType.L_PAREN) - (kind is TokenType.R_PAREN)
        if depth < 0 or len(ends) > _MOST_WRAPPED:
            break
        if depth == 0:
            ends.append(end + 1)
    for end in ends if is_function else reversed(ends):
        text = source.sql[statement[place].start : statement[end - 1].end + 1]
        shown = " ".join(text.split()) if len(text) < MOST_WORD else f"{statement[place].text} …"
        yield Repair(place, end, f"({text})", f"parentheses are missing: {before}{' ' * (not is_function)}({shown})")


def _missing(statement: Sequence[Token], words: Sequence[str], place: int) -> Iterator[Repair]:
    """Words that may be missing before a place."""
    before, after = statement[place - 1], statement[place]
    one, other = words[place - 1], words[place]
    between = f"between {one} and {other}"

    def put(text: str, hint: str) -> Repair:
        return Repair(place, place, f" {text} ", hint)

    clause = clause_at(statement, place)
    if place > 1 and statement[place - 2].token_type is TokenType.ALIAS:
        yield put(",", f"is a comma missing {between}?")
    if before.token_type in (TokenType.DESC, TokenType.ASC) and statement[place - 2].token_type in _ENDING:
        yield put(",", f"is a comma missing {between}?")
    if before.token_type in _SIDES:
        yield put("JOIN", f"JOIN is missing behind {one}")
    if before.token_type in _ENDING and after.token_type in _BEGINNING:
        if clause in CONDITIONS and _compares(statement, place):
            yield put("AND", f"AND or OR is missing {between}")
        if clause is TokenType.FROM and _compares_after(statement, place):
            yield put("WHERE", f"WHERE, or ON, is missing before {other}")
        if clause in CONDITIONS:
            yield put("=", f"a sign is missing {between}, as in {one} = {other}")
        if other.upper() in exp.FUNCTION_BY_NAME and place + 1 < len(words):
            value = f"{other}({one}, {words[place + 1]})"
            yield Repair(place - 1, place + 2, value, f"a function stands before its values: {value}")
        if clause not in CONDITIONS and not (before.token_type is TokenType.VAR and other == "("):
            yield put(",", f"is a comma missing {between}?")
        yield put("+", f"a {'comma or a ' * (clause not in CONDITIONS)}sign is missing {between}")
    if after.token_type is TokenType.NULL:
        yield put("IS", f"write {one} IS NULL")
    if after.token_type is TokenType.L_PAREN and one.upper() in _BEHIND_FUNCTIONS:
        opening = _opening(words, place - 2)
        yield Repair(opening, opening, "SUM", f"{one} stands behind a function, as in SUM(…) {one} (…)")
    if after.token_type is TokenType.L_PAREN and clause is not TokenType.FROM:
        yield put("FILTER", f"FILTER is missing before (: {one} FILTER (WHERE …)")
        yield put("OVER", f"OVER is missing before (: {one} OVER (…)")
    if after.token_type is TokenType.STRING:
        yield put("INTERVAL", f"a length of time begins with INTERVAL: INTERVAL {other} …")
        yield put("(", f"( is missing behind {one}")
    if before.token_type in _ENDING and after.token_type in _ENDING:
        yield put("(", f"( is missing behind {one}")
    if before.token_type is TokenType.DOT or after.token_type is TokenType.DOT:
        side = f"behind {words[place - 2]}." if before.token_type is TokenType.DOT else f"before .{words[place + 1]}"
        yield put(_NAME, f"a name is missing {side}" if 1 < place < len(words) - 1 else f"a name is missing {between}")
    elif after.token_type not in _BEGINNING or before.token_type not in _ENDING:
        yield put(_NAME, f"a column or a value is missing {between}")


def _opening(words: Sequence[str], place: int) -> int:
    """The place of the parenthesis that one closes."""
    depth = 0
    for start in range(place, -1, -1):
        depth += (words[start] == ")") - (words[start] == "(")
        if depth <= 0:
            return start
    return place


def clause_at(statement: Sequence[Token], place: int) -> TokenType | None:
    """The clause in which a place is; ``None`` in other parentheses, such as those of a function.

    Example:
        >>> source = SourceText("SELECT a FROM t WHERE a > 3, GROUP BY a")
        >>> clause_at(source.tokens, 8).name
        'WHERE'
    """
    depth = 0
    for token in reversed(statement[:place]):
        kind = token.token_type
        depth += (kind is TokenType.R_PAREN) - (kind is TokenType.L_PAREN)
        if depth < 0:
            return None
        if depth == 0 and kind in _CLAUSES:
            return kind
    return None


def _compares(statement: Sequence[Token], place: int) -> bool:
    """Whether something is compared before a place and after it, so that two conditions stand side by side."""
    for token in reversed(statement[:place]):
        if token.token_type in _COMPARING:
            return _compares_after(statement, place)
        if token.token_type in _CLAUSES | {TokenType.AND, TokenType.OR}:
            return False
    return False


def _compares_after(statement: Sequence[Token], place: int) -> bool:
    for token in statement[place:]:
        if token.token_type in _COMPARING:
            return True
        if token.token_type in _CLAUSES | {TokenType.AND, TokenType.OR}:
            return False
    return False
