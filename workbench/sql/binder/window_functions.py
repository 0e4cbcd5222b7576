"""Spark's ``window(time, size[, slide])`` and ``session_window(time, gap)`` in GROUP BY: rows of each stretch of time.

Windows begin at whole multiples of the slide since 1970. Where they do not overlap, the window of a row is a value of
it, its start. Where they do, a row belongs to several groups; ``windows.overlapping`` rewrites such a query. A session
ends where no row comes for a while, the gap; where it starts depends on the other rows of its group.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from workbench.sql.algebra import coercion
from workbench.sql.algebra.aggregates import expand
from workbench.sql.algebra.expressions import AggregateCall, Call, Constant, Expression
from workbench.sql.algebra.functions import call
from workbench.sql.algebra.types import INTEGER, TIMESTAMP
from workbench.sql.binder.protocols import ExpressionBinder
from workbench.sql.syntax.limits import MAX_WINDOWS
from workbench.sql.windows.overlapping import window_start
from workbench.sql.windows.stream_time import DURATION_UNITS, SESSION, duration_seconds, duration_text

MAX_SECONDS = 10_000 * 366 * 86_400
"""Seconds of the longest window: as long as there are dates."""
TIME_WINDOW, SESSION_WINDOW = "window", "session_window"


def is_window(node: exp.Expr) -> bool:
    """Whether a syntax node is ``window(...)`` or ``session_window(...)``."""
    return isinstance(node, exp.Anonymous) and node.name.lower() in (TIME_WINDOW, SESSION_WINDOW)


def bind_window(b: ExpressionBinder, node: exp.Anonymous) -> Expression:
    """The start of the window, windows or session of a row.

    Raises:
        SqlError: arguments are missing or wrong.
    """
    name, parts = node.name.lower(), node.expressions
    most, takes = (2, "a time and a gap") if name == SESSION_WINDOW else (3, "a time, a size and a slide")
    if not 2 <= len(parts) <= most:
        raise b.source.error(f"{name} takes {takes}, not {len(parts)} arguments", node)
    time = coercion.as_time(b.bind(parts[0]))
    if not time.type.temporal:
        raise b.source.error(f"{name} needs a date or a timestamp, not {time.type}", parts[0])
    time = coercion.coerce(time, TIMESTAMP)
    size, *rest = (_seconds(b, part) for part in parts[1:])
    if name == SESSION_WINDOW:
        return Call(SESSION, (time, Constant(size, INTEGER)), TIMESTAMP)
    slide = rest[0] if rest else size
    if slide > size:
        hint = "WindowIs in a for loop may hop over rows"
        raise b.source.error("the slide of a window is not longer than its size", parts[2], hint)
    if (windows := -(-size // slide)) > MAX_WINDOWS:
        slowest = duration_text(-(-size // MAX_WINDOWS))
        hint = f"let it slide by '{slowest}' or more, for at most {MAX_WINDOWS} windows"
        raise b.source.error(f"each row would be in {windows:,} windows", node, hint)
    return window_start(time, size, slide)


def _seconds(b: ExpressionBinder, node: exp.Expr) -> int:
    """A length of time, written as ``'1 hour 30 minutes'``."""
    seconds = duration_seconds(node.name) if isinstance(node, exp.Literal) and node.is_string else None
    if seconds is None:
        raise b.source.error("a length of time is needed", node, f"write '5 minutes', in {DURATION_UNITS}")
    if not seconds:
        raise b.source.error("a window of no length", node, "write '5 minutes'")
    if seconds > MAX_SECONDS:
        raise b.source.error("a window of more than ten thousand years", node, "write '5 minutes'")
    return seconds


def bind_part(b: ExpressionBinder, node: exp.Dot) -> Expression:
    """``window(...).start`` and ``.end``."""
    if is_window(node.this):
        part = part_of_window(b.bind(node.this), node.expression.name, b.keep)
        if part is not None:
            return part
    b.source.refuse("a part of a value, by a dot", node)


def part_of_window(start: Expression, name: str, keep: Callable[[AggregateCall], None] | None) -> Expression | None:
    """``start`` or ``end`` of a window; ``None`` when it has no such part.

    The end of a session is a gap after its last row. That row's time is a statistic, which ``keep`` takes.
    """
    match start, name.lower():
        case _, "start":
            return start
        case Call(function, (time, Constant() as gap)), "end" if function == SESSION:
            return None if keep is None else call("add_seconds", expand("max", (time,), False, keep), gap)
        case Call(_, (_, Constant() as size, *_)), "end":
            return call("add_seconds", start, size)
    return None
