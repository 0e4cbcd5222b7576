"""Monotonicity of window ends: whether an end moves forward, backward or both ways as event time passes.

Now never goes back. So rows that are behind an end that never goes back are out of the window for good, however late
others arrive, and the engine may forget them.
"""

from __future__ import annotations

from collections.abc import Mapping

from workbench.sql.algebra.expressions import Call, Constant, Expression
from workbench.sql.algebra.planning_cache import cached
from workbench.sql.algebra.types import Kind
from workbench.sql.functions.calls import NOW
from workbench.sql.predicates.cnf import PredSet
from workbench.sql.windows.bounds import LEAST, MOST, Interval, allowed, time_and_end
from workbench.sql.windows.evaluation import CONVERSIONS, value_at
from workbench.sql.windows.stream_time import INSTANT, VARIABLE, EventTimeVector, as_number

FORWARD, STILL, BACKWARD = 1, 0, -1


def intervals_from_now_on(window: PredSet, event_times: EventTimeVector) -> Mapping[Expression, Interval]:
    """For each time that a window reads, its interval in rows that are in the window now or ever after.

    With ``t > now() - 7`` and a now of 100 the interval of ``t`` is 94 and above.
    """
    intervals: dict[Expression, Interval] = {}
    for end in window:
        time, operator, bound = time_and_end(end)
        value, moves = as_number(value_at(bound, event_times)), monotonicity(bound)
        now = Interval() if value is None else allowed(operator, value)
        low = now.low if moves in (FORWARD, STILL) else LEAST
        high = now.high if moves in (BACKWARD, STILL) else MOST
        intervals[time] = intervals.get(time, Interval()).intersected(Interval(low, high))
    return intervals


@cached(4_096)
def monotonicity(end: Expression) -> int | None:
    """``FORWARD``, ``STILL`` or ``BACKWARD``; ``None`` when an end may move both ways, or it is not known."""
    match end:
        case Constant():
            return STILL
        case Call(function) if function == NOW:
            return FORWARD
        case Call(function, (_, _, change, _)) if function == INSTANT:
            return _step(change)
        case Call("neg", (part,)):
            return _reversed(monotonicity(part))
        case Call("+", (left, right)):
            return _sum(monotonicity(left), monotonicity(right))
        case Call("-", (left, right)):
            return _sum(monotonicity(left), _reversed(monotonicity(right)))
        case Call("*", (Constant(value=int() as factor), part)) | Call("*", (part, Constant(value=int() as factor))):
            return monotonicity(part) if factor > 0 else _reversed(monotonicity(part)) if factor < 0 else STILL
        case Call("cast" | "last_day", (part,)):
            return monotonicity(part)
        case Call(function, (part,)) if function in CONVERSIONS:
            return monotonicity(part)
        case Call("div", (part, Constant(value=int() as divisor))) if divisor > 0:
            return monotonicity(part)
        case Call("add_seconds" | "trunc_date" | "trunc_timestamp", (part, Constant())):
            return monotonicity(part)
        case Call("add_months", (part, Constant())) if end.type.kind is Kind.DATE:
            # Not of timestamps: a month after 30 January, 23:00, is later than one after 31 January, 1:00.
            return monotonicity(part)
    return None


def _step(change: Expression) -> int | None:
    """The monotonicity of a loop, by how its variable changes."""
    match change:
        case Call("+" | "-" | "add_seconds" | "add_months" as function, (Call(inner), Constant(value=int() as by))) if (
            inner == VARIABLE
        ):
            by = -by if function == "-" else by
            return FORWARD if by > 0 else BACKWARD if by < 0 else STILL
    return None


def _sum(left: int | None, right: int | None) -> int | None:
    if left is None or right is None or left * right < 0:
        return None
    return left or right


def _reversed(moves: int | None) -> int | None:
    return None if moves is None else -moves
