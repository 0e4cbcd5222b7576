"""Aggregates of aggregates: coarse groups are computed from fine ones (vertical expansion, T7.1.1).

Counts, sums of exact numbers, minima and maxima of groups follow from those of finer groups; what is holistic does
not, and a sum of DOUBLE would have another last digit. Who is computed from whom is chosen anew whenever an aggregate
comes or goes, so an old one is rerouted to a new one that is better (T7.1.1).
"""

from __future__ import annotations

from dataclasses import replace

from workbench.network.nodes import Aggregate, NodeId, Read
from workbench.network.roll_up import over_groups
from workbench.sharing.draft import Draft
from workbench.sql.algebra.expressions import AggregateCall
from workbench.sql.algebra.types import MAX_PRECISION, Kind
from workbench.sql.windows.stream_time import is_session

VERTICAL = ("count", "sum", "min", "max")
"""Statistics of groups that follow from those of finer groups."""


def arrange_aggregates(draft: Draft, root: NodeId) -> None:
    """Choose for every aggregate of the same rows as ``root``'s what it is computed from."""
    node = draft.nodes.get(root)
    if not isinstance(node, Aggregate):
        return
    family = draft.catalog.aggregates_of(node.read)
    for id_ in family if draft.options.reroute else [root]:
        _choose(draft, draft.aggregate(id_), family)


def _choose(draft: Draft, aggregate: Aggregate, family: list[NodeId]) -> None:
    """Compute an aggregate from the smallest finer one, or from the rows when there is none."""
    finer = [a for a in map(draft.aggregate, family) if _serves(draft, a, aggregate)]
    if not finer:
        if aggregate.finer is not None:
            draft.put(replace(aggregate, parent=aggregate.read.root, finer=None))
            draft.touch(aggregate.id, aggregate.read.root)
        return
    best = min(finer, key=lambda a: (draft.estimates.rows(Read(a.id)), len(a.groups), a.id))
    draft.put(replace(aggregate, parent=best.id, finer=best.groups))
    _widen(draft, best, aggregate.statistics)
    draft.touch(best.id)


def _widen(draft: Draft, aggregate: Aggregate, statistics: frozenset[AggregateCall]) -> None:
    """Add statistics to an aggregate (horizontal expansion), and to what it is computed from in turn."""
    draft.put(replace(aggregate, statistics=aggregate.statistics | statistics))
    if aggregate.finer is not None and aggregate.parent in draft.nodes:
        _widen(draft, draft.aggregate(aggregate.parent), statistics)


def _serves(draft: Draft, fine: Aggregate, coarse: Aggregate) -> bool:
    """Whether coarse groups are unions of fine ones, and their statistics follow from theirs."""
    if not draft.options.vertical_expansion or fine.id == coarse.id or not fine.groups:
        return False
    if not all(follows(statistic) for statistic in coarse.statistics):
        return False
    if any(map(is_session, (*fine.groups, *coarse.groups))):  # sessions are put together from rows
        return False
    return _derivable(coarse, fine) and not _derivable(fine, coarse)


def _derivable(coarse: Aggregate, fine: Aggregate) -> bool:
    """Whether every group expression of one is a function of those of the other."""
    try:
        for group in coarse.groups:
            over_groups(group, fine.groups)
    except KeyError:
        return False
    return True


def follows(statistic: AggregateCall) -> bool:
    """Whether a statistic of groups follows from that of finer groups."""
    if statistic.distinct or statistic.function not in VERTICAL:
        return False
    return statistic.function != "sum" or _never_overflows(statistic)


def _never_overflows(total: AggregateCall) -> bool:
    """Whether an exact sum has room for ten thousand million of the largest values; one of DOUBLE is not exact.

    A sum that overflows is NULL, which a sum of sums would pass over.
    """
    (summed,) = (argument.type for argument in total.arguments)
    return summed.kind is Kind.INTEGER or (summed.kind is Kind.DECIMAL and summed.precision + 10 <= MAX_PRECISION)
