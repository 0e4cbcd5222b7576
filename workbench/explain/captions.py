"""What a node is called where there is little room: its sign of relational algebra, the first parts of what it does."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbench.explain.describe import NodeView

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


def short(text: str, limit: int = LINE) -> str:
    """The text on one line, cut with an ellipsis.

    Example:
        >>> short("a very long predicate", 9)
        'a very l…'
    """
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def caption(node: NodeView) -> list[str]:
    """What a node does, in a few short lines: its sign and the first parts of its operator set."""
    symbol = SYMBOLS[node.operator]
    if node.kind == "set operator":
        return [f"{symbol}  {node.operator.upper()}"]
    parts = [short(part) for part in node.label[:LINES]]
    if len(node.label) > LINES:
        parts[-1] = f"and {len(node.label) - LINES + 1} more"
    return [f"{symbol}  {parts[0]}", *parts[1:]] if parts else [symbol]
