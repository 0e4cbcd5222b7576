"""The state of a session as one immutable value: a commit stores it, and a change that fails goes back to it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain

from workbench.engine.reports import BatchReport
from workbench.engine.state import EngineState
from workbench.errors import QueryError, StreamError
from workbench.network.network import Network, checked_query
from workbench.network.view_names import ViewNames
from workbench.optimizer.hydration_cost import PastHydration
from workbench.optimizer.statistics import StreamStatistics
from workbench.session.directory.stored_functions import StoredFunction
from workbench.sharing.decisions import Explanation
from workbench.sql.algebra.zones import UTC
from workbench.sql.by_name import hint_of
from workbench.sql.checks import Check, checks_of
from workbench.sql.constraints import StreamConstraints
from workbench.sql.logical import LogicalQuery, StreamWindow
from workbench.sql.schema import Schema, UserAggregate
from workbench.sql.syntax.parse import makes_view
from workbench.sql.windows.stream_time import EventTimeVector
from workbench.streams.stream import Stream

ACTIVE = "active"
LAZY, EAGER, OFF = RESULTS = ("lazy", "eager", "off")
"""How the answer of a windowed query is kept (PSoup 5): without its window, as it is now, or not at all."""


@dataclass(frozen=True)
class QueryRecord:
    """A registered query.

    Attributes:
        name, sql, dialect: as registered.
        registered: the batch after which it was registered.
        status: ``"active"``, or why it no longer runs.
        logical: what the text means, bound to the streams.
        results: how its answer is kept (``RESULTS``).
        windows: its windows, if it has any.
        id: of this registration; another registration of the name has another one.
        explanation: the sharing decisions of the registration.
        priority: how important it is; where rows come too fast, those below 0 are suspended, the lowest first.
        suspended: the batch after which it was suspended; ``None``: it runs.
        by_load: whether live running has suspended it, and is to resume it.
        timezone: the zone of the session as it was registered, in which its instants are other times, and are shown.
    """

    name: str
    sql: str
    dialect: str
    registered: int
    status: str
    logical: LogicalQuery
    results: str
    windows: tuple[StreamWindow, ...]
    id: str
    explanation: Explanation
    priority: int = 0
    suspended: int | None = None
    by_load: bool = False
    timezone: str = UTC

    @property
    def is_view(self) -> bool:
        """Whether it was registered as a view, for others to read."""
        return makes_view(self.sql, self.dialect)


def check_active(query: QueryRecord, status: str) -> None:
    """Check that a query runs.

    Raises:
        QueryError: it does not; the message has its status.
    """
    if status != ACTIVE:
        raise QueryError(f"query {query.name} does not run: {status}", hint="register it again under any name")


@dataclass(frozen=True)
class State:
    """A session as it was committed last.

    Attributes:
        network: the shared query network.
        streams: streams and tables, and how far they have been read.
        statistics: of the data of each stream, by its name in lower case; the planner estimates with them.
        views: what can stand in FROM: views, and queries by their names.
        functions: all versions of the analyst's functions by their ids, in the order of versions.
        aggregates: those that the analyst added.
        queries: those registered, in the order of registration, disabled ones too.
        reports: of all batches.
        engine: the engine's state: all rows.
        named: how many queries got their name from the session.
        hydrations: what the last hydrations took, for predicting the next ones.
        line: the line of history, a number that counts on whenever batches that were run are not what they were: the
            session has gone back, or was repaired or planned anew as it was opened.
        timezone: the zone of queries that are registered from now on.
    """

    network: Network = field(default_factory=Network)
    streams: Mapping[str, Stream] = field(default_factory=dict)
    statistics: Mapping[str, StreamStatistics] = field(default_factory=dict)
    views: Mapping[str, LogicalQuery] = field(default_factory=dict)
    functions: Mapping[str, StoredFunction] = field(default_factory=dict)
    aggregates: Mapping[str, UserAggregate] = field(default_factory=dict)
    queries: Mapping[str, QueryRecord] = field(default_factory=dict)
    reports: tuple[BatchReport, ...] = ()
    engine: EngineState = field(default_factory=EngineState)
    named: int = 0
    hydrations: tuple[PastHydration, ...] = ()
    line: int = 0
    timezone: str = UTC

    @property
    def schema(self) -> Schema:
        """The names that a query may use, with their types."""
        columns = {name: stream.columns for name, stream in self.streams.items()}
        times = {name: stream.time.lower() for name, stream in self.streams.items() if stream.time is not None}
        tables = frozenset(name for name, stream in self.streams.items() if stream.table)
        latest = {stored.function.name: stored.function for stored in self.functions.values()}
        corrected = frozenset(name for name, stream in self.streams.items() if not stream.append_only)
        now = self.engine.clock.now
        spelled = {name: stream.spelled for name, stream in self.streams.items()}
        known = self.views, latest, self.aggregates
        drifts = ((name, stream.drifts) for name, stream in self.streams.items())
        members = {name: {drift.name.lower() for drift in some if drift.is_new} for name, some in drifts if some}
        now_of = now, self._after_batch
        keys = {name: stream.key for name, stream in self.streams.items()}
        return Schema(columns, *known, times, tables, *now_of, corrected, spelled, self.timezone, members, keys)

    @cached_property
    def view_names(self) -> ViewNames:
        """The names of views' columns; a query's names are its own."""
        own = {name for name, query in self.queries.items() if not query.is_view}
        return ViewNames.of({name: view for name, view in self.views.items() if name not in own})

    @property
    def constraints(self) -> StreamConstraints:
        """The constraints of the rows of each stream that no row has broken."""
        return {name: stream.holding for name, stream in self.streams.items() if stream.holding}

    def checks_of(self, query: QueryRecord) -> tuple[Check, ...]:
        """The checks of a query, by their numbers."""
        return checks_of(query.logical, chain.from_iterable(self.constraints.values()))

    def _after_batch(self, batch: int) -> EventTimeVector | None:
        return self.engine.clock.after_batch(batch) if batch <= self.batch else None

    @property
    def batch(self) -> int:
        """Number of the last batch that was run; 0 before the first."""
        return self.reports[-1].batch if self.reports else 0

    def query(self, name: str) -> QueryRecord:
        """The query of a name, whatever the case of its letters.

        Raises:
            QueryError: no query has that name; the hint has the nearest.
        """
        if known := [name] if name in self.queries else self.same_names([name]):
            return self.queries[known[0]]
        if name.lower() in {stream.lower() for stream in self.streams}:
            raise QueryError(
                f"there is no query {name}",
                hint=f"{name} is a stream or table: SELECT * FROM {name} asks it, and drop_stream drops it",
            )
        parts = [part.strip() for part in name.split(",")]
        each = (
            f"one at a time, without commas: {' '.join(parts)}" if self.same_names(parts) and len(parts) > 1 else None
        )
        raise QueryError(f"there is no query {name}", hint=each or hint_of(name, "queries:", self.queries))

    def stream(self, name: str) -> Stream:
        """The stream or table of a name, whatever the case of its letters.

        Raises:
            StreamError: no stream has that name; the hint has the nearest.
        """
        known = {other.lower(): stream for other, stream in self.streams.items()}
        if name.lower() in known:
            return known[name.lower()]
        if name in self.queries or self.same_names([name]):
            raise StreamError(f"there is no stream {name}", hint=f"{name} is a query")
        raise StreamError(f"there is no stream {name}", hint=hint_of(name, "streams and tables:", self.streams))

    @property
    def suspended(self) -> frozenset[str]:
        """The queries of the network, checks among them, that are suspended."""
        suspended = {name for name, query in self.queries.items() if query.suspended is not None}
        return frozenset(name for name in self.network.queries if checked_query(name) in suspended)

    def answered_at(self, query: QueryRecord) -> int:
        """The batch of a query's answer: the last batch, or the one at which the query was suspended."""
        plan = self.network.queries.get(query.name)
        tree = None if plan is None else self.engine.by_root.get(plan.read.root)
        return self.batch if tree is None or tree.suspended_at is None else tree.suspended_at

    def current(self, query: QueryRecord) -> QueryRecord | None:
        """The present record of the same registration; ``None`` when it was dropped or replaced."""
        record = self.queries.get(query.name)
        return record if record is not None and record.id == query.id else None

    def status(self, query: QueryRecord) -> str:
        """``"active"``, or why a query that once was registered no longer runs."""
        if (record := self.current(query)) is not None:
            return record.status
        return "replaced" if self.same_names([query.name]) else "dropped"

    def same_names(self, names: Iterable[str]) -> list[str]:
        """The registered queries of some names, whatever the case of their letters."""
        folded = {name.lower() for name in names}
        return [name for name in self.queries if name.lower() in folded]

    def without(self, names: Iterable[str]) -> State:
        """The state without some queries."""
        removed = set(names)
        return replace(self, queries={name: q for name, q in self.queries.items() if name not in removed})

    def with_views(self, views: Mapping[str, LogicalQuery]) -> State:
        """The state with more names for FROM."""
        return replace(self, views={**self.views, **views})

    def with_stream(self, stream: Stream) -> State:
        """The state with a new stream, or with a stream that has been read further."""
        return replace(self, streams={**self.streams, stream.name: stream})

    def without_stream(self, name: str) -> State:
        """The state without a stream, also in the reports, so that another one may have its name."""
        reports = tuple(
            replace(
                report,
                arrived={stream: rows for stream, rows in report.arrived.items() if stream != name},
                late_rows={stream: rows for stream, rows in report.late_rows.items() if stream != name},
                cuts={stream: cut for stream, cut in report.cuts.items() if stream != name},
            )
            for report in self.reports
        )
        streams = {other: stream for other, stream in self.streams.items() if other != name}
        return replace(self, streams=streams, reports=reports)

    def disabled(self, reasons: Mapping[str, str]) -> State:
        """The state in which some queries no longer run, for these reasons."""
        changed = {name: replace(self.queries[name], status=reason) for name, reason in reasons.items()}
        return replace(self, queries={**self.queries, **changed})
