"""What an analyst may call streams, columns and queries: plain names, and names that break texts they are put into."""

from __future__ import annotations

import re
from random import Random

PLAIN_COLUMNS = ("a", "b", "k", "amount", "Name", "when_", "x", "y", "s", "d", "tran_date", "flag")
HOSTILE_COLUMNS = (
    "upper(s)", "year(d)", "(a * k)", "a.b", "a . b", "a`b", 'a"b', "a'b", "a\nb", "a b", " a", "a,b", "a;b", "--",
    "/*", "größe", "日本", "\U0001f600", "count", "sum(a)", "c1", "c0", "amount_2", "_batch", "_weight", "_0", "_copy",
    "select", "from", "order", "group", "null", "true", "1", "1a", "*", "k + 1", "a + 1L", "{0}", "${x}", "a\\b",
    "a\tb", "%", "?", "upper(`a`)", "count(*)", "_word0", "w0", "window", "now()", "now", "ts", "date", "interval",
    "user", "row", "rowid", "x" * 120,
)  # fmt: skip
PLAIN_INPUTS = ("t", "u", "v", "Trades")
HOSTILE_INPUTS = (
    "select",
    "my stream",
    "a.b",
    "t`x",
    "ünï",
    "t'x",
    "count",
    "c1",
    "values",
    "T\nx",
    "1st",
    "dual",
    "x/y",
)
PLAIN_QUERIES = ("qa", "qb", "qc", "Big", "qd")
HOSTILE_QUERIES = ("my query", "a.b.c", "from", "q`1", "q'1", "größe q", "q/../1", "union", 'q"1')

_BARE = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")
_WORDS = (
    "select from where group order by having union all and or not null true false count sum min max values user row"
    " rowid date interval timestamp window now dual first key name when end case is in as on join using distinct"
)
_KEY_WORDS = frozenset(_WORDS.split())


def pick(chosen: Random, plain: tuple[str, ...], hostile: tuple[str, ...], share: float, taken: set[str]) -> str:
    """A name that is not taken yet, which is then taken; names that differ in case only are one name."""
    while True:
        name = chosen.choice(hostile if chosen.random() < share else plain)
        if name.lower() in taken:
            name = f"{name}{chosen.randrange(100)}"
        if name.lower() not in taken:
            taken.add(name.lower())
            return name


def quoted(name: str, dialect: str) -> str:
    """A name in quotes of a dialect."""
    sign = "`" if dialect in ("spark", "databricks", "hive", "spark2", "bigquery") else '"'
    return f"{sign}{name.replace(sign, sign * 2)}{sign}"


def written(chosen: Random, name: str, dialect: str, exactly: bool = False) -> str:
    """A name as a user writes it: bare in any case where that is possible (unless ``exactly``), else in quotes."""
    if _BARE.fullmatch(name) and name.lower() not in _KEY_WORDS and not name.startswith("_") and chosen.random() < 0.8:
        return name if exactly else chosen.choice((name, name, name.upper(), name.lower()))
    return quoted(name, dialect)
