"""A commit: what changed in a session, written to its catalog in one transaction.

What the catalog refers to is on the disk before the transaction ends, and what it no longer refers to is removed after
it. So whatever moment a process or a machine dies, the catalog speaks of files that are there and whole. A batch that
was not committed arrives again: its rows are in the stream's log, which was there before.
"""

from __future__ import annotations

from workbench.catalog.catalog import Catalog
from workbench.catalog.session_rows import BatchRow, OperatorRow, Registration, SessionRows, StreamRow
from workbench.engine.manifest import Manifest
from workbench.engine.reports import BatchReport
from workbench.files.durable import force_to_disk
from workbench.session.directory.directory import Home
from workbench.session.query import ACTIVE, Query
from workbench.session.state import State
from workbench.streams.stream import Stream


def write_commit(home: Home, catalog: Catalog, before: State, after: State) -> None:
    """Bring the catalog from one state to the next; belongs inside a transaction of the catalog.

    The network is there already: planning writes it as it goes.
    """
    rows = catalog.session
    _write_streams(rows, before, after)
    for name, function in after.functions.items():
        if before.stored_functions.get(name) is not after.stored_functions[name]:
            rows.put_function(function, after.stored_functions[name])
    for name, aggregate in after.aggregates.items():
        if before.aggregates.get(name) is not aggregate:
            rows.put_aggregate(aggregate)
    _write_views(rows, before, after)
    _write_queries(catalog, before, after)
    _write_reports(rows, before, after)
    Manifest(rows, home.path).write(before.held, after.held)
    rows.put_commit(after.named)
    if not home.temporary:
        new_logs = [s.log.folder for name, s in after.streams.items() if name not in before.streams]
        logged = [str(file) for folder in new_logs for file in folder.iterdir()]
        force_to_disk(logged)


def _write_streams(rows: SessionRows, before: State, after: State) -> None:
    for name, stream in after.streams.items():
        if before.streams.get(name) is not stream:
            rows.put_stream(_stream_row(stream))


def _stream_row(stream: Stream) -> StreamRow:
    folder = stream.log.folder.name
    about = (stream.name, folder, stream.table, stream.time, stream.history, stream.batch, stream.position)
    return StreamRow(*about, stream.log.checksum)


def _write_views(rows: SessionRows, before: State, after: State) -> None:
    for name in before.views.keys() - after.views.keys():
        rows.remove_view(name)
    for name, view in after.views.items():
        if before.views.get(name) is not view:
            rows.put_view(name, view)


def _write_queries(catalog: Catalog, before: State, after: State) -> None:
    rows = catalog.session
    # After going back, queries are answered as if they had been there from the start.
    went_back = after.reports[: len(before.reports)] != before.reports
    for name, query in before.queries.items():
        if after.queries.get(name) is not query:
            rows.remove_registration(name)
        if name not in after.queries:
            catalog.put_decisions(name, ())
    for name, query in after.queries.items():
        status = after.disabled.get(name, ACTIVE)
        if went_back or before.queries.get(name) is not query or before.disabled.get(name, ACTIVE) != status:
            rows.put_registration(_registration(query, status, 0 if went_back else query.registered))


def _registration(query: Query, status: str, registered: int) -> Registration:
    about = (query.name, query.sql, query.dialect, registered, status, query.logical)
    return Registration(*about, query.results, query.windows_on)


def _write_reports(rows: SessionRows, before: State, after: State) -> None:
    known = len(before.reports)
    if before.reports != after.reports[:known]:
        rows.remove_batches(after=0)
        known = 0
    for report in after.reports[known:]:
        rows.put_batch(_batch_row(report))


def _batch_row(report: BatchReport) -> BatchRow:
    operators = tuple(
        OperatorRow(o.name, o.rows_in, o.rows_out, o.seconds, {n: o.node_rows[n] for n in o.nodes}, o.alone, o.together)
        for o in report.operators
    )
    about = (report.batch, report.rows, report.seconds, report.arrived, report.changes, operators)
    return BatchRow(*about, report.late_rows)
