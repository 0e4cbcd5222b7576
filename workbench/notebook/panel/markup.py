"""Small pieces of HTML the views are made of; everything that is not ours is escaped."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from html import escape

TOKEN = re.compile(r"'(?:[^']|'')*'|\w+|[^\w\s]")
SHORTEST_MATCH = 3
"""Tokens in a row that must agree before they are marked: a lone comma says nothing."""


def sparkline(values: Sequence[float], label: str, width: int = 90, height: int = 16) -> str:
    """Bars for values, the newest at the right.

    Example:
        >>> sparkline([1, 2], "rows", 20, 10).partition("<path")[2]
        ' d="M0 10v-5h9v5M10 10v-10h9v10"/></svg>'
    """
    most = max(values, default=0) or 1
    each = width / max(1, len(values)) if len(values) < width / 3 else 3
    shown = list(values)[-int(width / each) :]
    bars = "".join(
        f"M{i * each:.4g} {height}v-{high:.4g}h{each - 1:.4g}v{high:.4g}"
        for i, value in enumerate(shown)
        if (high := height * value / most) > 0
    )
    description = escape(f"{label}: {', '.join(f'{value:g}' for value in shown)}", quote=True)
    size = f'width="{width}" height="{height}"'
    return f'<svg class="spark" {size} role="img" aria-label="{description}"><path d="{bars}"/></svg>'


def grid(columns: Sequence[str], rows: Sequence[Sequence[str]], numbers: Sequence[int] = ()) -> str:
    """A table; cells are HTML already, ``numbers`` are the columns to align at the right."""
    kind = [' class="number"' if i in numbers else "" for i in range(len(columns))]
    head = "".join(f'<th scope="col"{k}>{escape(column)}</th>' for k, column in zip(kind, columns, strict=True))
    body = "".join(
        "<tr>" + "".join(f"<td{k}>{cell}</td>" for k, cell in zip(kind, row, strict=True)) + "</tr>" for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def tag(text: str, kind: str = "") -> str:
    """A word in a frame."""
    return f'<span class="tag {kind}">{escape(text)}</span>'


def side_by_side(left: str, right: str) -> tuple[str, str]:
    """Two SQL texts with the parts marked that both have, whatever their case and spacing.

    Example:
        >>> side_by_side("SELECT a FROM t WHERE b > 5", "select a from t where b > 9")[1]
        '<mark>select a from t where b &gt;</mark> 9'
    """
    tokens = [list(TOKEN.finditer(text)) for text in (left, right)]
    words = [[token[0].lower() for token in matches] for matches in tokens]
    blocks = difflib.SequenceMatcher(a=words[0], b=words[1], autojunk=False).get_matching_blocks()
    runs = [block for block in blocks if block.size >= SHORTEST_MATCH]
    return (
        _marked(left, [(tokens[0][b.a].start(), tokens[0][b.a + b.size - 1].end()) for b in runs]),
        _marked(right, [(tokens[1][b.b].start(), tokens[1][b.b + b.size - 1].end()) for b in runs]),
    )


def _marked(text: str, places: Sequence[tuple[int, int]]) -> str:
    parts, at = [], 0
    for start, end in places:
        parts += [escape(text[at:start], quote=False), f"<mark>{escape(text[start:end], quote=False)}</mark>"]
        at = end
    return "".join([*parts, escape(text[at:], quote=False)])
