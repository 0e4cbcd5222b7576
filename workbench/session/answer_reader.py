"""How queries are answered: from the rows that are kept, or computed for once where what is asked for is not kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from typing import TypeVar

import pandas as pd

from workbench.catalog.catalog import Catalog
from workbench.engine.answers import Answers
from workbench.engine.estimates.frame import estimate_frame
from workbench.engine.estimates.horvitz_thompson import Totals, scaled
from workbench.engine.estimates.keyed_sums import keyed_sums, sampled_sums
from workbench.engine.estimates.sampled_batches import sampled_batches
from workbench.engine.event_time import EventTimeClock
from workbench.engine.fetching import fetch_count, fetch_results, to_pandas
from workbench.engine.physical.retention import query_bound
from workbench.engine.spark.failures import SparkDied, translate_errors
from workbench.engine.spark.interrupts import stoppable_reading
from workbench.engine.spark.jobs import JobRunner
from workbench.engine.state import EngineState
from workbench.errors import QueryError
from workbench.network.network import Network, QueryPlan, check_number, checked_query
from workbench.session.answering import Answering
from workbench.session.changes import StateStore
from workbench.session.failures.functions import FunctionFailures
from workbench.session.query_windows import query_at_batch, query_at_instant
from workbench.session.state import QueryRecord, State, check_active
from workbench.session.transitions import Runtime, add_checks
from workbench.sharing.planner import Planner
from workbench.sql.algebra.column_names import stored_name
from workbench.sql.algebra.expressions import Column
from workbench.sql.checks import checks_of
from workbench.sql.estimates import estimable
from workbench.sql.logical import LogicalQuery
from workbench.sql.windows.stream_time import EventTimeVector
from workbench.streams.cut import sampled_by
from workbench.streams.since import no_such_batch

R = TypeVar("R")


class AnswerReader:
    """Reads the answers of a session's queries, in the thread that asks; it waits for no other.

    Args:
        store: the session's state; what is read is what was committed last.
        runtime: plans and computes what is not kept.
        failures: disables a query whose functions raise while it is read.
        jobs: of the session.
    """

    def __init__(self, store: StateStore, runtime: Runtime, failures: FunctionFailures, jobs: JobRunner) -> None:
        self._store = store
        self._runtime = runtime
        self._failures = failures
        self.jobs = jobs

    def results(self, queries: Mapping[str, QueryRecord]) -> dict[str, pd.DataFrame]:
        """The answers of some queries, all of one commit, each by what it is asked for; errors as in ``answers``."""

        def fetched() -> dict[str, pd.DataFrame]:
            with self._all_answers([*queries.values()]) as answers, translate_errors("read the results"):
                results = zip(queries, answers, fetch_results(answers), strict=True)
                return {name: to_pandas(rows, answer.plan, queries[name].timezone) for name, answer, rows in results}

        return self._store.once_more(fetched)

    def read(
        self,
        query: QueryRecord,
        doing: str,
        read: Callable[[Answers], R],
        at: object | None = None,
        after: int | None = None,
        batch: int | None = None,
    ) -> R:
        """Apply ``read`` to a query's answers; other arguments and errors are those of ``answers``.

        Where Spark's JVM dies meanwhile, it is read a second time. A query by which it dies twice is disabled.

        Args:
            doing: completes "could not …" in messages, as ``read the answer``.
            read: reads the answers; it may be called twice.

        Raises:
            QueryError: both an instant and a batch are given.
            SparkDied: the JVM died twice.
        """
        if at is not None and batch is not None:
            message = f"{query.name} cannot be asked at an instant and after a batch"
            raise QueryError(message, hint="leave one of them out")

        def done() -> R:
            with self._all_answers([query], at, after, batch) as (answers,), translate_errors(doing):
                return read(answers)

        try:
            return self._store.once_more(done)
        except SparkDied:
            self._failures.disable_named({query.name: f"Spark's JVM died twice to {doing}"})
            check_active(query, self._store.last.status(query))
            raise

    def estimate(self, query: QueryRecord) -> pd.DataFrame:
        """The estimated answer of a query with the rows that were left out; see ``Query.estimate``.

        Raises:
            QueryError: the query does not run, or cannot be estimated.
            EngineError: Spark could not evaluate it.
        """
        with self.reading([query]) as state, translate_errors(f"estimate {query.name}"):
            check_active(query, state.status(query))
            asked = estimable(query.logical)
            if query.windows:
                hint = "estimate a query without BEGIN and END"
                raise QueryError("a window cannot be estimated from a sample", hint=hint)
            stream = state.stream(asked.stream)
            taken = ((report.batch, report.taken.get(stream.name, 0)) for report in state.reports)
            sampled = sampled_batches(stream, taken)
            key = sampled_by(stream.shed)
            by = None if key is None else Column(stored_name(key), dict(stream.stored_columns)[stored_name(key)])
            rows = replace(query, logical=asked.rows if by is None else asked.rows_with(by))
            with self._computed(rows, state, state.engine.clock, registered=0) as answers:
                if by is not None:
                    totals = keyed_sums(answers, asked.width, sampled)
                else:
                    totals = scaled(sampled_sums(answers, asked.width, sampled), asked.width, sampled)
        return estimate_frame(asked, Totals(totals, asked.width))

    @contextmanager
    def answers(
        self, query: QueryRecord, at: object | None = None, after: int | None = None, batch: int | None = None
    ) -> Iterator[Answers]:
        """The answers of a query, within the context; the files they are read from stay meanwhile.

        Args:
            query: the query.
            at: those of one instant, instead of the latest.
            after: with what is needed to give the changes after a batch.
            batch: those after a batch of the past.

        Raises:
            SessionError: the session is closed.
            EnvironmentProblem: its Spark does not run any more.
            QueryError: the query does not run, or has no such instant.
            EngineError: Spark could not compute what is not kept.
        """
        with self._all_answers([query], at, after, batch) as (answers,):
            yield answers

    @contextmanager
    def _all_answers(
        self,
        queries: Sequence[QueryRecord],
        at: object | None = None,
        after: int | None = None,
        batch: int | None = None,
    ) -> Iterator[list[Answers]]:
        """The answers of some queries, all as of the same commit; see ``answers``."""
        with self.reading(queries) as state, ExitStack() as reading:
            yield [reading.enter_context(self.answers_in(state, query, at, after, batch)) for query in queries]

    @contextmanager
    def reading(self, queries: Sequence[QueryRecord]) -> Iterator[State]:
        """The last commit, whose files stay meanwhile."""
        with self._store.cache.active():
            self._failures.disable()
            stoppable = stoppable_reading(self.jobs)
            with self._store.using_spark(), stoppable, self._store.pinned() as state:
                yield state
            # Functions of SELECT are called as rows are read; one that raised has disabled the query.
            self._failures.disable()
            for query in queries:
                check_active(query, self._store.last.status(query))

    @contextmanager
    def answers_in(
        self,
        state: State,
        query: QueryRecord,
        at: object | None = None,
        after: int | None = None,
        batch: int | None = None,
    ) -> Iterator[Answers]:
        """The answers of a query in a state that is being read (``reading``); see ``answers``."""
        check_active(query, state.status(query))
        query = state.queries[query.name]
        suspended_at = state.answered_at(query)
        if batch is not None and batch != state.batch:
            with self._after_batch(state, query, batch) as answers:
                yield answers
            return
        clock = state.engine.clock if suspended_at == state.batch else state.engine.clock.until(suspended_at)
        if at is not None:
            asked, moment = query_at_instant(query.logical, query.windows, clock, at, state.schema, query.name)
            query, clock = replace(query, logical=asked), clock.held_at(moment)
        moment = clock.now if after is None else clock.after_batch(after)
        plan = state.network.queries.get(query.name)
        if at is None and plan is not None and _keeps(state, plan, moment):
            yield self._answers(plan, state.engine, query.registered, clock)
        else:
            # From the rows of the streams as they are, so that of a suspended query this is newer than what it has.
            clock = clock if at is not None else state.engine.clock
            registered = state.batch if after is None else query.registered
            with self._computed(query, state, clock, registered) as answers:
                yield answers

    @contextmanager
    def _after_batch(self, state: State, query: QueryRecord, batch: int) -> Iterator[Answers]:
        """The answers of a query as they were after a batch: from its changelog, or else from the streams' rows."""
        if not 0 <= batch <= state.batch:
            raise no_such_batch(batch, state.batch, query.name)
        clock, plan = state.engine.clock, state.network.queries.get(query.name)
        logged = plan is not None and query.registered <= batch and state.answered_at(query) == state.batch
        if plan is not None and logged and _keeps(state, plan, clock.after_batch(batch)):
            answers = self._answers(plan, state.engine, query.registered, clock.until(batch))
            yield replace(answers, until=batch)
            return
        asked, moment = query_at_batch(query.logical, clock, batch)
        with self._computed(replace(query, logical=asked), state, clock.held_at(moment), state.batch) as answers:
            yield answers

    @contextmanager
    def computed(self, asked: Sequence[LogicalQuery], state: State) -> Iterator[list[Answers]]:
        """The answers of queries of one's own, computed together from the stored rows (``reading``)."""
        with self.asking(state) as answering:
            yield answering.answers(asked)

    @contextmanager
    def asking(self, state: State, query: str = "") -> Iterator[Answering]:
        """What answers queries of one's own from the stored rows; answers stay while the context is open.

        What was computed for queries is there for those that are asked later.

        Args:
            state: which is read meanwhile (``reading``).
            query: what the session keeps for it is there, too.
        """
        near, clock = state.network.of_query(query), state.engine.clock
        # What was asked before stays as it is: a join that serves others too would have more rows.
        options = replace(self._runtime.planner.options, restructure=False, reroute=False)
        planner = Planner(options, Catalog(), state.statistics, explains=False)
        planner.catalog.put_network(near)
        trees = {n: t for n, t in state.engine.trees.items() if not near.nodes.keys().isdisjoint(t.plan.roots)}
        known = EngineState(trees, state.engine.arrived, clock)
        with closing(planner.catalog), self._runtime.engine.apart(known) as engine:
            yield Answering(planner, engine, near, state.batch)

    def network_of(self, asked: Mapping[str, LogicalQuery], state: State) -> Network:
        """A network of some queries alone, which share with each other."""
        planner, network = Planner(self._runtime.planner.options, Catalog(), state.statistics), Network()
        for name, logical in asked.items():
            network = planner.register(network, name, logical).network
        planner.catalog.close()
        return network

    def _answers(self, plan: QueryPlan, rows: EngineState, registered: int, clock: EventTimeClock) -> Answers:
        limits = self._runtime.engine.runner.limits
        return Answers(plan, rows.by_root[plan.read.root], registered, clock, limits)

    @contextmanager
    def _computed(self, query: QueryRecord, state: State, clock: EventTimeClock, registered: int) -> Iterator[Answers]:
        """Answers that are computed from the streams' rows, in a network of their own."""
        planner = Planner(self._runtime.planner.options, Catalog(), state.statistics)
        network = planner.register(Network(), query.name, query.logical).network
        network = add_checks(planner, network, query.name, query.logical)
        planner.catalog.close()
        known = EngineState({}, state.engine.arrived, clock)
        with self._runtime.engine.aside(network, known, state.batch) as rows:
            yield self._checked(query.name, query.logical, network, rows, registered)

    @contextmanager
    def asked(self, name: str, logical: LogicalQuery, state: State) -> Iterator[Answers]:
        """The answers of a query that is not registered, computed from what the network keeps (``reading``).

        Nothing else may change the session meanwhile.

        Args:
            name: of no query.
            logical: what is asked.
            state: the session's, which is being read.
        """
        planner = self._runtime.planner
        with planner.catalog.rehearsal():
            network = planner.register(state.network, name, logical).network
            network = add_checks(planner, network, name, logical)
        with self._runtime.engine.aside(network, state.engine, state.batch, state.suspended) as rows:
            yield self._checked(name, logical, network, rows, state.batch)

    def _checked(
        self, name: str, logical: LogicalQuery, network: Network, rows: EngineState, registered: int
    ) -> Answers:
        """The answers of a query in a network aside, where its checks find no row."""
        for checked, check in network.queries.items():
            is_own = checked != name and checked_query(checked) == name
            if is_own and fetch_count(self._answers(check, rows, registered, rows.clock)):
                failed = checks_of(logical)[check_number(checked) - 1]
                raise QueryError(f"query {name} has no answer: {failed.reason}", hint=failed.hint)
        return self._answers(network.queries[name], rows, registered, rows.clock)


def _keeps(state: State, plan: QueryPlan, moment: EventTimeVector) -> bool:
    """Whether the rows of a query's tree that were in its window at a moment, or later, are all there."""
    tree = state.engine.by_root[plan.read.root]
    return tree.has([query_bound(plan, tree.plan.bits, moment)])
