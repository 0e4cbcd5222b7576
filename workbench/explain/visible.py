"""What of a network a drawing shows and what it only counts: local trees are open or closed, and a query is in focus.

A network of hundreds of nodes drawn node by node hides what matters. An *open* tree shows its nodes; a *closed* one is
a single box that says how many selections it has. With a query in focus its nodes are shown, the other nodes of their
trees are one box with a number, and all other trees are left out and counted.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from workbench.explain.node_view import NodeView
from workbench.network.nodes import NodeId

WHOLE = 150
"""Nodes, and boxes of results, up to which all trees are open at first."""


class DrawnNetwork(Protocol):
    """What a drawing needs of a network; ``describe.NetworkView`` has it."""

    @property
    def nodes(self) -> tuple[NodeView, ...]:
        """All nodes, parents before children."""

    @property
    def edges(self) -> tuple[tuple[NodeId, NodeId], ...]:
        """Pairs of parent id and child id."""

    @property
    def results(self) -> Mapping[str, tuple[NodeId, ...]]:
        """The nodes at which each query's answer is found."""

    @property
    def last_report(self) -> Any | None:
        """The ``BatchReport`` that the drawing shows."""

    def node(self, id_: NodeId) -> NodeView:
        """One node by id."""

    def ancestors(self, query: str) -> frozenset[NodeId]:
        """Ids of all nodes that a query's answer is computed by."""


@dataclass(frozen=True)
class VisibleTree:
    """A local tree in a drawing: the nodes that are shown, the root first, and those that are only counted."""

    shown: tuple[NodeView, ...]
    counted: tuple[NodeView, ...] = ()

    @property
    def root(self) -> NodeId:
        """The id of its root."""
        return self.shown[0].id

    @property
    def closed(self) -> bool:
        """Whether the root stands for the whole tree."""
        return len(self.shown) == 1 and bool(self.counted)


@dataclass(frozen=True)
class Visible:
    """A drawing's trees, and how many nodes are in trees that are left out."""

    trees: tuple[VisibleTree, ...]
    left_out: int = 0


def is_large(network: DrawnNetwork) -> bool:
    """Whether a network is too large to be drawn node by node."""
    return max(len(network.nodes), len(set(network.results.values()))) > WHOLE


def visible(
    network: DrawnNetwork, focus: str | None = None, full: bool = False, toggled: Collection[NodeId] = ()
) -> Visible:
    """What a drawing shows.

    Args:
        network: what is drawn.
        focus: a query; its nodes are shown, and nothing of trees it does not read.
        full: every tree is open at first, also in a large network.
        toggled: roots of the trees that an analyst opened where they were closed, and closed where they were open.

    Raises:
        QueryError: there is no query of this name.
    """
    focused = network.ancestors(focus) if focus is not None else None
    opened = full or not is_large(network)
    trees: dict[NodeId, list[NodeView]] = {}
    for node in network.nodes:
        trees.setdefault(node.root, []).append(node)
    drawn, left_out = [], 0
    for root, nodes in trees.items():
        if focused is not None and root not in focused:
            left_out += len(nodes)
        elif focused is not None:
            drawn.append(_split(nodes, [node for node in nodes if root in toggled or node.id in focused]))
        else:
            drawn.append(_split(nodes, nodes if opened != (root in toggled) else nodes[:1]))
    return Visible(tuple(drawn), left_out)


def _split(nodes: list[NodeView], shown: list[NodeView]) -> VisibleTree:
    ids = {node.id for node in shown}
    return VisibleTree(tuple(shown), tuple(node for node in nodes if node.id not in ids))
