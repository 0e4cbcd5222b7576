"""The values of now and of what is computed from it, in plain Python, and the instants of loops.

A loop ``for (t = ST; t < ST + 50; t += 5)`` stands at the last of its instants, in the order of the loop, that the
clock has reached (TelegraphCQ 4.1.1). So a window that moves by a loop is a window with ends computed from now, and
each instant has its set: what the query answers when the loop stands there.
"""

from __future__ import annotations

import calendar
import datetime as dt
import operator
from bisect import bisect_right
from collections.abc import Callable, Mapping
from decimal import Decimal

from workbench.sql.algebra import zones
from workbench.sql.algebra.expressions import Call, Constant, Expression, Value, columns, walk
from workbench.sql.algebra.folding import months_later
from workbench.sql.algebra.planning_cache import cached
from workbench.sql.algebra.types import TIMESTAMP, DataType, Kind
from workbench.sql.functions.calls import NOW
from workbench.sql.windows.stream_time import EPOCH_START, INSTANT, VARIABLE, EventTimeVector, as_number

MIDNIGHT = dt.time()

MAX_INSTANTS = 100_000
"""The most instants of a loop that runs ahead of the clock."""
MAX_DUE = 1_000_000
"""The most instants of a loop that may be due when it is registered."""


class Endless(Exception):
    """A loop has no end, and does not depend on the clock: it would have all of its instants at once."""


def computable(expression: Expression) -> bool:
    """Whether ``value_at`` can work an expression out: it reads no column, and calls only what is known there."""
    if columns(expression):
        return False
    return all(part.function in _FUNCTIONS for part in walk(expression) if isinstance(part, Call))


def value_at(expression: Expression, event_times: EventTimeVector) -> Value:
    """The value of a ``computable`` expression at given event times; NULL where a date leaves its range.

    Example:
        >>> from workbench.sql.windows.stream_time import now_of
        >>> from workbench.sql.algebra.types import DATE, INTEGER
        >>> week_ago = Call("-", (now_of(["fed"], DATE), Constant(7, INTEGER)), DATE)
        >>> value_at(week_ago, {"fed": dt.date(2002, 11, 20)})
        datetime.date(2002, 11, 13)
    """
    if isinstance(expression, Constant):
        return expression.value
    assert isinstance(expression, Call)
    match expression.function:
        case "now":
            return _now(expression, event_times)
        case "loop variable":
            return event_times[VARIABLE]
        case "instant":
            return event_times[INSTANT] if INSTANT in event_times else loop_instants(expression).current(event_times)
    values = [value_at(argument, event_times) for argument in expression.arguments]
    if None in values:
        return None
    try:
        return _FUNCTIONS[expression.function](expression.type, *values)  # type: ignore[operator]
    except (OverflowError, ValueError):
        return None


def _now(expression: Call, event_times: EventTimeVector) -> Value:
    names = (str(a.value) for a in expression.arguments if isinstance(a, Constant))
    seen = [_cast(expression.type, value) for name in names if (value := event_times.get(name)) is not None]
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
    def sum_(type_: DataType, left: Value, right: Value) -> Value:
        if isinstance(left, dt.date) and isinstance(right, dt.date):
            return (left - right).days
        if isinstance(left, dt.date):
            return left + dt.timedelta(days=sign * int(right))  # type: ignore[arg-type]
        return left + sign * right  # type: ignore[operator]

    return sum_


