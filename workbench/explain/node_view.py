"""One node of the network as an analyst sees it: its kind, its SQL, its operator set, and a caption for a drawing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from workbench.explain.text import short
from workbench.network.network import Network
from workbench.network.nodes import (
    Aggregate,
    Analytic,
    Join,
    Node,
    NodeId,
    Selection,
    SetOperation,
    Source,
    Window,
    kind_of,
)
from workbench.network.sql_text import expression_sql, function_sql, node_sql, or_pred_sql, over_sql, window_sql
from workbench.network.wording import Wording
from workbench.sql.algebra.expressions import reading_order
from workbench.sql.predicates.cnf import pred_set

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
    "window": "ω",
    "analytic": "#",
}
"""The signs of relational algebra; F is a stream or table."""

CAPTION_LINES = 3
"""Parts of the operator set in a caption; the tooltip has all."""


@dataclass(frozen=True)
class NodeView:
    """One node, described.

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

    @property
    def is_shared(self) -> bool:
        """Whether it is work that is done once for several queries; a stream is no work."""
        return len(self.queries) > 1 and self.kind != "source"

    @property
    def caption(self) -> list[str]:
        """What the node does in a few short lines: its sign and the first parts of its operator set."""
        symbol = SYMBOLS[self.operator]
        if self.kind == "set operator":
            return [f"{symbol}  {self.operator.upper()}"]
        parts = [short(part) for part in self.label[:CAPTION_LINES]]
        if len(self.label) > CAPTION_LINES:
            parts[-1] = f"and {len(self.label) - CAPTION_LINES + 1} more"
        return [f"{symbol}  {parts[0]}", *parts[1:]] if parts else [symbol]


def node_view(network: Network, node: Node, wording: Wording) -> NodeView:
    """The description of a node of a network."""
    id_ = node.id
    kind = "distinct" if isinstance(node, Aggregate) and not node.statistics else kind_of(node)
    root = network.nodes[network.roots[id_]]
    return NodeView(
        id=id_,
        kind=kind,
        operator=str(node.operator) if isinstance(node, SetOperation) else kind,
        join_level=network.join_levels[id_],
        root=root.id,
        parents=node.parents,
        queries=network.served[id_],
        sql=node_sql(node, wording),
        label=tuple(_label(node, wording)),
        name=wording.name(id_),
    )


def _label(node: Node, wording: Wording) -> Iterable[str]:
    match node:
        case Source():
            return [node.stream] if node.append_only else [node.stream, "takes rows back"]
        case Selection():
            return [or_pred_sql(p, wording.columns(node.parent)) for p in node.predicates]
        case Join():
            return [or_pred_sql(p, wording.sides(node)) for p in node.tested]
        case Aggregate():
            names = wording.columns(node.read.root)
            groups = ", ".join(expression_sql(group, names) for group in node.groups)
            statistics = ", ".join(expression_sql(s, names) for s in sorted(node.statistics, key=reading_order))
            return [part for part in (groups, statistics) if part]
        case SetOperation():
            return [str(node.operator).upper()]
        case Window():
            return [window_sql(pred_set([end]), wording.columns(node.parent)) for end in node.within]
        case Analytic():
            names = wording.columns(node.read.root)
            ranks = "".join(or_pred_sql(p, wording.columns(node.id)) for p in node.bound)
            values = [function_sql(function, names) for function in node.in_order]
            return [part for part in (over_sql(node.over, names), ranks, *values) if part and part not in ranks[:-1]]
