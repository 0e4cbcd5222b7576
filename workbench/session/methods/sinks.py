"""The sinks and the subscribers of a session: where the changes of its queries go."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from workbench.session.changes import StateStore
from workbench.session.sinks.sink import SinkStatus
from workbench.session.sinks.sinks import Sinks
from workbench.session.subscriptions.events import AnswerEvent, AnswerPlace, Closeable, Subscriptions
from workbench.session.subscriptions.service import ServedAnswers, serve_answers
from workbench.sql.by_name import ByName
from workbench.web.listening import LOOPBACK


class SessionSinks:
    """The methods of a session that send changes on.

    Args:
        store: the session's state.
        sinks: of the session.
        subscriptions: follow its answers.
    """

    def __init__(self, store: StateStore, sinks: Sinks, subscriptions: Subscriptions) -> None:
        self._store, self._sinks, self._subscriptions = store, sinks, subscriptions

    def add_sink(self, query: str, target: object, name: str | None = None) -> SinkStatus:
        """Send the changes of a query on, batch by batch, beginning with its answer as it was at registration.

        A sink has its own pace: one that is slow or down stops no other, and catches up later. A sink of the same name
        goes on where it was, also in a session that is opened again. Where the session goes back, the target is
        brought up to date: it is sent the difference between its rows and the present answer, under the next number.

        Args:
            query: whose changes.
            target: exactly once each batch: a folder, which gets a Parquet file for each, of this machine or at an
                object store (``s3://bucket/fees``); ``delta:FOLDER``, a Delta table; ``kafka://host:port/topic`` and
                ``postgresql://user@host/db?table=…``, which with ``key=…`` get rows to put and keys to remove instead
                of changes. Or an address ``http://…``, to which JSON is posted with the number of the batch, or a
                callable of that number and a DataFrame with the column ``weight`` and the query's; after a crash these
                may get a batch a second time. A folder, table or topic has one sink alone.
            name: of the sink; that of the query unless given.

        Raises:
            QueryError: there is no such query, or its changes are not kept.
            SessionError: there is no such kind of target, a sink of that name, or the target has another sink.

        Returns:
            How it is: where the target cannot be reached, ``problem`` says why; it is tried again.

        Example:
            >>> session.add_sink("big", lambda batch, changes: print(batch, len(changes)))  # doctest: +SKIP
        """
        self._store.directory.check_writable()
        return self._sinks.add(name or query, self._store.state.query(query).name, target)

    def drop_sink(self, name: str) -> None:
        """Remove a sink, and its position.

        Raises:
            QueryError: no sink has that name.
        """
        self._store.directory.check_writable()
        self._sinks.drop(name)

    @property
    def sinks(self) -> Mapping[str, SinkStatus]:
        """How the sinks are, by their names: how far behind, and what went wrong last."""
        self._store.directory.check_open()
        return ByName("sink", self._sinks.statuses)

    def subscribe(self, query: str, since: int | None = None) -> Iterator[AnswerEvent]:
        """Follow a query in this process: its answer, then what each batch changes in it, as it comes.

        The iterator waits for batches that another thread runs, as after ``player.play()``. It ends when the session is
        closed. Where the session goes back, the whole answer comes again.

        Args:
            query: its name.
            since: a batch after which the answer is known, so that only changes come; -1 begins with the answer at
                registration. ``None``: the answer comes first.

        Raises:
            QueryError: there is no such query, or its changes are not kept; as it goes on, that it was dropped.

        Example:
            >>> for event in session.subscribe("big"):  # doctest: +SKIP
            ...     print(event.batch, event.whole, event.rows.num_rows)
        """
        self._subscriptions.query(query)  # a wrong name is said at once
        place = None if since is None else AnswerPlace(since)
        return (event for event in self._subscriptions.follow(query, place) if event is not None)

    def serve(
        self, port: int = 0, host: str = LOOPBACK, token: str | None = None, flight: int | None = None
    ) -> ServedAnswers:
        """Let other programs read answers and follow their changes, until that is closed, or this process ends.

        ``http://127.0.0.1:PORT/queries`` lists the queries, ``/queries/NAME`` is an answer in JSON, and
        ``/queries/NAME/changes`` are server-sent events: the answer, then what each batch changes, with the number of
        the batch. A client that comes again with the id of the last event, or ``?since=BATCH``, gets what it lacks.
        Nothing can be changed there.

        Args:
            port: where to listen; 0 takes a port that is free.
            host: the address of the interface; beyond the loopback interface there must be a token.
            token: what a request must have, as ``Authorization: Bearer TOKEN`` or ``?token=TOKEN``.
            flight: a port for Arrow Flight, too, with tickets such as ``{"query": "big", "since": 7, "follow": true}``.

        Raises:
            SessionError: nothing can listen there, or there is no token, or a short one.
            EnvironmentProblem: this pyarrow has no Flight.

        Example:
            >>> served = session.serve(port=8090, flight=0)  # doctest: +SKIP
            >>> served.url  # doctest: +SKIP
            'http://127.0.0.1:8090/queries'
        """
        self._store.directory.check_open()
        return serve_answers(self._subscriptions, port, host, token, flight)

    @property
    def served(self) -> tuple[ServedAnswers, ...]:
        """The ports at which its answers are served."""
        self._store.directory.check_open()
        return tuple(port for port in self._subscriptions.ports if isinstance(port, ServedAnswers))

    def close_with(self, port: Closeable) -> None:
        """Close something when the session is closed, such as what serves it."""
        self._store.directory.check_open()
        self._subscriptions.ports.append(port)

    def leave(self, port: Closeable) -> None:
        """Undo ``close_with``."""
        if port in self._subscriptions.ports:
            self._subscriptions.ports.remove(port)

    @property
    def ports(self) -> tuple[Closeable, ...]:
        """The ports that are closed with the session."""
        self._store.directory.check_open()
        return (*self._subscriptions.ports,)
