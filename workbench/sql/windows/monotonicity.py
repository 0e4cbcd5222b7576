"""Which way the ends of a window move as time passes, and so between which times its rows are from now on.

Now never goes back. An end that never goes back either leaves rows behind for good, whatever else arrives and however
late: their own times are behind it. So they can be forgotten.
"""

from __future__ import annotations

from collections.abc import Mapping

from workbench.sql.algebra.expressions import Call, Constant, Expression
from workbench.sql.algebra.planning_cache import cached
from workbench.sql.algebra.types import Kind
from workbench.sql.predicates.cnf import PredSet
from workbench.sql.windows.bounds import LEAST, MOST, Interval, allowed, time_and_end
from workbench.sql.windows.evaluation import value_at
from workbench.sql.windows.stream_time import INSTANT, NOW, VARIABLE, EventTimeVector, as_number

FORWARD, STILL, BACKWARD = 1, 0, -1


def intervals_from_now_on(window: PredSet, moment: EventTimeVector) -> Mapping[Expression, Interval]:
    """Between which values each of a window's times is for a row that is in it at a moment or ever after.

    Example:
        >>> from workbench.sql.algebra.expressions import Column
        >>> from workbench.sql.windows.stream_time import now_of
        >>> from workbench.sql.predicates.cnf import Literal, Operator, or_pred, pred_set
        >>> from workbench.sql.algebra.types import INTEGER
        >>> week_ago = Call("-", (now_of(["f"], INTEGER), Constant(7, INTEGER)), INTEGER)
        >>> window = pred_set([or_pred([Literal(Column("t", INTEGER), Operator.GT, week_ago)])])
        >>> next(iter(intervals_from_now_on(window, {"f": 100}).values())).low
        94
    """
    found: dict[Expression, Interval] = {}
    for end in window:
        time, operator, bound = time_and_end(end)
        way, value = monotonicity(bound), as_number(value_at(bound, moment))
        now = Interval() if value is None else allowed(operator, value)
        low = now.low if way in (FORWARD, STILL) else LEAST
        high = now.high if way in (BACKWARD, STILL) else MOST
        found[time] = found.get(time, Interval()).intersected(Interval(low, high))
    return found


@cached(4_096)
def monotonicity(end: Expression) -> int | None:
    """Which way an end moves as time passes; ``None`` when it may move both ways, or it is not known."""
    match end:
        case Constant():
            return STILL
        case Call(function) if function == NOW:
            return FORWARD
        case Call(function, (_, _, change, _)) if function == INSTANT:
            return _step(change)
        case Call("neg", (part,)):
            return _turned(monotonicity(part))
        case Call("+", (left, right)):
            return _both(monotonicity(left), monotonicity(right))
        case Call("-", (left, right)):
            return _both(monotonicity(left), _turned(monotonicity(right)))
        case Call("*", (Constant(value=int() as factor), part)) | Call("*", (part, Constant(value=int() as factor))):
            return monotonicity(part) if factor > 0 else _turned(monotonicity(part)) if factor < 0 else STILL
        case Call("cast" | "last_day", (part,)):
            return monotonicity(part)
        case Call("add_seconds" | "trunc_date" | "trunc_timestamp", (part, Constant())):
            return monotonicity(part)
        case Call("add_months", (part, Constant())) if end.type.kind is Kind.DATE:
            # Not of timestamps: a month after 30 January, 23:00, is later than one after 31 January, 1:00.
            return monotonicity(part)
    return None


def _step(change: Expression) -> int | None:
    """Which way a loop goes, by how its variable changes."""
    match change:
        case Call("+" | "-" | "add_seconds" | "add_months" as function, (Call(inner), Constant(value=int() as by))) if (
            inner == VARIABLE
        ):
            by = -by if function == "-" else by
            return FORWARD if by > 0 else BACKWARD if by < 0 else STILL
    return None


def _both(one: int | None, other: int | None) -> int | None:
    if one is None or other is None or one * other < 0:
        return None
    return one or other


def _turned(way: int | None) -> int | None:
    return None if way is None else -way
