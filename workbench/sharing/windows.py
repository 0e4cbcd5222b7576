"""The places of windows in the network, and aggregates over windows from slices.

A window on the rows of a root is a node. Windows are applied after joins, so that queries that differ in them share
their joins. An aggregate groups the rows of its window, or the slices that the window is made of: groups of one time
each, whose statistics are put together (T7.1.1).

A window of days is a number of whole days. So what is kept for each day and group gives the groups of every such
window: queries that differ only in their windows share it, and a day that leaves takes one row with it and not all of
its events. MIN and MAX are computed anew from the slices, and not from the rows of the window.

A window of timestamps is a number of whole slices where its ends always are multiples of a length of time, the earlier
one included and the later one not: ``ts >= DATE_TRUNC('MINUTE', now()) - INTERVAL '30' MINUTE``. Other ends cut a slice
in two. Its rows would enter and leave the rest one by one, as they do a window without slices: nothing would be gained.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Iterable, Mapping

from workbench.network.nodes import Aggregate, Read, Source, Window
from workbench.network.roll_up import over_groups
from workbench.optimizer.cardinality import is_key
from workbench.sharing.draft import Draft
from workbench.sql.algebra.expressions import AggregateCall, Call, Column, Constant, Expression
from workbench.sql.algebra.types import Kind
from workbench.sql.functions.aggregate_rules import why_not_from_parts
from workbench.sql.logical import Block
from workbench.sql.predicates.cnf import TRUE, Literal, Operator, PredSet, or_pred, pred_set, predicate_sources
from workbench.sql.windows.bounds import time_and_end, window_times
from workbench.sql.windows.overlapping import window_start
from workbench.sql.windows.stream_time import ROW, as_number, is_session

ROWS_A_SLICE = 4.0
"""Rows that a slice of a group must have at least for slices to pay, where times are numbers."""

_DAY = 86_400
_UNITS = {"SECOND": 1, "MINUTE": 60, "HOUR": 3_600}
_SECOND = 1_000_000


def windowed(draft: Draft, read: Read, window: PredSet) -> Read:
    """The read of a window over a read, as a node; without a window the read itself.

    A window on a source takes all of its rows: queries that test different things share it, with the tests below.
    """
    if not window:
        return read
    below = read.required if isinstance(draft.nodes[read.root], Source) else TRUE
    on = Read(read.root) if below else read
    node = Window(on, window, on.root)
    draft.mark_dirty(node.id, on.root)
    return Read(draft.find_or_put(node).id, below)


def windows_around_joins(block: Block, where: PredSet) -> tuple[PredSet, PredSet]:
    """The part of a block's window that is applied before inputs are joined, and the rest.

    Where no equality finds an input's pairs, each of its rows meets all others there ever were, unless the windows come
    first (PSoup 5.2.2).
    """
    matched = frozenset[int]().union(*(predicate_sources(p) for p in where if is_key(p)))
    alone = [frozenset([i]) for i in range(len(block.inputs)) if len(block.inputs) > 1 and i not in matched]
    below = [p for p in block.window if predicate_sources(p) in alone]
    return pred_set(below), pred_set(p for p in block.window if p not in below)


def slices_of(
    draft: Draft,
    read: Read,
    groups: Iterable[Expression],
    statistics: Iterable[AggregateCall],
    window: PredSet,
) -> Mapping[Expression, Expression] | None:
    """The slices of each time of a window, over which its groups are computed: the time itself, or the range it is in.

    ``None`` where groups are better computed from the rows in the window.
    """
    groups = list(groups)
    if not window or not draft.options.vertical_expansion or any(map(why_not_from_parts, statistics)):
        return None
    if any(map(is_session, groups)):  # a session may go on in the next slice
        return None
    sliced = {time: _slice(time, window) for time in window_times(window)}
    slices = {time: slice_ for time, slice_ in sliced.items() if slice_ is not None}
    if len(slices) < len(sliced):
        return None
    numbers = [time for time in slices if time.type.kind is Kind.INTEGER]
    return slices if not numbers or _are_few(draft, read, [*groups, *slices.values()]) else None


def of_slices(window: PredSet, slices: Aggregate, by: Mapping[Expression, Expression]) -> PredSet:
    """A window over rows as one over their slices, which have its times as groups."""
    ends = map(time_and_end, window)
    return pred_set(or_pred([Literal(over_groups(by[t], slices.groups), operator, end)]) for t, operator, end in ends)


def _slice(time: Expression, window: PredSet) -> Expression | None:
    """The expression of the slice of a time, if a window consists of whole slices."""
    match time.type.kind:
        case Kind.DATE:
            return time
        case Kind.INTEGER if isinstance(time, Column) and not time.name.startswith(ROW.name):
            return time
        case Kind.TIMESTAMP:
            ends = [(operator, multiple_of(end)) for t, operator, end in map(time_and_end, window) if t == time]
            if all(length and operator in (Operator.GE, Operator.LT) for operator, length in ends):
                length = math.gcd(*(length for _, length in ends))
                return window_start(time, length, length)
    return None


def multiple_of(end: Expression) -> int:
    """A number of seconds of which an end of a window is always a multiple, counted from 1970; 0 where there is none.

    Example:
        >>> from workbench.sql.windows.stream_time import now_of
        >>> from workbench.sql.algebra.types import INTEGER, STRING, TIMESTAMP
        >>> minute = Call("trunc_timestamp", (now_of(["f"], TIMESTAMP), Constant("MINUTE", STRING)), TIMESTAMP)
        >>> multiple_of(Call("add_seconds", (minute, Constant(-90, INTEGER)), TIMESTAMP))
        30
    """
    match end:
        case Constant(value=dt.datetime() as value):
            seconds, rest = divmod(as_number(value) or 0, _SECOND)
            return 0 if rest else math.gcd(seconds, _DAY)
        case Call("trunc_timestamp", (_, Constant(value=unit))):
            return _UNITS.get(str(unit), _DAY)
        case Call("cast", (moment,)) if moment.type.kind is Kind.DATE:
            return _DAY
        case Call("add_seconds", (moment, Constant(value=int() as by))):
            length = multiple_of(moment)
            return math.gcd(length, by) if length else 0
        case Call("+" | "-", (moment, Constant(value=int()))):
            return multiple_of(moment)  # whole days, of which all lengths here are parts
    return 0


def _are_few(draft: Draft, read: Read, groups: Iterable[Expression]) -> bool:
    """Whether slices are estimated to be few in comparison with the rows."""
    if not draft.estimates.known(read.root):
        return False
    slices = Aggregate(read, tuple(groups), frozenset(), (read.root,))
    of_them = draft.estimates.over({**draft.nodes, slices.id: slices})
    return of_them.rows(Read(slices.id)) * ROWS_A_SLICE <= draft.estimates.rows(read)
