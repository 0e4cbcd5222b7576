"""How queries get their answers: from the rows that are kept, or computed aside where what is asked for is not kept."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.sql import SparkSession

from workbench.catalog.catalog import Catalog
from workbench.engine.answers import Answers
from workbench.engine.engine import Engine
from workbench.engine.event_time import EventTimeClock
from workbench.engine.physical.retention import query_bound
from workbench.network.network import Network, QueryPlan
from workbench.network.nodes import Window
from workbench.options import Options
from workbench.session.directory.store import Store
from workbench.session.failing import Failing
from workbench.session.instants import moment_at
from workbench.session.query import Query
from workbench.session.state import State
from workbench.sharing.planner import Planner
from workbench.sql.windows.stream_time import EventTimeVector


class Answering:
    """Gives the queries of a session their answers, in whatever thread asks; it waits for nobody.

    Args:
        options: how queries are planned.
        spark: the analyst's Spark session.
        store: the session's state; what is read is what was committed last.
        planner: knows the streams.
        engine: computes what is not kept.
        failing: disables a query whose functions raise while it is read.
    """

    def __init__(
        self, options: Options, spark: SparkSession, store: Store, planner: Planner, engine: Engine, failing: Failing
    ) -> None:
        self._options = options
        self._spark = spark
        self._store = store
        self._planner = planner
        self._engine = engine
        self._failing = failing

    @contextmanager
    def answers(self, query: Query, at: object | None, after: int | None = None) -> Iterator[Answers]:
        """The answers of a query for as long as they are read; the files they are read from stay meanwhile.

        Args:
            query: whose.
            at: those of one instant, instead of the latest.
            after: with what is needed to tell the changes after a batch.

        Raises:
            SessionError: the session is closed.
            EnvironmentProblem: its Spark does not run any more.
            QueryError: the query does not run, or has no such instant.
            EngineError: Spark could not compute what is not kept.
        """
        self._failing.disable()
        with self._store.using_spark(), self._store.pinned() as state:
            query.check_active()
            clock = state.held.clock
            if at is not None:
                clock = clock.standing(moment_at(query.windows_on, clock, at, query.name))
            moment = clock.now if after is None else clock.after_batch(after)
            plan = state.network.queries.get(query.name)
            if plan is not None and (at is None or not _moves(state.network, plan)) and _has(state, plan, moment):
                yield Answers(plan, state.held.by_root[plan.read.root], query.registered, clock, self._spark)
            else:
                registered = state.batch if after is None else query.registered
                with self._aside(query, state, clock, registered) as answers:
                    yield answers
        # Functions of SELECT are called as rows are read; one that raised has disabled the query.
        self._failing.disable()
        query.check_active()

    @contextmanager
    def _aside(self, query: Query, state: State, clock: EventTimeClock, registered: int) -> Iterator[Answers]:
        """Answers that are computed from the streams' rows, in a network of their own."""
        alone = Planner(self._options, Catalog(), self._planner.streams)
        network = alone.register(Network(), query.name, query.logical).network
        alone.catalog.close()
        plan = network.queries[query.name]
        with self._engine.aside(network, state.held.arrived, clock, state.batch) as held:
            yield Answers(plan, held.by_root[plan.read.root], registered, clock, self._spark)


def _moves(network: Network, plan: QueryPlan) -> bool:
    """Whether a query's rows are kept as they are now, and not for every moment."""
    return any(isinstance(network.nodes[node], Window) for node in network.ancestors(plan.nodes))


def _has(state: State, plan: QueryPlan, moment: EventTimeVector) -> bool:
    """Whether the rows of a query's tree that were in its window at a moment, or later, are all there."""
    tree = state.held.by_root[plan.read.root]
    return tree.has([query_bound(plan, tree.plan.bits, moment)])
