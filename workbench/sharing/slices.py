"""Aggregates over windows from slices: groups of one time each, whose statistics are put together (T7.1.1).

A window of days is a number of whole days. So what is kept for each day and group gives the groups of every such
window: queries that differ only in their windows share it, and a day that leaves takes one row with it and not all of
its events. MIN and MAX are computed anew from the slices, and not from the rows of the window.
"""

from __future__ import annotations

from collections.abc import Iterable

from workbench.network.nodes import Aggregate, Read, over_groups
from workbench.sharing.aggregates import follows
from workbench.sharing.draft import Draft
from workbench.sql.expressions import AggregateCall, Column, Expression
from workbench.sql.now import ROW
from workbench.sql.predicates import Literal, PredSet, or_pred, pred_set
from workbench.sql.types import Kind
from workbench.sql.windows import time_and_end, times

ROWS_A_SLICE = 4.0
"""So many rows should a slice of a group have, where a time is a number of which nothing else is known."""


def worth_slicing(
    draft: Draft,
    read: Read,
    groups: Iterable[Expression],
    statistics: Iterable[AggregateCall],
    window: PredSet,
) -> bool:
    """Whether groups over a window are computed from groups of slices: days, or numbers that many rows share."""
    if not window or not draft.options.vertical_expansion or not all(map(follows, statistics)):
        return False
    found = list(times(window))
    if all(time.type.kind is Kind.DATE for time in found):
        return True
    columns = [time for time in found if isinstance(time, Column) and not time.name.startswith(ROW.name)]
    if len(columns) < len(found) or any(time.type.kind is Kind.TIMESTAMP for time in columns):
        return False
    if not draft.estimates.known(read.root):
        return False
    slices = Aggregate(read, (*groups, *columns), frozenset(), read.root)
    return draft.estimates.over({**draft.nodes, slices.id: slices}).rows(Read(slices.id)) * ROWS_A_SLICE <= (
        draft.estimates.rows(read)
    )


def of_slices(window: PredSet, slices: Aggregate) -> PredSet:
    """A window over rows as one over their slices, which have its times as groups."""
    ends = map(time_and_end, window)
    return pred_set(or_pred([Literal(over_groups(t, slices.groups), operator, end)]) for t, operator, end in ends)
