"""What of every tree's rows will still be looked at, where windows say so (T11.1.1; PSoup 3.3).

A row is *past* when its times are behind every window that is read of its tree: windows that only move forward do not
come back to it (``workbench.sql.windows.monotonicity``). No reader can tell whether past rows are there:

- a window leaves them out;
- a pair of a join that is not past has two rows that are not, since a window that is asked of one side is behind both;
- a group, or a row of a set operator, whose time is one of its columns consists of rows that are all past, or none;
- a query that ends in the window leaves them out when it is read.

So what a tree needs of its parents follows from what is needed of the tree, from the queries down to the streams. Where
a window does not say anything of a parent's rows, such as that of an aggregate without groups, all of them are needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from workbench.engine.event_time import Clock
from workbench.engine.physical.join_keys import join_keys, key_column
from workbench.engine.physical.plans import TreePlan
from workbench.engine.storage.retention import RetentionBound
from workbench.network.network import Network, QueryPlan
from workbench.network.nodes import Aggregate, Join, Node, NodeId, SetOperation, Window
from workbench.sql.algebra.expressions import Call, Column, Expression, column_name
from workbench.sql.algebra.types import DataType, Kind
from workbench.sql.windows.bounds import LEAST, MOST, Interval
from workbench.sql.windows.monotonicity import intervals_from_now_on
from workbench.sql.windows.stream_time import TUMBLING, EventTimeVector

TOLD_BATCHES = 4
"""For so many batches rows that have left a window are kept, so that it can be told what the latest batches changed."""

DAY = 86_400_000_000
"""The microseconds of a day."""

Times = Mapping[Expression, Interval]
"""Between which values times of a row are; of no times nothing is said, and all rows are meant."""


def needs_of(
    network: Network, plans: Mapping[str, TreePlan], clock: Clock, batch: int
) -> dict[str, list[RetentionBound]]:
    """What is needed of every tree, by name; of those of windows nothing is said, which keep nothing else anyway.

    Args:
        network: what runs.
        plans: those of its trees, by name.
        clock: what time it is.
        batch: the last batch that was run.
    """
    wanted: dict[NodeId, list[tuple[tuple[NodeId, ...], Times]]] = {root: [] for root in network.trees}
    told = clock.after_batch(batch - TOLD_BATCHES)
    for plan in network.queries.values():
        wanted[plan.read.root].append((plan.nodes, intervals_from_now_on(plan.window, told)))
    for root in reversed(list(network.trees)):
        for parent, times in _of_parents(network.nodes[root], [times for _, times in wanted[root]], clock.now):
            wanted[network.roots[parent]].append(((parent,), times))
    return {
        name: _together(
            RetentionBound(frozenset(plan.bits[node] for node in nodes), _stored(times))
            for root in plan.roots
            if not isinstance(network.nodes[root], Window)
            for nodes, times in wanted[root]
        )
        for name, plan in plans.items()
    }


def need_of(plan: QueryPlan, bits: Mapping[NodeId, int], moment: EventTimeVector) -> RetentionBound:
    """The rows of a query that are in its window at a moment, or later."""
    return RetentionBound(
        frozenset(bits[node] for node in plan.nodes), _stored(intervals_from_now_on(plan.window, moment))
    )


def has_windows(network: Network) -> bool:
    """Whether there is anything that could make rows past."""
    return any(isinstance(node, Window) for node in network.nodes.values()) or any(
        plan.window for plan in network.queries.values()
    )


def _of_parents(node: Node, wanted: Iterable[Times], moment: EventTimeVector) -> Iterator[tuple[NodeId, Times]]:
    """What a root needs of its parents, when all that is needed of itself is this."""
    match node:
        case Window():
            yield node.parent, intervals_from_now_on(node.within, moment)
        case Join():
            for times in wanted:
                for side, parent in enumerate(node.parents):
                    yield parent, dict(_of_side(node, side, times))
        case Aggregate():
            values = {column_name(group): node.direct_group(group) for group in node.groups}
            for times in wanted:
                yield node.parent, dict(_through(values, times))
        case SetOperation():
            for parent, branch in node.direct:
                values = {f"c{i}": value for i, value in enumerate(branch, start=1)}
                for times in wanted:
                    yield parent, dict(_through(values, times))


def _of_side(join: Join, side: int, times: Times) -> Iterator[tuple[Expression, Interval]]:
    """The times that are columns of one side alone, or must be equal to one."""
    equal = {ends[1 - side]: ends[side] for ends in join_keys(join.tested)}
    for time, interval in _of_columns(times):
        own = join.names.input(time)
        column = Column(own.name, own.type)
        found = column if own.source == side else equal.get(column)
        if isinstance(found, Column):
            yield found, interval


def _through(values: Mapping[str, Expression], times: Times) -> Iterator[tuple[Expression, Interval]]:
    """Times of a row that is made of others, as times of those: where they are columns there, or slices of one."""
    for time, interval in _of_columns(times):
        match values.get(time.name):
            case Column() as column:
                yield column, interval
            case Call(function, (Column() as column, _)) if function == TUMBLING:
                yield column, Interval(interval.low, MOST)  # a slice begins before its rows


def _of_columns(times: Times) -> Iterator[tuple[Column, Interval]]:
    """The times that are columns, and days that are compared with timestamps."""
    for time, interval in times.items():
        match time:
            case Column():
                yield time, interval
            case Call("cast", (Column(type=DataType(Kind.DATE)) as day,), DataType(Kind.TIMESTAMP)):
                low = interval.low if interval.low == LEAST else interval.low // DAY
                yield day, Interval(low, interval.high if interval.high == MOST else interval.high // DAY)


def _stored(times: Times) -> tuple[tuple[str, Interval], ...]:
    limits = {key_column(time): interval for time, interval in times.items() if interval != Interval()}
    return tuple(sorted(limits.items(), key=lambda item: item[0]))


def _together(needs: Iterable[RetentionBound]) -> list[RetentionBound]:
    """Needs of the same bits and columns as one, from the least to the greatest of their times, and none twice."""
    found: dict[tuple[frozenset[int], tuple[str, ...]], RetentionBound] = {}
    for need in needs:
        key = (need.bits, tuple(column for column, _ in need.times))
        other = found.get(key, need)
        pairs = zip(need.times, other.times, strict=True)
        found[key] = RetentionBound(need.bits, tuple((column, a.hull(b)) for (column, a), (_, b) in pairs))
    whole = [need for need in found.values() if not need.times]
    return whole + [need for need in found.values() if need.times and not any(w.covers(need) for w in whole)]
