"""Windows: the part of a condition that compares times with ``now``, in one form for all ways of writing it.

A window is a PredSet each of whose ORPreds is one comparison: a *time* of the row on the left, an *end* on the right,
which is ``now`` or computed from it. As time passes, rows enter and leave a window, and no other condition. So the
binder takes it out of WHERE and HAVING, and it becomes a node of its own (``Window``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from workbench.sql.algebra.exact_arithmetic import days
from workbench.sql.algebra.expressions import Call, Column, Constant, Expression, columns
from workbench.sql.algebra.types import DATE, INTEGER, DataType, Kind
from workbench.sql.functions.calls import NOW
from workbench.sql.predicates.cnf import FLIPPED, Literal, Operator, ORPred, PredSet, or_pred, pred_set
from workbench.sql.predicates.linear import LinearForm, linear, linear_expression
from workbench.sql.windows.evaluation import computable, value_at
from workbench.sql.windows.stream_time import EventTimeVector, as_number, is_time, reads_now

LEAST, MOST = -(2**63), 2**63 - 1
"""The ends of a window that has none."""


class NoWindow(Exception):
    """A condition on now from which it does not follow when a row enters and when it leaves; says why, with a hint."""

    def __init__(self, what: str, hint: str) -> None:
        super().__init__(what)
        self.what, self.hint = what, hint


@dataclass(frozen=True)
class Interval:
    """Times from ``low`` to ``high``, both included, as whole numbers (``as_number``); none where ``low > high``."""

    low: int = LEAST
    high: int = MOST

    def intersected(self, other: Interval) -> Interval:
        """The times in both."""
        return Interval(max(self.low, other.low), min(self.high, other.high))

    def hull(self, other: Interval) -> Interval:
        """The times from the least to the greatest of both."""
        return Interval(min(self.low, other.low), max(self.high, other.high))

    @property
    def empty(self) -> bool:
        """Whether there is no time in it."""
        return self.low > self.high

    def changes_to(self, after: Interval) -> Iterator[Interval]:
        """The times that are in one of two intervals and not in the other.

        Example:
            >>> list(Interval(0, 5).changes_to(Interval(2, 7)))
            [Interval(low=0, high=1), Interval(low=6, high=7)]
        """
        if self.empty or after.empty or self.high < after.low or after.high < self.low:
            parts = [self, after]
        else:
            parts = [
                Interval(min(self.low, after.low), max(self.low, after.low) - 1),
                Interval(min(self.high, after.high) + 1, max(self.high, after.high)),
            ]
        yield from (part for part in parts if not part.empty)


NEVER = Interval(1, 0)


def split_bounds(predicates: PredSet) -> tuple[PredSet, PredSet]:
    """Split predicates into those that do not depend on the time, and those of the window.

    Raises:
        NoWindow: something reads now in a way that is no end of a window.
    """
    plain, window = [], []
    for p in predicates:
        if any(reads_now(side) for literal in p.literals for side in literal.expressions):
            window.append(_end(p))
        else:
            plain.append(p)
    return pred_set(plain), pred_set(window)


def time_and_end(end: ORPred) -> tuple[Expression, Operator, Expression]:
    """The time of a row, how it compares, and what with, of an ORPred of a window."""
    (literal,) = end.literals
    assert literal.right is not None
    if reads_now(literal.left):
        return literal.right, FLIPPED[literal.operator], literal.left
    return literal.left, literal.operator, literal.right


def window_times(window: PredSet) -> Iterator[Expression]:
    """The times that a window reads of a row, each once."""
    yield from dict.fromkeys(time_and_end(end)[0] for end in window)


def intervals(window: PredSet, event_times: EventTimeVector) -> Mapping[Expression, Interval]:
    """For each time that a window reads, its interval in rows of the window; ``NEVER`` while there is no now."""
    intervals: dict[Expression, Interval] = {}
    for end in window:
        time, operator, bound = time_and_end(end)
        value = as_number(value_at(bound, event_times))
        interval = NEVER if value is None else allowed(operator, value)
        intervals[time] = intervals.get(time, Interval()).intersected(interval)
    return intervals


def without_trivial_bounds(window: PredSet, owners: Mapping[Expression, frozenset[str]], plain: PredSet) -> PredSet:
    """A window without an end that says only that an event is not later than the latest event.

    It is true of every row today. Who asks for a past instant gets the rows up to it, without this end.

    Args:
        window: of a SELECT.
        owners: the event times of its streams, each with the name of the stream in a set.
        plain: what else it tests.
    """
    tested = {p.literals[0].left for p in plain if len(p.literals) == 1 and p.literals[0].right is not None}
    ends = {end: time_and_end(end) for end in window}
    return pred_set(
        end
        for end, (time, operator, bound) in ends.items()
        if not (
            operator is Operator.LE
            and _is_latest(bound, owners.get(time, frozenset()))
            and (time in tested or any(other != end and t == time for other, (t, _, _) in ends.items()))
        )
    )


def _is_latest(bound: Expression, streams: frozenset[str]) -> bool:
    if not isinstance(bound, Call) or bound.function != NOW:
        return False
    return bool(streams) and streams <= {a.value for a in bound.arguments if isinstance(a, Constant)}


def allowed(operator: Operator, end: int) -> Interval:
    """The times that compare so with an end of a window."""
    match operator:
        case Operator.LT:
            return Interval(high=end - 1)
        case Operator.LE:
            return Interval(high=min(end, MOST))
        case Operator.GT:
            return Interval(low=end + 1)
        case Operator.GE:
            return Interval(low=max(end, LEAST))
        case _:
            return Interval(end, end)


def _end(predicate: ORPred) -> ORPred:
    if len(predicate.literals) > 1:
        raise NoWindow("now inside OR", "put the parts together with UNION ALL")
    (literal,) = predicate.literals
    if literal.right is None or literal.operator is Operator.NE:
        raise NoWindow("this condition on now", "compare a time with it: t > now() - INTERVAL '5' DAY")
    solved = _solved(literal) or _separated(literal)
    if solved is None:
        raise NoWindow("this comparison with now", "write the time of the row on one side and now on the other")
    time, operator, end = solved
    if not is_time(time.type) or time.type.kind is not end.type.kind:
        raise NoWindow(f"a comparison of {time.type} with now", "compare a date, a timestamp or an integer with it")
    if not computable(end):
        raise NoWindow("this function of now", "add to now, subtract from it, or truncate it")
    return or_pred([Literal(time, operator, end)])


def _separated(literal: Literal) -> tuple[Expression, Operator, Expression] | None:
    """A comparison that has now on one side and a row's time on the other."""
    assert literal.right is not None
    time, operator, end = literal.left, literal.operator, literal.right
    if reads_now(time):
        time, operator, end = end, FLIPPED[operator], time
    if reads_now(time) or columns(end) or not columns(time):
        return None
    while isinstance(time, Call) and time.function == "add_seconds" and isinstance(time.arguments[1], Constant):
        seconds = time.arguments[1].value
        assert isinstance(seconds, int)
        time, end = time.arguments[0], _later(end, -seconds)
    return time, operator, end


