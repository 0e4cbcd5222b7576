"""Batches by event time: a batch has all rows before the next boundary of a grid of equal spans.

Boundaries are multiples of the span since 1970, as those of tumbling windows are. A batch ends at the first boundary
after the earliest row that is to come, of all streams that are cut so; where their spans differ, the nearest boundary
is the end. So streams stay in step, and spans in which no stream has a row are passed over.

Rows come in the order of the log. A batch takes the rows up to the first whose time is not before its end; one after
that whose time is, comes with a later batch. So every row that a batch begins with is at or after the end of the batch
before, and each batch has a later end.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

import numpy as np

from workbench.arrow.types import times_of
from workbench.errors import StreamError
from workbench.sql.algebra.column_names import stored_name
from workbench.sql.algebra.types import DataType, Kind
from workbench.sql.windows.stream_time import duration_text, short_duration
from workbench.streams.log import StreamLog

_MICROSECOND = timedelta(microseconds=1)
_DAY = timedelta(days=1) // _MICROSECOND
_LOOKED_AT = 16_384
"""Rows that are looked at first; each further look is at twice as many."""


def span_of(given: str | timedelta, stream: str, time: str | None, columns: Mapping[str, DataType]) -> timedelta:
    """The event time that a batch covers, as an analyst wrote it.

    Args:
        given: a length of time, ``"1h"``, ``"1 day"`` or a ``timedelta``.
        stream: its name, for errors.
        time: the column with event times.
        columns: types by stored names.

    Raises:
        StreamError: it is no length of time above 0, or event times are not dates or timestamps.
    """
    seconds = given.total_seconds() if isinstance(given, timedelta) else short_duration(given)
    if seconds is None or not seconds > 0:
        hint = "a whole number of rows, at least 1, or a length of event time: '1h', '30 minutes', '1 day'"
        raise StreamError(f"stream {stream}: batch is {given!r}", hint=hint)
    if time is None or not columns[stored_name(time)].temporal:
        what = "has no event times" if time is None else f"has numbers as event times in {time}"
        hint = "say which column of type DATE or TIMESTAMP has them: time=…; or give a number of rows"
        raise StreamError(f"stream {stream}: batch is {given!r}, and the stream {what}", hint=hint)
    return max(timedelta(seconds=seconds), _MICROSECOND)


def span_text(span: timedelta) -> str:
    """A span as text.

    Example:
        >>> span_text(timedelta(minutes=90)), span_text(timedelta(milliseconds=500))
        ('1 hour 30 minutes', '0:00:00.500000')
    """
    return str(span) if span.microseconds else duration_text(span // timedelta(seconds=1))


def boundary_after(log: StreamLog, position: int, time: str, span: timedelta) -> int | None:
    """The first boundary after the time of the next row, in microseconds since 1970.

    Returns:
        ``None`` if no row from the position on has a time.
    """
    looked_at = _LOOKED_AT
    while position < log.rows:
        times, known = _times(log, position, position + looked_at, time)
        if known.any():
            width = span // _MICROSECOND
            return (int(times[known.argmax()]) // width + 1) * width
        position, looked_at = position + looked_at, 2 * looked_at
    return None


def first_from(log: StreamLog, position: int, time: str, end: int) -> int:
    """The position of the first row, from one on, whose time is not before an end; the log's end if there is none."""
    looked_at = _LOOKED_AT
    while position < log.rows:
        times, known = _times(log, position, position + looked_at, time)
        beyond = known & (times >= end)
        if beyond.any():
            return position + int(beyond.argmax())
        position, looked_at = position + looked_at, 2 * looked_at
    return log.rows


def _times(log: StreamLog, start: int, stop: int, time: str) -> tuple[np.ndarray, np.ndarray]:
    """The times of rows in microseconds, and which rows have one."""
    name = stored_name(time)
    times, known = times_of(log.read(start, stop, [name]).column(name).combine_chunks())
    return (times * _DAY if dict(log.columns)[name].kind is Kind.DATE else times), known
