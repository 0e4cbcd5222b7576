"""The drawing of the query network as DOT text: a pure function of a view, without files, windows or layout.

Local trees (T9.3) are frames, queries are boxes at the nodes that hold their answers; a box says ∩ when the answer is
what several nodes have in common. What matters is written and not only coloured: a node that serves three queries says
×3, and after a batch every node says how many rows went in and came out. A frame's tint is the share of the batch's
time that its operator took.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from workbench.network.nodes import NodeId

if TYPE_CHECKING:
    from workbench.network.describe import NetworkView, NodeView

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
    "window": "ω",
}
"""The signs of relational algebra; F is a stream or table."""

LINE = 36
"""Characters of a predicate shown on a node."""
LINES = 3
"""Predicates shown on a node; its tooltip has all."""
NAMES = 6
"""Query names shown in one result box."""
LISTED = 20
"""Query names in a tooltip."""
WHOLE = 150
"""Nodes, and boxes of results, up to which a network is drawn node by node."""

INK, FAINT, LINK, STRONG = "#26323d", "#b9c1c9", "#7b8894", "#0b5cad"
PAPER, SOURCE, SHARED, RESULT = "#ffffff", "#e4ecf5", "#fff4d6", "#e3f3e6"
FRAME, RESULT_LINE = "#f6f8fa", "#3d8b57"
SYMMETRIC = re.compile(r"l\.(\w+) (?:=|<>) r\.\1")
"""A join predicate that says the same of both sides."""
HOT = (0xFD, 0xB8, 0x7A)


def to_dot(network: NetworkView, query: str | None = None, full: bool = False) -> str:
    """DOT text of a network.

    Args:
        network: what to draw, with the rows and times of its last report.
        query: a query to stress: what it is computed by is drawn strong and the rest pale.
        full: draw every node. Otherwise a network of more than ``WHOLE`` nodes or boxes of results is drawn one box a
            local tree, and with ``query`` only that query's nodes.

    Raises:
        QueryError: there is no query of this name.
    """
    strong = network.ancestors(query) if query is not None else None
    large = not full and max(len(network.nodes), len(set(network.results.values()))) > WHOLE
    nodes = [node for node in network.nodes if not large or strong is None or node.id in strong]
    drawing = _Drawing(network, query, strong)
    if large and strong is None:
        drawing.trees_as_boxes(_trees(nodes))
    else:
        drawing.trees_as_frames(_trees(nodes))
    drawing.queries(query if large else None)
    if left_out := len(network.nodes) - len(nodes):
        drawing.note(f"{left_out:,} nodes of other queries not shown")
    return drawing.text()


def quote(label: str) -> str:
    """A DOT string that shows exactly this text, whatever is in it; line ends stay line ends.

    Example:
        >>> print(quote('a < "b"'))
        "a < \\"b\\""
    """
    shown = "".join(c if c >= " " or c == "\n" else " " for c in label)  # XML has no control characters
    for character, written in (("&", "&amp;"), ("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n")):
        shown = shown.replace(character, written)
    return f'"{shown}"'


def short(text: str, limit: int = LINE) -> str:
    """The text on one line, cut with an ellipsis.

    Example:
        >>> short("a very long predicate", 9)
        'a very l…'
    """
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


@dataclass
class _Drawing:
    """Collects DOT statements; all text goes through ``quote``."""

    network: NetworkView
    query: str | None
    strong: frozenset[NodeId] | None
    lines: list[str] = field(default_factory=list)
    boxes: dict[NodeId, NodeId] = field(default_factory=dict)
    """Which box shows a node: itself, or its tree's root when trees are drawn as boxes."""

    @property
    def report(self) -> Any | None:
        return self.network.last_report

    def text(self) -> str:
        head = [
            "digraph network {",
            f'graph [bgcolor="white" rankdir=LR nodesep=0.15 ranksep=0.35 pad=0.1 {_font(10)}]',
            f'node [shape=box style="rounded,filled" fillcolor="{PAPER}" color="{LINK}" margin="0.12,0.06" '
            f"height=0.3 {_font(10)}]",
            f'edge [color="{LINK}" arrowsize=0.6 {_font(8)}]',
        ]
        return "\n".join([*head, *self.lines, "}"]) + "\n"

    def trees_as_frames(self, trees: Mapping[NodeId, list[NodeView]]) -> None:
        for root, nodes in trees.items():
            self.boxes.update((node.id, node.id) for node in nodes)
            operator = self._operator(root)
            if len(nodes) == 1:
                self._node(nodes[0], operator)
                continue
            pale = self.strong is not None and root not in self.strong
            heat = PAPER if pale or operator is None else self._heat(operator)
            tooltip = "one shared operator evaluates this local tree" + (f": {operator.name}" if operator else "")
            self.lines.append(f"subgraph {quote('cluster_' + root)} {{")
            self.lines.append(
                f'graph [style="rounded,filled" fillcolor="{FRAME if heat == PAPER else heat}" color="{FAINT}" '
                f"margin=10 tooltip={quote(tooltip)}]"
            )
            self._node(nodes[0], operator, framed=True)
            for node in nodes[1:]:
                self._node(node, None)
            self.lines.append("}")
        self._edges(edge for edge in self.network.edges if edge[0] in self.boxes and edge[1] in self.boxes)

    def trees_as_boxes(self, trees: Mapping[NodeId, list[NodeView]]) -> None:
        for root, nodes in trees.items():
            self.boxes.update((node.id, root) for node in nodes)
            self._node(nodes[0], self._operator(root), selections=len(nodes) - 1)
        drawn = ((self.boxes[parent], self.boxes[child]) for parent, child in self.network.edges)
        self._edges(edge for edge in dict.fromkeys(drawn) if edge[0] != edge[1])

    def queries(self, only: str | None) -> None:
        """The boxes of results, or that of one query; queries that read from the same boxes are in one."""
        readers: dict[tuple[NodeId, ...], list[str]] = {}
        for name, ids in self.network.results.items():
            if only in (None, name):
                readers.setdefault(tuple(dict.fromkeys(self.boxes[id_] for id_ in ids)), []).append(name)
        for read, names in readers.items():
            self._result(read, sorted(names, key=lambda name: name != self.query))

    def _result(self, read: tuple[NodeId, ...], names: Sequence[str]) -> None:
        stressed = self.query in names
        faint = self.query is not None and not stressed
        common = ["∩"] if len(read) > 1 else []
        more = [f"and {len(names) - NAMES} more"] if len(names) > NAMES else []
        label = chr(10).join([*common, *map(short, names[:NAMES]), *more])
        tooltip = f"results of {_listed(names)}" + (f"\nreads {' ∩ '.join(read)}" if common else "")
        box = quote(" ".join(["result", *read]))
        line = f'color="{FAINT if faint else RESULT_LINE}" penwidth={2 if stressed else 1}'
        self.lines.append(
            f"{box} [shape=note style=filled label={quote(label)} tooltip={quote(tooltip)} "
            f'fillcolor="{PAPER if faint else RESULT}" fontcolor="{FAINT if faint else INK}" {line}]'
        )
        self.lines += [f"{quote(id_)} -> {box} [style=dashed {line}]" for id_ in read]

    def note(self, text: str) -> None:
        self.lines.append(f'note [shape=plaintext style="" label={quote(text)} fontcolor="{LINK}"]')

    def _node(self, node: NodeView, operator: Any | None, selections: int = 0, framed: bool = False) -> None:
        pale = self.strong is not None and node.id not in self.strong
        stressed = self.strong is not None and not pale
        whole_tree = framed or selections > 0
        label = [
            *caption(node),
            f"σ in {selections:,} ways below" if selections else "",
            f"×{len(node.queries)} queries" if len(node.queries) > 1 else "",
            self._rows(node),
            self._time(node, operator) + (" for the tree" if whole_tree and operator else ""),
        ]
        tooltip = f"{node.id}: {node.sql}\nserves {_listed(node.queries) or 'no query'}"
        fill = PAPER if pale else self._fill(node, None if framed else operator)
        self.lines.append(
            f"{quote(node.id)} [label={quote(chr(10).join(filter(None, label)))} tooltip={quote(tooltip)} "
            f'fillcolor="{fill}" fontcolor="{FAINT if pale else INK}" '
            f'color="{FAINT if pale else STRONG if stressed else LINK}" '
            f"penwidth={2.2 if stressed else 1.8 if len(node.queries) > 1 and not pale else 1}]"
        )

    def _edges(self, edges: Iterable[tuple[NodeId, NodeId]]) -> None:
        seen: dict[NodeId, int] = {}
        for parent, child in edges:
            side = seen[child] = seen.get(child, -1) + 1
            label = ("left", "right")[side] if child == self.boxes[child] and self._sides_matter(child) else ""
            stressed = self.strong is not None and parent in self.strong and child in self.strong
            color = STRONG if stressed else LINK if self.strong is None else FAINT
            self.lines.append(
                f"{quote(parent)} -> {quote(child)} "
                f'[color="{color}" penwidth={2 if stressed else 1} label={quote(label)} fontcolor="{color}"]'
            )

    def _sides_matter(self, id_: NodeId) -> bool:
        """Whether a reader must know which parent is which: not when both are one box, or the sides say the same."""
        node = self.network.node(id_)
        if len(node.parents) != 2 or len({self.boxes[parent] for parent in node.parents}) == 1:
            return False
        if node.kind == "join":
            return not all(SYMMETRIC.fullmatch(part) for part in node.label)
        return node.operator.startswith("except")

    def _operator(self, root: NodeId) -> Any | None:
        if self.report is None:
            return None
        return next((operator for operator in self.report.operators if root in operator.nodes), None)

    def _rows(self, node: NodeView) -> str:
        if (found := self._counted(node)) is None:
            return ""
        return f"{found.rows_out:,} rows" if node.kind == "source" else f"{found.rows_in:,} → {found.rows_out:,} rows"

    def _time(self, node: NodeView, operator: Any | None) -> str:
        found = self._counted(node)
        if found is not None and found.seconds is not None:
            return _milliseconds(found.seconds)
        return _milliseconds(operator.seconds) if operator is not None else ""

    def _counted(self, node: NodeView) -> Any | None:
        had_work = self.report is not None and any(node.id in operator.nodes for operator in self.report.operators)
        return self.report.node(node.id) if self.report is not None and had_work else None

    def _fill(self, node: NodeView, operator: Any | None) -> str:
        heat = PAPER if operator is None else self._heat(operator)
        if heat != PAPER:
            return heat
        return SOURCE if node.kind == "source" else SHARED if len(node.queries) > 1 else PAPER

    def _heat(self, operator: Any) -> str:
        """White to orange by the operator's share of the batch's time; white below a twentieth."""
        total = sum(other.seconds for other in self.report.operators) if self.report else 0.0
        share = operator.seconds / total if total else 0.0
        if share < 0.05:
            return PAPER
        return "#" + "".join(f"{round(255 + (end - 255) * min(1.0, share * 2)):02x}" for end in HOT)


def _trees(nodes: Iterable[NodeView]) -> dict[NodeId, list[NodeView]]:
    trees: dict[NodeId, list[NodeView]] = {}
    for node in nodes:
        trees.setdefault(node.root, []).append(node)
    return trees


def caption(node: NodeView) -> list[str]:
    """What a node does, in a few short lines: its sign and the first parts of its operator set."""
    symbol = SYMBOLS[node.operator]
    if node.kind == "set operator":
        return [f"{symbol}  {node.operator.upper()}"]
    parts = [short(part) for part in node.label[:LINES]]
    if len(node.label) > LINES:
        parts[-1] = f"and {len(node.label) - LINES + 1} more"
    return [f"{symbol}  {parts[0]}", *parts[1:]] if parts else [symbol]


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return ", ".join(names[:LISTED]) + more


def _milliseconds(seconds: float) -> str:
    return f"{seconds * 1000:,.0f} ms"


def _font(size: int) -> str:
    return f'fontname="Helvetica,Arial,sans-serif" fontsize={size} fontcolor="{INK}"'
