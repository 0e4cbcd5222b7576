"""Updates of a table by an analyst: rows that are added, replaced or deleted, in the tail of the table's log."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from workbench.errors import StreamError
from workbench.files.mapped import temporary_folder
from workbench.sql.algebra.column_names import display_name, stored_name
from workbench.streams.added_columns import breaking
from workbench.streams.corrections.current_rows import AFTER_ALL, CurrentRows
from workbench.streams.corrections.declared import EVENT, WEIGHT
from workbench.streams.drift import Differences, drifts_of, folded
from workbench.streams.files.json_values import MORE_FIELD
from workbench.streams.ingest import column_types, fit, quarantined_rows
from workbench.streams.log import StreamLog, log_schema
from workbench.streams.nan_values import without_nan
from workbench.streams.readers import open_source
from workbench.streams.source import Chunk


def update(log: StreamLog, rows: object, delete: object) -> None:
    """Log changes of a table, as a whole or not at all.

    Args:
        log: of the table, with a tail.
        rows: to add, or to put in the place of those of their keys; any source, or ``None``.
        delete: the keys of rows to delete, any source with the columns of the key; or ``None``.

    Raises:
        StreamError: a row does not fit, a key is NULL, or a row that is to be deleted is not there.
    """
    corrections, tail = log.corrections, log.tail
    assert tail is not None
    if delete is not None and corrections is None:
        hint = f"add it with a key: add_table({log.name!r}, …, key=[…])"
        raise StreamError(f"table {log.name} has no key, which says what to delete", hint=hint)
    if isinstance(delete, list) and delete and corrections is not None and not any(hasattr(o, "keys") for o in delete):
        key = ", ".join(f"{display_name(name)!r}: {delete[0]!r}" for name in corrections.key[:1])
        raise StreamError(f"what is deleted has no names of the key of {log.name}", hint=f"delete=[{{{key}}}]")
    with tail.transaction() as database:
        if delete is not None and corrections is not None:
            for keys, _ in _fitting(log, delete, corrections.key, -1):
                tail.append(_applied(log, database, keys))
        for values, drift in _fitting(log, rows, None, 1) if rows is not None else ():
            tail.note_drifts(drifts_of(values, drift, dict(log.source_columns), log.rows), ())
            tail.append(values if corrections is None else _applied(log, database, values))


def _applied(log: StreamLog, database: sqlite3.Connection, changes: pa.Table) -> pa.Table:
    assert log.corrections is not None
    current = CurrentRows(database, log_schema(log.source_columns), log.corrections)
    rows, rejected = current.change(changes, {})
    if rejected:
        place, reason = min(rejected.items())
        raise StreamError(f"table {log.name}, row {changes[EVENT][place]}: {reason}", hint="nothing was changed")
    if log.has_waiting:  # the lines of an update are its own, and say nothing of which came later
        current.confirm(changes, pa.array([AFTER_ALL] * changes.num_rows))
    return rows


def _fitting(
    log: StreamLog, source: object, only: Collection[str] | None, weight: int
) -> Iterator[tuple[pa.Table, Differences]]:
    """The rows of a source as changes with the columns of the log, all but ``only`` NULL, and what of them drifts."""
    expected = {name: type_ for name, type_ in log.source_columns if only is None or name in only}
    with temporary_folder("update-", None) as folder, ExitStack() as stack:
        opened = open_source(source, Path(folder) / "spark", stack)
        found = {stored_name(name): name for name in opened.schema.names}
        if missing := expected.keys() - found.keys():
            message = f"rows for table {log.name} have no column {_listed(missing)}"
            raise StreamError(message, hint=f"it has {_listed(name for name, _ in log.columns)}")
        if only is not None and (unknown := found.keys() - dict(log.columns).keys()):
            message = f"rows for table {log.name} have an unknown column {_listed(unknown)}"
            raise StreamError(message, hint=f"its key is {_listed(only)}")
        own = [field for field in opened.schema if stored_name(field.name) in expected]
        given = {found[name]: str(type_) for name, type_ in expected.items()}
        column_types(replace(opened, schema=pa.schema(own)), given)
        for chunk in opened.chunks:
            columns, drift = folded(chunk.rows, pa.schema([pa.field(found[name], pa.null()) for name in expected]))
            chosen = Chunk(columns, chunk.lines, chunk.quarantined, drift)
            chosen = without_nan(chosen, expected) if log.nan_is_null else chosen
            rows, lines, quarantined = fit(chosen, expected, log_schema(expected.items()), log.guesses)
            if broken := breaking(rows, log.added):
                quarantined += quarantined_rows(rows, lines, broken)
            if quarantined:
                reason = f"row {quarantined[0].line}: {quarantined[0].reason}"
                raise StreamError(f"table {log.name}, {reason}", hint="nothing was changed")
            values = {**dict(zip(rows.column_names, rows.columns, strict=True)), EVENT: pa.array(lines)}
            values[WEIGHT] = pa.array(np.full(len(lines), weight))
            schema = log.schema.append(MORE_FIELD) if only is None else log.schema
            arrays = [values.get(field.name, pa.nulls(len(lines), field.type)) for field in schema]
            yield pa.Table.from_arrays(arrays, schema=schema), chosen.found


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(display_name, sorted(names)))
