"""What messages hint at: how SQL writes what people write otherwise, and how parts of values are read."""

from __future__ import annotations

import calendar
import datetime as dt
import re
from collections.abc import Iterator

from workbench.sql.algebra.types import DataType, Kind

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_NUMBERS = re.compile(r"(\d{1,2})([./-])(\d{1,2})\2(\d{4})(?:,?\s+(.*))?")
_YEAR_FIRST = re.compile(r"(\d{4})([./])(\d{1,2})\2(\d{1,2})(?:,?\s+(.*))?")
_DAY_FIRST = re.compile(r"(\d{1,2})\.?[ -]([A-Za-z]{3})[a-z]*\.?[ -](\d{4})(?:,?\s+(.*))?")
_MONTH_FIRST = re.compile(r"([A-Za-z]{3})[a-z]*\.?\s(\d{1,2}),?\s(\d{4})(?:,?\s+(.*))?")
_TIME = re.compile(r"\d{1,2}:\d\d(:\d\d)?")
_PAST = re.compile(r"(\d+) (second|minute|hour|day|week|month|year)s? ago", re.IGNORECASE)
_LENGTH = re.compile(r"\s*(\d+)\s*(second|minute|hour|day|week|month|quarter|year)s?\s*", re.IGNORECASE)
_ISO_DATE = re.compile(r"(\d{4})-(\d\d?)-(\d\d?)(?![\d-])")
_NO_DIGITS = re.compile(r"nan|[+-]?inf(inity)?", re.IGNORECASE)
_PLAIN = re.compile(r"[-+]?\d+(\.\d+)?")
_COMMA_FRACTION = re.compile(r"[-+]?(\d{1,3}(\.\d{3})+|\d+),\d+")
_COMMA_GROUPS = re.compile(r"[-+]?\d{1,3}(,\d{3})+(\.\d+)?")
TESTS = {
    True: "a BOOLEAN is a condition itself: write x, or NOT x; of a number write a test, as x > 0",
    False: "write a test, as x > 0",
}
"""What is said where a BOOLEAN is needed; by whether a number stands there."""
SPLITS = "SPLIT(s, ',') makes an array of a text, in postgres STRING_TO_ARRAY(s, ',')"
_CLOCK = re.compile(r"[ T]+((\d{1,2}):(\d{2}))")
_POINT_GROUPS = re.compile(r"[-+]?\d{1,3}(\.\d{3}){2,}")


def literal_hint(text: str, type_: DataType) -> str | None:
    """What to write instead of a constant text where a value of a type is needed; ``None`` where it is unknown.

    Example:
        >>> from workbench.sql.algebra.types import DATE, DOUBLE
        >>> literal_hint("31.12.2025", DATE), literal_hint("3/4/2026", DATE), literal_hint("soon", DATE)
        ("write '2025-12-31'", "write '2026-03-04' or '2026-04-03'", None)
        >>> literal_hint("1.234,50", DOUBLE), literal_hint("1,500", DOUBLE), literal_hint("1 day", DATE)
        ('write 1234.50', 'write 1.500 or 1500', "write INTERVAL '1' DAY")
    """
    if type_.temporal and (length := _LENGTH.fullmatch(text)):
        return f"write INTERVAL '{length[1]}' {length[2].upper()}"
    if type_.temporal and (past := _PAST.fullmatch(text.strip())):
        return f"write NOW() - INTERVAL '{past[1]}' {past[2].upper()}"
    if type_.temporal and (lacks := _lacking_day(text)):
        return lacks
    if type_.kind is Kind.DOUBLE and _NO_DIGITS.fullmatch(text.strip()):
        is_nan = "; ISNAN(x) is true of it" if text.strip().lower() == "nan" else ""
        return f"write CAST('{text.strip()}' AS DOUBLE){is_nan}"
    if type_.temporal:
        meant = [f"'{time}'" for time in _times(text.strip(), type_.kind is Kind.DATE)]
    else:
        meant = [*_numbers(re.sub(r"[\s'’%$€£¥]", "", text))] if type_.numeric else []
    return f"write {' or '.join(dict.fromkeys(meant))}" if meant else None


def on_a_clock(dialect: str) -> str:
    """How the time on a clock is made of an instant, which spark's TIMESTAMP is, too.

    Example:
        >>> on_a_clock("spark"), on_a_clock("postgres")
        ('CAST(x AS TIMESTAMP_NTZ)', 'CAST(x AS TIMESTAMP)')
    """
    return f"CAST(x AS TIMESTAMP{'' if dialect in ('postgres', 'duckdb') else '_NTZ'})"


def fields_hint(type_: DataType) -> str:
    """How the fields of a struct are read, in words.

    Example:
        >>> from workbench.sql.algebra.types import DOUBLE, STRING
        >>> fields_hint(DataType(Kind.STRUCT, fields=(("no", STRING), ("kg", DOUBLE))))
        'it is a struct, of which s.no is a field; there are no, kg'
    """
    names = [name for name, _ in type_.fields]
    return f"it is a struct, of which s.{names[0]} is a field; there are {', '.join(names):.200}"


def _lacking_day(text: str) -> str | None:
    """What is wrong with a text that is written as a date, and names a day that the calendar does not have."""
    if not (found := _ISO_DATE.match(text.strip())):
        return None
    year, month, day = map(int, found.groups())
    if not 1 <= month <= 12:
        return f"there is no month {month}: dates are year-month-day"
    last = calendar.monthrange(year or 4, month)[1]
    if not 1 <= day <= last:
        return f"there is no such day: {found[1]}-{found[2]} has the days 1 to {last}"
    if (time := _CLOCK.match(text.strip(), found.end())) and (int(time[2]) > 23 or int(time[3]) > 59):
        next_day = "; the first of the next day is 00:00" * (int(time[2]) == 24)
        return f"there is no time {time[1]}: hours are 0 to 23, minutes 0 to 59{next_day}"
    return None


def _times(text: str, is_date: bool) -> Iterator[str]:
    for year, month, day, time in _parts(text):
        try:
            date = dt.date(int(year), month, int(day)).isoformat()
        except ValueError:
            continue
        if not time or (is_date and _TIME.fullmatch(time)):
            yield date
        elif _TIME.fullmatch(time):
            yield f"{date} {time.rjust(len(time) + (time[1] == ':'), '0')}"


def _parts(text: str) -> Iterator[tuple[str, int, str, str | None]]:
    """The year, month, day and time that a text may mean."""
    if found := _NUMBERS.fullmatch(text):
        one, sign, two, year, time = found.groups()
        yield from [(year, int(one), two, time)] if sign == "/" else []
        yield year, int(two), one, time
    elif found := _YEAR_FIRST.fullmatch(text):
        yield found[1], int(found[3]), found[4], found[5]
    elif found := _DAY_FIRST.fullmatch(text):
        yield found[3], _month(found[2]), found[1], found[4]
    elif found := _MONTH_FIRST.fullmatch(text):
        yield found[3], _month(found[1]), found[2], found[4]


def _month(name: str) -> int:
    """The number of a month; 0, which is none, where it is not known."""
    return _MONTHS.index(name.lower()) + 1 if name.lower() in _MONTHS else 0


def _numbers(text: str) -> Iterator[str]:
    if _PLAIN.fullmatch(text):
        yield text
    if _COMMA_FRACTION.fullmatch(text):
        yield text.replace(".", "").replace(",", ".")
    if _COMMA_GROUPS.fullmatch(text):
        yield text.replace(",", "")
    if _POINT_GROUPS.fullmatch(text):
        yield text.replace(".", "")
