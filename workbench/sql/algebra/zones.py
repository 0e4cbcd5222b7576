"""Time zones: what the clock of a zone shows at an instant, and at which instant it shows a time.

Conversions that a text leaves unsaid, as of a TIMESTAMP that is compared with an instant, are those of the zone of its
session. ``zoning`` has it while a text is bound; what is bound names its zone, so that nothing later depends on it.

A clock that is set back shows an hour twice. Spark takes the first of the two instants, databases the last. A time that
a clock leaves out, as it is set forward, is as far behind the change as it would be on the clock of before.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from zoneinfo import ZoneInfo, available_timezones

from workbench.errors import SqlError, nearest
from workbench.sql.algebra.expressions import Call, Constant, Expression
from workbench.sql.algebra.types import DATE, INSTANT, STRING, TIMESTAMP, DataType

UTC = "UTC"
CLOCK_OF, INSTANT_OF, LAST_INSTANT_OF = "clock_of", "instant_of", "last_instant_of"
"""Functions: the time on a zone's clock at an instant; the first, and the last, instant at which it shows a time."""
KEPT_INSTANT_OF, BY_OFFSET_OF = "kept_instant_of", "instant_by_offset_of"
"""Functions: the instant at which the clock shows a time, with the offset that it has at another instant, if that may
be or in any case."""
OF_ZONES = (CLOCK_OF, INSTANT_OF, LAST_INSTANT_OF, KEPT_INSTANT_OF, BY_OFFSET_OF)
"""All functions of a time and a zone."""


@dataclass(frozen=True)
class Zoning:
    """The time zone of a text, and the rules of its dialect for it.

    Attributes:
        zone: its name.
        takes_last: whether a time that the clock shows twice is the last of the two instants.
        writes_offset: whether the text of an instant has its offset.
        subtracts_instants: as in ``Dialect``.
    """

    zone: str = UTC
    takes_last: bool = False
    writes_offset: bool = False
    subtracts_instants: bool | None = False


_AMBIGUOUS = {"localtime", "Factory", "EST", "MST", "HST", "CET", "MET", "EET", "WET"}
"""Names that mean another zone on each machine, or in each database."""
_ZONING: ContextVar[Zoning] = ContextVar("zoning", default=Zoning())  # noqa: B039


def zoning() -> Zoning:
    """The zone of the text that is bound."""
    return _ZONING.get()


@contextmanager
def bound_in(zone: Zoning) -> Iterator[None]:
    """Bind texts in a zone."""
    token = _ZONING.set(zone)
    try:
        yield
    finally:
        _ZONING.reset(token)


def known_zone(name: str) -> str:
    """The name of a zone as the database of zones spells it.

    Raises:
        SqlError: there is no such zone; the hint has the nearest.

    Example:
        >>> known_zone("europe/berlin")
        'Europe/Berlin'
    """
    names = {zone.lower(): zone for zone in available_timezones() - _AMBIGUOUS}
    found = names.get(str(name).strip().lower())
    if found is None:
        place = "its name is that of a place, as Europe/Berlin, or UTC"
        if str(name).strip().upper() in _AMBIGUOUS:
            hint = f"databases differ in what {name} is; {place}"
        else:
            hint = nearest(str(name), names.values()) or place
        raise SqlError(f"there is no time zone {name}", hint=hint)
    return found


def clock_at(instant: dt.datetime, zone: str) -> dt.datetime:
    """The time on the clock of a zone at an instant; both are without a zone, the instant in UTC.

    Raises:
        OverflowError: that is before the year 1 or after 9999.

    Example:
        >>> clock_at(dt.datetime(2023, 7, 1, 12), "Asia/Kathmandu")
        datetime.datetime(2023, 7, 1, 17, 45)
    """
    return instant.replace(tzinfo=dt.UTC).astimezone(ZoneInfo(zone)).replace(tzinfo=None)


def instant_at(clock: dt.datetime, zone: str, takes_last: bool) -> dt.datetime:
    """The instant in UTC at which the clock of a zone shows a time.

    Raises:
        OverflowError: that is before the year 1 or after 9999.

    Example:
        >>> for last in (False, True):
        ...     instant_at(dt.datetime(2023, 10, 29, 2, 30), "Europe/Berlin", last)
        datetime.datetime(2023, 10, 29, 0, 30)
        datetime.datetime(2023, 10, 29, 1, 30)
    """
    first, last = (
        clock.replace(tzinfo=ZoneInfo(zone), fold=fold).astimezone(dt.UTC).replace(tzinfo=None) for fold in (0, 1)
    )
    return last if takes_last and last > first else first


def by_offset_at(clock: dt.datetime, zone: str, instant: dt.datetime) -> dt.datetime:
    """The instant at which a clock with the offset of the zone at another instant shows a time."""
    return clock - (clock_at(instant, zone) - instant)


def kept_instant_at(clock: dt.datetime, zone: str, instant: dt.datetime) -> dt.datetime:
    """The instant at which the clock of a zone shows a time, of two the one with the offset of another instant."""
    kept = by_offset_at(clock, zone, instant)
    return kept if clock_at(kept, zone) == clock else instant_at(clock, zone, False)


def clock_of(instant: Expression, zone: str) -> Expression:
    """The time on the clock of a zone at an instant; in UTC it is the instant as it is kept."""
    if isinstance(instant, Constant) and isinstance(instant.value, dt.datetime):
        try:
            return Constant(clock_at(instant.value, zone), TIMESTAMP)
        except (OverflowError, ValueError, KeyError):
            pass  # beyond the years of Python, or no zone of this machine
    if zone == UTC:
        return _as(instant, TIMESTAMP)
    return Call(CLOCK_OF, (instant, Constant(zone, STRING)), TIMESTAMP)


def instant_of(clock: Expression, zone: str, takes_last: bool) -> Expression:
    """The instant at which the clock of a zone shows a time."""
    if isinstance(clock, Constant) and isinstance(clock.value, dt.datetime):
        try:
            return Constant(instant_at(clock.value, zone, takes_last), INSTANT)
        except (OverflowError, ValueError, KeyError):
            pass  # beyond the years of Python, or no zone of this machine
    if zone == UTC:
        return _as(clock, INSTANT)
    return Call(LAST_INSTANT_OF if takes_last else INSTANT_OF, (clock, Constant(zone, STRING)), INSTANT)


def in_zone(time: Expression, type_: DataType) -> Expression:
    """A DATE, TIMESTAMP or instant as another of these, one of the two an instant, in the zone of the text."""
    here = zoning()
    if time.type == INSTANT:
        clock = clock_of(time, here.zone)
        return clock if type_ == TIMESTAMP else Call("cast", (clock,), DATE)
    if time.type == DATE:
        day = time.value if isinstance(time, Constant) else None
        midnight = Constant(dt.datetime.combine(day, dt.time()), TIMESTAMP) if isinstance(day, dt.date) else None
        time = midnight or Call("cast", (time,), TIMESTAMP)
    return instant_of(time, here.zone, here.takes_last)


def _as(time: Expression, type_: DataType) -> Expression:
    """A time of the clock of UTC as an instant, or back."""
    if isinstance(time, Call) and time.function == "cast" and time.arguments[0].type == type_:
        return time.arguments[0]
    return Call("cast", (time,), type_)
