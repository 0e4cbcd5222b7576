"""How late a row of a stream may be, and which rows are later than that: the late rows.

A row is late by as much as its event time is behind the latest event time of the rows before it. That says nothing of
batches, so the same rows are late however a stream is replayed, and it is known when the stream is added.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from workbench.arrow.types import times_of
from workbench.errors import StreamError
from workbench.sql.algebra.column_names import display_name, stored_name
from workbench.sql.algebra.types import DataType, Kind
from workbench.sql.windows.stream_time import DURATION_UNITS, duration_text, short_duration

_LEAST = np.iinfo(np.int64).min
_MOST = np.iinfo(np.int64).max

_SECOND = 1_000_000
_DAY = 86_400


@dataclass(frozen=True)
class Lateness:
    """By how much rows may be late.

    Attributes:
        time: the stored name of the column with event times.
        kind: of these.
        allowed: in days for dates, in microseconds for timestamps, else in what the numbers count.

    Example:
        >>> from workbench.sql.algebra.types import DATE
        >>> str(lateness_of("2 days", "tran_date", DATE))
        '2 days'
    """

    time: str
    kind: Kind
    allowed: int

    @staticmethod
    def stored(time: str, kind: str, allowed: int) -> Lateness:
        """What a manifest has of it."""
        return Lateness(time, Kind[kind], allowed)

    def __str__(self) -> str:
        if self.kind is Kind.INTEGER:
            return f"{self.allowed:,}"
        whole, rest = divmod(self.allowed * (_DAY * _SECOND if self.kind is Kind.DATE else 1), _SECOND)
        return duration_text(whole) if not rest else str(dt.timedelta(microseconds=self.allowed))


def lateness_of(given: object, time: str | None, type_: DataType | None) -> Lateness:
    """The lateness that an analyst declared.

    Args:
        given: a length of time as text (``"2 days"``) or a ``timedelta``; a number where event times are numbers.
        time: the column with event times.
        type_: of these.

    Raises:
        StreamError: the stream has no event times, or the length does not go with them.
    """
    if time is None or type_ is None:
        raise StreamError("lateness without event times", hint="say which column has them: time=…")
    allowed = _number(given) if type_.kind is Kind.INTEGER else _microseconds(given)
    if allowed is None or not 0 <= allowed <= _MOST:
        what = "a number" if type_.kind is Kind.INTEGER else "a length of time"
        raise StreamError(f"lateness is {what}, not {given!r}", hint=_hint(type_))
    if type_.kind is Kind.DATE:
        allowed, rest = divmod(allowed, _DAY * _SECOND)
        if rest:
            raise StreamError(f"lateness is {given!r}, and {time} has whole days", hint="write '2 days'")
    return Lateness(stored_name(time), type_.kind, allowed)


class LateRows:
    """Finds late rows, chunk by chunk.

    Args:
        lateness: how late they may be.
        latest: the latest time before them, if there is one.
    """

    def __init__(self, lateness: Lateness, latest: int | None = None) -> None:
        self._lateness = lateness
        self._latest = _LEAST if latest is None else latest

    @property
    def latest(self) -> int:
        """The latest time so far."""
        return int(self._latest)

    def among(self, rows: pa.Table) -> dict[int, str]:
        """Why some of the next rows are late, by their places; a row without a time never is."""
        column = rows.column(self._lateness.time).combine_chunks()
        times, known = times_of(column)
        reached = np.maximum.accumulate(np.append(self._latest, np.where(known, times, _LEAST)))
        self._latest = reached[-1]
        before = reached[:-1]
        # What is less than the least time stays there instead of going round.
        least = np.where(before < _LEAST + self._lateness.allowed, _LEAST, before - self._lateness.allowed)
        named = display_name(self._lateness.time)
        late = np.flatnonzero(known & (times < least)).tolist()
        return {at: f"{named}: {column[at]} is more than {self._lateness} late" for at in late}


def _number(given: object) -> int | None:
    if isinstance(given, str) and given.strip().isdigit():
        return int(given)
    return given if isinstance(given, int) and not isinstance(given, bool) else None


def _microseconds(given: object) -> int | None:
    if isinstance(given, dt.timedelta):
        return given // dt.timedelta(microseconds=1)
    seconds = short_duration(given) if isinstance(given, str) else None
    return None if seconds is None else round(seconds * _SECOND)


def _hint(type_: DataType) -> str:
    if type_.kind is Kind.INTEGER:
        return "a number, as event times are: 5"
    return f"a length of time, in {DURATION_UNITS}: '2 days', or short: 2d"
