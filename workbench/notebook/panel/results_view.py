"""Results: a query's answer page by page, drawn, or what the last batch changed, fetched when asked for."""

from __future__ import annotations

from collections.abc import Callable, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from html import escape
from typing import Any

import ipywidgets
import pandas as pd

from workbench.errors import WorkbenchError
from workbench.explain.text import counted, monospace, short
from workbench.notebook.chart import answer_chart, has_numbers
from workbench.notebook.display import WIDEST, Shown, left_out, rows_table
from workbench.notebook.panel.markup import grid, sparkline
from workbench.notebook.panel.view import View
from workbench.notebook.panel.widgets import QueryChooser, button, html_box
from workbench.session.query import Query

PAGE, DRAWN = 10, 30
"""Rows shown at a time, and drawn."""
BATCHES = 60
"""Batches whose changed rows are drawn."""
ANSWER, CHART, CHANGES = "whole answer", "chart", "new in the last batch"


class ResultsView(View):
    """One query's answer.

    Rows are fetched in a thread, one request after the other, so neither a cell nor the player waits for them; while a
    request is on its way the rows before stay where they are.
    """

    title = "Results"

    def build(self) -> ipywidgets.Widget:
        """Which query and which rows, the rows, and where to copy them."""
        self.fetching = ThreadPoolExecutor(1, thread_name_prefix="argus-results")
        self._asked: tuple[Any, ...] = ()
        self._requests = 0
        self._page = 0
        self._last: Shown | None = None
        self.chooser = QueryChooser(self.session, self.choice, lambda: self._turn(0))
        self.what_field = ipywidgets.ToggleButtons(options=[ANSWER, CHART, CHANGES], style={"button_width": "auto"})
        before = button("Previous", "chevron-left", lambda: self._turn(-1))
        after = button("Next", "chevron-right", lambda: self._turn(1))
        self._count, self._rows, self._message = html_box(), html_box(), html_box()
        self.copy_kind = ipywidgets.Dropdown(options=list(COPIES), description="Copy as", layout={"width": "260px"})
        self.copy_target = ipywidgets.Text(placeholder="name of a variable", layout={"width": "220px"})
        copy = button("Copy", "copy", self._copy)
        self.what_field.observe(lambda change: self._turn(0), "value")
        self.copy_kind.observe(
            lambda change: self.copy_target.set_trait("placeholder", COPIES[change["new"]][0]), "value"
        )
        layout = {"flex_flow": "row wrap", "align_items": "center"}
        return ipywidgets.VBox(
            [
                ipywidgets.HBox([self.chooser.widget, self.what_field, before, after, self._count], layout=layout),
                self._rows,
                ipywidgets.HBox([self.copy_kind, self.copy_target, copy, self._message], layout=layout),
            ]
        )

    def refresh(self) -> None:
        """The queries to choose from, and new rows when a batch was run."""
        self.chooser.refresh()
        self._fetch()

    def twin(self) -> Shown:
        """The page that was fetched last."""
        return self._last or Shown("no rows were looked at", "<p>no rows were looked at</p>")

    def _turn(self, by: int) -> None:
        self._page = max(0, self._page + by) if by else 0
        self._fetch()

    def _fetch(self) -> None:
        """Ask for what is to be seen, unless it was asked for already."""
        query = self.chooser.query
        if query is None:
            return
        which = (self.what_field.value, self._page, self.session.batch)
        if self._asked and self._asked[0] is query and self._asked[1:] == which:
            return
        self._asked = (query, *which)
        self._requests += 1
        self.fetching.submit(self._show, self._requests, query, *which)

    def _show(self, request: int, query: Query, what: str, page: int, batch: int) -> None:
        if request != self._requests:
            return  # there is a later one in the queue
        try:
            size = DRAWN if what == CHART else PAGE
            rows, total = self._rows_of(query, what, slice(page * size, (page + 1) * size), batch)
            title = f"{query.name}, {what} after batch {batch}{left_out(query)}"
            shown = self._drawn(query, rows, total) if what == CHART else answer_table(rows, total, title)
        except Exception as error:  # in a thread nobody would see it
            self._rows.value = monospace(str(error))
            return
        first = page * size
        places = f"{first + 1:,} to {first + len(rows):,} of {counted(total, 'row')}" if len(rows) else "no rows"
        self._count.value = f'<span role="status">{places} after batch {batch}{escape(left_out(query))}</span>'
        self._rows.value = f'<div class="fixed">{shown.html}</div>'
        self._last = shown
        self.choice.seen[query.name] = batch

    def _rows_of(self, query: Query, what: str, page: slice, batch: int) -> tuple[pd.DataFrame, int]:
        if what != CHANGES:
            return query.head(page.stop - page.start, skip=page.start), query.count()
        changes = query.changes(since=batch - 1)
        return changes.iloc[page], len(changes)

    def _drawn(self, query: Query, rows: pd.DataFrame, total: int) -> Shown:
        """Rows of the answer as a chart, and how many rows of it each batch changed."""
        chart = answer_chart(rows, total, query.name)
        changed = [report.changes.get(query.name, 0) for report in self.session.reports[-BATCHES:]]
        heading = f"changed rows in the last {counted(len(changed), 'batch', 'batches')}"
        return Shown(chart.text, f"{chart.html}<h4>{heading}</h4>{sparkline(changed, heading, 720, 60)}")

    def _copy(self) -> None:
        query = self.chooser.query
        target = self.copy_target.value.strip()
        if query is None or not target:
            self._message.value = f"give the {COPIES[self.copy_kind.value][0]}"
            return
        try:
            self._message.value = escape(COPIES[self.copy_kind.value][1](query, target, self.variables))
        except (WorkbenchError, OSError) as error:
            self._message.value = monospace(str(error))


