"""The session of a notebook: it shows itself, as a panel or one view at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from workbench.errors.public_api import public_api
from workbench.session import session

if TYPE_CHECKING:
    from workbench.notebook.panel.view import Live, View


class SessionViews:
    """The views of a session, and its player. Widgets are imported when a view is asked for.

    Example:
        >>> session.player.play()  # doctest: +SKIP
        >>> session.plan_view()  # doctest: +SKIP
    """

    def panel(self) -> Live:
        """All views, with the player's controls above them."""
        from workbench.notebook.panel.panel import Panel

        return Panel(self._shown, self._shown.player)

    def plan_view(self) -> Live:
        """The query network: pan, zoom, search, choose nodes, focus on a query."""
        from workbench.notebook.panel.network_view import PlanView

        return self._viewed(PlanView)

    def replay_view(self) -> Live:
        """The player's controls."""
        from workbench.notebook.panel.replay_view import ReplayView

        return self._viewed(ReplayView)

    def streams_view(self) -> Live:
        """The streams: how far each has been read, its columns."""
        from workbench.notebook.panel.streams_view import StreamsView

        return self._viewed(StreamsView)

    def queries_view(self) -> Live:
        """The queries, their new rows, and their texts."""
        from workbench.notebook.panel.queries_view import QueriesView

        return self._viewed(QueriesView)

    def sharing_view(self) -> Live:
        """The sharing decisions of a query, step by step."""
        from workbench.notebook.panel.sharing_view import SharingView

        return self._viewed(SharingView)

    def results_view(self) -> Live:
        """A query's answer, page by page."""
        from workbench.notebook.panel.results_view import ResultsView

        return self._viewed(ResultsView)

    def timings_view(self) -> Live:
        """Where the time of the last batches went."""
        from workbench.notebook.panel.timings_view import TimingsView

        return self._viewed(TimingsView)

    def _viewed(self, view: type[View]) -> Live:
        from workbench.notebook.panel.view import Live

        return Live(view(self._shown, self._shown.player))

    @property
    def _shown(self) -> session.Session:
        return cast(session.Session, self)


@public_api
class Session(session.Session, SessionViews):
    """A session that shows itself in a notebook; everything else is as ``workbench.session.session.Session`` says.

    Example:
        >>> with Session() as s:  # doctest: +SKIP
        ...     s.add_stream("FedWireTrans", "sample_data/fed.parquet", history=10_000, batch=1_000, time="tran_date")
        ...     s.panel()
    """
