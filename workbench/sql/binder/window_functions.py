"""Spark's ``window(time, size[, slide])`` and ``session_window(time, gap)`` in GROUP BY: rows of each stretch of time.

Windows begin at whole multiples of the slide since 1970. Where they do not overlap, the window of a row is a value of
it, its start. Where they do, a row belongs to several groups; such a query is rewritten (``overlapping``). A session
ends where no row comes for a while, the gap; where it starts depends on the other rows of its group.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from sqlglot import exp

from workbench.sql.algebra import coercion
from workbench.sql.algebra.aggregates import expand
from workbench.sql.algebra.expressions import Call, Constant, Expression
from workbench.sql.algebra.functions import call
from workbench.sql.algebra.types import INTEGER, TIMESTAMP, Kind
from workbench.sql.syntax.extent import MOST_WINDOWS
from workbench.sql.windows.stream_time import (
    DURATION_UNITS,
    SESSION,
    SLIDING,
    TUMBLING,
    duration_seconds,
    duration_text,
)

if TYPE_CHECKING:
    from workbench.sql.binder.aggregation import Aggregation
    from workbench.sql.binder.scalar import ScalarBinder

WINDOW = "wind_w"
"""What ``window`` is called on its way through the parser, for which it is the key word of another clause."""


LONGEST = 10_000 * 366 * 86_400
"""Seconds of the longest window: as long as there are dates."""

SESSIONS = "session_window"
"""The function that groups by sessions."""


def is_window(node: exp.Expr) -> bool:
    """Whether a syntax node is ``window(…)`` or ``session_window(…)``."""
    return isinstance(node, exp.Anonymous) and node.name.lower() in (WINDOW, SESSIONS)


def bind_window(b: ScalarBinder, node: exp.Anonymous) -> Expression:
    """The start of the window, windows or session of a row.

    Raises:
        SqlError: arguments are missing or wrong.
    """
    parts, sessions = node.expressions, node.name.lower() == SESSIONS
    name, most, takes = (SESSIONS, 2, "a time and a gap") if sessions else ("window", 3, "a time, a size and a slide")
    if not 2 <= len(parts) <= most:
        raise b.source.error(f"{name} takes {takes}, not {len(parts)} arguments", node)
    time = coercion.moment(b.bind(parts[0]))
    if time.type.kind not in (Kind.DATE, Kind.TIMESTAMP):
        raise b.source.error(f"{name} needs a date or a timestamp, not {time.type}", parts[0])
    size, *rest = (_seconds(b, part) for part in parts[1:])
    if sessions:
        return Call(SESSION, (coercion.coerce(time, TIMESTAMP), Constant(size, INTEGER)), TIMESTAMP)
    slide = rest[0] if rest else size
    if slide > size:
        hint = "WindowIs in a for loop may hop over rows"
        raise b.source.error("the slide of a window is not longer than its size", parts[2], hint)
    if (windows := -(-size // slide)) > MOST_WINDOWS:
        hint = (
            f"let it slide by '{duration_text(-(-size // MOST_WINDOWS))}' or more, for at most {MOST_WINDOWS} windows"
        )
        raise b.source.error(f"each row would be in {windows:,} windows", node, hint)
    return window_start(coercion.coerce(time, TIMESTAMP), size, slide)


def window_start(time: Expression, size: int, slide: int) -> Call:
    """The start of the windows of a time, in seconds."""
    if size == slide:
        return Call(TUMBLING, (time, Constant(size, INTEGER)), TIMESTAMP)
    return Call(SLIDING, (time, Constant(size, INTEGER), Constant(slide, INTEGER)), TIMESTAMP)


def part_of_window(start: Expression, name: str, aggregation: Aggregation | None) -> Expression | None:
    """``start`` or ``end`` of a window; that of a session is a gap after its last row, which is a statistic of it."""
    match start, name.lower():
        case _, "start":
            return start
        case Call(function, (time, Constant() as gap)), "end" if function == SESSION:
            if aggregation is None:
                return None
            return call("add_seconds", expand("max", (time,), False, aggregation.keep), gap)
        case Call(_, (_, Constant() as size, *_)), "end":
            return call("add_seconds", start, size)
    return None


def slice_of(group: Expression) -> Expression:
    """The slice of time that windows which overlap are made of; other groups are as they are.

    Example:
        >>> from workbench.sql.algebra.expressions import Column, text
        >>> text(slice_of(window_start(Column("ts", TIMESTAMP), 3_600, 900)))
        'window_start(ts, 900)'
    """
    match group:
        case Call(function, (time, Constant(int() as size), Constant(int() as slide))) if function == SLIDING:
            return window_start(time, common := math.gcd(size, slide), common)
    return group


def _seconds(b: ScalarBinder, node: exp.Expr) -> int:
    """A length of time, written as ``'1 hour 30 minutes'``."""
    seconds = duration_seconds(node.name) if isinstance(node, exp.Literal) and node.is_string else None
    if seconds is None:
        raise b.source.error("a length of time is needed", node, f"write '5 minutes', in {DURATION_UNITS}")
    if not seconds:
        raise b.source.error("a window of no length", node, "write '5 minutes'")
    if seconds > LONGEST:
        raise b.source.error("a window of more than ten thousand years", node, "write '5 minutes'")
    return seconds
