"""Results: a query's answer page by page, drawn, or what the last batch changed, fetched when asked for."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Callable, MutableMapping, Set
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from html import escape
from typing import Any

import ipywidgets
import pandas as pd

from workbench.errors import WorkbenchError
from workbench.explain.text import counted, monospace, short
from workbench.notebook.chart import answer_chart, has_numbers
from workbench.notebook.display import WIDEST, Shown, as_of, marked_cell, rows_table
from workbench.notebook.panel.markup import grid, sparkline
from workbench.notebook.panel.view import View
from workbench.notebook.panel.widgets import AnswerWidget, QueryChooser, SliderWidget, button, html_box
from workbench.session.query import Query
from workbench.session.state import OFF
from workbench.sql.algebra.interval_values import interval_text

PAGE, DRAWN = 10, 30
"""Rows shown at a time, and drawn."""
_BATCHES = 60
"""Batches whose changed rows are drawn."""
ANSWER, CHART, CHANGES = "whole answer", "chart", "new in the last batch"


@dataclass(frozen=True)
class ResultsRequest:
    """The page of results that the analyst asks for.

    Attributes:
        query: of which query; another one of its name is not equal.
        what: one of ``ANSWER``, ``CHART`` and ``CHANGES``.
        page: from 0.
        batch: the last one that was run.
        sort, descending: the column to sort by; empty: the query's own order.
        where: a condition on the rows; empty: all.
        since: the batch up to which the query was looked at before; rows that came later are marked.
        past: the batch after which the answer is to be seen; ``None``: the last one.
    """

    query: Query
    what: str
    page: int
    batch: int
    sort: str
    descending: bool
    where: str
    since: int
    past: int | None = None

    @property
    def when(self) -> str:
        """After which batch the answer is."""
        return as_of(self.query, self.batch) if self.past is None else f"as it was after batch {self.past}"


class ResultsView(View):
    """One query's answer.

    Rows are fetched in a thread, one request after the other, so neither a cell nor the player waits for them; while a
    request is on its way the rows before stay where they are.
    """

    title = "Results"

    def build(self) -> ipywidgets.Widget:
        """Which query and which rows, the rows, and where to copy them."""
        self.fetching = ThreadPoolExecutor(1, thread_name_prefix="argus-results")
        self._asked: ResultsRequest | None = None
        self._requests = 0
        self._page = 0
        self._since: tuple[Query | None, int] = (None, 0)
        self._last: Shown | None = None
        self.chooser = QueryChooser(self.session, self.choice, self._other_query)
        self.what_field = ipywidgets.ToggleButtons(options=[ANSWER, CHART, CHANGES], style={"button_width": "auto"})
        self.where_field = ipywidgets.Text(
            description="Only where", placeholder="a condition, such as n > 500", continuous_update=False,
            layout={"width": "420px"},
        )  # fmt: skip
        self.moment = SliderWidget(label="After batch", max=self.session.batch, value=self.session.batch)
        before = button("Previous", "chevron-left", lambda: self._turn(-1))
        after = button("Next", "chevron-right", lambda: self._turn(1))
        self.looked = button("Looked at", "check", self._look, "Mark no row as new any more")
        self.rows = AnswerWidget()
        self._count, self._chart, self._message = html_box(), html_box(), html_box()
        self.copy_kind = ipywidgets.Dropdown(options=list(COPIES), description="Copy all as", layout={"width": "280px"})
        self.copy_target = ipywidgets.Text(placeholder="name of a variable", layout={"width": "220px"})
        copy = button("Copy", "copy", self._copy)
        self.what_field.observe(lambda change: self._other_rows(), "value")
        self.where_field.observe(lambda change: self._turn(0), "value")
        self.rows.observe(lambda change: self._turn(0), "asked")
        self.moment.observe(lambda change: self._fetch() if self._past is None else self._turn(0), "value")
        self.copy_kind.observe(
            lambda change: self.copy_target.set_trait("placeholder", COPIES[change["new"]][0]), "value"
        )
        lines = (
            [self.chooser.widget, self.what_field, before, after, self._count],
            [self.where_field, self.moment, self.looked],
            [self.copy_kind, self.copy_target, copy, self._message],
        )
        layout = {"flex_flow": "row wrap", "align_items": "center"}
        which, condition, copies = (ipywidgets.HBox(line, layout=layout) for line in lines)
        return ipywidgets.VBox([which, condition, self._chart, self.rows, copies])

    def refresh(self) -> None:
        """The queries to choose from, and new rows when a batch was run."""
        self.chooser.refresh()
        self._follow()
        self._fetch()

    def _follow(self) -> None:
        """Let the slider end at the last batch; where it stood at its end it goes with it."""
        last, at_end = self.session.batch, self.moment.value == self.moment.max
        self.moment.max = last
        self.moment.value = last if at_end else min(self.moment.value, last)

    @property
    def _past(self) -> int | None:
        """The batch that the slider stands at; ``None`` at its end, where the answer is that of now."""
        return self.moment.value if self.moment.value < self.moment.max else None

    def static_view(self) -> Shown:
        """The page that was fetched last."""
        return self._last or Shown("no rows were looked at", "<p>no rows were looked at</p>")

    def _turn(self, by: int) -> None:
        self._page = max(0, self._page + by) if by else 0
        self._fetch()

    def _other_query(self) -> None:
        self.where_field.value = ""
        self._other_rows()

    def _other_rows(self) -> None:
        """They have other columns, so the order does not apply; a condition is on an answer, not on its changes."""
        self.rows.asked = {}
        self.where_field.disabled = self.what_field.value == CHANGES
        self._turn(0)

    def _look(self) -> None:
        self._since = (self.chooser.query, self.session.batch)
        self._fetch()

    def _fetch(self) -> None:
        """Ask for what is to be seen, unless it was asked for already."""
        query = self.chooser.query
        if query is None:
            return
        batch = self.session.batch
        if self._since[0] is not query or self._since[1] > batch:  # it was chosen, or the session went back
            self._since = (query, min(batch, self.choice.seen.get(query.name, batch)))
        order, where = self.rows.asked, "" if self.where_field.disabled else self.where_field.value.strip()
        asked = ResultsRequest(
            query, self.what_field.value, self._page, batch,
            order.get("column", ""), order.get("descending", False), where, self._since[1],
            self._past,
        )  # fmt: skip
        if asked == self._asked:
            return
        self._asked = asked
        self._requests += 1
        self.fetching.submit(self._show, self._requests, asked)

    def _show(self, request: int, asked: ResultsRequest) -> None:
        if request != self._requests:
            return  # there is a later one in the queue
        query = asked.query
        try:
            size = DRAWN if asked.what == CHART else PAGE
            page = slice(asked.page * size, (asked.page + 1) * size)
            rows, total = _rows_of(asked, page)
            after = asked.when
            fresh = fresh_rows(asked) if asked.what == ANSWER and asked.past is None else frozenset()
            title = f"{query.name}, {asked.what} {after}" + (f", where {asked.where}" if asked.where else "")
            shown = self._drawn(query, rows, total) if asked.what == CHART else answer_table(rows, total, title)
        except Exception as error:  # an error in a thread is not shown
            self._chart.value = monospace(str(error))
            return
        places = (
            f"{page.start + 1:,} to {page.start + len(rows):,} of {counted(total, 'row')}" if len(rows) else "no rows"
        )
        marks = f", {counted(len(fresh), 'row')} new since batch {asked.since}" if fresh else ""
        self._count.value = f'<span role="status">{escape(places)} {escape(after + marks)}</span>'
        self._chart.value = f'<div class="fixed">{shown.html}</div>' if asked.what == CHART else ""
        self.rows.page = {} if asked.what == CHART else page_of(rows, fresh, asked)
        self._last = shown
        if asked.past is None:
            self.choice.seen[query.name] = asked.batch

    def _drawn(self, query: Query, rows: pd.DataFrame, total: int) -> Shown:
        """Rows of the answer as a chart, and how many rows of it each batch changed."""
        chart = answer_chart(rows, total, query.name)
        changed = [report.changes.get(query.name, 0) for report in self.session.reports[-_BATCHES:]]
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


def _rows_of(asked: ResultsRequest, page: slice) -> tuple[pd.DataFrame, int]:
    """The rows of a page, and how many there are on all pages."""
    query, order, where = asked.query, asked.sort or None, asked.where or None
    if asked.what != CHANGES:
        rows = query.head(
            page.stop - page.start, page.start,
            batch=asked.past, sort=order, descending=asked.descending, where=where,
        )  # fmt: skip
        return rows, query.count(batch=asked.past, where=where)
    changes = query.changes(since=(asked.batch if asked.past is None else asked.past) - 1)
    if asked.past is not None:
        changes = changes[changes["batch"] == asked.past]
    if order is not None and order in changes.columns:
        changes = changes.sort_values(order, ascending=not asked.descending, kind="stable")
    return changes.iloc[page], len(changes)


def fresh_rows(asked: ResultsRequest) -> frozenset[tuple[str, ...]]:
    """The rows, as they are shown, that came to an answer after it was looked at; none where no changes are kept."""
    if asked.since >= asked.batch or asked.query.results == OFF:
        return frozenset()
    changes = asked.query.changes(since=asked.since)
    weights: Counter[tuple[str, ...]] = Counter()
    for row, weight in zip(_cells(changes.iloc[:, 2:])[0], changes.iloc[:, 1], strict=True):
        weights[row] += int(weight)
    return frozenset(row for row, weight in weights.items() if weight > 0)


def page_of(rows: pd.DataFrame, fresh: Set[tuple[str, ...]], asked: ResultsRequest) -> dict[str, Any]:
    """A page as ``AnswerWidget`` takes it."""
    cells, numbers = _cells(rows)
    return {
        "columns": [{"name": str(name), "number": i in numbers} for i, name in enumerate(rows.columns)],
        "rows": [{"cells": row, "fresh": row in fresh} for row in cells],
        "order": {"column": asked.sort, "descending": asked.descending},
    }


def answer_table(rows: pd.DataFrame, total: int, title: str) -> Shown:
    """Some rows of an answer; numbers stand at the right, with separators.

    Example:
        >>> answer_table(pd.DataFrame({"n": [12345]}), 1, "big").html.partition("<tbody>")[2]
        '<tr><td class="number">12,345</td></tr></tbody></table></div>'
    """
    cells, numbers = _cells(rows)
    html = grid([str(name) for name in rows.columns], [list(map(escape, row)) for row in cells], numbers)
    return Shown(rows_table(rows, total, title).text, f'<div style="overflow-x:auto">{html}</div>')


def _cells(rows: pd.DataFrame) -> tuple[list[tuple[str, ...]], list[int]]:
    """The texts of rows, and which columns are numbers."""
    numbers = [i for i in range(rows.shape[1]) if has_numbers(rows.iloc[:, i])]
    columns = [[_text(value, i in numbers) for value in rows.iloc[:, i]] for i in range(rows.shape[1])]
    return list(zip(*columns, strict=True)), numbers


def _text(value: Any, number: bool) -> str:
    marked = marked_cell(value)
    if isinstance(marked, str) and marked != value and len(marked) <= WIDEST:
        return marked
    if isinstance(value, dt.timedelta):
        return interval_text(value)
    return f"{value:,}" if number and not isinstance(value, str) else short(str(value), WIDEST)


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
