"""Texts as DuckDB and PostgreSQL read them in a cast to a time, in the form of ISO 8601 that all casts read.

| text | duckdb | postgres |
|---|---|---|
| ``2026/2/1`` | 1 February | 1 February |
| ``2026 2 1``, or with a backslash | 1 February | NULL |
| ``2026.2.1``, ``2/1/2026``, ``Feb 1, 2026``, ``1-Feb-2026``, ``20260201`` | NULL | the month is before the day |
| ``2026``, ``2026-02`` | NULL | NULL |

NULL is also what the database has an error for, a year before 1, and an infinite time. A zone is passed on.
"""

from __future__ import annotations

import re
from calendar import month_abbr, month_name, monthrange
from collections.abc import Callable
from functools import lru_cache, partial
from zoneinfo import available_timezones

import pyarrow as pa
import pyarrow.compute as pc

from workbench.sql.functions.declaration import function

_ISO = r"^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])( ([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,6})?)?$"
"""Texts that every cast reads alike; the year 0 is tested apart."""
_B = r"[ \t-\r]"
_OFFSET = "[+-][0-9]{2}(?::?[0-9]{2}(?::?[0-9]{2})?)?"
_DUCKDB = re.compile(
    rf"{_B}*(?P<y>[0-9]{{1,6}})([-/ \\])(?P<m>[0-9]{{1,2}})\2(?P<d>[0-9]{{1,2}})"
    rf"(?:(?:T|{_B}){_B}*(?P<h>[0-9]{{1,2}}):(?P<min>[0-9]{{1,2}})(?::(?:(?P<s>[0-9]{{1,2}})(?:\.(?P<f>[0-9]*))?)?)?"
    rf"(?P<zone>Z|{_OFFSET}| [A-Za-z0-9_/:+-]*)?{_B}*)?"
)
_EPOCH = "1970-01-01"
_NAMES = {name.lower(): month for names in (month_abbr, month_name) for month, name in enumerate(names) if name}
_NAMES["sept"] = 9
_NAME = rf"(?P<m>{'|'.join(sorted(_NAMES, key=len, reverse=True))})"
_YEAR, _SHORT_YEAR, _DAY, _GAP = (
    "(?P<y>[0-9]{4})",
    "(?P<y>[0-9]{2}|[0-9]{4})",
    "(?P<d>[0-9]{1,3})",
    r"(?:[-/. \\]|, )",
)
_MONTH = "(?P<m>[0-9]{1,2})"
_DATES = (
    rf"{_YEAR}([-/. \\]){_MONTH}\2{_DAY}",
    f"{_MONTH}{_GAP}{_DAY}{_GAP}{_SHORT_YEAR}",
    "(?P<y>[0-9]{4})(?P<m>[0-9]{2})(?P<d>[0-9]{2})",
    rf"{_YEAR}{_GAP}{_NAME}{_GAP}{_DAY}",
    rf"{_DAY}{_GAP}{_NAME}{_GAP}{_SHORT_YEAR}",
    rf"{_NAME}{_GAP}{_DAY}{_GAP}{_SHORT_YEAR}",
)
_POSTGRES = tuple(
    re.compile(
        rf"{_B}*{date}(?:(?:{'' if _NAME in date else '[Tt]|'}{_B}+[Tt]?)(?P<h>[0-9]{{1,2}}):(?P<min>[0-9]{{1,2}})"
        r"(?::(?P<s>[0-9]{1,2})(?:\.(?P<f>[0-9]*))?)?(?: *(?P<half>[AaPp][Mm]))?"
        rf"(?:{_B}*(?P<zone>[Zz]|{_OFFSET})|{_B}+(?P<name>[A-Za-z][A-Za-z_/+-]*))?)?{_B}*",
        re.IGNORECASE,
    )
    for date in _DATES
)


@lru_cache(maxsize=1)
def _zones() -> frozenset[str]:
    """The names of time zones, in small letters."""
    return frozenset(map(str.lower, available_timezones()))


