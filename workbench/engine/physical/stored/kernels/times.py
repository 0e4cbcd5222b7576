"""Kernels of dates and times, which have no zone: arithmetic on days and microseconds since 1970."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from workbench.arrow.types import filled
from workbench.engine.physical.stored.decimals import from_64_bits
from workbench.engine.physical.stored.expressions import days_apart
from workbench.engine.physical.stored.kernels.kernel import (
    Kernel,
    constant_integer,
    constant_text,
    constant_truth,
    of_kinds,
)
from workbench.engine.physical.stored.kernels.numbers import differences, products, sums
from workbench.sql.algebra.counted import MADE_OF_NUMBERS, NUMBERS_OF_COUNTED
from workbench.sql.algebra.expressions import Call
from workbench.sql.algebra.time_patterns import pattern_of
from workbench.sql.algebra.types import COUNTED, Kind

_DAY = 86_400_000_000
"""Microseconds."""
_UNITS = {"HOUR": 3_600_000_000, "MINUTE": 60_000_000, "SECOND": 1_000_000, "MILLISECOND": 1_000, "MICROSECOND": 1}
_DAYS = {"DAY": "D", "DD": "D"}
_MONTHS = {"MONTH": "M", "MM": "M", "MON": "M", "YEAR": "Y", "YYYY": "Y", "YY": "Y"}
_LONGEST = 10**12
"""Seconds: with a longer window microseconds might not fit 64 bits."""
_MOST_MONTHS = 120_000
"""Ten thousand years."""
_INT = 2**31
_SECONDS_OF_DAY = 86_400
_MONDAY = 4
"""1970 began four days before the first Monday."""

_Numbers = npt.NDArray[np.int64]
Part = Callable[[_Numbers], npt.NDArray[Any]]


def _with_nulls(values: npt.NDArray[Any], like: pa.Array) -> pa.Array:
    return pa.array(values, mask=np.asarray(like.is_null()) if like.null_count else None)


def _days(times: pa.Array) -> _Numbers:
    """The day of each date or timestamp since 1970; anything in place of NULL."""
    if pa.types.is_date32(times.type):
        return times.cast(pa.int32()).fill_null(0).to_numpy().astype(np.int64)
    return _micros(times) // _DAY


def _micros(times: pa.Array) -> _Numbers:
    """The microseconds since 1970; anything in place of NULL."""
    if pa.types.is_date32(times.type):
        return _days(times) * _DAY
    return times.cast(pa.int64()).fill_null(0).to_numpy()


def _day_part(part: Part) -> Kernel:
    """A part of a day as a whole number."""

    def compute(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
        return _with_nulls(part(_days(arguments[0])).astype(np.int64), arguments[0])

    return Kernel(compute, of_kinds(Kind.DATE, Kind.TIMESTAMP))


def _time_part(unit: int, most: int) -> Kernel:
    """The number of whole units in the rest of the next larger unit."""

    def compute(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
        return _with_nulls(_micros(arguments[0]) // unit % most, arguments[0])

    return Kernel(compute, of_kinds(Kind.DATE, Kind.TIMESTAMP))


def _in(unit: str, days: _Numbers) -> npt.NDArray[np.datetime64]:
    return days.astype("datetime64[D]").astype(f"datetime64[{unit}]")


def _year(days: _Numbers) -> _Numbers:
    return _in("Y", days).astype(np.int64) + 1970


def _month(days: _Numbers) -> _Numbers:
    return _in("M", days).astype(np.int64) % 12 + 1


def _since(unit: str, days: _Numbers) -> _Numbers:
    """The days since the month or year began."""
    return days - _in(unit, days).astype("datetime64[D]").astype(np.int64)


def _monday(days: _Numbers) -> _Numbers:
    """The last Monday up to a day."""
    return days - (days - _MONDAY) % 7


def _week(days: _Numbers) -> _Numbers:
    """The ISO week: a year's first one has its first Thursday."""
    thursday = _monday(days) + 3
    return _since("Y", thursday) // 7 + 1


