"""What can be done to a session: each step takes its state and gives the next, and whoever calls commits it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from shutil import rmtree

from workbench.engine.answers import Answers
from workbench.engine.engine import Engine
from workbench.engine.reports import BatchReport
from workbench.engine.state import EngineState
from workbench.errors import QueryError, StreamError
from workbench.network.network import Network, QueryPlan
from workbench.network.reads import functions_called
from workbench.session.instants import windows_of
from workbench.session.query import EAGER, OFF, RESULTS, Query
from workbench.session.state import State
from workbench.sharing.decisions import Explanation
from workbench.sharing.planner import Planned, Planner
from workbench.sql.algebra.expressions import calls
from workbench.sql.binder.pipeline import Bound
from workbench.sql.logical import LogicalQuery, calls_of
from workbench.streams.stream import Stream

AnswersOf = Callable[..., AbstractContextManager[Answers]]
"""What a query asks for its answers, those of one instant, or its changes after a batch (``Session._answers``)."""


@dataclass(frozen=True)
class Written:
    """A query as it was written, what its text was bound to, and how its answer is to be kept (``Query.results``)."""

    sql: str
    dialect: str
    bound: Bound
    results: str


@dataclass(frozen=True)
class Steps:
    """The steps of one session, on its planner and its engine. They belong inside a change of its store."""

    planner: Planner
    engine: Engine

    @contextmanager
    def new_log(self, state: State, streams: Path, name: str) -> Iterator[Path]:
        """The folder for the log of a new stream, which goes when the step fails.

        Raises:
            StreamError: the name is taken.
        """
        if name.lower() in {existing.lower() for existing in (*state.streams, *state.views)}:
            raise StreamError(f"there is already a stream, view or query called {name}", hint="choose another name")
        # A file system takes 255 bytes; the number alone tells folders apart.
        folder = streams / f"{len(state.streams)}-{''.join(c if c.isalnum() else '_' for c in name)[:40]}"
        try:
            yield folder
        except BaseException:
            rmtree(folder, ignore_errors=True)
            raise

    def add_stream(self, state: State, stream: Stream) -> State:
        """Take in a stream's history."""
        history = ((0, table) for table in stream.history_tables())
        self.engine.add_stream(stream.name, dict(stream.stored_columns), history, stream.time)
        self.planner.streams = {**self.planner.streams, stream.name.lower(): stream.statistics()}
        return replace(state, streams={**state.streams, stream.name: stream})

    def register(self, state: State, written: Mapping[str, Written], answers: AnswersOf) -> State:
        """Fold queries into the network, in place of those of the same names, and compute what is new.

        Raises:
            QueryError: a name is that of a stream, or answers cannot be kept so.
        """
        for name, text in written.items():
            if text.results not in RESULTS:
                raise QueryError(f"results cannot be kept {text.results}", hint=f"there are {', '.join(RESULTS)}")
            if name.lower() in {stream.lower() for stream in state.streams}:
                raise QueryError(f"{name} is a stream", hint="choose another name for the query")
        replaced = same_names(state, written)
        network, views = self.planner.drop(state.network, replaced), dict(state.views)
        made: dict[str, Query] = {}
        for name, text in written.items():
            new_views = text.bound.named(name)
            logical = new_views[name]
            planned = self._planned(network, name, logical, text)
            network = planned.network
            views.update(new_views)
            about = (text.sql, text.dialect, logical, state.batch, planned.explanation)
            made[name] = Query(name, *about, answers, text.results, windows_of(logical, text.bound.windows))
        without = _without(state, replaced)
        return self._adopt(replace(without, views=views, queries={**without.queries, **made}), network)

    def drop(self, state: State, name: str) -> State:
        """Take a query out, and exactly the nodes nobody else needs."""
        views = {key: view for key, view in state.views.items() if key.lower() != name.lower()}
        return self._release(replace(_without(state, [name]), views=views), self.planner.drop(state.network, [name]))

    def disable(self, state: State, reasons: Mapping[str, str]) -> State:
        """Take queries out that cannot go on, and remember why."""
        network = self.planner.drop(state.network, reasons)
        for name in reasons:  # how a query was shared is of interest also when it does not run
            self.planner.catalog.put_decisions(name, state.queries[name].explanation.rows())
        return self._release(replace(state, disabled={**state.disabled, **reasons}), network)

    def run(
        self, state: State, sizes: Mapping[str, int] | None = None, profile: bool = False
    ) -> tuple[State, BatchReport]:
        """Let the next rows of every stream arrive: ``sizes`` by stream, or each stream's own number."""
        streams = {name: stream for name, stream in state.streams.items() if not stream.table}
        steps = {n: s.next(None if sizes is None else sizes.get(n, 0)) for n, s in streams.items()}
        arriving = {name: table for name, (_, table) in steps.items()}
        report = self.engine.run_batch(state.network, state.batch + 1, arriving, profile)
        late = {name: after.late_rows - streams[name].late_rows for name, (after, _) in steps.items()}
        arrived = {name: rows + late[name] for name, rows in report.arrived.items()}
        late_rows = {name: rows for name, rows in late.items() if rows}
        report = replace(report, rows=sum(arrived.values()), arrived=arrived, late_rows=late_rows)
        moved = {name: after for name, (after, _) in steps.items()}
        return replace(state, streams={**state.streams, **moved}, reports=(*state.reports, report)), report

    def seek(self, state: State, batch: int, progress: Callable[[BatchReport], None] | None) -> State:
        """Start anew from the history, and let the same rows arrive in the same batches up to one of them."""
        self.engine.replace_state(EngineState())
        again = replace(state, streams={}, reports=())
        for stream in state.streams.values():
            again = self.add_stream(again, stream.rewound())
        again = self._adopt(again, state.network)
        for past in state.reports[:batch]:
            again, report = self.run(again, past.arrived)
            if progress is not None:
                progress(report)
        return again

    def _planned(self, network: Network, name: str, logical: LogicalQuery, text: Written) -> Planned:
        """The network with a query, unless nothing is to be kept of it."""
        if text.results == OFF:
            explanation = Explanation(name, (), ("computed when it is asked; nothing is kept",))
            self.planner.catalog.put_decisions(name, explanation.rows())
            return Planned(network, explanation)
        return self.planner.register(network, name, logical, text.sql, text.dialect, eager=text.results == EAGER)

    def _adopt(self, state: State, network: Network) -> State:
        self.engine.adopt(network, state.batch)
        return replace(state, network=network)

    def _release(self, state: State, network: Network) -> State:
        """Go on with a network that has lost readers."""
        state = self._adopt(state, network)
        self.engine.expire(network, state.batch)
        return state


