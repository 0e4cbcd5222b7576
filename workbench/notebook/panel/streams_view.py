"""Streams: how far each has been read, its columns, and its quarantined rows."""

from __future__ import annotations

from html import escape

import ipywidgets

from workbench.notebook.display import Shown, event_time, table
from workbench.notebook.panel.markup import grid
from workbench.notebook.panel.view import View


class StreamsView(View):
    """The streams and tables of a session."""

    title = "Streams"

    def build(self) -> ipywidgets.Widget:
        """One piece of HTML that keeps its height."""
        made = ipywidgets.HTML()
        made.add_class("argus")
        return made

    def refresh(self) -> None:
        """The table anew."""
        self.widget.value = f'<div class="fixed">{self._html()}</div>'

    def twin(self) -> Shown:
        """The same without columns, as text."""
        rows = [
            [s.name, f"{s.position:,}", f"{s.rows:,}", f"{s.batch:,}", event_time(s), f"{s.quarantined_rows:,}"]
            for s in self.session.streams.values()
        ]
        columns = ["stream", "arrived", "of rows", "batch", "time", "quarantined"]
        return Shown(table(columns, rows).text if rows else "no streams yet", self._html())

    def _html(self) -> str:
        rows = [
            [
                f"<b>{escape(s.name)}</b>" + (" (table)" if s.table else ""),
                f"{s.position:,}",
                f"{s.rows:,}",
                f'<progress max="{max(1, s.rows)}" value="{s.position}"></progress>',
                "" if s.table else f"{s.batch:,}",
                escape(event_time(s)),
                f"{s.quarantined_rows:,}",
                '<span style="white-space:normal">'
                + escape(", ".join(f"{name} {type_}" for name, type_ in s.columns))
                + "</span>",
            ]
            for s in self.session.streams.values()
        ]
        if not rows:
            return "<p>There are no streams yet: %argus help stream</p>"
        columns = ["stream", "arrived", "of rows", "", "rows a batch", "time", "quarantined", "columns"]
        return grid(columns, rows, numbers=(1, 2, 4, 6))
