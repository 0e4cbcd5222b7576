"""Times as texts under a pattern of Java's ``DateTimeFormatter``, as Spark writes and reads them.

What is here is what constants and kernels need: years, quarters, months by number and by name, days, weekdays, hours of
a day or of its half, minutes, seconds and their fractions, and texts between them. Of all other patterns only Spark
knows the values.
"""

from __future__ import annotations

import calendar
import datetime as dt
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

_LETTERS = re.compile(r"([A-Za-z])\1*|'(?:[^']|'')*'|[^A-Za-z']+|'")
_MONTHS = tuple(calendar.month_name)[1:]
_DAYS = tuple(calendar.day_name)
_SECOND = 1_000_000
_DAY = 86_400 * _SECOND
_START = dt.date(1970, 1, 1).toordinal()
_ERA = 146_097
"""Days of 400 years, after which the calendar is the same."""
_FIELDS = {"y": "year", "M": "month", "L": "month", "d": "day", "H": "hour", "m": "minute", "s": "second"}
_FIRST = {"year": 1970, "month": 1, "day": 1, "hour": 0, "minute": 0, "second": 0, "micros": 0}
"""What Spark takes for a field that a pattern lacks."""
_MOST = {"hour": 23, "minute": 59, "second": 59}
_FRACTION = 9
"""Digits of a second at most."""
_LONG_YEAR = 6
"""Digits of a year that is not read: Spark raises where the microseconds since 1970 have no 64 bits."""


@dataclass(frozen=True)
class _Number:
    """A number in a text, as Java's ``NumberPrinterParser`` reads it.

    Attributes:
        field: what it counts.
        least: digits at least.
        most: digits at most.
        signed: whether it may have a sign; one of more than ``least`` digits must have a plus sign if it is ``padded``.
        padded: see above.
        behind: digits of the numbers right behind it, which it leaves to them.
        century: whether it is the last two digits of a year from 2000 to 2099.
    """

    field: str
    least: int
    most: int
    signed: bool = False
    padded: bool = False
    behind: int = 0
    century: bool = False

    def read(self, text: str, at: int, found: dict[str, int]) -> int:
        """Where the number that begins at a place ends; -1 where there is none."""
        sign = text[at : at + 1] if text[at : at + 1] in ("+", "-") else ""
        if sign and not (self.padded or (self.signed and sign == "-")):
            return -1
        at += len(sign)
        digits = re.compile("[0-9]*").match(text, at)
        count = min(len(digits[0]) if digits else 0, self.most + self.behind)
        if self.behind and count >= self.least:
            count = max(self.least, count - self.behind)
        if count < self.least or (self.padded and bool(sign == "+") != (count > self.least) and sign != "-"):
            return -1
        value = int(text[at : at + count])
        if sign == "-" and value == 0:
            return -1
        return _kept(
            found, self.field, (2000 + value if self.century else -value if sign == "-" else value), at + count
        )


