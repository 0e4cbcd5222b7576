"""The transitions of a session: each takes the state and gives the next one. ``changes`` commits it, or undoes it.

They belong inside a change (``StateStore.changing``), since they also change the catalog and the engine, which a change
that fails takes back with the state.
"""

from __future__ import annotations

import time
import uuid
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from shutil import rmtree

from workbench.engine.engine import Engine
from workbench.engine.reports import BatchReport
from workbench.engine.state import EngineState
from workbench.errors import ConstraintWarning, NotEmittedError, QueryError, StreamError
from workbench.files.shared import all_stored, journal_of, remove_small
from workbench.network.calls import functions_of
from workbench.network.network import Network, check_name, checked_query
from workbench.network.nodes import NodeId
from workbench.optimizer.hydration_cost import SEEN, PastHydration, hydration_work
from workbench.optimizer.join_cost import costliest_new_join
from workbench.session.constraints import affected, broken_keys, broken_orders, check_droppable
from workbench.session.cost_limit import check_cost
from workbench.session.events import log_problem
from workbench.session.learning.observing import Observer, present_statistics
from workbench.session.learning.reoptimizing import Accept, Reoptimization, reoptimized
from workbench.session.query_windows import windows_of
from workbench.session.state import ACTIVE, EAGER, OFF, RESULTS, QueryRecord, State
from workbench.sharing.decisions import Explanation
from workbench.sharing.planner import Planner
from workbench.sql.binder.pipeline import Bound
from workbench.sql.by_name import LISTED
from workbench.sql.checks import checks_of
from workbench.sql.constraints import Constraint
from workbench.sql.logical import LogicalQuery, calls_of, streams_of
from workbench.streams.cut import BatchCut
from workbench.streams.stream import Stream
from workbench.streams.tail import TAIL
from workbench.streams.whole_transactions import cut_at_borders


@dataclass(frozen=True)
class BoundText:
    """A query to register: its text, its bound form, and how its answer is kept (``RESULTS``)."""

    sql: str
    dialect: str
    bound: Bound
    results: str


@dataclass(frozen=True)
class Runtime:
    """The services of transitions: the planner with the catalog, the engine, and the observations."""

    planner: Planner
    engine: Engine
    observer: Observer = field(default_factory=Observer)


@contextmanager
def new_log(state: State, streams: Path, name: str) -> Iterator[Path]:
    """The folder for the log of a new stream; it is removed when the context fails.

    Raises:
        StreamError: the name is taken.
    """
    if name.lower() in {existing.lower() for existing in state.streams}:
        hint = "choose another name; --replace, in Python replace=True, puts the new one in its place"
        raise StreamError(f"there is already a stream or table called {name}", hint=hint)
    if name.lower() in {existing.lower() for existing in state.views}:
        raise StreamError(f"there is already a view or query called {name}", hint="choose another name")
    # A file system takes 255 bytes; the number alone tells folders apart.
    numbers = [
        int(number) for number in (there.name.partition("-")[0] for there in streams.glob("*")) if number.isdigit()
    ]
    folder = streams / f"{max(numbers, default=-1) + 1}-{''.join(c if c.isalnum() else '_' for c in name)[:40]}"
    if journal_of(folder) is not None:  # other machines may have what was once there
        folder = folder.with_name(f"{folder.name}-{uuid.uuid4().hex[:8]}")
    try:
        yield folder
    except BaseException:
        remove_log(folder)
        raise


def remove_log(folder: Path) -> None:
    """Remove the log of a stream that is no part of the session, on this machine."""
    remove_small(folder / TAIL)
    rmtree(folder, ignore_errors=True)


def add_stream(runtime: Runtime, state: State, stream: Stream) -> State:
    """Add a stream, and the rows of its history. Tasks may read its log, so that is stored before."""
    all_stored(str(file) for file in stream.log.folder.iterdir() if not file.name.startswith(TAIL))
    history = stream.history_rows
    runtime.engine.add_stream(stream.name, dict(stream.stored_columns), [(0, history)], stream.time, stream.ordered)
    statistics = {**state.statistics, stream.name.lower(): stream.statistics()}
    runtime.planner.streams = statistics
    reached = broken_orders([stream], {stream.name: history}, {}) if stream.ordered else {}
    state = replace(state.with_stream(stream), statistics=statistics)
    return _without_broken(state, reached) if reached else state