def same_names(state: State, names: Iterable[str]) -> list[str]:
    """Registered queries that queries of these names replace: names differ by more than case."""
    folded = {name.lower() for name in names}
    return [name for name in state.queries if name.lower() in folded]


def callers(state: State, function: str) -> list[str]:
    """The queries that call a function, in their outputs or in a node they are computed from."""
    found = [name for name, plan in state.network.queries.items() if function in _called(state.network, plan)]
    # Queries of which nothing is kept are in no network.
    others = state.queries.keys() - state.network.queries.keys() - state.disabled.keys()
    return [*found, *(name for name in others if function in calls_of(state.queries[name].logical))]


def _called(network: Network, plan: QueryPlan) -> frozenset[str]:
    """The functions that are called for a query."""
    in_nodes = (functions_called(network.nodes[node]) for node in network.ancestors(plan.nodes))
    return frozenset().union(*in_nodes, *(calls(output.expression) for output in plan.outputs))


def with_views(state: State, views: Mapping[str, LogicalQuery]) -> State:
    """The state with more names for FROM."""
    return replace(state, views={**state.views, **views})


def _without(state: State, names: Iterable[str]) -> State:
    gone = set(names)
    queries = {name: query for name, query in state.queries.items() if name not in gone}
    disabled = {name: reason for name, reason in state.disabled.items() if name not in gone}
    return replace(state, queries=queries, disabled=disabled)
