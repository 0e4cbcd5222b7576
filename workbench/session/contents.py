"""What there is in a session: its streams, network, reports and clock, read without waiting for a batch that runs."""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

import pandas as pd
from pyspark.sql import SparkSession

from workbench.engine.reports import BatchReport
from workbench.engine.schedule import Progress
from workbench.explain.describe import NetworkView
from workbench.network.nodes import NodeId
from workbench.session.learning.observing import predictions
from workbench.session.live.sources import SourceStatus, ahead_of_now
from workbench.session.parts import Parts
from workbench.session.state import State
from workbench.sql.logical import LogicalQuery
from workbench.sql.schema import UserAggregate, UserFunction
from workbench.streams.stream import Stream


class SessionContents:
    """The properties of a session that read its last committed state.

    Attributes:
        parts: of the session.
    """

    parts: Parts

    @property
    def spark(self) -> SparkSession:
        """The Spark session that queries' DataFrames belong to; another one after its JVM has died."""
        return self.parts.jobs.analyst

    @property
    def read_only(self) -> str | None:
        """Why this session may only be read; ``None`` when it may be changed."""
        return self.parts.directory.read_only

    @property
    def closed(self) -> bool:
        """Whether the session has ended."""
        return self.parts.directory.closed

    @property
    def temporary(self) -> bool:
        """Whether it is gone when it is closed, since no folder was given for it; ``save`` keeps a copy."""
        return self.parts.directory.temporary

    @property
    def streams(self) -> Mapping[str, Stream]:
        """Streams and tables by name."""
        return MappingProxyType(dict(self._state.streams))

    @property
    def sources(self) -> Mapping[str, SourceStatus]:
        """How the live sources are, by the names of their streams."""
        state, now = self._state, dt.datetime.now(dt.UTC).replace(tzinfo=None)
        found = self.parts.live.status(state.streams).items()
        clock = state.engine.clock
        return MappingProxyType({n: replace(s, ahead=ahead_of_now(clock.latest_of(n), now)) for n, s in found})

    @property
    def views(self) -> Mapping[str, LogicalQuery]:
        """Views and queries that can be used in FROM."""
        return MappingProxyType(dict(self._state.views))

    @property
    def functions(self) -> Mapping[str, UserFunction | UserAggregate]:
        """The functions and aggregates that were added, by name; of each the latest version."""
        schema = self._state.schema
        return MappingProxyType({**schema.functions, **schema.aggregates})

    @property
    def network(self) -> NetworkView:
        """The shared query network as it is now."""
        state = self._state
        return NetworkView(state.network, state.reports)

    @property
    def reports(self) -> list[BatchReport]:
        """The reports of all batches."""
        return list(self._state.reports)

    def observed(self) -> pd.DataFrame:
        """What the last batch was expected to bring to the nodes of the network, and what it brought.

        Returns:
            One row for each source's selection and each join and its selections: ``node, kind, inputs, predicted,
            learnt, actual, q_predicted, q_learnt, seconds``. ``predicted`` follows from statistics of the streams
            alone, ``learnt`` also from the batches before the last; each has a q-error, which is 1 for a perfect
            estimate. ``seconds`` is what a batch of its operator takes, on average.

        Example:
            >>> session.observed()["q_learnt"].median()  # doctest: +SKIP
            1.1
        """
        return predictions(self._state)

    @property
    def batch(self) -> int:
        """Number of the last batch that was run; 0 before the first."""
        return self._state.batch

    @property
    def now(self) -> dt.datetime | None:
        """The latest event time that any stream has brought; ``None`` while none has."""
        return self._state.engine.clock.latest

    @property
    def clocks(self) -> Mapping[str, dt.datetime | None]:
        """The latest event time that each stream has brought; ``None`` while it has brought none."""
        state = self._state
        return {name: state.engine.clock.latest_of(name) for name in state.streams}

    @property
    def progress(self) -> Progress | None:
        """How far the batch is that runs now, or a registration over all data so far; ``None`` when there is none."""
        return self.parts.engine.progress

    def kept(self, root: NodeId) -> tuple[int, int]:
        """How much is kept for a local tree, by its root's id: rows (of its state too), and bytes on disk."""
        with self.parts.store.pinned() as state:
            tree = state.engine.by_root.get(root)
            if tree is None:
                return 0, 0
            return tree.rows_kept, sum(os.path.getsize(file) for file in tree.files)

    @property
    def _state(self) -> State:
        return self.parts.store.state
