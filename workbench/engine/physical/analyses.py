"""Facts about a network that the planner needs: they are computed without changing it.

What is *mergeable*, read, tested and looked up of each local tree (a root and the selections on its rows).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from workbench.engine.physical.access_paths import AccessPath, keyed
from workbench.engine.physical.aggregate_plan import has_mergeable_state
from workbench.engine.physical.analytic.reach import stored_along
from workbench.engine.physical.array_places import array_places
from workbench.engine.physical.fusion import member
from workbench.engine.physical.join_keys import key_column
from workbench.engine.physical.recursion import RecursionSteps
from workbench.engine.physical.row_inputs import materialized_parts, row_input
from workbench.engine.storage.buckets import bucket_key
from workbench.engine.storage.layout import MEMBER
from workbench.network.network import Network
from workbench.network.nodes import (
    Aggregate,
    Analytic,
    Columns,
    Join,
    Node,
    NodeId,
    Recursion,
    Selection,
    SetOperation,
    SetOperator,
    Window,
)
from workbench.sql.algebra.expressions import Column, Constant, Expression
from workbench.sql.algebra.types import INTEGER
from workbench.sql.predicates.cnf import TRUE, Literal, Operator, PredSet, conjunction, or_pred
from workbench.sql.predicates.implication import normalized
from workbench.sql.windows.bounds import window_times


def mergeable_aggregates(network: Network) -> frozenset[NodeId]:
    """The aggregates that have groups, and statistics that are merged from stored parts."""
    aggregates = ((id_, node) for id_, node in network.nodes.items() if isinstance(node, Aggregate))
    return frozenset(id_ for id_, node in aggregates if has_mergeable_state(node))


def tree_tests(network: Network, root: NodeId, fused: bool) -> dict[NodeId, PredSet]:
    """The tests on a root's rows for each node of its tree, parents before children.

    Args:
        network: what runs.
        root: of the tree.
        fused: whether the operator has rows of several roots, which are tested for the root they belong to as well.
    """
    tests: dict[NodeId, PredSet] = {}
    for id_ in network.trees[root]:
        node = network.nodes[id_]
        tests[id_] = TRUE
        if isinstance(node, Selection):
            tests[id_] = normalized(conjunction(tests[node.parent], node.predicates))
    if not fused:
        return tests
    own = or_pred([Literal(Column(MEMBER, INTEGER), Operator.EQ, Constant(member(root), INTEGER))])
    return {id_: PredSet((own, *test)) for id_, test in tests.items()}


def read_sets(network: Network) -> Mapping[NodeId, set[tuple[NodeId, ...]]]:
    """For every tree, by root, the sets of nodes that queries and other operators read.

    The rows that a reader gets belong to all nodes of its set, which is one node mostly.
    """
    read: dict[NodeId, set[tuple[NodeId, ...]]] = {root: set() for root in network.trees}
    for plan in network.queries.values():
        read[plan.read.root].add(plan.nodes)
    for node in network.nodes.values():
        if not isinstance(node, Selection):
            for nodes in node.inputs:
                read[network.roots[nodes[0]]].add(nodes)
        if is_bounded(node):
            # It reads its own rows, to tell which ones come after those that leave.
            read[node.id].add((node.id,))
    return read


def is_bounded(node: Node) -> bool:
    """Whether a node keeps the first rows of an order, and no others."""
    return isinstance(node, Analytic) and bool(node.bound)


def bucket_columns(
    network: Network,
    paths: Mapping[NodeId, Sequence[AccessPath]],
    row_keys: Mapping[NodeId, Sequence[Expression]],
) -> Mapping[NodeId, Counter[tuple[str, ...]]]:
    """For every tree, by root, the keys by which tasks look up rows of their buckets alone, and how many operators do.

    Args:
        network: what runs.
        paths: for each join those by which its sides are looked up: by equal keys all of them, or rows of no bucket.
        row_keys: for each aggregate that is computed from its parent's rows the groups by which these are looked up.
    """
    found: dict[NodeId, Counter[tuple[str, ...]]] = {root: Counter() for root in network.trees}
    for root, some in paths.items():
        if keyed(some):
            for side, parent in enumerate(network.nodes[root].parents):
                found[network.roots[parent]][bucket_key(some[0].key_columns(side)).columns] += 1
    for node in network.nodes.values():
        if isinstance(node, Analytic) and node.direct_over.partition:
            for keeper in (node.parent, node.id) if is_bounded(node) else (node.parent,):
                found[network.roots[keeper]][bucket_key(map(key_column, node.direct_over.partition)).columns] += 1
    for root, keys in row_keys.items():
        if keys:
            found[network.roots[network.nodes[root].parents[0]]][bucket_key(map(key_column, keys)).columns] += 1
    return found


def lookup_keys(
    network: Network,
    produced: Mapping[NodeId, Columns],
    paths: Mapping[NodeId, Sequence[AccessPath]],
    row_keys: Mapping[NodeId, Sequence[Expression]],
    grouped: Iterable[tuple[NodeId, Expression]],
) -> Mapping[NodeId, Mapping[str, Expression]]:
    """For every tree, by root, the additional columns of its rows: keys of look-ups, and values without kernels.

    Args:
        network: what runs.
        produced: the columns that the rows of each root have as they are computed. A function that is not among them is
            not read, so the parent may lack its arguments.
        paths: for each join the access paths by which its sides are looked up.
        row_keys: for each aggregate the groups by which its parent's rows are looked up.
        grouped: what operators that group read without a kernel for it, each with the node that they read it of.
    """
    required = [*grouped]
    for root, some in paths.items():
        parents = network.nodes[root].parents
        required += [by for path in some for ends in path.keys for by in zip(parents, ends, strict=True)]
    windows = [(node.parent, node.within) for node in network.nodes.values() if isinstance(node, Window)]
    windows += [(plan.read.root, plan.window) for plan in network.queries.values()]
    required += [(read, time) for read, window in windows for time in window_times(window)]
    for node in network.nodes.values():
        if isinstance(node, Analytic):
            keepers = (node.parent, node.id) if is_bounded(node) else (node.parent,)
            required += [(keeper, key) for keeper in keepers for key in node.direct_over.expressions]
            functions = [function for name, function in node.by_name.items() if name in produced[node.id]]
            arguments = [argument for function in functions for argument in function.arguments]
            without_kernel = materialized_parts(map(row_input, arguments))
            required += [(node.parent, e) for e in (*stored_along(functions).values(), *without_kernel.values())]
        if isinstance(node, SetOperation) and node.operator is SetOperator.UNION_ALL:
            for branch, (parent, _) in enumerate(node.direct):
                stored = materialized_parts(map(row_input, node.produced(branch, produced[node.id])))
                required += [(parent, value) for value in stored.values()]
        if isinstance(node, Join) and (places := array_places(node.tested)) is not None:
            required += [(node.parents[places.side], value) for value in places.stored.values()]
        if isinstance(node, Recursion):
            required += RecursionSteps(node).looked_up
    required += [(network.nodes[root].parents[0], key) for root, some in row_keys.items() for key in some]
    keys: dict[NodeId, dict[str, Expression]] = {root: {} for root in network.trees}
    for parent, key in required:
        if not isinstance(key, Column):
            keys[network.roots[parent]][key_column(key)] = key
    return keys
