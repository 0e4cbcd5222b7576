"""The contents of a session: its streams, network, reports and clock, read without waiting for a batch that runs."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import replace

import pandas as pd
from pyspark.sql import SparkSession

from workbench.engine.reports import BatchReport
from workbench.engine.schedule import Progress
from workbench.engine.spark.jobs import JobRunner
from workbench.errors import QueryError
from workbench.explain.describe import NetworkView
from workbench.explain.kept_state import KeptState, kept_states
from workbench.network.nodes import NodeId
from workbench.optimizer.network_cost import batch_cost
from workbench.session.as_of import AsOf, answer_as_of
from workbench.session.changes import StateStore
from workbench.session.learning.observing import predictions
from workbench.session.live.sources import LiveSources, SourceStatus, ahead_of_now
from workbench.session.transitions import Runtime
from workbench.sql.by_name import ByName, hint_of
from workbench.sql.logical import LogicalQuery
from workbench.streams.stream import Stream


class SessionContents:
    """The methods of a session that say what there is, as of the last commit.

    Args:
        store: the session's state.
        runtime: the planner with the catalog, and the engine.
        live: reads live sources.
        jobs: has the session's Spark.
    """

    def __init__(self, store: StateStore, runtime: Runtime, live: LiveSources, jobs: JobRunner) -> None:
        self._store, self._runtime, self._live, self._jobs = store, runtime, live, jobs

    @property
    def spark(self) -> SparkSession:
        """The Spark session that queries' DataFrames belong to; another one after its JVM has died."""
        return self._jobs.analyst

    @property
    def read_only(self) -> str | None:
        """Why this session may only be read; ``None`` when it may be changed."""
        return self._store.directory.read_only

    @property
    def closed(self) -> bool:
        """Whether the session has ended."""
        return self._store.directory.closed

    @property
    def temporary(self) -> bool:
        """Whether it is gone when it is closed, since no folder was given for it; ``save`` keeps a copy."""
        return self._store.directory.temporary

    @property
    def streams(self) -> Mapping[str, Stream]:
        """Streams and tables by name."""
        return ByName("stream or table", self._store.state.streams)

    @property
    def sources(self) -> Mapping[str, SourceStatus]:
        """How the live sources are, by the names of their streams."""
        state, now = self._store.state, dt.datetime.now(dt.UTC).replace(tzinfo=None)
        found = self._live.status(state.streams).items()
        clock = state.engine.clock
        return ByName("live source", {n: replace(s, ahead=ahead_of_now(clock.latest_of(n), now)) for n, s in found})

    def forget_problems(self) -> None:
        """Say no longer what problems sources had that are over: they have been read; ``errors`` still has them."""
        self._live.forget_problems(self._store.state.streams)

    @property
    def views(self) -> Mapping[str, LogicalQuery]:
        """Views and queries that can be used in FROM."""
        return ByName("view or query", self._store.state.views)

    @property
    def network(self) -> NetworkView:
        """The present shared query network."""
        state = self._store.state
        return NetworkView(state.network, state.reports, state.view_names)

    @property
    def reports(self) -> list[BatchReport]:
        """The reports of all batches."""
        return list(self._store.state.reports)

    def observed(self) -> pd.DataFrame:
        """The expected and the real rows of the last batch at the nodes of the network.

        Returns:
            One row for each source's selection and each join and its selections: ``node, kind, inputs, predicted,
            learnt, actual, q_predicted, q_learnt, seconds``. ``predicted`` follows from statistics of the streams
            alone, ``learnt`` also from the batches before the last; each has a q-error, which is 1 for a perfect
            estimate. ``seconds`` is what a batch of its operator takes, on average.

        Example:
            >>> session.observed()["q_learnt"].median()  # doctest: +SKIP
            1.1
        """
        return predictions(self._store.state)

    def as_of(self, query: str) -> AsOf:
        """How current a query's answer is: batch, event times, and what is behind, late, quarantined or left out.

        Raises:
            QueryError: there is no such query.

        Example:
            >>> print(session.as_of("big"))  # doctest: +SKIP
            as of batch 5 · FedWireTrans 2002-11-20 · all is well
        """
        state = self._store.state
        return answer_as_of(state, state.query(query), self.sources)

    @property
    def batch(self) -> int:
        """Number of the last batch that was run; 0 before the first."""
        return self._store.state.batch

    @property
    def now(self) -> dt.datetime | None:
        """The latest event time that any stream has brought; ``None`` while none has."""
        return self._store.state.engine.clock.latest

    @property
    def clocks(self) -> Mapping[str, dt.datetime | None]:
        """The latest event time that each stream has brought; ``None`` while it has brought none."""
        state = self._store.state
        return ByName("stream", {name: state.engine.clock.latest_of(name) for name in state.streams})

    @property
    def progress(self) -> Progress | None:
        """How far the batch is that runs now, or a registration over all data so far; ``None`` when there is none."""
        return self._runtime.engine.progress

    def kept(self, root: NodeId) -> tuple[int, int]:
        """How much is kept for a local tree, by its root's id: rows (of its state too), and bytes on disk."""
        with self._store.pinned() as state:
            tree = state.engine.by_root.get(root)
            if tree is None:
                return 0, 0
            return tree.rows_kept, sum(segment.bytes for segment in tree.segments)

    def batch_cost(self, network: NetworkView) -> float:
        """The rows that a batch of a network would look at, predicted from the batches so far.

        Args:
            network: that of the session, or of ``preview``.

        Example:
            >>> session.batch_cost(session.network)  # doctest: +SKIP
            41200.0
        """
        self._store.directory.check_open()
        return batch_cost(self._runtime.planner.estimates, network.network)

    def memory(self, query: str, network: NetworkView | None = None) -> list[KeptState]:
        """The state that a query needs: of each operator by what it is bounded, or which streams make it grow for ever,
        and how large it is.

        Args:
            query: its name.
            network: that of ``preview``, for a query that is not registered; ``None``: that of the session.

        Raises:
            QueryError: there is no such query.

        Example:
            >>> network, _ = session.preview(sql, "big")  # doctest: +SKIP
            >>> [state.bound for state in session.memory("big", network)]  # doctest: +SKIP
            ['rows leave it with the window']
        """
        state = self._store.state
        planned = state.network if network is None else network.network
        if query not in planned.queries:
            raise QueryError(f"there is no query {query}", hint=hint_of(query, "there are", planned.queries))
        tables = [name for name, stream in state.streams.items() if stream.table]
        return kept_states(
            planned, query, tables, self._runtime.planner.estimates, state.engine.clock.now, state.view_names
        )

    def catalog(self, sql: str) -> pd.DataFrame:
        """Rows of the system catalog, which holds all that is known of the network (T3.6).

        Example:
            >>> session.catalog("SELECT node, svoa, svoa_predicates FROM selection_topology")  # doctest: +SKIP

        Raises:
            CatalogError: it is no SELECT, or names what is not there.
        """
        with self._store.exclusively():
            self._runtime.planner.refresh(self._store.state.network)
            names, rows = self._runtime.planner.catalog.query(sql)
            return pd.DataFrame(rows, columns=list(names))

    def catalog_tables(self) -> list[tuple[str, tuple[str, ...], int]]:
        """The relations of the catalog: name, columns, rows."""
        with self._store.exclusively():
            self._runtime.planner.refresh(self._store.state.network)
            return self._runtime.planner.catalog.tables()