def _first_day(unit: str, days: _Numbers) -> _Numbers | None:
    if unit in _MONTHS:
        return _in(_MONTHS[unit], days).astype("datetime64[D]").astype(np.int64)
    if unit == "QUARTER":
        months = _in("M", days).astype(np.int64)
        return (months - months % 3).astype("datetime64[M]").astype("datetime64[D]").astype(np.int64)
    return _monday(days) if unit == "WEEK" else None


def _dates(days: npt.NDArray[Any], like: pa.Array) -> pa.Array:
    return _with_nulls(days.astype(np.int32), like).cast(pa.date32())


def _timestamps(micros: _Numbers, like: pa.Array) -> pa.Array:
    return _with_nulls(micros, like).cast(pa.timestamp("us"))


def _unit(call: Call, argument: int) -> str:
    return (constant_text(call, argument) or "").upper()


def _trunc_date(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    first = _first_day(_unit(call, 1), _days(arguments[0]))
    assert first is not None
    return _dates(first, arguments[0])


def _trunc_timestamp(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    unit, times = _unit(call, 1), arguments[0]
    micros = _micros(times)
    if unit in _UNITS:
        return _timestamps(micros - micros % _UNITS[unit], times)
    days = _days(times)
    first = days if unit in _DAYS else _first_day(unit, days)
    assert first is not None
    return _timestamps(first * _DAY, times)


def _last_day(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    next_month = _in("M", _days(arguments[0])) + 1
    return _dates(next_month.astype("datetime64[D]").astype(np.int64) - 1, arguments[0])


def to_date(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    """The day of each timestamp."""
    return _dates(_days(arguments[0]), arguments[0])


def to_timestamp(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    """The first moment of each day."""
    return _timestamps(_micros(arguments[0]), arguments[0])


def _has_format_kernel(call: Call) -> bool:
    pattern = constant_text(call, 1)
    return pattern is not None and pattern_of(pattern).writes is not None and _is_time(call)


def _date_format(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    return formatted(arguments[0], constant_text(call, 1) or "")


def formatted(times: pa.Array, how: str) -> pa.Array:
    """Dates or timestamps as texts of a pattern, each different one computed once."""
    pattern = pattern_of(how)
    unit = 1 if pattern.micros else 1_000_000 if pattern.seconds else _DAY
    moments, which = np.unique(_micros(times) // unit, return_inverse=True)
    texts = [pattern.text(moment * unit) for moment in moments.tolist()]
    return _masked(pa.array(texts, pa.string()).take(pa.array(which)), times)


def _masked(values: pa.Array, like: pa.Array) -> pa.Array:
    if not like.null_count:
        return values
    return values.take(pa.array(np.arange(len(values)), mask=np.asarray(like.is_null())))


def _is_read(call: Call) -> bool:
    pattern = constant_text(call, 1)
    return pattern is not None and pattern_of(pattern).readers is not None


def _read(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    """Texts as times under a pattern, each different one once."""
    pattern = pattern_of(constant_text(call, 1) or "")
    texts = arguments[0].dictionary_encode()
    times = pa.array([pattern.time(text) for text in texts.dictionary.to_pylist()], pa.int64())
    moments = times.take(texts.indices).cast(pa.timestamp("us"))
    return moments if call.type.kind is Kind.TIMESTAMP else to_date(call, [moments])


def _is_time(call: Call) -> bool:
    """Whether the first argument is a time without a zone."""
    return call.arguments[0].type.temporal and not call.arguments[0].type.zoned


def _in_units(*units: str) -> Callable[[Call], bool]:
    return lambda call: _is_time(call) and _unit(call, 1) in {*_MONTHS, "QUARTER", "WEEK", *units}


def _are_times(call: Call) -> bool:
    """Whether all arguments are days, times or instants, whose microseconds are counted alike in every zone."""
    return all(argument.type.kind in (Kind.DATE, Kind.TIMESTAMP) for argument in call.arguments)


def _unix(unit: int) -> Kernel:
    """How many of a unit there are since 1970, of an instant in UTC; Spark divides DOUBLEs, not exact ones."""

    def compute(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
        micros = _micros(arguments[0])
        return _with_nulls(micros if unit == 1 else np.floor(micros / unit).astype(np.int64), arguments[0])

    return Kernel(compute, _are_times)


def _add_seconds(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    """A moment some seconds later; NULL beyond 64 bits of microseconds."""
    times, seconds = arguments
    by, lost = products(seconds.fill_null(0).to_numpy(), np.full(len(seconds), 1_000_000))
    moments, beyond = sums(_micros(times), by)
    missing = lost | beyond | np.asarray(times.is_null()) | np.asarray(seconds.is_null())
    return pa.array(moments, mask=missing).cast(pa.timestamp("us"))


def _add_months(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    """A date or timestamp some months later, on the last day of a shorter month; NULL beyond ten thousand years."""
    times, months = arguments
    days, by = _days(times), filled(months, 0).to_numpy(zero_copy_only=False)
    near = np.abs(by) <= _MOST_MONTHS
    first = _in("M", days) + np.where(near, by, 0)
    length = (first + 1).astype("datetime64[D]") - first.astype("datetime64[D]")
    moved = first.astype("datetime64[D]").astype(np.int64) + np.minimum(_since("M", days), length.astype(np.int64) - 1)
    missing = ~near | np.asarray(times.is_null()) | np.asarray(months.is_null())
    if call.type.kind is Kind.DATE:
        return pa.array(moved.astype(np.int32), mask=missing).cast(pa.date32())
    return pa.array(moved * _DAY + _micros(times) % _DAY, mask=missing).cast(pa.timestamp("us"))


def _is_moment(call: Call) -> bool:
    return call.arguments[0].type.kind is Kind.TIMESTAMP and call.arguments[1].type.kind is Kind.INTEGER


def _is_month_addition(call: Call) -> bool:
    return _is_time(call) and call.arguments[1].type.kind is Kind.INTEGER


def _window_start(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    """The first moment of the window that a time is in; windows have equal seconds and are counted from 1970."""
    (times, _), seconds = arguments, constant_integer(call, 1)
    assert seconds is not None
    micros = _micros(times)
    return _with_nulls(micros - micros % (seconds * 1_000_000), times).cast(times.type)


def _is_window(call: Call) -> bool:
    seconds = constant_integer(call, 1)
    return call.arguments[0].type.kind is Kind.TIMESTAMP and seconds is not None and 0 < seconds < _LONGEST


def _seconds_between(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    """The seconds from the second time to the first, with their fraction."""
    ends, starts = arguments
    found, lost = differences(_micros(ends), _micros(starts))
    missing = lost | np.asarray(ends.is_null()) | np.asarray(starts.is_null())
    return from_64_bits(pa.array(found, mask=missing), call.type)


def _since_1970(micros: int) -> Kernel:
    """A number of units as a time; NULL beyond 64 bits of microseconds."""

    def compute(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
        (numbers,) = arguments
        found, lost = products(filled(numbers, 0).to_numpy(zero_copy_only=False), np.full(len(numbers), micros))
        return pa.array(found, mask=lost | np.asarray(numbers.is_null())).cast(pa.timestamp("us"))

    return Kernel(compute, of_kinds(Kind.INTEGER))


def _days_apart(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    return days_apart(*arguments)


_AS_IT_IS = Kernel(lambda call, arguments: arguments[0], of_kinds(Kind.INTEGER, *COUNTED))


def _day_addition(sign: int) -> Kernel:
    """A date some days later or earlier; NULL beyond 32 bits, of the days and of the number."""

    def compute(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
        dates, number = arguments
        by = number.fill_null(0).to_numpy(zero_copy_only=False)
        beyond = (by < -_INT) | (by >= _INT)
        days = _days(dates) + sign * np.where(beyond, 0, by)
        beyond |= (days < -_INT) | (days >= _INT)
        missing = beyond | np.asarray(dates.is_null()) | np.asarray(number.is_null())
        return pa.array(np.where(missing, 0, days).astype(np.int32), mask=missing).cast(pa.date32())

    return Kernel(compute, lambda call: [a.type.kind for a in call.arguments] == [Kind.DATE, Kind.INTEGER])


_NAMES_OF_DAYS = {
    name: day
    for day, whole in enumerate(("MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY", "SUNDAY"))
    for name in (whole, whole[:3], whole[:2])
}


def _next_day(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    """The first day of the week that is asked for, after a date."""
    days = _days(arguments[0])
    return _dates(days + 1 + (_NAMES_OF_DAYS[_unit(call, 1)] - (days - _MONDAY) % 7 - 1) % 7, arguments[0])


def _months_between(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    """Whole months where both are the same day of a month or its last, and else 31sts of one."""
    (months, place, last, seconds), other = (_parts_of_month(times) for times in arguments[:2])
    apart = (months - other[0]).astype(np.float64)
    rest = (place - other[1]) * _SECONDS_OF_DAY + seconds - other[3]
    found = apart + rest / (31.0 * _SECONDS_OF_DAY)
    if constant_truth(call, 2):
        found = np.floor(found * 1e8 + 0.5) / 1e8
    missing = np.asarray(arguments[0].is_null()) | np.asarray(arguments[1].is_null())
    return pa.array(np.where((place == other[1]) | (last & other[2]), apart, found), mask=missing)


def _parts_of_month(times: pa.Array) -> tuple[_Numbers, _Numbers, npt.NDArray[np.bool_], _Numbers]:
    """The months since 1970, the place of the day in its one, whether that is the last, and the seconds of the day."""
    days = _days(times)
    return (
        _in("M", days).astype(np.int64), _since("M", days), _in("M", days + 1) != _in("M", days),
        _micros(times) % _DAY // 1_000_000,
    )  # fmt: skip


def _are_moments(call: Call) -> bool:
    return of_kinds(Kind.TIMESTAMP)(Call("", call.arguments[:2], call.type)) and constant_truth(call, 2) is not None


DAY_KERNELS = {"+": _day_addition(1), "-": _day_addition(-1)}
"""By the name of the function."""

TIME_KERNELS = {
    "-": Kernel(_days_apart, of_kinds(Kind.DATE)),
    "window_start": Kernel(_window_start, lambda call: len(call.arguments) == 2 and _is_window(call)),
    "year": _day_part(_year),
    "month": _day_part(_month),
    "day": _day_part(lambda days: _since("M", days) + 1),
    "quarter": _day_part(lambda days: (_month(days) + 2) // 3),
    "dayofyear": _day_part(lambda days: _since("Y", days) + 1),
    "dayofweek": _day_part(lambda days: (days - _MONDAY + 1) % 7 + 1),
    "weekday": _day_part(lambda days: (days - _MONDAY) % 7),
    "week": _day_part(_week),
    "hour": _time_part(_UNITS["HOUR"], 24),
    "minute": _time_part(_UNITS["MINUTE"], 60),
    "second": _time_part(_UNITS["SECOND"], 60),
    "add_seconds": Kernel(_add_seconds, _is_moment),
    **dict.fromkeys(("add_months", "add_months_to_timestamp"), Kernel(_add_months, _is_month_addition)),
    "months_between": Kernel(_months_between, _are_moments),
    "next_day": Kernel(_next_day, lambda call: _unit(call, 1) in _NAMES_OF_DAYS),
    "last_day": Kernel(_last_day, of_kinds(Kind.DATE)),
    "trunc_date": Kernel(_trunc_date, _in_units()),
    "trunc_timestamp": Kernel(_trunc_timestamp, _in_units(*_DAYS, *_UNITS)),
    "date_format": Kernel(_date_format, _has_format_kernel),
    "to_date": Kernel(_read, _is_read),
    "to_timestamp": Kernel(_read, _is_read),
    "unix_date": Kernel(lambda call, arguments: _with_nulls(_days(arguments[0]), arguments[0]), of_kinds(Kind.DATE)),
    "unix_micros": _unix(1),
    "seconds_between": Kernel(_seconds_between, _are_times),
    "timestamp_seconds": _since_1970(1_000_000),
    "timestamp_millis": _since_1970(1_000),
    "timestamp_micros": Kernel(lambda call, arguments: arguments[0].cast(pa.timestamp("us")), of_kinds(Kind.INTEGER)),
    **dict.fromkeys((*MADE_OF_NUMBERS, *NUMBERS_OF_COUNTED), _AS_IT_IS),
    "unix_millis": _unix(1_000),
    "unix_seconds": _unix(1_000_000),
}
"""By the name of the function."""
