"""The predicted cost of a batch of a whole network: a measure to compare networks of the same queries by.

Costs are in rows that are looked at. They rank networks and do not predict seconds.
"""

from __future__ import annotations

from workbench.network.network import Network
from workbench.network.nodes import (
    Aggregate,
    Analytic,
    Join,
    Node,
    NodeId,
    Read,
    Selection,
    SetOperation,
    Source,
    Window,
)
from workbench.optimizer.cardinality import Estimates

_OF_AN_OPERATOR = 2_000.0
"""Rows that could be looked at while an operator is prepared, run and committed, whatever it does."""
OF_A_SELECTION = 0.01
"""The part of a row's cost that one more selection of its tree adds: a grouped filter tests them together."""
_GROWTH = 0.01
"""The fraction of its rows that a batch brings to a node of which nothing better is known."""


def batch_cost(estimates: Estimates, network: Network) -> float:
    """Rows that a batch looks at, predicted from statistics and from what batches have shown.

    Example:
        >>> batch_cost(Estimates({}), Network())
        0.0
    """
    own = estimates.over(network.nodes)
    return sum((_node_cost(own, node) for node in network.nodes.values()), 0.0)


def _node_cost(estimates: Estimates, node: Node) -> float:
    match node:
        case Selection():
            return OF_A_SELECTION * _arriving(estimates, Read(node.read.root))
        case Source():
            return _OF_AN_OPERATOR + _arriving(estimates, Read(node.id))
        case Join():
            found = max(f(node.roots, node.predicates) for f in (estimates.examined, estimates.joined))
            return _OF_AN_OPERATOR + found * _growth(estimates, node.id)
        case Aggregate() | SetOperation() | Window() | Analytic():
            return _OF_AN_OPERATOR + sum(_arriving(estimates, read) for read in node.reads)


def _arriving(estimates: Estimates, read: Read) -> float:
    """Rows that a batch brings to a read. What a join's root tests is part of what holds for its rows."""
    root = estimates.nodes[read.root]
    if isinstance(root, Join) and not read.required:
        return estimates.joined(root.roots, root.predicates) * _growth(estimates, root.id)
    return estimates.rows(read) * _growth(estimates, read.root)


def _growth(estimates: Estimates, root: NodeId) -> float:
    growth = estimates.observed.growth(root, estimates.nodes)
    return _GROWTH if growth is None else growth
