"""What a subscriber is sent of a query: its answer once, then what each batch changes in it.

A subscriber's place is a batch of a line of history. Where the session has gone back, or the subscriber is ahead of
it, that place means nothing any more, and the answer is sent again.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa
import pyarrow.compute as pc

from workbench.errors import QueryError
from workbench.session.changes import StateStore
from workbench.session.query import Query
from workbench.session.query_handles import QueryHandles
from workbench.session.sinks.source import answer_source

LOOK = 0.5
"""Seconds after which it is looked for what another process has committed."""


class Closeable(Protocol):
    """Something that is open until it is closed."""

    def close(self) -> None:
        """Close it."""


@dataclass(frozen=True)
class AnswerPlace:
    """A subscriber's position: the batch after which it has the answer, on a line of history.

    Attributes:
        batch: the batch.
        line: of the history that it is of; ``None``: the one that the session has.
    """

    batch: int
    line: int | None = None

    @property
    def text(self) -> str:
        """The place as subscribers see it."""
        return f"{self.line or 0}.{self.batch}"

    @classmethod
    def read(cls, text: str) -> AnswerPlace:
        """A place as ``text`` has it, or the number of a batch.

        Raises:
            QueryError: it is neither.

        Example:
            >>> AnswerPlace.read("0.7"), AnswerPlace.read("7")
            (AnswerPlace(batch=7, line=0), AnswerPlace(batch=7, line=None))
        """
        line, point, batch = text.rpartition(".")
        try:
            return cls(int(batch), int(line) if point else None)
        except ValueError:
            raise QueryError(f"{text} is no batch", hint="give its number, or the id of an event") from None


@dataclass(frozen=True)
class AnswerEvent:
    """Something that a subscriber is sent.

    Attributes:
        place: where it is then.
        rows: the whole answer; or what the batch changes in it, with the column ``weight`` before the query's.
        whole: whether it is the whole answer, which stands for all that was sent before.
    """

    place: AnswerPlace
    rows: pa.Table
    whole: bool

    @property
    def batch(self) -> int:
        """The batch after which the subscriber has the answer."""
        return self.place.batch


class Subscriptions:
    """Follows the answers of a session's queries.

    Args:
        store: the session's state.
        queries: gives its queries.

    Attributes:
        ports: where they are served; closed with the session.
    """

    def __init__(self, store: StateStore, queries: QueryHandles) -> None:
        self._store, self._queries = store, queries
        self.ports = list[Closeable]()
        self._changed = threading.Condition()
        self._commits, self._closed = 0, False

    def notify(self) -> None:
        """There may be another batch, or another line of history."""
        with self._changed:
            self._commits += 1
            self._changed.notify_all()

    def close(self) -> None:
        """End what follows an answer."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        for port in [*self.ports]:
            port.close()

    def queries(self) -> list[Query]:
        """The queries of the session."""
        return [self._queries.of(record) for record in self._store.state.queries.values()]

    def query(self, name: str) -> Query:
        """A query by its name.

        Raises:
            QueryError: there is none.
        """
        return self._queries.of(self._store.state.query(name))

    def answer(self, name: str) -> AnswerEvent:
        """The present answer of a query.

        Raises:
            QueryError: there is no such query, or it does not run.
            EngineError: it could not be read.
        """
        query = self.query(name)
        line, batch = self._store.last.line, query.batch
        return AnswerEvent(AnswerPlace(batch, line), query.arrow_result(batch=batch), True)

    def follow(self, name: str, place: AnswerPlace | None = None) -> Iterator[AnswerEvent | None]:
        """The events for a subscriber, for as long as the query runs and the session is open.

        Args:
            name: of the query.
            place: what it has; ``None``: nothing, so it begins with the answer.

        Yields:
            Events, and ``None`` where nothing has come for a while.

        Raises:
            QueryError: there is no such query, its changes are not kept, or it was dropped.
            EngineError: it could not be read.
        """
        source, query = answer_source(self._store, self._queries, name), self.query(name)
        while not self._closed:
            commits, line, latest = self._commits, self._store.state.line, source.latest()
            source.check()
            if place is None or place.line not in (None, line) or place.batch > latest:
                event = AnswerEvent(AnswerPlace(latest, line), query.arrow_result(batch=latest), True)
                if source.line() == line:  # it did not go back while it was read
                    place = event.place
                    yield event
            elif place.batch < latest:
                changes = source.changes(place.batch if place.batch >= 0 else None)
                if source.line() == line:
                    for batch in range(place.batch + 1, latest + 1):
                        rows = changes.filter(pc.equal(changes.column("batch"), batch)).drop_columns(["batch"])
                        place = AnswerPlace(batch, line)
                        if rows.num_rows:
                            yield AnswerEvent(place, rows, False)
            elif not self._has_changed(commits):
                yield None

    def _has_changed(self, commits: int) -> bool:
        """Wait a while for another commit than that number."""
        with self._changed:
            return self._changed.wait_for(lambda: self._closed or self._commits != commits, LOOK)