def drop_stream(runtime: Runtime, state: State, name: str) -> State:
    """Forget a stream or table that no query and no view reads, and its rows.

    Raises:
        StreamError: no stream has that name, or a query reads it.
    """
    stream = state.stream(name)
    texts = {**{name: query.logical for name, query in state.queries.items()}, **state.views}
    readers = [reader for reader, logical in texts.items() if stream.name in streams_of(logical)]
    if readers:
        more = f", {len(readers) - LISTED} more read it" * (len(readers) > LISTED)
        hint = f"first %argus drop {' '.join(readers[:LISTED])}{more}"
        what = "1 query or view" if len(readers) == 1 else f"{len(readers)} queries or views"
        raise StreamError(f"{stream.name} is read by {what}", hint=hint)
    check_droppable(state, stream)
    runtime.engine.drop_stream(stream.name)
    statistics = {key: known for key, known in state.statistics.items() if key != stream.name.lower()}
    runtime.planner.streams = statistics
    return replace(state.without_stream(stream.name), statistics=statistics)


def learn(runtime: Runtime, state: State) -> State:
    """Let the planner know what streams look like by now, and what batches have shown of the network."""
    state = replace(state, statistics=present_statistics(state))
    runtime.planner.know(state.statistics, runtime.observer.observed(state), state.constraints)
    runtime.planner.views = state.view_names
    return state


def register(runtime: Runtime, state: State, texts: Mapping[str, BoundText], force: bool = True) -> State:
    """Add queries to the network, replacing queries of the same names, and compute the new nodes.

    Args:
        force: whether joins are computed however many pairs they look at.

    Raises:
        QueryError: a name is that of a stream, answers cannot be kept so, or a join would take too long.
    """
    for name, text in texts.items():
        if text.results not in RESULTS:
            raise QueryError(f"results cannot be kept {text.results}", hint=f"there are {', '.join(RESULTS)}")
        if name.lower() in {stream.lower() for stream in state.streams}:
            raise QueryError(f"{name} is a stream", hint="choose another name for the query")
    state, planner = learn(runtime, state), runtime.planner
    replaced, known = state.same_names(texts), state.queries
    network = planner.drop(state.network, with_checks(state.network, replaced))
    named, state = state, state.without(replaced)
    for name, text in texts.items():
        if text.bound.views:
            named = named.with_views(dict(text.bound.views))
            planner.views = named.view_names
        views = text.bound.named(name)
        if text.results == OFF:
            explanation = Explanation(name, (), ("computed when it is asked; nothing is kept",))
            planner.catalog.put_decisions(name, explanation.rows())
        else:
            eager = text.results == EAGER
            planned = planner.register(network, name, views[name], text.sql, text.dialect, eager)
            if not force:
                most = runtime.engine.runner.limits.pairs_compared_per_registration
                check_cost(name, costliest_new_join(planner.estimates, network, planned.network), most)
            network = add_checks(planner, planned.network, name, views[name])
            explanation = planned.explanation
        record = QueryRecord(
            name=name,
            sql=text.sql,
            dialect=text.dialect,
            registered=state.batch,
            status=ACTIVE,
            logical=views[name],
            results=text.results,
            windows=windows_of(views[name], text.bound.windows),
            id=uuid.uuid4().hex,
            explanation=explanation,
            priority=known[name].priority if name in known else 0,
            timezone=text.bound.timezone,
        )
        state = replace(state.with_views(views), queries={**state.queries, name: record})
    return _adopt(runtime, state, network)


def suspend(state: State, names: Collection[str], by_load: bool = False) -> State:
    """Let batches pass over what only these queries, and others that are suspended, need."""
    running = {name: query for name, query in state.queries.items() if name in names and query.suspended is None}
    suspended = {name: replace(query, suspended=state.batch, by_load=by_load) for name, query in running.items()}
    return replace(state, queries={**state.queries, **suspended})


def resume(runtime: Runtime, state: State, names: Collection[str]) -> State:
    """Resume suspended queries: the suspended operators are computed again from all data so far."""
    going = {
        name: replace(query, suspended=None, by_load=False) for name, query in state.queries.items() if name in names
    }
    return _adopt(runtime, replace(state, queries={**state.queries, **going}), state.network)


def drop(runtime: Runtime, state: State, name: str) -> State:
    """Take a query out, and exactly the nodes that no other query needs."""
    views = {key: view for key, view in state.views.items() if key.lower() != name.lower()}
    network = runtime.planner.drop(state.network, with_checks(state.network, [name]))
    return release(runtime, replace(state.without([name]), views=views), network)


def reoptimize(runtime: Runtime, state: State, accept: Accept) -> tuple[State, Reoptimization]:
    """Plan the network again, and replace the trees that are computed otherwise.

    Args:
        accept: whether to do it, by what that is predicted to cost and to save.
    """

    def hydrated(other: Network) -> list[tuple[NodeId, ...]]:
        return runtime.engine.to_hydrate(other, state.batch, state.suspended)

    after, outcome = reoptimized(runtime.planner, learn(runtime, state), accept, hydrated)
    return release(runtime, after, after.network) if outcome.applied else state, outcome


