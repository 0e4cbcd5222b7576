"""Plain text as HTML that keeps its columns and carets, wherever a notebook or an exported page shows it."""

from __future__ import annotations

from html import escape

_LETTERS = "white-space:pre-wrap; font-family:var(--jp-code-font-family, monospace)"


def monospace(text: str) -> str:
    """The text in the letters of code; a bare ``<pre>`` would take those of the page around it.

    Example:
        >>> monospace("a < b").endswith('monospace)">a &lt; b</div>')
        True
    """
    return f'<div style="{_LETTERS}">{escape(text)}</div>'
