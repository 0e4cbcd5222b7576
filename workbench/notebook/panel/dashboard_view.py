"""A dashboard: answers with their charts, and sliders, side by side, which follow the batches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

import ipywidgets

from workbench.notebook.dashboard_grid import DashboardGrid
from workbench.notebook.display import Shown
from workbench.notebook.panel.live_chart import ChartWidget
from workbench.notebook.panel.parameter_sliders import ParameterSliders
from workbench.notebook.panel.view import View
from workbench.notebook.panel.widgets import html_box
from workbench.notebook.snapshot import DASHBOARD_STYLE, SIDE_BY_SIDE, AnswerParts, answer_parts, answer_section
from workbench.session.player import Player
from workbench.session.query import Query
from workbench.session.session import Session

_FRAME = {"border": "1px solid var(--jp-border-color2)", "padding": "8px 16px"}
_HEADING = '<h2 style="font-size: 16px; margin: 8px 0">{}</h2>'


class _AnswerBox:
    """The box of an answer, whose chart is drawn once and then moves.

    Args:
        name: of the query.
    """

    def __init__(self, name: str) -> None:
        self._name, self._chart = name, ChartWidget()
        self._head, self._rows = html_box(), html_box()
        self.widget = ipywidgets.VBox([self._head, self._chart, self._rows], layout=_FRAME)

    def show(self, parts: AnswerParts) -> None:
        """Show another answer."""
        self._head.value = _HEADING.format(escape(self._name)) + parts.as_of
        if parts.drawn is None:
            self._chart.clear()
        else:
            self._chart.draw(parts.drawn)
        self._chart.layout.display = "none" if parts.drawn is None else ""
        self._rows.value = f"<div class='argus-dashboard'><div>{parts.rows}</div></div>"


class DashboardView(View):
    """The answers of some queries, each with its chart and its line *as of*.

    Args:
        session: the session to show.
        player: the player of that session.
        names: of the queries, and of cells with sliders; none: all queries there are.
        rows: how many rows of an answer at most.
        grid: where they stand.
        sliders: of cells that are not registered, by their names.
    """

    title = "Dashboard"

    def __init__(
        self,
        session: Session,
        player: Player,
        names: Sequence[str],
        rows: int,
        grid: DashboardGrid | None = None,
        sliders: Mapping[str, ParameterSliders] | None = None,
    ) -> None:
        self._names, self._rows, self._grid, self._sliders = tuple(names), rows, grid, sliders or {}
        super().__init__(session, player)

    def build(self) -> ipywidgets.Widget:
        """Make a box for each query; boxes whose answer is the same as before are kept."""
        self._made: dict[str, object] = {}
        self._answers: dict[str, _AnswerBox] = {}
        self._asked_after = -1
        self._boxes: dict[str, ipywidgets.Widget] = {
            name: ipywidgets.VBox([ipywidgets.HTML(_HEADING.format(escape(name))), sliders.widget], layout=_FRAME)
            for name, sliders in self._sliders.items()
        }
        columns = SIDE_BY_SIDE if self._grid is None else self._grid.columns
        style = ipywidgets.HTML(f"<style>{DASHBOARD_STYLE}</style>", layout={"display": "none"})
        layout = {"grid_template_columns": columns, "grid_gap": "16px", "width": "100%"}
        self._box = ipywidgets.GridBox(layout=layout)
        return ipywidgets.VBox([style, self._box])

    def refresh(self) -> None:
        """The sections of queries whose batch, text or state is another one."""
        for query in self._queries():
            state = (query, query.batch, query.status, str(self.session.as_of(query.name)))
            if self._made.get(query.name) != state:
                self._made[query.name] = state
                if query.name not in self._answers:
                    self._answers[query.name] = _AnswerBox(query.name)
                    self._boxes[query.name] = self._answers[query.name].widget
                self._answers[query.name].show(answer_parts(self.session, query, self._rows))
        if self.session.batch != self._asked_after:
            self._asked_after = self.session.batch
            for sliders in self._sliders.values():
                sliders.refresh()
        names = [name for name in self._names or self.session.queries if name in self._boxes]
        for name in names if self._grid is not None else ():
            self._boxes[name].layout.grid_area = self._area(name)
        self._box.children = [
            self._boxes[name] for name in names if name in self._sliders or name in self.session.queries
        ]

    def static_view(self) -> Shown:
        """The sections as static HTML, and their lines *as of* as text."""
        lines = (f"{query.name}: {self.session.as_of(query.name)}" for query in self._queries())
        return Shown("\n".join(lines) or "there is no query yet", self._all())

    def _all(self) -> str:
        sections = "".join(answer_section(self.session, query, self._rows, self._grid) for query in self._queries())
        grid = f" argus-grid' style='--argus-columns: {self._grid.columns}" if self._grid is not None else ""
        return f"<style>{DASHBOARD_STYLE}</style><div class='argus-dashboard{grid}'>{sections}</div>"

    def _area(self, name: str) -> str:
        return self._grid.area(name) if self._grid is not None else ""

    def _queries(self) -> list[Query]:
        there = self.session.queries
        names = [name for name in self._names if name in there] if self._names else [*there]
        return [there[name] for name in names]
