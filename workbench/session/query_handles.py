"""One object for each registered query, for as long as it is in use."""

from __future__ import annotations

from weakref import WeakValueDictionary

from workbench.session.answer_reader import AnswerReader
from workbench.session.changes import StateStore
from workbench.session.query import Query
from workbench.session.state import QueryRecord


class QueryHandles:
    """The objects that an analyst holds for the queries of a session, one for each registration.

    Args:
        store: the session's state.
        reader: of the session's answers.
    """

    def __init__(self, store: StateStore, reader: AnswerReader) -> None:
        self._store, self._reader = store, reader
        self._handles: WeakValueDictionary[str, Query] = WeakValueDictionary()

    def of(self, record: QueryRecord) -> Query:
        """The object of a registration; it stays the same one for as long as it is in use."""
        if (handle := self._handles.get(record.id)) is None:
            handle = self._handles.setdefault(record.id, Query(record, self._store, self._reader))
        return handle