def _later(time: Expression, seconds: int) -> Expression:
    """A timestamp some seconds later, seconds added up."""
    if isinstance(time, Call) and time.function == "add_seconds" and isinstance(time.arguments[1], Constant):
        assert isinstance(time.arguments[1].value, int)
        return _later(time.arguments[0], seconds + time.arguments[1].value)
    return Call("add_seconds", (time, Constant(seconds, INTEGER)), time.type) if seconds else time


def _solved(literal: Literal) -> tuple[Expression, Operator, Expression] | None:
    """A comparison of exact types solved for the row's time: ``now() - d < 5`` is ``d > now() - 5``."""
    assert literal.right is not None
    if not (literal.left.type.exact and literal.right.type.exact):
        return None
    form = linear(literal.left).plus(linear(literal.right).times(Fraction(-1)))
    ours = [(e, k) for e, k in form.terms if not reads_now(e)]
    nows = [(e, k) for e, k in form.terms if reads_now(e)]
    if len(nows) != 1 or abs(nows[0][1]) != 1 or form.cancelled or not ours:
        return None
    sign = -nows[0][1]
    time = linear_expression(LinearForm(tuple((e, k * sign) for e, k in ours), Fraction(0)))
    if time is None or form.constant.denominator != 1:
        return None
    operator = literal.operator if sign > 0 else FLIPPED[literal.operator]
    end = nows[0][0]
    if (time.type == DATE) != (end.type == DATE):
        time, end = days(time), days(end)
    return _unwidened(time, Column), operator, _shifted(_unwidened(end, Call), -int(form.constant * sign))


def _unwidened(expression: Expression, of: type[Column] | type[Call]) -> Expression:
    """An INTEGER column, or now, that was widened to a DECIMAL for arithmetic, as it was."""
    match expression:
        case Call("cast", (inner,), DataType(Kind.DECIMAL)) if (
            isinstance(inner, of) and inner.type.kind is Kind.INTEGER
        ):
            return inner
    return expression


def _shifted(end: Expression, by: int) -> Expression:
    return end if not by else Call("+" if by > 0 else "-", (end, Constant(abs(by), INTEGER)), end.type)
