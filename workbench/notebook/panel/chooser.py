"""Choosing a query: one field that follows what is chosen in the other views of a panel, and says it to them."""

from __future__ import annotations

from collections.abc import Callable

import ipywidgets

from workbench.notebook.panel.choice import Choice
from workbench.session.query import Query
from workbench.session.session import Session


class QueryChooser:
    """The queries of a session, one of them chosen: the last one, until another is.

    Args:
        session: whose queries.
        choice: what is chosen in the panel.
        chosen: called when another query is.
    """

    def __init__(self, session: Session, choice: Choice, chosen: Callable[[], None]) -> None:
        self._session = session
        self._choice = choice
        self._tell = chosen
        self.widget = ipywidgets.Dropdown(description="Query", layout={"width": "320px"})
        self.widget.observe(self._changed, "value")
        choice.observe(lambda change: self._follow(), "query")

    @property
    def query(self) -> Query | None:
        """The chosen query; ``None`` when there is none."""
        return self._session.queries.get(self.widget.value or "")

    def refresh(self) -> None:
        """Bring the names up to date."""
        known = tuple(self._session.queries)
        if tuple(self.widget.options) != known:
            before = self.widget.value
            self.widget.unobserve(self._changed, "value")  # new names choose the first, for a moment
            self.widget.options = known
            self.widget.value = before if before in known else next(reversed(known), None)
            self.widget.observe(self._changed, "value")
            if self.widget.value != before:
                self._changed()
        self._follow()

    def _follow(self) -> None:
        if self._choice.query in self.widget.options and self.widget.value != self._choice.query:
            self.widget.value = self._choice.query

    def _changed(self, change: object = None) -> None:
        if self.widget.value:
            self._choice.query = self.widget.value
            self._tell()
