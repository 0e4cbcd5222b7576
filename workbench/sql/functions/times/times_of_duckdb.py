"""Times of DuckDB that are made of numbers, and what is counted between them and of them.

MAKE_TIMESTAMP(y, m, d, h, mi, s)   MAKE_TIMESTAMP(micros)   DATE_SUB('month', a, b)
TIME_BUCKET(INTERVAL '1' MONTH, t)   EPOCH_NS(t)   NANOSECOND(t)   ERA(t)   JULIAN(t)
"""

from __future__ import annotations

import datetime as dt

from sqlglot import exp

from workbench.sql.algebra import coercion
from workbench.sql.algebra.expressions import Constant, Expression
from workbench.sql.algebra.time_patterns import date_of_days, days_since_1970
from workbench.sql.algebra.types import DATE, DOUBLE, INTEGER, TIMESTAMP
from workbench.sql.functions.calls import call, cast
from workbench.sql.functions.declaration import function
from workbench.sql.functions.reading import ExpressionBinder, reads_name
from workbench.sql.syntax.dialects import ONLY_DUCKDB

_MONTHS = {"MONTH": 1, "QUARTER": 3, "YEAR": 12, "DECADE": 120, "CENTURY": 1_200, "MILLENNIUM": 12_000}
"""Units of months, and how many months each has."""
_MOST_MONTHS = 12 * 9999
_START, _MICRO, _SECOND = dt.datetime(1970, 1, 1), dt.timedelta(microseconds=1), 10**6
_MICROS_OF_DAY = 86_400 * 10**6
_JULIAN_1970 = 2_440_588
_THOUSAND = Constant(1_000, INTEGER)


def _micros_of_parts(year: int, month: int, day: int, hour: int, minute: int, second: float) -> int | None:
    """Microseconds since 1970; NULL where DuckDB has an error, and beyond the years of four digits."""
    try:
        whole = int(second)
        micros = round((second - whole) * _SECOND)
        first = dt.datetime(year, month, day)
    except (ValueError, OverflowError):
        return None
    is_end = hour == 24 and minute == whole == micros == 0
    is_whole = whole == 60 and not micros
    if not (is_end or (0 <= hour < 24 and 0 <= minute < 60 and (0 <= whole < 60 or is_whole) and micros >= 0)):
        return None
    return (first - _START) // _MICRO + ((hour * 60 + minute) * 60 + whole) * _SECOND + micros


def _first_of_month(year: int, month: int) -> int:
    """The days since 1970 of the first day of a month, or of one as many months after December."""
    days = days_since_1970(year + (month - 1) // 12, (month - 1) % 12 + 1, 1)
    assert days is not None
    return days


def _months_between(first: int, second: int) -> int:
    """Whole months, toward zero; the last day of a month that is shorter counts as the day of the start."""
    if first > second:
        return -_months_between(second, first)
    (start, start_clock), (end, end_clock) = divmod(first, _MICROS_OF_DAY), divmod(second, _MICROS_OF_DAY)
    (year, month, day), (end_year, end_month, end_day) = date_of_days(start), date_of_days(end)
    last = _first_of_month(end_year, end_month + 1) - _first_of_month(end_year, end_month)
    if end_day == last and (day > last or (day == last and start_clock < end_clock)):
        day = last
    months = (end_year - year) * 12 + end_month - month
    return months - ((end_day, end_clock) < (day, start_clock))


def _stretch_of_months(days: int, months: int) -> int:
    """The first day of a bucket of months, counted from January 2000, in days since 1970."""
    year, month, _ = date_of_days(days)
    since = (year - 2000) * 12 + month - 1
    years, before = divmod(since // months * months, 12)
    return _first_of_month(2000 + years, before + 1)


def months_in_unit(unit: str) -> int | None:
    """How many months a unit of DATE_SUB has; ``None`` of others."""
    return _MONTHS.get(unit)


def months_between(start: Expression, end: Expression, unit: str) -> Expression:
    """DATE_SUB('month', start, end) and its like, in whole units of months."""
    months = call("months_between_in_duckdb", cast(start, TIMESTAMP), cast(end, TIMESTAMP))
    return call("div", months, Constant(_MONTHS[unit], INTEGER))


def start_of_months(b: ExpressionBinder, time: Expression, months: int, node: exp.Expr) -> Expression:
    """TIME_BUCKET of months: the first day of the bucket, of the type of the time.

    Raises:
        UnsupportedError: of an instant, or of too many months.
    """
    if time.type not in (DATE, TIMESTAMP) or not 0 < months <= _MOST_MONTHS:
        b.source.refuse("buckets of months of these times", node, "CAST the time AS TIMESTAMP")
    return cast(call("stretch_of_months", cast(time, DATE), Constant(months, INTEGER)), time.type)


def julian(time: Expression) -> Expression:
    """JULIAN(t): the days since the start of the Julian period, with the part of the day that is over."""
    whole = cast(coercion.as_time(time), TIMESTAMP)
    over = call("pmod", call("unix_micros", whole), Constant(_MICROS_OF_DAY, INTEGER))
    part = call("/", cast(over, DOUBLE), Constant(float(_MICROS_OF_DAY), DOUBLE))
    day = call("+", call("unix_date", cast(whole, DATE)), Constant(_JULIAN_1970, INTEGER))
    return call("+", part, cast(day, DOUBLE))


def era(time: Expression) -> Expression:
    """ERA(t): 1, since all years are those after Christ."""
    known = call("is_null", coercion.as_time(time))
    return call("case", known, Constant(None, INTEGER), Constant(1, INTEGER))


reads_name("make_timestamp_ms", takes=1, dialects=ONLY_DUCKDB)(
    lambda b, arguments: call("timestamp_millis", *arguments)
)
reads_name("epoch_ns", takes=1, dialects=ONLY_DUCKDB)(
    lambda b, arguments: call("*", call("unix_micros", *arguments), _THOUSAND)
)


@reads_name("nanosecond", takes=1, dialects=ONLY_DUCKDB)
def nanosecond(b: ExpressionBinder, arguments: list[Expression]) -> Expression:
    """NANOSECOND(t): those since the minute."""
    micros = call("unix_micros", cast(coercion.as_time(arguments[0]), TIMESTAMP))
    return call("*", call("pmod", micros, Constant(60 * 10**6, INTEGER)), _THOUSAND)


DECLARED = [
    function("made_timestamp(integer, integer, integer, integer, integer, double): timestamp", python=_micros_of_parts,
             nodes=[exp.TimestampFromParts], parts="year month day hour min sec", dialects=ONLY_DUCKDB),
    function("months_between_in_duckdb(timestamp, timestamp): integer", python=_months_between),
    function("stretch_of_months(date, integer): date", python=_stretch_of_months),
]  # fmt: skip
