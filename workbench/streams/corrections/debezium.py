"""Debezium's envelopes as rows: what ``before`` takes back and ``after`` puts there, one after the other.

An envelope says what it does in ``op``: ``c`` (created), ``r`` (read in a snapshot), ``u`` (updated), ``d`` (deleted).
With a key, ``after`` is enough; ``before`` is asked only for the key that a row had. Some connectors send no more
of it than the key, and some nothing at all. Without a key ``before`` must have the whole row.
Source: Debezium documentation, "Data change events" of its connectors.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from workbench.errors import StreamError
from workbench.sql.algebra.column_names import stored_name
from workbench.streams.corrections.declared import Corrections
from workbench.streams.source import Chunk, OpenedSource, QuarantinedRow

CHANGE = "_debezium_change"
_PUTS, _TAKES = frozenset("cru"), frozenset("ud")


def unfold_envelopes(source: OpenedSource, corrections: Corrections) -> OpenedSource:
    """The rows in the envelopes of a source, each with the column ``_debezium_change``: 1 or -1.

    Raises:
        StreamError: the source has no envelopes.
    """
    schema = source.schema
    if "payload" in schema.names and pa.types.is_struct(schema.field("payload").type):
        schema = pa.schema(list(schema.field("payload").type))
    parts = [schema.field(name).type for name in ("after", "before") if name in schema.names]
    row = next((part for part in parts if pa.types.is_struct(part)), None)
    if row is None or "op" not in schema.names:
        message = f"the source has no Debezium envelopes: its columns are {', '.join(source.schema.names)}"
        raise StreamError(message, hint="an envelope has op, before and after; rows alone are changes='upsert'")
    fields = [*row, pa.field(CHANGE, pa.int64())]
    return OpenedSource(pa.schema(fields), _unfolded(source.chunks, pa.schema(list(row)), corrections))


def _unfolded(chunks: Iterator[Chunk], row: pa.Schema, corrections: Corrections) -> Iterator[Chunk]:
    for chunk in chunks:
        envelopes = chunk.rows
        if "payload" in envelopes.schema.names:
            envelopes = pa.RecordBatch.from_struct_array(envelopes.column("payload"))
        rows, changes, lines = list[dict[str, object]](), list[int](), list[int]()
        quarantined = list(chunk.quarantined)
        names = envelopes.schema.names
        parts = [envelopes.column(n).to_pylist() if n in names else [None] * len(envelopes) for n in _MEMBERS]
        for line, op, before, after in zip(chunk.lines.tolist(), *parts, strict=True):
            steps = _steps(op, before, after, corrections)
            if isinstance(steps, str):
                quarantined.append(QuarantinedRow(line, f"op {op}, before {before}, after {after}", steps))
                continue
            for change, values in steps:
                rows.append(values)
                changes.append(change)
                lines.append(line)
        columns = [pa.array([values.get(field.name) for values in rows], field.type) for field in row]
        schema = row.append(pa.field(CHANGE, pa.int64()))
        unfolded = pa.RecordBatch.from_arrays([*columns, pa.array(changes, pa.int64())], schema=schema)
        yield Chunk(unfolded, np.array(lines, dtype=np.int64), tuple(quarantined))


_MEMBERS = ("op", "before", "after")
_Row = dict[str, object]


def _steps(
    op: str | None, before: _Row | None, after: _Row | None, corrections: Corrections
) -> list[tuple[int, _Row]] | str:
    """The rows that an envelope takes back and puts there; or why it cannot be followed."""
    if op is None and before is None and after is None:
        return []  # the tombstone that follows a deletion, for the broker
    if op not in _PUTS | _TAKES:
        return f"op is {op!r}, and is followed where it is c, r, u or d"
    steps: list[tuple[int, _Row]] = []
    if op in _TAKES:
        if before is None and (op == "d" or not corrections.key):
            return f"op is {op}, and there is no before that says which row is meant"
        if before is not None and (
            op == "d" or not corrections.key or _key(before, corrections) != _key(after, corrections)
        ):
            steps.append((-1, before))
    if op in _PUTS:
        if after is None:
            return f"op is {op}, and there is no after"
        steps.append((1, after))
    return steps


def _key(row: _Row | None, corrections: Corrections) -> list[object]:
    values = {stored_name(name): value for name, value in (row or {}).items()}
    return [values.get(name) for name in corrections.key]
