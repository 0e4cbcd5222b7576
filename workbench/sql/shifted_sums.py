"""Sums of DOUBLE as another order of additions may have them: a little larger, or a little smaller.

An addition of binary numbers rounds, so the last bits of a sum follow the order of rows, which SQL leaves open. ROUND,
FLOOR, a cast to an integer or a comparison turn them into another value where a sum is at a jump, as 4.55 is of
ROUND(s, 1). Rows that a query has with sums of the one kind, and not with those of the other, are such rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TypeVar

from workbench.sql.algebra.analytic import AnalyticCall
from workbench.sql.algebra.expressions import AggregateCall, Column, Constant, Expression, Origin, column_name
from workbench.sql.algebra.types import DOUBLE
from workbench.sql.binder.joins.trees import with_results_over
from workbench.sql.functions.calls import call
from workbench.sql.logical import Analyzed, Block, LogicalQuery, with_blocks

LAST_BITS = 1e-12
"""By how much of the sum of absolute values a sum is shifted: more than the rounding of thousands of additions."""
_ADDED_EXACTLY = Constant(2.0**-20, DOUBLE)
"""Multiples of it, as whole numbers and quarters are, have the same sum in every order, unless that is very large."""

_Call = TypeVar("_Call", AggregateCall, AnalyticCall)


def with_shifted_sums(query: LogicalQuery, shift: float) -> LogicalQuery:
    """A query whose sums of DOUBLE are shifted, also those of averages and of frames; the same where it has none.

    Args:
        query: the query.
        shift: by how much, as a part of the sum of the absolute values that are not added exactly.
    """
    return with_blocks(query, lambda block: _with_shifted_sums(block, Constant(shift, DOUBLE)))


def _with_shifted_sums(block: Block, shift: Constant) -> Block:
    means, grouping = dict[Column, Expression](), block.grouping
    if grouping is not None and (sums := [*_sums(grouping.statistics)]):
        added = tuple(map(_of_rounded_values, sums))
        for one, other in zip(sums, added, strict=True):
            column = Column(column_name(one), DOUBLE)
            means[column] = _shifted(column, Column(column_name(other), DOUBLE), shift)
        grouping = replace(grouping, statistics=tuple(dict.fromkeys((*grouping.statistics, *added))))
    analytics = block.analytics
    for analyzed in block.analytics:
        for over in _sums([analyzed.call]):
            other_call = _of_rounded_values(over)
            analytics = (*analytics, Analyzed(other_call.name, other_call))
            column = Column(analyzed.name, DOUBLE, Origin.ANALYTIC)
            means[column] = _shifted(column, replace(column, name=other_call.name), shift)
    changed = replace(block, grouping=grouping, analytics=analytics)
    return with_results_over(changed, lambda column: means.get(column, column)) if means else block


def _sums(calls: Iterable[_Call]) -> Iterator[_Call]:
    return (one for one in calls if one.function == "sum" and one.type == DOUBLE)


def _of_rounded_values(summed: _Call) -> _Call:
    """The sum of the absolute values that are not added exactly."""
    (value,) = summed.arguments
    is_rounded = call("abs", call("sign", call("%", value, _ADDED_EXACTLY)))
    return replace(summed, arguments=(call("*", call("abs", value), is_rounded),))


def _shifted(total: Expression, of_rounded: Expression, shift: Constant) -> Expression:
    return call("+", total, call("*", of_rounded, shift))
