"""The queries of a session: how they are registered, planned, answered, suspended and dropped."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from typing import overload

import pandas as pd

from workbench.arrow.frames import frame_of
from workbench.engine.fetching import fetch_results, to_shown_table
from workbench.engine.spark.failures import translate_errors
from workbench.errors import InputError
from workbench.errors.public_api import check_argument
from workbench.explain.describe import NetworkView
from workbench.explain.explanation import ExplanationView
from workbench.session import transitions
from workbench.session.answer_reader import AnswerReader
from workbench.session.changes import StateStore
from workbench.session.failures.functions import FunctionFailures
from workbench.session.learning.adapting import Reoptimizer
from workbench.session.learning.forecast import Forecast
from workbench.session.learning.reoptimizing import Reoptimization, asked
from workbench.session.learning.strategies import StrategyPlan, compare_strategies
from workbench.session.live.batch_size import seconds_of
from workbench.session.live.suspension import Suspension
from workbench.session.query import Query
from workbench.session.query_handles import QueryHandles
from workbench.session.replacement import Replacement, compare_answers, replace_query
from workbench.session.requests import QueryRequest, Requests
from workbench.session.sinks.sinks import Sinks
from workbench.session.state import ACTIVE, LAZY, QueryRecord, State
from workbench.session.transitions import BoundText, Runtime
from workbench.session.verification.report import Verification, Verifying
from workbench.session.verification.verifier import Verifier
from workbench.sql.algebra.zones import known_zone
from workbench.sql.binder.pipeline import Bound, bind
from workbench.sql.by_name import LISTED, ByName

ASKED = "what is asked"
"""The name of a query that is not registered."""


class SessionQueries:
    """The methods of a session that register its queries, plan them, and ask for their answers.

    Args:
        store: the session's state.
        runtime: what transitions work with.
        failures: disables queries.
        answers: reads what queries answer.
        handles: of the queries.
        suspension: of the queries.
        reoptimizer: plans the network anew.
        verifier: of answers.
        requests: for queries, of followers.
        sinks: of the queries.
        dialect: SQL dialect of queries that name none.
    """

    def __init__(
        self,
        store: StateStore,
        runtime: Runtime,
        failures: FunctionFailures,
        answers: AnswerReader,
        handles: QueryHandles,
        suspension: Suspension,
        reoptimizer: Reoptimizer,
        verifier: Verifier,
        requests: Requests,
        sinks: Sinks,
        dialect: str,
    ) -> None:
        self._store, self._runtime, self._failures, self._answers = store, runtime, failures, answers
        self._handles, self._suspension, self._reoptimizer = handles, suspension, reoptimizer
        self._verifier, self._requests, self._sinks_of_queries = verifier, requests, sinks
        self.dialect = dialect

    @property
    def timezone(self) -> str:
        """The time zone of queries that are registered from now on; ``Query.timezone`` says that of each."""
        return self._store.state.timezone

    def set_timezone(self, zone: str) -> None:
        """Say in which zone instants are other times where a text does not say it, and in which they are shown.

        The session keeps it. Queries that are there keep the zone that they were registered in.

        Raises:
            SqlError: there is no such zone; the hint has the nearest.

        Example:
            >>> session.set_timezone("Europe/Berlin")  # doctest: +SKIP
        """
        with self._store.changing() as change:
            change.state = replace(change.state, timezone=known_zone(zone))

    def register(
        self,
        sql: str,
        name: str | None = None,
        dialect: str | None = None,
        results: str = LAZY,
        force: bool = False,
        move: bool = False,
    ) -> Query:
        """Register a continuous query; it answers over all data so far at once, then goes on.

        Args:
            sql: its text.
            name: what it is called; a number unless given.
            dialect: of the text; that of the session unless given.
            results: how the answer is kept (PSoup 5). ``"lazy"``: without the window it ends in, which is applied when
                the answer is read; ``"eager"``: as it is now; ``"off"``: not at all, it is computed when it is asked.
            force: whether the query is computed also when it joins too many pairs of rows, which takes very long.
            move: whether what reads a query of this name goes over to the new text in the same step: queries, alerts
                and sinks. Otherwise queries keep the meaning that it had, and sinks end.

        A text may begin with CREATE VIEW statements. A name that exists is replaced. Registered names and views can be
        used in FROM by later queries.

        Raises:
            SqlError, UnsupportedError: the text is not accepted; nothing has changed.
            QueryError: it would take very long (``force``), the name cannot be used, or what is to go over cannot read
                the new text; nothing has changed.
            EngineError: Spark could not evaluate it; nothing has changed.
        """
        dialect = dialect or self.dialect
        if name is not None and " " in name and not any(sign.isspace() for sign in sql.strip()):
            raise InputError(
                f"{sql} is no query", hint=f"the name stands behind the text: register('SELECT …', '{sql}')"
            )
        with self._bound(sql, dialect) as (state, bound):
            named = state.named + (name is None and bound.query is not None)
            name = name or (f"q{named}" if bound.query is not None else bound.views[-1][0])
            text = BoundText(sql, dialect, bound, results)
            if move and (known := state.same_names([name])):
                return self._replace(state.queries[known[0]], text, force)
            return self._register({name: text}, named, force)[name]

    def register_many(
        self, queries: Mapping[str, str], dialect: str | None = None, results: str = LAZY, force: bool = False
    ) -> dict[str, Query]:
        """Register several queries together: all or none, and their nodes are computed in one go. See ``register``."""
        with self._store.exclusively():
            state, dialect, texts = self._store.state, dialect or self.dialect, {}
            for name, sql in queries.items():
                check_argument("name", name, str)
                texts[name] = BoundText(sql, dialect, bind(sql, dialect, state.schema), results)
                state = state.with_views(texts[name].bound.named(name))
            return self._register(texts, state.named, force)

    def request(
        self,
        sql: str,
        name: str | None = None,
        dialect: str | None = None,
        results: str = LAZY,
        within: str | float | timedelta = "1 minute",
    ) -> Query:
        """Ask the process that writes to this session for a query, and follow its answer; see ``register``.

        The writer takes it up between two batches, or when it goes on. It replaces no query. Where this process writes,
        the query is registered.

        Args:
            sql, name, dialect, results: as in ``register``.
            within: how long to wait for the writer.

        Raises:
            SqlError, UnsupportedError, QueryError, EngineError: the query is refused, here or there.
            SessionError: the session is in no store, or the writer has not answered in time; it may do so later.

        Example:
            >>> session = Session.open("s3://bucket/argus", reading=True)  # doctest: +SKIP
            >>> session.request("SELECT * FROM trades WHERE amount > 5", "large").result()  # doctest: +SKIP
        """
        dialect, seconds = dialect or self.dialect, seconds_of(within, "within")
        if self._store.directory.read_only is None:
            return self.register(sql, name, dialect, results)
        bind(sql, dialect, self._store.state.schema).named(name or ASKED)  # a mistake is said at once
        return self.query(self._requests.ask(QueryRequest(sql, name, dialect, results), seconds))

    def drop(self, name: str) -> None:
        """Drop a query and exactly the nodes that no other query needs; its sinks end with it.

        What their targets were given stays there. Queries that read it go on with what it was.

        Raises:
            QueryError: there is no such query.
        """
        with self._store.changing() as change:
            name = change.state.query(name).name
            change.state = transitions.drop(self._runtime, change.state, name)
        self._sinks_of_queries.drop_of(name)

    def query(self, name: str) -> Query:
        """The query of that name.

        Raises:
            QueryError: no query has that name; the hint has the nearest.
        """
        return self._handles.of(self._store.state.query(name))

    @property
    def queries(self) -> Mapping[str, Query]:
        """Registered queries by name, in the order of registration."""
        queries = self._store.state.queries.items()
        return ByName("query", {name: self._handles.of(query) for name, query in queries})

    def results(self, names: Sequence[str]) -> dict[str, pd.DataFrame]:
        """The answers of several queries, all after the same batch, and faster than one by one.

        Raises:
            QueryError: there is no query of a name, or one was disabled.
            EngineError: Spark could not read them.

        Example:
            >>> session.results(["big", "fees"])["fees"]  # doctest: +SKIP
        """
        state = self._store.state
        return self._answers.results({name: state.query(name) for name in names})

    @overload
    def verify(self, name: str, sample: float | None = None) -> Verification: ...

    @overload
    def verify(self, name: None = None, sample: float | None = None) -> dict[str, Verification]: ...

    def verify(self, name: str | None = None, sample: float | None = None) -> Verification | dict[str, Verification]:
        """Evaluate a query's own text once by Spark SQL over all stored rows, and compare that with the kept answer.

        Nothing of the engine takes part but the answer that it keeps. What Spark SQL cannot say is reported as not
        verifiable, with the reason; where SQL leaves the answer open, as between equal rows, differing rows are
        reported as such. It can be interrupted; ``verifying`` says how far it is.

        Args:
            name: of the query; all that run, unless given.
            sample: the part of the groups to compare, of 1. Unless given, all of an answer of up to 200,000 rows, and
                about 200,000 rows of a larger one.

        Returns:
            What was found; for all queries by their names.

        Raises:
            QueryError: there is no query of that name, it does not run, or there is no such sample.
            EngineError: Spark could not read what is kept.

        Example:
            >>> print(session.verify("big"))  # doctest: +SKIP
            big: 1,204 rows after batch 3 are those of Spark SQL (0.9 s)
        """
        state = self._store.state
        if name is not None:
            query = state.query(name)
            return self._verifier.verify([query], sample)[query.name]
        return self._verifier.verify([query for query in state.queries.values() if query.status == ACTIVE], sample)

    @property
    def verifying(self) -> Verifying | None:
        """The progress of the running verification; ``None`` when there is none."""
        return self._verifier.progress

    def ask(self, sql: str, dialect: str | None = None) -> pd.DataFrame:
        """The answer to a text over all data so far, computed once; no query is registered.

        What other queries keep is read as if it were registered, so next to a query of more rows it costs these rows,
        not those of the streams.

        Raises:
            SqlError, UnsupportedError: the text is not accepted.
            EngineError: Spark could not evaluate it.

        Example:
            >>> session.ask("SELECT COUNT(*) AS n FROM trades WHERE amount > 1000000")  # doctest: +SKIP
        """
        name = ASKED
        with self._bound(sql, dialect or self.dialect) as (_, bound), self._answers.reading([]) as state:
            logical = bound.named(name)[name]
            with translate_errors("answer"), self._answers.asked(name, logical, state) as answers:
                rows = to_shown_table(fetch_results([answers])[0], answers.plan, bound.timezone)
        return frame_of(rows)

    def preview(self, sql: str, name: str, dialect: str | None = None) -> tuple[NetworkView, ExplanationView]:
        """The network as it would be with the query registered, and what would be shared; nothing changes.

        Raises:
            SqlError, UnsupportedError: the text is not accepted.
        """
        with self._bound(sql, dialect or self.dialect) as (state, bound):
            planner, logical = self._runtime.planner, bound.named(name)[name]
            transitions.learn(self._runtime, state)
            planner.views = state.with_views(dict(bound.views)).view_names
            with planner.catalog.rehearsal():
                network = planner.drop(state.network, state.same_names([name]))
                planned = planner.register(network, name, logical)
        return NetworkView(planned.network, state.reports, planner.views), ExplanationView.of(planned.explanation)

    def compare(self, sql: str, name: str, dialect: str | None = None) -> Replacement:
        """How the answer would change if a text replaced a registered query; nothing changes.

        Returns:
            Nodes that are reused, hydrated and dropped, the queries that would go over with it, and how the answers
            differ over the stored rows; printed, it says so.

        Raises:
            SqlError, UnsupportedError: the text is not accepted.
            QueryError: there is no such query, it does not run, or what reads it cannot read the new text.
            EngineError: the new answer could not be computed.

        Example:
            >>> print(session.compare("SELECT * FROM trades WHERE amount > 5", "big"))  # doctest: +SKIP
        """
        with self._bound(sql, dialect or self.dialect) as (state, bound):
            old = state.query(name)
            after, _ = self.preview(sql, old.name, dialect)
            return compare_answers(
                self._answers,
                old,
                bound.named(old.name)[old.name],
                (NetworkView(state.network, (), state.view_names), after),
            )

    def suspend(self, name: str) -> None:
        """Let batches pass over a query: what only it needs costs nothing, and its answer stays that of this batch.

        What other queries read of it goes on. ``Query.batch`` says which batch its answer is of.

        Raises:
            QueryError: there is no such query, or it was disabled.

        Example:
            >>> session.suspend("weekly_report")  # doctest: +SKIP
        """
        self._suspension.suspend([self._store.state.query(name).name])

    def resume(self, name: str | None = None) -> None:
        """Resume a suspended query, or all: its answer is computed over all data so far, at the cost of a registration.

        What it missed is one change, of the last batch, where its rows may be taken back.

        Raises:
            QueryError: there is no such query.
            EngineError: Spark could not compute it; it stays suspended.
        """
        self._suspension.resume(None if name is None else [self._store.state.query(name).name])

    def prioritize(self, name: str, priority: int) -> None:
        """Say how important a query is: 0 unless said.

        Where rows come faster than they can be answered for long, live running suspends the queries below 0, the lowest
        first, before it leaves rows out (``add_stream(shed=...)``), and resumes them when it has time again.

        Raises:
            QueryError: there is no such query.
        """
        with self._store.changing() as change:
            record = replace(change.state.query(name), priority=priority)
            change.state = replace(change.state, queries={**change.state.queries, record.name: record})

    def reoptimize(self, dry_run: bool = False) -> Reoptimization:
        """Plan all queries again with the observations of batches, and replace trees that can be computed at less cost.

        Answers, changes and ids of queries stay as they are; only how they are computed changes. Trees that are new are
        computed from all data so far, as at a registration. Nothing changes where a batch would not be cheaper; whether
        enough batches will come that computing those trees pays is for you to say.

        Args:
            dry_run: only say what would be done.

        Raises:
            EngineError: Spark could not compute a new tree; nothing has changed.

        Example:
            >>> print(session.reoptimize(dry_run=True))  # doctest: +SKIP
            after batch 7: 2 queries would move (chains, pairs)
              predicted cost of a batch: 41,200 rows, then 35,100 (-15%)
              hydrating takes about 3.0 s and a batch 0.12 s less, predicted: it pays after 25 batches
        """
        return self._reoptimizer.look() if dry_run else self._reoptimizer.act(Forecast.cheaper)

    def compare_strategies(self) -> list[StrategyPlan]:
        """The network that each strategy of sharing would make of the queries, and that without sharing.

        Queries are planned in the order in which they were registered; nothing changes.

        Example:
            >>> [(plan.strategy, plan.nodes) for plan in session.compare_strategies()]  # doctest: +SKIP
            [('sharing-selection', 12), ('match-plan', 14), ('nothing shared', 31)]
        """
        with self._store.exclusively():
            state = self._store.state
            transitions.learn(self._runtime, state)
            return compare_strategies(self._runtime.planner, asked(state))

    @contextmanager
    def _bound(self, sql: str, dialect: str) -> Iterator[tuple[State, Bound]]:
        """The state and a bound text, while nothing else changes; a text with an error does not wait for a batch."""
        schema = self._store.state.schema
        bound = bind(sql, dialect, schema)
        with self._store.exclusively():
            state = self._store.state
            # A batch moves event times, which only a window clause reads; other names may have changed as well.
            now = (state.schema if bound.windows else schema).event_times
            if replace(state.schema, event_times=now) != schema:
                bound = bind(sql, dialect, state.schema)
            yield state, bound

    def _replace(self, old: QueryRecord, text: BoundText, force: bool) -> Query:
        def committed() -> None:
            with self._failures.changing(f"{old.name} was being computed") as change:
                change.state = replace_query(self._runtime, change.state, old, text, force)

        self._store.once_more(committed, refused=f"{old.name} cannot be registered")
        return self._handles.of(self._store.state.queries[old.name])

    def _register(self, texts: Mapping[str, BoundText], named: int, force: bool) -> dict[str, Query]:
        names = ", ".join(list(texts)[:LISTED]) + (", …" if len(texts) > LISTED else "")

        def committed() -> None:
            with self._failures.changing(f"{names} was being computed") as change:
                registered = transitions.register(self._runtime, change.state, texts, force)
                change.state = replace(registered, named=named)

        self._store.once_more(committed, refused=f"{names} cannot be registered")
        return {name: self._handles.of(self._store.state.queries[name]) for name in texts}
