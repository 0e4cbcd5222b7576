"""The panel: the player's controls, and all views of a session as tabs below them."""

from __future__ import annotations

import ipywidgets

from workbench.notebook.panel.network_view import PlanView
from workbench.notebook.panel.queries_view import QueriesView
from workbench.notebook.panel.replay_view import ReplayView
from workbench.notebook.panel.results_view import ResultsView
from workbench.notebook.panel.sharing_view import SharingView
from workbench.notebook.panel.streams_view import StreamsView
from workbench.notebook.panel.timings_view import TimingsView
from workbench.notebook.panel.view import Live, View
from workbench.notebook.panel.widgets import ChosenQuery
from workbench.session.player import Player
from workbench.session.session import Session


class Panel(Live):
    """All views of a session; only the view of the open tab is kept up to date.

    Until the analyst chooses a tab, the open one is where to go on: streams are added first, then queries, then answers
    are looked at.
    """

    def __init__(self, session: Session, player: Player) -> None:
        choice = ChosenQuery()
        self.replay = ReplayView(session, player, choice)
        kinds: tuple[type[View], ...] = (ResultsView, PlanView, QueriesView, SharingView, TimingsView, StreamsView)
        self.tab_views = tuple(kind(session, player, choice) for kind in kinds)
        self.tabs = ipywidgets.Tab(
            [view.widget for view in self.tab_views], titles=[view.title for view in self.tab_views]
        )
        self._suggesting, self._is_chosen = False, False
        self.tabs.observe(lambda change: self._opened(), "selected_index")
        super().__init__(self.replay, *self.tab_views, widget=ipywidgets.VBox([self.replay.widget, self.tabs]))

    def refresh(self, resting: bool = True) -> None:
        """Refresh the visible views, and open the tab in which the analyst continues."""
        if not self._is_chosen and not self.replay.session.closed:
            self._suggesting = True
            self.tabs.selected_index = self._suggested()
            self._suggesting = False
        super().refresh(resting)

    def _suggested(self) -> int:
        session = self.replay.session
        kind = StreamsView if not session.streams else QueriesView if not session.queries else ResultsView
        return next(place for place, view in enumerate(self.tab_views) if isinstance(view, kind))

    def _opened(self) -> None:
        if not self._suggesting:
            self._is_chosen = True
            self.refresh(resting=False)

    def visible(self) -> tuple[View, ...]:
        """The controls, and the view whose tab is open."""
        return self.replay, self.tab_views[self.tabs.selected_index or 0]
