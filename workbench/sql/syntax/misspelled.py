"""Key words that are misspelled: the one is meant with which the statement can be read, or can be read farther.

The parser takes a misspelled key word for a name, and stumbles over a word after it, or before it. So each word nearby
is replaced by the key words that are like it, and the parser is asked again.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from sqlglot import exp
from sqlglot.errors import ParseError
from sqlglot.tokenizer_core import Token

from workbench.sql.syntax.arguments import parser_of
from workbench.sql.syntax.dialects import tokenize
from workbench.sql.syntax.source_text import SourceText

KEY_WORDS = (
    "SELECT", "FROM", "WHERE", "GROUP BY", "ORDER BY", "PARTITION BY", "GROUP", "ORDER", "PARTITION", "BY", "HAVING",
    "QUALIFY", "FILTER", "JOIN", "LEFT", "RIGHT", "FULL", "INNER", "OUTER", "CROSS", "ON", "USING", "UNION",
    "INTERSECT", "EXCEPT", "ALL", "DISTINCT", "BETWEEN", "AND", "OR", "NOT", "IN", "LIKE", "IS", "IS NOT", "NULL",
    "NULLS", "CASE", "WHEN", "THEN", "ELSE", "END", "AS", "WITH", "LIMIT", "OFFSET", "FETCH", "FIRST", "LAST", "ASC",
    "DESC", "OVER", "ROWS", "RANGE", "PRECEDING", "FOLLOWING", "UNBOUNDED", "CURRENT", "INTERVAL", "EXISTS",
    "LATERAL",
)  # fmt: skip
_SIMILARITY, _OF_SHORT = 0.65, 0.5
"""How alike a word must be to a key word; of two letters one is right."""
_TRIED = 3
"""Key words that are tried for a word."""


def meant_key_word(source: SourceText, statement: Sequence[Token], at: int) -> tuple[Token, str] | None:
    """The misspelled word near the one over which the parser stumbled, and the key word that is meant.

    Example:
        >>> source = SourceText("SELECT a FROM t LIMT 3")
        >>> word, meant = meant_key_word(source, source.tokens, 5)
        >>> word.text, meant
        ('LIMT', 'LIMIT')
    """
    near = dict.fromkeys(place for place in (at - 1, at, at + 1, at - 2, 0) if 0 <= place < len(statement))
    names = {name.lower() for name in source.names}
    nearby = [place for place in near if not _is_call(statement, place)]
    tried = [
        (place, meant)
        for place in nearby
        if statement[place].text.lower() not in names
        for meant in similar_key_words(statement[place].text)
    ]
    places = [reached(source, statement, place, place + 1, meant) for place, meant in tried]
    best = max(places, default=0)
    if best <= statement[at].start:
        return None
    farthest = [tried[i] for i, place in enumerate(places) if place == best]
    place, meant = max(farthest, key=lambda each: _likeness(statement[each[0]].text, each[1]))
    return statement[place], meant


def _is_call(statement: Sequence[Token], place: int) -> bool:
    """Whether a word is a function that is called."""
    opens = place + 1 < len(statement) and statement[place + 1].text == "("
    return opens and statement[place].text.upper() in exp.FUNCTION_BY_NAME


def _likeness(word: str, key_word: str) -> float:
    return difflib.SequenceMatcher(None, word.upper(), key_word).ratio()


def similar_key_words(word: str) -> list[str]:
    """The key words that a word is like, the closest first; of one itself, those that begin with it.

    Example:
        >>> similar_key_words("lfet"), similar_key_words("order")
        (['LEFT', 'FETCH'], ['ORDER BY'])
    """
    if word.upper() in KEY_WORDS:
        return [phrase for phrase in KEY_WORDS if phrase.startswith(f"{word.upper()} ")]
    if len(word) < 2:
        return []
    cutoff = _OF_SHORT if len(word) == 2 else _SIMILARITY
    alike = difflib.get_close_matches(word.upper(), KEY_WORDS, n=_TRIED, cutoff=cutoff)
    return [meant for meant in alike if len(meant) > 2 or len(word) <= 3]


def reached(source: SourceText, statement: Sequence[Token], first: int, last: int, meant: str) -> int:
    """How far the parser comes in the text with some words replaced; as a place in the text as it is.

    Args:
        source: the text.
        statement: its words.
        first, last: the words from the first to before the last; none where they are equal.
        meant: what stands in their place.

    Returns:
        A place behind these words, the text's length where it is read to its end, or 0.
    """
    begin, start = statement[0].start, statement[first].start
    end = statement[last - 1].end + 1 if last > first else start
    text = f"{source.sql[begin:start]}{meant}{source.sql[end : statement[-1].end + 1]}"
    try:
        tokens = tokenize(text, source.dialect)
        parser_of(source.dialect).parse(tokens, text)
    except ParseError as error:
        details = error.errors[0] if error.errors else {}
        at = (details.get("line"), details.get("col"))
        place = next((token.start for token in tokens if (token.line, token.col) == at), 0) + begin
        place -= len(meant) - (end - start)
        return place if place >= end else 0
    except Exception:  # the parser stumbles over some calls, as in ``_parse_statement``
        return 0
    return len(source.sql)
