"""What a session shows of itself in a notebook: the panel, and its views one by one.

The notebook layer is imported when it is asked for, so that a session without a notebook needs none of it.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, cast

from workbench.session.player import Player

if TYPE_CHECKING:
    from workbench.notebook.panel.view import Live, View
    from workbench.session.session import Session


class SessionViews:
    """The part of a session that plays and shows it.

    Example:
        >>> session.player.play()  # doctest: +SKIP
        >>> session.plan_view()  # doctest: +SKIP
    """

    @cached_property
    def player(self) -> Player:
        """Plays the session's batches in the background."""
        return Player(self._session)

    def panel(self) -> Live:
        """All views, with the player's controls above them."""
        from workbench.notebook.panel.panel import Panel

        return Panel(self._session, self.player)

    def plan_view(self) -> Live:
        """The query network: pan, zoom, search, choose nodes, focus on a query."""
        from workbench.notebook.panel.network_view import PlanView

        return self._live(PlanView)

    def replay_view(self) -> Live:
        """The player's controls."""
        from workbench.notebook.panel.replay_view import ReplayView

        return self._live(ReplayView)

    def streams_view(self) -> Live:
        """The streams: how far each has been read, its columns."""
        from workbench.notebook.panel.replay_view import StreamsView

        return self._live(StreamsView)

    def queries_view(self) -> Live:
        """The queries, what is new in them, their texts."""
        from workbench.notebook.panel.queries_view import QueriesView

        return self._live(QueriesView)

    def sharing_view(self) -> Live:
        """The sharing decisions of a query, step by step."""
        from workbench.notebook.panel.sharing_view import SharingView

        return self._live(SharingView)

    def results_view(self) -> Live:
        """A query's answer, page by page."""
        from workbench.notebook.panel.results_view import ResultsView

        return self._live(ResultsView)

    def timings_view(self) -> Live:
        """Where the time of the last batches went."""
        from workbench.notebook.panel.timings_view import TimingsView

        return self._live(TimingsView)

    def stop_playing(self) -> None:
        """End the player's thread, if there is one."""
        if "player" in vars(self):
            self.player.close()

    def _live(self, kind: type[View]) -> Live:
        from workbench.notebook.panel.view import Live

        return Live(kind(self._session, self.player))

    @property
    def _session(self) -> Session:
        return cast("Session", self)
