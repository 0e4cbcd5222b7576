"""Avro values by a schema file, with fastavro: the schema says what columns and types there are.

``framing=confluent`` takes off the five bytes that schema registries put before a value. The number in them is not
looked up: all values are read by the one file.
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from workbench.errors import StreamError
from workbench.streams.files.json_values import JsonRecord

_FRAME = 5
_PRIMITIVE = {
    "boolean": pa.bool_(),
    "int": pa.int64(),
    "long": pa.int64(),
    "float": pa.float64(),
    "double": pa.float64(),
    "string": pa.string(),
    "enum": pa.string(),
    "bytes": pa.binary(),
}
_LOGICAL = {
    "date": pa.date32(),
    "timestamp-millis": pa.timestamp("us", "UTC"),
    "timestamp-micros": pa.timestamp("us", "UTC"),
    "local-timestamp-millis": pa.timestamp("us"),
    "local-timestamp-micros": pa.timestamp("us"),
    "uuid": pa.string(),
}


class AvroFormat:
    """Reads values of one schema.

    Args:
        path: of the schema, a record in JSON (``.avsc``).
        framing: ``"confluent"``, or ``None`` for values alone.

    Raises:
        StreamError: fastavro is not installed, or the schema is invalid or has a type that no column can have.
    """

    def __init__(self, path: Path, framing: str | None) -> None:
        try:
            import fastavro
        except ImportError as error:
            raise StreamError("Avro is read by fastavro", hint="pip install 'argus-workbench[kafka]'") from error
        if framing not in (None, "confluent"):
            raise StreamError(f"framing={framing}", hint="framing=confluent, or leave it out")
        try:
            written = json.loads(path.read_text())
            self._parsed = fastavro.parse_schema(written)
        except (OSError, ValueError, KeyError, fastavro.schema.SchemaParseException) as error:
            raise StreamError(f"{path} is no Avro schema: {error}", hint="it is a record in JSON") from error
        self._read, self._framed = fastavro.schemaless_reader, framing is not None
        self.schema = pa.schema(list(_arrow(written)))

    def record(self, value: bytes) -> JsonRecord | str:
        """The record of a value, or why it is rejected."""
        if self._framed and (len(value) < _FRAME or value[0] != 0):
            return "it does not begin with a zero and the number of a schema (framing=confluent)"
        read = io.BytesIO(value[_FRAME:] if self._framed else value)
        try:
            record = self._read(read, self._parsed, None)
        except Exception as error:  # fastavro raises what the bytes lead it to: EOFError, IndexError, struct.error
            return f"it is no Avro of this schema: {type(error).__name__} {error}"
        if left := len(read.read()):
            return f"{left} bytes are left after the record: it was written with another schema"
        return record if isinstance(record, dict) else "it is no record"


def _arrow(written: Any) -> pa.DataType:
    """The type of an Avro schema as it is written."""
    match written:
        case list():
            others = [one for one in written if one != "null"]
            if len(others) == 1:
                return _arrow(others[0])
        case str() if written in _PRIMITIVE:
            return _PRIMITIVE[written]
        case {"logicalType": "decimal", "precision": precision}:
            return pa.decimal128(precision, written.get("scale", 0))
        case {"logicalType": str(logical)} if logical in _LOGICAL:
            return _LOGICAL[logical]
        case {"type": "record", "fields": fields}:
            return pa.struct([(field["name"], _arrow(field["type"])) for field in fields])
        case {"type": "array", "items": items}:
            return pa.list_(_arrow(items))
        case {"type": "enum"}:
            return pa.string()
        case Mapping() if isinstance(written.get("type"), str | list | dict):
            return _arrow(written["type"])
    message = f"the Avro type {json.dumps(written)} is none that a column can have"
    raise StreamError(message, hint="numbers, texts, booleans, dates, timestamps, decimals, or null with one of them")
