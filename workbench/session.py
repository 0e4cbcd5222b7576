"""The one object a notebook holds: it wires the parts and decides nothing (design 6)."""

from __future__ import annotations

import itertools
import os
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import wraps
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any, Concatenate, ParamSpec, TypeVar

import pandas as pd
from pyspark.sql import SparkSession

from workbench.catalog.catalog import Catalog
from workbench.engine.engine import Engine
from workbench.engine.functions import UserFunctions
from workbench.engine.results import Answers
from workbench.engine.spark import engine_session, local_spark
from workbench.engine.timings import BatchReport
from workbench.errors import QueryError, SqlError, StreamError, nearest
from workbench.network.describe import NetworkView
from workbench.network.network import Network, QueryPlan
from workbench.network.nodes import NodeId, functions_called
from workbench.options import Options
from workbench.query import Query
from workbench.session_views import SessionViews
from workbench.sharing.decisions import Explanation
from workbench.sharing.planner import Planner
from workbench.sql.bind import Bound, bind
from workbench.sql.expressions import calls
from workbench.sql.logical import LogicalQuery
from workbench.sql.schema import Schema, UserAggregate, UserFunction
from workbench.sql.type_names import parse_type
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


@dataclass(frozen=True)
class _State:
    """Everything that changes, replaced as a whole: an operation that fails leaves it as it was."""

    network: Network = field(default_factory=Network)
    streams: Mapping[str, Stream] = field(default_factory=dict)
    views: Mapping[str, LogicalQuery] = field(default_factory=dict)
    functions: Mapping[str, UserFunction] = field(default_factory=dict)
    aggregates: Mapping[str, UserAggregate] = field(default_factory=dict)

    @property
    def schema(self) -> Schema:
        columns = {name: stream.columns for name, stream in self.streams.items()}
        return Schema(streams=columns, views=self.views, functions=self.functions, aggregates=self.aggregates)


