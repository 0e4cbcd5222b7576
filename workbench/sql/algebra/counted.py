"""Values that are counted: an interval of days to microseconds and a time of the day are the number of their
microseconds, an interval of years and months that of its months, of which everything about them is computed.

So ``b.t - a.t > INTERVAL '5' MINUTE`` is a comparison of integers, and no operator knows of intervals.
"""

from __future__ import annotations

import datetime as dt
import re

from workbench.sql.algebra.expressions import Call, Constant, Expression
from workbench.sql.algebra.types import COUNTED, INTEGER, DataType, Kind

_FUNCTIONS = {
    Kind.INTERVAL: ("interval_of_micros", "micros_of_interval"),
    Kind.MONTHS: ("interval_of_months", "months_of_interval"),
    Kind.TIME: ("time_of_micros", "micros_of_time"),
}
"""Kind -> the functions of and to the number, whose values are the same to Spark."""
MADE_OF_NUMBERS = {of: DataType(kind) for kind, (of, _) in _FUNCTIONS.items()}
"""The functions that make such a value -> its type."""
NUMBERS_OF_COUNTED = {number: DataType(kind) for kind, (_, number) in _FUNCTIONS.items()}
"""The functions that give the number of such a value -> its type."""


def of_number(number: Expression, type_: DataType) -> Expression:
    """The value of a type that is counted with a number.

    Example:
        >>> from workbench.sql.algebra.expressions import text
        >>> from workbench.sql.algebra.types import INTERVAL
        >>> text(counted_number(of_number(Constant(5, INTEGER), INTERVAL)))
        '5'
    """
    if isinstance(number, Constant) and number.value is None:
        return Constant(None, type_)
    if isinstance(number, Call) and NUMBERS_OF_COUNTED.get(number.function) == type_:
        return number.arguments[0]
    return Call(_FUNCTIONS[type_.kind][0], (number,), type_)


def counted_number(value: Expression) -> Expression:
    """The number of an interval or a time of the day."""
    if isinstance(value, Constant):
        return Constant(None, INTEGER)  # NULL is the only constant
    if isinstance(value, Call) and value.function in MADE_OF_NUMBERS:
        return value.arguments[0]
    return Call(_FUNCTIONS[value.type.kind][1], (value,), INTEGER)


_TIME = re.compile(r"\s*T?([0-9]{1,2}):([0-9]{1,2})(?::([0-9]{1,2})(?:\.([0-9]*))?)?\s*(?:([ap])m)?\s*", re.IGNORECASE)


def time_of_text(text: object) -> int | None:
    """The microseconds of the time of the day that a text is; ``None`` where it is none.

    Example:
        >>> time_of_text("1:02:03.5"), time_of_text("12:30 AM"), time_of_text("24:00")
        (3723500000, 1800000000, None)
    """
    match = _TIME.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        return None
    hour, minute, second = (int(part or 0) for part in match.groups()[:3])
    if half := match[5]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + 12 * (half in "pP")
    if hour > 23 or minute > 59 or second > 59:
        return None
    return ((hour * 60 + minute) * 60 + second) * 1_000_000 + int(f"{match[4] or ''}000000"[:6])


def counted_values(number: Expression) -> list[Expression]:
    """The values of all types that are counted with a number."""
    return [of_number(number, DataType(kind)) for kind in COUNTED]


def interval_text(value: dt.timedelta | tuple[int, int, int]) -> str:
    """An interval as Spark writes it; one of months is a triple of months and of what it has none.

    Example:
        >>> interval_text(dt.timedelta(minutes=5)), interval_text(-dt.timedelta(days=1, microseconds=500))
        ("INTERVAL '0 00:05:00' DAY TO SECOND", "INTERVAL '-1 00:00:00.0005' DAY TO SECOND")
        >>> interval_text((-14, 0, 0))
        "INTERVAL '-1-2' YEAR TO MONTH"
    """
    if not isinstance(value, dt.timedelta):
        years, months = divmod(abs(value[0]), 12)
        return f"INTERVAL '{'-' if value[0] < 0 else ''}{years}-{months}' YEAR TO MONTH"
    length = abs(value)
    minutes, seconds = divmod(length.seconds, 60)
    fraction = f".{length.microseconds:06d}".rstrip("0").rstrip(".")
    sign = "-" if value < dt.timedelta() else ""
    digits = f"{sign}{length.days} {minutes // 60:02d}:{minutes % 60:02d}:{seconds:02d}{fraction}"
    return f"INTERVAL '{digits}' DAY TO SECOND"
