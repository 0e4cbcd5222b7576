"""Stream time: ``now`` as an expression, instants of loops, times as numbers, lengths of time as text.

The ``now`` of a query is the largest event time seen so far on the streams it reads. So a replay gives the same answers
every time, and other queries and other streams do not change it. ``now`` is a call that names these streams; a loop of
windows (TelegraphCQ 4.1.1) is a call whose value is the *instant* at which the loop stands. ``evaluation`` computes
both.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import TypeGuard

from workbench.sql.algebra.expressions import Call, Column, Constant, Expression, Value, walk
from workbench.sql.algebra.types import DATE, INTEGER, STRING, TIMESTAMP, DataType, Kind
from workbench.sql.functions.calls import NOW, SESSION_START

INSTANT, VARIABLE = "instant", "loop variable"
"""Functions: the instant at which a loop stands, and inside a loop its variable."""

TUMBLING, SLIDING = "window_start", "window_starts"
"""Functions that give the start of the window of a time; of its several windows, until these are rewritten."""

EventTimeVector = Mapping[str, Value]
"""For every stream, by its name in lower case, the largest event time seen, and under its ``row_number_key`` the number
of its rows; no entry before the first row. Under ``INSTANT`` it may say where loops stand.

It is near to a watermark, but promises nothing about rows to come: a row may be late.
"""

ROW = Column("_row", INTEGER)
"""The number of a row in its stream, from 1: the logical time of a stream without event times."""


def row_number_key(stream: str) -> str:
    """The key of the number of a stream's rows, which is the time of a stream without event times."""
    return f"{stream.lower()} rows"


def now_of(streams: Iterable[str], type_: DataType) -> Call:
    """The largest event time of some streams, as an expression; a DATE, TIMESTAMP or number like the times.

    Example:
        >>> from workbench.sql.algebra.expressions import text
        >>> text(now_of(["Fed"], DATE))
        "now('fed')"
    """
    return Call(NOW, tuple(Constant(name, STRING) for name in sorted({s.lower() for s in streams})), type_)


def is_session(group: Expression) -> bool:
    """Whether rows are grouped by sessions."""
    return isinstance(group, Call) and group.function == SESSION_START


def reads_now(expression: Expression) -> bool:
    """Whether an expression changes as time passes."""
    return any(isinstance(part, Call) and part.function in (NOW, INSTANT) for part in walk(expression))


def loop_variable(type_: DataType) -> Call:
    """The variable of a loop."""
    return Call(VARIABLE, (), type_)


def instant(start: Expression, condition: Expression, change: Expression, now: Expression) -> Call:
    """The present instant of a loop.

    Args:
        start: the first value of the variable.
        condition: over the variable: whether there is an instant.
        change: over the variable: its next value.
        now: the clock it follows.
    """
    return Call(INSTANT, (start, condition, change, now), start.type)


def at_instant(expression: Expression, loop: Call) -> Expression:
    """Evaluate an expression over the variable of a loop at the loop's present instant."""
    match expression:
        case Call(function) if function == VARIABLE:
            return loop
        case Call(function, arguments, type_):
            return Call(function, tuple(at_instant(a, loop) for a in arguments), type_)
    return expression


EPOCH_START = dt.datetime(1970, 1, 1)


def is_time(type_: DataType) -> bool:
    """Whether values of a type can be times: days, microseconds, or numbers that count something."""
    return type_.temporal or type_.kind is Kind.INTEGER


def as_number(value: Value) -> int | None:
    """A time as a whole number: days since 1970, microseconds since then, or itself."""
    match value:
        case dt.datetime():
            return (value - EPOCH_START) // dt.timedelta(microseconds=1)
        case dt.date():
            return (value - EPOCH_START.date()).days
        case None:
            return None
        case int() | Decimal():
            return int(value)
    raise TypeError(f"{value!r} is no time")


def common_time(types: Iterable[DataType]) -> DataType | None:
    """The type of the later of several times; ``None`` where days and numbers cannot be compared."""
    distinct = set(types)
    if len(distinct) == 1:
        return distinct.pop()
    return TIMESTAMP if distinct == {DATE, TIMESTAMP} else None


_SECONDS = {"week": 604_800, "day": 86_400, "hour": 3_600, "minute": 60, "second": 1}
_DURATION_PART = re.compile(r"([0-9]{1,10})\s*([a-z]+?)s?(?:\s+|$)", re.I)

DURATION_UNITS = "seconds, minutes, hours, days or weeks"
"""The units of a length of time."""


def duration_seconds(text: str) -> int | None:
    """The seconds of a length of time; ``None`` for any other text.

    Example:
        >>> duration_seconds("1 hour 30 minutes"), duration_seconds("soon")
        (5400, None)
    """
    text = text.strip()
    parts = list(_DURATION_PART.finditer(text))
    if not parts or "".join(part[0] for part in parts) != text:
        return None
    if any(part[2].lower() not in _SECONDS for part in parts):
        return None
    return sum(int(part[1]) * _SECONDS[part[2].lower()] for part in parts)


_SHORT_DURATION = re.compile(r"\s*([0-9]{1,10}(?:\.[0-9]{1,9})?)\s*(ms|s|sec|m|min|h|hr|d|w)\s*")
_SHORT_UNITS = {"ms": 0.001, "s": 1.0, "sec": 1.0, "m": 60.0, "min": 60.0, "h": 3_600.0, "hr": 3_600.0, "d": 86_400.0,
                "w": 604_800.0}  # fmt: skip


def short_duration(text: str) -> float | None:
    """The seconds of a length of time, which may be written short; ``None`` for any other text.

    SQL knows the long form alone: there, ``m`` could be months.

    Example:
        >>> short_duration("500ms"), short_duration("1h"), short_duration("2 minutes"), short_duration("soon")
        (0.5, 3600.0, 120, None)
    """
    short = _SHORT_DURATION.fullmatch(text)
    return float(short[1]) * _SHORT_UNITS[short[2]] if short else duration_seconds(text)


def duration_text(seconds: int) -> str:
    """A length of time as text, in units up to days.

    Example:
        >>> duration_text(5_400), duration_text(172_800), duration_text(0)
        ('1 hour 30 minutes', '2 days', '0 seconds')
    """
    parts = []
    for unit, size in list(_SECONDS.items())[1:]:
        count, seconds = divmod(seconds, size)
        if count:
            parts.append(f"{count:,} {unit}{'s' if count > 1 else ''}")
    return " ".join(parts) or "0 seconds"


def is_window(group: Expression) -> TypeGuard[Call]:
    """Whether an expression is a window that is a group."""
    return isinstance(group, Call) and group.function in (TUMBLING, SLIDING, SESSION_START)


def is_sliding(group: Expression) -> bool:
    """Whether it is one of windows that overlap."""
    return isinstance(group, Call) and group.function == SLIDING