class Session(SessionViews):
    """Continuous queries over streams, in one shared network.

    Any thread may use it. What changes something is done one after the other; what only reads, such as an answer or the
    network, shows what was committed last and waits for nobody.

    Args:
        spark: the Spark to use; ``None`` starts a quiet local one.
        path: folder for the session's data, which every Spark worker must reach; ``None`` is a temporary one.
        dialect: SQL dialect of queries that name none.
        options: switches, see ``Options``.

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
        self.dialect = dialect
        self.options = options or Options()
        self._lock = threading.RLock()
        self._engines = itertools.count(1)
        self.spark = spark or local_spark()
        self._temporary = path is None
        self.path = Path(tempfile.mkdtemp(prefix="argus-") if path is None else path).resolve()
        self.path.mkdir(parents=True, exist_ok=True)
        self._spark = engine_session(self.spark)
        self._engine = self._new_engine()
        # A session of another process is not continued yet, so its catalog is not either.
        (self.path / "catalog.sqlite").unlink(missing_ok=True)
        self._planner = Planner(self.options, Catalog(self.path / "catalog.sqlite"))
        self._functions = UserFunctions(self._spark)
        self._state = _State()
        self._queries: dict[str, Query] = {}
        self._numbers = itertools.count(1)
        self.reports: list[BatchReport] = []
        self.last_error: BaseException | None = None

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
    ) -> Stream:
        """Add a stream that is replayed in row order.

        Args:
            name: what queries call it.
            source: path of a Parquet or CSV file, pandas, Arrow or Spark DataFrame.
            history: the first rows, already there as batch 0; none when ``None``.
            batch: rows that arrive with each batch.
            time: the column with the event time.
            columns: SQL types of columns of a CSV file that should not be inferred.

        Raises:
            StreamError: the source cannot be read, a column's type is not supported, or the name is taken.
        """
        self._check_new_stream(name)
        log = ingest(name, source, self._log_folder(name), columns=columns, time=time)
        return self._take_in(Stream(start(log, history, batch), time))

    @_one_at_a_time
    def add_table(self, name: str, source: object, columns: Mapping[str, str] | None = None) -> Stream:
        """Add a static table: all of its rows are there from the start. Arguments and errors as ``add_stream``."""
        self._check_new_stream(name)
        log = ingest(name, source, self._log_folder(name), columns=columns)
        return self._take_in(Stream(static(log), table=True))

    @_one_at_a_time
    def add_function(self, name: str, function: Callable[..., Any], returns: str = "double") -> None:
        """Make a Python function callable in SQL; it must not depend on anything but its arguments.

        A call that raises gives NULL and disables the queries that use the function, with the reason. The same name
        again gives it another meaning, from the next batch on.
        """
        returned = parse_type(returns)
        self._functions.add(name.lower(), function, returned)
        self._engine.operators.forget_plans()
        added = {**self._state.functions, name.lower(): UserFunction(name.lower(), returned)}
        self._state = replace(self._state, functions=added)

    @_one_at_a_time
    def add_aggregate(self, name: str, parameters: tuple[str, ...], statistics: Mapping[str, str], rule: str) -> None:
        """Add an algebraic aggregate by its basic statistics and the rule over them (T4.2, Tables 4.1 and 4.2).

        Example:
            >>> statistics = {"n": "COUNT(x)", "q": "SUM(x*x)"}
            >>> session.add_aggregate("rms", ("x",), statistics, "SQRT(q / n)")  # doctest: +SKIP
        """
        added = {**self._state.aggregates, name.lower(): UserAggregate(name.lower(), parameters, statistics, rule)}
        self._state = replace(self._state, aggregates=added)

    # -- queries -------------------------------------------------------------------------------------------------

    @_one_at_a_time
    def register(self, sql: str, name: str | None = None, dialect: str | None = None) -> Query:
        """Register a continuous query; it answers over all data so far at once, then goes on.

        A text may begin with CREATE VIEW statements. A name that exists is replaced. Registered names and views can be
        used in FROM by later queries.

        Raises:
            SqlError, UnsupportedError: the text is not accepted; nothing has changed.
            EngineError: Spark could not evaluate it; nothing has changed.
        """
        bound = bind(sql, dialect or self.dialect, self._state.schema)
        name = name or (f"q{next(self._numbers)}" if bound.query is not None else bound.views[-1][0])
        return self._register({name: (sql, dialect or self.dialect, bound)})[name]

    @_one_at_a_time
    def register_many(self, queries: Mapping[str, str], dialect: str | None = None) -> dict[str, Query]:
        """Register several queries together: all or none, and their nodes are computed in one go. See ``register``."""
        state, bound = self._state, {}
        for name, sql in queries.items():
            bound[name] = (sql, dialect or self.dialect, bind(sql, dialect or self.dialect, state.schema))
            state = replace(state, views={**state.views, **_views(name, bound[name][2])})
        return self._register(bound)

    @_one_at_a_time
    def preview(self, sql: str, name: str, dialect: str | None = None) -> tuple[NetworkView, Explanation]:
        """The network as it would be with the query registered, and what would be shared; nothing changes.

        Raises:
            SqlError, UnsupportedError: the text is not accepted.
        """
        bound = bind(sql, dialect or self.dialect, self._state.schema)
        with self._planner.rehearsal():
            network = self._planner.drop(self._state.network, self._same_names([name]))
            planned = self._planner.register(network, name, _views(name, bound)[name])
        return NetworkView(planned.network, self.reports), planned.explanation

    @_one_at_a_time
    def drop(self, name: str) -> None:
        """Drop a query and exactly the nodes nobody else needs.

        Raises:
            QueryError: there is no such query.
        """
        query = self.query(name)
        views = {key: view for key, view in self._state.views.items() if key.lower() != query.name.lower()}
        with self._planner.transaction():
            self._adopt(self._planner.drop(self._state.network, [query.name]), views)
        query.status = "dropped"
        del self._queries[query.name]

    def query(self, name: str) -> Query:
        """The query of that name.

        Raises:
            QueryError: there is none; the hint has the nearest.
        """
        for key, query in self._queries.items():
            if key.lower() == name.lower():
                return query
        raise QueryError(f"there is no query {name}", hint=nearest(name, self._queries))

    @property
    def queries(self) -> Mapping[str, Query]:
        """Registered queries by name, in the order of registration."""
        return MappingProxyType(self._queries)

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
        with self._engine.reading() as (_, trees):
            if root not in trees:
                return 0, 0
            return trees[root].rows_kept, sum(os.path.getsize(file) for file in trees[root].files)

    @property
    def network(self) -> NetworkView:
        """The shared query network as it is now."""
        return NetworkView(self._state.network, self.reports)

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
            EngineError: Spark could not evaluate a batch; it has not arrived then, and running again tries it again.
        """
        if batches < 0:
            raise QueryError(f"cannot run {batches} batches", hint="give a number of batches, 0 or more")
        reports = []
        for _ in range(batches):
            if all(stream.replay.finished for stream in self._state.streams.values()):
                break
            report = self._run_one()
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
            EngineError: Spark could not evaluate the history, and nothing has changed; or one of the batches, and the
                session is after the one before.
        """
        if not 0 <= batch <= self.batch:
            raise QueryError(f"cannot go back to batch {batch}", hint=f"the last batch that was run is {self.batch}")
        past = self.reports[:batch]
        engine = self._new_engine()
        streams = {n: replace(s, replay=s.replay.rewound()) for n, s in self._state.streams.items()}
        try:
            for name, stream in streams.items():
                engine.add_stream(name, dict(stream.columns), stream.replay.history_tables())
            engine.adopt(self._state.network, 0)
        except BaseException:
            engine.discard()
            raise
        old, self._engine = self._engine, engine
        self._state, self.reports = replace(self._state, streams=streams), []
        for query in self._queries.values():
            query.registered = 0
        old.discard()
        for report in past:
            again = self._run_one(report.arrived)
            if progress is not None:
                progress(again)

    @_one_at_a_time
    def set_batch(self, stream: str, rows: int) -> Stream:
        """Let so many rows of a stream arrive with each batch from now on.

        Raises:
            StreamError: there is no such stream, or the number is not at least 1.
        """
        found = {name.lower(): s for name, s in self._state.streams.items()}.get(stream.lower())
        if found is None:
            raise StreamError(f"there is no stream {stream}", hint=nearest(stream, self._state.streams))
        changed = replace(found, replay=found.replay.in_batches_of(rows))
        self._state = replace(self._state, streams={**self._state.streams, found.name: changed})
        return changed

    @property
    def batch(self) -> int:
        """Number of the last batch that was run; 0 before the first."""
        return self.reports[-1].batch if self.reports else 0

    def close(self) -> None:
        """End the session; a temporary folder is removed. Spark goes on, for other sessions of this process."""
        self.stop_playing()
        self._close()

    @_one_at_a_time
    def _close(self) -> None:
        self._engine.close()
        self._planner.catalog.close()
        for query in self._queries.values():
            query.status = "the session is closed"
        if self._temporary:
            shutil.rmtree(self.path, ignore_errors=True)

    def __enter__(self) -> Session:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    # -- wiring --------------------------------------------------------------------------------------------------

    def _check_new_stream(self, name: str) -> None:
        if name.lower() in {existing.lower() for existing in (*self._state.streams, *self._state.views)}:
            raise StreamError(f"there is already a stream, view or query called {name}", hint="choose another name")

    def _log_folder(self, name: str) -> Path:
        return self.path / "streams" / f"{len(self._state.streams)}-{''.join(c if c.isalnum() else '_' for c in name)}"

    def _take_in(self, stream: Stream) -> Stream:
        try:
            self._engine.add_stream(stream.name, dict(stream.columns), stream.replay.history_tables())
        except BaseException:
            shutil.rmtree(stream.replay.log.folder, ignore_errors=True)
            raise
        self._state = replace(self._state, streams={**self._state.streams, stream.name: stream})
        self._planner.streams = {**self._planner.streams, stream.name.lower(): stream.statistics()}
        return stream

    def _register(self, bound: Mapping[str, tuple[str, str, Bound]]) -> dict[str, Query]:
        for name in bound:
            if name.lower() in {stream.lower() for stream in self._state.streams}:
                raise QueryError(f"{name} is a stream", hint="choose another name for the query")
        views = dict(self._state.views)
        made: dict[str, Query] = {}
        with self._planner.transaction():
            network = self._planner.drop(self._state.network, self._same_names(bound))
            for name, (sql, dialect, parts) in bound.items():
                new_views = _views(name, parts)
                logical = new_views[name]
                planned = self._planner.register(network, name, logical, sql, dialect)
                network = planned.network
                views.update(new_views)
                made[name] = Query(name, sql, dialect, logical, self.batch, planned.explanation, self._answers)
            self._adopt(network, views)
        for name in self._same_names(made):
            self._queries.pop(name).status = "replaced"
        self._queries.update(made)
        self._disable_failing()
        return made

    def _same_names(self, names: Iterable[str]) -> list[str]:
        """Registered queries that queries of these names replace: names differ by more than case."""
        folded = {name.lower() for name in names}
        return [name for name in self._queries if name.lower() in folded]

    def _adopt(self, network: Network, views: Mapping[str, LogicalQuery]) -> None:
        """Make the engine run a network, then make it the session's."""
        self._engine.adopt(network, self.batch)
        self._state = replace(self._state, network=network, views=views)

    @_one_at_a_time
    def _run_one(self, sizes: Mapping[str, int] | None = None) -> BatchReport:
        """The next batch; ``sizes`` are the rows to take of every stream, where it is not the stream's own number."""
        streams = {name: stream for name, stream in self._state.streams.items() if not stream.table}
        steps = {n: s.replay.next(None if sizes is None else sizes.get(n, 0)) for n, s in streams.items()}
        arriving = {name: table for name, (_, table) in steps.items()}
        report = self._engine.run_batch(self._state.network, self.batch + 1, arriving)
        moved = {name: replace(self._state.streams[name], replay=after) for name, (after, _) in steps.items()}
        self._state = replace(self._state, streams={**self._state.streams, **moved})
        self.reports.append(report)
        self._disable_failing()
        return report

    def _disable_failing(self) -> None:
        """Disable the queries whose functions raised, and nothing else (design 3.4)."""
        if problems := self._functions.new_problems():
            self._disable(problems)

    @_one_at_a_time
    def _disable(self, problems: Mapping[str, str]) -> None:
        for function, problem in problems.items():
            for name in [n for n, plan in self._state.network.queries.items() if function in self._functions_of(plan)]:
                self._queries[name].status = f"function {function} raised {problem}"
                with self._planner.transaction():
                    self._adopt(self._planner.drop(self._state.network, [name]), self._state.views)

    def _functions_of(self, plan: QueryPlan) -> frozenset[str]:
        network = self._state.network
        in_nodes = (functions_called(network.nodes[node]) for node in network.ancestors(plan.nodes))
        return frozenset().union(*in_nodes, *(calls(output.expression) for output in plan.outputs))

    @contextmanager
    def _answers(self, query: Query) -> Iterator[Answers]:
        self._disable_failing()
        query.check_active()
        with self._engine.reading() as (network, trees):
            if (plan := network.queries.get(query.name)) is None:  # dropped by another thread just now
                raise QueryError(f"query {query.name} was dropped")
            yield Answers(plan, trees[plan.read.root], query.registered)

    def _new_engine(self) -> Engine:
        folder = self.path / "state" / str(next(self._engines))
        return Engine(self._spark, folder, self.options.incremental_aggregates)


def _views(name: str, bound: Bound) -> dict[str, LogicalQuery]:
    """What a text adds to the names of FROM: its views, and its query under its own name."""
    views = dict(bound.views)
    if bound.query is not None:
        views[name] = bound.query
    elif bound.views:
        views[name] = bound.views[-1][1]
    else:
        raise SqlError("there is no query in this text", hint="write a SELECT, or a CREATE VIEW")
    return views
