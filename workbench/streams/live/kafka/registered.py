"""Decodes values by the schemas of a registry: each begins with the number of its schema."""

from __future__ import annotations

from typing import Any, Protocol

import pyarrow as pa

from workbench.errors import StreamError
from workbench.streams.files.json_records import as_record
from workbench.streams.files.json_values import JsonRecord
from workbench.streams.live.kafka.avro import AvroFormat
from workbench.streams.live.kafka.protobuf import ProtobufFormat
from workbench.streams.live.kafka.registry import WIRE_FRAME, RegistryError, SchemaRegistry, UnknownSchemaError

_NO_FRAME = "it does not begin with a zero and the number of a schema"


class Format(Protocol):
    """Reads values of one schema."""

    schema: pa.Schema
    """The columns of its records."""

    def value(self, data: bytes) -> Any:
        """The value that is encoded in the bytes.

        Raises:
            ValueError: it was not written with this schema.
        """


class RegisteredValues:
    """Reads values.

    Args:
        registry: has the schemas.
        skips: whether a value is rejected whose schema the registry does not have; otherwise it waits.
    """

    def __init__(self, registry: SchemaRegistry, skips: bool) -> None:
        self._registry, self._skips = registry, skips
        self._formats: dict[int, Format | StreamError] = {}

    @property
    def schema(self) -> pa.Schema:
        """The columns of the schemas of all values so far; where these differ, the last one's."""
        merged = pa.schema([])
        for found in self._formats.values():
            if not isinstance(found, StreamError):
                merged = _merged(merged, found.schema)
        return merged

    def record(self, data: bytes) -> JsonRecord | str:
        """The record of a value, or why it is rejected.

        Raises:
            RegistryError: the registry does not give its schema now.
        """
        try:
            value = self.value(data)
        except (ValueError, StreamError) as error:
            if isinstance(error, StreamError) and not self._rejects(error):
                raise
            return error.message if isinstance(error, StreamError) else str(error)
        return value if isinstance(value, dict) else "it is no record"

    def value(self, data: bytes) -> Any:
        """The value that is encoded in the bytes, by the schema that they name.

        Raises:
            ValueError: it was written otherwise.
            StreamError: its schema cannot be had now, or cannot be read.
        """
        if len(data) < WIRE_FRAME or data[0] != 0:
            raise ValueError(_NO_FRAME)
        found = self._format(int.from_bytes(data[1:WIRE_FRAME]))
        if isinstance(found, StreamError):
            raise found.with_traceback(None)
        return found.value(data[WIRE_FRAME:])

    def _rejects(self, error: StreamError) -> bool:
        return not isinstance(error, RegistryError) or (self._skips and isinstance(error, UnknownSchemaError))

    def _format(self, number: int) -> Format | StreamError:
        if number not in self._formats:
            schema = self._registry.schema(number)
            where = f"schema {number}"
            try:
                match schema.kind:
                    case "AVRO":
                        found: Format | StreamError = AvroFormat(schema.text, schema.references, where)
                    case "PROTOBUF":
                        found = ProtobufFormat(schema.text, schema.references, where)
                    case "JSON":
                        found = _Json()
                    case _:
                        found = StreamError(f"{where} is of the kind {schema.kind}, which is not read")
            except StreamError as error:  # its values are rejected, and those of others are read
                found = error
            self._formats[number] = found
        return self._formats[number]


class _Json:
    """Values in JSON have their own types."""

    schema = pa.schema([])

    def value(self, data: bytes) -> Any:
        """The object."""
        record = as_record(data)
        if isinstance(record, str):
            raise ValueError(record)
        return record


def _merged(older: pa.Schema, newer: pa.Schema) -> pa.Schema:
    """The columns of both, also within structs; where they differ, the newer one's."""
    own = {field.name: field for field in older}
    for field in newer:
        before = own.get(field.name)
        if before is not None and pa.types.is_struct(before.type) and pa.types.is_struct(field.type):
            within = _merged(pa.schema(list(before.type)), pa.schema(list(field.type)))
            own[field.name] = field.with_type(pa.struct(list(within)))
        else:
            own[field.name] = field
    return pa.schema([*own.values()])