def answer_table(rows: pd.DataFrame, total: int, title: str) -> Shown:
    """Some rows of an answer; numbers stand at the right, with separators.

    Example:
        >>> answer_table(pd.DataFrame({"n": [12345]}), 1, "big").html.partition("<tbody>")[2]
        '<tr><td class="number">12,345</td></tr></tbody></table></div>'
    """
    numbers = [i for i in range(rows.shape[1]) if has_numbers(rows.iloc[:, i])]
    columns = [[_cell(value, i in numbers) for value in rows.iloc[:, i]] for i in range(rows.shape[1])]
    html = grid([str(name) for name in rows.columns], list(zip(*columns, strict=True)), numbers)
    return Shown(rows_table(rows, total, title).text, f'<div style="overflow-x:auto">{html}</div>')


def _cell(value: Any, number: bool) -> str:
    if pd.api.types.is_scalar(value) and pd.isna(value):
        return "NULL"
    return f"{value:,}" if number else escape(short(str(value), WIDEST))


def _to_pandas(query: Query, target: str, variables: MutableMapping[str, Any]) -> str:
    variables[target] = rows = query.result()
    return f"{target}: a pandas DataFrame of {counted(len(rows), 'row')}"


def _to_spark(query: Query, target: str, variables: MutableMapping[str, Any]) -> str:
    variables[target] = query.dataframe()
    return f"{target}: a Spark DataFrame"


def _to_file(query: Query, target: str, variables: MutableMapping[str, Any]) -> str:
    return f"{target}: {counted(query.save(target), 'row')}"


COPIES: dict[str, tuple[str, Callable[[Query, str, MutableMapping[str, Any]], str]]] = {
    "pandas DataFrame": ("name of a variable", _to_pandas),
    "Spark DataFrame": ("name of a variable", _to_spark),
    "Parquet file": ("path, such as rows.parquet", _to_file),
    "CSV file": ("path, such as rows.csv", _to_file),
}
"""The kinds of copies of an answer: what the analyst gives, and the function that copies."""
