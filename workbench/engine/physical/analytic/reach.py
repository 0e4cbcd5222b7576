"""How far around a row an analytic function looks, and what it follows from where that is all rows before.

The planner stores what running sums are of, and the operator reads no more rows than functions look at.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from workbench.engine.physical.join_keys import key_column
from workbench.engine.storage.indexes.order_index import DIGITS
from workbench.sql.algebra.analytic import DISTRIBUTIONS, NEIGHBOURS, RANK, RANKS, ROW_NUMBER, AnalyticCall, FrameEnd
from workbench.sql.algebra.expressions import Constant, Expression
from workbench.sql.algebra.types import DataType, Kind
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
    ends_here = frame is not None and frame.start is None and frame.end is not None and float(frame.end.by) == 0
    if (
        not ends_here
        or function.distinct
        or (frame is not None and frame.exclude)
        or function.function not in ("count", "sum")
    ):
        return False
    return summed_expression(function) is not None or not function.arguments


def summed_expression(function: AnalyticCall) -> Expression | None:
    """The expression whose sums or counts along the order its value follows from; sums only of exact whole numbers.

    The parent's rows have its values in the column ``key_column``. A user function is called for its own query only, so
    its values are not there.
    """
    match function.function, function.arguments:
        case "count", (argument,) if not calls_functions(argument):
            return argument
        case "sum", (argument,) if not calls_functions(argument) and _is_whole(argument.type):
            return argument
        case _:
            return None


def _is_whole(type_: DataType) -> bool:
    return type_.kind is Kind.INTEGER or (type_.kind is Kind.DECIMAL and type_.precision <= DIGITS)


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
    """The columns of the parent's rows by which ranges of them are found: those of sums, and one that is carried."""
    carried = carried_expression(functions)
    return sums_of(functions) if carried is None else {key_column(carried): carried}


def sums_of(functions: Collection[AnalyticCall]) -> dict[str, Expression]:
    """The columns whose sums are needed, where ranges are read and these start behind the first row."""
    if not in_range(functions):
        return {}
    found = (summed_expression(function) for function in functions if running(function) and function.arguments)
    return dict(sorted((key_column(argument), argument) for argument in found if argument is not None))


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
