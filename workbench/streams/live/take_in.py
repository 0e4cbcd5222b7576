"""From a live source into the log of its stream: rows, offsets, current rows and quarantined records in one step."""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from workbench.errors import StreamError, UnexpectedError
from workbench.sql.algebra.column_names import display_name, stored_name
from workbench.sql.algebra.types import DataType
from workbench.streams.added_columns import breaking
from workbench.streams.corrections.current_rows import CurrentRows
from workbench.streams.corrections.debezium import unfold
from workbench.streams.corrections.declared import Changes
from workbench.streams.drift import Differences, drifts_of, folded
from workbench.streams.drifting_types import with_records
from workbench.streams.files.json_values import MORE
from workbench.streams.ingest import Fitting, column_types, fit, quarantined_rows
from workbench.streams.lateness import LateRows
from workbench.streams.live.reader import Fetched, Landed, OffsetMark, Offsets, Reader, mark_of
from workbench.streams.log import CHUNK_ROWS, ENDED, KNOWN_TO, WHOLE, StreamLog, log_schema
from workbench.streams.nan_values import with_finer_times, without_nan
from workbench.streams.source import Chunk, OpenedSource, QuarantinedRow

_FORMS = f"{OffsetMark.SETTING}forms"
"""The entry of offsets that says how decimals are written in columns of envelopes."""
_LATEST = f"{OffsetMark.SETTING}latest"
"""The entry of offsets that has the latest event time of a stream with a lateness."""
_PATIENCE = 1.0
"""Seconds for which a source is asked on that gives records, and no rows."""


def take_in(log: StreamLog, reader: Reader, most: int) -> bool:
    """Log the rows that a source has by now; whether it has ended. Arguments as ``log_fetched``.

    Raises:
        StreamError: some of it cannot be read now; the rest has been logged.
        Exception: nothing of it can be read now.
    """
    fetched = log_fetched(log, reader, most)
    if fetched.problem:
        raise StreamError(fetched.problem)
    return fetched.ended


def log_fetched(log: StreamLog, reader: Reader, most: int) -> Fetched:
    """Log the new rows of a source, and return them.

    No record stops a source: one over which anything fails is quarantined, and those around it are logged. A source
    that gave records and no row, as heartbeats, is asked again, for a while.

    Args:
        log: of the stream, with a tail.
        reader: of its source.
        most: the number of rows that is enough.

    Raises:
        Exception: nothing of it can be read now, or the log cannot be written.
    """
    before, until = log.rows, time.monotonic() + _PATIENCE
    fetched = _logged(log, reader, most)
    while fetched.offsets and log.rows == before and not fetched.ended and not fetched.problem:
        if time.monotonic() > until or fetched.known_to is not None:
            break
        fetched = _logged(log, reader, most)
    return fetched


def _logged(log: StreamLog, reader: Reader, most: int) -> Fetched:
    """Log what one fetch gives."""
    tail = log.tail
    assert tail is not None
    # Nothing is written before the rows are here: a source that hangs holds no transaction.
    fetched = reader.fetch(of_source(tail.offsets), most)
    if not (fetched.offsets or fetched.forgotten or fetched.landed) and log.transactions is None:
        return fetched
    with tail.transaction() as database:
        tail.forget(entry for gone in fetched.forgotten for entry in (gone, f"{OffsetMark.NOTE}{gone}"))
        _log_landed(log, fetched.landed)
        if fetched.offsets:
            current = None
            if log.corrections is not None:
                current = CurrentRows(database, log_schema(log.source_columns), log.corrections)
                current.confirms = log.has_waiting
            _log_rows(log, fetched, current, begins=fetched.whole)
            while fetched.continues:
                fetched = reader.fetch(of_source(tail.offsets), most)
                _log_rows(log, fetched, current, begins=False)
        if log.transactions is not None:
            tail.append(log.schema.empty_table(), offsets=_known_of_transactions(log, fetched, most))
    return fetched


