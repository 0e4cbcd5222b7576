"""Forms that the parser takes in every dialect, though the database of the dialect refuses them or means another thing.

Each is a pattern of the words of a statement, with a blank between any two and texts as ``'…'``; ``at`` is the word
that the error points at. A new one is a line.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import accumulate

from sqlglot.tokenizer_core import Token, TokenType

from workbench.errors import SqlError
from workbench.sql.dialects import DIALECTS
from workbench.sql.syntax.source_text import SourceText

_ALL = frozenset(DIALECTS)
_OF_TEXTS = frozenset({"spark", "duckdb", "postgres", "presto", "trino"})
"""Dialects in which a unit of time is a text."""
_UNIT = (
    "(?:(?:MICRO|MILLI)?SECOND|MINUTE|HOUR|DAY|WEEK|MONTH|QUARTER|YEAR|DECADE|CENTURY|EPOCH|DOW|DOY|ISODOW|ISOYEAR)S?"
)
_REFUSED = (
    (_ALL, r"\bDISTINCT (?P<at>ON) (?P<name>[\w\"`]+)(?! \()",
     "syntax error: DISTINCT ON has its columns in parentheses",
     "write ON ({name}) and then all columns that are selected"),
    (_ALL, r"(?<!\bLEFT )(?<!\bRIGHT )(?<!\bFULL )(?<!\bNATURAL )\b(?P<at>OUTER) JOIN\b",
     "syntax error: OUTER JOIN has no side", "LEFT, RIGHT or FULL says of which side rows are kept: LEFT OUTER JOIN"),
    (_ALL - {"duckdb"}, r"(?<=\) )(?P<at>FILTER) \( (?!WHERE\b)",
     "syntax error: the condition of FILTER stands behind WHERE", "write FILTER (WHERE …)"),
    (_OF_TEXTS, rf"\b(?P<of>DATE_PART|DATE_TRUNC) \( (?P<at>{_UNIT}) ,", "the unit of {OF} is a text", "write '{at}'"),
    (frozenset({"duckdb"}), rf"\b(?P<of>DATE_DIFF|DATEDIFF|DATE_SUB|DATESUB|DATEPART|DATETRUNC) \( (?P<at>{_UNIT}) ,",
     "the unit of {OF} is a text", "write '{at}'"),
    (_ALL, r"\b(?P<of>ROWS|GROUPS) (?P<at>\d+) \)", "a frame says in which direction its rows are",
     "write {of} {at} PRECEDING, or {of} BETWEEN {at} PRECEDING AND CURRENT ROW"),
    (frozenset({"postgres"}), r"\b(?:LIKE|ILIKE|[=<>]+) (?P<of>ANY|ALL|SOME) \( (?P<at>'…') ,", "{OF} takes an array",
     "write {of} (ARRAY['a', 'b'])"),
    (_ALL - {"duckdb", "presto", "trino"}, r"\bCOUNT \( (?P<at>\))", "COUNT takes a value", "COUNT(*) counts rows"),
    (_ALL - {"oracle"}, r"(?::: |\bCAST \( (?:(?!\bCAST\b).)*? AS )(?P<at>NUMBER|N?VARCHAR2|N?CLOB)\b",
     "there is no type {at}", "write DECIMAL(15, 2), DOUBLE or BIGINT, and VARCHAR of texts"),
    (frozenset({"postgres"}), r"\b(?P<at>PERCENTILE_CONT|PERCENTILE_DISC) \( (?!\S+ \) WITHIN\b)[^()]*,",
     "{AT} takes a share alone", "write {at}(0.5) WITHIN GROUP (ORDER BY …)"),
)  # fmt: skip
_PATTERNS = [
    (dialects, re.compile(pattern, re.IGNORECASE), message, hint) for dialects, pattern, message, hint in _REFUSED
]


def refuse_forms(source: SourceText, statement: Sequence[Token]) -> None:
    """Refuse what the dialect's database does not take, or takes for something else.

    Raises:
        SqlError: there is such a form, with its place.

    Example:
        >>> refuse_forms(SourceText("SELECT COUNT() FROM t"), SourceText("SELECT COUNT() FROM t").tokens)
        Traceback (most recent call last):
        workbench.errors.SqlError: COUNT takes a value
          SELECT COUNT() FROM t
                       ^
        hint: COUNT(*) counts rows
    """
    words = ["'…'" if token.token_type is TokenType.STRING else source.token_text(token) for token in statement]
    text, starts = " ".join(words), [0, *accumulate(len(word) + 1 for word in words)]
    for dialects, pattern, message, hint in _PATTERNS:
        if source.dialect in dialects and (found := pattern.search(text)):
            token = statement[starts.index(found.start("at"))]
            parts = found.groupdict() | {name.upper(): part.upper() for name, part in found.groupdict().items()}
            span = source.span(token.start, token.end + 1)
            raise SqlError(message.format(**parts), **span, hint=hint.format(**parts))
