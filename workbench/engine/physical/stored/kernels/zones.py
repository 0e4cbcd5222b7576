"""Kernels of instants and the clocks of zones: a zone's offsets are looked up once for each hour that there is.

Zones are those of Python's database. A clock that is set forward leaves out times, and one that is set back shows times
twice: then the offset is that of before (as Java's, ``fold=0`` in Python).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from workbench.arrow.types import filled
from workbench.engine.physical.stored.kernels.kernel import Kernel, constant_text
from workbench.sql.algebra.expressions import Call
from workbench.sql.algebra.types import Kind
from workbench.sql.algebra.zones import BY_OFFSET_OF, CLOCK_OF, INSTANT_OF, KEPT_INSTANT_OF, LAST_INSTANT_OF

_HOUR, _DAY = 3_600_000_000, 86_400_000_000
"""Microseconds."""
_1970 = dt.datetime(1970, 1, 1)
_CYCLE = 146_097 * _DAY
"""Four hundred years, after which the days of the week come again."""
_FIRST, _LAST = -62_104_000_000 * 10**6, 253_000_000_000 * 10**6
"""Between these Python has dates; before them no clock was changed, and after them they are changed as before."""

_Micros = npt.NDArray[np.int64]


def _in_years_of_python(times: _Micros) -> _Micros:
    times = np.maximum(times, _FIRST)  # first: what is far before has no difference of 64 bits to the last one
    return times - np.maximum(-((_LAST - times) // _CYCLE), 0) * _CYCLE


def _offsets(times: _Micros, offset_at: Callable[[int], int]) -> _Micros:
    """The offset at each time, asked at both ends of its hour, and within it where these differ."""
    known = _in_years_of_python(times)
    hours, which = np.unique(known // _HOUR, return_inverse=True)
    begins = np.array([offset_at(int(hour) * _HOUR) for hour in hours], np.int64)
    ends = np.array([offset_at(int(hour + 1) * _HOUR - 1) for hour in hours], np.int64)
    found = begins[which]
    for at in np.flatnonzero((begins != ends)[which]):
        found[at] = offset_at(int(known[at]))
    return found


def _clock(instants: _Micros, zone: str) -> _Micros:
    rules = ZoneInfo(zone)

    def offset_at(instant: int) -> int:
        return _as_micros((_1970 + dt.timedelta(microseconds=instant)).replace(tzinfo=dt.UTC).astimezone(rules))

    return instants + _offsets(instants, offset_at)


def _instant(clocks: _Micros, zone: str) -> _Micros:
    rules = ZoneInfo(zone)

    def offset_at(clock: int) -> int:
        return _as_micros((_1970 + dt.timedelta(microseconds=clock)).replace(tzinfo=rules))

    return clocks - _offsets(clocks, offset_at)


def _as_micros(time: dt.datetime) -> int:
    offset = time.utcoffset()
    assert offset is not None
    return offset // dt.timedelta(microseconds=1)


def _last_instant(clocks: _Micros, zone: str) -> _Micros:
    """By the offset of a day later: no clock is changed twice in a day."""
    first = _instant(clocks, zone)
    last = _by_offset(clocks, zone, first + _DAY)
    return np.where(_clock(last, zone) == clocks, last, first)


def _by_offset(clocks: _Micros, zone: str, instants: _Micros) -> _Micros:
    return clocks - (_clock(instants, zone) - instants)


def _kept_instant(clocks: _Micros, zone: str, instants: _Micros) -> _Micros:
    kept = _by_offset(clocks, zone, instants)
    return np.where(_clock(kept, zone) == clocks, kept, _instant(clocks, zone))


def instant_of_clock(clock: int, zone: str) -> int | None:
    """The instant at which the clock of a zone shows a time, both in microseconds; ``None``: there is no such zone."""
    return int(_instant(np.array([clock]), zone)[0]) if _is_known(zone) else None


def _is_known(zone: str | None) -> bool:
    try:
        return zone is not None and bool(ZoneInfo(zone).key)
    except (ZoneInfoNotFoundError, ValueError):
        return False


def _converted(function: Callable[..., _Micros], zone_at: Sequence[int] = (1,)) -> Kernel:
    """A function of times and constant zones.

    Args:
        function: of the microseconds of times, and of zones, as they stand in the call.
        zone_at: the places of the zones.
    """

    def compute(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
        missing = np.zeros(len(arguments[0]), bool)
        given: list[_Micros | str] = []
        for at, values in enumerate(arguments):
            if at in zone_at:
                given.append(constant_text(call, at) or "")
                continue
            missing |= np.asarray(values.is_null())
            given.append(filled(values.cast(pa.int64()), 0).to_numpy(zero_copy_only=False))
        return pa.array(function(*given), mask=missing).cast(pa.timestamp("us"))

    def accepts(call: Call) -> bool:
        zones = [constant_text(call, at) for at in zone_at]
        times = [argument for at, argument in enumerate(call.arguments) if at not in zone_at]
        return all(map(_is_known, zones)) and all(time.type.kind is Kind.TIMESTAMP for time in times)

    return Kernel(compute, accepts)


_FIRST_INSTANT, _KEPT_INSTANT = _converted(_instant), _converted(_kept_instant)


def _kept(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    """The first instant where the other one is NULL."""
    clocks, zone, instants = arguments
    known = pc.coalesce(instants, _FIRST_INSTANT.compute(call, [clocks, zone]))
    return _KEPT_INSTANT.compute(call, [clocks, zone, known])


ZONE_KERNELS = {
    CLOCK_OF: _converted(_clock),
    INSTANT_OF: _FIRST_INSTANT,
    LAST_INSTANT_OF: _converted(_last_instant),
    BY_OFFSET_OF: _converted(_by_offset),
    KEPT_INSTANT_OF: Kernel(_kept, _KEPT_INSTANT.accepts),
    "convert_timezone": _converted(lambda source, target, clocks: _clock(_instant(clocks, source), target), (0, 1)),
}
"""By the name of the function."""
