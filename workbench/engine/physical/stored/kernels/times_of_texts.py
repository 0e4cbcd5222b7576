"""Texts as timestamps, by the rules of Spark's CAST: ``2026-1-5``, ``2026-01-05 07:30``, ``…T07:30:00.5+01:00``.

A text has a date, of which the month and the day may be missing, maybe a time, whose minutes, seconds and fraction may
be, and behind seconds maybe a zone. A timestamp without a zone passes over it, an instant is moved by it. A time of day
alone would be one of today and is NULL.

Source: ``SparkDateTimeUtils.parseTimestampString``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

import pyarrow as pa
import pyarrow.compute as pc

from workbench.engine.physical.stored.kernels.kernel import Kernel
from workbench.engine.physical.stored.kernels.zones import instant_of_clock
from workbench.sql.algebra.expressions import Call
from workbench.sql.algebra.time_patterns import days_since_1970
from workbench.sql.algebra.types import Kind

PLAIN_TIMES = r"^[1-9][0-9]{3}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6})?$"
"""Texts that Arrow reads alike."""
BLANKS = "".join(map(chr, (*range(33), 127)))
"""Signs around a value that do not count."""
_TEXT = re.compile(
    r"([+-]?)([0-9]{4,6})(?:-([0-9]{1,2})(?:-([0-9]{1,2})(?:[ T]([0-9]{1,2})(?::([0-9]{1,2})"
    r"(?::([0-9]{1,2})(?:\.([0-9]*))?([^0-9.].*|(?<=[0-9])\..*)?)?)?)?)?)?",
    re.DOTALL | re.ASCII,
)
_OFFSET = re.compile(r"([+-])(?:(\d)|(\d\d)(?::?(\d\d)(?::?(\d\d))?)?|(\d):(\d\d?)|(\d\d):(\d))", re.ASCII)
_PREFIX = re.compile(r"(?:UTC|GMT|UT)(?=[+-])")
_MOST_OFFSET = 18 * 3_600
_SHORT = {
    "ACT": "Australia/Darwin", "AET": "Australia/Sydney", "AGT": "America/Argentina/Buenos_Aires",
    "ART": "Africa/Cairo", "AST": "America/Anchorage", "BET": "America/Sao_Paulo", "BST": "Asia/Dhaka",
    "CAT": "Africa/Harare", "CNT": "America/St_Johns", "CST": "America/Chicago", "CTT": "Asia/Shanghai",
    "EAT": "Africa/Addis_Ababa", "ECT": "Europe/Paris", "EST": "-05:00", "HST": "-10:00",
    "IET": "America/Indiana/Indianapolis", "IST": "Asia/Kolkata", "JST": "Asia/Tokyo", "MIT": "Pacific/Apia",
    "MST": "-07:00", "NET": "Asia/Yerevan", "NST": "Pacific/Auckland", "PLT": "Asia/Karachi", "PNT": "America/Phoenix",
    "PRT": "America/Puerto_Rico", "PST": "America/Los_Angeles", "SST": "Pacific/Guadalcanal",
    "VST": "Asia/Ho_Chi_Minh",
}  # fmt: skip
"""Java's short names of zones."""


def timestamp_of_text(text: str, moved: bool = False) -> int | None:
    """The microseconds since 1970 of a text; ``None`` where it is no timestamp.

    Args:
        text: what is read.
        moved: whether a time with a zone is the instant, in UTC.

    Example:
        >>> [timestamp_of_text(text) for text in ("1970-01-01 00:00:01.5", "1970-1", "10:30:00", "1970-02-30")]
        [1500000, 0, None, None]
        >>> timestamp_of_text("1970-01-01T01:00:00+01:00", moved=True)
        0
    """
    found = _TEXT.fullmatch(text.strip(BLANKS))
    if found is None:
        return None
    sign, year, *parts, fraction, zone = found.groups()
    month, day, hour, minute, second = (int(part or least) for part, least in zip(parts, (1, 1, 0, 0, 0), strict=True))
    days = days_since_1970(int(year) * (-1 if sign == "-" else 1), month, day)
    if days is None or hour > 23 or minute > 59 or second > 59:
        return None
    micros = (days * 86_400 + hour * 3_600 + minute * 60 + second) * 1_000_000
    instant = micros if zone is None else _instant(zone.strip(BLANKS), micros)
    if instant is None:
        return None
    found_at = (instant if moved else micros) + int((fraction or "")[:6].ljust(6, "0"))
    return found_at if -(1 << 63) <= found_at < 1 << 63 else None


@lru_cache(maxsize=4_096)
def _instant(zone: str, clock: int) -> int | None:
    """The instant at which the clock of a zone shows a time; ``None`` where there is no such zone."""
    zone = _SHORT.get(zone, zone)
    if zone in ("Z", "UTC", "GMT", "UT"):
        return clock
    if (known := _OFFSET.fullmatch(_PREFIX.sub("", zone))) is None:
        return instant_of_clock(clock, zone)
    sign, alone, hours, minutes, seconds, hour, of_hour, more, minute = known.groups()
    parts = [int(part or 0) for part in (alone or hours or hour or more, minutes or of_hour or minute, seconds)]
    ahead = parts[0] * 3_600 + parts[1] * 60 + parts[2]
    if max(parts[1:]) > 59 or ahead > _MOST_OFFSET:
        return None
    return clock - ahead * 1_000_000 * (-1 if sign == "-" else 1)


def _instants(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
    """Texts as instants; those with a plain date and time of day are read by Arrow."""
    (texts,) = arguments
    if pc.all(pc.match_substring_regex(texts, PLAIN_TIMES)).as_py():
        try:
            return texts.cast(pa.timestamp("us"))
        except pa.ArrowInvalid:  # 2005-02-30 00:00:00
            pass
    encoded = texts.dictionary_encode()
    values = [timestamp_of_text(text, moved=True) for text in encoded.dictionary.to_pylist()]
    return pa.array(values, pa.int64()).cast(pa.timestamp("us")).take(encoded.indices)


TIMES_OF_TEXTS = {"instant_of_text": Kernel(_instants, lambda call: call.arguments[0].type.kind is Kind.STRING)}
"""By the name of the function."""
