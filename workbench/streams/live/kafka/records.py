"""Messages as records: JSON, CSV, Avro or Protobuf values, keys, and what Kafka itself says of a message.

A message without a value is a tombstone. It is a record of its key alone, which ``changes="upsert"`` follows;
among Debezium's envelopes it is an empty envelope. Elsewhere it is no row.
"""

from __future__ import annotations

import csv
import datetime as dt
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zlib import crc32

import pyarrow as pa

from workbench.errors import StreamError, UnexpectedError, nearest
from workbench.streams.files.envelopes import FLAT_MARKS, MEMBERS, are_envelopes
from workbench.streams.files.json_records import as_record, within_depth
from workbench.streams.files.json_schema import FoundTimes, find_times, schema_of
from workbench.streams.files.json_values import JsonRecord
from workbench.streams.files.undeclared import with_guesses
from workbench.streams.guessing import guess_columns
from workbench.streams.live.kafka.avro import AvroFile
from workbench.streams.live.kafka.registered import RegisteredValues
from workbench.streams.live.kafka.registry import RegistryError, SchemaRegistry
from workbench.streams.live.reader import NothingYet

_REGISTRY = ("registry", "registry_user", "registry_password")
OPTIONS = (
    *("format", "schema", "framing", "columns", "key", "headers", "partition", "offset", "timestamp", "gone"),
    *_REGISTRY,
)
"""Options of an address for its messages; ``gone`` is of the reader."""
FORMATS = ("json", "csv", "avro", "protobuf")
_WHOLE_KEY = "*"
_MEMBERS_OF_A_ROW = 1 << 31
"""More than a key has: a message with a value is a row, also where the value has nothing but the key."""

Decode = Callable[[bytes], JsonRecord | str]
_Typed = AvroFile | RegisteredValues


@dataclass(frozen=True)
class Message:
    """One message of a topic."""

    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    timestamp: int | None
    """Milliseconds since 1970."""
    headers: Sequence[tuple[str, bytes | None]]

    @property
    def bytes(self) -> int:
        """The size of the key and the value."""
        return len(self.key or b"") + len(self.value or b"")

    @property
    def note(self) -> str:
        """Its offset, and a checksum by which it is known again."""
        return f"{self.offset} {crc32(self.value or b'', crc32(self.key or b'', self.timestamp or 0))}"