def _iso_day(year: int, month: int, day: int) -> str | None:
    """A day in ISO 8601; ``None`` where the calendar has none."""
    if year < 1 or not 1 <= month <= 12 or not 1 <= day <= _days(year, month):
        return None
    return f"{'+' * (year > 9999)}{year:04d}-{month:02d}-{day:02d}"


def _next_day(year: int, month: int, day: int) -> str | None:
    if day < _days(year, month):
        return _iso_day(year, month, day + 1)
    return _iso_day(year + month // 12, month % 12 + 1, 1)


def _days(year: int, month: int) -> int:
    """How many days a month has; the calendar begins anew after 400 years."""
    return monthrange(year % 400 + 400, month)[1]


def _iso(found: re.Match[str], year: int, is_date: bool, seconds: int) -> str | None:
    """The date and the time of the day of a text; ``seconds`` is how many a minute may have."""
    parts = found.groupdict()
    month = _NAMES.get(parts["m"].lower()) or int(parts["m"])
    day = int(parts["d"])
    if (date := _iso_day(year, month, day)) is None:
        return None
    hour, minute, second = (int(parts[name] or 0) for name in ("h", "min", "s"))
    if half := (parts.get("half") or "").lower():
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + 12 * (half == "pm")
    is_end = hour == 24 and minute == second == int(parts["f"] or 0) == 0
    if not (is_end or hour < 24) or minute > 59 or second >= seconds:
        return None
    if is_date:
        return date
    over, clock = divmod((hour * 60 + minute) * 60 + second, 86_400)
    date = _next_day(year, month, day) if over else date
    fraction = (parts["f"] or "").ljust(6, "0")[:6]
    return f"{date} {clock // 3_600:02d}:{clock // 60 % 60:02d}:{clock % 60:02d}.{fraction}"


def _of_duckdb(text: str, kind: str) -> str | None:
    is_date = kind == "date"
    found = _DUCKDB.fullmatch(text.rstrip(" \t\n\v\f\r") if is_date else text)
    if found is None or (iso := _iso(found, int(found["y"]), is_date, 60)) is None:
        return None
    return iso + (found["zone"] or "") if kind == "instant" else iso


def _of_postgres(text: str, kind: str) -> str | None:
    for form in _POSTGRES:
        if (found := form.fullmatch(text)) is None:
            continue
        year, name = int(found["y"]), found["name"]
        if len(found["y"]) == 2:
            year += 2000 if year < 70 else 1900
        if name is not None and name.lower() not in _zones():
            return None
        iso = _iso(found, year, kind == "date", 61)
        zone = f" {name}" if name else (found["zone"] or "").upper()
        return iso if iso is None or kind != "instant" else iso + zone
    return None


def _read(of: Callable[[str, str], str | None], texts: pa.Array, kinds: pa.Array) -> pa.Array:
    """Texts in ISO 8601; each other distinct text is read once."""
    plain = pc.and_(pc.match_substring_regex(texts, _ISO), pc.invert(pc.starts_with(texts, "0000")))
    if pc.all(plain, min_count=0).as_py():
        return texts
    encoded, kind = texts.dictionary_encode(), kinds[0].as_py()
    read = (_EPOCH if text.strip().lower() == "epoch" else of(text, kind) for text in encoded.dictionary.to_pylist())
    return pa.array(read, pa.string()).take(encoded.indices)


def iso_text(text: str, kind: str, dialect: str) -> str | None:
    """A text in ISO 8601, as the database of a dialect reads it in a cast to a ``date``, ``timestamp`` or ``instant``.

    Example:
        >>> iso_text("2/1/2026 3:04 pm", "timestamp", "postgres"), iso_text("2/1/2026", "date", "duckdb")
        ('2026-02-01 15:04:00.000000', None)
    """
    return {"duckdb": _of_duckdb, "postgres": _of_postgres}[dialect](text, kind)


DECLARED = [
    function("iso_time_in_duckdb(string, string): string", python=partial(_read, _of_duckdb), vectorized=True),
    function("iso_time_in_postgres(string, string): string", python=partial(_read, _of_postgres), vectorized=True),
]
