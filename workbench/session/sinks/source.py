"""The changes of a query of a session, as a sink takes them."""

from __future__ import annotations

from workbench.errors import QueryError
from workbench.session.changes import StateStore
from workbench.session.query_handles import QueryHandles
from workbench.session.sinks.target import AnswerSource
from workbench.session.state import ACTIVE, EAGER, OFF
from workbench.sql.algebra.types import DataType


def answer_source(store: StateStore, handles: QueryHandles, name: str) -> AnswerSource:
    """The changes of a query, for a sink.

    Args:
        store: the session's state.
        handles: of the queries.
        name: of the query.

    Raises:
        QueryError: there is no such query, or older changes of it are not kept for a sink that is behind.
    """
    record = store.state.query(name)
    if record.results == OFF or (record.windows and record.results != EAGER):
        hint = f'%%argus {name} --results eager, in Python results="eager", keeps what every batch changed'
        raise QueryError(f"the changes of {name} are not kept for a sink", hint=hint)
    handle = handles.of(record)

    def types() -> tuple[DataType, ...]:
        return tuple(type_ for _, type_ in handle.columns)

    def check() -> None:
        if (status := handle.status) != ACTIVE:
            hint = "drop_sink ends the sink; what its target was given stays there"
            raise QueryError(f"query {name} does not run: {status}", hint=hint)

    batch, line = lambda: handle.batch, lambda: store.last.line
    return AnswerSource(record.id, types, handle.arrow_changes, batch, line, check)
