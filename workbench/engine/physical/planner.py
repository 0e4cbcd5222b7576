"""What every local tree must do, derived from the network: bits, columns, filters, and how groups are kept."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from workbench.engine.physical.access_paths import Way
from workbench.engine.physical.aggregate_plan import (
    GroupedPlan,
    keeps_parts,
    plan_aggregate,
    plan_set_operation,
    together,
)
from workbench.engine.physical.filter_plan import compile_filter
from workbench.engine.physical.fusion import families, member
from workbench.engine.physical.join_keys import key_column
from workbench.engine.physical.roll_ups import beside_finer
from workbench.engine.physical.semijoin import all_of, look_ups
from workbench.engine.storage.layout import MEMBER
from workbench.engine.tree import TreePlan
from workbench.network.network import Network
from workbench.network.nodes import (
    Aggregate,
    Join,
    Node,
    NodeId,
    Read,
    Selection,
    SetOperation,
    SetOperator,
    Source,
    Window,
)
from workbench.network.projection import Columns, carried_columns, made_columns
from workbench.sql.algebra.expressions import Column, Constant, Expression, text
from workbench.sql.algebra.types import INTEGER
from workbench.sql.predicates.cnf import TRUE, Literal, Operator, PredSet, conjunction, or_pred
from workbench.sql.predicates.implication import normalized
from workbench.sql.windows.bounds import times

V = TypeVar("V")


def computed(node: Node) -> str:
    """How a root's rows are computed, as far as that may change while its id stays."""
    match node:
        case Join():
            return str(node.predicates)
        case Aggregate():
            return f"from groups by {', '.join(map(text, node.finer))}" if node.finer is not None else ""
        case SetOperation():
            return f"from {node.base}" if node.base is not None else ""
        case Source() | Selection() | Window():
            return ""


def monotone_roots(network: Network) -> Mapping[NodeId, bool]:
    """For every tree, whether its rows are never retracted: streams, and joins and UNION ALL of such."""
    monotone: dict[NodeId, bool] = {}
    for root in network.trees:
        node = network.nodes[root]
        parents = [monotone[network.roots[p]] for p in node.parents]
        match node:
            case Aggregate() | Window():
                monotone[root] = False
            case SetOperation():
                monotone[root] = node.operator is SetOperator.UNION_ALL and all(parents)
            case Join() | Source() | Selection():
                monotone[root] = all(parents)
    return monotone


def plan_trees(
    network: Network, bits_before: Mapping[str, Mapping[NodeId, int]], incremental_aggregates: bool = True
) -> dict[str, TreePlan]:
    """The plan of every tree by its name, those it reads before it. Nodes that were there keep their bits.

    Args:
        network: what is to run.
        bits_before: for every tree that ran, the bit of each of its nodes.
        incremental_aggregates: see ``Options``.
    """
    monotone = monotone_roots(network)
    in_parts = kept_in_parts(network, monotone) if incremental_aggregates else frozenset()
    network = beside_finer(network, in_parts)
    carried = carried_columns(network)
    readings = _readings(network)
    named = families(network, {node: name for name, bits in bits_before.items() for node in bits}, in_parts)
    name_of = {root: name for name, roots in named.items() for root in roots}
    read = {root: made_columns(network, root, carried[root]) for root in network.trees}
    made = {name: _merged(read[root] for root in roots) for name, roots in named.items()}
    grouped = {
        name: plan
        for name, roots in named.items()
        if (plan := _grouped_plan(network, roots, made[name], monotone, incremental_aggregates)) is not None
    }
    tests = {root: tested_of(network, root, name_of[root] in grouped) for root in network.trees}
    joins = {root: node for root in network.trees if isinstance(node := network.nodes[root], Join)}
    wants = {root: _wants(tests[root], readings[root]) for root in joins}
    looked_up = {root: look_ups(network, root, wants[root], read if monotone[root] else None) for root in joins}
    ways = {root: (*some, *(one.way for one in all_of(enough))) for root, (some, enough) in looked_up.items()}
    some = frozenset(node for _, enough in looked_up.values() for node in enough)
    keys = _stored_keys(network, {root: plan for name, plan in grouped.items() for root in named[name]}, ways)
    asked: dict[NodeId, dict[Read, tuple[NodeId, ...]]] = {root: {} for root in network.trees}
    for query in network.queries.values():
        asked[query.read.root][query.read] = query.nodes
    plans: dict[str, TreePlan] = {}
    for name, roots in named.items():
        trees = {root: network.trees[root] for root in roots}
        nodes = tuple(node for root in roots for node in trees[root])
        bits = _assign_bits(nodes, bits_before.get(name, {}))
        wanted = frozenset(frozenset(bits[n] for n in some) for root in roots for some in readings[root])
        tested = {bits[node]: test for root in roots for node, test in tests[root].items()}
        inputs = tuple(
            (name_of[network.roots[read[0]]], read)
            for read in zip(*(network.nodes[root].parents for root in roots), strict=True)
        )
        own = grouped.get(name)
        if own is not None:
            bits_read = [[plans[parent].bits[node] for node in read] for parent, read in inputs]
            own = own.read_by(tuple(zip(map(member, roots), read, strict=True)) for read in bits_read)
            made[name] = {MEMBER: INTEGER, **made[name]}
        # A group's row is retracted with its lineage, which its tested columns decide.
        kept = made[name] if name in grouped else _merged(carried[root] for root in roots)
        plans[name] = TreePlan(
            name=name,
            trees=trees,
            inputs=inputs,
            made_of={root: computed(network.nodes[root]) for root in roots},
            bits=bits,
            wanted=wanted,
            kept=kept,
            made=made[name],
            monotone=monotone[roots[0]],
            filter=compile_filter(tested, bits.values(), wanted, kept),
            grouped=own,
            keys=_merged(keys[root] for root in roots),
            asked={
                read: frozenset(bits[node] for node in nodes) for root in roots for read, nodes in asked[root].items()
            },
            ways=looked_up[roots[0]][0] if roots[0] in joins else (),
            enough=looked_up[roots[0]][1] if roots[0] in joins else {},
            of_some=frozenset(root for root in roots if not some.isdisjoint(network.nodes[root].parents)),
        )
    return plans


