"""Small pieces of text: numbers with what they count, lists of names, one line of a label, preformatted HTML."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from html import escape

_FONT = "white-space:pre-wrap; font-family:var(--jp-code-font-family, monospace)"


def counted(number: int, what: str, plural: str | None = None) -> str:
    """A number and its noun.

    Args:
        number: how many.
        what: the noun in the singular.
        plural: its plural, where that is not ``what`` with an s.

    Example:
        >>> counted(1, "row"), counted(2000, "row"), counted(0, "query", "queries")
        ('1 row', '2,000 rows', '0 queries')
    """
    return f"{number:,} {what if number == 1 else plural or what + 's'}"


def milliseconds(seconds: float) -> str:
    """A duration to read at a glance; what took some time is never shown as none.

    Example:
        >>> milliseconds(1.25), milliseconds(0.0123), milliseconds(0.00034), milliseconds(1e-9), milliseconds(0)
        ('1,250 ms', '12 ms', '0.3 ms', '0.001 ms', '0 ms')
    """
    if 0 < seconds < 0.001:
        return f"{max(seconds * 1000, 0.001):.1g} ms"
    return f"{seconds * 1000:,.0f} ms"


def clock_text(clock: dt.datetime | int | None) -> str:
    """An event time to read at a glance, without the time of day at midnight; a plain number is shown as it is.

    An instant has its offset, as it has in tables.

    Example:
        >>> clock_text(dt.datetime(2002, 11, 20)), clock_text(dt.datetime(2002, 11, 20, 9, 30)), clock_text(118)
        ('2002-11-20', '2002-11-20 09:30', '118')
        >>> clock_text(dt.datetime(2026, 3, 30, tzinfo=dt.UTC))
        '2026-03-30 00:00+00:00'
    """
    if isinstance(clock, dt.datetime):
        return clock.isoformat(" ", "minutes").removesuffix(" 00:00")
    return "" if clock is None else str(clock)


def listed(names: Sequence[str], most: int = 5) -> str:
    """Names, separated by commas; after ``most`` of them only the number of the others.

    Example:
        >>> listed(["a", "b", "c", "d", "e", "f", "g"])
        'a, b, c, d, e and 2 more'
    """
    others = len(names) - most
    return ", ".join(names[:most]) + (f" and {others} more" if others > 0 else "")


def short(text: str, limit: int = 36) -> str:
    """The text on one line, cut with an ellipsis after ``limit`` characters.

    Example:
        >>> short("a very long predicate", 9)
        'a very l…'
    """
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def monospace(text: str) -> str:
    """Text as HTML in the font of code that keeps spaces and line ends; a bare ``<pre>`` has the font of the page.

    Example:
        >>> monospace("a < b").endswith('monospace)">a &lt; b</div>')
        True
    """
    return f'<div style="{_FONT}">{escape(text)}</div>'
