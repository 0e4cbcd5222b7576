"""Sliders for the ``:parameters`` of a cell: the answer follows them while they move, and only *Keep* registers it.

A position is answered by ``Session.ask``, from what the network keeps: where a query has the rows of all positions, one
costs those rows and not the stream's. Answers are computed in a thread. A position that is left before its turn comes
is never computed, so a slow answer delays at most one other, and no cell.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import ipywidgets

from workbench.errors import WorkbenchError
from workbench.notebook.display import Shown, plain, rows_table
from workbench.notebook.panel.widgets import SliderWidget, button, html_box
from workbench.notebook.slider_ranges import SliderRange, SliderValue
from workbench.session.session import Session


class ParameterSliders:
    """The sliders of a cell, the answer at their values, and the button that registers the query.

    Args:
        session: that is asked.
        ranges: of the parameters.
        text_at: gives the SQL for values of the parameters.
        dialect: of the SQL.
        keep: registers the SQL, and gives a sentence on it.
        variables: the notebook's namespace; sliders begin at the values that it has.
        limit: how many rows are shown.
    """

    def __init__(
        self,
        session: Session,
        ranges: Sequence[SliderRange],
        text_at: Callable[[Mapping[str, Any]], str],
        dialect: str,
        keep: Callable[[str], str],
        variables: Mapping[str, Any],
        limit: int,
    ) -> None:
        self._session, self._ranges, self._text_at = session, ranges, text_at
        self._dialect, self._keep, self._limit = dialect, keep, limit
        self.sliders = [
            SliderWidget(
                label=each.name, max=len(each.values) - 1, value=each.position(variables.get(each.name)),
                texts=[str(value) for value in each.values], live=True,
            )
            for each in ranges
        ]  # fmt: skip
        self.answer = html_box()
        self.kept = button("Keep", "check", self.register, "Register the query with these values")
        self.kept.layout.align_self = "flex-start"
        self.widget = ipywidgets.VBox([*self.sliders, self.kept, self.answer])
        self._working = ThreadPoolExecutor(1, thread_name_prefix="argus-sliders")
        self._moves, self._moving = 0, threading.Lock()
        for slider in self.sliders:
            slider.observe(lambda change: self.refresh(), "value")

    @property
    def values(self) -> dict[str, SliderValue]:
        """The present values of the sliders."""
        return {each.name: each.values[slider.value] for each, slider in zip(self._ranges, self.sliders, strict=True)}

    def refresh(self) -> None:
        """Answer at the present values, unless they change before its turn comes; nothing waits for it."""
        with self._moving:
            self._moves += 1
            move = self._moves
        self._working.submit(self._answer, move, self.values)

    def register(self) -> None:
        """Register the query with the present values, after the answer that is being computed."""
        self._working.submit(self._register, self.values)

    def settle(self) -> None:
        """Wait until everything that was asked for is shown."""
        self._working.submit(int).result()

    def _answer(self, move: int, values: Mapping[str, SliderValue]) -> None:
        if move == self._moves:
            self._show(lambda: self._rows(values))

    def _rows(self, values: Mapping[str, SliderValue]) -> Shown:
        rows = self._session.ask(self._text_at(values), self._dialect)
        at = ", ".join(f"{name} = {value}" for name, value in values.items())
        return rows_table(rows.head(self._limit), len(rows), f"{at}, after batch {self._session.batch}")

    def _register(self, values: Mapping[str, SliderValue]) -> None:
        self._show(lambda: plain(self._keep(self._text_at(values))))

    def _show(self, shown: Callable[[], Shown]) -> None:
        try:
            output = shown()
        except WorkbenchError as problem:
            output = plain(str(problem))
        self.answer.value = output.html or ""
