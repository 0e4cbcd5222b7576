"""What the sources and sinks of a session could not do: read, tried again, dismissed."""

from __future__ import annotations

from workbench.errors import QueryError, nearest
from workbench.explain.text import listed
from workbench.session.changes import StateStore
from workbench.session.failures.error_log import ErrorLog, KeptError
from workbench.session.live.sources import LiveSources
from workbench.session.sinks.sinks import Sinks


class SessionErrors:
    """The methods of a session for the errors of its sources and sinks.

    Args:
        store: the session's state.
        live: reads live sources.
        sinks: of the session.
        errors: those that are kept.
    """

    def __init__(self, store: StateStore, live: LiveSources, sinks: Sinks, errors: ErrorLog) -> None:
        self._store, self._live, self._sinks, self._errors = store, live, sinks, errors

    @property
    def errors(self) -> tuple[KeptError, ...]:
        """The last hundred errors of sources and sinks that were not dismissed, the latest last, also of days before.

        A row that a live source brought and that was quarantined is one, with the row; so is a change that a target
        refused, with the first row of what was sent.
        """
        self._store.directory.check_open()
        return self._errors.errors

    def retry(self, name: str) -> str:
        """Try a sink or a live source again now, without waiting for its next time.

        Rows that were quarantined are not: ``widen_column`` takes them in.

        Args:
            name: of the sink, or of the stream.

        Returns:
            What is wrong with it still, as far as that is known yet; "" where nothing is.

        Raises:
            QueryError: there is no such sink or stream, or a sink's target must be given again.
            StreamError: the stream is not live.

        Example:
            >>> session.retry("big")  # doctest: +SKIP
            ''
        """
        self._store.directory.check_writable()
        if name in self._sinks.statuses:
            return self._sinks.retry(name)
        with self._store.exclusively():
            streams = {stream.lower(): stream for stream in self._store.state.streams}
            self._check_known(name)
            return self._live.retry(self._store.state.streams[streams[name.lower()]])

    def dismiss_errors(self, name: str | None = None) -> int:
        """Forget errors that have been read, and what problems sources had that are over; how many errors there were.

        Args:
            name: of the sink or stream; ``None``: all.

        Raises:
            QueryError: there is no such sink or stream, and no error of one.
        """
        if name is not None and name.lower() not in {error.name.lower() for error in self.errors}:
            self._check_known(name)
        self._store.directory.check_writable()
        streams = self._store.state.streams
        self._live.forget_problems([stream for stream in streams if name is None or stream.lower() == name.lower()])
        return self._errors.dismiss(name)

    def _check_known(self, name: str) -> None:
        known = [*self._sinks.statuses, *self._store.state.streams]
        if name.lower() not in map(str.lower, known):
            hint = nearest(name, known) or (f"there are {listed(known)}" if known else "there are none yet")
            raise QueryError(f"there is no sink or stream {name}", hint=hint)
