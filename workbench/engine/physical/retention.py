"""Retention bounds: which rows of every tree will still be read, where windows limit that (T11.1.1; PSoup 3.3).

A row has *expired* when its times are behind every window that reads its tree: windows that only move forward do
not come back to it (``workbench.sql.windows.monotonicity``). No reader can tell whether expired rows are there:

- a window leaves them out;
- a pair of a join that has not expired has two rows that have not: a window on one side is behind both;
- all rows of a group, or of a row of a set operator, whose time is one of its columns have expired, or none has;
- a query whose window is applied at read time leaves them out when it is read.

So the bounds of a tree's parents follow from the bounds of the tree, from the queries down to the streams. Where a
window does not limit a parent's rows, such as that of an aggregate without groups, all of them are needed.

Of these rows some are not stored, since constraints of streams say that nothing looks them up again (``looked_up``).
Who is hydrated needs them once more: then a tree is computed from all that has arrived.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from workbench.engine.physical.analyses import is_bounded
from workbench.engine.physical.join_keys import join_keys, key_column
from workbench.engine.physical.looked_up import LookedUp
from workbench.engine.physical.plans import TreePlan
from workbench.engine.storage.retention import RetentionBound
from workbench.network.network import Network, QueryPlan
from workbench.network.nodes import (
    SIDES,
    Aggregate,
    Analytic,
    Join,
    Node,
    NodeId,
    Recursion,
    SetOperation,
    Source,
    Window,
)
from workbench.sql.algebra.expressions import Call, Column, Expression, column_name
from workbench.sql.algebra.types import DataType, Kind
from workbench.sql.windows.bounds import LEAST, MOST, Interval
from workbench.sql.windows.monotonicity import intervals_from_now_on
from workbench.sql.windows.stream_time import TUMBLING, EventTimeVector

_DAY = 86_400_000_000
"""The microseconds of a day."""

_Times = Mapping[Expression, Interval]
"""Between which values times of a row are; without any, all rows are meant."""
RequiredTimes = dict[NodeId, list[tuple[tuple[NodeId, ...], _Times]]]
"""For each root the nodes whose common rows are read, and their times."""


@dataclass(frozen=True)
class Bounds:
    """The retention bounds of every tree, by name; of window operators none, which store nothing else anyway.

    Attributes:
        required: of the rows that are read, now or by an operator that is hydrated.
        stored: of those among them that operators which run look up again.
    """

    required: Mapping[str, list[RetentionBound]]
    stored: Mapping[str, list[RetentionBound]]


def retention_bounds(
    network: Network, plans: Mapping[str, TreePlan], looked_up: LookedUp, earlier: EventTimeVector
) -> Bounds:
    """The bounds of every tree.

    Args:
        network: what runs.
        plans: those of its operators, by name.
        looked_up: what operators look up again.
        earlier: the event times ``Limits.batches_of_changes`` batches ago.
    """
    required, stored = required_times(network, looked_up, earlier)
    bounds = _by_tree(network, plans, required)
    return Bounds(bounds, bounds if stored == required else _by_tree(network, plans, stored))


def _by_tree(
    network: Network, plans: Mapping[str, TreePlan], required: RequiredTimes
) -> dict[str, list[RetentionBound]]:
    return {
        name: _merged(
            RetentionBound(frozenset(plan.bits[node] for node in nodes), _stored(times))
            for root in plan.roots
            for nodes, times in required[root]
        )
        for name, plan in plans.items()
        if not any(isinstance(network.nodes[root], Window) for root in plan.roots)
    }


def required_times(
    network: Network, looked_up: LookedUp, earlier: EventTimeVector
) -> tuple[RequiredTimes, RequiredTimes]:
    """Which rows are still read of each root, and between which values their times are; without times all are meant.

    Args:
        network: what runs.
        looked_up: what operators look up again.
        earlier: the event times up to which answers may be asked for.

    Returns:
        Those that are read in any case, and those of them that are read again by operators which run.
    """
    required: RequiredTimes = {root: [] for root in network.trees}
    windows = {plan.window for plan in network.queries.values()}
    open_ = {window: intervals_from_now_on(window, earlier) for window in windows}
    for plan in network.queries.values():
        required[plan.read.root].append((plan.nodes, open_[plan.window]))
    for root in filter(lambda root: is_bounded(network.nodes[root]), network.trees):
        required[root].append(((root,), {}))
    stored = {root: [*reads] for root, reads in required.items()}
    for root in reversed(list(network.trees)):
        # Many readers of a root mostly require the same of its inputs: without windows, all rows.
        distinct = {tuple(times.items()): times for _, times in required[root]}
        node = network.nodes[root]
        limits = [looked_up.limits(node, at) for at in range(len(node.inputs))]
        for at, times in _of_inputs(node, distinct.values(), looked_up.now):
            read = node.inputs[at]
            required[network.roots[read[0]]].append((read, times))
            if (limit := limits[at]) is not None:
                stored[network.roots[read[0]]].append((read, _both(times, limit)))
    return required, stored


def _both(times: _Times, others: _Times) -> _Times:
    """The times within the intervals of both."""
    return {**times, **{time: interval.intersected(times.get(time, interval)) for time, interval in others.items()}}


def query_bound(plan: QueryPlan, bits: Mapping[NodeId, int], now: EventTimeVector) -> RetentionBound:
    """The rows of a query that are in its window at some event times, or later."""
    return RetentionBound(
        frozenset(bits[node] for node in plan.nodes), _stored(intervals_from_now_on(plan.window, now))
    )


def may_expire(network: Network) -> bool:
    """Whether any row can expire, or is not looked up again."""
    nodes = network.nodes.values()
    return any(isinstance(node, Window) or (isinstance(node, Source) and node.constraints) for node in nodes) or any(
        plan.window for plan in network.queries.values()
    )


def _of_inputs(node: Node, required: Iterable[_Times], now: EventTimeVector) -> Iterator[tuple[int, _Times]]:
    """The times that are required of a root's inputs, by their places, where these are required of the root."""
    match node:
        case Window():
            yield 0, intervals_from_now_on(node.within, now)
        case Analytic():
            # A row that has expired may still be before others, or be a neighbour of them.
            yield 0, {}
        case Join():
            for times in required:
                for side in SIDES:
                    yield side, dict(_of_side(node, side, times))
        case Aggregate():
            values = {column_name(group): node.direct_group(group) for group in node.groups}
            for times in required:
                yield 0, dict(_through(values, times))
        case Recursion():
            # A row of any time may lead to rows of any other.
            yield from ((at, {}) for at in range(len(node.direct)))
        case SetOperation():
            for at, (_, branch) in enumerate(node.direct):
                values = {f"c{i}": value for i, value in enumerate(branch, start=1)}
                for times in required:
                    yield at, dict(_through(values, times))


