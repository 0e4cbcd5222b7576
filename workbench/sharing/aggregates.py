"""Aggregates: found or created for a query's groups, and computed from aggregates of finer groups (T7.1.1).

Counts, sums, minima and maxima of groups follow from those of finer groups (vertical expansion);
holistic statistics do not. Which aggregate is computed from which is chosen anew whenever an aggregate comes or goes,
so an old one is rerouted to a new one that is better.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from workbench.network.nodes import Aggregate, NodeId, Read
from workbench.network.roll_up import are_derivable, computed_column, over_groups
from workbench.network.sql_text import expression_sql
from workbench.sharing.decisions import NEAR_MISS, Candidate, Rule
from workbench.sharing.draft import Draft
from workbench.sharing.windows import of_slices, slices_of, windowed
from workbench.sql.algebra.expressions import (
    AggregateCall,
    Column,
    Expression,
    calls,
    is_function_of_user,
    shown_function,
    text,
)
from workbench.sql.functions.aggregate_rules import of_parts, part_of, why_not_from_parts
from workbench.sql.predicates.cnf import PredSet
from workbench.sql.windows.stream_time import is_session


def find_grouping(
    draft: Draft,
    read: Read,
    groups: Mapping[Expression, Expression],
    statistics: Mapping[AggregateCall, AggregateCall],
    window: PredSet,
) -> tuple[Read, Mapping[Column, Expression]]:
    """The groups of rows in a window.

    Args:
        draft: the network, which gets the aggregate.
        read: the rows.
        groups: the query's groups, each with its expression over the root.
        statistics: the query's statistics, likewise.
        window: over the root; applied to the rows or to slices of them.

    Returns:
        The read of the aggregate, and the query's groups and statistics as its columns.
    """
    by = slices_of(draft, read, groups.values(), statistics.values(), window)
    if by is not None:
        # Groups of slices of time are shared whatever the window is, and a batch moves slices instead of rows.
        slices = find_aggregate(draft, read, {*groups.values(), *by.values()}, map(part_of, statistics.values()))
        read = Read(slices.id)
        window = of_slices(window, slices, by)
        groups = {name: over_groups(group, slices.groups) for name, group in groups.items()}
        statistics = {name: of_parts(s, computed_column(part_of(s))) for name, s in statistics.items()}
    aggregate = find_aggregate(draft, windowed(draft, read, window), groups.values(), statistics.values())
    named = {computed_column(name): computed_column(value) for name, value in (*groups.items(), *statistics.items())}
    return Read(aggregate.id), named


def find_aggregate(
    draft: Draft, read: Read, groups: Iterable[Expression], statistics: Iterable[AggregateCall] = ()
) -> Aggregate:
    """The aggregate with these groups, found or created; statistics it does not have are added (horizontal expansion).

    Without statistics it is DISTINCT.
    """
    aggregate = Aggregate(read, tuple(sorted(set(groups), key=text)), frozenset(statistics), (read.root,))
    present = draft.nodes.get(aggregate.id)
    if isinstance(present, Aggregate):
        more = aggregate.statistics - present.statistics
        if more:
            names = draft.wording.columns(read.root)
            added = ", ".join(sorted(expression_sql(statistic, names) for statistic in more))
            draft.record.add(present.id, Rule.STATISTICS, f"now also {added}")
        aggregate = replace(present, statistics=present.statistics | more)
    draft.mark_dirty(aggregate.id, read.root)
    draft.put(aggregate)
    return aggregate


def choose_aggregate_inputs(draft: Draft) -> None:
    """Choose the input of every aggregate that groups the same rows as a dirty one."""
    for root in draft.dirty_parents_first():
        node = draft.nodes[root]
        if isinstance(node, Aggregate):
            of_same_rows = draft.catalog.aggregates_of(node.read)
            for id_ in of_same_rows if draft.options.reroute else [root]:
                _choose_input(draft, draft.node(Aggregate, id_), of_same_rows)


def _choose_input(draft: Draft, aggregate: Aggregate, of_same_rows: list[NodeId]) -> None:
    """Compute an aggregate from the smallest finer one, or from the rows when there is none."""
    finer = [a for id_ in of_same_rows if _serves(draft, a := draft.node(Aggregate, id_), aggregate)]
    if not finer:
        if aggregate.finer is not None:
            draft.put(replace(aggregate, parents=(aggregate.read.root,), finer=None))
            draft.mark_dirty(aggregate.id, aggregate.read.root)
        return
    best = min(finer, key=lambda a: (draft.estimates.rows(Read(a.id)), len(a.groups), a.id))
    draft.put(replace(aggregate, parents=(best.id,), finer=best.groups))
    _add_statistics(draft, best, aggregate.statistics)
    draft.mark_dirty(best.id)


def _add_statistics(draft: Draft, aggregate: Aggregate, statistics: frozenset[AggregateCall]) -> None:
    """Add the parts of statistics to an aggregate, and to the finer aggregates from which it is computed."""
    statistics = frozenset(map(part_of, statistics))
    draft.put(replace(aggregate, statistics=aggregate.statistics | statistics))
    if aggregate.finer is not None and aggregate.parents[0] in draft.nodes:
        _add_statistics(draft, draft.node(Aggregate, aggregate.parents[0]), statistics)


def _functions_of_users(expressions: Iterable[Expression]) -> frozenset[str]:
    """The functions of the analyst's that expressions call."""
    return frozenset(name for expression in expressions for name in calls(expression) if is_function_of_user(name))


def _serves(draft: Draft, fine: Aggregate, coarse: Aggregate) -> bool:
    """Whether coarse groups are unions of fine ones, and their statistics follow from theirs."""
    return fine.id != coarse.id and _hindrance(draft, fine, coarse) is None and _is_finer(fine, coarse)


def _is_finer(fine: Aggregate, coarse: Aggregate) -> bool:
    derivable = bool(fine.groups) and are_derivable(coarse.groups, fine.groups)
    return derivable and not are_derivable(fine.groups, coarse.groups)


def _hindrance(draft: Draft, fine: Aggregate, coarse: Aggregate) -> str | None:
    """The reason why statistics of coarse groups cannot be computed from those of finer ones, if there is one."""
    if not draft.options.vertical_expansion:
        return "Options.vertical_expansion is off"
    # Sorted, so that the same one of several reasons is given each time.
    for statistic in sorted(coarse.statistics, key=text):
        if why := why_not_from_parts(statistic):
            sql = expression_sql(statistic, draft.wording.columns(coarse.read.root))
            return f"{sql} does not follow from it: {why}"
    if any(map(is_session, (*fine.groups, *coarse.groups))):
        return "sessions are put together from rows"
    if strange := _functions_of_users(fine.groups) - _functions_of_users(coarse.groups):
        return f"its groups call {shown_function(min(strange))}, which may fail or take long, and these do not"
    return None


def missed_roll_ups(draft: Draft, coarse: Aggregate) -> Iterator[Candidate]:
    """The coarsest finer aggregate of the same rows that could not serve as an input, with the reason."""
    others = (draft.node(Aggregate, id_) for id_ in draft.catalog.aggregates_of(coarse.read) if id_ != coarse.id)
    finer = (other for other in others if _is_finer(other, coarse))
    nearest = min(finer, key=lambda each: (len(each.groups), each.id), default=None)
    if nearest is not None and (why := _hindrance(draft, nearest, coarse)):
        yield Candidate(nearest.id, NEAR_MISS, None, False, f"its groups are finer, but {why}")
