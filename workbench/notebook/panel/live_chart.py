"""A chart in the panel: drawn once by Vega in the page, after which batches replace its points."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import anywidget
import ipywidgets
import traitlets
import vl_convert

from workbench.notebook.chart import CHART_KINDS, answer_spec, chart_heading, points_of
from workbench.notebook.joint_chart import DrawnRows
from workbench.notebook.panel.widgets import STATIC, STYLE
from workbench.sql.algebra.types import DataType

_OWN = "as it suits"


@cache
def _module() -> str:
    """Vega, Vega-Lite and our part as one ES module, which needs nothing from the network."""
    return str(vl_convert.javascript_bundle((STATIC / "chart.js").read_text(encoding="utf-8")))


class ChartWidget(anywidget.AnyWidget):
    """A chart whose points come and go.

    Attributes:
        spec: a Vega-Lite specification, whose data set ``rows`` is empty; empty: there is no chart.
        points: the rows of that data set; the page gets them as one text, of which nothing is looked at on the way.
    """

    _css = STYLE
    _esm = traitlets.Unicode().tag(sync=True)
    spec: Any = traitlets.Dict().tag(sync=True)
    points: Any = traitlets.List().tag(sync=True, to_json=lambda points, chart: json.dumps(points))

    @traitlets.default("_esm")
    def _chart_module(self) -> str:
        return _module()

    def draw(self, drawn: DrawnRows) -> None:
        """Draw rows; where only the points are others, the drawing stays."""
        rows, columns = drawn.rows, drawn.columns.drawn_as(drawn.rows)
        spec = answer_spec(rows, columns, chart_heading(rows, columns, drawn.total, drawn.name))
        self.points = points_of(rows, columns)
        if {**spec, "description": ""} != {**self.spec, "description": ""}:
            self.spec = spec

    def clear(self) -> None:
        """Show no chart."""
        self.spec = {}


class LiveChart:
    """A chart of an answer, with fields that choose its columns.

    Args:
        on_change: called when something else is to be drawn.
    """

    def __init__(self, on_change: Callable[[], None]) -> None:
        self._on_change, self._offering = on_change, False
        self._columns: tuple[tuple[str, DataType], ...] = ()
        self.fields = {
            part: ipywidgets.Dropdown(description=label, layout={"width": "220px"}, style={"description_width": "50px"})
            for part, label in (("x", "Along"), ("y", "Values"), ("by", "Series"), ("kind", "Kind"))
        }
        self.fields["kind"].options = [(_OWN, ""), *((kind, kind) for kind in CHART_KINDS)]
        self.fields["kind"].value = ""
        self.others = ipywidgets.SelectMultiple(
            description="With", rows=2, layout={"width": "220px"}, style={"description_width": "50px"},
            tooltip="Further queries to draw in this chart; Ctrl chooses several, or none",
        )  # fmt: skip
        for field in (*self.fields.values(), self.others):
            field.observe(lambda change: self._changed(), "value")
        self.chart = ChartWidget()
        choice = ipywidgets.HBox([*self.fields.values(), self.others], layout={"flex_flow": "row wrap"})
        self.widget = ipywidgets.VBox([choice, self.chart])

    def offer(self, columns: Sequence[tuple[str, DataType]], others: Sequence[str] = ()) -> None:
        """Let the analyst choose among the columns of an answer, and the names of other queries to draw with it; those
        that are chosen stay where there are such.
        """
        if tuple(others) != self.others.options:
            chosen = [name for name in self.others.value if name in others]
            self._offering = True
            self.others.options = tuple(others)
            self.others.value = tuple(chosen)
            self._offering = False
        if tuple(columns) == self._columns:
            return
        self._columns = tuple(columns)
        names = [name for name, _ in columns]
        self._offering = True
        for part in ("x", "y", "by"):
            field, chosen = self.fields[part], self.fields[part].value
            field.options = [(_OWN, ""), *((name, name) for name in names)]
            field.value = chosen if chosen in names else ""
        self._offering = False

    def _changed(self) -> None:
        if not self._offering:
            self._on_change()

    @property
    def asked(self) -> dict[str, str]:
        """The chosen columns and the kind, as ``ChartColumns.of`` takes them."""
        return {part: field.value or "" for part, field in self.fields.items()}
