"""The streams of a session: what has arrived of each, what live sources bring, and how far sinks are behind."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from html import escape

import ipywidgets

from workbench.errors import WorkbenchError
from workbench.explain.text import clock_text, counted
from workbench.notebook.display import (
    ERROR_COLUMNS,
    SOURCE_COLUMNS,
    Shown,
    arrived_last,
    as_of_html,
    error_rows,
    errors_table,
    event_time,
    sinks_table,
    source_rows,
    sources_table,
    streams_table,
    together,
)
from workbench.notebook.drift_lines import drift_lines
from workbench.notebook.panel.add_stream import AddStream
from workbench.notebook.panel.markup import grid
from workbench.notebook.panel.view import View
from workbench.notebook.panel.widgets import button, html_box
from workbench.sql.algebra.types import DataType


class StreamsView(View):
    """The streams and tables, the live sources and the sinks of a session."""

    title = "Streams"

    def build(self) -> ipywidgets.Widget:
        """The tables keep their height; below them are fields to add a stream."""
        self._tables = html_box()
        self.add_stream = AddStream(self.session, lambda: self.user_variables, self.player.announce)
        self.problems_seen = button(
            "Dismiss errors", "check", self._dismiss, "Forget errors, and problems that are over"
        )
        self.again = button("Try again", "repeat", self._retry, "Try sources and sinks with errors now")
        # A button opens the fields: an accordion cannot be opened by keyboard.
        opened = ipywidgets.ToggleButton(description="Add a stream", icon="plus", layout={"align_self": "flex-start"})
        opened.observe(lambda change: self._show_fields(change["new"]), "value")
        self._show_fields(False)
        return ipywidgets.VBox(
            [self._tables, ipywidgets.HBox([self.again, self.problems_seen]), opened, self.add_stream.widget]
        )

    def _dismiss(self) -> None:
        self.session.dismiss_errors()
        self.refresh()

    def _retry(self) -> None:
        """Try what had errors; what cannot be tried says why among the others."""
        for name in dict.fromkeys(error.name for error in self.session.errors):
            with suppress(WorkbenchError):
                self.session.retry(name)
        self.refresh()

    def _show_fields(self, shown: bool) -> None:
        self.add_stream.widget.layout.display = None if shown else "none"

    def refresh(self) -> None:
        """Show the present tables."""
        self._tables.value = self._html()
        earlier = any(source.earlier for source in self.session.sources.values())
        self.problems_seen.layout.display = None if earlier or self.session.errors else "none"
        self.again.layout.display = None if self.session.errors else "none"
        self.add_stream.refresh()

    def static_view(self) -> Shown:
        """The tables as text and HTML, without the columns of streams."""
        tables = [streams_table(self.session)]
        tables += [sources_table(sources)] if (sources := self.session.sources) else []
        tables += [sinks_table(sinks)] if (sinks := self.session.sinks) else []
        tables += [errors_table(errors)] if (errors := self.session.errors) else []
        return Shown(together(*tables).text, self._html())

    def _html(self) -> str:
        if not self.session.streams:
            return "<p>There are no streams yet: add one below, or see %argus help stream</p>"
        return self._streams() + self._drifts() + self._sources() + self._sinks() + self._errors()

    def _drifts(self) -> str:
        return "".join(f"<p>{escape(line)}</p>" for line in drift_lines(self.session))

    def _streams(self) -> str:
        last, clocks = arrived_last(self.session), self.session.clocks
        sheds = any(stream.shed for stream in self.session.streams.values())
        rows = [
            [
                f"<b>{escape(s.name)}</b>" + (" (table)" if s.table else ""),
                f"{s.position:,}",
                f"{s.rows:,}",
                f'<progress max="{max(1, s.rows)}" value="{s.position}"></progress>',
                s.batch_text,
                last[s.name],
                escape(event_time(s)),
                clock_text(s.as_event_time(clocks[s.name], self.session.timezone)),
                f"{s.quarantined_rows:,}",
                *([f"{s.left_out:,}" if s.shed else ""] if sheds else []),
                _folded(s.columns),
            ]
            for s in self.session.streams.values()
        ]
        places = ["stream", "arrived", "of rows", "", "a batch", "last batch"]
        columns = [*places, "time", "clock", "quarantined", *(["left out"] if sheds else []), "columns"]
        return grid(columns, rows, numbers=(1, 2, 4, 5, 8, *([9] if sheds else [])))

    def _sources(self) -> str:
        rows = [[f"<b>{escape(name)}</b>", *map(escape, said)] for name, *said in source_rows(self.session.sources)]
        return "<h4>Live sources</h4>" + grid(SOURCE_COLUMNS, rows, numbers=(3, 4, 5)) if rows else ""

    def _sinks(self) -> str:
        rows = [
            [f"<b>{escape(name)}</b>", escape(s.query), escape(s.target), f"{s.behind:,}", escape(s.problem)]
            for name, s in self.session.sinks.items()
        ]
        columns = ["sink", "query", "target", "batches behind", "problem"]
        queries = dict.fromkeys(status.query for status in self.session.sinks.values())
        lines = (f"<b>{escape(query)}</b>{as_of_html(self.session.as_of(query))}" for query in queries)
        return f"<h4>Sinks</h4>{grid(columns, rows, numbers=(3,))}{''.join(lines)}" if rows else ""

    def _errors(self) -> str:
        rows = [[*map(escape, row)] for row in error_rows(self.session.errors)]
        return f"<h4>Errors</h4>{grid(ERROR_COLUMNS, rows)}" if rows else ""


def _folded(columns: Sequence[tuple[str, DataType]]) -> str:
    """The columns of a stream with their types, shown when they are asked for: there may be many."""
    named = escape(", ".join(f"{name} {type_}" for name, type_ in columns))
    said = counted(len(columns), "column")
    return f'<details><summary>{said}</summary><div class="argus-wide">{named}</div></details>'
