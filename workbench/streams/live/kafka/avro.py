"""Avro values by a schema, with fastavro: the schema says what columns and types there are.

What a named type stands for (``connect.name``) counts before what Avro says of it. A value of a union of several types
is a text, as no column has it; NULL with one type is that type. Source: Apache Avro specification, "Logical Types".
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from workbench.errors import StreamError
from workbench.errors.extras import optional_module
from workbench.sql.algebra.types import MAX_PRECISION
from workbench.streams.files.connect_schema import number_of_bytes
from workbench.streams.files.json_values import JsonRecord
from workbench.streams.live.kafka.registry import WIRE_FRAME
from workbench.streams.live.kafka.semantic_types import ReadAs, decimals, moment, of_name, text_in_json, time_of

_PRIMITIVE = {
    "null": pa.string(),
    "boolean": pa.bool_(),
    "int": pa.int64(),
    "long": pa.int64(),
    "float": pa.float64(),
    "double": pa.float64(),
    "string": pa.string(),
    "bytes": pa.binary(),
}
_LOGICAL = {
    "date": ReadAs(pa.date32()),
    "time-millis": ReadAs(pa.string(), lambda time: time_of(time, 1_000)),
    "time-micros": ReadAs(pa.string(), lambda time: time_of(time, 1_000_000)),
    "timestamp-millis": ReadAs(pa.timestamp("us", "UTC")),
    "timestamp-micros": ReadAs(pa.timestamp("us", "UTC")),
    "timestamp-nanos": ReadAs(pa.timestamp("us", "UTC"), lambda ticks: moment(ticks, "ns")),
    "local-timestamp-millis": ReadAs(pa.timestamp("us")),
    "local-timestamp-micros": ReadAs(pa.timestamp("us")),
    "local-timestamp-nanos": ReadAs(pa.timestamp("us"), lambda ticks: moment(ticks, "ns")),
    "uuid": ReadAs(pa.string(), str),
}
_WHOLE = {"int", "long"}


class AvroFormat:
    """Reads values of one schema.

    Args:
        text: of the schema, in JSON.
        references: texts of schemas whose types it names, those first that others name.
        where: it comes from.

    Attributes:
        schema: the columns of its records.

    Raises:
        StreamError: fastavro is not installed, or the schema is invalid.
    """

    def __init__(self, text: str, references: Mapping[str, str] | None = None, where: str = "it") -> None:
        fastavro = optional_module("fastavro", "kafka", "Avro needs fastavro")
        try:
            known: dict[str, Any] = {}
            for other in (references or {}).values():
                fastavro.parse_schema(json.loads(other), known)
            self._parsed = fastavro.parse_schema(json.loads(text), known)
        except (ValueError, KeyError, TypeError, fastavro.schema.SchemaParseException) as error:
            raise StreamError(f"{where} is no Avro schema: {error}", hint="it is a record in JSON") from error
        self._read = fastavro.schemaless_reader
        read = _Types(known).read(self._parsed)
        self._convert = read.convert
        self.schema = pa.schema(list(read.type)) if pa.types.is_struct(read.type) else pa.schema([])

    def value(self, data: bytes) -> Any:
        """The value that is encoded in the bytes.

        Raises:
            ValueError: it was not written with this schema.
        """
        file = io.BytesIO(data)
        try:
            value = self._read(file, self._parsed, None)
        except Exception as error:  # fastavro raises what the bytes lead it to: EOFError, IndexError, struct.error
            raise ValueError(f"it is no Avro of this schema: {type(error).__name__} {error}") from None
        if left := len(file.read()):
            raise ValueError(f"{left} bytes are left after the record: it was written with another schema")
        return value if value is None or self._convert is None else self._convert(value)


class AvroFile:
    """Reads records by a file with a schema.

    Args:
        path: of the schema, a record in JSON (``.avsc``).
        framing: ``"confluent"`` takes off the five bytes that schema registries put before a value, and looks nothing
            up by the number in them; ``None``: there are values alone.

    Attributes:
        schema: the columns.

    Raises:
        StreamError: as ``AvroFormat``, or the file cannot be read.
    """

    def __init__(self, path: Path, framing: str | None) -> None:
        if framing not in (None, "confluent"):
            raise StreamError(f"framing={framing}", hint="framing=confluent, or leave it out")
        try:
            text = path.read_text()
        except (OSError, ValueError) as error:
            raise StreamError(f"{path} is no Avro schema: {error}", hint="it is a record in JSON") from error
        self._format, self._framed = AvroFormat(text, where=str(path)), framing is not None
        self.schema = self._format.schema

    def record(self, data: bytes) -> JsonRecord | str:
        """The record of a value, or why it is rejected."""
        if self._framed and (len(data) < WIRE_FRAME or data[0] != 0):
            return "it does not begin with a zero and the number of a schema (framing=confluent)"
        try:
            record = self._format.value(data[WIRE_FRAME:] if self._framed else data)
        except ValueError as error:
            return str(error)
        return record if isinstance(record, dict) else "it is no record"


class _Types:
    """How values of schemas are read.

    Args:
        known: the named types, by their full names.
    """

    def __init__(self, known: Mapping[str, Any]) -> None:
        self._known, self._within = known, set[str]()

    def read(self, schema: Any) -> ReadAs:
        """How values of a schema are read that fastavro has parsed."""
        match schema:
            case list():
                return self._union([one for one in schema if one != "null"])
            case str() if schema in _PRIMITIVE:
                return ReadAs(_PRIMITIVE[schema])
            case str():
                return self.read(self._known[schema])
            case {"connect.name": str(name)} if (found := of_name(name)) is not None:
                return found
            case {"logicalType": "decimal", "precision": precision}:
                return decimals(precision, schema.get("scale", 0))
            case {"connect.name": "org.apache.kafka.connect.data.Decimal", "connect.parameters": {"scale": scale}}:
                as_said = decimals(MAX_PRECISION, int(scale))
                of_number = as_said.convert or (lambda value: value)
                return ReadAs(as_said.type, lambda digits: of_number(number_of_bytes(digits, int(scale))))
            case {"logicalType": str(logical)} if logical in _LOGICAL:
                return _LOGICAL[logical]
            case {"type": "record", "fields": fields}:
                return self._record(schema, fields)
            case {"type": "array", "items": items}:
                return _list_of(self.read(items))
            case {"type": "map", "values": values}:
                return _map_of(self.read(values))
            case {"type": "enum"}:
                return ReadAs(pa.string())
            case {"type": "fixed"}:
                return ReadAs(pa.binary())
            case Mapping():
                return self.read(schema["type"])
        return ReadAs(pa.string(), text_in_json)

    def _union(self, types: list[Any]) -> ReadAs:
        if len(types) == 1:
            return self.read(types[0])
        if all(isinstance(type_, str) and type_ in _WHOLE for type_ in types):
            return ReadAs(pa.int64())
        return ReadAs(pa.string(), text_in_json)

    def _record(self, schema: Mapping[str, Any], fields: list[Mapping[str, Any]]) -> ReadAs:
        name = str(schema.get("name"))
        # A geometry's bytes are a text, as they are in JSON; and a record that holds itself has no type.
        if name in self._within or str(schema.get("connect.name", "")).startswith("io.debezium.data.geometry."):
            return ReadAs(pa.string(), text_in_json)
        self._within.add(name)
        members = {str(field["name"]): self.read(field["type"]) for field in fields}
        self._within.discard(name)
        return record_read(members)


def record_read(members: Mapping[str, ReadAs]) -> ReadAs:
    """How records are read, by how their members are."""
    type_ = pa.struct([pa.field(name, read.type) for name, read in members.items()])
    converted = {name: read.convert for name, read in members.items() if read.convert is not None}

    def convert(record: dict[str, Any]) -> dict[str, Any]:
        for name, of_member in converted.items():
            if (value := record.get(name)) is not None:
                try:
                    record[name] = of_member(value)
                except (ValueError, TypeError, OverflowError, KeyError, pa.ArrowException) as error:
                    raise ValueError(f"{name}: {value!r:.60} stands for nothing: {error}") from None
        return record

    return ReadAs(type_, convert if converted else None)


def _list_of(items: ReadAs) -> ReadAs:
    convert = items.convert
    type_ = pa.list_(items.type)
    return ReadAs(type_, None if convert is None else lambda some: [v if v is None else convert(v) for v in some])


def _map_of(values: ReadAs) -> ReadAs:
    convert = values.convert or (lambda value: value)
    type_ = pa.map_(pa.string(), values.type)
    return ReadAs(type_, lambda some: [(name, v if v is None else convert(v)) for name, v in some.items()])
