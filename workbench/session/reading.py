"""What can be asked of a session while it goes on: it shows what was committed last, and changes nothing."""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Mapping
from types import MappingProxyType

import pandas as pd

from workbench.engine.reports import BatchReport
from workbench.engine.schedule import Progress
from workbench.errors import QueryError, nearest
from workbench.explain.describe import NetworkView
from workbench.explain.explanation import ExplanationView
from workbench.network.nodes import NodeId
from workbench.session.parts import SessionParts, one_at_a_time
from workbench.session.query import Query
from workbench.session.transitions import same_names
from workbench.sql.binder.pipeline import bind
from workbench.sql.logical import LogicalQuery
from workbench.streams.stream import Stream

LISTED = 10
"""So many names are told to who asks for one that is not there."""


class SessionReading(SessionParts):
    """The part of a session that only reads.

    Example:
        >>> session.batch, session.now, list(session.queries)  # doctest: +SKIP
        (3, datetime.datetime(2002, 12, 3, 0, 0), ['big_transfers'])
    """

    def query(self, name: str) -> Query:
        """The query of that name.

        Raises:
            QueryError: there is none; the hint has the nearest.
        """
        queries = self._state.queries
        for key, query in queries.items():
            if key.lower() == name.lower():
                return query
        hint = nearest(name, queries) or f"queries: {', '.join([*queries][:LISTED]) or 'none yet'}"
        raise QueryError(f"there is no query {name}", hint=hint)

    @property
    def temporary(self) -> bool:
        """Whether it is gone when it is closed, since no folder was given for it; ``save`` keeps a copy."""
        return self._store.home.temporary

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

    @property
    def network(self) -> NetworkView:
        """The shared query network as it is now."""
        state = self._state
        return NetworkView(state.network, state.reports)

    @property
    def reports(self) -> list[BatchReport]:
        """The reports of all batches."""
        return list(self._state.reports)

    @property
    def batch(self) -> int:
        """Number of the last batch that was run; 0 before the first."""
        return self._state.batch

    @property
    def now(self) -> dt.datetime | None:
        """The latest event time that any stream has brought; ``None`` while none has."""
        return self._state.held.clock.latest

    @property
    def progress(self) -> Progress | None:
        """How far the batch is that runs now, or a registration over all data so far; ``None`` when there is none."""
        return self._engine.progress

    def kept(self, root: NodeId) -> tuple[int, int]:
        """How much is kept for a local tree, by its root's id: rows (of its state too), and bytes on disk."""
        with self._store.pinned() as state:
            tree = state.held.by_root.get(root)
            if tree is None:
                return 0, 0
            return tree.rows_kept, sum(os.path.getsize(file) for file in tree.files)

    @one_at_a_time
    def preview(self, sql: str, name: str, dialect: str | None = None) -> tuple[NetworkView, ExplanationView]:
        """The network as it would be with the query registered, and what would be shared; nothing changes.

        Raises:
            SqlError, UnsupportedError: the text is not accepted.
        """
        state = self._state
        logical = bind(sql, dialect or self.dialect, state.schema).named(name)[name]
        with self._planner.rehearsal():
            network = self._planner.drop(state.network, same_names(state, [name]))
            planned = self._planner.register(network, name, logical)
        return NetworkView(planned.network, state.reports), ExplanationView.of(planned.explanation)

    @one_at_a_time
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

    @one_at_a_time
    def catalog_tables(self) -> list[tuple[str, tuple[str, ...], int]]:
        """The relations of the catalog: name, columns, rows."""
        self._planner.refresh(self._state.network)
        return self._planner.catalog.tables()
