"""From a live source into the log of its stream: rows, offsets, current rows and quarantined records in one step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from workbench.errors import StreamError, UnexpectedError
from workbench.sql.algebra.column_names import stored_name
from workbench.sql.algebra.types import DataType
from workbench.streams.corrections.current_rows import CurrentRows
from workbench.streams.corrections.debezium import unfold
from workbench.streams.ingest import Fitting, column_types, fit, quarantined_rows
from workbench.streams.live.reader import Fetched, OffsetMark, Reader, mark_of
from workbench.streams.log import StreamLog, log_schema
from workbench.streams.source import Chunk, OpenedSource, QuarantinedRow


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
    """Log the rows that a source has by now, and return what it gave.

    No record stops a source: one over which anything fails is quarantined, and those around it are logged.

    Args:
        log: of the stream, with a tail.
        reader: of its source.
        most: the number of rows that is enough.

    Raises:
        Exception: nothing of it can be read now, or the log cannot be written.
    """
    assert log.tail is not None
    # Nothing is written before the rows are here: a source that hangs holds no transaction.
    offsets = log.tail.offsets
    of_source = {entry: at for entry, at in offsets.items() if mark_of(entry) in (None, OffsetMark.NOTE)}
    fetched = reader.fetch(of_source, most)
    if not fetched.offsets:
        return fetched
    before = int(offsets.get(OffsetMark.LINES, "0"))
    lines = np.arange(before + 1, before + 1 + fetched.rows.num_rows)
    after = {**fetched.offsets, OffsetMark.LINES.value: str(before + fetched.rows.num_rows + len(fetched.quarantined))}
    rows, lines, quarantined = _fitting(log, Chunk(fetched.rows, lines))
    corrections = log.corrections
    with log.tail.transaction() as database:
        if corrections is not None:
            given, current = rows, CurrentRows(database, log_schema(log.columns), corrections)
            rows, rejected = current.apply(given, lines)
            quarantined += quarantined_rows(given, lines, rejected)
        log.tail.append(rows, [*fetched.quarantined, *_placed(quarantined, before, fetched.places)], after)
    return fetched


def _fitting(log: StreamLog, chunk: Chunk) -> Fitting:
    """The rows with the types of the log, the line of each, and those that do not fit."""
    opened = OpenedSource(chunk.rows.schema, iter([chunk]))
    plain = {name: type_ for name, type_ in log.columns if name not in log.guesses}
    opened = unfold(opened, log.corrections, plain, dict(log.columns))
    types = _types(log, opened)
    try:
        return fit(next(opened.chunks), types, log_schema(types.items()), log.guesses)
    except Exception as problem:  # no record may stop a source, whatever is in it
        rows, half = chunk.rows.num_rows, chunk.rows.num_rows // 2
        if not rows:
            raise
        if half:
            first = _fitting(log, Chunk(chunk.rows.slice(0, half), chunk.lines[:half]))
            second = _fitting(log, Chunk(chunk.rows.slice(half), chunk.lines[half:]))
            return pa.concat_tables([first[0], second[0]]), np.concatenate([first[1], second[1]]), first[2] + second[2]
        reason = f"it cannot be read: {UnexpectedError.of(problem).message}"
        nothing, lines, _ = _fitting(log, Chunk(chunk.rows.slice(0, 0), chunk.lines[:0]))
        return nothing, lines, [QuarantinedRow(int(chunk.lines[0]), _text(chunk), reason)]


def _text(chunk: Chunk) -> str:
    try:
        return str(chunk.rows.to_pylist()[0])
    except Exception:  # it may be this that cannot be read
        return ""


def _placed(
    entries: Iterable[QuarantinedRow], before: int, places: Sequence[tuple[str, int]]
) -> Iterator[QuarantinedRow]:
    """Quarantined rows with their partition and offset instead of their number, where the source has any."""
    for entry in entries:
        if places:
            partition, offset = places[entry.line - before - 1]
            yield replace(entry, line=offset, reason=f"partition {partition}, offset {offset}: {entry.reason}")
        else:
            yield entry


def _types(log: StreamLog, opened: OpenedSource) -> Mapping[str, DataType]:
    """The types of the source's columns: those of the stream, and of what says how rows change their own."""
    expected = dict(log.columns)
    names = {stored_name(field.name): field.name for field in opened.schema}
    if missing := expected.keys() - names.keys():
        raise StreamError(f"stream {log.name}: the source has no column {', '.join(sorted(missing))} any more")
    types = column_types(opened, {names[name]: str(type_) for name, type_ in expected.items()})
    control = set(log.corrections.control_columns) if log.corrections is not None else set()
    if unknown := types.keys() - expected.keys() - control:
        message = f"stream {log.name}: the source has a new column {', '.join(sorted(unknown))}"
        raise StreamError(message, hint="add the source as another stream, which has the column")
    return types