def disable(runtime: Runtime, state: State, reasons: Mapping[str, str]) -> State:
    """Take queries that cannot go on out of the network, and record why."""
    log_problem("queries disabled", reasons=dict(reasons))
    state = without(runtime, state.disabled(reasons), reasons)
    for name in reasons:  # how a query was shared is of interest also when it does not run
        runtime.planner.catalog.put_decisions(name, state.queries[name].explanation.rows())
    return state


def without(runtime: Runtime, state: State, names: Iterable[str]) -> State:
    """Take queries out of the network, with what only they need."""
    return release(runtime, state, runtime.planner.drop(state.network, with_checks(state.network, names)))


def run(
    runtime: Runtime, state: State, sizes: Mapping[str, int | BatchCut] | None = None, profile: bool = False
) -> tuple[State, BatchReport]:
    """Let the next rows of every stream arrive: ``sizes`` by stream, or each stream's own number.

    What waits of a table, whose update was logged, arrives with the next batch whatever that is.
    """
    sizes = cut_at_borders(state.streams, _due(state.streams.values())) if sizes is None else sizes
    streams = {name: stream for name, stream in state.streams.items() if not stream.table or sizes.get(name)}
    steps = {name: stream.take(sizes.get(name, 0)) for name, stream in streams.items()}
    arriving = {name: rows for name, (_, rows) in steps.items()}
    if broken := broken_orders(streams.values(), arriving, runtime.engine.state.clock.now):
        return run(runtime, _fall_back(runtime, state, broken), sizes, profile)
    before = runtime.engine.state
    try:
        report = runtime.engine.run_batch(state.network, state.batch + 1, arriving, profile, state.suspended)
    except NotEmittedError as problem:
        runtime.engine.undo(state.engine)
        return _computed_anew(runtime, state, sizes, profile, problem)
    late = {name: after.late_rows - streams[name].late_rows for name, (after, _) in steps.items()}
    arrived = {name: rows + late[name] for name, rows in report.arrived.items()}
    late_rows = {name: rows for name, rows in late.items() if rows}
    cuts = {name: cut for name, cut in sizes.items() if isinstance(cut, BatchCut)}
    report = replace(report, rows=sum(arrived.values()), arrived=arrived, late_rows=late_rows, cuts=cuts)
    after = {name: stream for name, (stream, _) in steps.items()}
    arrived_state = replace(state, streams={**state.streams, **after}, reports=(*state.reports, report))
    if broken := broken_keys(runtime.engine, arrived_state, state):
        # Answers may be wrong by now: the batch is taken back, and comes once more.
        runtime.engine.undo(before)
        return run(runtime, _fall_back(runtime, state, broken), sizes, profile)
    return arrived_state, report


def _computed_anew(
    runtime: Runtime, state: State, sizes: Mapping[str, int | BatchCut], profile: bool, problem: NotEmittedError
) -> tuple[State, BatchReport]:
    """A batch over which the operators are passed that would have written what is no bag of rows, and all above them.

    They are computed anew from the rows after the batch, and emit what is other than before. So answers are right, and
    the changes of every query lead from one to the next.
    """
    warnings.warn(f"{problem.message}; it is computed anew, and answers are right", stacklevel=2)
    log_problem("operators computed anew", batch=state.batch + 1, nodes=sorted(problem.roots), why=problem.message)
    served = {name for root in problem.roots for name in state.network.served[root]}
    names = {name for name in served if state.queries[name].suspended is None}
    after, report = run(runtime, suspend(state, names), sizes, profile)
    return resume(runtime, after, names), report


def seek(
    runtime: Runtime, state: State, batch: int, kept: State | None, progress: Callable[[BatchReport], None]
) -> State:
    """Start from a kept state, or from the history, and let the same rows arrive in the same batches up to one of them.

    All queries there are now are answered, and none is suspended. One that was registered later is from that batch on.
    """
    queries = {
        name: replace(query, registered=min(query.registered, batch), suspended=None, by_load=False)
        for name, query in state.queries.items()
    }
    again = replace(state, streams={}, reports=(), queries=queries, line=state.line + 1)
    if kept is None:
        runtime.engine.replace_state(EngineState())
        for stream in state.streams.values():
            again = add_stream(runtime, again, stream.rewound())
    else:
        runtime.engine.replace_state(kept.engine)
        streams = {
            name: replace(stream, position=kept.streams[name].position, gaps=kept.streams[name].gaps)
            for name, stream in state.streams.items()
        }
        again = replace(again, streams=streams, reports=state.reports[: kept.batch])
    again = _adopt(runtime, again, state.network)
    for past in state.reports[again.batch : batch]:
        again, report = run(runtime, again, past.taken)
        progress(report)
    return again


