"""Windows in GROUP BY: rows of each range of time, by Spark's functions or Flink's.

Windows begin at whole multiples of the slide since 1970. Where they do not overlap, the window of a row is a value of
it, its start. Where they do, a row belongs to several groups; ``windows.overlapping`` rewrites such a query. A session
ends where no row comes for a while, the gap; where it starts depends on the other rows of its group::

    window(time, size[, slide])   session_window(time, gap)      Spark
    TUMBLE(time, size)   HOP(time, slide, size)   SESSION(time, gap)      Flink, with TUMBLE_START(…), TUMBLE_END(…), …
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from sqlglot import exp

from workbench.sql.algebra import coercion
from workbench.sql.algebra.expressions import AggregateCall, Call, Constant, Expression
from workbench.sql.algebra.hints import literal_hint
from workbench.sql.algebra.types import DATE, INTEGER
from workbench.sql.binder.methods import method_hint
from workbench.sql.binder.scope import Item, Scope
from workbench.sql.functions.aggregates import expand
from workbench.sql.functions.calls import SESSION_START, call
from workbench.sql.functions.declaration import as_moment
from workbench.sql.functions.reading import ExpressionBinder
from workbench.sql.query_limits import MAX_WINDOWS
from workbench.sql.syntax.table_functions import HOP, SESSION, TUMBLE, WINDOWS
from workbench.sql.windows import stream_time
from workbench.sql.windows.overlapping import window_start
from workbench.sql.windows.stream_time import DURATION_UNITS, duration_seconds, duration_text

MAX_SECONDS = 10_000 * 366 * 86_400
"""Seconds of the longest window: as long as there are dates."""
TIME_WINDOW, SESSION_WINDOW = "window", "session_window"
_TAKES = {
    TIME_WINDOW: (2, 3, "a time, a size and a slide"),
    TUMBLE: (2, 2, "a time and a size"),
    HOP: (3, 3, "a time, a slide and a size"),
    **dict.fromkeys((SESSION_WINDOW, SESSION), (2, 2, "a time and a gap")),
}
"""Functions of windows -> the least and the largest number of arguments, and what they are."""
_LENGTH = "INTERVAL '1' HOUR"
_STARTS = (stream_time.TUMBLING, stream_time.SLIDING, SESSION_START)
_PARTS = {f"{name}_{part}": (name, part) for name in WINDOWS for part in ("start", "end")}


def is_window_call(node: exp.Expr) -> bool:
    """Whether a syntax node is a call of a function of windows."""
    return isinstance(node, exp.Anonymous) and node.name.lower() in _TAKES


def is_part(node: exp.Expr) -> bool:
    """Whether a syntax node is ``TUMBLE_START(...)`` or one like it."""
    return isinstance(node, exp.Anonymous) and node.name.lower() in _PARTS


def bind_window(b: ExpressionBinder, node: exp.Anonymous) -> Expression:
    """The start of the window, windows or session of a row.

    Raises:
        SqlError: arguments are missing or wrong.
    """
    name, parts = node.name.lower(), node.expressions
    least, most, takes = _TAKES[name]
    if not least <= len(parts) <= most:
        hint = f"as in {name}({', '.join(['t', *[_LENGTH] * (least - 1)])})"
        raise b.source.error(f"{name} takes {takes}, not {len(parts)} arguments", node, hint)
    return start_of_window(b, name, b.bind(parts[0]), node, parts[1:])


def start_of_window(
    b: ExpressionBinder, name: str, time: Expression, node: exp.Expr, lengths: list[exp.Expr]
) -> Expression:
    """The start of the window, windows or session of a time.

    Args:
        b: for errors.
        name: of the function.
        time: of the row.
        node: the call.
        lengths: what else the function takes.

    Raises:
        SqlError: the argument is no time, or the lengths are wrong.
    """
    time = coercion.as_time(time)
    if not time.type.temporal:
        raise b.source.error(f"{name} needs a date or a timestamp, not {time.type}", node)
    time = as_moment(time)
    seconds = [_seconds(b, part) for part in lengths]
    if name in (SESSION_WINDOW, SESSION):
        return Call(SESSION_START, (time, Constant(seconds[0], INTEGER)), time.type)
    slide, size = seconds if name == HOP else (seconds[-1], seconds[0])
    if slide > size:
        hint = "WindowIs in a for loop may hop over rows"
        raise b.source.error(
            "the slide of a window is not longer than its size", lengths[0 if name == HOP else 1], hint
        )
    if (windows := -(-size // slide)) > MAX_WINDOWS:
        slowest = duration_text(-(-size // MAX_WINDOWS))
        hint = f"let it slide by '{slowest}' or more, for at most {MAX_WINDOWS} windows"
        raise b.source.error(f"each row would be in {windows:,} windows", node, hint)
    return window_start(time, size, slide)


def _seconds(b: ExpressionBinder, node: exp.Expr) -> int:
    """A length of time, written as ``'1 hour 30 minutes'`` or ``INTERVAL '5' MINUTE``."""
    text = node.name if isinstance(node, exp.Literal) and node.is_string else ""
    if isinstance(node, exp.Interval) and isinstance(node.this, exp.Literal):
        unit = node.args.get("unit")
        text = node.this.name if unit is None else f"{node.this.name} {unit.name}"
    seconds = duration_seconds(text)
    if seconds is None:
        raise b.source.error("a length of time is needed", node, f"write '5 minutes', in {DURATION_UNITS}")
    if not seconds:
        raise b.source.error("a window of no length", node, "write '5 minutes'")
    if seconds > MAX_SECONDS:
        raise b.source.error("a window of more than ten thousand years", node, "write '5 minutes'")
    return seconds


def bind_part_of_call(b: ExpressionBinder, node: exp.Anonymous) -> Expression:
    """``TUMBLE_START(time, size)`` and its like, which name the window that is a group once more."""
    name, wanted = _PARTS[node.name.lower()]
    window = exp.Anonymous(this=name, expressions=node.expressions)
    part = part_of_window(bind_window(b, window), wanted, b.keep)
    if part is None:
        b.source.refuse(f"{node.name}(...) outside of GROUP BY", node, f"group by {name.upper()}(...)")
    return part


def bind_part(b: ExpressionBinder, node: exp.Dot) -> Expression:
    """``window(...).start`` and ``.end``."""
    if is_window_call(node.this):
        part = part_of_window(b.bind(node.this), node.expression.name, b.keep)
        if part is not None:
            return part
        if node.expression.name.lower() not in ("start", "end"):
            raise b.source.error(f"a window has no {node.expression.name}", node, "it has start and end")
    if b.source.sql[b.source.of(node)["position"] or 0 :].partition(")")[0].endswith("(+"):
        b.source.refuse("(+)", node, "write t LEFT JOIN u ON t.k = u.k, which keeps the rows of t without a partner")
    hint = literal_hint(node.sql(), DATE) or "parts are those of a struct; before a parenthesis IN may be missing"
    if isinstance(node.expression, exp.Func):
        b.source.refuse(f"a method such as .{node.expression.name}()", node, method_hint(node, b.dialect))
    b.source.refuse("a part of a value, by a dot", node, hint)


def part_of_window(start: Expression, name: str, keep: Callable[[AggregateCall], None] | None) -> Expression | None:
    """``start`` or ``end`` of a window; ``None`` when it has no such part.

    The end of a session is a gap after its last row. That row's time is a statistic, which ``keep`` takes.
    """
    match start, name.lower():
        case _, "start":
            return start
        case Call(function, (time, Constant() as gap)), "end" if function == SESSION_START:
            return None if keep is None else call("add_seconds", expand("max", (time,), False, keep), gap)
        case Call(_, (_, Constant() as size, *_)), "end":
            return call("add_seconds", start, size)
    return None


def without_ends(groups: Iterable[Expression]) -> tuple[Expression, ...]:
    """Groups without the ends of windows whose starts are groups as well, from which they follow."""
    listed = tuple(groups)
    starts = {g for g in listed if isinstance(g, Call) and g.function in _STARTS}
    return tuple(
        g for g in listed if not (isinstance(g, Call) and g.function == "add_seconds" and g.arguments[0] in starts)
    )


def name_parts(start: Call, scope: Scope, keep: Callable[[AggregateCall], None]) -> None:
    """Name the start and the end of a window that is a group, as ``window.start``.

    FROM could not know the ends of sessions: names of them mean from here on what follows from the groups.
    """
    named = [(name, part_of_window(start, name, keep)) for name in ("start", "end")]
    parts = {name: part for name, part in named if part is not None}
    called = SESSION_WINDOW if start.function == SESSION_START else TIME_WINDOW
    if start.function == SESSION_START:
        meaning = {call("add_seconds", start, start.arguments[1]): parts["end"]}
        for item in scope.items:
            item.columns = {name: meaning.get(e, e) for name, e in item.columns.items()}
        scope.columns[:] = [(name, meaning.get(e, e)) for name, e in scope.columns]
    if not any(item.alias.lower() == called for item in scope.items):
        scope.items.append(Item(called, parts))
