"""Since when changes are asked for: after a batch, or from an event time on, as an analyst says it.

A replay has no yesterday but that of its rows: days and times are those of the event-time clock.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

from workbench.errors import QueryError

Since = int | str | dt.date
"""A batch, or an event time: ``"yesterday"``, ``"today"``, ``"2026-01-02"``, ``"10:30"``, a date or datetime."""

_DAYS = {"today": 0, "yesterday": 1}
"""How many days before that of the latest event time a word means."""
MOST_DIGITS = 18
"""Of the number of a batch."""
HINT = "a batch (3), a day (2026-01-02), a time (10:30, '2026-01-02 10:30'), today or yesterday"


def batch_before(since: Since, reached: Sequence[tuple[int, dt.datetime | None]], query: str) -> int | None:
    """The last batch whose rows are all older than what is meant, or ``None``: the history has newer ones.

    Args:
        since: what is meant; of a number, also as text, it is that batch.
        reached: the history and the batches, each with the latest event time that there was then.
        query: its name, for errors.

    Raises:
        QueryError: it is neither a batch nor a time, no stream has event times, or that time has not come yet.

    Example:
        >>> at = dt.datetime(2026, 1, 1, 12)
        >>> reached = [(batch, at + dt.timedelta(hours=6 * batch)) for batch in range(5)]
        >>> [batch_before(since, reached, "q") for since in ("today", "2026-01-01", "18:00", 3)]
        [1, None, 0, 3]
    """
    if isinstance(since, int):
        return since
    text = since_text(since)
    if text.isdecimal():
        if len(text) > MOST_DIGITS:
            raise QueryError(f"there is no batch of {len(text)} digits", hint=HINT)
        return int(text)
    latest = reached[-1][1]
    if latest is None:
        hint = "say a batch, as in --since 3; streams say with --time which column is the event time"
        raise QueryError(f"no stream of {query} has event times, so no batch belongs to {since}", hint=hint)
    moment = time_meant(since, latest)
    if moment > latest:
        raise QueryError(f"{since} has not come yet", hint=f"the latest event time of {query} is {latest}")
    before = [batch for batch, time in reached if time is None or time < moment]
    return before[-1] if before else None


def time_meant(since: str | dt.date, latest: dt.datetime) -> dt.datetime:
    """The time that is meant, where the latest event time is now; a time of the day is the last such one.

    Raises:
        QueryError: it is no time.
    """
    moment = _moment(since, latest)
    if moment.tzinfo is not None:
        raise QueryError(f"{since} has a time zone", hint="event times are local; leave the zone out")
    if isinstance(since, str) and _is_time_of_day(since_text(since)) and moment > latest:
        return moment - dt.timedelta(days=1)
    return moment


def _moment(since: str | dt.date, latest: dt.datetime) -> dt.datetime:
    """What is meant, of a time of the day that on the day of the latest event time."""
    if isinstance(since, dt.datetime):
        return since
    if isinstance(since, dt.date):
        return dt.datetime.combine(since, dt.time())
    word = since_text(since).lower()
    if word in _DAYS:
        return dt.datetime.combine(latest.date() - dt.timedelta(days=_DAYS[word]), dt.time())
    try:
        if _is_time_of_day(word):
            return dt.datetime.combine(latest.date(), dt.time.fromisoformat(word))
        return dt.datetime.fromisoformat(since_text(since))
    except ValueError:
        raise QueryError(f"{since} is neither a batch nor a time", hint=HINT) from None


def _is_time_of_day(text: str) -> bool:
    return ":" in text and "-" not in text


def since_text(since: str | dt.date) -> str:
    """The given time, as text."""
    return str(since).strip()


def no_such_batch(batch: int, last: int, query: str) -> QueryError:
    """The error for a batch that a query has not been answered after.

    Example:
        >>> no_such_batch(9, 2, "q").hint, no_such_batch(9, 0, "q").hint
        ('the batches so far are 0 to 2', 'only the history has come so far, batch 0: %argus run lets the next arrive')
    """
    hint = f"the batches so far are 0 to {last}"
    if last == 0:
        hint = "only the history has come so far, batch 0: %argus run lets the next arrive"
    return QueryError(f"there is no batch {batch} of {query}", hint=hint)
