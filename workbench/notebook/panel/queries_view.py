"""The list of queries with their status and changed rows, and a form that registers, replaces and drops them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from html import escape
from typing import TYPE_CHECKING

import ipywidgets

from workbench.errors import WorkbenchError
from workbench.explain.query_costs import query_costs
from workbench.explain.text import monospace
from workbench.notebook.commands.costs import what_if
from workbench.notebook.commands.define import preview_query, register_and_describe
from workbench.notebook.commands.watch import drop_query
from workbench.notebook.display import Shown, state_of, table
from workbench.notebook.panel.markup import sparkline, tag
from workbench.notebook.panel.view import View
from workbench.notebook.panel.widgets import ListWidget, button, html_box
from workbench.session.query import Query
from workbench.session.state import ACTIVE
from workbench.sql.syntax.dialects import EXAMINED

if TYPE_CHECKING:
    from workbench.engine.reports import BatchReport
    from workbench.session.session import Session

_BATCHES = 30
"""Batches in a sparkline, and of which changed rows and time are summed up for sorting."""
AS_REGISTERED, BY_NAME, BY_CHANGES, BY_TIME = "as registered", "name", "changed rows", "time"


class QueriesView(View):
    """The list of queries, and the text of the one that is chosen."""

    title = "Queries"

    def build(self) -> ipywidgets.Widget:
        """The list at the left, the text at the right."""
        self._counted: dict[str, tuple[int, int, int]] = {}
        """For each query: since and until which batch changed rows were counted, and how many there were."""
        columns = ["query", "status", "new", "changed rows by batch"]
        self.sort_field = ipywidgets.Dropdown(
            options=[AS_REGISTERED, BY_NAME, BY_CHANGES, BY_TIME], description="Sorted by", layout={"width": "260px"}
        )
        self.sort_field.observe(lambda change: self.refresh(), "value")
        self.query_list = ListWidget(columns=columns, label="queries", height="300px", layout={"width": "100%"})
        self.name_field = ipywidgets.Text(description="Name", placeholder="a new name, or one to replace")
        self.dialect_field = ipywidgets.Dropdown(options=sorted(EXAMINED), value="spark", description="Dialect")
        self.sql_field = ipywidgets.Textarea(placeholder="SELECT …", layout={"width": "auto", "height": "190px"})
        self.sql_field.observe(lambda change: self._say(), "value")
        self._message = html_box()
        """The result of the last action, or the error of the text; shown until the text is changed."""
        self._sharing = html_box()
        actions: list[tuple[str, str, Callable[[], None], str]] = [
            ("Preview", "search", self._preview, "Show what it would share; nothing changes"),
            ("Register", "check", self._register, "Register it, or replace the query of this name"),
            ("Drop", "trash", self._drop, "Drop the query and the nodes only it needs"),
        ]
        buttons = ipywidgets.HBox(
            [button(label, icon, partial(self._try, action), tooltip) for label, icon, action, tooltip in actions]
        )
        fields = ipywidgets.HBox([self.name_field, self.dialect_field], layout={"flex_flow": "row wrap"})
        text = ipywidgets.VBox([fields, self.sql_field, self._message, buttons], layout={"width": "100%"})
        self.query_list.observe(lambda change: self._chosen(change["new"]), "selected")
        self.choice.observe(lambda change: self.query_list.set_trait("selected", change["new"]), "query")
        sides = ipywidgets.GridBox(
            [ipywidgets.VBox([self.sort_field, self.query_list]), text],
            layout={"grid_template_columns": "minmax(0, 1fr) minmax(0, 1fr)", "grid_gap": "12px"},
        )
        return ipywidgets.VBox([sides, self._sharing])

    def refresh(self) -> None:
        """The rows of the list."""
        reports = self.session.reports
        self.query_list.rows = [
            {
                "key": name,
                "cells": [
                    escape(name),
                    tag(state := state_of(query), "good" if state == ACTIVE else "bad"),
                    f"<b>{new:,}</b>" if (new := self._new_rows(query, reports)) else "",
                    sparkline(_changes(name, reports), "changed rows by batch"),
                ],
            }
            for name, query in sorted_queries(self.session, self.sort_field.value)
        ]

    def static_view(self) -> Shown:
        """Names, status, and how many rows changed in the last batch."""
        reports = self.session.reports
        rows = [
            [name, state_of(query), f"{self._new_rows(query, reports):,}", f"{(_changes(name, reports) or [0])[-1]:,}"]
            for name, query in self.session.queries.items()
        ]
        columns = ["query", "status", "new", "in the last batch"]
        return table(columns, rows) if rows else Shown("no queries yet", "<p>no queries yet</p>")

    def _new_rows(self, query: Query, reports: Sequence[BatchReport]) -> int:
        """Rows that changed in the answer since the analyst last looked at it; each batch is counted once."""
        seen = self.choice.seen.get(query.name, query.registered)
        since, until, new = self._counted.get(query.name, (seen, seen, 0))
        if since != seen or until > len(reports):  # it was looked at, or replaced, or the session went back
            until, new = seen, 0
        new += sum(report.changes.get(query.name, 0) for report in reports[until:])
        self._counted[query.name] = (seen, len(reports), new)
        return new

    def _chosen(self, name: str) -> None:
        if name in self.session.queries:
            query = self.session.query(name)
            self.name_field.value, self.sql_field.value = name, query.sql.strip()
            self.dialect_field.value = query.dialect if query.dialect in EXAMINED else "spark"
            self.choice.query = name

    def _preview(self) -> None:
        name = self.name_field.value or "new_query"
        preview, explanation, change = preview_query(self.session, self.sql_field.value, name, self.dialect_field.value)
        forecast = what_if(self.session, preview, name)
        self._say(f"nothing was changed: {change}\n{forecast}", explanation._repr_html_())

    def _register(self) -> None:
        name = self.name_field.value or None
        query, change = register_and_describe(self.session, self.sql_field.value, name, self.dialect_field.value)
        self.player.announce()
        self.query_list.selected = query.name
        self._say(change)

    def _drop(self) -> None:
        told = drop_query(self.session, self.name_field.value)
        self.player.announce()
        self._say(told)

    def _try(self, action: Callable[[], None]) -> None:
        """Do the action of a button, or show its error."""
        try:
            action()
        except WorkbenchError as error:
            self._say(str(error))

    def _say(self, message: str = "", sharing: str = "") -> None:
        """Show a message below the text, and at the end the sharing of the query; clear what is not given."""
        self._message.value = monospace(message) if message else ""
        self._sharing.value = sharing


def sorted_queries(session: Session, by: str) -> list[tuple[str, Query]]:
    """The queries of a session in an order; by changed rows or time of the last batches, the largest come first."""
    queries, reports = list(session.queries.items()), session.reports[-_BATCHES:]
    if by == BY_NAME:
        return sorted(queries, key=lambda named: named[0].lower())
    if by == BY_CHANGES:
        return sorted(queries, key=lambda named: -sum(_changes(named[0], reports)))
    if by == BY_TIME and reports:
        seconds = {cost.query: cost.seconds for cost in query_costs(reports, session.network)}
        return sorted(queries, key=lambda named: -seconds.get(named[0], 0.0))
    return queries


def _changes(name: str, reports: Sequence[BatchReport]) -> list[int]:
    """Changed rows of the last batches."""
    return [report.changes.get(name, 0) for report in reports[-_BATCHES:]]