def _truncated(type_: DataType, time: Value, unit: Value) -> Value:
    assert isinstance(time, dt.date)
    day = time.date() if isinstance(time, dt.datetime) else time
    match unit:
        case "YEAR":
            day = day.replace(month=1, day=1)
        case "QUARTER":
            day = day.replace(month=3 * ((day.month - 1) // 3) + 1, day=1)
        case "MONTH":
            day = day.replace(day=1)
        case "WEEK":
            day -= dt.timedelta(days=day.weekday())
        case "HOUR" | "MINUTE" | "SECOND" if isinstance(time, dt.datetime):
            finer = ("minute", "second")[("HOUR", "MINUTE", "SECOND").index(str(unit)) :]
            return time.replace(microsecond=0, **dict.fromkeys(finer, 0))  # type: ignore[arg-type]
    return dt.datetime.combine(day, MIDNIGHT) if type_.kind is Kind.TIMESTAMP else day


def _last_day(type_: DataType, time: Value) -> Value:
    assert isinstance(time, dt.date)
    return time.replace(day=calendar.monthrange(time.year, time.month)[1])


_MICROSECONDS = {"seconds": 1_000_000, "millis": 1_000, "micros": 1}

CONVERSIONS = frozenset(f"{way}_{unit}" for unit in _MICROSECONDS for way in ("unix", "timestamp")) | {"unix_date"}
"""The functions that convert one notion of time to another (TelegraphCQ 4.1.1); each goes forward with it."""


def _since_1970(size: int) -> object:
    return lambda type_, time: as_number(_cast(TIMESTAMP, time)) // size  # type: ignore[operator]


def _after_1970(size: int) -> object:
    return lambda type_, count: EPOCH_START + dt.timedelta(microseconds=int(count) * size)


def _divided(left: Value, right: Value) -> Value:
    """The whole part of a quotient, as in SQL: towards 0."""
    assert isinstance(left, int) and isinstance(right, int)
    if right == 0:
        return None
    return abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)


def _compared(test: Callable[[int, int], bool]) -> object:
    return lambda type_, left, right: test(as_number(left), as_number(right))  # type: ignore[arg-type]


_TESTS = {"=": operator.eq, "<>": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}

_FUNCTIONS: Mapping[str, object] = {
    **dict.fromkeys((NOW, INSTANT, VARIABLE)),
    "cast": _cast,
    "+": _plus(1),
    "-": _plus(-1),
    "*": lambda type_, left, right: left * right,
    "neg": lambda type_, value: -value,
    "add_seconds": lambda type_, time, seconds: time + dt.timedelta(seconds=int(seconds)),
    "add_months": lambda type_, time, months: months_later(time, months),
    "add_months_to_timestamp": lambda type_, time, months: months_later(time, months),
    "trunc_date": _truncated,
    "trunc_timestamp": _truncated,
    "last_day": _last_day,
    **{f"unix_{unit}": _since_1970(size) for unit, size in _MICROSECONDS.items()},
    **{f"timestamp_{unit}": _after_1970(size) for unit, size in _MICROSECONDS.items()},
    "unix_date": lambda type_, day: as_number(day),
    "div": lambda type_, left, right: _divided(left, right),
    zones.CLOCK_OF: lambda type_, instant, zone: zones.clock_at(instant, zone),
    zones.INSTANT_OF: lambda type_, clock, zone: zones.instant_at(clock, zone, False),
    zones.LAST_INSTANT_OF: lambda type_, clock, zone: zones.instant_at(clock, zone, True),
    zones.KEPT_INSTANT_OF: lambda type_, clock, zone, instant: zones.kept_instant_at(clock, zone, instant),
    zones.BY_OFFSET_OF: lambda type_, clock, zone, instant: zones.by_offset_at(clock, zone, instant),
    "and": lambda type_, *parts: all(parts),
    "or": lambda type_, *parts: any(parts),
    "not": lambda type_, part: not part,
    **{name: _compared(test) for name, test in _TESTS.items()},
}
"""The functions of now that are known, and how each is computed."""


class Sequence:
    """The instants of a loop, computed as far as the clock has come."""

    def __init__(self, loop: Call) -> None:
        self._start, self._condition, self._change, self._now = loop.arguments
        self._numbered = self._start.type.kind is self._now.type.kind
        self._values: list[Value] = []
        self._reached: list[int] = []
        """For each instant the latest up to it: when the clock has come there, it is due."""
        self._ended = False

    def due(self, event_times: EventTimeVector, most: int | None = None) -> list[Value]:
        """The instants that the clock has reached, in the order of the loop.

        Raises:
            Endless: there are more than ``most``, or the loop does not end.
        """
        now = as_number(value_at(self._now, event_times))
        if now is None:
            return []
        self._extend(now, most)
        return self._values[: bisect_right(self._reached, now)]

    def __len__(self) -> int:
        return len(self._values)

    def current(self, event_times: EventTimeVector) -> Value:
        """The present instant of the loop; NULL before the first."""
        due = self.due(event_times)
        return due[-1] if due else None

    def _extend(self, now: int, most: int | None) -> None:
        while not self._ended and (not self._reached or self._reached[-1] <= now):
            value = value_at(self._change, {VARIABLE: self._values[-1]}) if self._values else value_at(self._start, {})
            if value is None or value_at(self._condition, {VARIABLE: value}) is not True:
                self._ended = True
                return
            number = as_number(value) if self._numbered else now
            if len(self._values) >= MAX_INSTANTS and self._reached[-1] == self._reached[0]:
                raise Endless
            if most is not None and len(self._values) >= most:
                raise Endless
            assert number is not None
            self._values.append(value)
            self._reached.append(max([number, *self._reached[-1:]]))


@cached(4_096)
def loop_instants(loop: Call) -> Sequence:
    """The instants of a loop."""
    return Sequence(loop)