def _of_side(join: Join, side: int, times: _Times) -> Iterator[tuple[Expression, Interval]]:
    """The times that are columns of one side alone, or must be equal to one."""
    equal = {ends[1 - side]: ends[side] for ends in join_keys(join.tested)} if times else {}
    for time, interval in _of_columns(times):
        own = join.names.input(time)
        column = Column(own.name, own.type)
        known = column if own.source == side else equal.get(column)
        if isinstance(known, Column):
            yield known, interval


def _through(values: Mapping[str, Expression], times: _Times) -> Iterator[tuple[Expression, Interval]]:
    """Times of a computed row as times of its input rows: where they are columns there, or slices of one."""
    for time, interval in _of_columns(times):
        match values.get(time.name):
            case Column() as column:
                yield column, interval
            case Call(function, (Column() as column, _)) if function == TUMBLING:
                yield column, Interval(interval.low, MOST)  # a slice begins before its rows


def _of_columns(times: _Times) -> Iterator[tuple[Column, Interval]]:
    """The times that are columns, and days that are compared with timestamps."""
    for time, interval in times.items():
        match time:
            case Column():
                yield time, interval
            case Call("cast", (Column(type=DataType(Kind.DATE)) as day,), DataType(Kind.TIMESTAMP)):
                low = interval.low if interval.low == LEAST else interval.low // _DAY
                yield day, Interval(low, interval.high if interval.high == MOST else interval.high // _DAY)


def _stored(times: _Times) -> tuple[tuple[str, Interval], ...]:
    limits = {key_column(time): interval for time, interval in times.items() if interval != Interval()}
    return tuple(sorted(limits.items(), key=lambda item: item[0]))


def _merged(bounds: Iterable[RetentionBound]) -> list[RetentionBound]:
    """Bounds of equal bits and columns as one, from the least to the greatest of their times; none within another."""
    by_key: dict[tuple[frozenset[int], tuple[str, ...]], RetentionBound] = {}
    for bound in bounds:
        key = (bound.bits, tuple(column for column, _ in bound.times))
        pairs = zip(bound.times, by_key.get(key, bound).times, strict=True)
        by_key[key] = RetentionBound(bound.bits, tuple((column, a.hull(b)) for (column, a), (_, b) in pairs))
    whole = [bound for bound in by_key.values() if not bound.times]
    return whole + [bound for bound in by_key.values() if bound.times and not any(w.covers(bound) for w in whole)]
