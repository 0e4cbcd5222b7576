"""``now``, and what is computed from it: constants of one moment, which the passing of time changes.

The ``now`` of a query is the largest event time seen so far on the streams it reads (design 3.6), so a replay gives the
same answers every time, and other queries and other streams do not change it. As an expression it is a call that names
these streams; what it is worth at a *moment*, the times of all streams, is worked out here in plain Python.
"""

from __future__ import annotations

import calendar
import datetime as dt
from collections.abc import Iterable, Mapping
from decimal import Decimal

from workbench.sql.expressions import Call, Constant, Expression, Value, columns, walk
from workbench.sql.types import DATE, STRING, TIMESTAMP, DataType, Kind

NOW = "now"
Moment = Mapping[str, Value]
"""What time it is: for every stream, by its name in lower case, the largest event time seen; none before the first."""

MIDNIGHT = dt.time()


def now_of(streams: Iterable[str], type_: DataType) -> Call:
    """The largest event time of some streams, as an expression.

    Example:
        >>> from workbench.sql.expressions import text
        >>> text(now_of(["Fed"], DATE))
        "now('fed')"
    """
    return Call(NOW, tuple(Constant(name, STRING) for name in sorted({s.lower() for s in streams})), type_)


def reads_now(expression: Expression) -> bool:
    """Whether an expression changes as time passes."""
    return any(isinstance(part, Call) and part.function == NOW for part in walk(expression))


def computable(expression: Expression) -> bool:
    """Whether ``value_at`` can work an expression out: it reads no column, and calls only what is known there."""
    if columns(expression):
        return False
    return all(part.function in _KNOWN for part in walk(expression) if isinstance(part, Call))


def value_at(expression: Expression, moment: Moment) -> Value:
    """What a ``computable`` expression is worth at a moment; NULL where a date leaves its range.

    Example:
        >>> week_ago = Call("-", (now_of(["fed"], DATE), Constant(7, INTEGER)), DATE)
        >>> value_at(week_ago, {"fed": dt.date(2002, 11, 20)})
        datetime.date(2002, 11, 13)
    """
    if isinstance(expression, Constant):
        return expression.value
    assert isinstance(expression, Call)
    if expression.function == NOW:
        return _now(expression, moment)
    values = [value_at(argument, moment) for argument in expression.arguments]
    if None in values:
        return None
    try:
        return _KNOWN[expression.function](expression.type, *values)  # type: ignore[operator]
    except (OverflowError, ValueError):
        return None


def _now(expression: Call, moment: Moment) -> Value:
    names = (str(a.value) for a in expression.arguments if isinstance(a, Constant))
    seen = [_cast(expression.type, value) for name in names if (value := moment.get(name)) is not None]
    return max(seen, default=None)  # type: ignore[type-var]


def _cast(type_: DataType, value: Value) -> Value:
    match value, type_.kind:
        case dt.datetime(), Kind.DATE:
            return value.date()
        case dt.datetime(), Kind.TIMESTAMP:
            return value
        case dt.date(), Kind.TIMESTAMP:
            return dt.datetime.combine(value, MIDNIGHT)
        case ((int() | Decimal()), Kind.INTEGER):
            return int(value)
    return value


def _plus(sign: int) -> object:
    def moved(type_: DataType, left: Value, right: Value) -> Value:
        if isinstance(left, dt.date) and isinstance(right, dt.date):
            return (left - right).days
        if isinstance(left, dt.date):
            return left + dt.timedelta(days=sign * int(right))  # type: ignore[arg-type]
        return left + sign * right  # type: ignore[operator]

    return moved


def _add_months(type_: DataType, moment: Value, months: Value) -> Value:
    """The same day of another month, or its last; a timestamp keeps its time of day."""
    assert isinstance(moment, dt.date) and isinstance(months, int)
    years, month = divmod(moment.year * 12 + moment.month - 1 + months, 12)
    return moment.replace(year=years, month=month + 1, day=min(moment.day, calendar.monthrange(years, month + 1)[1]))


def _truncated(type_: DataType, moment: Value, unit: Value) -> Value:
    assert isinstance(moment, dt.date)
    day = moment.date() if isinstance(moment, dt.datetime) else moment
    match unit:
        case "YEAR":
            day = day.replace(month=1, day=1)
        case "QUARTER":
            day = day.replace(month=3 * ((day.month - 1) // 3) + 1, day=1)
        case "MONTH":
            day = day.replace(day=1)
        case "WEEK":
            day -= dt.timedelta(days=day.weekday())
        case "HOUR" | "MINUTE" | "SECOND" if isinstance(moment, dt.datetime):
            finer = ("minute", "second")[("HOUR", "MINUTE", "SECOND").index(str(unit)) :]
            return moment.replace(microsecond=0, **dict.fromkeys(finer, 0))  # type: ignore[arg-type]
    return dt.datetime.combine(day, MIDNIGHT) if type_.kind is Kind.TIMESTAMP else day


def _last_day(type_: DataType, moment: Value) -> Value:
    assert isinstance(moment, dt.date)
    return moment.replace(day=calendar.monthrange(moment.year, moment.month)[1])


_KNOWN: Mapping[str, object] = {
    NOW: None,
    "cast": _cast,
    "+": _plus(1),
    "-": _plus(-1),
    "*": lambda type_, left, right: left * right,
    "neg": lambda type_, value: -value,
    "add_seconds": lambda type_, moment, seconds: moment + dt.timedelta(seconds=int(seconds)),
    "add_months": _add_months,
    "add_months_to_timestamp": _add_months,
    "trunc_date": _truncated,
    "trunc_timestamp": _truncated,
    "last_day": _last_day,
}
"""What may be done with now, and how it is computed at a moment."""

_TIMES = (Kind.DATE, Kind.TIMESTAMP, Kind.INTEGER)
_EPOCH = dt.datetime(1970, 1, 1)


def is_time(type_: DataType) -> bool:
    """Whether values of a type can be times: days, microseconds, or numbers that count something."""
    return type_.kind in _TIMES


def as_number(value: Value) -> int | None:
    """A time as a whole number: days since 1970, microseconds since then, or itself."""
    match value:
        case dt.datetime():
            return (value - _EPOCH) // dt.timedelta(microseconds=1)
        case dt.date():
            return (value - _EPOCH.date()).days
        case None:
            return None
        case int() | Decimal():
            return int(value)
    raise TypeError(f"{value!r} is no time")


def common_time(types: Iterable[DataType]) -> DataType | None:
    """The type of the later of several times; ``None`` where days and numbers cannot be compared."""
    found = set(types)
    if len(found) == 1:
        return found.pop()
    return TIMESTAMP if found == {DATE, TIMESTAMP} else None