class KafkaRecords:
    """Makes records of messages, as the options of an address say.

    Raises:
        StreamError: the options do not go together, or a schema cannot be read.
    """

    def __init__(self, options: Mapping[str, str]) -> None:
        self._key = options.get("key", "")
        self._registered: RegisteredValues | None = None
        self._extra = {kind: options[kind] for kind in _EXTRA if kind in options}
        form = options.get("format", "json")
        if form not in FORMATS:
            raise StreamError(f"format={form}", hint=nearest(form, FORMATS) or f"one of {', '.join(FORMATS)}")
        self._needed_by(form, options)
        self._typed: _Typed | None = None
        self._columns = [name for name in options.get("columns", "").split(",") if name]
        match form:
            case _ if "registry" in options:
                registry = SchemaRegistry(*(options.get(name, "") for name in _REGISTRY))
                self._typed = self._registered = RegisteredValues(registry, options.get("gone") == "skip")
                self._decode: Decode = self._typed.record
            case "avro":
                self._typed = AvroFile(Path(options["schema"]), options.get("framing"))
                self._decode = self._typed.record
            case "csv":
                self._decode = self._csv
            case _:
                self._decode = as_record

    def infer(self, messages: Sequence[Message]) -> FoundTimes:
        """The columns that messages have, and how those of texts are read."""
        records = [record for message in messages if not isinstance(record := self.record(message, None), str)]
        if not records and not (self._typed is not None and self._typed.schema.names):
            raise NothingYet("the topic has no message that says what columns there are")
        typed = {field.name: field for field in self._typed.schema} if self._typed is not None else {}
        others = [{name: value for name, value in record.items() if name not in typed} for record in records]
        schema = schema_of(others) if others else pa.schema([])
        if self._typed is not None:
            schema = pa.schema([*{**{field.name: field for field in schema}, **typed}.values()])
            schema = with_guesses(schema, {name: [record.get(name) for record in records] for name in schema.names})
        if self._decode == as_record:
            return find_times(records, schema)
        texts = {name: pa.array([record.get(name) for record in records], pa.string()) for name in self._columns}
        return FoundTimes(schema, guess_columns(texts))

    def record(self, message: Message, schema: pa.Schema | None) -> JsonRecord | str:
        """The record of a message, or why it is rejected.

        Args:
            message: of the topic.
            schema: the columns, where they are known: a key for a column of text is text, also if it looks like JSON.

        Raises:
            RegistryError: its schema cannot be had now.
        """
        try:
            return self._record(message, schema)
        except RegistryError:
            raise
        except Exception as error:  # whatever its bytes lead to
            return f"it cannot be read: {UnexpectedError.of(error).message}"

    def _record(self, message: Message, schema: pa.Schema | None) -> JsonRecord | str:
        value: JsonRecord | str = {} if message.value is None else self._decode(message.value)
        if isinstance(value, str):
            return value
        if message.value is None and not self._key and not _passes_tombstones(schema):
            return "it has no value (a tombstone): key=COLUMN names the column that its key is"
        extra = {name: _EXTRA[kind](message) for kind, name in self._extra.items()}
        if schema is not None and MEMBERS in schema.names:
            extra[MEMBERS] = 0 if message.value is None else _MEMBERS_OF_A_ROW
        return within_depth({**self._key_members(message.key, schema), **value, **extra})

    def _key_members(self, key: bytes | None, schema: pa.Schema | None) -> Mapping[str, object]:
        if not self._key:
            return {}
        if key and self._registered is not None and key.startswith(b"\0"):
            value = self._registered.value(key)
            if isinstance(value, dict) and self._key == _WHOLE_KEY:
                return value
            if isinstance(value, dict):
                value = value[self._key] if self._key in value or len(value) != 1 else next(iter(value.values()))
            return {self._key: value}
        if self._key == _WHOLE_KEY:
            found = as_record(key or b"{}")
            inner = {} if isinstance(found, str) else found
            # Kafka Connect's converter may put the schema beside the key.
            return inner["payload"] if inner.keys() == {"schema", "payload"} else inner
        if key is None:
            return {self._key: None}
        text = key.decode(errors="replace")
        if schema is not None and pa.types.is_string(schema.field(self._key).type):
            return {self._key: text}
        try:
            return {self._key: json.loads(text)}
        except (ValueError, RecursionError):
            return {self._key: text}

    def _csv(self, line: bytes) -> JsonRecord | str:
        try:
            rows = [*csv.reader([line.decode()], strict=True)]
        except (csv.Error, UnicodeDecodeError) as error:
            return f"it is no CSV: {error}"
        fields = rows[0] if rows else []
        if len(fields) != len(self._columns):
            return f"it has {len(fields)} fields instead of {len(self._columns)}"
        return {name: field or None for name, field in zip(self._columns, fields, strict=True)}

    def _needed_by(self, form: str, options: Mapping[str, str]) -> None:
        if "registry" in options:
            if other := next((name for name in ("schema", "framing", "columns") if name in options), None):
                raise StreamError(f"{other}=… does not go with registry=…", hint="the registry has the schemas")
            return
        if other := next((name for name in _REGISTRY[1:] if name in options), None):
            raise StreamError(f"{other}=… goes with registry=…", hint="registry=http://localhost:8081")
        if form == "protobuf":
            raise StreamError("format=protobuf needs registry=…", hint="registry=http://localhost:8081")
        needed = {"csv": "columns", "avro": "schema"}
        for kind, option in needed.items():
            if (kind == form) != (option in options):
                message = f"format={form} needs {option}=…" if kind == form else f"{option}=… goes with format={kind}"
                raise StreamError(message, hint="format=csv&columns=id,fee, or format=avro&schema=trades.avsc")


def _passes_tombstones(schema: pa.Schema | None) -> bool:
    """Whether a tombstone without a key says nothing: it follows a deletion that does."""
    return schema is not None and (are_envelopes(schema) or not {"payload", FLAT_MARKS[0]}.isdisjoint(schema.names))


def _headers(message: Message) -> str:
    texts = {name: None if value is None else value.decode(errors="replace") for name, value in message.headers}
    return json.dumps(texts, ensure_ascii=False)


def _timestamp(message: Message) -> dt.datetime | None:
    if message.timestamp is None:
        return None
    return dt.datetime(1970, 1, 1) + dt.timedelta(milliseconds=message.timestamp)


_EXTRA: Mapping[str, Callable[[Message], Any]] = {
    "headers": _headers,
    "partition": lambda message: message.partition,
    "offset": lambda message: message.offset,
    "timestamp": _timestamp,
}
"""Parts of a message that can be columns besides the key and the value; headers are a JSON object."""
