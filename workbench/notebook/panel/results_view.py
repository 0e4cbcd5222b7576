"""Results: a query's answer to scroll through, drawn, in groups, its columns, or what the last batch changed."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from html import escape
from typing import Any

import ipywidgets
from sqlglot import exp

from workbench.arrow.frames import frame_of
from workbench.errors import WorkbenchError
from workbench.explain.text import counted, monospace
from workbench.notebook.chart import ChartColumns, answer_chart
from workbench.notebook.chart_series import total_columns
from workbench.notebook.display import Shown, as_of_html
from workbench.notebook.joint_chart import DrawnRows, drawn_rows, joint
from workbench.notebook.panel.answer_copies import COPIES
from workbench.notebook.panel.answer_page import answer_table, page_of
from workbench.notebook.panel.column_profile import profile
from workbench.notebook.panel.grouped_answer import GROUP_FUNCTIONS, AnswerGroups, grouped
from workbench.notebook.panel.live_chart import LiveChart
from workbench.notebook.panel.markup import sparkline
from workbench.notebook.panel.results_request import ANSWER, CHANGES, CHART, COLUMNS, GROUPS, ResultsRequest
from workbench.notebook.panel.row_origin import RowOrigin
from workbench.notebook.panel.view import View
from workbench.notebook.panel.widgets import AnswerWidget, QueryChooser, SliderWidget, button, html_box
from workbench.session.answer_refinement import equals
from workbench.session.held_answer import HeldAnswer, follow_answer, hold_answer, rows_as_shown
from workbench.session.query import Query

SAVED = 10
"""Rows of the static view."""
HELD = 5_000_000
"""Rows of an answer that are held in memory; of a larger one each page is read, and it has no groups."""
_BATCHES = 60
"""Batches whose changed rows are drawn."""


class ResultsView(View):
    """The answer of one query.

    Rows are read in a thread, one request after the other, so neither a cell nor the player waits for them; while a
    request is on its way the rows before stay where they are. The answer that is looked at is held in memory and
    follows the batches.
    """

    title = "Results"

    def build(self) -> ipywidgets.Widget:
        """Which query and which rows, the rows, and where to copy them."""
        self.fetching = ThreadPoolExecutor(1, thread_name_prefix="argus-results")
        self._asked: ResultsRequest | None = None
        self._requests = 0
        self._since: tuple[Query | None, int] = (None, 0)
        self._last: Callable[[], Shown] = _nothing
        self._held: tuple[tuple[Any, ...], HeldAnswer] | None = None
        self.chooser = QueryChooser(self.session, self.choice, self._other_query)
        self.what_field = ipywidgets.ToggleButtons(
            options=[ANSWER, CHART, GROUPS, COLUMNS, CHANGES], style={"button_width": "auto"}
        )
        self.where_field = ipywidgets.Text(
            description="Only where", placeholder="a condition, such as n > 500", continuous_update=False,
            layout={"width": "420px"},
        )  # fmt: skip
        self.moment = SliderWidget(label="After batch", max=self.session.batch, value=self.session.batch)
        self.looked = button("Looked at", "check", self._look, "Mark no row as new any more")
        self.rows = AnswerWidget()
        self.chart = LiveChart(self._fetch)
        self.group_fields = {
            "by": ipywidgets.Dropdown(description="Group by"), "across": ipywidgets.Dropdown(description="Across"),
            "function": ipywidgets.Dropdown(options=list(GROUP_FUNCTIONS), description="Show"),
            "of": ipywidgets.Dropdown(description="Of"),
        }  # fmt: skip
        for field in self.group_fields.values():
            field.layout.width, field.style.description_width = "220px", "60px"
            field.observe(lambda change: self._fetch(), "value")
        self.groups = ipywidgets.HBox(list(self.group_fields.values()), layout={"flex_flow": "row wrap"})
        self.origin = RowOrigin(self.fetching)
        self._count, self._table, self._batches, self.cell, self._message = (html_box() for _ in range(5))
        self.copy_kind = ipywidgets.Dropdown(options=list(COPIES), description="Copy all as", layout={"width": "280px"})
        self.copy_target = ipywidgets.Text(placeholder="name of a variable", layout={"width": "220px"})
        copy = button("Copy", "copy", self._copy)
        self.what_field.observe(lambda change: self._other_rows(), "value")
        self.where_field.observe(lambda change: self._from_the_top(), "value")
        self.rows.observe(lambda change: self._from_the_top(), "asked")
        self.rows.observe(lambda change: self._fetch(), "window")
        self.rows.observe(lambda change: self._choose(), "selected")
        self.moment.observe(lambda change: self._fetch(), "value")
        self.copy_kind.observe(
            lambda change: self.copy_target.set_trait("placeholder", COPIES[change["new"]][0]), "value"
        )
        lines = (
            [self.chooser.widget, self.what_field, self._count],
            [self.where_field, self.moment, self.looked],
            [self.copy_kind, self.copy_target, copy, self._message],
        )
        layout = {"flex_flow": "row wrap", "align_items": "center"}
        which, condition, copies = (ipywidgets.HBox(line, layout=layout) for line in lines)
        self._show_parts()
        parts = [
            which,
            condition,
            self.chart.widget,
            self.groups,
            self._table,
            self.rows,
            self._batches,
            self.cell,
            self.origin.widget,
            copies,
        ]
        return ipywidgets.VBox(parts)

    def refresh(self) -> None:
        """The queries to choose from, and new rows when a batch was run."""
        self.chooser.refresh()
        self._follow()
        self._fetch()

    def _follow(self) -> None:
        """Extend the slider to the last batch; if it was at its end it moves there, too."""
        last, at_end = self.session.batch, self.moment.value == self.moment.max
        self.moment.max = last
        self.moment.value = last if at_end else min(self.moment.value, last)

    @property
    def _past(self) -> int | None:
        """The batch of the slider's position; ``None`` at its end, where the present answer is shown."""
        return self.moment.value if self.moment.value < self.moment.max else None

    def static_view(self) -> Shown:
        """The first rows that were fetched last, or what was made of them."""
        return self._last()

    def _other_query(self) -> None:
        self.where_field.value = ""
        self._other_rows()

    def _other_rows(self) -> None:
        """They have other columns, so the order does not apply; a condition is on an answer, not on its changes."""
        self.rows.asked = {}
        self.where_field.disabled = self.what_field.value == CHANGES
        self._show_parts()
        self._from_the_top()

    def _show_parts(self) -> None:
        what = self.what_field.value
        visible = {
            self.chart.widget: what == CHART, self.groups: what == GROUPS, self._table: what in (GROUPS, COLUMNS),
            self.rows: what in (ANSWER, CHANGES), self._batches: what == CHART, self.cell: what in (ANSWER, GROUPS),
            self.looked: what == ANSWER, self.origin.widget: what == ANSWER,
        }  # fmt: skip
        for part, is_visible in visible.items():
            part.layout.display = "" if is_visible else "none"

    def _from_the_top(self) -> None:
        self.rows.selected = {}
        self.rows.window = [0, self.rows.window[1]]
        self._fetch()

    def _look(self) -> None:
        self._since = (self.chooser.query, self.session.batch)
        self._fetch()

    def _fetch(self) -> None:
        """Request the rows to show, unless they are requested already."""
        query = self.chooser.query
        if query is None:
            return
        batch = self.session.batch
        self._offer(query)
        if self._since[0] is not query or self._since[1] > batch:  # it was chosen, or the session went back
            self._since = (query, min(batch, self.choice.seen.get(query.name, batch)))
        start, rows = self.rows.window
        order, where = self.rows.asked, "" if self.where_field.disabled else self.where_field.value.strip()
        asked = ResultsRequest(
            query, self.what_field.value, start, rows, batch,
            order.get("column", ""), order.get("descending", False), where, self._since[1],
            self._past, tuple(self.chart.asked.items()), tuple(self.chart.others.value), self._groups(),
        )  # fmt: skip
        if asked == self._asked:
            return
        self._asked = asked
        self._requests += 1
        self.origin.of(query, where)
        self.fetching.submit(self._show, self._requests, asked)

    def _offer(self, query: Query) -> None:
        """Let the analyst choose among the query's columns."""
        self.chart.offer(query.columns, [name for name in self.session.queries if name != query.name])
        names = [name for name, _ in query.columns]
        for part, first in (("by", []), ("across", [""]), ("of", [""])):
            field = self.group_fields[part]
            if list(field.options) != [*first, *names]:
                field.options = [*first, *names]
                field.value = first[0] if first else next(iter(names), None)

    def _groups(self) -> AnswerGroups | None:
        by, across, function, of = (field.value for field in self.group_fields.values())
        return AnswerGroups(by, across or "", function, of or "") if by else None

    def _show(self, request: int, asked: ResultsRequest) -> None:
        if request != self._requests:
            return  # there is a later one in the queue
        try:
            self._last = _KINDS[asked.what](self, asked)
        except Exception as error:  # an error in a thread is not shown
            self._count.value = monospace(str(error))
            return
        if asked.past is None:
            self.choice.seen[asked.query.name] = asked.batch

    def _say(self, asked: ResultsRequest, what: str) -> None:
        of_now = as_of_html(self.session.as_of(asked.query.name)) if asked.past is None else ""
        # Marks are put before the end of the first span.
        self._count.value = f'<span role="status">{escape(what)} {escape(asked.when)}</span>{of_now}'

    def _hold(self, asked: ResultsRequest) -> HeldAnswer | None:
        """The answer in memory, up to date; ``None`` where it is too large."""
        key = (asked.query, asked.where, asked.past)
        is_followed = not asked.where and asked.past is None
        since = asked.since if asked.since < asked.batch and asked.past is None else None
        if self._held is not None and self._held[0] == key and (is_followed or self._held[1].batch == asked.batch):
            held = follow_answer(asked.query, self._held[1], since) if is_followed else self._held[1]
        elif asked.query.count(batch=asked.past, where=asked.where or None) > HELD:
            return None
        else:
            held = hold_answer(asked.query, asked.past, asked.where or None, since)
        self._held = (key, held)
        return held

    def _show_answer(self, asked: ResultsRequest) -> Callable[[], Shown]:
        held, start, stop = self._hold(asked), asked.start, asked.start + asked.rows
        order = {"column": asked.sort, "descending": asked.descending}
        if held is None:
            rows = asked.query.head(
                asked.rows, start,
                batch=asked.past, sort=asked.sort or None, descending=asked.descending, where=asked.where or None,
            )  # fmt: skip
            total = asked.query.count(batch=asked.past, where=asked.where or None)
            page, marks = page_of(rows, start, total, order=order, batch=asked.batch), ""
        else:
            total = held.rows
            rows = frame_of(rows_as_shown(asked.query, held.page(start, stop, asked.order)))
            fresh = held.came_after(asked.since, start, stop, asked.order)
            was = [None if row is None else list(row.values()) for row in held.replaced(start, stop, asked.order)]
            page = page_of(rows, start, total, fresh, was, order=order, batch=held.batch)
            new = held.came_since(asked.since)
            marks = f", {counted(new, 'row')} new since batch {asked.since}" if new else ""
        self.rows.page = page
        self._say(asked, counted(total, "row"))
        self._count.value = self._count.value.replace("</span>", f"{escape(marks)}</span>", 1)
        if held is not None:
            held.prepare()
        return lambda: answer_table(rows.head(SAVED), total, asked.title)

    def _show_changes(self, asked: ResultsRequest) -> Callable[[], Shown]:
        batch = asked.batch if asked.past is None else asked.past
        changes = asked.query.changes(since=batch - 1)
        changes = changes[changes["batch"] == batch]
        if asked.sort in changes.columns:
            changes = changes.sort_values(asked.sort, ascending=not asked.descending, kind="stable")
        rows = changes.iloc[asked.start : asked.start + asked.rows]
        order = {"column": asked.sort, "descending": asked.descending}
        self.rows.page = page_of(rows, asked.start, len(changes), order=order, batch=asked.batch)
        self._say(asked, counted(len(changes), "changed row"))
        return lambda: answer_table(rows.head(SAVED), len(changes), asked.title)

    def _show_chart(self, asked: ResultsRequest) -> Callable[[], Shown]:
        query, others = asked.query, [self.session.query(name) for name in asked.others]
        drawn = self._drawn(asked)
        if others:
            parts, where = dict(asked.drawn), asked.where or None
            drawn = joint([drawn, *(drawn_rows(other, parts, batch=asked.past, where=where) for other in others)])
        name, rows, columns, total = drawn.name, drawn.rows, drawn.columns, drawn.total
        self.chart.chart.draw(drawn)
        self._say(asked, f"{len(rows):,} of {counted(total, 'row')}" if len(rows) < total else counted(total, "row"))
        if asked.past is None:
            self._count.value += "".join(as_of_html(self.session.as_of(other.name), other.name) for other in others)
        changed = [report.changes.get(query.name, 0) for report in self.session.reports[-_BATCHES:]]
        heading = f"changed rows in the last {counted(len(changed), 'batch', 'batches')}"
        self._batches.value = f"<h4>{heading}</h4>{sparkline(changed, heading, 720, 60)}"
        return lambda: answer_chart(rows, columns, total, name)

    def _drawn(self, asked: ResultsRequest) -> DrawnRows:
        """What the chart draws of the answer that is looked at."""
        query, parts, held = asked.query, dict(asked.drawn), self._hold(asked)
        by, descending = asked.sort or None, asked.descending
        if held is None:
            where = asked.where or None
            return drawn_rows(query, parts, batch=asked.past, where=where, sort=by, descending=descending)
        columns = ChartColumns.of(query.columns, parts, total_columns(query.logical))
        if columns.over_time and held.rows > columns.most and not by:  # the newest
            by, descending, columns = columns.x, True, replace(columns, latest=True)
        names = [name for name, _ in query.columns]
        sort = (names.index(by), descending) if by is not None and by in names else None
        rows = frame_of(rows_as_shown(query, held.page(0, columns.most, sort)))
        return DrawnRows(query.name, rows, columns, held.rows)

    def _show_groups(self, asked: ResultsRequest) -> Callable[[], Shown]:
        held = self._whole_answer(asked)
        groups = asked.groups
        if groups is None:
            return _nothing
        made = grouped(rows_as_shown(asked.query, held.table), groups)
        table = answer_table(made, len(made), f"{asked.title}, in groups")
        self._table.value = table.html or ""
        self._say(asked, counted(len(made), "group"))
        self.cell.value = _cell(groups.sql(asked.query.name, asked.query.dialect), asked.query)
        return lambda: table

    def _show_columns(self, asked: ResultsRequest) -> Callable[[], Shown]:
        held = self._whole_answer(asked)
        made = profile(held.table, asked.query.columns, rows_as_shown(asked.query, held.table), asked.title)
        self._table.value = made.html or ""
        self._say(asked, counted(held.rows, "row"))
        return lambda: made

    def _whole_answer(self, asked: ResultsRequest) -> HeldAnswer:
        held = self._hold(asked)
        if held is None:
            raise WorkbenchError(f"the answer has more than {HELD:,} rows", hint="choose some with Only where")
        return held

    def _choose(self) -> None:
        """Offer a query for the rows that have the value of the cell that was chosen, and its row's origin."""
        query, page, chosen = self.chooser.query, self.rows.page, self.rows.selected
        place = chosen.get("at", -1) - page.get("start", 0)
        is_there = 0 <= place < len(page.get("rows", ())) and self.what_field.value == ANSWER
        if query is None or self._held is None or not is_there:
            self.cell.value = ""
            self.origin.choose(None)
        else:
            order = self._asked.order if self._asked is not None else None
            row = rows_as_shown(query, self._held[1].page(chosen["at"], chosen["at"] + 1, order))
            value = row.column(chosen["column"])[0].as_py()
            self.cell.value = _cell(rows_like(value, chosen["column"], query), query)
            self.origin.choose(row.to_pylist()[0])
        self._show_parts()

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


def _nothing() -> Shown:
    return Shown("no answer was opened here yet", "<p>no answer was opened here yet</p>")


_KINDS: dict[str, Callable[[ResultsView, ResultsRequest], Callable[[], Shown]]] = {
    ANSWER: ResultsView._show_answer,
    CHART: ResultsView._show_chart,
    GROUPS: ResultsView._show_groups,
    COLUMNS: ResultsView._show_columns,
    CHANGES: ResultsView._show_changes,
}


def rows_like(value: object, place: int, query: Query) -> str:
    """The query for the rows of another that have a value in a column."""
    rows = exp.select("*").from_(exp.to_identifier(query.name)).where(equals(query.columns[place][0], value))
    return rows.sql(dialect=query.dialect)


def _cell(sql: str, query: Query) -> str:
    """A cell to copy that registers a query."""
    text = f"%%argus {query.name}_2\n{sql}"
    return f"<h4>as a query of its own: copy this into a cell</h4><pre>{escape(text)}</pre>"
