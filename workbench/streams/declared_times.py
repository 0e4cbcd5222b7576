"""Values that are declared with how they are written: ``timestamp ms``, ``date MMM d yyyy``, ``boolean Y/N``.

A unit is that of numbers since 1970. A pattern has the letters of Spark's, ``y M d H h m s S a``, of which each stands
for digits, ``MMM`` for Jan, ``MMMM`` for January, ``E`` for Mon or Monday, and ``Z`` for an offset, as +0200 or GMT.
What stands in quotes, and every other sign, stands for itself, and a blank for several.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from workbench.arrow.types import Mask
from workbench.errors import StreamError
from workbench.sql.algebra.types import BOOLEAN, TIMESTAMP, DataType, Kind
from workbench.sql.syntax.quoted_names import name_in_sql
from workbench.streams.convert import convert, without_marks

_PLACES = {"s": 6, "ms": 3, "us": 0, "ns": -3}
"""By how many places the point of a number is moved, so that it counts microseconds."""
_MOST_DIGITS = 18
"""Of microseconds from 1970 to the year 9999."""
_LONG = {"s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}
_EARLIEST, _LATEST = 631_152_000, 4_102_444_800
"""Seconds since 1970: the years 1990 to 2100, in which the unit of a number can be told."""
_DECLARED = re.compile(
    r"^\s*(date|timestamptz|timestamp with time zone|timestamp)\s+(?!with)(\S.*?)\s*$", re.IGNORECASE
)
_MARKS = re.compile(r"^\s*(boolean)\s+([^/\s]+/[^/\s]+)\s*$", re.IGNORECASE)
_TRUE_AND_FALSE = (("y", "n"), ("yes", "no"), ("t", "f"), ("j", "n"), ("ja", "nein"), ("oui", "non"), ("on", "off"))
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
    **{"a": r"(?P<noon>[AaPp][Mm])", "E": "[A-Za-z]{3,9}", "Z": r"(?P<offset>Z|UTC|GMT|[+-]\d\d:?\d\d)"},
}
_DAYS = (
    *("d.M.yyyy", "d/M/yyyy", "M/d/yyyy", "d-M-yyyy", "M-d-yyyy", "yyyy/M/d", "yyyy.M.d"),
    *("d.M.yy", "d/M/yy", "M/d/yy"),
    *("MMM d yyyy", "MMM d, yyyy", "MMMM d, yyyy", "d MMM yyyy", "d MMMM yyyy", "d-MMM-yyyy", "d-MMM-yy"),
)
_TIMES = ("", " H:mm", " H:mm:ss", " H:mm:ss.SSS", " h:mm a", " h:mm:ss a", ", H:mm", ", H:mm:ss")
"""How dates and times are usually written otherwise than SQL writes them."""
_OF_PROGRAMS = (
    *("yyyy-MM-dd HH:mm:ss,SSS", "yyyy-MM-dd HH:mm:ss,SSS Z", "E, d MMM yyyy HH:mm:ss Z", "E MMM d HH:mm:ss yyyy"),
    *("d/MMM/yyyy:HH:mm:ss Z", "yyyyMMdd'T'HHmmss", "yyyyMMdd'T'HHmmssZ"),
)
"""How logs, mails and servers write times."""
_DOUBTFUL = re.compile(r"(?<!y)yy(?!y)|yyyy\.M\.d")
"""Says no century, or may be the number of a version: it is not read before it is declared."""
_ISO = {
    Kind.DATE: r"^\d{4}-\d\d-\d\d$",
    Kind.TIMESTAMP: r"^\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?)?$",
}
_MOST_FORMS = 4
"""In how many forms texts may be times, so that it is said how they are read."""
FOUND_OUT = "?"
"""Stands before a unit that was found out, of which only times between 1990 and 2100 are taken."""


def split_form(text: str) -> tuple[str, str]:
    """A declared type, and how its values are written; ``""`` where that is not declared.

    Raises:
        StreamError: the pattern says no date.

    Example:
        >>> split_form("date MMM d yyyy"), split_form("timestamp ms"), split_form("decimal(8, 2)")
        (('date', 'MMM d yyyy'), ('timestamp', 'ms'), ('decimal(8, 2)', ''))
        >>> split_form("boolean yes/no")
        ('boolean', 'yes/no')
    """
    if found := _MARKS.match(text):
        return found[1], found[2]
    found = _DECLARED.match(text)
    if found is None:
        return text, ""
    type_, form = found.groups()
    if form not in _PLACES:
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
    for unit, places in _PLACES.items():
        if all(_EARLIEST <= number.scaleb(places - 6) <= _LATEST for number in numbers):
            return unit
    return ""


def patterns_of(texts: pa.Array, few: int = 0) -> list[str]:
    """The usual patterns of which some texts are dates or times, as they are declared.

    Args:
        texts: without NULL.
        few: how many of them may be none.

    Example:
        >>> patterns_of(pa.array(["31.01.2026", "1.2.2026"])), patterns_of(pa.array(["3/4/2026"]))
        (['date d.M.yyyy'], ['date d/M/yyyy', 'date M/d/yyyy'])
    """
    texts = pc.utf8_trim_whitespace(texts)
    first = texts[0].as_py()
    found = list[str]()
    usual = [(f"{day}{time}", "timestamp" if time else "date") for day in _DAYS for time in _TIMES]
    for pattern, kind in [*usual, *((pattern, "timestamp") for pattern in _OF_PROGRAMS)]:
        if _regex(pattern).fullmatch(first):
            as_texts = _of_pattern(texts, pattern)
            same = f"{kind} {pattern.replace('MMMM', 'MMM')}"  # Jan is January, too
            if same not in found and convert(as_texts, TIMESTAMP)[0].null_count <= few:
                found.append(f"{kind} {pattern}")
    return found


def are_iso(texts: pa.Array, kind: Kind) -> pa.Array:
    """Which texts are dates, or times, as SQL writes them, by which no pattern means another day.

    Example:
        >>> are_iso(pa.array(["2026-01-31", "2026-01-31 10:00", "31.1.2026"]), Kind.DATE).to_pylist()
        [True, False, False]
    """
    return pc.match_substring_regex(pc.utf8_trim_whitespace(texts), _ISO[kind])


def is_sure(patterns: Sequence[str]) -> bool:
    """Whether texts of some patterns (``patterns_of``) can be read in one way alone.

    Example:
        >>> is_sure(["date d.M.yyyy"]), is_sure(["date d.M.yy"]), is_sure(["date d/M/yyyy", "date M/d/yyyy"])
        (True, False, False)
    """
    return len(patterns) == 1 and _DOUBTFUL.search(patterns[0]) is None


def declaration(name: str, type_: str) -> str:
    """How a column is declared, as an analyst types it.

    Example:
        >>> declaration("day", "date"), declaration("weight (kg)", "string")
        ('--type day=date', '--type "weight (kg)=string"')
    """
    return f"--type {name}={type_}" if re.fullmatch(r"[\w(),<>:]+", name + type_) else f'--type "{name}={type_}"'


def how_to_declare(name: str, text: pa.Array) -> str:
    """How texts are read that are true and false in words, times of a day, too fine, or in several forms.

    Args:
        name: of the column.
        text: of it, without NULL.

    Example:
        >>> how_to_declare("paid", pa.array(["yes", "no"])), how_to_declare("name", pa.array(["Ann"]))
        (': --type "paid=boolean yes/no" reads them as true and false', '')
    """
    given, text = text, pc.utf8_trim_whitespace(text)
    said = {value.lower(): value for value in pc.unique(text).to_pylist()}
    for yes, no in _TRUE_AND_FALSE:
        if said.keys() == {yes, no}:
            return f": {declaration(name, f'boolean {said[yes]}/{said[no]}')} reads them as true and false"
    if _all_match(text, r"^\d\d:\d\d(:\d\d(\.\d+)?)?$"):
        return f": {declaration(name, 'time')} reads them as times of a day"
    if _all_match(text, r"^\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d+)?$"):
        return f", of times: {declaration(name, 'timestamp')} reads them to the microsecond"
    several = _of_forms(name, given)
    return f", of times in several forms: {several} in a query reads them" if several else ""


def _of_forms(name: str, text: pa.Array) -> str:
    """How a query of spark reads texts that are times in a few forms, of which each says one; else empty.

    Example:
        >>> _of_forms("at", pa.array(["2026-01-31 10:05", "3.2.2026 9:00", "5 Feb 2026"]))
        "COALESCE(CAST(at AS TIMESTAMP), TO_TIMESTAMP(at, 'd.M.yyyy H:mm'), TO_TIMESTAMP(at, 'd MMM yyyy'))"
    """
    column, given, text = name_in_sql(name, "spark"), text, pc.utf8_trim_whitespace(text)
    column = column if text.equals(given) else f"TRIM({column})"
    is_iso = are_iso(text, Kind.TIMESTAMP)
    reads = [f"CAST({column} AS TIMESTAMP)"] if pc.any(is_iso).as_py() else []
    rest = text.filter(pc.invert(is_iso))
    while len(rest) and len(reads) < _MOST_FORMS:
        patterns = patterns_of(rest, len(rest))
        if not is_sure(patterns):
            return ""
        form = split_form(patterns[0])[1]
        reads.append(f"TO_TIMESTAMP({column}, '{form}')")
        rest = rest.filter(pc.is_null(_of_pattern(rest, form)))
    return f"COALESCE({', '.join(reads)})" if not len(rest) and len(reads) > 1 else ""


def _all_match(text: pa.Array, pattern: str) -> bool:
    return bool(pc.all(pc.match_substring_regex(text, pattern)).as_py())


def unit_text(unit: str) -> str:
    """A unit in words."""
    return f"{_LONG[unit]} since 1970"


def read_marks(values: pa.Array, form: str) -> tuple[pa.Array, Mask | None]:
    """Texts such as ``Y/N`` as true and false, and a mask of other texts; case does not count.

    Example:
        >>> marks, misfit = read_marks(pa.array(["Y", "n ", "", "?"]), "Y/N")
        >>> marks.to_pylist(), misfit.tolist()
        ([True, False, None, None], [False, False, False, True])
    """
    text = pc.utf8_lower(pc.utf8_trim_whitespace(values))
    place = pc.index_in(text, pa.array(form.lower().split("/")))
    there = pc.is_valid(without_marks(text, BOOLEAN))
    misfit = np.asarray(pc.and_(place.is_null(), there).to_numpy(zero_copy_only=False))
    return pc.equal(place, 0), misfit if misfit.any() else None


def read_times(values: pa.Array, type_: DataType, form: str) -> tuple[pa.Array, Mask | None]:
    """Texts as dates or times, and a mask of those that are none (``None``: all are).

    What is written as SQL writes it, ``2026-01-31``, is read beside a pattern, too: none means another day.

    Args:
        values: the texts.
        type_: DATE or TIMESTAMP.
        form: how they are written.

    Example:
        >>> from workbench.sql.algebra.types import DATE
        >>> days, misfit = read_times(pa.array(["Jan 5 2024", "May 41 2024", None]), DATE, "MMM d yyyy")
        >>> days.to_pylist(), misfit.tolist()
        ([datetime.date(2024, 1, 5), None, None], [False, True, False])
    """
    text = pc.utf8_trim_whitespace(values)
    unit = form.removeprefix(FOUND_OUT)
    times = _of_unit(text, unit, form != unit) if unit in _PLACES else _of_pattern(text, form)
    if unit not in _PLACES and "Z" not in form:  # what has no offset may be in another zone than what has one
        times = pc.coalesce(times, pc.if_else(are_iso(text, type_.kind), text, pa.scalar(None, pa.string())))
    if type_.kind is Kind.DATE and pa.types.is_string(times.type):
        times = pc.utf8_slice_codeunits(times, 0, 10)
    fitting, misfit = convert(times, type_)
    there = pc.fill_null(pc.not_equal(text, ""), False)
    unread = np.asarray(pc.and_(times.is_null(), there).to_numpy(zero_copy_only=False))
    mask = unread if misfit is None else unread | misfit
    return fitting, mask if mask.any() else None


def _of_unit(text: pa.Array, unit: str, found_out: bool) -> pa.Array:
    """Numbers of a unit as timestamps, rounded down to microseconds; NULL for numbers that are none."""
    parts = pc.extract_regex(text, r"^(?P<sign>[+-]?)0*(?P<whole>\d{1,20})(?:\.(?P<fraction>\d+))?$")
    sign, whole, fraction = (pc.struct_field(parts, [name]) for name in ("sign", "whole", "fraction"))
    places = _PLACES[unit]
    if places < 0:
        fraction = pc.binary_join_element_wise(pc.utf8_slice_codeunits(whole, places), fraction, "")
        whole = pc.utf8_lpad(pc.utf8_slice_codeunits(whole, 0, places), 1, "0")
    elif places:
        moved = pc.utf8_rpad(pc.utf8_slice_codeunits(fraction, 0, places), places, "0")
        whole, fraction = pc.binary_join_element_wise(whole, moved, ""), pc.utf8_slice_codeunits(fraction, places)
    whole = pc.utf8_ltrim(whole, "0")
    long = pc.greater(pc.utf8_length(whole), _MOST_DIGITS)
    micros = pc.if_else(long, pa.scalar(None, pa.string()), pc.utf8_lpad(whole, 1, "0")).cast(pa.int64())
    negative = pc.equal(sign, "-")
    rest = pc.and_(negative, pc.match_substring_regex(fraction, "[1-9]"))
    micros = pc.subtract(pc.if_else(negative, pc.negate(micros), micros), rest.cast(pa.int64()))
    if found_out:
        micros = pc.if_else(_is_likely(micros), micros, pa.scalar(None, pa.int64()))
    return micros.cast(pa.timestamp("us"))


def _is_likely(micros: pa.Array) -> pa.Array:
    return pc.and_(pc.greater_equal(micros, _EARLIEST * 1_000_000), pc.less_equal(micros, _LATEST * 1_000_000))


def _of_pattern(text: pa.Array, pattern: str) -> pa.Array:
    """Texts of a pattern as SQL writes them; NULL for texts that do not match it."""
    regex = _regex(pattern)
    found = pc.extract_regex(text, f"^{regex.pattern}$")
    part = {name: pc.struct_field(found, [name]) for name in regex.groupindex}
    year = part["year"] if "year" in part else pc.binary_join_element_wise("20", part["short"], "")
    month = part["month"] if "month" in part else _month(part["name"])
    hour = _of_half_days(part["half"], part.get("noon")) if "half" in part else part.get("hour", "0")
    day = _joined("-", year, month, part.get("day", "1"))
    time = _joined(":", hour, part.get("minute", "0"), part.get("second", "0"))
    if "fraction" in part:
        time = pc.binary_join_element_wise(time, part["fraction"], ".")
    if "offset" in part:
        offset = pc.replace_substring_regex(part["offset"], "UTC|GMT", "Z")
        time = pc.binary_join_element_wise(time, offset, "")
    return pc.if_else(pc.is_valid(found), pc.binary_join_element_wise(day, time, " "), pa.scalar(None, pa.string()))


def _joined(sign: str, *numbers: pa.Array | str) -> pa.Array:
    """Numbers of two digits at least, with a sign between them."""
    two = [number.rjust(2, "0") if isinstance(number, str) else pc.utf8_lpad(number, 2, "0") for number in numbers]
    return pc.binary_join_element_wise(*two, sign)


def _of_half_days(hours: pa.Array, noon: pa.Array | None) -> pa.Array:
    """Hours of the day from hours before or after noon; before noon where nothing is said."""
    number = hours.cast(pa.int64())
    number = pc.if_else(pc.and_(pc.greater(number, 0), pc.less(number, 13)), number, pa.scalar(None, pa.int64()))
    number = pc.if_else(pc.equal(number, 12), 0, number)
    if noon is not None:
        number = pc.if_else(pc.equal(pc.ascii_lower(noon), "pm"), pc.add(number, 12), number)
    return number.cast(pa.string())


def _month(names: pa.Array) -> pa.Array:
    """The numbers of months, by their names or the first letters of these."""
    names = pc.ascii_lower(names)
    whole, short = pc.index_in(names, pa.array(_MONTHS)), pc.index_in(names, pa.array([m[:3] for m in _MONTHS]))
    return pc.add(pc.coalesce(whole, short), 1).cast(pa.string())


@cache
def _regex(pattern: str) -> re.Pattern[str]:
    tokens = re.finditer(r"'(?P<quoted>[^']*)'|(?P<letters>([A-Za-z])\3*)|(?P<other>[^A-Za-z'])", pattern)
    parts = [
        _part(token["letters"], pattern)
        if token["letters"]
        else re.escape(token["quoted"] or token["other"] or "").replace("\\ ", " +")
        for token in tokens
    ]
    try:
        regex = re.compile("".join(parts))
    except re.error as error:
        raise StreamError(f"the pattern {pattern} says a part of a time twice", hint="leave one out") from error
    for one, other, what, example in (("year", "short", "year", "yyyy"), ("month", "name", "month", "MM or MMM")):
        if (one in regex.groupindex) == (other in regex.groupindex):
            said = f"says the {what} twice" if one in regex.groupindex else f"says no {what}"
            raise StreamError(f"the pattern {pattern} {said}", hint=f"{example} stands for it, once")
    return regex


def _part(letters: str, pattern: str) -> str:
    if set(letters) == {"S"}:
        return rf"(?P<fraction>\d{{{len(letters)}}})"
    if letters not in _PARTS:
        message = f"{letters} says nothing in the pattern {pattern}"
        hint = "a pattern is as yyyy-MM-dd HH:mm:ss or MMM d yyyy; a unit is s, ms, us or ns"
        meant = pattern.translate(str.maketrans("DY", "dy"))
        raise StreamError(message, hint=f"write {meant}" if letters[0] in "DY" else hint)
    return _PARTS[letters]
