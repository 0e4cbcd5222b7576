"""Syntax of other languages and of spreadsheets, and how it is written here.

The parser stumbles over a word; the words before it say what was meant.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot.tokenizer_core import Token, TokenType

_SIGNS = (
    ("&&", "write AND"), ("–", "this is a dash: minus is -"), ("—", "this is a dash: minus is -"),
    ("−", "this is another minus: write -"), ("≤", "write <="), ("≥", "write >="), ("≠", "write <>"),
    ("‘", "a text stands in straight quotes: 'a'"), ("’", "a text stands in straight quotes: 'a'"),
    ("“", "a text stands in straight quotes: 'a'"), ("”", "a text stands in straight quotes: 'a'"),
)  # fmt: skip
_TESTS = ("IN", "LIKE", "BETWEEN")
_CONDITIONS = ("WHERE", "AND", "OR", "ON", "HAVING", "QUALIFY")
TIME_UNITS = ("SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "YEAR")
"""Units of lengths of time."""
_IN_WORDS = {"CONTAINS": "CONTAINS", "STARTS": "STARTSWITH", "BEGINS": "STARTSWITH", "ENDS": "ENDSWITH"}
"""Tests that are written between their sides elsewhere, and what they are called."""


def usual_form(statement: Sequence[Token], at: int) -> str | None:
    """A hint for the word of a statement over which the parser stumbled; ``None`` where none is known.

    Example:
        >>> import sqlglot
        >>> usual_form(sqlglot.tokenize("SELECT TOP 10 a FROM t"), 2)
        'leave TOP out, and write LIMIT 10 at the end'
    """
    return next((hint for form in _FORMS if (hint := form(statement, at)) is not None), None)


def _top(statement: Sequence[Token], at: int) -> str | None:
    """``SELECT TOP 10 …``."""
    if _word(statement, at - 1) == "TOP" and statement[at].token_type is TokenType.NUMBER:
        return f"leave TOP out, and write LIMIT {statement[at].text} at the end"
    return None


def _decimal_comma(statement: Sequence[Token], at: int) -> str | None:
    """``1.000,50``, without spaces around the comma."""
    if at < 2:
        return None
    whole, comma, fraction = statement[at - 2 : at + 1]
    together = whole.end + 1 == comma.start and comma.end + 1 == fraction.start
    if together and [t.token_type for t in (whole, comma, fraction)] == [
        TokenType.NUMBER, TokenType.COMMA, TokenType.NUMBER
    ]:  # fmt: skip
        return "a number has a point before its fraction and nothing between thousands: 1000.50"
    return None


def _bare_interval(statement: Sequence[Token], at: int) -> str | None:
    """``7 days``."""
    unit = (_word(statement, at) or "").removesuffix("S")
    if unit in TIME_UNITS and at and statement[at - 1].token_type is TokenType.NUMBER:
        return f"write INTERVAL '{statement[at - 1].text}' {unit}"
    return None


def _named_query(statement: Sequence[Token], at: int) -> str | None:
    """``x AS SELECT …``."""
    if at == 2 and statement[at].token_type is TokenType.SELECT and statement[1].token_type is TokenType.ALIAS:
        name = statement[0].text
        return f"%%argus {name} names a query, and CREATE VIEW {name} AS SELECT … a view"
    return None


def _closed_too_often(statement: Sequence[Token], at: int) -> str | None:
    """A parenthesis that closes nothing."""
    kinds = [token.token_type for token in statement[: at + 1]]
    if kinds[-1] is TokenType.R_PAREN and kinds.count(TokenType.R_PAREN) > kinds.count(TokenType.L_PAREN):
        return "it closes nothing: leave it out"
    return None


def _arrow(statement: Sequence[Token], at: int) -> str | None:
    """``=>``, the wrong way round."""
    return "write >= for at least" if statement[at].text == "=>" else None


def _sign(statement: Sequence[Token], at: int) -> str | None:
    """Signs of programming languages, and those that word processors put in the place of others."""
    return next(
        (hint for sign, hint in _SIGNS if any(sign in t.text for t in statement[max(0, at - 1) : at + 1])), None
    )


def _between(statement: Sequence[Token], at: int) -> str | None:
    """``BETWEEN 1, 2``."""
    if _word(statement, at) == "," and at > 1 and statement[at - 2].token_type is TokenType.BETWEEN:
        return "write AND between the two: BETWEEN 1 AND 2"
    return None


def _bare_pattern(statement: Sequence[Token], at: int) -> str | None:
    """``LIKE *a*``."""
    kinds = [token.token_type for token in statement[max(0, at - 3) : at]]
    if TokenType.LIKE in kinds and TokenType.STRING not in kinds:
        return "a pattern is a text, in which % stands for anything: LIKE '%a%'"
    return None


def _compared_case(statement: Sequence[Token], at: int) -> str | None:
    """``CASE a WHEN > 3``."""
    if _word(statement, at) == "THEN" and _word(statement, at - 3) == "WHEN":
        return "a comparison is whole behind WHEN, and nothing stands behind CASE: CASE WHEN a > 3 THEN …"
    return None


def _comment(statement: Sequence[Token], at: int) -> str | None:
    """``# of the best``."""
    return "a comment begins with --" if statement[at].text.startswith("#") else None


