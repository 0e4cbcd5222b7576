"""Queries: what runs, what has something new, and registering, replacing and dropping them by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import TYPE_CHECKING

import ipywidgets

from workbench.errors import WorkbenchError
from workbench.explain.text import monospace
from workbench.notebook.commands.define import describe_change
from workbench.notebook.display import Shown, table
from workbench.notebook.panel.markup import sparkline, tag
from workbench.notebook.panel.view import View
from workbench.notebook.panel.widgets import ListWidget
from workbench.session.query import ACTIVE, Query
from workbench.sql.syntax.dialects import EXAMINED

if TYPE_CHECKING:
    from workbench.engine.reports import BatchReport

BATCHES = 30
"""Batches in a sparkline."""


class QueriesView(View):
    """The list of queries, and the text of the one that is chosen."""

    title = "Queries"

    def build(self) -> ipywidgets.Widget:
        """The list at the left, the text at the right."""
        self._counted: dict[str, tuple[int, int, int]] = {}
        """For each query: since and until which batch changed rows were counted, and how many there were."""
        columns = ["query", "status", "new", "changed rows by batch"]
        self._list = ListWidget(columns=columns, label="queries", height="300px", layout={"width": "100%"})
        self._name = ipywidgets.Text(description="Name", placeholder="a new name, or one to replace")
        self._dialect = ipywidgets.Dropdown(options=sorted(EXAMINED), value="spark", description="Dialect")
        self._sql = ipywidgets.Textarea(
            placeholder="SELECT …", layout={"width": "auto", "height": "190px"}, continuous_update=False
        )
        self._sql.add_class("argus-sql")
        actions: list[tuple[str, str, str, Callable[[], str]]] = [
            ("Preview", "search", "Show what it would share; nothing changes", self._preview),
            ("Register", "check", "Register it, or replace the query of this name", self._register),
            ("Drop", "trash", "Drop the query and the nodes only it needs", self._drop),
        ]
        self._told = ipywidgets.HTML()
        self._told.add_class("argus")
        buttons = ipywidgets.HBox([self._button(*action) for action in actions])
        fields = ipywidgets.HBox([self._name, self._dialect], layout={"flex_flow": "row wrap"})
        text = ipywidgets.VBox([fields, self._sql, buttons], layout={"width": "100%"})
        self._list.observe(lambda change: self._chosen(change["new"]), "selected")
        self.choice.observe(lambda change: self._list.set_trait("selected", change["new"]), "query")
        sides = ipywidgets.GridBox(
            [self._list, text], layout={"grid_template_columns": "minmax(0, 1fr) minmax(0, 1fr)", "grid_gap": "12px"}
        )
        return ipywidgets.VBox([sides, self._told])

    def refresh(self) -> None:
        """The rows of the list."""
        reports = self.session.reports
        self._list.rows = [
            {
                "key": name,
                "cells": [
                    escape(name),
                    tag("active", "good") if query.status == ACTIVE else tag(query.status, "bad"),
                    f"<b>{new:,}</b>" if (new := self._new_rows(query, reports)) else "",
                    sparkline(_changes(name, reports), "changed rows by batch"),
                ],
            }
            for name, query in self.session.queries.items()
        ]

    def twin(self) -> Shown:
        """Names, status, and how many rows changed in the last batch."""
        reports = self.session.reports
        rows = [
            [name, query.status, f"{self._new_rows(query, reports):,}", f"{(_changes(name, reports) or [0])[-1]:,}"]
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
            self._name.value, self._sql.value = name, query.sql.strip()
            self._dialect.value = query.dialect if query.dialect in EXAMINED else "spark"
            self.choice.query = name

    def _preview(self) -> str:
        name = self._name.value or "new_query"
        preview, explanation = self.session.preview(self._sql.value, name, self._dialect.value)
        change = describe_change(name, self.session.network, preview)
        return monospace(f"nothing was changed: {change}") + explanation._repr_html_()

    def _register(self) -> str:
        before = self.session.network
        name = self._name.value or None
        replaced = name is not None and name.lower() in {other.lower() for other in self.session.queries}
        query = self.session.register(self._sql.value, name, self._dialect.value)
        change = describe_change(query.name, before, self.session.network)
        self.player.announce()
        self._list.selected = query.name
        return monospace(f"{query.name} {'replaced' if replaced else 'registered'}: {change}")

    def _drop(self) -> str:
        before = len(self.session.network.nodes)
        self.session.drop(self._name.value)
        self.player.announce()
        return monospace(f"{self._name.value} dropped: {before - len(self.session.network.nodes):,} nodes removed")

    def _button(self, word: str, icon: str, title: str, action: Callable[[], str]) -> ipywidgets.Button:
        made = ipywidgets.Button(description=word, icon=icon, tooltip=title, layout={"width": "auto"})

        def act(button: ipywidgets.Button) -> None:
            try:
                self._told.value = action()
            except WorkbenchError as error:
                self._told.value = monospace(str(error))

        made.on_click(act)
        return made


def _changes(name: str, reports: Sequence[BatchReport]) -> list[int]:
    """Changed rows of the last batches."""
    return [report.changes.get(name, 0) for report in reports[-BATCHES:]]
