"""How far around a row an analytic function looks, and what it follows from where that is all rows before.

The planner stores what running sums are of, and the operator reads no more rows than functions look at.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from workbench.engine.physical.join_keys import key_column
from workbench.engine.storage.indexes.prefix_index import Along, BestAlong, SumAlong
from workbench.sql.algebra.analytic import DISTRIBUTIONS, NEIGHBOURS, RANK, RANKS, ROW_NUMBER, AnalyticCall, FrameEnd
from workbench.sql.algebra.expressions import AggregateCall, Constant, Expression
from workbench.sql.algebra.types import Kind
from workbench.sql.functions.aggregate_rules import RULES, Powers, rule_of
from workbench.sql.functions.calls import calls_functions


@dataclass(frozen=True)
class Reach:
    """How far around a row its value looks, in rows; ``None``: to the end of the partition.

    Attributes:
        back, ahead: rows whose change may change the value.
        counts_only: whether the value is a number that rows come with, so that no neighbour is needed to compute it.
        peers: whether its peers count as well.
    """

    back: int | None
    ahead: int | None
    counts_only: bool = False
    peers: bool = False


def reach(function: AnalyticCall) -> Reach:
    """How far around a row a function looks."""
    if function.function in RANKS:
        return Reach(None, 0, counts_only=True)
    if function.function in DISTRIBUTIONS:
        return Reach(None, None, counts_only=True)
    if function.function in NEIGHBOURS:
        by = function.arguments[1]
        if not isinstance(by, Constant) or not isinstance(by.value, int):
            return Reach(None, None)
        offset = by.value
        back, ahead = (offset, 0) if function.function == "lag" else (0, offset)
        back, ahead = max(back, -ahead, 0), max(ahead, -back, 0)
        if function.ignore_nulls:
            return Reach(None if back else 0, None if ahead else 0)
        return Reach(back, ahead)
    frame = function.frame
    if (own := _own_place(function)) is not None:
        return Reach(max(0, -own), max(0, own), peers=frame is not None and frame.unit != "rows")
    if frame is None:  # of a match too: where one begins depends on all before it
        return Reach(None, None)
    if frame.unit == "rows":
        return Reach(_rows(frame.start, -1), _rows(frame.end, 1))
    ends_here = frame.end is not None and float(frame.end.by) == 0
    return Reach(None, 0 if ends_here else None, peers=True)


def running(function: AnalyticCall) -> bool:
    """Whether its value follows from how many rows stand before, or from a sum over them, and from the rows since."""
    if function.function in (ROW_NUMBER, RANK):
        return True
    frame = function.frame
    if frame is None or frame.start is not None or frame.end is None or frame.exclude or function.distinct:
        return False
    return (frame.unit == "rows" or float(frame.end.by) == 0) and known_along(function) is not None


def rows_behind_end(function: AnalyticCall) -> int:
    """How many rows before those that a batch touches are behind the end of a frame, so that they have to be read."""
    frame = function.frame
    return max(0, -int(frame.end.by) - 1) if frame is not None and frame.end is not None and frame.unit == "rows" else 0


def known_along(function: AnalyticCall) -> tuple[Along, ...] | None:
    """What is kept along the order, so that the value follows from it and from the rows read; ``None``: it does not.

    Example:
        >>> from workbench.sql.algebra.analytic import Over
        >>> from workbench.sql.algebra.expressions import Column
        >>> from workbench.sql.algebra.types import DOUBLE
        >>> known_along(AnalyticCall("sum", (Column("x", DOUBLE),), DOUBLE, Over((), ())))
        (SumAlong(columns=('x',), powers=(1,)),)
    """
    name, arguments = function.function, function.arguments
    # A user function is called for its own query only, so its values are not stored.
    if any(map(calls_functions, arguments)) or function.ignore_nulls:
        return None
    columns = tuple(map(key_column, arguments))
    if name == "count":
        return (SumAlong(columns),) if arguments else ()
    if name in ("min", "max"):
        return (BestAlong(columns[0], name == "max"),)
    if products := exact_products_of(function):
        of_double = all(argument.type.kind is Kind.DOUBLE for argument in arguments)
        return tuple(SumAlong(columns, powers) for powers in products) if of_double else None
    return (SumAlong(columns),) if name == "sum" else None


def exact_products_of(function: AnalyticCall) -> tuple[Powers, ...]:
    """The sums of products that a statistic of DOUBLE is made of."""
    known = function.function in RULES
    return rule_of(AggregateCall(function.function, function.arguments, function.type)).products if known else ()


def all_along(functions: Iterable[AnalyticCall]) -> tuple[Along, ...]:
    """What is kept along the order for some functions, each once."""
    return tuple(dict.fromkeys(along for f in functions if running(f) for along in known_along(f) or ()))


def _own_place(function: AnalyticCall) -> int | None:
    """How many rows behind a row, or its peers, the one stands whose value it shows: at the only end of its frame."""
    frame = function.frame
    if frame is None or frame.exclude or function.ignore_nulls:
        return None
    match function.function, frame.start, frame.end:
        case ("last_value", None, FrameEnd() as end) | ("first_value", FrameEnd() as end, None):
            return int(float(end.by)) if frame.unit == "rows" or not float(end.by) else None
    return None


def in_range(functions: Collection[AnalyticCall]) -> bool:
    """Whether a range of a partition is enough to compute some functions."""
    reaches = [(running(function), reach(function)) for function in functions]
    return all(r.ahead is not None and (r.back is not None or runs) for runs, r in reaches)


def carried_expression(functions: Collection[AnalyticCall]) -> Expression | None:
    """The expression of which all of some functions show the nearest value that is not NULL, before a row or behind it.

    So a change touches no more than the rows up to the next that is not NULL. ``None``: they are others too.
    """
    arguments = {function.arguments[:1] if _carries(function) else () for function in functions}
    carried = arguments.pop() if len(arguments) == 1 else ()
    return carried[0] if carried and not calls_functions(carried[0]) else None


def _carries(function: AnalyticCall) -> bool:
    frame, by = function.frame, function.arguments[1:2]
    if not function.ignore_nulls:
        return False
    if function.function in NEIGHBOURS:
        return bool(by) and isinstance(by[0], Constant) and by[0].value == 1
    if frame is None or frame.exclude:
        return False
    start, end = (end is not None and float(end.by) == 0 for end in (frame.start, frame.end))
    ends = {"last_value": (frame.start is None, end), "first_value": (start, frame.end is None)}
    return all(ends.get(function.function, (False,)))


def stored_along(functions: Collection[AnalyticCall]) -> dict[str, Expression]:
    """The columns of the parent's rows of which something is known along the order, or one that is carried."""
    carried = carried_expression(functions)
    if carried is not None:
        return {key_column(carried): carried}
    if not in_range(functions):
        return {}
    found = (argument for function in functions if running(function) for argument in function.arguments)
    return dict(sorted({key_column(argument): argument for argument in found}.items()))


def of_all(reaches: list[Reach]) -> Reach:
    """How far around a row any of some functions looks."""
    backs, aheads = [r.back for r in reaches], [r.ahead for r in reaches]
    return Reach(
        None if None in backs else max((b for b in backs if b is not None), default=0),
        None if None in aheads else max((a for a in aheads if a is not None), default=0),
        all(r.counts_only for r in reaches),
        any(r.peers for r in reaches),
    )


def _rows(end: FrameEnd | None, sign: int) -> int | None:
    return None if end is None else max(0, sign * int(end.by))
