"""Computes queries again whose stream has other rows or types.

They are bound to what there is now: their answers are those that they would have if the stream had always been so. They
keep their names, ids and places, and what follows them goes on from one answer to the other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from workbench.errors import StreamError, WorkbenchError
from workbench.session import transitions
from workbench.session.adding_column import means_same, schema_before
from workbench.session.state import ACTIVE, QueryRecord, State
from workbench.session.transitions import BoundText, Runtime, with_checks
from workbench.sql.binder.pipeline import bind
from workbench.sql.logical import streams_of
from workbench.streams.stream import Stream


def with_readers_anew(runtime: Runtime, state: State, stream: Stream, exchanged: Callable[[State], State]) -> State:
    """The state with a changed stream, in which all of its readers are computed again.

    Args:
        runtime: the planner and the engine.
        state: with the stream as it was.
        stream: the stream as it was.
        exchanged: gives a state without readers of it the stream as it is to be.

    Raises:
        StreamError: a query cannot read the stream then, or would mean another thing than when it was registered.
    """
    readers = {name: query for name, query in state.queries.items() if stream.name in streams_of(query.logical)}
    active = {name: query for name, query in readers.items() if query.status == ACTIVE}
    if other := next((name for name, query in active.items() if not means_same(query, state)), None):
        hint = f"register {other} again, or drop it"
        raise StreamError(f"query {other} would mean another thing by now than when it was registered", hint=hint)
    views = {name: view for name, view in state.views.items() if stream.name not in streams_of(view)}
    network = runtime.planner.drop(state.network, with_checks(state.network, active))
    bare = exchanged(transitions.release(runtime, replace(state.without(active), views=views), network))
    after = transitions.register(runtime, bare, _bound_anew(bare, stream.name, active))
    if lost := [name for name in state.views if name not in after.views and name not in readers]:
        message = f"view {lost[0]} reads {stream.name}, and its text is not kept"
        raise StreamError(message, hint=f"drop {lost[0]}, and create it again afterwards")
    queries = {name: as_registered(runtime, after, query) for name, query in state.queries.items()}
    return replace(after, queries=queries, line=state.line + 1)


def _bound_anew(state: State, stream: str, queries: Mapping[str, QueryRecord]) -> dict[str, BoundText]:
    """The texts of queries, bound to what there is now, in the order in which they were registered."""
    texts = dict[str, BoundText]()
    for name, query in queries.items():
        if any(window.loop is not None for window in query.windows):
            hint = f"drop {name}, and register it again afterwards"
            raise StreamError(f"the loop of query {name} counts from its registration", hint=hint)
        try:
            bound = bind(query.sql, query.dialect, schema_before(state, query))
        except WorkbenchError as problem:
            hint = f"drop {name}, or register it again otherwise"
            raise StreamError(f"query {name} cannot read {stream} then: {problem.message}", hint=hint) from problem
        texts[name] = BoundText(query.sql, query.dialect, bound, query.results)
        state = state.with_views(bound.named(name))
    return texts


def as_registered(runtime: Runtime, state: State, query: QueryRecord) -> QueryRecord:
    """The record of a query that is computed again; if its rows may be retracted, its changes begin again, too."""
    record = state.queries.get(query.name, query)
    plan = state.network.queries.get(query.name)
    tree = None if plan is None or record is query else runtime.engine.state.by_root[plan.read.root]
    return replace(
        record,
        id=query.id,
        priority=query.priority,
        registered=query.registered if tree is None or tree.plan.monotone else record.registered,
        suspended=None if query.suspended is None else state.batch,
        by_load=query.by_load,
    )