def of_source(offsets: Offsets) -> dict[str, str]:
    """The offsets that a reader is given: where its source resumes, and what it must remember."""
    return {entry: at for entry, at in offsets.items() if mark_of(entry) in (None, OffsetMark.NOTE)}


def _log_landed(log: StreamLog, parts: Iterable[Landed]) -> None:
    """Append what tasks have written of parts; belongs inside a transaction."""
    tail = log.tail
    assert tail is not None
    before, nothing = int(tail.offsets.get(OffsetMark.LINES, "0")), log.schema.empty_table()
    for landed in parts:
        if landed.file is not None:
            first, columns = log.rows, dict(log.source_columns).keys()
            drifts = [replace(drift, first=first + drift.first) for drift in landed.drifts]
            tail.note_drifts(drifts, columns - {*map(stored_name, landed.gone)})
            tail.append_file(*landed.file)
        moved = [replace(entry, line=before + entry.line) for entry in landed.quarantined]
        numbered = [replace(one, number=one.number and before + one.number) for one in (*landed.of_reader, *moved)]
        before += landed.last
        tail.append(nothing, numbered, {**landed.offsets, OffsetMark.LINES.value: str(before)})


@dataclass(frozen=True)
class FittedRows:
    """Rows that were fetched, with the types of the log.

    Attributes:
        rows: that fit.
        lines: the number of the record of each.
        of_reader: records that are no rows, with their numbers.
        quarantined: rows that do not fit.
        found: what drifts.
        chunk: the rows as they were fetched.
        last: how many records there are.
    """

    rows: pa.Table
    lines: NDArray[np.int64]
    of_reader: list[QuarantinedRow]
    quarantined: list[QuarantinedRow]
    found: Differences
    chunk: Chunk
    last: int


def fitted_rows(log: StreamLog, fetched: Fetched, before: int, forms: dict[str, str]) -> FittedRows:
    """The fetched rows, fitted to the columns of the log.

    Args:
        log: of the stream; none of its rows are read.
        fetched: of its source.
        before: how many records came before.
        forms: how decimals are written in columns of envelopes; may get more.
    """
    numbers, of_reader = _numbered(fetched, before)
    last = max(int(numbers.max(initial=0)), fetched.rows.num_rows + len(fetched.quarantined))
    chunk = Chunk(fetched.rows, before + numbers, found=fetched.found)
    (rows, lines, quarantined), found = fit_chunk(log, chunk, forms)
    return FittedRows(rows, lines, of_reader, quarantined, found, chunk, last)


def _log_rows(log: StreamLog, fetched: Fetched, current: CurrentRows | None, begins: bool) -> None:
    """Append the fetched rows; it belongs inside a transaction.

    Args:
        current: the current rows of a stream that is corrected.
        begins: whether these are the first of rows that are all that there are.
    """
    assert log.tail is not None
    before = int(log.tail.offsets.get(OffsetMark.LINES, "0"))
    forms = json.loads(log.tail.offsets.get(_FORMS, "{}"))
    fitting = fitted_rows(log, fetched, before, forms)
    given, lines, quarantined, of_reader = fitting.rows, fitting.lines, fitting.quarantined, fitting.of_reader
    chunk, found, last = fitting.chunk, fitting.found, fitting.last
    late = late_among(log, given)
    quarantined += quarantined_rows(given, lines, late)
    given, lines = rows_without(given, lines, late)
    rows, columns = given, dict(log.source_columns)
    if current is not None:
        gone = current.begin_whole(before + 1) if begins else None
        rows, rejected = current.apply(given, lines, [*of_reader, *quarantined])
        quarantined += with_records(quarantined_rows(given, lines, rejected), chunk)
        rest = current.end_whole(before + last) if fetched.whole and not fetched.continues else None
        rows = pa.concat_tables([some for some in (gone, rows, rest) if some is not None], promote_options="default")
    drifts = drifts_of(rows, found, columns, log.rows)
    if rows.num_rows:
        log.tail.note_drifts(drifts, columns.keys() - {*map(stored_name, found.gone)})
    if log.transactions is not None:
        rows = log.transactions.marked(rows, given, lines)
    after = {**fetched.offsets, OffsetMark.LINES.value: str(before + last)} | (
        {_FORMS: json.dumps(forms)} if forms else {}
    )
    log.tail.append(rows, [*of_reader, *with_places(quarantined, chunk.lines, fetched.places)], after)


