"""STRPTIME and TRY_STRPTIME of duckdb: texts that are read as times under a constant format."""

from __future__ import annotations

import calendar
import datetime as dt
import re
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from workbench.sql.algebra.expressions import Constant, Expression
from workbench.sql.algebra.types import STRING, TIMESTAMP
from workbench.sql.dialects import DIALECTS
from workbench.sql.functions.calls import call
from workbench.sql.functions.declaration import function
from workbench.sql.syntax.date_formats import parts_to_read

_OFFSET = r"([+-][0-9]{2}(?>[0-9]{2}|:[0-9]{2}(?::[0-9]{2}|(?!:))|(?![:0-9])))"
"""Of a zone: hours, and minutes and seconds if there are any, before which a colon may stand."""
_BLANKS = r"[ \t\n\x0B\f\r]"
_MONTHS = tuple(calendar.month_abbr)[1:]
_NAMES = {"MMM": _MONTHS, "MMMM": tuple(calendar.month_name)[1:], "a": ("AM", "PM")}
_NUMBER_OF_NAME = {name.lower(): number for number, name in enumerate(_MONTHS, start=1)}
_BOUNDS = {
    **{"y": (0, 9999), "M": (1, 12), "d": (1, 31), "H": (0, 23), "h": (1, 12), "m": (0, 59), "s": (0, 59)},
    "S": (0, 999_999),
}
"""The least and the greatest number of each letter, wherever in a text it stands."""
_FIRST = {"y": 1900, "M": 1, "d": 1, "H": 0, "m": 0, "s": 0, "S": 0}
_NOON, _DIGITS = 12, 6
_START, _YEAR_1 = dt.datetime(1970, 1, 1), -62_135_596_800 * 10**6
_SECOND, _DAY = 10**6, 86_400 * 10**6

_Numbers = npt.NDArray[np.int64]


@lru_cache(maxsize=1_024)
def _shape(format_: str) -> tuple[re.Pattern[str], tuple[str, ...]]:
    """What a text of a format looks like, and Java's letters of its groups.

    Numbers may have fewer digits than the format says, and blanks may stand around the text.
    """
    shape, letters = f"{_BLANKS}*", list[str]()
    for part in parts_to_read(format_, DIALECTS["duckdb"]):
        if part == "Z":
            shape += _OFFSET
            letters.append(part)
        elif part[0].isalpha():
            most = {"y": 4, "S": len(part)}.get(part[0], 2)
            shape += f"((?i:{'|'.join(_NAMES[part])}))" if part in _NAMES else f"([0-9]{{1,{most}}}+)"
            letters.append(part if part in _NAMES else part[0])
        else:
            text = part[1:-1].replace("''", "'") if part.startswith("'") else part
            shape += re.sub(r"(?:\\?\s)+", lambda run: f"{_BLANKS}+", re.escape(text))
    return re.compile(f"{shape}{_BLANKS}*", re.ASCII), tuple(letters)


def _numbers(letter: str, texts: Sequence[str]) -> _Numbers:
    if letter in _NAMES:
        return np.array([_NUMBER_OF_NAME[text[:3].lower()] for text in texts])
    if letter == "S":
        texts = [text.ljust(_DIGITS, "0") for text in texts]
    return np.array(list(map(int, texts)))


@lru_cache(maxsize=1_024)
def _seconds_of_offset(text: str) -> int:
    """The seconds by which clocks of an offset are ahead of UTC.

    Example:
        >>> _seconds_of_offset("+0530"), _seconds_of_offset("-00:30"), _seconds_of_offset("+02")
        (19800, -1800, 7200)
    """
    hours, minutes, seconds = ([int(part) for part in re.findall("[0-9]{2}", text)] + [0, 0])[:3]
    return (hours * 3_600 + minutes * 60 + seconds) * (-1 if text[0] == "-" else 1)


def micros_of_texts(texts: Sequence[str], format_: str) -> list[int | None]:
    """The microseconds since 1970 that each text means under a format; ``None`` where DuckDB has an error.

    Elements are read one after the other: each number must be one of its element, and the last one of a field counts.

    Args:
        texts: they.
        format_: of strftime.

    Example:
        >>> micros_of_texts([" 2/jan/1970:0:00:01", "31/Feb/2026:10:00:00", "x"], "%d/%b/%Y:%H:%M:%S")
        [86401000000, None, None]
    """
    shape, letters = _shape(format_)
    found = list(map(shape.fullmatch, texts))
    matches = [match.groups() for match in found if match]
    fields = {letter: np.full(len(matches), first) for letter, first in _FIRST.items()}
    valid, is_afternoon, offsets = np.full(len(matches), True), None, np.full(len(matches), 0)
    for letter, values in zip(letters, zip(*matches, strict=True), strict=False):
        if letter == "a":
            is_afternoon = np.array([value in ("PM", "pm", "Pm", "pM") for value in values])
            continue
        if letter == "Z":
            offsets = np.array(list(map(_seconds_of_offset, values)))
            continue
        numbers = _numbers(letter, values)
        least, most = _BOUNDS[letter[0]]
        valid &= (least <= numbers) & (numbers <= most)
        fields["H" if letter == "h" else letter[0]] = numbers
    if is_afternoon is not None:
        valid &= fields["H"] <= _NOON
        fields["H"] = fields["H"] % _NOON + _NOON * is_afternoon
    months = (fields["y"] - 1970) * 12 + fields["M"] - 1
    days = months.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64) + fields["d"] - 1
    valid &= days.astype("datetime64[D]").astype("datetime64[M]").astype(np.int64) == months
    seconds = (fields["H"] * 60 + fields["m"]) * 60 + fields["s"] - offsets
    times = (days * _DAY + seconds * _SECOND + fields["S"]).tolist()
    micros = (time if is_valid else None for time, is_valid in zip(times, valid.tolist(), strict=True))
    return [next(micros) if match else None for match in found]


def _read(texts: pa.Array, formats: pa.Array) -> pa.Array:
    """Microseconds of texts; each distinct text is read once."""
    encoded = texts.dictionary_encode()
    found = micros_of_texts(encoded.dictionary.to_pylist(), formats[0].as_py()) if len(texts) else []
    return pa.array(found, pa.int64()).take(encoded.indices)


def read_by_strptime(text: Expression, format_: str) -> Expression:
    """STRPTIME(text, format), folded where the text is a constant."""
    if isinstance(text, Constant) and isinstance(text.value, str):
        (micros,) = micros_of_texts([text.value], format_)
        if micros is None or micros >= _YEAR_1:
            return Constant(None if micros is None else _START + dt.timedelta(microseconds=micros), TIMESTAMP)
    return call("strptime_in_duckdb", text, Constant(format_, STRING))


DECLARED = [function("strptime_in_duckdb(string, string): timestamp", python=_read, vectorized=True)]
