"""A dashboard: answers with their charts, side by side, which follow the batches."""

from __future__ import annotations

from collections.abc import Sequence

import ipywidgets

from workbench.notebook.display import Shown
from workbench.notebook.panel.view import View
from workbench.notebook.panel.widgets import html_box
from workbench.notebook.snapshot import DASHBOARD_STYLE, answer_section
from workbench.session.player import Player
from workbench.session.query import Query
from workbench.session.session import Session


class DashboardView(View):
    """The answers of some queries, each with its chart and of when it is.

    Args:
        session: the session to show.
        player: the player of that session.
        names: of the queries; none: all there are.
        rows: how many rows of an answer at most.
    """

    title = "Dashboard"

    def __init__(self, session: Session, player: Player, names: Sequence[str], rows: int) -> None:
        self._names, self._rows = tuple(names), rows
        super().__init__(session, player)

    def build(self) -> ipywidgets.Widget:
        """One piece of HTML; only the sections of queries whose answer is another one are made anew."""
        self._made: dict[str, tuple[object, str]] = {}
        self._html = html_box()
        return self._html

    def refresh(self) -> None:
        """The sections of queries whose batch, text or state is another one."""
        for query in self._queries():
            state = (query, query.batch, query.status, str(self.session.as_of(query.name)))
            if self._made.get(query.name, (None, ""))[0] != state:
                self._made[query.name] = state, answer_section(self.session, query, self._rows)
        html = self._all()
        if self._html.value != html:
            self._html.value = html

    def static_view(self) -> Shown:
        """The same sections."""
        lines = (f"{query.name}: {self.session.as_of(query.name)}" for query in self._queries())
        return Shown("\n".join(lines) or "there is no query yet", self._all())

    def _all(self) -> str:
        sections = "".join(self._made.get(query.name, (None, ""))[1] for query in self._queries())
        return f"<style>{DASHBOARD_STYLE}</style><div class='argus-dashboard'>{sections}</div>"

    def _queries(self) -> list[Query]:
        there = self.session.queries
        names = [name for name in self._names if name in there] if self._names else [*there]
        return [there[name] for name in names]
