"""Writes names as a query must: in the dialect's quotes unless they are plain words."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

import sqlglot
from sqlglot import exp
from sqlglot.errors import ParseError, TokenError

_BARE = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_WORD = re.compile(r"\w+")
_QUOTED = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"|`[^`]*`")


def name_in_sql(name: str, dialect: str) -> str:
    """A name as a query of a dialect writes it.

    Example:
        >>> name_in_sql("fare", "spark"), name_in_sql("started at", "spark"), name_in_sql("started at", "oracle")
        ('fare', '`started at`', '"started at"')
        >>> name_in_sql("x", "spark"), name_in_sql("end", "spark"), name_in_sql("from", "spark")
        ('x', 'end', '`from`')
    """
    return name if _is_plain(name, dialect) else exp.to_identifier(name, quoted=True).sql(dialect)


@cache
def _is_plain(name: str, dialect: str) -> bool:
    """Whether a name is read as that of a column without quotes."""
    if not _BARE.fullmatch(name):
        return False
    try:
        read = sqlglot.parse_one(f"SELECT 1 - {name} FROM t WHERE {name} > 1", dialect=dialect)
    except (ParseError, TokenError):
        return False
    return sum(column.name == name for column in read.find_all(exp.Column)) == 2


def quoting_hint(sql: str, at: int, names: Iterable[str], dialect: str) -> str | None:
    """A hint for a text that cannot be read since it has a name that needs quotes without them; ``None`` if it has not.

    A name that is a word of SQL, as ``from``, is meant where the parser stumbles over that word, or just behind it.

    Args:
        sql: the text.
        at: where the parser stumbles.
        names: of columns and streams.
        dialect: of the text.

    Example:
        >>> quoting_hint("SELECT Started At + 1 FROM rides", 15, ["fare", "started at"], "spark")
        'a name that is no plain word stands in quotes: `started at`'
        >>> quoting_hint("SELECT from, x FROM rides", 11, ["x", "from"], "spark")
        'a name that is a word of SQL stands in quotes: `from`'
    """
    bare = " ".join(_QUOTED.sub("''", sql).lower().split())
    for name in sorted(names, key=len, reverse=True):
        if not _BARE.fullmatch(name) and re.search(rf"(?<!\w){re.escape(name.lower())}(?!\w)", bare):
            return f"a name that is no plain word stands in quotes: {name_in_sql(name, dialect)}"
    before = (word for word in _WORD.finditer(sql) if word.start() <= at and not sql[word.end() : at].strip())
    stumbled = {word[0].lower() for word in before}
    for name in names:
        if name.lower() in stumbled and not _is_plain(name, dialect):
            return f"a name that is a word of SQL stands in quotes: {name_in_sql(name, dialect)}"
    return None
