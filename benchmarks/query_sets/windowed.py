"""Windowed queries without end: selections, joins, aggregates and user functions over transfers, any number of them.

What they need of the streams is bounded by their windows, so a session that runs them for long keeps no more and more.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

import pyarrow as pa

from workbench.session.state import EAGER, LAZY

LONGEST = 30
"""Days of the longest window."""
_BANKS = 50

_FROM = "FROM transfers t WHERE"
_JOINED = "FROM transfers t JOIN banks b ON t.bank = b.bank WHERE"
_LATELY = "t.d > now() - {days}"
_KINDS = (
    f"SELECT t.id, t.amount {_FROM} t.amount > {{high}} AND {_LATELY}",
    f"SELECT t.bank, COUNT(*) AS n, SUM(t.amount) AS s, AVG(t.amount) AS a {_FROM} {_LATELY} GROUP BY t.bank",
    f"SELECT t.bank, MIN(t.amount) AS l, MAX(t.amount) AS h {_FROM} t.amount > {{low}} AND {_LATELY} GROUP BY t.bank",
    f"SELECT t.id, b.country {_JOINED} t.amount > {{high}} AND {_LATELY}",
    f"SELECT b.country, COUNT(*) AS n, SUM(t.amount) AS s {_JOINED} t.amount > {{low}} AND {_LATELY}"
    " GROUP BY b.country",
    "SELECT t.id, u.id AS next FROM transfers t JOIN transfers u ON t.payee = u.payer AND t.amount < u.amount"
    " WHERE t.amount > {low} AND t.d > now() - 3 AND u.d > now() - 3",
    f"SELECT DISTINCT t.payee {_FROM} t.amount > {{high}} AND t.d BETWEEN now() - {{days}} AND now() - 1",
    f"SELECT t.id, fee(t.amount) AS f {_FROM} fee(t.amount) > {{low}} AND t.amount > {{high}} AND {_LATELY}",
    f"SELECT t.bank, SUM(fee(t.amount)) AS f {_FROM} t.amount > {{high}} AND {_LATELY} GROUP BY t.bank",
    f"SELECT t.bank, MEDIAN(t.amount) AS m {_FROM} t.amount > {{high}} AND t.d > now() - 3 GROUP BY t.bank",
)
"""What the queries ask, in turns."""


@dataclass(frozen=True)
class WindowedQuery:
    """A query and how its answer is kept."""

    name: str
    sql: str
    results: str


def fee(amount: int) -> int:
    """What a transfer costs: the user function of the queries."""
    return amount // 20 + 3


FEE_IN_DUCKDB = "CREATE MACRO fee(amount) AS amount // 20 + 3"


def windowed_query(number: int) -> WindowedQuery:
    """The query of a number; of every number another one.

    Example:
        >>> windowed_query(0).sql
        'SELECT t.id, t.amount FROM transfers t WHERE t.amount > 949 AND t.d > now() - 3'
    """
    chosen = Random(number)
    high, low, days = chosen.randrange(900, 990), chosen.randrange(1, 40), chosen.randrange(2, LONGEST + 1)
    text = _KINDS[number % len(_KINDS)].format(high=high, low=low, days=days)
    return WindowedQuery(f"q{number}", text, EAGER if chosen.random() < 0.1 else LAZY)


def windowed_banks() -> pa.Table:
    """The table that transfers are joined with."""
    return pa.table({"bank": list(range(_BANKS)), "country": [f"country {bank % 7}" for bank in range(_BANKS)]})