def _test_in_words(statement: Sequence[Token], at: int) -> str | None:
    """``s CONTAINS 'a'``."""
    called = _IN_WORDS.get(_word(statement, at) or "")
    return f"write {called}({statement[at - 1].text}, 'a')" if called and at else None


def _join_without_on(statement: Sequence[Token], at: int) -> str | None:
    """``JOIN u b.k = u.k``."""
    before = [_word(statement, place) for place in range(at - 3, at)]
    if "JOIN" in before and _word(statement, at + 1) == ".":
        return f"is ON missing before {statement[at].text}?"
    return None


def _cast_to(statement: Sequence[Token], at: int) -> str | None:
    """``CAST(a, INT)``."""
    if [_word(statement, place) for place in (at - 4, at - 3, at - 1)] == ["CAST", "(", ","]:
        return f"write CAST({statement[at - 2].text} AS {statement[at].text})"
    return None


def _separator(statement: Sequence[Token], at: int) -> str | None:
    """``GROUP_CONCAT(s SEPARATOR ',')``."""
    if _word(statement, at) == "SEPARATOR":
        return f"it is the second argument: STRING_AGG({statement[at - 1].text}, ',')"
    return None


def _percent(statement: Sequence[Token], at: int) -> str | None:
    """``100%``, before the word over which the parser stumbles, or at the end."""
    for sign in (at - 1, at):
        if _word(statement, sign) == "%" and sign and statement[sign - 1].token_type is TokenType.NUMBER:
            number = statement[sign - 1].text
            return f"% is the remainder of a division: {number} percent is {number} / 100"
    return None


def _next_query(statement: Sequence[Token], at: int) -> str | None:
    """``WITH a AS (…) b AS (…)``."""
    if [_word(statement, place) for place in (at - 4, at - 2, at - 1)] == [")", "AS", "("]:
        return f"is a comma missing before {statement[at - 3].text}?"
    return None


def _condition_of_nothing(statement: Sequence[Token], at: int) -> str | None:
    """``WHERE NOT IN (…)``."""
    for place in (at - 1, at):
        negated = _word(statement, place - 1) == "NOT"
        word, before = _word(statement, place), _word(statement, place - 1 - negated)
        if word in _TESTS and before in _CONDITIONS:
            return f"a value is missing before {'NOT ' * negated}{word}, as in a {'NOT ' * negated}{word} …"
    return None


def _word(statement: Sequence[Token], at: int) -> str | None:
    return statement[at].text.upper() if 0 <= at < len(statement) else None


def _pivot_without_list(statement: Sequence[Token], at: int) -> str | None:
    """``PIVOT (SUM(x) FOR k)``."""
    words = [token.text.upper() for token in statement[:at]]
    if "PIVOT" in words and words[-1:] == ["FOR"]:
        return f"list the values, as in FOR {statement[at].text} IN ('a', 'b')"
    return None


_FORMS: tuple[Callable[[Sequence[Token], int], str | None], ...] = (_pivot_without_list,
    _top, _decimal_comma, _bare_interval, _named_query, _closed_too_often, _arrow, _sign, _between, _bare_pattern,
    _compared_case, _comment, _test_in_words, _join_without_on, _cast_to, _separator, _percent,
    _next_query, _condition_of_nothing,
)  # fmt: skip