def late_among(log: StreamLog, rows: pa.Table) -> dict[int, str]:
    """Why some of the rows that a log gets next come later than its stream allows, by their places.

    Such rows never enter the log. Belongs inside the transaction that adds the others.

    Args:
        log: of the stream, with a tail.
        rows: in the order in which they came.
    """
    tail = log.tail
    assert tail is not None
    if log.lateness is None or not rows.num_rows:
        return {}
    known = tail.offsets.get(_LATEST)
    late_rows = LateRows(log.lateness, None if known is None else int(known))
    if known is None:
        for start in range(0, log.rows, CHUNK_ROWS):
            late_rows.among(log.read(start, start + CHUNK_ROWS, [log.lateness.time]))
    late = late_rows.among(rows)
    if log.is_live:  # of a log that was copied, offsets would say that more rows come
        tail.append(log.schema.empty_table(), offsets={_LATEST: str(late_rows.latest)})
    return late


def rows_without(
    rows: pa.Table, lines: NDArray[np.int64], places: Collection[int]
) -> tuple[pa.Table, NDArray[np.int64]]:
    """Rows and the line of each, without those at some places."""
    if not places:
        return rows, lines
    others = np.ones(rows.num_rows, np.bool_)
    others[[*places]] = False
    return rows.filter(pa.array(others)), lines[others]


def _numbered(fetched: Fetched, before: int) -> tuple[NDArray[np.int64], list[QuarantinedRow]]:
    """The numbers of rows, from 1, and the reader's quarantined records with theirs, each in its place among them."""
    if fetched.events is not None:
        return np.array(fetched.events, np.int64), [*fetched.quarantined]
    kept = sorted((entry for entry in fetched.quarantined if entry.record is not None), key=lambda entry: entry.number)
    rows = np.arange(fetched.rows.num_rows)
    waiting = np.searchsorted(np.array([entry.number for entry in kept], np.int64), rows, side="right")
    numbers = {id(entry): before + entry.number + place for place, entry in enumerate(kept, 1)}
    return rows + 1 + waiting, [replace(one, number=numbers.get(id(one), 0)) for one in fetched.quarantined]


def _known_of_transactions(log: StreamLog, fetched: Fetched, most: int) -> dict[str, str]:
    """What is known of the transactions in a log after what was fetched has been logged.

    Of a source that has no more now the last one is whole, too: it has given what it has of it.
    """
    assert log.tail is not None
    if fetched.known_to is not None:
        known = {KNOWN_TO: str(fetched.known_to), WHOLE: str(log.rows)}
    elif fetched.ended or fetched.rows.num_rows + len(fetched.quarantined) < most:
        known = {WHOLE: str(log.rows)} | ({ENDED: ""} if fetched.ended else {})
    else:
        known = {WHOLE: str(log.begin_of_last_transaction())}
    return {name: value for name, value in known.items() if log.tail.offsets.get(name) != value}