def callers(state: State, function: str) -> list[str]:
    """The queries whose answer depends on a function; also queries of which nothing is kept, if they call it."""
    plans = state.network.queries.items()
    callers = [
        *dict.fromkeys(checked_query(name) for name, plan in plans if function in functions_of(state.network, plan))
    ]
    # Queries of which nothing is kept are in no network.
    others = (query for query in state.queries.values() if query.status == ACTIVE)
    unkept = [query.name for query in others if query.name not in state.network.queries]
    return [*callers, *(name for name in unkept if function in calls_of(state.queries[name].logical))]


def add_checks(planner: Planner, network: Network, name: str, logical: LogicalQuery) -> Network:
    """The network with the checks of a query that are needed."""
    constraints = chain.from_iterable(planner.constraints.values())
    for number, check in enumerate(checks_of(logical, constraints), start=1):
        if not check.needed:
            continue
        network = planner.register(network, check_name(name, number), check.query).network
    return network


def with_checks(network: Network, names: Iterable[str]) -> list[str]:
    """Names of queries in the network, and the names of their checks."""
    wanted = set(names)
    return [name for name in network.queries if checked_query(name) in wanted]


def _due(streams: Collection[Stream]) -> dict[str, int | BatchCut]:
    """How many rows the next batch takes of each stream by itself; those cut by event time end together."""
    end = min((boundary for stream in streams if (boundary := stream.boundary()) is not None), default=None)
    return {stream.name: stream.waiting if stream.table else stream.due(end) for stream in streams}


def _adopt(runtime: Runtime, state: State, network: Network) -> State:
    """Change to another network, and record how long hydrating its operators took."""
    state, begun = replace(state, network=network), time.perf_counter()
    operators = runtime.engine.adopt(network, state.batch, state.suspended)
    seconds = time.perf_counter() - begun
    if not operators:
        return state
    if broken := broken_keys(runtime.engine, state):
        return _fall_back(runtime, state, broken)
    # Its work is estimated from the rows that there are now: the planner may know those of another batch.
    state = learn(runtime, state)
    past = PastHydration(hydration_work(runtime.planner.estimates, network.nodes, operators), seconds)
    return replace(state, hydrations=(*state.hydrations, past)[-SEEN:])


def _fall_back(runtime: Runtime, state: State, broken: Mapping[Constraint, str]) -> State:
    """Drop constraints that rows break: queries whose plans may rely on them are planned again.

    What a plan without them looks up, and was not stored, is computed again from the rows that have arrived.
    """
    names, before = affected(state, broken), state.network
    log_problem("constraints broken", batch=state.batch, queries=names, how=[*broken.values()])
    state = learn(runtime, _without_broken(state, broken))
    planner, queries = runtime.planner, dict(state.queries)
    network = planner.without(before, with_checks(before, names))
    for name in names:
        query = queries[name]
        planned = planner.register(network, name, query.logical, query.sql, query.dialect, query.results == EAGER)
        network = add_checks(planner, planned.network, name, query.logical)
        # Rows that may be taken back have a changelog, which begins anew where they are rows of another operator.
        plan, old = planned.network.queries[name], before.queries[name]
        goes_on = planned.network.monotone[plan.read.root] or plan.read == old.read
        registered = query.registered if goes_on else state.batch
        suspended = None if query.suspended is None else state.batch
        notes = (f"{constraint} is not relied on: {how}" for constraint, how in broken.items())
        explanation = replace(planned.explanation, notes=(*planned.explanation.notes, *notes))
        planner.catalog.put_decisions(name, explanation.rows())
        queries[name] = replace(query, explanation=explanation, registered=registered, suspended=suspended)
    network = planner.with_present_constraints(network)
    order = [*(name for name in before.queries if name in network.queries), *network.queries]
    planner.catalog.put_query_order(dict.fromkeys(order))
    network = Network(network.nodes, {name: network.queries[name] for name in order})
    return _adopt(runtime, replace(state, queries=queries), network)


def _without_broken(state: State, broken: Mapping[Constraint, str]) -> State:
    """The state that does not rely on some constraints, which is said."""
    for constraint, how in broken.items():
        message = f"{constraint}: {how}; plans do not rely on it any more, and answers are right"
        warnings.warn(message, ConstraintWarning, stacklevel=2)
    streams = {name: stream.with_broken(broken) for name, stream in state.streams.items()}
    return replace(state, streams=streams)


def release(runtime: Runtime, state: State, network: Network) -> State:
    """Change to a network that has lost readers: rows that only they needed expire."""
    state = _adopt(runtime, state, network)
    runtime.engine.expire(network, state.batch)
    return state
