"""Debezium's envelopes as rows: what ``before`` takes back and ``after`` puts there, one after the other.

An envelope says what it does in ``op``: ``c`` (created), ``r`` (read in a snapshot), ``u`` (updated), ``d`` (deleted),
``t`` (the table was truncated).
With a key, ``after`` is enough; ``before`` is asked only for the key that a row had. Some connectors send no more
of it than the key, and some nothing at all. Without a key ``before`` must have the whole row. A value that was not
sent is that of ``before``, or of the current row of the key.
Flattened envelopes (``ExtractNewRecordState``) are rows, of which ``__deleted`` or ``__op`` may say that they go.
Source: Debezium documentation, "Data change events" of its connectors, and "New Record State Extraction".
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from workbench.arrow.types import Mask
from workbench.errors import StreamError
from workbench.sql.algebra.column_names import stored_name
from workbench.sql.algebra.types import DataType, Kind
from workbench.streams.convert import cast_each
from workbench.streams.corrections.declared import (
    DEBEZIUM_CHANGE,
    DEBEZIUM_UNSENT,
    TAKES_IF_THERE,
    TRANSACTION,
    TRUNCATES,
    Changes,
    Corrections,
)
from workbench.streams.corrections.unsent import stated_unsent, unsent
from workbench.streams.drift import Differences, members_of, more_text
from workbench.streams.files.connect_schema import SCHEMA_PART, ConnectType, DeclaredType, connect_types
from workbench.streams.files.envelopes import FLAT_MARKS, MEMBERS, TRANSACTION_BLOCK, are_rows
from workbench.streams.files.json_values import MORE, MORE_FIELD, is_as_text
from workbench.streams.files.undeclared import notes_of
from workbench.streams.source import Chunk, OpenedSource, QuarantinedRow

Types = Mapping[str, ConnectType | DeclaredType]
_AFTER = re.compile(r"^(?:payload\.)?after\.(?=.)")
_TEXT = "op {}, before {}, after {}"
_CONTROL = (
    pa.field(DEBEZIUM_CHANGE, pa.int64()),
    pa.field(DEBEZIUM_UNSENT, pa.string()),
    pa.field(TRANSACTION, pa.string()),
)


def unfold(
    source: OpenedSource,
    corrections: Corrections | None,
    declared: Mapping[str, DataType] | None = None,
    columns: Collection[str] = (),
    forms: dict[str, str] | None = None,
) -> OpenedSource:
    """The rows in the envelopes of a source, each with two more columns from its envelope.

    A source without envelopes is returned as it is, unless its corrections are Debezium's.

    Args:
        source: maybe of envelopes.
        corrections: of the stream.
        declared: types of columns, by their stored names, which say what values are where no schema part does.
        columns: stored names that are the stream's own, also if flattened envelopes mean something by them.
        forms: how decimals of columns are written that are declared, by their names; what is found out is added.

    Raises:
        StreamError: the source has neither envelopes nor flattened ones, or no key says which row these mean.
    """
    if corrections is None or corrections.changes not in (Changes.DEBEZIUM, Changes.UPSERT):
        return source
    forms = {} if forms is None else forms
    marks = [name for name in source.schema.names if name in FLAT_MARKS and stored_name(name) not in columns]
    if corrections.changes is Changes.UPSERT:
        is_flat = FLAT_MARKS[0] in marks or are_rows(source.schema)
        return _unfold_flat(source, corrections, marks, declared or {}, forms) if is_flat else source
    names = {*source.schema.names}
    if (marks or are_rows(source.schema)) and not ("op" in names and names & {"before", "after"}):
        if not corrections.key:
            hint = "key=['id'] names the columns that say which row is meant"
            raise StreamError("flattened rows of Debezium need a key", hint=hint)
        return _unfold_flat(source, corrections, marks, declared or {}, forms)
    return _unfold_envelopes(source, corrections, declared or {}, forms)


def _unfold_flat(
    source: OpenedSource,
    corrections: Corrections,
    marks: Collection[str],
    declared: Mapping[str, DataType],
    forms: dict[str, str],
) -> OpenedSource:
    """The rows of flattened envelopes, without their marks."""
    others = (*marks, MEMBERS, *["schema"] * (_part(source.schema) is not None))
    row = pa.schema([field for field in source.schema if field.name not in others])
    types = _types(source.schema, row, declared, forms)
    key = [name for name in row.names if stored_name(name) in corrections.key]
    schema = pa.schema([*_meant(row, types), *_CONTROL])

    def unfolded() -> Iterator[Chunk]:
        for chunk in source.chunks:
            weights, read = np.ones(chunk.rows.num_rows, np.int64), np.ones(chunk.rows.num_rows, np.bool_)
            if MEMBERS in chunk.rows.schema.names:
                if FLAT_MARKS[0] in marks:  # a tombstone that does not say its key follows a deletion
                    read = (chunk.rows.column(MEMBERS).to_numpy() > 0) | _mask(chunk.rows.column(key[0]).is_valid())
                tombstones = chunk.rows.column(MEMBERS).to_numpy() <= len(corrections.key)
                # Where deletions are marked, the tombstone after one is for the broker, unless it has taken the other.
                weights[tombstones] = TAKES_IF_THERE if FLAT_MARKS[0] in marks else -1
            for name in marks:
                said = pc.utf8_lower(chunk.rows.column(name).cast(pa.string()))
                weights[_mask(pc.is_in(said, pa.array(["true", "d"])))] = -1
                weights[_mask(pc.equal(said, "t").fill_null(False))] = TRUNCATES
            columns = [chunk.rows.column(name) for name in row.names]
            missing, unsure = [*map(unsent, columns)], dict[int, str]()
            columns = [*map(_nulled, columns, missing)]
            if types:
                named = dict(zip(row.names, columns, strict=True))
                columns = _decoded(named, types, _parts(chunk.rows), unsure)
            columns += [pa.array(weights), stated_unsent(row, missing), pa.nulls(len(weights), pa.string())]
            more = [chunk.rows.column(MORE)] if MORE in chunk.rows.schema.names else []
            texts = chunk.rows.take(pa.array([*unsure], pa.int64())).to_pylist()
            wrong = zip(chunk.lines[[*unsure]].tolist(), map(str, texts), unsure.values(), strict=True)
            own = schema.append(MORE_FIELD) if more else schema
            rows = pa.RecordBatch.from_arrays([*columns, *more], schema=own)
            read[[*unsure]] = False
            quarantined = (*chunk.quarantined, *itertools.starmap(QuarantinedRow, wrong))
            yield Chunk(rows.filter(pa.array(read)), chunk.lines[read], quarantined, chunk.found)

    inferred = {name: guess for name, guess in source.inferred.items() if name not in types}
    return OpenedSource(schema, unfolded(), inferred, (*source.notes, *notes_of(row)))


def _part(schema: pa.Schema) -> bytes | None:
    """The schema part that the first records have."""
    return (schema.field("schema").metadata or {}).get(SCHEMA_PART) if "schema" in schema.names else None


def _parts(rows: pa.RecordBatch) -> pa.Array:
    """The schema part of each record; NULL where there is none."""
    has_parts = "schema" in rows.schema.names and pa.types.is_string(rows.column("schema").type)
    return rows.column("schema") if has_parts else pa.nulls(len(rows), pa.string())


def _types(
    schema: pa.Schema, row: Iterable[pa.Field], declared: Mapping[str, DataType], forms: dict[str, str]
) -> Types:
    """The types of columns, whose values in JSON stand for others, as the schema part says it, or who declares them."""
    part = _part(schema)
    said = connect_types(json.loads(part)) if part else {}
    found = {field.name: declared.get(stored_name(field.name)) for field in row if is_as_text(field)}
    of_kinds = {name: type_ for name, type_ in found.items() if type_ and type_.kind in (Kind.DECIMAL, Kind.DATE)}
    own = {name: DeclaredType(type_, name, forms) for name, type_ in of_kinds.items() if name not in said}
    return {**own, **_types_said(part)}


def _unfold_envelopes(
    source: OpenedSource, corrections: Corrections, declared: Mapping[str, DataType], forms: dict[str, str]
) -> OpenedSource:
    schema = source.schema
    if "payload" in schema.names and pa.types.is_struct(schema.field("payload").type):
        schema = pa.schema(list(schema.field("payload").type))
    parts = [schema.field(name).type for name in ("after", "before") if name in schema.names]
    row = next((part for part in parts if pa.types.is_struct(part)), None)
    if row is None or "op" not in schema.names:
        message = f"the source has no Debezium envelopes: its columns are {', '.join(source.schema.names)}"
        hint = "an envelope has op, before and after; rows alone are changes='upsert'"
        if "op" in schema.names and parts:
            hint = "before and after must be rows; MongoDB's are texts, of which ExtractNewDocumentState makes rows"
        raise StreamError(message, hint=hint)
    types = _types(source.schema, row, declared, forms)
    unfolded = _unfolded(source.chunks, pa.schema(list(row)), types, corrections)
    return OpenedSource(pa.schema([*_meant(row, types), *_CONTROL]), unfolded, notes=(*source.notes, *notes_of(row)))


def _types_said(part: str | bytes | None) -> dict[str, ConnectType | DeclaredType]:
    """The types of columns that the schema part of an envelope says, where their values in JSON stand for others."""
    types = connect_types(json.loads(part)) if part else {}
    return {name: type_ for name, type_ in types.items() if type_.type is not None}


def _meant(row: Iterable[pa.Field], types: Types) -> list[pa.Field]:
    return [pa.field(field.name, types[field.name].type) if field.name in types else field for field in row]


def _decoded(columns: dict[str, pa.Array], types: Types, parts: pa.Array, unsure: dict[int, str]) -> list[pa.Array]:
    """The columns with decoded values; the schema part of each envelope counts.

    Args:
        columns: of rows, as they stand in JSON.
        types: of some columns.
        parts: the schema part of each row, or NULL where ``types`` says it.
        unsure: gets why values stand for nothing, by the places of their rows.
    """
    texts = parts.dictionary_encode("encode")
    groups = [
        (_types_said(text), texts.indices.to_numpy() == at) for at, text in enumerate(texts.dictionary.to_pylist())
    ]
    for name, type_ in types.items():
        if name not in columns or not pa.types.is_string(columns[name].type):
            continue
        found = pa.nulls(len(columns[name]), type_.type)
        for said, where in groups:
            own = said.get(name, type_)
            values, misfit = own.decoded(columns[name].filter(pa.array(where)))
            fitting, lost = cast_each(values, partial(pc.cast, target_type=type_.type))
            misfit = misfit if lost is None else misfit | lost
            found = pc.replace_with_mask(found, pa.array(where), fitting)
            bad = np.flatnonzero(where)[misfit].tolist()
            unsure |= {at: f"{name}: {columns[name][at].as_py()!r:.60} is no {own.name}" for at in bad}
        columns[name] = found
    return [*columns.values()]


def _unfolded(chunks: Iterator[Chunk], row: pa.Schema, types: Types, corrections: Corrections) -> Iterator[Chunk]:
    key = pa.schema([field for field in row if stored_name(field.name) in corrections.key])
    for chunk in chunks:
        envelopes, parts = chunk.rows, None
        if types:
            parts = _parts(envelopes)
        if "payload" in envelopes.schema.names:
            envelopes = pa.RecordBatch.from_struct_array(envelopes.column("payload"))
        op, before, after = (_member(envelopes, name) for name in ("op", "before", "after"))
        olds, news = (_columns(rows, row) for rows in (before, after))
        news = [*map(_kept, olds, news)]
        both = [pa.concat_arrays(two) for two in zip(olds, news, strict=True)]
        missing = [*map(unsent, both)]
        takes, puts, reasons = _steps(op, before, after, key, np.any(missing, axis=0).reshape(2, -1))
        if parts is not None:
            as_they_stand, unsure = dict(zip(row.names, map(_nulled, both, missing), strict=True)), dict[int, str]()
            both = _decoded(as_they_stand, types, pa.concat_arrays([parts, parts]), unsure)
            for place, why in unsure.items():
                is_after, envelope = divmod(place, len(op))
                if (puts if is_after else takes)[envelope]:
                    reasons[envelope] = why
            takes[[*reasons]] = puts[[*reasons]] = False
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
        weights = np.where(_mask(pc.equal(op.cast(pa.string()), "t").fill_null(False))[at], TRUNCATES, 2 * is_put - 1)
        control = [pa.array(weights), stated_unsent(row, missing), _transactions(envelopes).take(pa.array(at))]
        schema = pa.schema([*_meant(row, types), *_CONTROL])
        if (more := _more_of_rows(chunk.rows)) is not None:
            columns, control = [*columns, *control], [more.take(pa.array(picked))]
            schema = schema.append(MORE_FIELD)
        unfolded = pa.RecordBatch.from_arrays([*columns, *control], schema=schema)
        yield Chunk(unfolded, chunk.lines[at], (*chunk.quarantined, *quarantined), _of_rows(chunk.found))


def _transactions(envelopes: pa.RecordBatch) -> pa.Array:
    """The ids of the transactions that envelopes tell."""
    if TRANSACTION_BLOCK in envelopes.schema.names and pa.types.is_string(
        (ids := envelopes.column(TRANSACTION_BLOCK)).type
    ):
        return ids
    return pa.nulls(len(envelopes), pa.string())


def _more_of_rows(envelopes: pa.RecordBatch) -> pa.Array | None:
    """The members that are no columns of the rows before, and then of those after; what else is new says nothing."""
    if MORE not in envelopes.schema.names:
        return None
    more = [members_of(text or "{}") for text in envelopes.column(MORE).to_pylist()]
    parts = [members.get("payload", members) for members in more]
    return pa.array([more_text(part.get(side) or {}) for side in ("before", "after") for part in parts], pa.string())


def _of_rows(found: Differences) -> Differences:
    """What is found in the rows after changes: the names without the path to them."""
    new = {_AFTER.sub("", name): type_ for name, type_ in found.new.items() if _AFTER.match(name)}
    gone = {_AFTER.sub("", name): rows for name, rows in found.gone.items() if _AFTER.match(name)}
    return Differences(new, gone, found.tabular)


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
    truncates = _mask(pc.equal(letters, "t").fill_null(False))
    # The tombstone that follows a deletion is for the broker; heartbeats and the like are read as empty envelopes.
    tombstones = _mask(letters.is_null()) & ~has_before & ~has_after
    incomplete = (takes & missing[0]) | (puts & missing[1]) if not key.names else np.zeros(len(op), np.bool_)
    reasons: dict[int, str] = {}
    for where, reason in (
        (puts & ~has_after, "op is {}, and there is no after"),
        (by_before & ~has_before, "op is {}, and there is no before that says which row is meant"),
        (incomplete, "op is {}, and a value was not sent, which a key is needed to find: key=['id']"),
        (~(takes | puts | truncates | tombstones), "op is {!r}, and is followed where it is c, r, u, d or t"),
    ):
        reasons |= {at: reason.format(op[at].as_py()) for at in np.flatnonzero(where).tolist()}
    followed = np.ones(len(op), bool)
    followed[[*reasons]] = False
    keys = ([*zip(*(column.to_pylist() for column in _columns(rows, key)), strict=True)] for rows in (before, after))
    # Where before has the columns of another index, it does not say a key.
    others = [old != new and None not in old for old, new in zip(*keys, strict=True)]
    has_other_key = np.array(others if key.names else by_before, bool)
    taken_back = takes & has_before & (by_before | has_other_key)
    return (taken_back | truncates) & followed, puts & followed, reasons


def _mask(values: pa.Array) -> Mask:
    return np.asarray(values.to_numpy(zero_copy_only=False))
