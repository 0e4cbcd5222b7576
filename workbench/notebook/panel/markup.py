"""Small pieces of HTML the views are made of; everything that is not ours is escaped."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

TOKEN = re.compile(r"'(?:[^']|'')*'|\d+(?:\.\d+)?(?!\w)|(?:\w+\.)*\w+|[<>!]=|<>|[^\w\s]")
_READ = r"(?:\w+|`[^`]*`|«[^»]*»)"
_INPUT = re.compile(rf"^SELECT \* FROM {_READ}(?: WHERE| l (?:CROSS )?JOIN {_READ} r(?: ON)?)?| FROM «[^»]*»")
"""The beginning of a node's SQL that says its inputs, and nothing that it computes."""
_FLIPPED = {"=": "=", "<>": "<>", "<": ">", ">": "<", "<=": ">=", ">=": "<="}
SHORTEST_MATCH = 3
"""Tokens in a row that must agree before they are marked: a lone name or comma says nothing."""


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


def scrolled(name: str, html: str) -> str:
    """HTML that may be wider than the panel: a region of this name, which scrolls by keyboard too."""
    return (
        f'<div class="argus-scrolled" tabindex="0" role="region" aria-label="{escape(name, quote=True)}">{html}</div>'
    )


def tag(text: str, kind: str = "") -> str:
    """A word in a frame."""
    return f'<span class="tag {kind}">{escape(text)}</span>'


def marked(text: str, operator: str) -> str:
    """A SQL text with the parts marked that a node computes, whatever their case, spacing and the names of inputs.

    Args:
        text: of a query.
        operator: the statement of the node.

    Example:
        >>> marked("select a from t x where x.b > 5.0 and c = 1", "SELECT * FROM t WHERE b > 5")
        'select a from t x where <mark>x.b &gt; 5.0</mark> and c = 1'
    """
    computed = _words(_INPUT.sub("", operator))
    computed += [word for at in range(1, len(computed) - 1) for word in _swapped(computed, at)]
    tokens = list(TOKEN.finditer(text))
    words = _words(text)
    places, at = [], 0
    while at < len(words):
        length = max((_common(words[at:], computed[start:]) for start in range(len(computed))), default=0)
        if length >= SHORTEST_MATCH:
            places.append((tokens[at].start(), tokens[at + length - 1].end()))
        at += length if length >= SHORTEST_MATCH else 1
    return _marked(text, places)


def _words(text: str) -> list[str]:
    """The tokens of a text as they are compared: without case, without the names of inputs, numbers by their value."""
    words = (token[0].lower() for token in TOKEN.finditer(text))
    return [f"{float(word):g}" if word[0].isdigit() else word.rpartition(".")[2] or word for word in words]


def _swapped(words: list[str], at: int) -> list[str]:
    """A comparison with its sides swapped, after a word that is nowhere else."""
    return ["", words[at + 1], _FLIPPED[words[at]], words[at - 1]] if words[at] in _FLIPPED else []


def _common(left: list[str], right: list[str]) -> int:
    """How many words two lists begin with alike."""
    pairs = enumerate(zip(left, right, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(left), len(right)))


def _marked(text: str, places: Sequence[tuple[int, int]]) -> str:
    parts, at = [], 0
    for start, end in places:
        parts += [escape(text[at:start], quote=False), f"<mark>{escape(text[start:end], quote=False)}</mark>"]
        at = end
    return "".join([*parts, escape(text[at:], quote=False)])
