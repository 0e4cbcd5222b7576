"""The one object a notebook holds: it wires the parts and decides nothing (design 6)."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, replace
from datetime import timedelta
from functools import wraps
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any, Concatenate, ParamSpec, TypeVar

import pandas as pd
from pyspark.sql import SparkSession

from workbench.catalog.catalog import Catalog
from workbench.engine.cluster import prepare_workers
from workbench.engine.engine import Engine
from workbench.engine.functions import UserFunctions
from workbench.engine.needs import need_of
from workbench.engine.results import Answers
from workbench.engine.spark import engine_session, local_spark
from workbench.engine.timings import BatchReport
from workbench.errors import QueryError, StreamError, nearest
from workbench.instants import moment_at
from workbench.network.describe import NetworkView
from workbench.network.network import Network, QueryPlan
from workbench.network.nodes import NodeId, Window
from workbench.options import Options
from workbench.query import LAZY, Query
from workbench.recovery.functions import stored_function
from workbench.recovery.home import Home
from workbench.recovery.save import save
from workbench.recovery.store import Change, Store
from workbench.session_views import SessionViews
from workbench.sharing.decisions import Explanation
from workbench.sharing.planner import Planner
from workbench.sql.bind import bind
from workbench.sql.logical import LogicalQuery
from workbench.sql.now import Moment
from workbench.sql.schema import UserAggregate, UserFunction
from workbench.sql.type_names import parse_type
from workbench.state import State
from workbench.steps import Steps, Written, callers, same_names, with_views
from workbench.streams.ingest import ingest
from workbench.streams.replay import start, static
from workbench.streams.stream import Stream

P = ParamSpec("P")
R = TypeVar("R")


def _one_at_a_time(
    method: Callable[Concatenate[Session, P], R],
) -> Callable[Concatenate[Session, P], R]:
    """An operation that waits for others of the session, such as a batch that runs in another thread."""

    @wraps(method)
    def waiting(session: Session, /, *args: P.args, **kwargs: P.kwargs) -> R:
        with session._lock:
            return method(session, *args, **kwargs)

    return waiting


class Session(SessionViews):
    """Continuous queries over streams, in one shared network.

    Any thread may use it. What changes something is done one after the other; what only reads, such as an answer or the
    network, shows what was committed last and waits for nobody.

    Whatever changes it is committed to its folder, as a whole or not at all; ``Session.open`` goes on from there.

    Args:
        spark: the Spark to use; ``None`` starts a quiet local one. The workers of a cluster are sent this package.
        path: folder for the session's data, which every Spark worker must reach; ``None`` is a temporary one.
        dialect: SQL dialect of queries that name none.
        options: switches, see ``Options``.

    Raises:
        SessionError: there is a session in the folder already, or it cannot be written to.

    Example:
        >>> with Session() as s:  # doctest: +SKIP
        ...     s.add_stream("FedWireTrans", "sample_data/fed.parquet", history=10_000, batch=1_000, time="tran_date")
        ...     q = s.register("SELECT tranid, amount FROM FedWireTrans WHERE amount > 1000000", name="big")
        ...     s.run(3)
        ...     q.result()
    """

    def __init__(
        self,
        spark: SparkSession | None = None,
        path: str | Path | None = None,
        dialect: str = "spark",
        options: Options | None = None,
    ) -> None:
        home, options = Home.new(path), options or Options()
        self._wire(home, spark, home.catalog(), dialect, options)
        self._store.begin(dialect, asdict(options))

    @classmethod
    def open(cls, path: str | Path, spark: SparkSession | None = None, repair: bool = False) -> Session:
        """Go on with the session of a folder from its last commit: queries, results, changes, reports are as they were.

        While another process has it open, and where the folder cannot be written to, the session is read-only (see
        ``read_only``): it shows what was committed last, also while the other goes on.

        Args:
            path: the folder.
            spark: the Spark to use; ``None`` starts a quiet local one.
            repair: compute anew what is damaged. Without it a session with damage is read-only, and queries that need
                what is damaged say so.

        Raises:
            SessionError: there is no session in the folder.
            CatalogError: its catalog is damaged, or was written by another version.

        Example:
            >>> with Session.open("fraud") as s:  # doctest: +SKIP
            ...     s.run(3)
            ...     s.query("big").changes(since=s.batch - 3)
        """
        session = cls.__new__(cls)
        home = Home.found(path)
        try:
            catalog = home.catalog()
            dialect, options = catalog.session.made()
            session._wire(home, spark, catalog, dialect, Options(**options))
            session._store.open(repair)
        except BaseException:
            home.close()
            raise
        return session

    def _wire(self, home: Home, spark: SparkSession | None, catalog: Catalog, dialect: str, options: Options) -> None:
        self.dialect = dialect
        self.options = options
        self._lock = threading.RLock()
        self.spark = spark or local_spark()
        self.path = home.path
        prepare_workers(self.spark, self.path)
        self._spark = engine_session(self.spark)
        self._engine = Engine(
            self._spark, home.state, home.discarded, not home.temporary, self.options.incremental_aggregates
        )
        self._planner = Planner(self.options, catalog)
        self._functions = UserFunctions(self._spark)
        self._steps = Steps(self._planner, self._engine)
        self._store = Store(home, self._planner, self._engine, self._functions, self._answers)
        self.last_error: BaseException | None = None

    @property
    def _state(self) -> State:
        return self._store.state

    @property
    def read_only(self) -> str | None:
        """Why this session may only be read; ``None`` when it may be changed."""
        return self._store.home.read_only

    @property
    def closed(self) -> bool:
        """Whether the session has ended."""
        return self._store.home.closed

    def save(self, path: str | Path) -> Path:
        """Copy the session as it is to another folder, to be opened there; this one goes on where it is.

        Raises:
            SessionError: there is a session in that folder, or it cannot be written to.
        """
        return save(self._store.home, self._planner.catalog, self._state, path)

    # -- streams, tables, functions ------------------------------------------------------------------------------

    @_one_at_a_time
    def add_stream(
        self,
        name: str,
        source: object,
        history: int | None = None,
        batch: int | None = None,
        time: str | None = None,
        columns: Mapping[str, str] | None = None,
        lateness: str | timedelta | int | None = None,
    ) -> Stream:
        """Add a stream that is replayed in row order.

        Args:
            name: what queries call it.
            source: path of a Parquet or CSV file, pandas, Arrow or Spark DataFrame.
            history: the first rows, already there as batch 0; none when ``None``.
            batch: rows that arrive with each batch.
            time: the column with the event time.
            columns: SQL types of columns of a CSV file that should not be inferred.
            lateness: how far the event time of a row may be behind the latest before it: ``"2 days"``, a ``timedelta``,
                or a number where event times are numbers. Rows that come later are set aside and counted when they
                arrive. ``None``: rows may come as late as they like.

        Raises:
            StreamError: the source cannot be read, a column's type is not supported, the lateness does not go with the
                event times, or the name is taken.
        """
        with self._new_log(name) as (change, folder):
            log = ingest(name, source, folder, columns=columns, time=time, lateness=lateness)
            change.state = self._steps.add_stream(change.state, Stream(start(log, history, batch), time))
        return change.state.streams[name]

    @_one_at_a_time
    def add_table(self, name: str, source: object, columns: Mapping[str, str] | None = None) -> Stream:
        """Add a static table: all of its rows are there from the start. Arguments and errors as ``add_stream``."""
        with self._new_log(name) as (change, folder):
            log = ingest(name, source, folder, columns=columns)
            change.state = self._steps.add_stream(change.state, Stream(static(log), table=True))
        return change.state.streams[name]

    @_one_at_a_time
    def add_function(self, name: str, function: Callable[..., Any], returns: str = "double") -> None:
        """Make a Python function callable in SQL; it must not depend on anything but its arguments.

        A call that raises gives NULL and disables the queries that use the function, with the reason. The same name
        again gives it another meaning, from the next batch on. It is kept with the session, as bytes that hold its
        code; what it imports must be there when the session is opened again.

        Raises:
            SessionError: the function cannot be kept.
        """
        key, returned = name.lower(), parse_type(returns)
        stored = stored_function(key, function)
        with self._store.changing() as change:
            functions = {**change.state.functions, key: UserFunction(key, returned)}
            stored_functions = {**change.state.stored_functions, key: stored}
            change.state = replace(change.state, functions=functions, stored_functions=stored_functions)
        self._functions.add(key, function, returned)
        self._engine.runner.forget_plans()

    @_one_at_a_time
    def add_aggregate(self, name: str, parameters: tuple[str, ...], statistics: Mapping[str, str], rule: str) -> None:
        """Add an algebraic aggregate by its basic statistics and the rule over them (T4.2, Tables 4.1 and 4.2).

        Example:
            >>> statistics = {"n": "COUNT(x)", "q": "SUM(x*x)"}
            >>> session.add_aggregate("rms", ("x",), statistics, "SQRT(q / n)")  # doctest: +SKIP
        """
        with self._store.changing() as change:
            added = UserAggregate(name.lower(), parameters, statistics, rule)
            change.state = replace(change.state, aggregates={**change.state.aggregates, added.name: added})

    # -- queries -------------------------------------------------------------------------------------------------

    @_one_at_a_time
    def register(self, sql: str, name: str | None = None, dialect: str | None = None, results: str = LAZY) -> Query:
        """Register a continuous query; it answers over all data so far at once, then goes on.

        Args:
            sql: its text.
            name: what it is called; a number unless given.
            dialect: of the text; that of the session unless given.
            results: how the answer is kept (PSoup 5). ``"lazy"``: without the window it ends in, which is imposed when
                the answer is read; ``"eager"``: as it is now; ``"off"``: not at all, it is computed when it is asked.

        A text may begin with CREATE VIEW statements. A name that exists is replaced. Registered names and views can be
        used in FROM by later queries.

        Raises:
            SqlError, UnsupportedError: the text is not accepted; nothing has changed.
            EngineError: Spark could not evaluate it; nothing has changed.
        """
        state, dialect = self._state, dialect or self.dialect
        bound = bind(sql, dialect, state.schema)
        named = state.named + (name is None and bound.query is not None)
        name = name or (f"q{named}" if bound.query is not None else bound.views[-1][0])
        return self._register({name: Written(sql, dialect, bound, results)}, named)[name]

    @_one_at_a_time
    def register_many(
        self, queries: Mapping[str, str], dialect: str | None = None, results: str = LAZY
    ) -> dict[str, Query]:
        """Register several queries together: all or none, and their nodes are computed in one go. See ``register``."""
        state, dialect, written = self._state, dialect or self.dialect, {}
        for name, sql in queries.items():
            written[name] = Written(sql, dialect, bind(sql, dialect, state.schema), results)
            state = with_views(state, written[name].bound.named(name))
        return self._register(written, state.named)

    @_one_at_a_time
    def preview(self, sql: str, name: str, dialect: str | None = None) -> tuple[NetworkView, Explanation]:
        """The network as it would be with the query registered, and what would be shared; nothing changes.

        Raises:
            SqlError, UnsupportedError: the text is not accepted.
        """
        state = self._state
        logical = bind(sql, dialect or self.dialect, state.schema).named(name)[name]
        with self._planner.rehearsal():
            network = self._planner.drop(state.network, same_names(state, [name]))
            planned = self._planner.register(network, name, logical)
        return NetworkView(planned.network, state.reports), planned.explanation

    @_one_at_a_time
    def drop(self, name: str) -> None:
        """Drop a query and exactly the nodes nobody else needs.

        Raises:
            QueryError: there is no such query.
        """
        gone = self.query(name).name
        with self._store.changing() as change:
            change.state = self._steps.drop(change.state, gone)

    def query(self, name: str) -> Query:
        """The query of that name.

        Raises:
            QueryError: there is none; the hint has the nearest.
        """
        queries = self._state.queries
        for key, query in queries.items():
            if key.lower() == name.lower():
                return query
        raise QueryError(f"there is no query {name}", hint=nearest(name, queries))

    @property
    def queries(self) -> Mapping[str, Query]:
        """Registered queries by name, in the order of registration."""
        return MappingProxyType(dict(self._state.queries))

    @property
    def streams(self) -> Mapping[str, Stream]:
        """Streams and tables by name."""
        return MappingProxyType(dict(self._state.streams))

    @property
    def views(self) -> Mapping[str, LogicalQuery]:
        """Views and queries that can be used in FROM."""
        return MappingProxyType(dict(self._state.views))

    def kept(self, root: NodeId) -> tuple[int, int]:
        """How much is kept for a local tree, by its root's id: rows (of its state too), and bytes on disk."""
        with self._store.home.discarded.kept():
            tree = self._state.held.by_root.get(root)
            if tree is None:
                return 0, 0
            return tree.rows_kept, sum(os.path.getsize(file) for file in tree.files)

    @property
    def network(self) -> NetworkView:
        """The shared query network as it is now."""
        state = self._state
        return NetworkView(state.network, state.reports)

    @property
    def reports(self) -> list[BatchReport]:
        """The reports of all batches."""
        return list(self._state.reports)

    @_one_at_a_time
    def catalog(self, sql: str) -> pd.DataFrame:
        """Rows of the system catalog, which holds all that is known of the network (T3.6).

        Example:
            >>> session.catalog("SELECT node, svoa, svoa_predicates FROM selection_topology")  # doctest: +SKIP

        Raises:
            CatalogError: it is no SELECT, or names what is not there.
        """
        self._planner.refresh(self._state.network)
        names, rows = self._planner.catalog.query(sql)
        return pd.DataFrame(rows, columns=list(names))

    @_one_at_a_time
    def catalog_tables(self) -> list[tuple[str, tuple[str, ...], int]]:
        """The relations of the catalog: name, columns, rows."""
        self._planner.refresh(self._state.network)
        return self._planner.catalog.tables()

    # -- running -------------------------------------------------------------------------------------------------

    def run(self, batches: int = 1, progress: Callable[[BatchReport], None] | None = None) -> list[BatchReport]:
        """Let batches arrive: each takes the next rows of every stream. Fewer reports than asked at the streams' end.

        Raises:
            EngineError, CatalogError: a batch could not be evaluated or kept; it has not arrived then, and running
                again tries it again.
            SessionError: the session is read-only.
        """
        if batches < 0:
            raise QueryError(f"cannot run {batches} batches", hint="give a number of batches, 0 or more")
        self._store.home.check_writable()
        reports = []
        for _ in range(batches):
            if all(stream.replay.finished for stream in self._state.streams.values()):
                break
            with self._lock, self._store.changing() as change:
                change.state, report = self._steps.run(change.state)
            self._disable_failing()
            reports.append(report)
            if progress is not None:
                progress(report)
        return reports

    @_one_at_a_time
    def seek(self, batch: int, progress: Callable[[BatchReport], None] | None = None) -> None:
        """Go back to what was after a batch, by running anew from the history: the same rows in the same batches.

        All queries there are now are answered as if they had been there from the start.

        Args:
            batch: 0 for the history alone, at most the last batch that was run.
            progress: told of every batch that was run again.

        Raises:
            QueryError: that batch was not run yet.
            EngineError: Spark could not evaluate the history or a batch; nothing has changed then.
        """
        if not 0 <= batch <= self.batch:
            raise QueryError(f"cannot go back to batch {batch}", hint=f"the last batch that was run is {self.batch}")
        with self._store.changing() as change:
            change.state = self._steps.seek(change.state, batch, progress)
        for query in self._state.queries.values():
            query.registered = 0

    @_one_at_a_time
    def set_batch(self, stream: str, rows: int) -> Stream:
        """Let so many rows of a stream arrive with each batch from now on.

        Raises:
            StreamError: there is no such stream, or the number is not at least 1.
        """
        found = {name.lower(): s for name, s in self._state.streams.items()}.get(stream.lower())
        if found is None:
            raise StreamError(f"there is no stream {stream}", hint=nearest(stream, self._state.streams))
        with self._store.changing() as change:
            changed = replace(found, replay=found.replay.in_batches_of(rows))
            change.state = replace(change.state, streams={**change.state.streams, found.name: changed})
        return changed

    @property
    def batch(self) -> int:
        """Number of the last batch that was run; 0 before the first."""
        return self._state.batch

    def close(self) -> None:
        """End the session; a temporary folder is removed. Spark goes on, for other sessions of this process."""
        if self.closed:
            return
        self.stop_playing()
        self._close()

    @_one_at_a_time
    def _close(self) -> None:
        self._engine.close()
        for query in self._state.queries.values():
            query.status = "the session is closed"
        self._store.close()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    # -- wiring --------------------------------------------------------------------------------------------------

    @contextmanager
    def _new_log(self, name: str) -> Iterator[tuple[Change, Path]]:
        """A change that adds a stream, and the folder for its log."""
        streams = self._store.home.streams
        with self._steps.new_log(self._state, streams, name) as folder, self._store.changing() as change:
            yield change, folder

    def _register(self, written: Mapping[str, Written], named: int) -> dict[str, Query]:
        with self._store.changing() as change:
            change.state = replace(self._steps.register(change.state, written, self._answers), named=named)
        made = {name: self._state.queries[name] for name in written}
        self._disable_failing()
        return made

    def _disable_failing(self) -> None:
        """Disable the queries whose functions raised, and nothing else (design 3.4)."""
        if problems := self._functions.new_problems():
            self._disable(problems)

    @_one_at_a_time
    def _disable(self, problems: Mapping[str, str]) -> None:
        network, reasons = self._state.network, dict[str, str]()
        for function, problem in problems.items():
            reasons.update(dict.fromkeys(callers(network, function), f"function {function} raised {problem}"))
        if reasons and self.read_only is not None:
            self._store.disable(reasons)
        elif reasons:
            with self._store.changing() as change:
                change.state = self._steps.disable(change.state, reasons)

    @contextmanager
    def _answers(self, query: Query, at: object | None, after: int | None = None) -> Iterator[Answers]:
        """The answers of a query for as long as they are read.

        Args:
            query: whose.
            at: those of one instant.
            after: with what is needed to tell the changes after a batch.
        """
        self._disable_failing()
        with self._store.home.discarded.kept():
            state = self._state
            query.check_active()
            clock = state.held.clock
            if at is not None:
                clock = clock.standing(moment_at(query.windows_on, clock, at, query.name))
            moment = clock.now if after is None else clock.after_batch(after)
            plan = state.network.queries.get(query.name)
            if plan is not None and (at is None or not _moves(state.network, plan)) and _has(state, plan, moment):
                yield Answers(plan, state.held.by_root[plan.read.root], query.registered, clock)
            else:
                alone = Planner(self.options, Catalog(), self._planner.streams)
                network = alone.register(Network(), query.name, query.logical).network
                alone.catalog.close()
                plan = network.queries[query.name]
                registered = state.batch if after is None else query.registered
                with self._engine.aside(network, state.held.arrived, clock, state.batch) as held:
                    yield Answers(plan, held.by_root[plan.read.root], registered, clock)
        # Functions of SELECT are called as rows are read; one that raised has disabled the query.
        self._disable_failing()
        query.check_active()


def _moves(network: Network, plan: QueryPlan) -> bool:
    """Whether a query's rows are kept as they are now, and not for every moment."""
    return any(isinstance(network.nodes[node], Window) for node in network.ancestors(plan.nodes))


def _has(state: State, plan: QueryPlan, moment: Moment) -> bool:
    """Whether the rows of a query's tree that were in its window at a moment, or later, are all there."""
    tree = state.held.by_root[plan.read.root]
    return tree.has([need_of(plan, tree.plan.bits, moment)])
