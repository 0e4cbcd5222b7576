"""Lengths of time written as text: ``'1 hour 30 minutes'``."""

from __future__ import annotations

import re

_UNITS = {"week": 604_800, "day": 86_400, "hour": 3_600, "minute": 60, "second": 1}
_PART = re.compile(r"([0-9]{1,10})\s*([a-z]+?)s?(?:\s+|$)", re.I)

UNITS = "seconds, minutes, hours, days or weeks"
"""What a length may be written in."""


def seconds_in(text: str) -> int | None:
    """The seconds of a length of time; ``None`` when the text is none.

    Example:
        >>> seconds_in("1 hour 30 minutes"), seconds_in("soon")
        (5400, None)
    """
    text = text.strip()
    parts = list(_PART.finditer(text))
    if not parts or "".join(part[0] for part in parts) != text:
        return None
    if any(part[2].lower() not in _UNITS for part in parts):
        return None
    return sum(int(part[1]) * _UNITS[part[2].lower()] for part in parts)


def written(seconds: int) -> str:
    """A length of time as text.

    Example:
        >>> written(5_400), written(172_800), written(0)
        ('1 hour 30 minutes', '2 days', '0 seconds')
    """
    parts = []
    for unit, size in list(_UNITS.items())[1:]:
        count, seconds = divmod(seconds, size)
        if count:
            parts.append(f"{count:,} {unit}{'s' if count > 1 else ''}")
    return " ".join(parts) or "0 seconds"
