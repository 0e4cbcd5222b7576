"""The one object a notebook holds: it wires the parts and decides nothing (design 6)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from types import TracebackType

from pyspark.sql import SparkSession

from workbench.engine.reports import BatchReport
from workbench.errors import QueryError
from workbench.errors.public_api import check_argument, public_api, translate_callback_errors
from workbench.options import Options
from workbench.session.directory.directory import CATALOG, Home, reading_catalog
from workbench.session.directory.save import save
from workbench.session.folder import SessionFolder
from workbench.session.inputs import SessionInputs
from workbench.session.parts import one_at_a_time
from workbench.session.query import CLOSED, LAZY, Query
from workbench.session.reading import SessionReading
from workbench.session.transitions import Written, with_views
from workbench.session.views import SessionViews
from workbench.sql.binder.pipeline import bind
from workbench.sql.syntax.dialects import known_dialect


@public_api
class Session(SessionInputs, SessionReading, SessionViews, SessionFolder):
    """Continuous queries over streams, in one shared network.

    Any thread may use it. What changes something is done one after the other; what only reads, such as an answer or the
    network, shows what was committed last and waits for nobody.

    Whatever changes it is committed to its folder, as a whole or not at all; ``Session.open`` goes on from there.

    Args:
        spark: the Spark to use; ``None`` starts a quiet local one. The workers of a cluster are sent this package.
        path: folder for the session's data, which every Spark worker must reach; ``None`` is a temporary one.
        dialect: SQL dialect of queries that name none.
        options: switches, see ``Options``.
        group: who may read and write the folder besides you, by name or number: where the workers of a cluster are
            other users. ``None``: nobody.

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

    def __init__(
        self,
        spark: SparkSession | None = None,
        path: str | Path | None = None,
        dialect: str = "spark",
        options: Options | None = None,
        group: str | int | None = None,
    ) -> None:
        dialect = known_dialect(dialect)
        home, options = Home.new(path, group), options or Options()
        with home.beginning() as catalog:
            self._wire(home, spark, catalog, dialect, options)
            self._store.begin(dialect, asdict(options))

    @classmethod
    def open(
        cls,
        path: str | Path,
        spark: SparkSession | None = None,
        repair: bool = False,
        trust: bool | None = None,
        group: str | int | None = None,
    ) -> Session:
        """Go on with the session of a folder from its last commit: queries, results, changes, reports are as they were.

        While another process has it open, and where the folder cannot be written to, the session is read-only (see
        ``read_only``): it shows what was committed last, also while the other goes on.

        Args:
            path: the folder.
            spark: the Spark to use; ``None`` starts a quiet local one.
            repair: compute anew what is damaged. Without it a session with damage is read-only, and queries that need
                what is damaged say so.
            trust: whether to load the Python functions in the folder, which runs code of whoever added them. ``None``:
                those that you added; ``False``: none. With others the session is read-only, and queries that call them
                say so; the rest answers. Once you have opened it with ``True``, they count as yours.
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
        session, home = cls.__new__(cls), Home.found(path, group)
        with home.beginning() as catalog:
            with reading_catalog(home.path / CATALOG):
                dialect, stored = catalog.session.made()
                options = Options(**stored)
            session._wire(home, spark, catalog, dialect, options)
            with session._working():
                session._store.open(repair, trust)
        session._failing.disable()
        return session

    @one_at_a_time
    def save(self, path: str | Path) -> Path:
        """Copy the session as it is to another folder, to be opened there; this one goes on where it is.

        Raises:
            SessionError: there is a session in that folder, or it cannot be written to.
        """
        with self._store.pinned() as state:
            return save(self._store.home, self._planner.catalog, state, path)

    @one_at_a_time
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

    @one_at_a_time
    def register_many(
        self, queries: Mapping[str, str], dialect: str | None = None, results: str = LAZY
    ) -> dict[str, Query]:
        """Register several queries together: all or none, and their nodes are computed in one go. See ``register``."""
        state, dialect, written = self._state, dialect or self.dialect, {}
        for name, sql in queries.items():
            check_argument("name", name, str)
            written[name] = Written(sql, dialect, bind(sql, dialect, state.schema), results)
            state = with_views(state, written[name].bound.named(name))
        return self._register(written, state.named)

    @one_at_a_time
    def drop(self, name: str) -> None:
        """Drop a query and exactly the nodes nobody else needs.

        Raises:
            QueryError: there is no such query.
        """
        gone = self.query(name).name
        with self._store.changing() as change:
            change.state = self._steps.drop(change.state, gone)

    def run(
        self, batches: int = 1, progress: Callable[[BatchReport], None] | None = None, profile: bool = False
    ) -> list[BatchReport]:
        """Let batches arrive: each takes the next rows of every stream. Fewer reports than asked at the streams' end.

        Args:
            batches: how many.
            progress: told of every batch that was run.
            profile: whether to measure also what each node costs alone; see ``BatchReport.node``. That takes as long
                as all nodes one after the other, and is no part of the batch's own time.

        Raises:
            EngineError, CatalogError: a batch could not be evaluated or kept; it has not arrived then, and running
                again tries it again.
            SessionError: the session is read-only.
        """
        if batches < 0:
            raise QueryError(f"cannot run {batches} batches", hint="give a number of batches, 0 or more")
        self._store.home.check_writable()
        reports, told = [], translate_callback_errors("progress", progress)
        for _ in range(batches):
            if all(stream.finished for stream in self._state.streams.values()):
                break
            with self._working(), self._store.changing() as change:
                change.state, report = self._steps.run(change.state, profile=profile)
                change.state = self._failing.without_failed(change.state)
            self._failing.disable()
            with self._lock:
                self._upkeep.after_batch()
            reports.append(report)
            if told is not None:
                told(report)
        return reports

    @one_at_a_time
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
            change.state = self._steps.seek(change.state, batch, translate_callback_errors("progress", progress))
            change.state = self._failing.without_failed(change.state)
        for query in self._state.queries.values():
            query.registered = 0
        self._failing.disable()

    def close(self) -> None:
        """End the session; a temporary folder is removed. Spark goes on, for other sessions of this process."""
        if self.closed:
            return
        self.stop_playing()
        self._upkeep.close()
        self._close()

    @one_at_a_time
    def _close(self) -> None:
        self._engine.close()
        for query in self._state.queries.values():
            query.status = CLOSED
        self._store.close()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _register(self, written: Mapping[str, Written], named: int) -> dict[str, Query]:
        with self._store.changing() as change:
            registered = self._steps.register(change.state, written, self._answers)
            change.state = replace(self._failing.without_failed(registered), named=named)
        made = {name: self._state.queries[name] for name in written}
        self._failing.disable()
        return made
