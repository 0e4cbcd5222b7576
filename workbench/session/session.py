"""The session: everything an analyst can do, each method handed on to the part that does it (``parts``)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from datetime import timedelta
from functools import cached_property, wraps
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any, Concatenate, ParamSpec, Self, TypeVar
from weakref import WeakValueDictionary

import pandas as pd

from workbench.catalog.catalog import Catalog
from workbench.engine.reports import BatchReport
from workbench.engine.spark.user_functions.process import Limits
from workbench.errors import QueryError, SessionError
from workbench.errors.public_api import check_argument, public_api, translate_callback_errors
from workbench.explain.describe import NetworkView
from workbench.explain.explanation import ExplanationView
from workbench.options import Options
from workbench.session import transitions
from workbench.session.batch_runner import BatchRunner
from workbench.session.contents import SessionContents
from workbench.session.directory.directory import CATALOG, SINKS, SessionDirectory, decoding_catalog
from workbench.session.directory.save import save_session
from workbench.session.directory.stored_functions import StoredFunction
from workbench.session.integrity_checks import CheckReport
from workbench.session.learning.forecast import Forecast
from workbench.session.learning.reoptimizing import Reoptimization, asked
from workbench.session.learning.strategies import StrategyPlan, compare_strategies
from workbench.session.live.batch_size import seconds_of
from workbench.session.live.live_run import LiveRun
from workbench.session.live.suspension import Suspension
from workbench.session.parts import AnySpark, Parts
from workbench.session.player import Player
from workbench.session.query import Query
from workbench.session.sinks.sink import SinkStatus
from workbench.session.sinks.sinks import Sinks
from workbench.session.sinks.target import AnswerSource
from workbench.session.state import ACTIVE, EAGER, LAZY, LISTED, OFF, QueryRecord, State
from workbench.session.stream_registry import StreamRegistry
from workbench.session.transitions import BoundText
from workbench.sql.algebra.types import parse_type
from workbench.sql.binder.pipeline import Bound, bind
from workbench.sql.schema import UserAggregate
from workbench.sql.syntax.dialects import known_dialect
from workbench.streams.corrections.declared import corrections_of
from workbench.streams.stream import Stream

P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S", bound="Session")


def one_at_a_time(method: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
    """An operation that waits for others of the session, such as a batch that runs in another thread."""

    @wraps(method)
    def waiting(session: S, /, *args: P.args, **kwargs: P.kwargs) -> R:
        with session.parts.exclusively():
            return method(session, *args, **kwargs)

    return waiting


@public_api
class Session(SessionContents):
    """Continuous queries over streams, in one shared network.

    Any thread may use it. What changes something is done one after the other; what only reads, such as an answer or the
    network, shows what was committed last and waits for nobody.

    Whatever changes it is committed to its folder, as a whole or not at all; ``Session.open`` goes on from there.

    Args:
        spark: the Spark to use; ``None`` starts a quiet local one. The workers of a cluster are sent this package.
            ``InProcess()`` does without Spark, and refuses what needs it.
        path: folder for the session's data, which every Spark worker must reach; ``None`` is a temporary one.
        dialect: SQL dialect of queries that name none.
        options: switches, see ``Options``.
        group: who may read and write the folder besides you, by name or number: where the workers of a cluster are
            other users. ``None``: nobody.

    Attributes:
        dialect, options: as given.
        path: its folder.
        spark: the Spark it was given, or the local one that was started.
        last_error: what went wrong last in a notebook.
        parts: what it is made of; may change with any version.

    Raises:
        SessionError: there is a session in the folder already, or it cannot be written to or given to the group.
        SqlError, UnsupportedError: there is no such dialect, or it is not read.
        EnvironmentProblem: Spark did not start, or its workers cannot reach the folder.

    Example:
        >>> with Session() as s:  # doctest: +SKIP
        ...     s.add_stream("FedWireTrans", "sample_data/fed.parquet", history=10_000, batch=1_000, time="tran_date")
        ...     q = s.register("SELECT tranid, amount FROM FedWireTrans WHERE amount > 1000000", name="big")
        ...     s.run(3)
        ...     q.result()
    """

    parts: Parts

    # -- begin, open, close --------------------------------------------------------------------------------------

    def __init__(
        self,
        spark: AnySpark | None = None,
        path: str | Path | None = None,
        dialect: str = "spark",
        options: Options | None = None,
        group: str | int | None = None,
    ) -> None:
        dialect = known_dialect(dialect)
        directory, options = SessionDirectory.new(path, group), options or Options()
        with directory.starting() as catalog:
            self._wire(directory, catalog, spark, dialect, options)
            self.parts.opening.begin(dialect, asdict(options))

    @classmethod
    def open(
        cls,
        path: str | Path,
        spark: AnySpark | None = None,
        repair: bool = False,
        trust: bool | None = None,
        group: str | int | None = None,
    ) -> Self:
        """Go on with the session of a folder from its last commit: queries, results, changes, reports are as they were.

        While another process has it open, and where the folder cannot be written to, the session is read-only (see
        ``read_only``): it shows what was committed last, also while the other goes on.

        Args:
            path: the folder.
            spark: the Spark to use; ``None`` starts a quiet local one.
            repair: compute anew what is damaged. Without it a session with damage is read-only, and queries that need
                what is damaged say so.
            trust: what of the folder may act: Python functions, which run code of whoever added them, targets of
                sinks, sources of streams. ``None``: what you added; ``True``: all; ``False``: nothing. With functions
                of others the session is read-only, and queries that call them say so; the rest answers. Sinks and
                sources of others stand still and say so, until ``add_sink`` and ``attach`` give them again. Once you
                have opened it with ``True``, all counts as yours; but what takes something of this machine, as
                ``$NAME``, is never trusted.
            group: as for a new session; ``None`` changes nothing of who may read and write it.

        Raises:
            SessionError: there is no session in the folder, or what is left of one.
            CatalogError: its catalog is damaged, is that of another session, or was written by another version.
            EnvironmentProblem: Spark did not start, or its workers cannot reach the folder.

        Example:
            >>> with Session.open("fraud") as s:  # doctest: +SKIP
            ...     s.run(3)
            ...     s.query("big").changes(since=s.batch - 3)
        """
        session, directory = cls.__new__(cls), SessionDirectory.existing(path, group)
        with directory.starting() as catalog:
            with decoding_catalog(directory.path / CATALOG):
                dialect = known_dialect(catalog.settings.get("dialect", "spark"))
                options = Options(**catalog.settings.get("options", {}))
            session._wire(directory, catalog, spark, dialect, options)
            session.parts.gate.trust = trust
            with session.parts.exclusively():
                session.parts.opening.open(repair, trust)
        session.parts.failures.disable()
        if session.read_only is None:
            session.parts.live.adopt(session.streams)
            session.parts.sinks.go_on()
        return session

    def _wire(
        self, directory: SessionDirectory, catalog: Catalog, spark: AnySpark | None, dialect: str, options: Options
    ) -> None:
        self._made_by = os.getpid()
        self.dialect = dialect
        self.options = options
        self.path = directory.path
        self.last_error: BaseException | None = None
        self.parts = Parts(directory, catalog, spark, options)
        sinks = self.path / SINKS, self._source_of, lambda: self.parts.store.last.batch, self.parts.gate
        self.parts.sinks = Sinks(*sinks)
        self.parts.store.on_commit = self.parts.sinks.notify
        self._suspension = Suspension(self.parts)
        self._streams, self._batches = StreamRegistry(self.parts), BatchRunner(self.parts, self._suspension)
        self._handles: WeakValueDictionary[str, Query] = WeakValueDictionary()

    @one_at_a_time
    def save(self, path: str | Path) -> Path:
        """Copy the session as it is to another folder, to be opened there; this one goes on where it is.

        Raises:
            SessionError: there is a session in that folder, or it cannot be written to.
        """
        with self.parts.store.pinned() as state:
            return save_session(self.parts.directory, self.parts.planner.catalog, state, path)

    @one_at_a_time
    def check(self, empty: bool = False) -> CheckReport:
        """Read all files of the session, and compare each with the checksum that was computed when it was written.

        With a damaged file the session becomes read-only, and the queries that need the file say so;
        ``Session.open(path, repair=True)`` computes anew what follows from the streams. The session does the same by
        itself, with some files after every tenth batch.

        Args:
            empty: whether to remove the leftovers: files that no commit names, which were put aside when the session
                was opened.

        Raises:
            SessionError: ``empty``, and the session is read-only.

        Example:
            >>> print(session.check())  # doctest: +SKIP
            214 files, 83.1 MB, in 0.06 s: all are whole
        """
        return self.parts.integrity.check(empty)

    def close(self) -> None:
        """End the session; a temporary folder is removed. Spark goes on, for other sessions of this process."""
        if not self.closed:
            self.stop_playing()
            self.parts.sinks.close()
            self.parts.integrity.close()
            with self.parts.exclusively():
                self.parts.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    # -- streams, tables, functions ------------------------------------------------------------------------------

    @one_at_a_time
    def add_stream(
        self,
        name: str,
        source: object,
        history: int | None = None,
        batch: int | str | timedelta | None = None,
        time: str | None = None,
        columns: Mapping[str, str] | None = None,
        lateness: str | timedelta | int | None = None,
        key: Sequence[str] | None = None,
        changes: str | None = None,
        weight: str | None = None,
        shed: str | None = None,
    ) -> Stream:
        """Add a stream that is replayed in row order.

        Args:
            name: what queries call it.
            source: path or URL of a Parquet, CSV or JSON lines file, a list of dicts, a pandas, Arrow or Spark
                DataFrame. Or a live source, of which each batch brings what is there by then: a topic of Kafka
                (``"kafka://host:port/topic"``), a socket of JSON lines (``"socket://host:port"``), a pattern of paths
                (``"in/*.csv"``), a ``PolledQuery``, an iterator or generator of dicts or tables, or a streaming
                DataFrame of Spark.
            history: the first rows, already there as batch 0; none when ``None``.
            batch: rows that arrive with each batch; or the event time that a batch covers, ``"1h"`` or a ``timedelta``:
                all streams with one replay in step, each with its rows before the end of that hour. Not for live ones.
            time: the column with the event time.
            columns: SQL types of columns of a CSV file that should not be inferred.
            lateness: how far the event time of a row may be behind the latest before it: ``"2 days"``, a ``timedelta``,
                or a number where event times are numbers. Later rows are quarantined and counted when they
                arrive. ``None``: there is no limit.
            key: the columns that say which row a change means; none: the whole row says it.
            changes: how the source writes changes of earlier rows. ``"upsert"``: a row replaces the one of its key, and
                takes it back where it has nothing but the key; ``"cdf"``: a change data feed with the column
                ``_change_type``; ``"debezium"``: envelopes with ``op``, ``before`` and ``after``. ``None``: rows are
                only added, and the stream is append-only.
            weight: instead of these, the column that says how often a row comes, or goes where it is negative. An
                update is two rows in the log, the old one with weight -1 and the new one, which arrive together.
            shed: what live running leaves out when rows come faster than they can be answered for long: ``"oldest"``,
                all but a ``"sample"`` of rows, or all but those of some keys: ``"sample by account"``. ``catch_up``
                takes them later. ``None``: nothing.

        Raises:
            StreamError: the source cannot be read, a column's type is not supported, the lateness does not go with the
                event times, how rows change is not clear, or the name is taken.
        """
        corrections = corrections_of(changes, key, weight)
        return self._streams.add_stream(name, source, history, batch, time, columns, lateness, corrections, shed)

    @one_at_a_time
    def attach(self, name: str, source: object) -> None:
        """Go on with another live source for a stream, such as an iterator after the session was opened again.

        A source that begins from its beginning is read past the rows that the stream has already.

        Raises:
            StreamError: there is no such stream, it is not live, or the source is not.
        """
        self._streams.attach(name, source)

    @one_at_a_time
    def add_table(
        self, name: str, source: object, columns: Mapping[str, str] | None = None, key: Sequence[str] | None = None
    ) -> Stream:
        """Add a table: all of its rows are there from the start, until ``update_table``.

        Arguments and errors as ``add_stream``. With a key, a row replaces an earlier one of its key, and rows can be
        replaced and deleted later; without one they can only be added.
        """
        return self._streams.add_table(name, source, columns, key)

    @one_at_a_time
    def update_table(self, name: str, rows: object = None, delete: object = None) -> BatchReport:
        """Change rows of a table; the change is a batch, in which no stream brings a row.

        Args:
            name: of the table.
            rows: to add; with a key, each replaces the row of its key. Any source that ``add_table`` takes.
            delete: the keys of rows to delete, with the columns of the key. They go before ``rows`` come.

        Raises:
            StreamError: there is no such table, a row does not fit, or one to delete is not there; nothing has changed.
            EngineError: the batch could not be evaluated. The change is in the log, and arrives with the next batch.

        Example:
            >>> session.update_table("zips", [{"zip": "02139", "state": "MA"}])  # doctest: +SKIP
        """
        return self._streams.update_table(name, rows, delete)

    @one_at_a_time
    def drop_stream(self, name: str) -> None:
        """Forget a stream or table, and its rows. Queries and views that read it must be dropped first.

        Raises:
            StreamError: there is no such stream, or a query or view reads it.
        """
        self._streams.drop(name)

    @one_at_a_time
    def set_batch(self, stream: str, batch: int | str | timedelta) -> Stream:
        """Let so many rows of a stream, or so much event time, arrive with each batch from now on.

        Raises:
            StreamError: there is no such stream, or its batches cannot be of that size.
        """
        return self._streams.set_batch(stream, batch)

    @one_at_a_time
    def add_function(
        self,
        name: str,
        function: Callable[..., Any],
        returns: str = "double",
        seconds: float = Limits.seconds,
        memory: int = Limits.memory,
    ) -> None:
        """Make a Python function callable in SQL; it must not depend on anything but its arguments.

        It runs in processes of its own. When a call raises, returns what is not of the type, takes more than it may or
        ends its process, the queries that use the function are disabled, with the reason; others go on. What it prints
        is lost. It is kept with the session, as bytes that hold its code; what it imports must be there when the
        session is opened again.

        The same name again adds another version. Queries registered from then on call that one; those that are there
        go on with the version they were registered with, until they are registered again.

        Args:
            name: what queries call it.
            function: takes the arguments as they are, NULLs as ``None``.
            returns: SQL type of its values. A DECIMAL is rounded half up; ``None`` is NULL.
            seconds: what 1,000 calls may take.
            memory: what its process may take, in megabytes (on Linux).

        Raises:
            SessionError: it is no function, cannot be kept, or has an argument that must be named; or a limit is none.
            SqlError: there is no such type.
        """
        key, returned, limits = name.lower(), parse_type(returns), Limits(seconds, memory)
        known = self._state.functions
        latest = self._state.schema.functions.get(key)
        added = StoredFunction.of(function, key, returned, limits, None if latest is None else known[latest.id])
        if added.name in known:
            return
        added = added.signed()
        with self.parts.store.changing() as change:
            change.state = replace(change.state, functions={**change.state.functions, added.name: added})
        self.parts.functions.add(added.name, function, returned, limits)

    @one_at_a_time
    def add_aggregate(self, name: str, parameters: tuple[str, ...], statistics: Mapping[str, str], rule: str) -> None:
        """Add an algebraic aggregate by its basic statistics and the rule over them (T4.2, Tables 4.1 and 4.2).

        Example:
            >>> statistics = {"n": "COUNT(x)", "q": "SUM(x*x)"}
            >>> session.add_aggregate("rms", ("x",), statistics, "SQRT(q / n)")  # doctest: +SKIP
        """
        with self.parts.store.changing() as change:
            added = UserAggregate(name.lower(), tuple(parameters), statistics, rule)
            change.state = replace(change.state, aggregates={**change.state.aggregates, added.name: added})

    # -- queries -------------------------------------------------------------------------------------------------

    def register(
        self,
        sql: str,
        name: str | None = None,
        dialect: str | None = None,
        results: str = LAZY,
        force: bool = False,
    ) -> Query:
        """Register a continuous query; it answers over all data so far at once, then goes on.

        Args:
            sql: its text.
            name: what it is called; a number unless given.
            dialect: of the text; that of the session unless given.
            results: how the answer is kept (PSoup 5). ``"lazy"``: without the window it ends in, which is applied when
                the answer is read; ``"eager"``: as it is now; ``"off"``: not at all, it is computed when it is asked.
            force: whether the query is computed also when it joins so many pairs of rows that it takes very long.

        A text may begin with CREATE VIEW statements. A name that exists is replaced. Registered names and views can be
        used in FROM by later queries.

        Raises:
            SqlError, UnsupportedError: the text is not accepted; nothing has changed.
            QueryError: it would take very long (``force``), or the name cannot be used; nothing has changed.
            EngineError: Spark could not evaluate it; nothing has changed.
        """
        dialect = dialect or self.dialect
        with self._bound(sql, dialect) as (state, bound):
            named = state.named + (name is None and bound.query is not None)
            name = name or (f"q{named}" if bound.query is not None else bound.views[-1][0])
            return self._register({name: BoundText(sql, dialect, bound, results)}, named, force)[name]

    @one_at_a_time
    def register_many(
        self, queries: Mapping[str, str], dialect: str | None = None, results: str = LAZY, force: bool = False
    ) -> dict[str, Query]:
        """Register several queries together: all or none, and their nodes are computed in one go. See ``register``."""
        state, dialect, texts = self._state, dialect or self.dialect, {}
        for name, sql in queries.items():
            check_argument("name", name, str)
            texts[name] = BoundText(sql, dialect, bind(sql, dialect, state.schema), results)
            state = state.with_views(texts[name].bound.named(name))
        return self._register(texts, state.named, force)

    @one_at_a_time
    def drop(self, name: str) -> None:
        """Drop a query and exactly the nodes nobody else needs.

        Raises:
            QueryError: there is no such query.
        """
        dropped = self.query(name).name
        with self.parts.store.changing() as change:
            change.state = transitions.drop(self.parts.runtime, change.state, dropped)

    def query(self, name: str) -> Query:
        """The query of that name.

        Raises:
            QueryError: there is none; the hint has the nearest.
        """
        return self._handle(self._state.query(name))

    def results(self, names: Sequence[str]) -> dict[str, pd.DataFrame]:
        """The answers of several queries, all after the same batch, and faster than one by one.

        Raises:
            QueryError: there is no query of a name, or one was disabled.
            EngineError: Spark could not read them.

        Example:
            >>> session.results(["big", "fees"])["fees"]  # doctest: +SKIP
        """
        state = self._state
        return self.parts.answers.results({name: state.query(name) for name in names})

    def preview(self, sql: str, name: str, dialect: str | None = None) -> tuple[NetworkView, ExplanationView]:
        """The network as it would be with the query registered, and what would be shared; nothing changes.

        Raises:
            SqlError, UnsupportedError: the text is not accepted.
        """
        with self._bound(sql, dialect or self.dialect) as (state, bound):
            planner, logical = self.parts.planner, bound.named(name)[name]
            transitions.learn(self.parts.runtime, state)
            with planner.catalog.rehearsal():
                network = planner.drop(state.network, state.same_names([name]))
                planned = planner.register(network, name, logical)
        return NetworkView(planned.network, state.reports), ExplanationView.of(planned.explanation)

    def suspend(self, name: str) -> None:
        """Let batches pass over a query: what only it needs costs nothing, and its answer stays that of this batch.

        What other queries read of it goes on. ``Query.batch`` says which batch its answer is of.

        Raises:
            QueryError: there is no such query, or it was disabled.

        Example:
            >>> session.suspend("weekly_report")  # doctest: +SKIP
        """
        self._suspension.suspend([self.query(name).name])

    def resume(self, name: str | None = None) -> None:
        """Let a suspended query go on, or all: its answer is that over all data so far, at the cost of a registration.

        What it missed is one change, of the last batch, where its rows may be taken back.

        Raises:
            QueryError: there is no such query.
            EngineError: Spark could not compute it; it stays suspended.
        """
        self._suspension.resume(None if name is None else [self.query(name).name])

    def prioritize(self, name: str, priority: int) -> None:
        """Say how important a query is: 0 unless said.

        Where rows come faster than they can be answered for long, live running suspends the queries below 0, the lowest
        first, before it leaves rows out (``add_stream(shed=...)``), and lets them go on when it has time again.

        Raises:
            QueryError: there is no such query.
        """
        self._suspension.prioritize(self.query(name).name, priority)

    @one_at_a_time
    def reoptimize(self, dry_run: bool = False) -> Reoptimization:
        """Plan all queries anew with what batches have shown, and exchange what can be computed at less cost.

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
        reoptimizer = self._batches.reoptimizer
        return reoptimizer.look() if dry_run else reoptimizer.act(Forecast.cheaper)

    def compare_strategies(self) -> list[StrategyPlan]:
        """What each strategy of sharing would make of the queries, and what they would be without sharing.

        Queries are planned in the order in which they were registered; nothing changes.

        Example:
            >>> [(plan.strategy, plan.nodes) for plan in session.compare_strategies()]  # doctest: +SKIP
            [('sharing-selection', 12), ('match-plan', 14), ('nothing shared', 31)]
        """
        with self.parts.exclusively():
            transitions.learn(self.parts.runtime, self._state)
            return compare_strategies(self.parts.planner, asked(self._state))

    # -- sinks ---------------------------------------------------------------------------------------------------

    def add_sink(self, query: str, target: object, mode: str = "changes", name: str | None = None) -> SinkStatus:
        """Send the changes of a query on, batch by batch, beginning with its answer as it was at registration.

        A sink has its own pace: one that is slow or down stops nobody, and catches up later. A sink of the same name
        goes on where it was, also in a session that is opened again. Where the session goes back, the target is taken
        along: it is sent what takes its rows to the answer as it is, under a number that counts on.

        Args:
            query: whose changes.
            target: exactly once each batch: a folder, which gets a Parquet file for each; ``delta:FOLDER``, a Delta
                table; ``kafka://host:port/topic`` and ``postgresql://user@host/db?table=…``, which with ``key=…`` get
                rows to put and keys to remove instead of changes. Or an address ``http://…``, to which JSON is posted
                with the number of the batch, or a callable of that number and a DataFrame with the column ``weight``
                and the query's; after a crash these may get a batch a second time. A folder, table or topic has one
                sink alone.
            mode: ``"changes"``; there is no other yet.
            name: of the sink; that of the query unless given.

        Raises:
            QueryError: there is no such query, or its changes are not kept.
            SessionError: there is no such kind of target or mode, a sink of that name, or the target has another sink.

        Returns:
            How it is: where the target cannot be reached, ``problem`` says why; it is tried again.

        Example:
            >>> session.add_sink("big", lambda batch, changes: print(batch, len(changes)))  # doctest: +SKIP
        """
        if mode != "changes":
            raise SessionError(f"mode={mode!r}", hint="'changes' is the one there is")
        self.parts.directory.check_writable()
        return self.parts.sinks.add(name or query, self.query(query).name, target)

    def drop_sink(self, name: str) -> None:
        """Forget a sink, and how far it has come.

        Raises:
            QueryError: there is none.
        """
        self.parts.directory.check_writable()
        self.parts.sinks.drop(name)

    @property
    def sinks(self) -> Mapping[str, SinkStatus]:
        """How the sinks are, by their names: how far behind, and what went wrong last."""
        self.parts.directory.check_open()
        return MappingProxyType(dict(self.parts.sinks.statuses))

    # -- batches -------------------------------------------------------------------------------------------------

    def run(
        self, batches: int = 1, progress: Callable[[BatchReport], None] | None = None, profile: bool = False
    ) -> list[BatchReport]:
        """Let batches arrive: each takes the next rows of every stream. Fewer reports than asked at the streams' end.

        Args:
            batches: how many.
            progress: called with the report of every batch that was run.
            profile: whether to measure also what each node costs alone; see ``BatchReport.node``. That takes as long
                as all nodes one after the other, and is no part of the batch's own time.

        Raises:
            EngineError, CatalogError: a batch could not be evaluated or kept; it has not arrived then, and running
                again tries it again.
            SessionError: the session is read-only.
        """
        return self._batches.run(batches, translate_callback_errors("progress", progress), profile)

    def run_live(
        self,
        latency: str | float | timedelta = "1s",
        until: float | str | timedelta | None = None,
        progress: Callable[[BatchReport], None] | None = None,
    ) -> list[BatchReport]:
        """Let rows arrive as they come, in batches as large as keep the latency; when none come, wait for them.

        Rows that come faster than they can be answered for wait in the stream's log, or where they come from.

        Args:
            latency: what a batch may take, from its rows to the answers.
            until: how long to run; ``None``: until all live sources have ended, or it is interrupted.
            progress: called with the report of every batch.

        Raises:
            QueryError: the latency or ``until`` is no length of time.
            EngineError, CatalogError, SessionError: as ``run``.

        Example:
            >>> session.run_live(latency="500ms", until="10 minutes")  # doctest: +SKIP
        """
        seconds, ends = seconds_of(latency, "latency"), None if until is None else seconds_of(until, "until")
        return self._batches.run_live(seconds, ends, translate_callback_errors("progress", progress))

    def live(self, latency: str | float | timedelta = "1s") -> LiveRun:
        """Batches as rows come, one at a time: what ``run_live`` and the player do.

        Args:
            latency: as ``run_live``.

        Raises:
            QueryError: it is no length of time.
            SessionError: the session is read-only.
        """
        return self._batches.live(seconds_of(latency, "latency"))

    def catch_up(self, progress: Callable[[BatchReport], None] | None = None) -> list[BatchReport]:
        """Let the rows arrive that were left out, in batches of their own; the answers are exact again then.

        Queries that live running has suspended go on first.

        What follows the order of rows in the stream (FIRST, LAST) follows the order in which batches took them.

        Args:
            progress: called with the report of every batch.

        Raises:
            EngineError, CatalogError, SessionError: as ``run``.
        """
        return self._batches.catch_up(translate_callback_errors("progress", progress))

    @one_at_a_time
    def seek(self, batch: int, progress: Callable[[BatchReport], None] | None = None) -> None:
        """Go back to what was after a batch, by running anew from the history: the same rows in the same batches.

        All queries there are now are answered as if they had been there from the start.

        Args:
            batch: 0 for the history alone, at most the last batch that was run.
            progress: called with the report of every batch that was run again.

        Raises:
            QueryError: that batch was not run yet.
            EngineError: Spark could not evaluate the history or a batch; nothing has changed then.
        """
        self._batches.seek(batch, translate_callback_errors("progress", progress))

    def interrupt(self) -> None:
        """Stop what another thread is computing: a batch, a registration, going back. It is undone as a whole.

        An interrupt of the main thread (Ctrl-C, or the notebook's stop button) does the same to what that computes.
        """
        self.parts.engine.interrupts.interrupt()

    @cached_property
    def player(self) -> Player:
        """Plays the session's batches in the background."""
        return Player(self)

    def stop_playing(self) -> None:
        """End the player's thread, if there is one."""
        if "player" in vars(self):
            self.player.close()

    # -- what there is -------------------------------------------------------------------------------------------

    @property
    def queries(self) -> Mapping[str, Query]:
        """Registered queries by name, in the order of registration."""
        return MappingProxyType({name: self._handle(query) for name, query in self._state.queries.items()})

    @one_at_a_time
    def catalog(self, sql: str) -> pd.DataFrame:
        """Rows of the system catalog, which holds all that is known of the network (T3.6).

        Example:
            >>> session.catalog("SELECT node, svoa, svoa_predicates FROM selection_topology")  # doctest: +SKIP

        Raises:
            CatalogError: it is no SELECT, or names what is not there.
        """
        self.parts.planner.refresh(self._state.network)
        names, rows = self.parts.planner.catalog.query(sql)
        return pd.DataFrame(rows, columns=list(names))

    @one_at_a_time
    def catalog_tables(self) -> list[tuple[str, tuple[str, ...], int]]:
        """The relations of the catalog: name, columns, rows."""
        self.parts.planner.refresh(self._state.network)
        return self.parts.planner.catalog.tables()

    # -- helpers -------------------------------------------------------------------------------------------------

    def _handle(self, query: QueryRecord) -> Query:
        """The one object that stands for a registration, for as long as somebody has it."""
        handle = self._handles.get(query.id)
        return handle if handle is not None else self._handles.setdefault(query.id, Query(query, self.parts.answers))

    def _source_of(self, name: str) -> AnswerSource:
        """The changes of a query, for a sink.

        Raises:
            QueryError: there is no such query, or older changes of it are not kept for a sink that is behind.
        """
        record = self._state.query(name)
        if record.results == OFF or (record.windows and record.results != EAGER):
            hint = 'register it with results="eager", which keeps what every batch changed'
            raise QueryError(f"the changes of {name} are not kept for a sink", hint=hint)
        handle = self._handle(record)
        types = tuple(type_ for _, type_ in handle.columns)

        def check() -> None:
            if (status := handle.status) != ACTIVE:
                hint = "drop_sink ends the sink; what its target was given stays there"
                raise QueryError(f"query {name} does not run: {status}", hint=hint)

        batch, line = lambda: handle.batch, lambda: self.parts.store.last.line
        return AnswerSource(record.id, types, handle.arrow_changes, batch, line, check)

    @contextmanager
    def _bound(self, sql: str, dialect: str) -> Iterator[tuple[State, Bound]]:
        """The state and a bound text, while nothing else changes; a text with an error does not wait for a batch."""
        schema = self._state.schema
        bound = bind(sql, dialect, schema)
        with self.parts.exclusively():
            state = self._state
            # A batch moves event times, which only a window clause reads; other names may have changed as well.
            now = (state.schema if bound.windows else schema).event_times
            if replace(state.schema, event_times=now) != schema:
                bound = bind(sql, dialect, state.schema)
            yield state, bound

    def _register(self, texts: Mapping[str, BoundText], named: int, force: bool) -> dict[str, Query]:
        names = ", ".join(list(texts)[:LISTED]) + (", …" if len(texts) > LISTED else "")

        def committed() -> None:
            with self.parts.store.changing(f"{names} was being computed") as change:
                registered = transitions.register(self.parts.runtime, change.state, texts, force)
                change.state = replace(self.parts.failures.without_failed(registered), named=named)

        self.parts.store.once_more(committed, refused=f"{names} cannot be registered")
        self.parts.failures.disable()
        return {name: self._handle(self._state.queries[name]) for name in texts}
