"""Intervals as values: the number of their microseconds, of which everything about them is computed.

So ``b.t - a.t > INTERVAL '5' MINUTE`` is a comparison of integers, and no operator knows of intervals.
"""

from __future__ import annotations

import datetime as dt

from workbench.sql.algebra.expressions import Call, Constant, Expression
from workbench.sql.algebra.types import INTEGER, INTERVAL

OF_MICROS, MICROS = "interval_of_micros", "micros_of_interval"
"""The functions between an INTERVAL and an INTEGER, whose values are the same to Spark."""


def interval_of(micros: Expression) -> Expression:
    """The interval of a number of microseconds.

    Example:
        >>> from workbench.sql.algebra.expressions import text
        >>> text(micros_of(interval_of(Constant(5, INTEGER))))
        '5'
    """
    if isinstance(micros, Constant) and micros.value is None:
        return Constant(None, INTERVAL)
    if isinstance(micros, Call) and micros.function == MICROS:
        return micros.arguments[0]
    return Call(OF_MICROS, (micros,), INTERVAL)


def micros_of(interval: Expression) -> Expression:
    """The number of microseconds of an interval."""
    if isinstance(interval, Constant):
        return Constant(None, INTEGER)  # NULL is the only constant
    if isinstance(interval, Call) and interval.function == OF_MICROS:
        return interval.arguments[0]
    return Call(MICROS, (interval,), INTEGER)


def interval_text(value: dt.timedelta) -> str:
    """An interval as Spark writes it.

    Example:
        >>> interval_text(dt.timedelta(minutes=5)), interval_text(-dt.timedelta(days=1, microseconds=500))
        ("INTERVAL '0 00:05:00' DAY TO SECOND", "INTERVAL '-1 00:00:00.0005' DAY TO SECOND")
    """
    length = abs(value)
    minutes, seconds = divmod(length.seconds, 60)
    fraction = f".{length.microseconds:06d}".rstrip("0").rstrip(".")
    sign = "-" if value < dt.timedelta() else ""
    digits = f"{sign}{length.days} {minutes // 60:02d}:{minutes % 60:02d}:{seconds:02d}{fraction}"
    return f"INTERVAL '{digits}' DAY TO SECOND"
