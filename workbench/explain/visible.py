"""The visible part of a network; a drawing counts the rest: local trees are open or closed, and a query is in focus.

A network of hundreds of nodes drawn node by node hides what matters. An *open* tree shows its nodes; a *closed* one is
a single box that says how many selections it has. With queries in focus their nodes are shown, the other nodes of their
trees are one box with a number for each tree, and all other trees are one box together.

Rows of constants, as the places of arrays that EXPLODE looks at, never change: they are one box, whatever they are
made by. What only watches over a limit of a query is not drawn. A drawing in full has all of it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from workbench.explain.node_view import NodeView
from workbench.network.nodes import NodeId

WHOLE = 150
"""Nodes, and boxes of results, up to which all trees are open at first."""
CROWDED = 40
"""Nodes up to which a panel draws all queries at first; in a larger network it draws the chosen one."""
OTHERS = "others"
"""The box that stands for the trees that are not drawn."""


class DrawnNetwork(Protocol):
    """The parts of a network that a drawing needs; ``describe.NetworkView`` has them."""

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
        """Whether the root represents the whole tree."""
        return len(self.shown) == 1 and bool(self.counted)


@dataclass(frozen=True)
class Visible:
    """A drawing's trees, and the nodes of all others, which are one box; ``constant``: nodes with rows of constants."""

    trees: tuple[VisibleTree, ...]
    others: tuple[NodeView, ...] = ()
    constant: frozenset[NodeId] = frozenset()

    @property
    def boxes(self) -> dict[NodeId, str]:
        """Which box shows a node: itself, its closed tree's root, the rest of its tree, or that of all other trees."""
        boxes: dict[NodeId, str] = {}
        for tree in self.trees:
            boxes.update((node.id, node.id) for node in tree.shown)
            boxes.update((node.id, tree.root if tree.closed else f"rest {tree.root}") for node in tree.counted)
        boxes.update((node.id, OTHERS) for node in self.others)
        return boxes


def is_large(network: DrawnNetwork) -> bool:
    """Whether a network is too large to be drawn node by node."""
    return max(len(network.nodes), len(set(network.results.values()))) > WHOLE


def is_crowded(network: DrawnNetwork) -> bool:
    """Whether a network has more nodes than one reads at a glance."""
    return len(network.nodes) > CROWDED


def visible(
    network: DrawnNetwork, focus: Collection[str] = (), full: bool = False, toggled: Collection[NodeId] = ()
) -> Visible:
    """The nodes and edges that a drawing shows.

    Args:
        network: what is drawn.
        focus: queries; their nodes are shown, and nothing of trees they do not read. All queries when there are none.
        full: every node is drawn, and every tree is open at first, also in a large network.
        toggled: roots of the trees that an analyst opened where they were closed, and closed where they were open.

    Raises:
        QueryError: there is no query of this name.
    """
    focused = frozenset().union(*map(network.ancestors, focus)) if focus else None
    opened = full or not is_large(network)
    constant = frozenset(node.id for node in network.nodes if node.constant and not full)
    trees: dict[NodeId, list[NodeView]] = {}
    for node in network.nodes if full else _drawn_nodes(network, constant):
        trees.setdefault(node.root, []).append(node)
    drawn, others = [], list[NodeView]()
    for root, nodes in trees.items():
        if focused is not None and root not in focused:
            others += nodes
        elif focused is not None:
            drawn.append(_split(nodes, [node for node in nodes if root in toggled or node.id in focused]))
        else:
            drawn.append(_split(nodes, nodes if opened != (root in toggled) else nodes[:1]))
    return Visible(tuple(drawn), tuple(others), constant)


def _drawn_nodes(network: DrawnNetwork, constant: Collection[NodeId]) -> list[NodeView]:
    """The nodes without those that rows of constants are made by, and those that serve a query, but not its answer."""
    needed = {id_ for ids in network.results.values() for id_ in ids}
    needed.update(node.id for node in network.nodes if not node.queries)
    for node in reversed(network.nodes):
        if node.id in needed:
            own = (parent for parent in node.parents if node.root == network.node(parent).root)
            needed.update(own if node.id in constant else node.parents)
    return [node for node in network.nodes if node.id in needed]


def _split(nodes: list[NodeView], shown: list[NodeView]) -> VisibleTree:
    ids = {node.id for node in shown}
    return VisibleTree(tuple(shown), tuple(node for node in nodes if node.id not in ids))
