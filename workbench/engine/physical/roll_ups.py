"""Aggregates that are computed beside those with finer groups, instead of from them.

Vertical expansion (T7.1.1) computes groups from finer groups, since these are fewer than the rows. On Spark a small
job costs more than its rows do, so where both keep the same of their groups, they run as siblings (``siblings``): one
job reads the rows once and groups them twice. The network, and what it says of who is computed from whom, stays.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import replace

from workbench.network.network import Network
from workbench.network.nodes import Aggregate, Node, NodeId


def beside_finer(network: Network, in_parts: Container[NodeId]) -> Network:
    """The network as it runs: an aggregate that could be its finer one's sibling reads what that one reads.

    Args:
        network: as it was planned.
        in_parts: aggregates that keep all of their statistics in parts, and have groups.
    """
    nodes: dict[NodeId, Node] = {}
    for id_, node in network.nodes.items():
        nodes[id_] = node
        if isinstance(node, Aggregate) and node.finer is not None and id_ in in_parts and node.parent in in_parts:
            finer = nodes[node.parent]
            assert isinstance(finer, Aggregate)
            if node.statistics == finer.statistics:
                nodes[id_] = replace(node, parent=finer.parent, finer=finer.finer)
    return replace(network, nodes=nodes)
