"""Records of Debezium as envelopes: ``op``, ``before`` and ``after``, whatever else a connector or converter adds.

Kafka Connect's JSON converter puts the schema beside the ``payload``, the CloudEvents converter both into ``data``, and
the operation beside it. Members such as ``source`` and ``ts_ms`` say nothing of a row, so new ones of them change
nothing; of ``transaction`` its id is read. Records that are no changes of rows are *empty envelopes*: tombstones,
heartbeats, transaction metadata, schema changes, notifications, and logical messages of PostgreSQL.
Source: Debezium documentation, "Data change events" of its connectors, "Transaction metadata", "Schema change topic",
"Notifications", and "Exporting CloudEvents".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pyarrow as pa

ENVELOPES = "_record_envelopes"
"""A declaration that asks readers of records for envelopes alone, or for the rows of flattened ones."""
FLAT_MARKS = ("__deleted", "__op")
"""Members by which ``ExtractNewRecordState`` says what happened to a row that it has taken out of its envelope."""

TRANSACTION_BLOCK = "transaction"
"""The member of an envelope that says in which transaction it is, and the column of its id."""
MEMBERS = "_record_members"
"""A column of the number of members that a record has, which a declaration asks for: one that has no other member than
those of its key is a tombstone, and one that has NULL there is none."""

_ENVELOPES, _ROWS = b"envelopes", b"rows"
_TIMES = {"ts_ms", "ts_us", "ts_ns"}
_CLOUD_OP = "iodebeziumop"
_SCHEMA_CHANGE = {"ddl", "tableChanges"}
_NOTIFICATION = {"aggregate_type", "type", "id"}
_MESSAGE = "m"


def debezium_schema(schema: pa.Schema, envelopes: bool) -> pa.Schema:
    """The columns of envelopes, or of the rows that converters put into a ``payload``; else those of the records.

    Args:
        schema: as the first records suggest it.
        envelopes: whether envelopes are asked for.
    """
    found = envelope_schema(schema) if envelopes else None
    return found or _row_schema(schema) or schema


def are_envelopes(schema: pa.Schema) -> bool:
    """Whether records are read as envelopes of this schema."""
    return _read(schema) == _ENVELOPES


def are_rows(schema: pa.Schema) -> bool:
    """Whether records contain rows of this schema in their payloads."""
    return _read(schema) == _ROWS


def member_of(record: Mapping[str, Any], schema: pa.Schema) -> Mapping[str, Any] | str:
    """The part of a record that is read: the record itself, its envelope, or its row; or why it has none."""
    if are_envelopes(schema):
        return envelope_of(record, schema.names)
    if not are_rows(schema):
        return record
    row = record.get("payload")
    if row is not None and not isinstance(row, Mapping):
        return "its payload is no row"
    own = {name: value for name, value in record.items() if name != "payload"}
    return {**own, **(row or {}), MEMBERS: record.get(MEMBERS, len(row or ()))}


def _read(schema: pa.Schema) -> bytes | None:
    return (schema.metadata or {}).get(b"read")


def _row_schema(schema: pa.Schema) -> pa.Schema | None:
    """The columns of rows in payloads with schema parts."""
    own = {field.name: field for field in schema}
    if not {"schema", "payload"} <= own.keys() or not own["schema"].metadata:
        return None
    payload = own.pop("payload").type
    row = {field.name: field for field in payload} if pa.types.is_struct(payload) else {}
    return pa.schema([*{**own, **row}.values()], metadata={**(schema.metadata or {}), b"read": _ROWS}) if row else None


def envelope_schema(schema: pa.Schema) -> pa.Schema | None:
    """The columns of envelopes, both of whose rows have all members; ``None``: the records are no envelopes.

    Args:
        schema: as the first records suggest it.

    Example:
        >>> row = pa.struct([("id", pa.int64())])
        >>> found = envelope_schema(pa.schema([("op", pa.string()), ("after", row), ("ts_ms", pa.int64())]))
        >>> found.names, found.field("before").type.names
        (['op', 'before', 'after'], ['id'])
    """
    levels = [*_levels(schema)]
    if not any(name in level for level in levels for name in ("op", _CLOUD_OP)):
        return None
    rows = [level[name].type for level in levels for name in ("after", "before") if name in level]
    members = {field.name: field for row in reversed(rows) if pa.types.is_struct(row) for field in row}
    if not members:
        return None
    names = dict.fromkeys(field.name for row in rows if pa.types.is_struct(row) for field in row)
    row = pa.struct([members[name] for name in names])
    parts = [level["schema"] for level in levels if "schema" in level and level["schema"].metadata]
    fields = [pa.field("op", pa.string()), pa.field("before", row), pa.field("after", row)]
    fields += [pa.field(TRANSACTION_BLOCK, pa.string())] * any(TRANSACTION_BLOCK in level for level in levels)
    return pa.schema([*parts[:1], *fields], metadata={**(schema.metadata or {}), b"read": _ENVELOPES})


def _levels(schema: pa.Schema) -> Iterator[dict[str, pa.Field]]:
    """The members of records, and of what stands within that may be the envelope."""
    level = {field.name: field for field in schema}
    yield level
    for name in ("payload", "data"):
        if name in level and pa.types.is_struct(level[name].type):
            yield from _levels(pa.schema(list(level[name].type)))


def envelope_of(record: Mapping[str, Any], names: Iterable[str]) -> Mapping[str, Any] | str:
    """The envelope of a record, an empty one where it is no change of a row; or why it is none.

    Args:
        record: as it was read.
        names: of its members, ``op``, ``before``, ``after`` and ``schema``, those that are asked for.

    Example:
        >>> envelope_of({"payload": {"op": "d", "before": {"id": 1}, "ts_ms": 1}, "schema": None}, ["op", "before"])
        {'op': 'd', 'before': {'id': 1}}
        >>> envelope_of({"ts_ms": 1}, ["op"]), envelope_of({"id": 1}, ["op"])
        ({}, 'it is no envelope of Debezium: it has no op, but id')
    """
    inner = record.get("data") if _CLOUD_OP in record else record
    inner = inner if isinstance(inner, Mapping) else {}
    payload = inner.get("payload") if "payload" in inner and "op" not in inner else inner
    op = record.get(_CLOUD_OP) if _CLOUD_OP in record else (payload or {}).get("op")
    if op is None or op == _MESSAGE:
        return {} if op or _says_nothing_of_rows(payload or {}) else _no_envelope(payload)
    assert payload is not None
    found = {**payload, "op": op, "schema": inner.get("schema")}
    found[TRANSACTION_BLOCK] = _transaction_of(payload.get(TRANSACTION_BLOCK))
    return {name: found.get(name) for name in names}


def _transaction_of(block: Any) -> str | None:
    """The id of a transaction; that of PostgreSQL has after a colon the place of the change alone."""
    text = block.get("id") if isinstance(block, Mapping) else None
    number, _, place = str(text).partition(":")
    return None if text is None else number if number.isdigit() and place.isdigit() else str(text)


def _says_nothing_of_rows(payload: Mapping[str, Any]) -> bool:
    members = payload.keys() - {"before", "after"} | {name for name in ("before", "after") if payload.get(name)}
    return (
        members - {"op"} <= _TIMES
        or (payload.get("status") in ("BEGIN", "END") and "id" in members)
        or not members.isdisjoint(_SCHEMA_CHANGE)
        or members >= _NOTIFICATION
    )


def _no_envelope(payload: Any) -> str:
    if "op" in payload:
        return "op is None, and is followed where it is c, r, u, d or t"
    return f"it is no envelope of Debezium: it has no op, but {', '.join(map(str, [*payload][:5]))}"
