"""The drawing of the query network as DOT text: a pure function of a view, without files, windows or layout.

Local trees (T9.3) are frames, queries are boxes at the nodes that hold their answers; a box says ∩ when the answer is
what several nodes have in common. What matters is written and not only coloured: a node that serves three queries says
×3, and after a batch every node says how many rows went in and came out. A frame's tint is the share of the batch's
time that its operator took.

A *live* drawing is for the panel: where numbers will stand it has placeholders of their width, which are filled in
without a new layout, and every part has a class, by which a style sheet gives it the colours of the theme.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from textwrap import wrap
from typing import Any

from workbench.explain.node_view import NodeView
from workbench.explain.text import counted, listed, milliseconds, short
from workbench.explain.visible import OTHERS, DrawnNetwork, Visible, VisibleTree, is_large, visible
from workbench.network.nodes import FIRST_IS_APART, NodeId


class Shape(Enum):
    """How a drawing is laid out: rows flow to the right, with long or short lines in boxes, or down the page."""

    WIDE = "wide"
    NARROW = "narrow"
    TALL = "tall"


_LINE = 18
"""Characters of a line in boxes of drawings that are not to be wide."""
NAMES, FEW_NAMES, MANY_BOXES = 6, 2, 20
"""Query names shown in one result box, and boxes above which one shows fewer."""
_LONGEST = 2_000
"""Characters of a text; Graphviz reads no string of more than 16,384 bytes, and has six for some characters."""
_LISTED = 20
"""Query names in a tooltip."""
ROWS_HERE, TIME_HERE = "▁" * 16, "▂" * 7
"""Where a live drawing has the rows and the time of a node."""

INK, FAINT, LINK, STRONG = "#26323d", "#b9c1c9", "#7b8894", "#0b5cad"
PAPER, SOURCE, SHARED, RESULT = "#ffffff", "#e4ecf5", "#fff4d6", "#e3f3e6"
FRAME, RESULT_LINE = "#f6f8fa", "#3d8b57"
SYMMETRIC = re.compile(r"l\.(\w+) (?:=|<>) r\.\1")
"""A join predicate that says the same of both sides."""
HOT = (0xFD, 0xB8, 0x7A)


def to_dot(
    network: DrawnNetwork,
    query: str | None = None,
    full: bool = False,
    focus: Collection[str] | None = None,
    shape: Shape = Shape.WIDE,
) -> str:
    """DOT text of a network.

    Args:
        network: what to draw, with the rows and times of its last report.
        query: a query to stress: what it is computed by is drawn strong and the rest pale.
        full: draw every node. Otherwise in a large network (``visible``) local trees are closed, and with ``query``
            only that query's nodes are drawn.
        focus: the queries whose nodes are drawn, in a network of any size.
        shape: of the drawing.

    Raises:
        QueryError: there is no query of this name.
    """
    alone = query if is_large(network) and not full and focus is None else None
    drawn = focus or ([alone] if alone is not None else [])
    strong = network.ancestors(query) if query is not None else None
    return _Drawing(network, visible(network, drawn, full), query, strong, focus=focus or (), shape=shape).text(
        only=alone
    )


def to_live_dot(network: DrawnNetwork, focus: Collection[str] = (), toggled: Collection[NodeId] = ()) -> str:
    """DOT text of a live drawing; ``focus`` and ``toggled`` as in ``visible``.

    Raises:
        QueryError: there is no query of this name.
    """
    return _Drawing(network, visible(network, focus, toggled=toggled), live=True, focus=focus).text()


def quote(label: str) -> str:
    """A DOT string that shows this text, whatever is in it; line ends stay line ends, and what is too long is cut.

    Example:
        >>> print(quote('a < "b"'))
        "a < \\"b\\""
    """
    label = label if len(label) <= _LONGEST else label[: _LONGEST - 1] + "…"
    shown = "".join(c if c >= " " or c == "\n" else " " for c in label)  # XML has no control characters
    for character, escaped in (("&", "&amp;"), ("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n")):
        shown = shown.replace(character, escaped)
    return f'"{shown}"'


@dataclass
class _Drawing:
    """Collects DOT statements; all text goes through ``quote``."""

    network: DrawnNetwork
    visible: Visible
    query: str | None = None
    strong: frozenset[NodeId] | None = None
    live: bool = False
    focus: Collection[str] = ()
    shape: Shape = Shape.WIDE
    lines: list[str] = field(default_factory=list)

    @cached_property
    def boxes(self) -> Mapping[NodeId, str]:
        return self.visible.boxes

    @property
    def report(self) -> Any | None:
        return None if self.live else self.network.last_report

    @cached_property
    def _rows_out(self) -> Mapping[NodeId, int]:
        return {} if self.report is None else rows_out(self.report)

    def text(self, only: str | None = None) -> str:
        """The drawing in the DOT language; with ``only``, the results of that query alone."""
        for tree in self.visible.trees:
            self._tree(tree)
        self._edges()
        self._queries(only)
        if self.visible.others:
            self._others(self.visible.others)
        font = {"fontname": "Helvetica,Arial,sans-serif", "fontcolor": INK}
        box = {"shape": "box", "style": "rounded,filled", "fillcolor": PAPER, "color": LINK}
        paper = "transparent" if self.live else "white"
        flow = "TB" if self.shape is Shape.TALL else "LR"
        apart, margin = (0.25, "0.07,0.05") if self.shape is Shape.NARROW else (0.35, "0.12,0.06")
        head = [
            "digraph network {",
            _statement("graph", bgcolor=paper, rankdir=flow, nodesep=0.15, ranksep=apart, pad=0.1, fontsize=10, **font),
            _statement("node", **box, margin=margin, height=0.3, fontsize=10, **font),
            _statement("edge", color=LINK, arrowsize=0.6, fontsize=10, **font),
        ]
        return "\n".join([*head, *self.lines, "}"]) + "\n"

    def _add(self, subject: str, **attributes: object) -> None:
        self.lines.append(_statement(subject, **attributes))

    def _tree(self, tree: VisibleTree) -> None:
        root, operator = tree.root, self._operator(tree.root)
        if len(tree.shown) == 1:
            self._node(tree.shown[0], operator, selections=len(tree.counted))
            return
        pale = self.strong is not None and root not in self.strong
        heat = PAPER if pale or operator is None else self._heat(operator)
        tooltip = "one shared operator evaluates this local tree"
        self.lines.append(f"subgraph {quote('cluster_' + root)} {{")
        fill = FRAME if heat == PAPER else heat
        self._add(
            "graph", CLASS="frame", style="rounded,filled", fillcolor=fill, color=FAINT, margin=10, tooltip=tooltip
        )
        self._node(tree.shown[0], operator, framed=True)
        for node in tree.shown[1:]:
            self._node(node, None)
        if tree.counted:
            label = f"σ  {counted(len(tree.counted), 'selection')} of other queries"
            rest = quote(f"rest {root}")
            self._add(rest, CLASS="rest", style="rounded,dashed", label=label, tooltip="", fontcolor=LINK)
        self.lines.append("}")

    def _others(self, others: Sequence[NodeView]) -> None:
        """One box for all trees that are not drawn."""
        trees, served = len({node.root for node in others}), len({name for node in others for name in node.queries})
        label = (
            f"{counted(len(others), 'node')} of other queries\n"
            f"{counted(trees, 'local tree')}, {counted(served, 'query', 'queries')}"
        )
        self._add(quote(OTHERS), CLASS="rest", style="rounded,dashed", label=label, tooltip="", fontcolor=LINK)

    def _queries(self, only: str | None) -> None:
        """The boxes of results, or that of one query; queries that read from the same boxes are in one."""
        readers: dict[tuple[str, ...], list[str]] = {}
        # In focus, what is only counted has no answers in its box.
        there = self.boxes if not self.focus else {id_ for id_, box in self.boxes.items() if box == id_}
        for name, ids in self.network.results.items():
            if only in (None, name) and all(id_ in there for id_ in ids):
                readers.setdefault(tuple(dict.fromkeys(self.boxes[id_] for id_ in ids)), []).append(name)
        most = NAMES if len(readers) <= MANY_BOXES else FEW_NAMES
        for read, names in readers.items():
            self._result(read, sorted(names, key=lambda name: name != self.query and name not in self.focus), most)

    def _result(self, read: tuple[str, ...], names: Sequence[str], most: int) -> None:
        stressed = self.query in names
        faint = self.query is not None and not stressed
        common = ["∩"] if len(read) > 1 else []
        more = [f"and {len(names) - most} more"] if len(names) > most else []
        label = "\n".join([*common, *map(short, names[:most]), *more])
        names_read = (self.network.node(id_).name for id_ in read)
        tooltip = f"results of {listed(names, _LISTED)}" + (f"\nreads {' ∩ '.join(names_read)}" if common else "")
        box = quote(" ".join(["result", *read]))
        line = {"color": FAINT if faint else RESULT_LINE, "penwidth": 2 if stressed else 1}
        fill, font = (PAPER, FAINT) if faint else (RESULT, INK)
        shape = {"shape": "note", "style": "filled", "fillcolor": fill, "fontcolor": font}
        self._add(box, CLASS="result", label=label, tooltip=tooltip, **shape, **line)
        for id_ in read:
            self._add(f"{quote(id_)} -> {box}", CLASS="reads", style="dashed", **line)

    def _node(self, node: NodeView, operator: Any | None, selections: int = 0, framed: bool = False) -> None:
        pale = self.strong is not None and node.id not in self.strong
        stressed = self.strong is not None and not pale
        whole_tree = framed or selections > 0
        label = [
            *(["rows of constants"] if node.id in self.visible.constant else node.caption),
            f"σ  {counted(selections, 'selection')} below" if selections else "",
            self._readers(node),
            self._rows(node),
            self._time(node, operator) + (" for the tree" if whole_tree and operator else ""),
            self._cost(node),
        ]
        # A live drawing names the queries beside it, when the node is chosen.
        served = "" if self.live else f"\nserves {listed(node.queries, _LISTED) or 'no query'}"
        shared = len(node.queries) > 1
        self._add(
            quote(node.id),
            CLASS=node.kind.replace(" ", "-") + " shared" * shared + " closed" * (selections > 0),
            label="\n".join(self._folded(filter(None, label))),
            tooltip=node.sql + served,
            fillcolor=PAPER if pale else self._fill(node, None if framed else operator),
            fontcolor=FAINT if pale else INK,
            color=FAINT if pale else STRONG if stressed else LINK,
            penwidth=2.2 if stressed else 1.8 if shared and not pale else 1,
        )

    def _folded(self, lines: Iterable[str]) -> Iterator[str]:
        """The lines of a box; in a narrow drawing no longer than they may be there."""
        for line in lines:
            if self.shape is Shape.WIDE:
                yield line
                continue
            parts = line.replace("(", "( ")
            folded = wrap(parts, _LINE, subsequent_indent="   ", break_long_words=False, break_on_hyphens=False)
            yield from (part.replace("( ", "(") for part in folded)

    def _edges(self) -> None:
        drawn = ((self.boxes.get(parent), self.boxes.get(child)) for parent, child in self.network.edges)
        times = Counter((parent, child) for parent, child in drawn if parent and child and parent != child)
        seen: dict[str, int] = {}
        for (parent, child), count in times.items():
            assert parent and child
            # Both sides of a self-join are two edges; between boxes that stand for several nodes one is enough.
            for _ in range(min(count, 2) if self._alone(parent) and self._alone(child) else 1):
                side = seen[child] = seen.get(child, -1) + 1
                label = ("left", "right")[side] if self._alone(child) and self._sides_matter(child) else ""
                stressed = self.strong is not None and parent in self.strong and child in self.strong
                color = STRONG if stressed else LINK if self.strong is None else FAINT
                line = {"color": color, "fontcolor": color, "penwidth": 2 if stressed else 1}
                self._add(f"{quote(parent)} -> {quote(child)}", label=label, **line)

    def _alone(self, box: str) -> bool:
        """Whether a box has one node."""
        return self.boxes.get(box) == box and box not in self._closed

    @property
    def _closed(self) -> frozenset[str]:
        return frozenset(tree.root for tree in self.visible.trees if tree.closed)

    def _sides_matter(self, id_: NodeId) -> bool:
        """Whether a reader must know which parent is which: not when both are one box, or the sides say the same."""
        node = self.network.node(id_)
        if len(node.parents) != 2 or len({self.boxes[parent] for parent in node.parents}) == 1:
            return False
        if node.kind == "join":
            return not all(SYMMETRIC.fullmatch(part) for part in node.label)
        return node.operator in FIRST_IS_APART

    def _operator(self, root: NodeId) -> Any | None:
        return None if self.report is None else self.report.operator_of(root)

    def _readers(self, node: NodeView) -> str:
        """For how many queries it works once; a stream does no work."""
        if node.is_shared:
            return f"×{len(node.queries)} queries"
        return f"read by {len(node.queries)} queries" if len(node.queries) > 1 else ""

    def _rows(self, node: NodeView) -> str:
        if self.live:
            return ROWS_HERE
        if self.report is None or self._operator(node.id) is None:
            return ""
        into, out = rows_through(self._rows_out, node)
        return counted(out, "row") if node.kind == "source" else f"{into:,} → {counted(out, 'row')}"

    def _time(self, node: NodeView, operator: Any | None) -> str:
        if self.live:
            return TIME_HERE if node.id == node.root else ""
        return milliseconds(operator.seconds) if operator is not None else ""

    def _cost(self, node: NodeView) -> str:
        """What the node costs alone, in a batch that was profiled; else its share of the operator's time, estimated."""
        if self.report is None or (operator := self._operator(node.id)) is None or len(operator.nodes) == 1:
            return ""
        measured = self.report.node(node.id)
        if measured.seconds is None:
            return ""
        took = milliseconds(measured.seconds)
        return f"≈ {took}" if measured.estimated else f"{took} alone"

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


def rows_out(report: Any) -> Mapping[NodeId, int]:
    """The number of rows of each node in a batch."""
    return {id_: rows for operator in report.operators for id_, rows in operator.node_rows.items()}


def rows_through(out: Mapping[NodeId, int], node: NodeView) -> tuple[int, int]:
    """Rows that came into a node and rows that left it; what leaves a node comes into those that read it.

    Of what several nodes have in common it is the number of rows of the smallest, which is an upper bound.
    """
    combine = min if node.kind in ("aggregate", "distinct") else sum
    return combine([out.get(parent, 0) for parent in node.parents]), out.get(node.id, 0)


def _statement(subject: str, **attributes: object) -> str:
    """A DOT statement; ``CLASS`` is the attribute whose name Python keeps for itself."""
    return f"{subject} [{' '.join(f'{name.lower()}={quote(str(value))}' for name, value in attributes.items())}]"
