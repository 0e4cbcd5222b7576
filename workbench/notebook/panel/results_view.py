"""Results: a query's answer page by page, or what the last batch changed, fetched from the engine when asked for."""

from __future__ import annotations

from collections.abc import Callable, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from html import escape
from typing import Any

import ipywidgets
import pandas as pd

from workbench.errors import WorkbenchError
from workbench.explain.text import counted, monospace
from workbench.notebook.display import Shown, frame_table, rows_table
from workbench.notebook.panel.view import View
from workbench.notebook.panel.widgets import QueryChooser, button, html_box
from workbench.session.query import Query

PAGE = 10
"""Rows shown at a time."""
ANSWER, CHANGES = "whole answer", "new in the last batch"


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
        self.what_field = ipywidgets.ToggleButtons(options=[ANSWER, CHANGES], style={"button_width": "auto"})
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
            rows, total = self._rows_of(query, what, page, batch)
        except Exception as error:  # in a thread nobody would see it
            self._rows.value = monospace(str(error))
            return
        first = page * PAGE
        places = f"{first + 1:,} to {first + len(rows):,} of {counted(total, 'row')}" if len(rows) else "no rows"
        self._count.value = f'<span role="status">{places} after batch {batch}</span>'
        self._rows.value = f'<div class="fixed">{frame_table(rows).html}</div>'
        self._last = rows_table(rows, total, f"{query.name}, {what}")
        self.choice.seen[query.name] = batch

    def _rows_of(self, query: Query, what: str, page: int, batch: int) -> tuple[pd.DataFrame, int]:
        if what == ANSWER:
            return query.head(PAGE, skip=page * PAGE), query.count()
        changes = query.changes(since=batch - 1)
        return changes.iloc[page * PAGE : (page + 1) * PAGE], len(changes)

    def _show_wanted_target(self, change: dict[str, Any]) -> None:
        self.copy_target.placeholder = COPIES[change["new"]][0]

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
