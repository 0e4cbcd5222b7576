"""The widgets with code of their own in the browser; everything else in the panel is of ipywidgets.

Each has one small ES module in ``static``, which is sent to the page by the kernel: nothing is loaded from elsewhere.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anywidget
import traitlets

STATIC = Path(__file__).parents[1] / "static"
STYLE = (STATIC / "argus.css").read_text(encoding="utf-8")


class NetworkWidget(anywidget.AnyWidget):
    """The network as a drawing to walk in.

    Attributes:
        drawing: SVG with placeholders for numbers (``to_live_dot``).
        boxes: for each node the box that shows it.
        nodes: what is known of each node, by id.
        names: all queries; nodes name theirs by position.
        numbers: rows of nodes and seconds of trees in the last batch.
        series: the chosen node over the last batches.
        focus, toggled, selected, scale: what the analyst chose.
    """

    _esm = STATIC / "network.js"
    _css = STYLE
    drawing = traitlets.Unicode().tag(sync=True)
    boxes: Any = traitlets.Dict().tag(sync=True)
    nodes: Any = traitlets.Dict().tag(sync=True)
    names: Any = traitlets.List().tag(sync=True)
    numbers: Any = traitlets.Dict().tag(sync=True)
    series: Any = traitlets.Dict().tag(sync=True)
    focus = traitlets.Unicode().tag(sync=True)
    toggled: Any = traitlets.List().tag(sync=True)
    selected = traitlets.Unicode().tag(sync=True)
    scale = traitlets.Enum(["time", "rows", "queries"], "time").tag(sync=True)


class ListWidget(anywidget.AnyWidget):
    """Rows of which one is chosen.

    Attributes:
        columns: headings, HTML.
        rows: each a ``key`` and ``cells``, which are HTML.
        selected: the key of the chosen row.
        label: what the list is of.
        height: CSS height; it does not change with the number of rows.
    """

    _esm = STATIC / "list.js"
    _css = STYLE
    columns: Any = traitlets.List().tag(sync=True)
    rows: Any = traitlets.List().tag(sync=True)
    selected = traitlets.Unicode().tag(sync=True)
    label = traitlets.Unicode().tag(sync=True)
    height = traitlets.Unicode("240px").tag(sync=True)


class TwinHider(anywidget.AnyWidget):
    """Hides the static twin of a view while the live one is there; ``twin`` is the twin's name."""

    _esm = STATIC / "twin.js"
    _css = STYLE
    twin = traitlets.Unicode().tag(sync=True)