@dataclass(frozen=True)
class _Fraction:
    """The fraction of a second: one digit, up to a number of them."""

    most: int

    def read(self, text: str, at: int, found: dict[str, int]) -> int:
        digits = re.compile(f"[0-9]{{1,{self.most}}}").match(text, at)
        if digits is None:
            return -1
        return _kept(found, "micros", int(digits[0].ljust(_FRACTION, "0")) // 1000, digits.end())


@dataclass(frozen=True)
class _Name:
    """The name of a month, whole or of three letters, in whatever case."""

    names: tuple[str, ...]

    def read(self, text: str, at: int, found: dict[str, int]) -> int:
        for number, name in sorted(enumerate(self.names, start=1), key=lambda pair: -len(pair[1])):
            if text[at : at + len(name)].lower() == name.lower():
                return _kept(found, "month", number, at + len(name))
        return -1


@dataclass(frozen=True)
class _Text:
    """A text as it is, in whatever case."""

    text: str

    def read(self, text: str, at: int, found: dict[str, int]) -> int:
        end = at + len(self.text)
        return end if text[at:end].lower() == self.text.lower() else -1


_Part = _Number | _Fraction | _Name | _Text


def _kept(found: dict[str, int], field: str, value: int, end: int) -> int:
    """The end of a field; -1 where it was read before as another value."""
    return end if found.setdefault(field, value) == value else -1


def _parts(pattern: str) -> Iterable[str]:
    """Runs of a letter, and texts: quoted ones without their quotes behind one, ``''`` as a quote."""
    for match in _LETTERS.finditer(pattern):
        part = match[0]
        if not part.startswith("'"):
            yield part if part[0].isalpha() else f"'{part}"
        elif part == "''":
            yield "''"
        elif part == "'" or len(part) < 2:
            raise ValueError("a quote that is not closed")
        else:
            yield "'" + part[1:-1].replace("''", "'")


def _reader(part: str) -> _Part | None:
    """How a part is read; ``None`` where only Spark reads it."""
    letter, count = part[0], len(part)
    if letter == "'":
        return None if re.search(r"[\[\]{}#]", part) or not part[1:].isascii() else _Text(part[1:])
    match letter, count:
        case "y", 2:
            return _Number("year", 2, 2, century=True)
        case "y", (1 | 3):
            return _Number("year", count, 19, signed=True)
        case "y", (4 | 5):
            return _Number("year", count, 19, signed=True, padded=True)
        case (("M" | "L" | "d" | "H" | "m" | "s"), 1):
            return _Number(_FIELDS[letter], 1, 19, signed=True)
        case (("M" | "L" | "d" | "H" | "m" | "s"), 2):
            return _Number(_FIELDS[letter], 2, 2)
        case "M", 3:
            return _Name(tuple(name[:3] for name in _MONTHS))
        case "M", 4:
            return _Name(_MONTHS)
        case "S", _ if count <= _FRACTION:
            return _Fraction(count)
    return None


def _readers(parts: Iterable[str]) -> tuple[_Part, ...] | None:
    """How all parts are read, numbers side by side sharing their digits; ``None`` where only Spark reads them."""
    readers: list[_Part] = []
    first = -1
    for part in parts:
        reader = _reader(part)
        if reader is None:
            return None
        if not isinstance(reader, _Number):
            first = -1
        elif first < 0 or not isinstance(lead := readers[first], _Number):
            first = len(readers)
        elif reader.least == reader.most:
            readers[first] = replace(lead, behind=lead.behind + reader.most)
        else:  # Java gives the first one a width of its own then
            return None
        readers.append(reader)
    return tuple(readers)


@dataclass(frozen=True)
class TimePattern:
    """A pattern, with the parts that can be evaluated without Spark.

    Attributes:
        writes: what makes the text of each of its parts; ``None`` where only Spark does.
        readers: what reads its parts; ``None`` where only Spark does.
        seconds: whether its text depends on the time of day; ``micros`` says whether on fractions of a second.
        beyond: a regular expression of texts with a year that has too many digits, if there are such.
    """

    writes: tuple[Callable[[_Moment], str], ...] | None
    readers: tuple[_Part, ...] | None
    seconds: bool
    micros: bool
    beyond: str | None = None

    def text(self, micros: int) -> str:
        """A time in microseconds since 1970 as a text.

        Example:
            >>> pattern_of("EEE, d MMM yyyy 'at' HH:mm:ss.SSS").text(86_400_000_000)
            'Fri, 2 Jan 1970 at 00:00:00.000'
        """
        assert self.writes is not None
        moment = _Moment(*divmod(micros, _DAY))
        return "".join(write(moment) for write in self.writes)

    def time(self, text: str) -> int | None:
        """The microseconds since 1970 of a text; ``None`` where it does not have the form, or is no time.

        Example:
            >>> pattern_of("yyyy-MM-dd'T'HH:mm:ss.SSS").time("1970-01-01T00:00:01.5")
            1500000
        """
        assert self.readers is not None
        if self.beyond is not None and re.match(self.beyond, text):
            return None
        found: dict[str, int] = {}
        at = 0
        for reader in self.readers:
            at = reader.read(text, at, found)
            if at < 0:
                return None
        if at < len(text) or any(not 0 <= found.get(field, 0) <= most for field, most in _MOST.items()):
            return None
        fields = _FIRST | found
        days = days_since_1970(fields["year"], fields["month"], fields["day"])
        if days is None:
            return None
        seconds = (fields["hour"] * 60 + fields["minute"]) * 60 + fields["second"]
        micros = days * _DAY + seconds * _SECOND + fields["micros"]
        return micros if -(2**63) <= micros < 2**63 else None


@lru_cache(maxsize=1_000)
def pattern_of(pattern: str) -> TimePattern:
    """A pattern with its writers and readers.

    Example:
        >>> pattern_of("yyyy-DDD").readers is None
        True
    """
    try:
        parts = list(_parts(pattern))
    except ValueError:
        return TimePattern(None, None, True, True)
    writes = [_writer(part) for part in parts]
    known = tuple(write for write in writes if write is not None)
    letters = {part[0] for part in parts}
    written = known if len(known) == len(parts) else None
    readers = _readers(parts)
    return TimePattern(written, readers, bool(letters & set("HhKkamsS")), "S" in letters, _beyond(parts, readers))


def _beyond(parts: Sequence[str], readers: Sequence[_Part] | None) -> str | None:
    """What begins a text whose year has six digits or more."""
    years = [place for place, part in enumerate(parts) if part[0] == "y" and len(part) != 2]
    if not years:
        return None
    if (
        readers is None
    ):  # only a year of four digits and more has a plus sign, and zones have fewer digits behind theirs
        return f".*[+-][0-9]{{{_LONG_YEAR}}}"
    found = []
    for place in years:
        year = readers[place]
        assert isinstance(year, _Number)
        before = "".join(_SHAPES.get(type(reader), "") or _quoted(reader) for reader in readers[:place])
        found.append(f"{before}[+-]{'' if year.padded else '?'}[0-9]{{{_LONG_YEAR + year.behind}}}")
    return f"(?is)(?:{'|'.join(found)}).*"


def _quoted(text: _Part) -> str:
    assert isinstance(text, _Text)
    return re.sub(r"([^A-Za-z0-9 ])", r"\\\1", text.text)


_SHAPES: dict[type, str] = {_Number: "[+-]?[0-9]+", _Fraction: "[0-9]+", _Name: "[A-Za-z]+"}


@dataclass(frozen=True)
class _Moment:
    """Days since 1970, and the microseconds of the day."""

    days: int
    micros: int

    @property
    def date(self) -> tuple[int, int, int]:
        """Year, month and day."""
        return date_of_days(self.days)


def date_of_days(days: int) -> tuple[int, int, int]:
    """The year, of any number, month and day of days since 1970.

    Example:
        >>> date_of_days(-1), date_of_days(10**7)
        ((1969, 12, 31), (29349, 1, 26))
    """
    eras, days = divmod(days + _START - 1, _ERA)
    date = dt.date.fromordinal(days + 1)
    return date.year + 400 * eras, date.month, date.day


def days_since_1970(year: int, month: int, day: int) -> int | None:
    """The days since 1970 of a date, of any year; ``None`` where there is no such date.

    Example:
        >>> days_since_1970(1970, 1, 2), days_since_1970(2023, 2, 29)
        (1, None)
    """
    eras, year = divmod(year - 1, 400)
    try:
        return dt.date(year + 1, month, day).toordinal() - _START + eras * _ERA
    except (ValueError, OverflowError):
        return None


def _number(value: Callable[[_Moment], int], digits: int) -> Callable[[_Moment], str]:
    return lambda moment: f"{value(moment):0{digits}}"


def _hour(moment: _Moment) -> int:
    return moment.micros // (3_600 * _SECOND)


def _day_of_year(moment: _Moment) -> int:
    year, month, day = moment.date
    return dt.date(2000 if calendar.isleap(year % 400 + 400) else 2001, month, day).timetuple().tm_yday


def _year(digits: int) -> Callable[[_Moment], str]:
    def write(moment: _Moment) -> str:
        year = moment.date[0]
        sign = "-" if year < 0 else "+" if digits >= 4 and year >= 10**digits else ""
        return f"{sign}{abs(year):0{digits}}"

    return write


def _writer(part: str) -> Callable[[_Moment], str] | None:
    """What makes the text of a part; ``None`` where only Spark does."""
    letter, count = part[0], len(part)
    if letter == "'":
        return None if re.search(r"[\[\]{}#]", part) else lambda moment: part[1:]
    match letter, count:
        case "y", 2:
            return lambda moment: f"{abs(moment.date[0]) % 100:02}"
        case "y", _ if count <= 6:
            return _year(count)
        case (("M" | "L"), (1 | 2)):
            return _number(lambda moment: moment.date[1], count)
        case "M", (3 | 4):
            return lambda moment: _MONTHS[moment.date[1] - 1][: 3 if count == 3 else None]
        case "d", (1 | 2):
            return _number(lambda moment: moment.date[2], count)
        case "E", _ if count <= 4:
            return lambda moment: _DAYS[(moment.days + 3) % 7][: None if count == 4 else 3]
        case "H", (1 | 2):
            return _number(_hour, count)
        case "h", (1 | 2):
            return _number(lambda moment: (_hour(moment) + 11) % 12 + 1, count)
        case "K", (1 | 2):
            return _number(lambda moment: _hour(moment) % 12, count)
        case "k", (1 | 2):
            return _number(lambda moment: (_hour(moment) + 23) % 24 + 1, count)
        case "a", 1:
            return lambda moment: "AM" if _hour(moment) < 12 else "PM"
        case "D", (1 | 2 | 3):
            return _number(_day_of_year, count)
        case (("q" | "Q"), (1 | 2)):
            return _number(lambda moment: (moment.date[1] + 2) // 3, count)
        case "m", (1 | 2):
            return _number(lambda moment: moment.micros // (60 * _SECOND) % 60, count)
        case "s", (1 | 2):
            return _number(lambda moment: moment.micros // _SECOND % 60, count)
        case "S", _ if count <= _FRACTION:
            return lambda moment: f"{moment.micros % _SECOND:06}000"[:count]
    return None
