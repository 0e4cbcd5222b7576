"""Texts of intervals of which the parser would drop a part.

Of ``INTERVAL '1 day 01:30:00'`` and ``INTERVAL '3 days ago'`` sqlglot reads the number and unit at the beginning, and
passes over the rest. It keeps texts of several numbers with units as they are, for the binder to read; so such a text
gets one more, of no length.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

_OF_NO_LENGTH = " 0 seconds"
_WHOLE = "([0-9]+)"
_ISO = re.compile(
    rf"P(?:{_WHOLE}Y)?(?:{_WHOLE}M)?(?:{_WHOLE}W)?(?:{_WHOLE}D)?"
    rf"(?:T(?:{_WHOLE}H)?(?:{_WHOLE}M)?(?:([0-9]+(?:\.[0-9]+)?)S)?)?(?<!P)(?<!T)"
)
_ISO_UNITS = ("YEAR", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND")


def with_whole_intervals(tokens: Sequence[Token]) -> list[Token]:
    """The tokens of a text, whose intervals the parser keeps whole.

    Example:
        >>> from sqlglot.dialects.postgres import Postgres
        >>> tokens = Postgres().tokenize("INTERVAL '3 days ago'")
        >>> [token.text for token in with_whole_intervals(tokens)]
        ['INTERVAL', '3 days ago 0 seconds']
    """
    return [
        _longer(token) if before is not None and _is_cut(before, token) else token
        for before, token in zip([None, *tokens], tokens, strict=False)
    ]


def written_in_units(text: str) -> str:
    """The text of an interval of PostgreSQL with a unit behind each number; any other as it is.

    Example:
        >>> [written_in_units(text) for text in ("P1Y2DT3H0.5S", "1-2 3 days", "@ 5 minutes", "12", "PT15M")]
        ['1 YEAR 2 DAY 3 HOUR 0.5 SECOND', '1 YEAR 2 MONTH 3 days', '5 minutes', '12 SECOND', '15 MINUTE']
    """
    text = text.removesuffix(_OF_NO_LENGTH).removeprefix("@").strip()
    if match := _ISO.fullmatch(text):
        return " ".join(f"{many} {unit}" for many, unit in zip(match.groups(), _ISO_UNITS, strict=True) if many)
    if re.fullmatch(r"[+-]?[0-9]+", text):
        return f"{text} SECOND"
    return re.sub(r"^([+-]?)([0-9]+)-([0-9]+)(?=\s|$)", r"\1\2 YEAR \1\3 MONTH", text)


def _is_cut(before: Token, token: Token) -> bool:
    """Whether a token is the text of an interval that is more than one number and its unit."""
    if before.token_type is not TokenType.INTERVAL or token.token_type is not TokenType.STRING:
        return False
    parts = list(exp.INTERVAL_STRING_RE.finditer(token.text))
    return len(parts) == 1 and parts[0].group().strip() != token.text.strip()


def _longer(token: Token) -> Token:
    return Token(token.token_type, token.text + _OF_NO_LENGTH, token.line, token.col, token.start, token.end)
