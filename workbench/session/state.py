"""All that changes in a session, as one immutable value: what a commit writes, and what a failure goes back to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from workbench.catalog.session_rows import StoredFunction
from workbench.engine.reports import BatchReport
from workbench.engine.state import EngineState
from workbench.network.network import Network
from workbench.session.query import Query
from workbench.sql.logical import LogicalQuery
from workbench.sql.schema import Schema, UserAggregate, UserFunction
from workbench.streams.stream import Stream


@dataclass(frozen=True)
class State:
    """A session as it was committed last.

    Attributes:
        network: what runs.
        streams: streams and tables, and how far they have come.
        views: what can stand in FROM: views, and queries by their names.
        functions, stored_functions: all versions of the analyst's functions by their ids, in the order of versions.
        aggregates: those that the analyst added.
        queries: those registered, in the order of registration.
        disabled: why some of them no longer run.
        reports: of all batches.
        held: all rows.
        named: how many queries got their name from the session.
    """

    network: Network = field(default_factory=Network)
    streams: Mapping[str, Stream] = field(default_factory=dict)
    views: Mapping[str, LogicalQuery] = field(default_factory=dict)
    functions: Mapping[str, UserFunction] = field(default_factory=dict)
    stored_functions: Mapping[str, StoredFunction] = field(default_factory=dict)
    aggregates: Mapping[str, UserAggregate] = field(default_factory=dict)
    queries: Mapping[str, Query] = field(default_factory=dict)
    disabled: Mapping[str, str] = field(default_factory=dict)
    reports: tuple[BatchReport, ...] = ()
    held: EngineState = field(default_factory=EngineState)
    named: int = 0

    @property
    def schema(self) -> Schema:
        """All names a query may use."""
        columns = {name: stream.columns for name, stream in self.streams.items()}
        times = {name: stream.time.lower() for name, stream in self.streams.items() if stream.time is not None}
        tables = frozenset(name for name, stream in self.streams.items() if stream.table)
        now = self.held.clock.now
        latest = {function.name: function for function in self.functions.values()}
        return Schema(columns, self.views, latest, self.aggregates, times, tables, now)

    @property
    def batch(self) -> int:
        """Number of the last batch that was run; 0 before the first."""
        return self.reports[-1].batch if self.reports else 0
