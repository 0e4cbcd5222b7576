"""Dates and times that are declared with how they are written: ``timestamp ms``, ``date MMM d yyyy``.

A unit is that of numbers since 1970. A pattern has the letters of Spark's, ``y M d H h m s S a``, of which each stands
for digits, ``MMM`` for Jan and ``MMMM`` for January; what stands in quotes, and every other sign, stands for itself.
"""

from __future__ import annotations

import re
from decimal import ROUND_FLOOR, Decimal
from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from workbench.arrow.types import Mask
from workbench.errors import StreamError
from workbench.sql.algebra.types import DataType, Kind
from workbench.streams.convert import convert

_MICROSECONDS = {"s": Decimal(1_000_000), "ms": Decimal(1_000), "us": Decimal(1), "ns": Decimal("0.001")}
_LONG = {"s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}
_EARLIEST, _LATEST = Decimal(631_152_000), Decimal(4_102_444_800)
"""Seconds since 1970: the years 1990 to 2100, in which the unit of a number can be told."""
_DECLARED = re.compile(r"^\s*(date|timestamp)\s+(?!with)(\S.*?)\s*$", re.IGNORECASE)
_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_PARTS = {
    **{"yyyy": r"(?P<year>\d{4})", "y": r"(?P<year>\d{4})", "yy": r"(?P<short>\d\d)"},
    **{"MMMM": r"(?P<name>[A-Za-z]+)", "MMM": r"(?P<name>[A-Za-z]{3})", "MM": r"(?P<month>\d\d)"},
    **{"M": r"(?P<month>\d\d?)", "dd": r"(?P<day>\d\d)", "d": r"(?P<day>\d\d?)"},
    **{"HH": r"(?P<hour>\d\d)", "H": r"(?P<hour>\d\d?)", "hh": r"(?P<half>\d\d)", "h": r"(?P<half>\d\d?)"},
    **{"mm": r"(?P<minute>\d\d)", "m": r"(?P<minute>\d\d?)", "ss": r"(?P<second>\d\d)", "s": r"(?P<second>\d\d?)"},
    **{"a": r"(?P<noon>[AaPp][Mm])"},
}


FOUND_OUT = "?"
"""Stands before a unit that was found out, of which only times between 1990 and 2100 are taken."""


def split_form(text: str) -> tuple[str, str]:
    """A declared type, and how its values are written; ``""`` where that is not declared.

    Raises:
        StreamError: the pattern says no date.

    Example:
        >>> split_form("date MMM d yyyy"), split_form("timestamp ms"), split_form("decimal(8, 2)")
        (('date', 'MMM d yyyy'), ('timestamp', 'ms'), ('decimal(8, 2)', ''))
    """
    found = _DECLARED.match(text)
    if found is None:
        return text, ""
    type_, form = found.groups()
    if form not in _MICROSECONDS:
        _regex(form)
    return type_, form


def unit_of(first: tuple[str, ...]) -> str:
    """The unit of which some numbers are times between 1990 and 2100; ``""`` where there is none.

    Example:
        >>> unit_of(("1700000000123",)), unit_of(("12",))
        ('ms', '')
    """
    numbers = [Decimal(text) for text in first if re.fullmatch(r"\d{6,19}(\.\d+)?", text)]
    if not numbers or len(numbers) < len(first):
        return ""
    for unit, size in _MICROSECONDS.items():
        if all(_is_likely(number * size) for number in numbers):
            return unit
    return ""


def _is_likely(micros: Decimal) -> bool:
    return _EARLIEST <= micros / 1_000_000 <= _LATEST


def unit_text(unit: str) -> str:
    """A unit in words."""
    return f"{_LONG[unit]} since 1970"


def read_times(values: pa.Array, type_: DataType, form: str) -> tuple[pa.Array, Mask | None]:
    """Texts as dates or times, and a mask of those that are none (``None``: all are).

    Example:
        >>> from workbench.sql.algebra.types import DATE
        >>> days, misfit = read_times(pa.array(["Jan 5 2024", "May 41 2024", None]), DATE, "MMM d yyyy")
        >>> days.to_pylist(), misfit.tolist()
        ([datetime.date(2024, 1, 5), None, None], [False, True, False])
    """
    text = pc.utf8_trim_whitespace(values)
    as_iso = _of_unit if form.removeprefix(FOUND_OUT) in _MICROSECONDS else _of_pattern
    iso = pa.array([None if not one else as_iso(one, form) for one in text.to_pylist()], pa.string())
    if type_.kind is Kind.DATE:
        iso = pc.utf8_slice_codeunits(iso, 0, 10)
    fitting, misfit = convert(iso, type_)
    there = pc.fill_null(pc.not_equal(text, ""), False)
    unread = np.asarray(pc.and_(iso.is_null(), there).to_numpy(zero_copy_only=False))
    mask = unread if misfit is None else unread | misfit
    return fitting, mask if mask.any() else None


def _of_unit(text: str, unit: str) -> str | None:
    if not re.fullmatch(r"[+-]?\d{1,20}(\.\d+)?", text):
        return None
    micros = (Decimal(text) * _MICROSECONDS[unit.removeprefix(FOUND_OUT)]).to_integral_value(ROUND_FLOOR)
    if abs(micros) >= 1 << 62 or (unit.startswith(FOUND_OUT) and not _is_likely(micros)):
        return None
    return str(np.datetime64(int(micros), "us"))


def _of_pattern(text: str, pattern: str) -> str | None:
    found = _regex(pattern).fullmatch(text)
    if found is None:
        return None
    part = found.groupdict()
    month = part.get("month") or _month(part.get("name", ""))
    year = part.get("year") or (f"20{part['short']}" if part.get("short") else None)
    if not month or not year:
        return None
    hour = int(part.get("hour") or part.get("half") or 0)
    if part.get("half") is not None:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + 12 * (part.get("noon", "am").lower() == "pm")
    minute, second = int(part.get("minute") or 0), int(part.get("second") or 0)
    fraction = f".{part['fraction']}" if part.get("fraction") else ""
    day = int(part.get("day") or 1)
    return f"{year}-{int(month):02}-{day:02} {hour:02}:{minute:02}:{second:02}{fraction}"


def _month(name: str) -> int:
    return next((at for at, month in enumerate(_MONTHS, 1) if name and name.lower() in (month, month[:3])), 0)


@cache
def _regex(pattern: str) -> re.Pattern[str]:
    tokens = re.finditer(r"'(?P<quoted>[^']*)'|(?P<letters>([A-Za-z])\3*)|(?P<other>[^A-Za-z'])", pattern)
    parts = [
        _part(token["letters"], pattern) if token["letters"] else re.escape(token["quoted"] or token["other"] or "")
        for token in tokens
    ]
    try:
        return re.compile("".join(parts))
    except re.error as error:
        raise StreamError(f"the pattern {pattern} says a part of a time twice", hint="leave one out") from error


def _part(letters: str, pattern: str) -> str:
    if set(letters) == {"S"}:
        return rf"(?P<fraction>\d{{{len(letters)}}})"
    if letters not in _PARTS:
        message = f"{letters} says nothing in the pattern {pattern}"
        raise StreamError(message, hint="a pattern is as yyyy-MM-dd HH:mm:ss or MMM d yyyy; a unit is s, ms, us or ns")
    return _PARTS[letters]
