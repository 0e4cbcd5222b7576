"""Costs of queries: each one's part of the operators' time, and the nodes that would go with it.

An operator is timed as one, for all its readers. Its time is divided evenly among the queries that it serves, so the
parts of all queries add up to the time of all operators. What goes with a query is less: an operator that serves
others as well stays, and hardly becomes faster.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from workbench.engine.reports import BatchReport, operator_totals
from workbench.explain.describe import NetworkView
from workbench.network.nodes import SIDES, Aggregate, Join, Node, NodeId
from workbench.network.projection import carried_columns


@dataclass(frozen=True)
class QueryCost:
    """The cost of one query in a batch, on average.

    Attributes:
        query: its name.
        seconds: its part of the time of the operators that serve it.
        saved: seconds of the operators that serve no other query; they overlap with others, so a batch becomes
            shorter by less.
        nodes: how many nodes do its work (``NetworkView.work``).
        own_nodes: those that go with it, since no other query reads them.
        own_trees: the roots of local trees that go with all of their rows.
    """

    query: str
    seconds: float
    saved: float
    nodes: int
    own_nodes: tuple[NodeId, ...]
    own_trees: tuple[NodeId, ...]


def query_costs(reports: Sequence[BatchReport], network: NetworkView) -> list[QueryCost]:
    """The costs of the queries of a network, the dearest first.

    Args:
        reports: of some batches, at least one.
        network: as it is now; operators of nodes that have left count for no query.
    """
    ancestors = {query: network.ancestors(query) for query in network.results}
    readers: dict[NodeId, set[str]] = {node.id: set() for node in network.nodes}
    for query, nodes in ancestors.items():
        for node in nodes:
            readers[node].add(query)
    seconds, saved = dict.fromkeys(ancestors, 0.0), dict.fromkeys(ancestors, 0.0)
    for total in operator_totals(reports):
        served = set[str]().union(*(readers.get(node, ()) for node in total.last.nodes))
        for query in served:
            seconds[query] += total.seconds / len(served) / len(reports)
        if len(served) == 1:
            saved[served.pop()] += total.seconds / len(reports)
    costs = [_cost(query, seconds[query], saved[query], ancestors[query], readers, network) for query in ancestors]
    return sorted(costs, key=lambda cost: -cost.seconds)


def shown_totals(network: NetworkView, query: str) -> list[NodeId]:
    """The joins of a query whose rows all show a total, an aggregate without groups: when it moves, each row changes.

    A total that rows are only compared with is not among them: by that, those change that it passes.
    """
    nodes, carried = network.network.nodes, carried_columns(network.network)
    joins = [node for id_ in sorted(network.ancestors(query)) if isinstance(node := nodes[id_], Join)]
    return [join.id for join in joins if _totals(join, nodes) & {join.names.input_name(c)[0] for c in carried[join.id]}]


def _totals(join: Join, nodes: Mapping[NodeId, Node]) -> set[int]:
    """The sides of a join that are one row."""
    roots = [(side, nodes[root]) for side, root in zip(SIDES, join.roots, strict=True)]
    return {side for side, root in roots if isinstance(root, Aggregate) and not root.groups}


def _cost(
    query: str,
    seconds: float,
    saved: float,
    nodes: frozenset[NodeId],
    readers: Mapping[NodeId, set[str]],
    network: NetworkView,
) -> QueryCost:
    own = [node for node in network.nodes if node.id in nodes and node.parents and readers[node.id] == {query}]
    staying = {node.root for node in network.nodes if readers[node.id] != {query}}
    trees = dict.fromkeys(node.root for node in own if node.root not in staying)
    work = network.work(query)
    return QueryCost(query, seconds, saved, len(work), tuple(work.intersection(node.id for node in own)), tuple(trees))
