"""Debezium's envelopes as rows: what ``before`` takes back and ``after`` puts there, one after the other.

An envelope says what it does in ``op``: ``c`` (created), ``r`` (read in a snapshot), ``u`` (updated), ``d`` (deleted).
With a key, ``after`` is enough; ``before`` is asked only for the key that a row had. Some connectors send no more
of it than the key, and some nothing at all. Without a key ``before`` must have the whole row. A value that was not
sent is that of ``before``, or of the current row of the key.
Source: Debezium documentation, "Data change events" of its connectors.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from workbench.arrow.types import Mask
from workbench.errors import StreamError
from workbench.sql.algebra.column_names import stored_name
from workbench.streams.corrections.declared import DEBEZIUM_CHANGE, DEBEZIUM_UNSENT, Corrections
from workbench.streams.corrections.unsent import stated_unsent, unsent
from workbench.streams.source import Chunk, OpenedSource, QuarantinedRow

_TEXT = "op {}, before {}, after {}"
_CONTROL = (pa.field(DEBEZIUM_CHANGE, pa.int64()), pa.field(DEBEZIUM_UNSENT, pa.string()))


def unfold_envelopes(source: OpenedSource, corrections: Corrections) -> OpenedSource:
    """The rows in the envelopes of a source, each with what its envelope says of it in two more columns.

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
    return OpenedSource(pa.schema([*row, *_CONTROL]), _unfolded(source.chunks, pa.schema(list(row)), corrections))


def _unfolded(chunks: Iterator[Chunk], row: pa.Schema, corrections: Corrections) -> Iterator[Chunk]:
    key = pa.schema([field for field in row if stored_name(field.name) in corrections.key])
    for chunk in chunks:
        envelopes = chunk.rows
        if "payload" in envelopes.schema.names:
            envelopes = pa.RecordBatch.from_struct_array(envelopes.column("payload"))
        op, before, after = (_member(envelopes, name) for name in ("op", "before", "after"))
        olds, news = (_columns(rows, row) for rows in (before, after))
        news = [*map(_kept, olds, news)]
        both = [pa.concat_arrays(two) for two in zip(olds, news, strict=True)]
        missing = [*map(unsent, both)]
        takes, puts, reasons = _steps(op, before, after, key, np.any(missing, axis=0).reshape(2, -1))
        quarantined = [
            QuarantinedRow(int(chunk.lines[at]), _TEXT.format(*(part[at].as_py() for part in (op, before, after))), why)
            for at, why in sorted(reasons.items())
        ]
        # What an envelope takes back stands before what it puts there.
        places = np.sort(np.concatenate([2 * np.flatnonzero(takes), 2 * np.flatnonzero(puts) + 1]))
        at, is_put = places // 2, places % 2
        picked = at + is_put * len(op)
        missing = [mask[picked] for mask in missing]
        columns = [_nulled(column.take(pa.array(picked)), mask) for column, mask in zip(both, missing, strict=True)]
        control = [pa.array(2 * is_put - 1), stated_unsent(row, missing)]
        unfolded = pa.RecordBatch.from_arrays([*columns, *control], schema=pa.schema([*row, *_CONTROL]))
        yield Chunk(unfolded, chunk.lines[at], (*chunk.quarantined, *quarantined))


def _member(envelopes: pa.RecordBatch, name: str) -> pa.Array:
    """A member of the envelopes; NULL where a row has no such member, or is no envelope."""
    member = envelopes.column(name) if name in envelopes.schema.names else pa.nulls(len(envelopes))
    return member if name == "op" or pa.types.is_struct(member.type) else pa.nulls(len(envelopes), pa.struct([]))


def _columns(rows: pa.StructArray, schema: pa.Schema) -> list[pa.Array]:
    """The columns of a schema; NULL where there is none."""
    own = {field.name: place for place, field in enumerate(rows.type)}
    return [
        pc.struct_field(rows, [own[f.name]]).cast(f.type) if f.name in own else pa.nulls(len(rows), f.type)
        for f in schema
    ]


def _kept(old: pa.Array, new: pa.Array) -> pa.Array:
    """The values after changes, where those that were not sent are what they were before, if that was sent."""
    known = unsent(new) & _mask(old.is_valid()) & ~unsent(old)
    return pc.if_else(pa.array(known), old, new) if known.any() else new


def _nulled(values: pa.Array, where: Mask) -> pa.Array:
    return pc.if_else(pa.array(where), pa.scalar(None, values.type), values) if where.any() else values


def _steps(
    op: pa.Array, before: pa.Array, after: pa.Array, key: pa.Schema, missing: Mask
) -> tuple[Mask, Mask, dict[int, str]]:
    """Which envelopes take a row back, which put one there; and why some cannot be followed, by their places.

    Args:
        op: of the envelopes.
        before: their rows before.
        after: their rows after.
        key: the columns of the key.
        missing: which of the rows before, and of those after, have a value that was not sent.
    """
    letters, has_before, has_after = op.cast(pa.string()), _mask(before.is_valid()), _mask(after.is_valid())
    takes, puts = _mask(pc.is_in(letters, pa.array(["u", "d"]))), _mask(pc.is_in(letters, pa.array(["c", "r", "u"])))
    by_before = takes if not key.names else _mask(pc.is_in(letters, pa.array(["d"])))
    # The tombstone that follows a deletion is for the broker.
    tombstones = _mask(letters.is_null()) & ~has_before & ~has_after
    incomplete = (takes & missing[0]) | (puts & missing[1]) if not key.names else np.zeros(len(op), np.bool_)
    reasons: dict[int, str] = {}
    for where, reason in (
        (puts & ~has_after, "op is {}, and there is no after"),
        (by_before & ~has_before, "op is {}, and there is no before that says which row is meant"),
        (incomplete, "op is {}, and a value was not sent, which a key is needed to find: key=['id']"),
        (~(takes | puts | tombstones), "op is {!r}, and is followed where it is c, r, u or d"),
    ):
        reasons |= {at: reason.format(op[at].as_py()) for at in np.flatnonzero(where).tolist()}
    followed = np.ones(len(op), bool)
    followed[[*reasons]] = False
    keys = ([*zip(*(column.to_pylist() for column in _columns(rows, key)), strict=True)] for rows in (before, after))
    has_other_key = np.array([old != new for old, new in zip(*keys, strict=True)] if key.names else by_before, bool)
    return takes & has_before & (by_before | has_other_key) & followed, puts & followed, reasons


def _mask(values: pa.Array) -> Mask:
    return np.asarray(values.to_numpy(zero_copy_only=False))
