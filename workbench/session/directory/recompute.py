"""Recomputation from the streams: of damaged rows, and of sessions that an older workbench wrote.

No answer is lost with stored rows, since the logs of the streams are all that answers follow from. Only what a
changelog had of earlier batches does not follow: where a changelog is damaged, changes begin anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from workbench.engine.engine import Engine
from workbench.engine.state import EngineState
from workbench.errors import WorkbenchError
from workbench.network.network import Network
from workbench.network.nodes import NodeId
from workbench.session.adding_column import schema_before
from workbench.session.directory.restore import Damage
from workbench.session.state import ACTIVE, QueryRecord, State
from workbench.session.transitions import BoundText, Runtime, add_stream, register, run
from workbench.sql.binder.pipeline import bind


def repaired(engine: Engine, state: State, damage: Damage) -> State:
    """The state without damage; belongs inside a change.

    Args:
        engine: holds what is whole.
        state: the session with its damage.
        damage: what is to be computed anew; there must be no damage of another kind.
    """
    for name in damage.arrived:
        stream = state.streams[name]
        batches = {report.batch: report.taken.get(name, 0) for report in state.reports}
        engine.add_stream(name, dict(stream.stored_columns), stream.arrivals(batches), stream.time)
    broken = _with_dependents(state.network, damage.trees)
    whole = {name: tree for name, tree in engine.state.trees.items() if broken.isdisjoint(tree.plan.roots)}
    engine.replace_state(replace(engine.state, trees=whole))
    engine.adopt(state.network, state.batch)
    unreadable, queries = damage.unreadable(state.network), dict(state.queries)
    for name, query in state.queries.items():
        root = state.network.queries[name].read.root if name in state.network.queries else None
        changes_anew = root in broken and not engine.state.by_root[root].plan.monotone
        queries[name] = replace(
            query,
            registered=state.batch if changes_anew else query.registered,
            status=ACTIVE if name in unreadable else query.status,
        )
    return replace(state, queries=queries, line=state.line + 1)


def _with_dependents(network: Network, nodes: Iterable[NodeId]) -> set[NodeId]:
    """Some nodes, and all roots that are computed from them: their changes must match the rows of these."""
    dependents = set(nodes)
    for root in network.trees:
        if any(network.roots[parent] in dependents for parent in network.nodes[root].parents):
            dependents.add(root)
    return dependents


def upgraded(runtime: Runtime, state: State) -> State:
    """A session of an older version, planned and computed again; it belongs inside a change.

    Where the canonical form of expressions has changed, ids of nodes and names of stored columns have too, so stored
    rows cannot be used. The session begins again from the history, with all queries, and the same rows arrive in the
    same batches, as when an analyst goes back: queries are answered as if they had been there from the start. One whose
    text no longer means anything, such as one that reads a view that was dropped since, is disabled and says so.

    Args:
        runtime: of the session.
        state: the session without anything planned.

    Raises:
        EngineError: Spark could not evaluate it; the folder stays as it is.
    """
    runtime.engine.replace_state(EngineState())
    empty: State = replace(state, network=Network(), streams={}, views={}, queries={}, reports=(), engine=EngineState())
    for stream in state.streams.values():
        empty = add_stream(runtime, empty, stream.rewound())
    texts, reasons = _bound_again(empty, state)
    again = register(runtime, empty, texts)
    for report in state.reports:
        again, _ = run(runtime, again, report.taken)
    # Their registrations stay what they were, so sinks go on.
    queries = {name: replace(again.queries.get(name, query), id=query.id) for name, query in state.queries.items()}
    return replace(again, queries=queries, line=state.line + 1).disabled(reasons)


def _bound_again(empty: State, state: State) -> tuple[Mapping[str, BoundText], dict[str, str]]:
    """The queries to register again, and the reasons why some cannot be."""
    texts = dict[str, BoundText]()
    reasons = {name: query.status for name, query in state.queries.items() if query.status != ACTIVE}
    for name, query in state.queries.items():
        if name in reasons:
            continue
        try:
            texts[name] = _bound(query, empty)
        except WorkbenchError as problem:
            reasons[name] = f"it cannot be brought to this version of the workbench: {problem.message}"
        else:
            empty = empty.with_views(texts[name].bound.named(name))
    return texts, reasons


def _bound(query: QueryRecord, state: State) -> BoundText:
    if any(window.loop is not None for window in query.windows):
        raise WorkbenchError("its loop counts from the moment of its registration; register it again")
    bound = bind(query.sql, query.dialect, schema_before(state, query))
    return BoundText(query.sql, query.dialect, bound, query.results)
