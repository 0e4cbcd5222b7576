"""Names as they stand in the text of a query: in the dialect's quotes where they are no plain words."""

from __future__ import annotations

import re
from collections.abc import Iterable

from sqlglot import exp

_BARE = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_QUOTED = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"|`[^`]*`")


def name_in_sql(name: str, dialect: str) -> str:
    """A name as a query of a dialect writes it.

    Example:
        >>> name_in_sql("fare", "spark"), name_in_sql("started at", "spark"), name_in_sql("started at", "oracle")
        ('fare', '`started at`', '"started at"')
    """
    return name if _BARE.fullmatch(name) else exp.to_identifier(name, quoted=True).sql(dialect)


def quoting_hint(sql: str, names: Iterable[str], dialect: str) -> str | None:
    """A hint for a text that cannot be read since it has a name that needs quotes without them; ``None`` if it has not.

    Args:
        sql: the text.
        names: of columns and streams.
        dialect: of the text.

    Example:
        >>> quoting_hint("SELECT Started At + 1 FROM rides", ["fare", "started at"], "spark")
        'a name that is no plain word stands in quotes: `started at`'
    """
    bare = " ".join(_QUOTED.sub("''", sql).lower().split())
    for name in sorted(names, key=len, reverse=True):
        if not _BARE.fullmatch(name) and re.search(rf"(?<!\w){re.escape(name.lower())}(?!\w)", bare):
            return f"a name that is no plain word stands in quotes: {name_in_sql(name, dialect)}"
    return None
