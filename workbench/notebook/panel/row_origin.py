"""Why a row is in an answer, and why rows that were looked for are not: below the table of the results view."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from html import escape

import ipywidgets
import pandas as pd

from workbench.explain.text import monospace
from workbench.notebook.panel.answer_page import answer_table
from workbench.notebook.panel.widgets import button, html_box
from workbench.session.query import Query

_SHOWN = 20
"""Rows of a stream that are shown of what a row comes from."""


class RowOrigin:
    """Two buttons that explain a row, and their results.

    Args:
        thread: in which the rows are found, so that no cell waits.
    """

    def __init__(self, thread: Executor) -> None:
        self._thread = thread
        self._query: Query | None = None
        self._where = ""
        self._row: Mapping[str, object] | None = None
        self.why = button("Why is it here?", "search", self._explain, "Show the rows of the streams that it comes from")
        self.why_not = button(
            "Why is no row here?",
            "question",
            self._explain_missing,
            "Show which conditions keep the rows out",
        )
        self.found = html_box()
        self.widget = ipywidgets.VBox([ipywidgets.HBox([self.why, self.why_not]), self.found])
        self._offer()

    def of(self, query: Query, where: str) -> None:
        """Another query, or another condition on its rows, is looked at."""
        if (query, where) != (self._query, self._where):
            self._query, self._where = query, where
            self.choose(None)

    def choose(self, row: Mapping[str, object] | None) -> None:
        """Another row is chosen, with its values by column; ``None``: no row."""
        self._row, self.found.value = row, ""
        self._offer()

    def _offer(self) -> None:
        self.why.layout.display = "none" if self._row is None else ""
        self.why_not.layout.display = "" if self._where else "none"

    def _explain(self) -> None:
        query, row = self._query, self._row
        if query is None or row is None:
            return
        # What SQL has no literal for, or no exact one, tells no row apart here.
        values = {name: value for name, value in row.items() if not isinstance(value, float | list | dict | bytes)}
        self._find(lambda: _because(query, values))

    def _explain_missing(self) -> None:
        query, where = self._query, self._where
        if query is not None:
            self._find(lambda: _missing(query, where))

    def _find(self, find: Callable[[], str]) -> None:
        def search() -> None:
            try:
                self.found.value = find()
            except Exception as error:  # an error in a thread is not shown
                self.found.value = monospace(str(error))

        self.found.value = "…"
        self._thread.submit(search)


def _because(query: Query, values: Mapping[str, object]) -> str:
    found = query.why(values or None)
    return f"<p>{escape(found.title)}</p>{_tables(found.streams)}"


def _missing(query: Query, where: str) -> str:
    found = query.why_not(where)
    parts = [f"<p>{escape(found.title)}</p>"]
    for cause in found.causes:
        parts += [f"<h4>{escape(cause.title)}</h4>{answer_table(cause.rows, cause.total, cause.title).html}"]
        parts.append(_tables(cause.streams))
    return "".join(parts)


def _tables(streams: Mapping[str, pd.DataFrame]) -> str:
    tables = ((name, answer_table(rows.head(_SHOWN), len(rows), name)) for name, rows in streams.items())
    return "".join(f"<h4>{escape(name)}</h4>{table.html}" for name, table in tables)
