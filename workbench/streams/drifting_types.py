"""Columns whose type differs in a later part of a source: values that mean the same are accepted.

A wider or narrower number is the same where no digit is lost, a date is a time at midnight, and the fields of a struct
may be in another order, or lack. Any other value breaks the type of its column: its row is quarantined, and the reason
says how to declare the column.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from workbench.arrow.compatible import cast_compatible, is_compatible
from workbench.arrow.types import Mask, to_data_type
from workbench.errors import StreamError, shown
from workbench.sql.algebra.column_names import display_name
from workbench.streams.convert import cast_each, is_numeric
from workbench.streams.corrections.declared import DEBEZIUM_CHANGE
from workbench.streams.declared_times import declaration
from workbench.streams.drift import members_of, record_text, shown_type
from workbench.streams.files.json_values import MORE, MORE_FIELD, is_as_text, text_of
from workbench.streams.guessing import Guess, read
from workbench.streams.source import Chunk, QuarantinedRow


def fitted(
    rows: pa.RecordBatch, lines: NDArray[np.int64], schema: pa.Schema
) -> tuple[pa.RecordBatch, list[QuarantinedRow]]:
    """Rows with the types of a schema, and those that have a value which is none of its column's.

    Args:
        rows: with some of the columns, and maybe ``MORE``; a column that they lack is NULL.
        lines: of each its line.
        schema: the columns.

    Example:
        >>> schema = pa.schema([("fee", pa.int64())])
        >>> rows, misfits = fitted(pa.RecordBatch.from_pydict({"fee": [1.0, 2.5]}), np.array([7, 8]), schema)
        >>> rows.to_pydict(), misfits[0].line, misfits[0].reason
        ({'fee': [1]}, 8, 'fee: 2.5 is no integer; --type fee=double keeps it where the stream is added')
    """
    columns, reasons = list[pa.Array](), dict[int, str]()
    for field in schema:
        if field.name not in rows.schema.names:
            columns.append(pa.nulls(rows.num_rows, field.type))
            continue
        given = rows.column(field.name)
        values, misfit = same_values(given, field)
        columns.append(values)
        for place in np.flatnonzero(misfit).tolist() if misfit is not None else ():
            reasons.setdefault(place, _reason(field, given[place].as_py(), given.type))
    if MORE in rows.schema.names:
        columns.append(rows.column(MORE))
        schema = schema.append(MORE_FIELD)
    fitting = pa.RecordBatch.from_arrays(columns, schema=schema)
    if not reasons:
        return fitting, []
    good = np.ones(rows.num_rows, np.bool_)
    good[[*reasons]] = False
    before = np.cumsum(good)
    misfits = [
        QuarantinedRow(int(lines[at]), str(row), why, record=record_of(row), number=int(before[at]))
        for row, (at, why) in zip(rows.take(pa.array([*reasons])).to_pylist(), reasons.items(), strict=True)
    ]
    return fitting.filter(pa.array(good)), sorted(misfits, key=lambda entry: entry.line)


def record_of(row: dict[str, Any]) -> str | None:
    """A row as a record whose members are its columns, and those that are no columns."""
    more = members_of(row.pop(MORE, None) or "{}")
    return record_text(more | {display_name(name): value for name, value in row.items()})


def with_records(entries: Iterable[QuarantinedRow], chunk: Chunk) -> list[QuarantinedRow]:
    """Quarantined rows of a chunk with their records; each is itself the last row before it.

    Rows of envelopes have none: what the envelope says is not among their columns.
    """
    found, lines = [*entries], chunk.lines
    if not found or DEBEZIUM_CHANGE in map(display_name, chunk.rows.schema.names):
        return found
    at = np.searchsorted(lines, [entry.line for entry in found])
    is_there = [place < len(lines) and lines[place] == one.line for place, one in zip(at.tolist(), found, strict=True)]
    try:
        rows = iter(chunk.rows.take(pa.array(at[is_there])).to_pylist())
    except Exception:  # Python has not all that Arrow has
        return found
    return [
        replace(entry, record=record_of(next(rows)), number=entry.line) if there and entry.record is None else entry
        for entry, there in zip(found, is_there, strict=True)
    ]


def same_values(values: pa.Array, field: pa.Field) -> tuple[pa.Array, Mask | None]:
    """Convert values to a column's type, and say which have no equal value in it (``None``: all have).

    A column whose first values say no type has all values, as texts.
    """
    is_, found, wanted = pa.types, values.type, field.type
    if is_.is_dictionary(found):
        return same_values(values.dictionary_decode(), field)
    if is_compatible(found, wanted):
        try:
            return cast_compatible(values, wanted), None
        except pa.ArrowInvalid:  # an integer beyond a double, a decimal with more digits
            return cast_each(values, lambda part: cast_compatible(part, wanted))
    if is_as_text(field):
        return pa.array([_text(value) for value in values.to_pylist()], pa.string()), None
    if is_numeric(found) and is_numeric(wanted):
        fitting, misfit = read(values.cast(pa.string()), Guess("", to_data_type(wanted), ""))
        return fitting.cast(wanted), misfit
    if is_.is_date(found) and is_.is_timestamp(wanted):
        return values.cast(wanted), None
    if is_.is_timestamp(found) and is_.is_timestamp(wanted) and (found.tz is None) == (wanted.tz is None):
        return cast_each(values, lambda part: part.cast(wanted))
    if is_.is_struct(found) and is_.is_struct(wanted):
        return _same_structs(values, wanted)
    if is_.is_list(found) and is_.is_list(wanted):
        return _same_lists(values, wanted)
    return pa.nulls(len(values), wanted), np.asarray(values.is_valid())


def common_field(fields: Sequence[pa.Field]) -> pa.Field:
    """The column of several files or tables, of the type that has all of their values, or else that of the first."""
    some = [field.with_nullable(True).remove_metadata() for field in fields if not pa.types.is_null(field.type)]
    if len({field.type for field in some}) < 2:
        return next(iter(some), fields[0])
    try:
        return pa.unify_schemas([pa.schema([field]) for field in some], promote_options="permissive").field(0)
    except pa.ArrowException:
        return some[0]


def _same_structs(values: pa.StructArray, wanted: pa.StructType) -> tuple[pa.Array, Mask | None]:
    """Structs by the names of their fields; one without a field has NULL there."""
    names, masks, fields = [field.name for field in values.type], list[Mask](), list[pa.Array]()
    for field in wanted:
        inner, misfit = (
            same_values(pc.struct_field(values, field.name), field)
            if field.name in names
            else (pa.nulls(len(values), field.type), None)
        )
        fields.append(inner)
        masks += [misfit] if misfit is not None else []
    fitting = pa.StructArray.from_arrays(fields, fields=list(wanted), mask=values.is_null())
    return fitting, np.logical_or.reduce(masks) if masks else None


def _same_lists(values: pa.ListArray, wanted: pa.ListType) -> tuple[pa.Array, Mask | None]:
    lengths = np.asarray(pc.list_value_length(values).fill_null(0))
    elements, misfit = same_values(values.flatten(), wanted.value_field)
    ends = pa.array(np.concatenate([[0], np.cumsum(lengths)]), pa.int32())
    fitting = pa.ListArray.from_arrays(ends, elements, mask=values.is_null()).cast(wanted)
    rows = np.repeat(np.arange(len(values)), lengths)
    return fitting, None if misfit is None else np.isin(np.arange(len(values)), rows[misfit])


def _text(value: object) -> str | None:
    return b64encode(value).decode() if isinstance(value, bytes) else text_of(value)


def _reason(field: pa.Field, value: object, found: pa.DataType) -> str:
    try:
        wanted = str(to_data_type(field.type))
    except StreamError:
        wanted = str(field.type)
    return f"{field.name}: {shown(value)} is no {wanted}; {widening(field.name, shown_type(found))}"


def widening(column: str, type_: str) -> str:
    """How a value that breaks the type of its column can be kept."""
    return f"{declaration(column, type_)} keeps it where the stream is added"
