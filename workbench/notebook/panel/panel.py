"""The panel: the player's controls, and all views of a session as tabs below them."""

from __future__ import annotations

import ipywidgets

from workbench.notebook.panel.choice import Choice
from workbench.notebook.panel.network_view import PlanView
from workbench.notebook.panel.queries_view import QueriesView
from workbench.notebook.panel.replay_view import ReplayView
from workbench.notebook.panel.results_view import ResultsView
from workbench.notebook.panel.sharing_view import SharingView
from workbench.notebook.panel.streams_view import StreamsView
from workbench.notebook.panel.timings_view import TimingsView
from workbench.notebook.panel.view import Live, View
from workbench.session.player import Player
from workbench.session.session import Session


class Panel(Live):
    """All views of a session. What cannot be seen is not kept up to date; it is when its tab is opened."""

    def __init__(self, session: Session, player: Player) -> None:
        choice = Choice()
        self._replay = ReplayView(session, player, choice)
        kinds: tuple[type[View], ...] = (PlanView, QueriesView, SharingView, ResultsView, TimingsView, StreamsView)
        self._tabbed = tuple(kind(session, player, choice) for kind in kinds)
        self._tabs = ipywidgets.Tab(
            [view.widget for view in self._tabbed], titles=[view.title for view in self._tabbed]
        )
        self._tabs.observe(lambda change: self.refresh(resting=False), "selected_index")
        super().__init__(self._replay, *self._tabbed, widget=ipywidgets.VBox([self._replay.widget, self._tabs]))

    def visible(self) -> tuple[View, ...]:
        """The controls, and the view whose tab is open."""
        return self._replay, self._tabbed[self._tabs.selected_index or 0]
