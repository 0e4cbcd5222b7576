"""The widgets of the panel: those with code of their own in the browser, the chooser of a query, buttons.

Each ES module in ``static`` is sent to the page by the kernel: nothing is loaded from elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import anywidget
import ipywidgets
import traitlets

from workbench.session.query import Query
from workbench.session.session import Session

STATIC = Path(__file__).parents[1] / "static"
STYLE = (STATIC / "argus.css").read_text(encoding="utf-8")
NETWORK_PARTS = ("values", "chooser", "camera", "colours", "side", "picture", "timeline", "view")
"""The files of the network's module, in the order in which they need each other: a page imports one text."""
NETWORK = "\n".join((STATIC / "network" / f"{part}.js").read_text(encoding="utf-8") for part in NETWORK_PARTS)


class NetworkWidget(anywidget.AnyWidget):
    """The network as a drawing to walk in.

    Attributes:
        drawing: SVG with placeholders for numbers (``to_live_dot``).
        boxes: for each node the box that shows it.
        nodes: what is known of each node, by id.
        names: all queries; nodes name theirs by position.
        numbers: rows of nodes, seconds of trees and loads of edges in the batch that is shown.
        batches: the first and the last that can be shown.
        at: the one that is shown, 0 for the last.
        series: the chosen node over the last batches.
        focus: the queries that are drawn; all when there are none.
        toggled, selected, scale, load: what else the analyst chose.
    """

    _esm = NETWORK
    _css = STYLE
    drawing = traitlets.Unicode().tag(sync=True)
    boxes: Any = traitlets.Dict().tag(sync=True)
    nodes: Any = traitlets.Dict().tag(sync=True)
    names: Any = traitlets.List().tag(sync=True)
    numbers: Any = traitlets.Dict().tag(sync=True)
    batches: Any = traitlets.List([0, 0]).tag(sync=True)
    at = traitlets.Int().tag(sync=True)
    series: Any = traitlets.Dict().tag(sync=True)
    focus: Any = traitlets.List().tag(sync=True)
    toggled: Any = traitlets.List().tag(sync=True)
    selected = traitlets.Unicode().tag(sync=True)
    scale = traitlets.Enum(["time", "rows", "queries", "age"], "time").tag(sync=True)
    load = traitlets.Enum(["rows", "time", "waiting", "bytes"], "rows").tag(sync=True)


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


class AnswerWidget(anywidget.AnyWidget):
    """An answer to scroll through, sorted by pressing a heading.

    Attributes:
        page: the rows around those that are seen (``answer_page.page_of``), the ``order`` they are in, as ``asked``,
            and after which ``batch``: cells that are others in a later one are marked for a moment.
        asked: the ``column`` to sort by, and whether ``descending``; empty: the query's own order.
        window: how many rows come before those that are wanted, and how many these are.
        selected: the row that was chosen, by how many come before it, and its column, by its place; may be empty.
    """

    _esm = STATIC / "answer.js"
    _css = STYLE
    page: Any = traitlets.Dict().tag(sync=True)
    asked: Any = traitlets.Dict().tag(sync=True)
    window: Any = traitlets.List([0, 140]).tag(sync=True)
    selected: Any = traitlets.Dict().tag(sync=True)


class SliderWidget(anywidget.AnyWidget):
    """A whole number, chosen with a slider that has a name for who does not see it, as those of ipywidgets have not.

    Attributes:
        label: what the number is; also the slider's name.
        min, max: the least and the greatest; ``value``, the chosen one, is between them.
        texts: what the numbers from ``min`` on stand for, shown and read aloud in their place; may be empty.
        live: whether the kernel hears of positions while the slider moves, too, once it has rested for a moment.
    """

    _esm = STATIC / "slider.js"
    _css = STYLE
    label = traitlets.Unicode().tag(sync=True)
    min = traitlets.Int().tag(sync=True)
    max = traitlets.Int().tag(sync=True)
    value = traitlets.Int().tag(sync=True)
    texts: Any = traitlets.List().tag(sync=True)
    live = traitlets.Bool().tag(sync=True)


class StaticViewHider(anywidget.AnyWidget):
    """Hides the static view while the live one is there; ``static_view`` is its name."""

    _esm = STATIC / "static_view.js"
    _css = STYLE
    static_view = traitlets.Unicode().tag(sync=True)


class ChosenQuery(traitlets.HasTraits):
    """The query that all views of a panel look at, and the batch up to which each query's results were looked at."""

    query = traitlets.Unicode()

    def __init__(self) -> None:
        super().__init__()
        self.seen: dict[str, int] = {}


class QueryChooser:
    """A field that chooses one query of a session, the last one at first, and follows the choice in other views.

    Args:
        session: whose queries.
        choice: the choice that the views of a panel share.
        on_change: called when another query is chosen.
    """

    def __init__(self, session: Session, choice: ChosenQuery, on_change: Callable[[], None]) -> None:
        self._session = session
        self._choice = choice
        self._on_change = on_change
        self.widget = ipywidgets.Dropdown(description="Query", layout={"width": "320px"})
        self.widget.observe(self._changed, "value")
        choice.observe(lambda change: self._follow(), "query")

    @property
    def query(self) -> Query | None:
        """The chosen query; ``None`` when there is none."""
        return self._session.queries.get(self.widget.value or "")

    def refresh(self) -> None:
        """Bring the names up to date."""
        names = tuple(self._session.queries)
        if tuple(self.widget.options) != names:
            before = self.widget.value
            self.widget.unobserve(self._changed, "value")  # new names choose the first, for a moment
            self.widget.options = names
            self.widget.value = before if before in names else next(reversed(names), None)
            self.widget.observe(self._changed, "value")
            if self.widget.value != before:
                self._changed()
        self._follow()

    def _follow(self) -> None:
        if self._choice.query in self.widget.options and self.widget.value != self._choice.query:
            self.widget.value = self._choice.query

    def _changed(self, change: object = None) -> None:
        if self.widget.value:
            self._choice.query = self.widget.value
            self._on_change()


def button(label: str, icon: str, action: Callable[[], object], tooltip: str | None = None) -> ipywidgets.Button:
    """A button that calls ``action``."""
    widget = ipywidgets.Button(description=label, icon=icon, tooltip=tooltip, layout={"width": "auto"})
    widget.on_click(lambda clicked: action())
    return widget


def html_box() -> ipywidgets.HTML:
    """An empty piece of HTML in the style of the panel."""
    widget = ipywidgets.HTML()
    widget.add_class("argus")
    return widget
