"""One node of the network as an analyst sees it: its kind, its SQL, its operator set, and a caption for a drawing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import SupportsIndex, overload

from workbench.errors import UnknownNameError, nearest
from workbench.explain.text import short
from workbench.network.network import Network
from workbench.network.nodes import (
    Aggregate,
    Node,
    NodeId,
    SetOperation,
)
from workbench.network.wording import Wording

SYMBOLS = {
    "source": "F",
    "selection": "σ",
    "join": "⋈",
    "aggregate": "γ",
    "distinct": "δ",
    "union": "∪",
    "union all": "∪",
    "intersect": "∩",
    "intersect all": "∩",
    "except": "−",
    "except all": "−",
    "semijoin": "⋉",
    "antijoin": "▷",
    "recursion": "μ",
    "recursion all": "μ",
    "recursion least": "μ",
    "recursion greatest": "μ",
    "window": "ω",
    "analytic": "#",
}
"""The signs of relational algebra; F is a stream or table."""

_CAPTIONS = {"semijoin": "rows with a partner", "antijoin": "rows without partner"}
"""What set operators are called in captions that no SQL names."""
CAPTION_LINES = 3
"""Parts of the operator set in a caption; the tooltip has all."""


@dataclass(frozen=True)
class NodeView:
    """The description of a node.

    Attributes:
        id: stable for as long as the node computes the same.
        kind: ``source``, ``selection``, ``join``, ``aggregate``, ``set operator``, ``distinct``, ``window`` or
            ``analytic``.
        operator: the kind, but for a set operator which one: ``union``, ``except all``, ...
        join_level: 0 at a source (T9.3).
        root: id of the root of its local tree; itself when it is one.
        parents: ids, left before right.
        queries: names of the queries it serves, in the order of registration.
        sql: the statement that computes it from its parents.
        label: its operator set in parts, to show one per line: predicates, groups and statistics, or a stream's name.
        name: what it does, in a few words.
        constant: it has only parents whose rows never change.
    """

    id: NodeId
    kind: str
    operator: str
    join_level: int
    root: NodeId
    parents: tuple[NodeId, ...]
    queries: tuple[str, ...]
    sql: str
    label: tuple[str, ...]
    name: str = ""
    constant: bool = False

    @property
    def is_shared(self) -> bool:
        """Whether it is computed once for several queries; a stream is not computed."""
        return len(self.queries) > 1 and self.kind != "source"

    @property
    def caption(self) -> list[str]:
        """The caption of a node, a few short lines: its sign and the first parts of its operator set."""
        symbol = SYMBOLS[self.operator]
        if self.kind == "set operator":
            return [f"{symbol}  {_CAPTIONS.get(self.operator, self.operator.upper())}"]
        parts = [short(part) for part in self.label[:CAPTION_LINES]]
        if len(self.label) > CAPTION_LINES:
            parts[-1] = f"and {len(self.label) - CAPTION_LINES + 1} more"
        first, *others = parts or [short(self.name)]
        return [f"{symbol}  {first}", *others]


class NodeViews(tuple[NodeView, ...]):
    """Nodes in an order; in brackets also by id, and a source by the name of its stream."""

    @overload
    def __getitem__(self, key: SupportsIndex | str) -> NodeView: ...

    @overload
    def __getitem__(self, key: slice) -> tuple[NodeView, ...]: ...

    def __getitem__(self, key: SupportsIndex | slice | str) -> object:
        if not isinstance(key, str):
            try:
                return super().__getitem__(key)
            except IndexError:
                raise IndexError(f"there is no node {key} of {len(self)}, which are numbered from 0") from None
        sources = {node.label[0]: node for node in self if node.kind == "source"}
        for name, node in {**{str(node.id): node for node in self}, **sources}.items():
            if name.lower() == key.lower():
                return node
        hint = nearest(key, sources) or "a stream or the id of a node stands in brackets"
        if any(key in node.queries for node in self):
            hint = f"network.results[{key!r}] are the ids of the nodes of its answer"
        raise UnknownNameError(f"there is no node {key}", hint=hint)


def node_view(network: Network, node: Node, wording: Wording) -> NodeView:
    """The description of a node of a network."""
    id_ = node.id
    kind = "distinct" if isinstance(node, Aggregate) and not node.statistics else node.kind
    root = network.nodes[network.roots[id_]]
    return NodeView(
        id=id_,
        kind=kind,
        operator=str(node.operator) if isinstance(node, SetOperation) else kind,
        join_level=network.join_levels[id_],
        root=root.id,
        parents=node.parents,
        queries=network.served[id_],
        sql=node.sql(wording),
        label=tuple(node.label(wording)),
        name=wording.name(id_),
        constant=bool(node.parents) and network.constant.issuperset(node.parents),
    )