def _merged(parts: Iterable[Mapping[str, V]]) -> dict[str, V]:
    return dict(sorted(item for part in parts for item in part.items()))


def kept_in_parts(network: Network, monotone: Mapping[NodeId, bool]) -> frozenset[NodeId]:
    """The aggregates that keep all of their statistics in parts, and have groups."""
    aggregates = ((id_, node) for id_, node in network.nodes.items() if isinstance(node, Aggregate))
    return frozenset(id_ for id_, node in aggregates if keeps_parts(node, monotone[network.roots[node.parent]]))


def _grouped_plan(
    network: Network, roots: Sequence[NodeId], made: Columns, monotone: Mapping[NodeId, bool], incremental: bool
) -> GroupedPlan | None:
    """The plan of siblings that keep groups; ``None`` for other roots."""
    match network.nodes[roots[0]]:
        case Aggregate() as first:
            groupings: dict[tuple[Expression, ...], list[Aggregate]] = {}
            for root in roots:
                node = network.nodes[root]
                assert isinstance(node, Aggregate)
                groupings.setdefault((*node.groups, *map(node.direct_group, node.groups)), []).append(node)
            above = monotone[network.roots[first.parent]]
            plans = [(plan_aggregate(own[0], made, above, incremental), own) for own in groupings.values()]
            return together([(plan, {member(node.id) for node in own}) for plan, own in plans])
        case SetOperation() as node if node.operator is not SetOperator.UNION_ALL:
            return plan_set_operation(node)
        case _:
            return None


def _wants(
    tested: Mapping[NodeId, PredSet], read: Iterable[tuple[NodeId, ...]]
) -> Mapping[tuple[NodeId, ...], PredSet]:
    """What is wanted of the root's rows by each reader of some nodes of its tree."""
    return {some: conjunction(*(tested[node] for node in some)) for some in read}


def _stored_keys(
    network: Network, grouped: Mapping[NodeId, GroupedPlan], ways: Mapping[NodeId, tuple[Way, ...]]
) -> Mapping[NodeId, Mapping[str, Expression]]:
    """For every local tree what is computed of its rows to look them up by: keys, and times of windows.

    By the name of the column each is stored in.
    """
    wanted: list[tuple[NodeId, Expression]] = []
    for root, some in ways.items():
        wanted += [
            by for way in some for ends in way.keys for by in zip(network.nodes[root].parents, ends, strict=True)
        ]
    windows = [(node.parent, node.within) for node in network.nodes.values() if isinstance(node, Window)]
    windows += [(plan.read.root, plan.window) for plan in network.queries.values()]
    wanted += [(read, time) for read, window in windows for time in times(window)]
    wanted += [(network.nodes[root].parents[0], key) for root, plan in grouped.items() for key in plan.row_keys]
    keys: dict[NodeId, dict[str, Expression]] = {root: {} for root in network.trees}
    for parent, key in wanted:
        if not isinstance(key, Column):
            keys[network.roots[parent]][key_column(key)] = key
    return keys


def tested_of(network: Network, root: NodeId, of_family: bool) -> dict[NodeId, PredSet]:
    """What is tested on a root's rows for each node of its tree, parents before children; in a family also whose."""
    tested: dict[NodeId, PredSet] = {}
    for id_ in network.trees[root]:
        node = network.nodes[id_]
        tested[id_] = TRUE
        if isinstance(node, Selection):
            tested[id_] = normalized(conjunction(tested[node.parent], node.predicates))
    if not of_family:
        return tested
    own = or_pred([Literal(Column(MEMBER, INTEGER), Operator.EQ, Constant(member(root), INTEGER))])
    return {id_: PredSet((own, *test)) for id_, test in tested.items()}


def _readings(network: Network) -> Mapping[NodeId, set[tuple[NodeId, ...]]]:
    """For every tree which of its nodes are read: each by an operator of another tree, or some together by a query."""
    read: dict[NodeId, set[tuple[NodeId, ...]]] = {root: set() for root in network.trees}
    for plan in network.queries.values():
        read[plan.read.root].add(plan.nodes)
    for node in network.nodes.values():
        if not isinstance(node, Selection):
            for parent in node.parents:
                read[network.roots[parent]].add((parent,))
    return read


def _assign_bits(nodes: tuple[NodeId, ...], old: Mapping[NodeId, int]) -> dict[NodeId, int]:
    bits = {node: old[node] for node in nodes if node in old}
    free = (b for b in range(len(nodes) + len(old)) if b not in set(old.values()))
    return {node: bits[node] if node in bits else next(free) for node in nodes}