def fit_chunk(log: StreamLog, chunk: Chunk, forms: dict[str, str]) -> tuple[Fitting, Differences]:
    """The rows with the types of the log, the line of each, and those that do not fit; and what of them drifts."""
    opened = OpenedSource(chunk.rows.schema, iter([chunk]))
    columns = dict(log.source_columns)
    plain = {name: type_ for name, type_ in columns.items() if name not in log.guesses}
    opened = unfold(opened, log.corrections, plain, columns, forms)
    _check_control(log, opened.schema)
    try:
        conformed, types = _conformed(log, next(opened.chunks))
        conformed = with_finer_times(without_nan(conformed, types) if log.nan_is_null else conformed)
        rows, lines, quarantined = fit(conformed, types, log_schema(types.items()), log.guesses)
        quarantined = with_records(quarantined, chunk)
        broken = breaking(rows, log.added)
        quarantined += quarantined_rows(rows, lines, broken)
        return (*rows_without(rows, lines, broken), quarantined), conformed.found
    except Exception as problem:  # no record may stop a source, whatever is in it
        rows_, half = chunk.rows.num_rows, chunk.rows.num_rows // 2
        if not rows_:
            raise
        if half:
            (first, found), (second, later) = (
                fit_chunk(
                    log,
                    replace(
                        chunk, rows=chunk.rows.slice(*part), lines=chunk.lines[part[0] :][: part[1]], quarantined=()
                    ),
                    forms,
                )
                for part in ((0, half), (half, rows_ - half))
            )
            rows = pa.concat_tables([first[0], second[0]], promote_options="default")
            return (rows, np.concatenate([first[1], second[1]]), first[2] + second[2]), found.and_then(later)
        reason = f"it cannot be read: {UnexpectedError.of(problem).message}"
        (nothing, lines, _), found = fit_chunk(log, Chunk(chunk.rows.slice(0, 0), chunk.lines[:0]), forms)
        return (nothing, lines, [QuarantinedRow(int(chunk.lines[0]), _text(chunk), reason)]), found


def _text(chunk: Chunk) -> str:
    try:
        return str(chunk.rows.to_pylist()[0])
    except Exception:  # it may be this that cannot be read
        return ""


def with_places(
    entries: Iterable[QuarantinedRow], lines: NDArray[np.int64], places: Sequence[tuple[str, int]]
) -> Iterator[QuarantinedRow]:
    """Quarantined rows with their partition and offset instead of their number, where the source has any."""
    for entry in entries:
        if places:
            partition, offset = places[int(np.searchsorted(lines, entry.line))]
            yield replace(entry, line=offset, reason=f"partition {partition}, offset {offset}: {entry.reason}")
        else:
            yield entry


def _check_control(log: StreamLog, schema: pa.Schema) -> None:
    """Check that a source still says what changes."""
    needed = log.corrections.control_columns[:1] if log.corrections is not None else ()
    if log.corrections is not None and log.corrections.changes is Changes.UPSERT:
        needed = ()
    if missing := {*needed} - {*map(stored_name, schema.names)}:
        names = ", ".join(map(display_name, missing))
        raise StreamError(f"stream {log.name}: the source has no column {names} any more, which says what changes")


def _conformed(log: StreamLog, chunk: Chunk) -> tuple[Chunk, Mapping[str, DataType]]:
    """Rows with the columns of the stream, and those that say how rows change, and their types.

    A column that they lack is NULL, and others are members that no column has.
    """
    expected, names = dict(log.source_columns), {*map(stored_name, chunk.rows.schema.names)}
    control = log.corrections.control_columns if log.corrections is not None else ()
    wanted = [*expected, *(name for name in control if name in names)]
    rows, found = folded(chunk.rows, pa.schema([(display_name(name), pa.null()) for name in wanted]))
    columns = {name: _column(rows, display_name(name)) for name in wanted}
    more = {MORE: rows.column(MORE)} if MORE in rows.schema.names else {}
    conformed = pa.RecordBatch.from_pydict({display_name(name): values for name, values in columns.items()} | more)
    own = pa.schema([(display_name(name), values.type) for name, values in columns.items()])
    types = column_types(
        OpenedSource(own, iter(())), {display_name(name): str(type_) for name, type_ in expected.items()}
    )
    return replace(chunk, rows=conformed, found=chunk.found.and_then(found)), types


def _column(rows: pa.RecordBatch, name: str) -> pa.Array:
    return rows.column(name) if name in rows.schema.names else pa.nulls(rows.num_rows)
