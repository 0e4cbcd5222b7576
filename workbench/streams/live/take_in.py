"""From a live source into the log of its stream: rows, offsets, current rows and quarantined records in one step."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from workbench.errors import StreamError
from workbench.sql.algebra.column_names import stored_name
from workbench.sql.algebra.types import DataType
from workbench.streams.corrections.current_rows import CurrentRows
from workbench.streams.corrections.debezium import unfold_envelopes
from workbench.streams.corrections.declared import Changes
from workbench.streams.ingest import column_types, fit, rejected_rows
from workbench.streams.live.reader import Reader
from workbench.streams.log import StreamLog, log_schema
from workbench.streams.source import Chunk, OpenedSource, QuarantinedRow

MARKS = "@#"
"""What offsets begin with that are none of the source."""
LINES = "#"
"""The offset that counts the records of the source, for the lines of quarantined ones."""


def take_in(log: StreamLog, reader: Reader, most: int) -> bool:
    """Log the rows that a source has by now; whether it has ended.

    Args:
        log: of the stream, with a tail.
        reader: of its source.
        most: so many rows are enough.

    Raises:
        StreamError: rows have other columns than the stream.
        Exception: the source cannot be read now.
    """
    assert log.tail is not None
    # Nothing is written before the rows are here: a source that hangs holds no transaction.
    offsets = log.tail.offsets
    fetched = reader.fetch({place: at for place, at in offsets.items() if place[:1] not in MARKS or not place}, most)
    if not fetched.offsets:
        return fetched.ended
    before = int(offsets.get(LINES, "0"))
    lines = np.arange(before + 1, before + 1 + fetched.rows.num_rows)
    after = {**fetched.offsets, LINES: str(before + fetched.rows.num_rows + len(fetched.quarantined))}
    opened = OpenedSource(fetched.rows.schema, iter([Chunk(fetched.rows, lines)]))
    corrections = log.corrections
    if corrections is not None and corrections.changes is Changes.DEBEZIUM:
        opened = unfold_envelopes(opened, corrections)
    types = _types(log, opened)
    chunk = next(opened.chunks)
    rows, lines, quarantined = fit(chunk, types, log_schema(types.items()))
    with log.tail.transaction() as database:
        if corrections is not None:
            applied = CurrentRows(database, log_schema(log.columns), corrections).apply(rows, lines.tolist())
            quarantined += rejected_rows(rows, lines, applied.rejected)
            rows = applied.rows
        log.tail.append(rows, [*fetched.quarantined, *_placed(quarantined, before, fetched.places)], after)
    return fetched.ended


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
