"""A session in its catalog: a commit writes what differs between two states, and opening reads the last one.

The network is not written here: planning writes its nodes and plans as it goes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any, Protocol, TypeVar, overload

from workbench.catalog.catalog import Catalog
from workbench.catalog.database import reading
from workbench.catalog.records import RecordRows, StoredRecords
from workbench.engine.manifest import Manifest
from workbench.engine.reports import BatchReport, OperatorReport, Places
from workbench.optimizer.hydration_cost import HydrationWork, PastHydration
from workbench.session.directory.directory import CATALOG, SessionDirectory
from workbench.session.directory.stored_functions import StoredFunction
from workbench.session.state import QueryRecord, State
from workbench.sharing.decisions import Explanation
from workbench.sql.logical import LogicalQuery
from workbench.sql.schema import UserAggregate
from workbench.streams.added_columns import AddedColumn
from workbench.streams.cut import Gap
from workbench.streams.declared_constraints import DeclaredConstraint
from workbench.streams.stream import Stream
from workbench.streams.widened_columns import WidenedColumn


class _Named(Protocol):
    @property
    def name(self) -> str: ...


N = TypeVar("N", bound=_Named)

RECENT = 100
"""Batches whose reports of operators are in memory; those of older ones are in the catalog alone."""

_BATCHES = RecordRows(BatchReport, "operators")
_OPERATORS = RecordRows(OperatorReport, "nodes", "here", "microseconds")
_OPERATORS_OF_A_BATCH = f"SELECT {_OPERATORS.columns} FROM operator_timings WHERE batch = ? ORDER BY position"


@dataclass(frozen=True)
class StoredStream:
    """A stored stream or table: the place of its log, and how far it has been read.

    Attributes:
        name: of the stream.
        folder: of its log, in the session's folder of streams.
        is_table, time, history: as in ``Stream``.
        batch: rows of a batch; 0 where it has ``span``, microseconds of event time.
        shed, gaps: as in ``Stream``.
        added, widened: as in its log.
        constraints: as in ``Stream``.
        arrived: rows that have arrived, the history included.
        checksum: of the log's manifest, if it is known.
    """

    name: str
    folder: str
    is_table: bool
    time: str | None
    history: int
    batch: int
    arrived: int
    checksum: int | None
    span: int | None
    shed: str | None
    gaps: tuple[Gap, ...]
    added: tuple[AddedColumn, ...]
    widened: tuple[WidenedColumn, ...]
    constraints: tuple[DeclaredConstraint, ...]

    @staticmethod
    def of(stream: Stream) -> StoredStream:
        """How a stream is stored."""
        log, batch = stream.log, stream.batch
        rows, span = (batch, None) if isinstance(batch, int) else (0, batch // timedelta(microseconds=1))
        numbers = (stream.history, rows, stream.position)
        return StoredStream(
            log.name,
            log.folder.name,
            stream.table,
            stream.time,
            *numbers,
            log.checksum,
            span,
            stream.shed,
            stream.gaps,
            log.added,
            log.widened,
            stream.constraints,
        )


@dataclass(frozen=True)
class _View:
    """The binding of a name in FROM, as it was when the view or query was registered."""

    name: str
    logical: LogicalQuery


class StoredOperators(Sequence[OperatorReport]):
    """The operators of an older batch, read from the catalog's file at each look.

    A session that runs for days would otherwise grow by them: some kilobytes a batch for each operator. Each look has a
    connection of its own, since any thread may look while another one commits.

    Args:
        catalog: the file.
        batch: its number.

    Raises:
        CatalogError: when they are looked at and the file is gone, as after a temporary session is closed.
    """

    def __init__(self, catalog: Path, batch: int) -> None:
        self._catalog, self._batch = catalog, batch

    @overload
    def __getitem__(self, at: int) -> OperatorReport: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[OperatorReport, ...]: ...
    def __getitem__(self, at: int | slice) -> OperatorReport | tuple[OperatorReport, ...]:
        return self._stored()[at]

    def __iter__(self) -> Iterator[OperatorReport]:
        return iter(self._stored())

    def __len__(self) -> int:
        return len(self._stored())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]  # reports hold mappings, which have no hash

    def _stored(self) -> tuple[OperatorReport, ...]:
        with closing(reading(self._catalog)) as connection:
            return _operator_reports(connection.execute(_OPERATORS_OF_A_BATCH, (self._batch,)), Places())


class StoredSession:
    """The relations of a catalog that hold a session.

    Args:
        directory: of the session; paths of files in the catalog are relative to it.
        catalog: the catalog.
    """

    def __init__(self, directory: SessionDirectory, catalog: Catalog) -> None:
        database = catalog.database
        self._database = database
        self._file = directory.path / CATALOG
        self._catalog = catalog
        self.settings = catalog.settings
        self.streams = StoredRecords(database, "streams", StoredStream)
        self.functions = StoredRecords(database, "user_functions", StoredFunction)
        self.aggregates = StoredRecords(database, "user_aggregates", UserAggregate)
        self.manifest = Manifest(database, directory.path)
        self._views = StoredRecords(database, "views", _View)
        self._queries = StoredRecords(database, "registrations", QueryRecord, "explanation")

    def write(self, before: State, after: State) -> None:
        """Bring the catalog from one state to the next; belongs inside a transaction of the catalog."""
        _write_changes(self.streams, _stored_streams(before), _stored_streams(after))
        _write_changes(self.functions, before.functions, after.functions)
        _write_changes(self.aggregates, before.aggregates, after.aggregates)
        _write_changes(self._views, _views(before), _views(after))
        self._write_queries(before, after)
        self._write_reports(before.reports, after.reports)
        self.manifest.write(before.engine, after.engine)
        self.settings.put("commits", self._catalog.commits + 1)
        self.settings.put("named", after.named)
        self.settings.put("line", after.line)
        self.settings.put("timezone", after.timezone)
        if after.hydrations != before.hydrations:
            self.settings.put("hydrations", [(p.work.operators, p.work.rows, p.seconds) for p in after.hydrations])

    def views(self) -> dict[str, LogicalQuery]:
        """The sources for FROM, by name."""
        return {view.name: view.logical for view in self._views.all()}

    def queries(self) -> dict[str, QueryRecord]:
        """All registered queries by name, in the order of registration."""
        return {query.name: query for query in self._queries.all(self._explanation)}

    def hydrations(self) -> tuple[PastHydration, ...]:
        """The times of the last hydrations."""
        stored = self.settings.get("hydrations", [])
        return tuple(PastHydration(HydrationWork(int(ops), float(rows)), float(took)) for ops, rows, took in stored)

    def reports(self) -> tuple[BatchReport, ...]:
        """The reports of all batches, in order."""
        places, reports = Places(), list[BatchReport]()
        for row in self._database.rows(f"SELECT {_BATCHES.columns} FROM batches ORDER BY batch"):
            fields = _BATCHES.fields(row)
            fields["changes"] = places.counts(fields["changes"])
            reports.append(BatchReport(**fields, operators=()))
        older = tuple(self._with_stored_operators(report) for report in reports[:-RECENT])
        return (*older, *(self._with_operators(report, places) for report in reports[-RECENT:]))

    def without_older_operators(self, reports: tuple[BatchReport, ...]) -> tuple[BatchReport, ...]:
        """Reports that have been stored, with the operators of recent batches alone in memory."""
        older, known = reports[:-RECENT], max(0, len(reports) - RECENT)
        while known and not isinstance(older[known - 1].operators, StoredOperators):
            known -= 1
        if known == len(older):
            return reports
        return (*older[:known], *map(self._with_stored_operators, older[known:]), *reports[-RECENT:])

    def _with_stored_operators(self, report: BatchReport) -> BatchReport:
        return replace(report, operators=StoredOperators(self._file, report.batch))

    def _with_operators(self, report: BatchReport, places: Places) -> BatchReport:
        rows = self._database.rows(_OPERATORS_OF_A_BATCH, report.batch)
        return replace(report, operators=_operator_reports(rows, places))

    def _explanation(self, query: str) -> dict[str, Explanation]:
        rows = self._catalog.decisions(query)
        return {"explanation": Explanation.from_rows(query, rows) if rows else Explanation(query, ())}

    def _write_queries(self, before: State, after: State) -> None:
        for name, query in before.queries.items():
            if after.current(query) is None:  # a query that replaces another one comes last
                self._queries.remove(name)
            if name not in after.queries:
                self._catalog.put_decisions(name, ())
        _write_changes(self._queries, {n: q for n, q in before.queries.items() if after.current(q)}, after.queries)

    def _write_reports(self, before: tuple[BatchReport, ...], after: tuple[BatchReport, ...]) -> None:
        stored = len(before)
        if before != after[:stored]:  # the session has gone back
            stored = 0
            for relation in ("batches", "operator_timings"):
                self._database.run(f"DELETE FROM {relation}")
        for report in after[stored:]:
            self._database.insert("batches", [_BATCHES.row(report)], columns=_BATCHES.columns)
            rows = ((report.batch, place, *_OPERATORS.row(o)) for place, o in enumerate(report.operators))
            self._database.insert("operator_timings", rows, columns=f"batch, position, {_OPERATORS.columns}")


def _operator_reports(rows: Iterable[tuple[Any, ...]], places: Places) -> tuple[OperatorReport, ...]:
    """Rows of ``_OPERATORS_OF_A_BATCH`` as reports; ``places``: of the names of nodes, shared with other reports."""
    reports = []
    for row in rows:
        fields = _OPERATORS.fields(row)
        counts = places.counts(fields["node_rows"])
        reports.append(OperatorReport(**{**fields, "nodes": tuple(counts), "node_rows": counts}))
    return tuple(reports)


def _stored_streams(state: State) -> Mapping[str, StoredStream]:
    return {name: StoredStream.of(stream) for name, stream in state.streams.items()}


def _views(state: State) -> Mapping[str, _View]:
    return {name: _View(name, logical) for name, logical in state.views.items()}


def _write_changes(records: StoredRecords[N], before: Mapping[str, N], after: Mapping[str, N]) -> None:
    for name in before.keys() - after.keys():
        records.remove(name)
    for name, record in after.items():
        if before.get(name) != record:
            records.put(record)
