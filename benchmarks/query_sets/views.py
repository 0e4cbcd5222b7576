"""Views that differ in a threshold, one selection and one join, over payments: what any streaming system can keep."""

from __future__ import annotations

from benchmarks.sample_streams.payments import LARGEST_AMOUNT
from workbench.experiments.query_sets.generated import GeneratedQuery

STREAM = "payments"
_LARGE = LARGEST_AMOUNT * 98 // 100
"""Amounts beyond it are large: one of fifty."""


def views(number: int, unit: int = 1) -> tuple[GeneratedQuery, ...]:
    """Sums and counts by bank over what is more than a threshold, with thresholds evenly spread.

    Args:
        number: of views.
        unit: cents in the unit of the amounts.

    Example:
        >>> views(2)[1].sql
        'SELECT bank, SUM(amount) AS total, COUNT(*) AS n FROM payments WHERE amount > 500000 GROUP BY bank'
        >>> len({view.sql for view in views(768, unit=100)})
        768
    """
    asked = []
    for i in range(number):
        threshold = LARGEST_AMOUNT * i // (number * unit)
        sql = f"SELECT bank, SUM(amount) AS total, COUNT(*) AS n FROM {STREAM} WHERE amount > {threshold} GROUP BY bank"
        asked.append(_query(f"view_{i + 1:03}", sql, "view", threshold))
    return tuple(asked)


def selection() -> GeneratedQuery:
    """Large payments."""
    sql = f"SELECT payment, bank, amount FROM {STREAM} WHERE amount > {_LARGE}"
    return _query("selection", sql, "selection", _LARGE)


def join() -> GeneratedQuery:
    """Large payments that an account received, with large ones that it made."""
    sql = (
        f"SELECT a.payment AS received, b.payment AS made FROM {STREAM} a JOIN {STREAM} b ON a.account = b.payer"
        f" WHERE a.amount > {_LARGE} AND b.amount > {_LARGE}"
    )
    return _query("pairs", sql, "join", _LARGE)


def by_account() -> tuple[GeneratedQuery, ...]:
    """Sums, extremes, counts of values and a join by account, of which one may have most of the rows."""
    sums = "SUM(amount) AS total, COUNT(*) AS n, SUM(CAST(payment AS DOUBLE)) AS numbers"
    extremes = "MIN(amount) AS least, MAX(CAST(amount AS DOUBLE)) AS most"
    columns = {"sums": sums, "extremes": extremes, "values": "COUNT(DISTINCT payer) AS n, MEDIAN(payment) AS middle"}
    groups = {name: f"SELECT account, {some} FROM {STREAM} GROUP BY account" for name, some in columns.items()}
    pairs = join().sql.replace(f"a.amount > {_LARGE} AND ", "")
    return tuple(_query(name, sql, "by account", 0) for name, sql in (groups | {"pairs": pairs}).items())


def _query(name: str, sql: str, variant: str, threshold: int) -> GeneratedQuery:
    return GeneratedQuery(name, sql, sql, variant, {"threshold": threshold}, "spark")
