"""The sinks of a session: where the changes of its queries go."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from workbench.errors import SessionError
from workbench.session.changes import StateStore
from workbench.session.sinks.sink import SinkStatus
from workbench.session.sinks.sinks import Sinks


class SessionSinks:
    """The methods of a session that send changes on.

    Args:
        store: the session's state.
        sinks: of the session.
    """

    def __init__(self, store: StateStore, sinks: Sinks) -> None:
        self._store, self._sinks = store, sinks

    def add_sink(self, query: str, target: object, mode: str = "changes", name: str | None = None) -> SinkStatus:
        """Send the changes of a query on, batch by batch, beginning with its answer as it was at registration.

        A sink has its own pace: one that is slow or down stops no other, and catches up later. A sink of the same name
        goes on where it was, also in a session that is opened again. Where the session goes back, the target is
        brought up to date: it is sent the difference between its rows and the present answer, under the next number.

        Args:
            query: whose changes.
            target: exactly once each batch: a folder, which gets a Parquet file for each; ``delta:FOLDER``, a Delta
                table; ``kafka://host:port/topic`` and ``postgresql://user@host/db?table=…``, which with ``key=…`` get
                rows to put and keys to remove instead of changes. Or an address ``http://…``, to which JSON is posted
                with the number of the batch, or a callable of that number and a DataFrame with the column ``weight``
                and the query's; after a crash these may get a batch a second time. A folder, table or topic has one
                sink alone.
            mode: ``"changes"``; there is no other yet.
            name: of the sink; that of the query unless given.

        Raises:
            QueryError: there is no such query, or its changes are not kept.
            SessionError: there is no such kind of target or mode, a sink of that name, or the target has another sink.

        Returns:
            How it is: where the target cannot be reached, ``problem`` says why; it is tried again.

        Example:
            >>> session.add_sink("big", lambda batch, changes: print(batch, len(changes)))  # doctest: +SKIP
        """
        if mode != "changes":
            raise SessionError(f"mode={mode!r}", hint="'changes' is the one there is")
        self._store.directory.check_writable()
        return self._sinks.add(name or query, self._store.state.query(query).name, target)

    def drop_sink(self, name: str) -> None:
        """Forget a sink, and how far it has come.

        Raises:
            QueryError: no sink has that name.
        """
        self._store.directory.check_writable()
        self._sinks.drop(name)

    @property
    def sinks(self) -> Mapping[str, SinkStatus]:
        """How the sinks are, by their names: how far behind, and what went wrong last."""
        self._store.directory.check_open()
        return MappingProxyType(dict(self._sinks.statuses))
