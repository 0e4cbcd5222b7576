"""Protobuf values by a schema: protoc compiles its text, and the descriptors say what columns and types there are.

Before a value stands the path of its message type among those of the schema. A member without presence that is not
there has the value that its type begins with, as Protobuf means it; one with presence is NULL.
Source: Confluent Schema Registry, "Wire format"; Protocol Buffers documentation, "Field Presence".
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa

from workbench.errors import StreamError
from workbench.errors.extras import optional_module
from workbench.streams.files.connect_schema import number_of_bytes
from workbench.streams.live.kafka.semantic_types import EPOCH, ReadAs, decimals

_MAIN = "argus/registered.proto"
_BUILT_IN = {
    "confluent/meta.proto": """syntax = "proto3"; package confluent; import "google/protobuf/descriptor.proto";
message Meta { string doc = 1; map<string, string> params = 2; repeated string tags = 3; }
extend google.protobuf.FileOptions { Meta file_meta = 1088; }
extend google.protobuf.MessageOptions { Meta message_meta = 1088; }
extend google.protobuf.FieldOptions { Meta field_meta = 1088; }
extend google.protobuf.EnumOptions { Meta enum_meta = 1088; }
extend google.protobuf.EnumValueOptions { Meta enum_value_meta = 1088; }""",
    "confluent/type/decimal.proto": """syntax = "proto3"; package confluent.type;
message Decimal { bytes value = 1; uint32 precision = 2; sint32 scale = 3; }""",
    "google/type/date.proto": """syntax = "proto3"; package google.type;
message Date { int32 year = 1; int32 month = 2; int32 day = 3; }""",
    "google/type/timeofday.proto": """syntax = "proto3"; package google.type;
message TimeOfDay { int32 hours = 1; int32 minutes = 2; int32 seconds = 3; int32 nanos = 4; }""",
}
"""Files that registries know without a reference; by these Kafka Connect writes its own types."""
_DIGITS = 38


class ProtobufFormat:
    """Reads values of the message types of one schema.

    Args:
        text: of the schema, as a ``.proto`` file has it.
        references: texts of schemas that it imports, by the names by which it does.
        where: it comes from.

    Attributes:
        schema: the columns of the message type that was read last; of the first one before.

    Raises:
        StreamError: grpcio-tools is not installed, or the schema cannot be compiled.
    """

    def __init__(self, text: str, references: Mapping[str, str], where: str) -> None:
        library = _module("google.protobuf", "descriptor_pool", "message_factory", "descriptor_pb2")
        pool = library.descriptor_pool.DescriptorPool()
        for file in library.descriptor_pb2.FileDescriptorSet.FromString(_compiled(text, references, where)).file:
            pool.Add(file)
        self._file = pool.FindFileByName(_MAIN)
        self._class_of: Callable[[Any], Any] = library.message_factory.GetMessageClass
        self._types = _Types(pool, self._class_of)
        self._reads = dict[tuple[int, ...], tuple[Any, ReadAs]]()
        self.schema = pa.schema([])
        if self._file.message_types_by_name:
            self.schema = pa.schema(list(self._read((0,))[1].type))

    def value(self, data: bytes) -> Any:
        """The value that is encoded in the bytes.

        Raises:
            ValueError: it was not written with this schema.
        """
        path, begin = _path(data)
        try:
            class_, read = self._read(path)
        except (IndexError, KeyError):
            raise ValueError(f"its schema has no message type at {[*path]}") from None
        try:
            message = class_.FromString(data[begin:])
        except Exception as error:  # google.protobuf.message.DecodeError, which has no base that is Python's
            raise ValueError(f"it is no Protobuf of this schema: {error}") from None
        self.schema = pa.schema(list(read.type))
        assert read.convert is not None
        return read.convert(message)

    def classes(self) -> dict[str, Any]:
        """The classes of its message types, by their names; they write values, too."""
        return {name: self._class_of(message) for name, message in self._file.message_types_by_name.items()}

    def _read(self, path: tuple[int, ...]) -> tuple[Any, ReadAs]:
        if path not in self._reads:
            message = [*self._file.message_types_by_name.values()][path[0]]
            for place in path[1:]:
                message = message.nested_types[place]
            self._reads[path] = self._class_of(message), self._types.message(message)
        return self._reads[path]


def _path(data: bytes) -> tuple[tuple[int, ...], int]:
    """The places of a message type and of those within which it is, and where the value begins."""
    count, at = _varint(data, 0)
    places = list[int]()
    for _ in range(count):
        place, at = _varint(data, at)
        places.append(place)
    return tuple(places) or (0,), at


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """A number in zigzag, and where it ends."""
    number = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise ValueError("it does not say of which message type it is")
        number |= (data[at] & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 0x80:
            return (number >> 1) ^ -(number & 1), at


def _compiled(text: str, references: Mapping[str, str], where: str) -> bytes:
    """The descriptors of a schema and of all that it imports."""
    tools = _module("grpc_tools", "protoc")
    with TemporaryDirectory(prefix="argus-proto-") as folder:
        root, result = Path(folder).resolve(), Path(folder) / "descriptors"
        for name, content in {**_BUILT_IN, **references, _MAIN: text}.items():
            file = (root / name).resolve()
            if not file.is_relative_to(root):
                raise StreamError(f"{where} imports {name}, which is no name within it")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content)
        own = Path(tools.__file__).parent / "_proto"
        options = [f"--proto_path={root}", f"--proto_path={own}", f"--descriptor_set_out={result}", "--include_imports"]
        if tools.protoc.main(["protoc", *options, _MAIN, "confluent/meta.proto"]) != 0:
            raise StreamError(f"{where} is no schema of Protobuf, or imports one that it has no reference to")
        return result.read_bytes()


def _module(name: str, *parts: str) -> Any:
    return optional_module(name, "protobuf", "Protobuf needs grpcio-tools", *parts)


class _Types:
    """How messages are read.

    Args:
        pool: has the descriptors.
        class_of: the class of a message type.
    """

    def __init__(self, pool: Any, class_of: Callable[[Any], Any]) -> None:
        self._within = set[str]()
        self._options = class_of(pool.FindMessageTypeByName("google.protobuf.FieldOptions"))
        self._meta = pool.FindExtensionByName("confluent.field_meta")

    def message(self, type_: Any) -> ReadAs:
        """How messages of a type are read: as dicts of its members."""
        self._within.add(type_.full_name)
        members = [(field, *self._field(field)) for field in type_.fields]
        self._within.discard(type_.full_name)
        columns = [pa.field(field.name, arrow) for field, arrow, _ in members]
        gets = [(field.name, get) for field, _, get in members]
        return ReadAs(pa.struct(columns), lambda message: {name: get(message) for name, get in gets})

    def _field(self, field: Any) -> tuple[pa.DataType, Callable[[Any], Any]]:
        """The type of a member, and what reads it of a message."""
        name = field.name
        if field.message_type is not None and field.message_type.GetOptions().map_entry:
            key, of_value = field.message_type.fields_by_name["key"], field.message_type.fields_by_name["value"]
            read = self._value(of_value)
            is_message = of_value.message_type is not None
            of_key = (lambda key: str(key).lower()) if key.type == key.TYPE_BOOL else str

            def entries(message: Any) -> list[tuple[str, Any]]:
                own = getattr(message, name)
                return [(of_key(k), _of(read, own[k] if is_message else v)) for k, v in sorted(own.items())]

            return pa.map_(pa.string(), read.type), entries
        read = self._value(field)
        if field.is_repeated:
            return pa.list_(read.type), lambda message: [_of(read, one) for one in getattr(message, name)]
        if not field.has_presence or field.has_default_value:
            return read.type, lambda message: _of(read, getattr(message, name))
        return read.type, lambda message: _of(read, getattr(message, name)) if message.HasField(name) else None

    def _value(self, field: Any) -> ReadAs:
        """How one value of a member is read."""
        plain = {
            field.CPPTYPE_INT32: pa.int64(),
            field.CPPTYPE_INT64: pa.int64(),
            field.CPPTYPE_UINT32: pa.int64(),
            field.CPPTYPE_UINT64: pa.uint64(),
            field.CPPTYPE_DOUBLE: pa.float64(),
            field.CPPTYPE_FLOAT: pa.float64(),
            field.CPPTYPE_BOOL: pa.bool_(),
            field.CPPTYPE_STRING: pa.binary() if field.type == field.TYPE_BYTES else pa.string(),
        }
        if field.cpp_type in plain:
            return ReadAs(plain[field.cpp_type])
        if field.enum_type is not None:
            names = {number: value.name for number, value in field.enum_type.values_by_number.items()}
            return ReadAs(pa.string(), lambda number: names.get(number, str(number)))
        type_ = field.message_type
        if type_.full_name == "confluent.type.Decimal":
            return self._decimal(field)
        if (known := _KNOWN.get(type_.full_name)) is not None:
            return known
        if type_.full_name in _WRAPPERS:
            return ReadAs(self._value(type_.fields_by_name["value"]).type, lambda message: message.value)
        if type_.full_name in self._within or type_.full_name in _JSON:
            return ReadAs(pa.string(), _json)
        return self.message(type_)

    def _decimal(self, field: Any) -> ReadAs:
        """How a decimal is read, whose digits and scale the options of the member say; else it is a text."""
        options = self._options.FromString(field.GetOptions().SerializeToString())
        said = dict(options.Extensions[self._meta].params)
        if not said.get("scale", "").removeprefix("-").isdigit():
            return ReadAs(pa.string(), lambda message: f"{number_of_bytes(message.value, message.scale):f}")
        read = decimals(int(said.get("precision") or _DIGITS), int(said["scale"]))
        as_text = read.convert or (lambda value: value)
        return ReadAs(read.type, lambda message: as_text(number_of_bytes(message.value, message.scale)))


def _of(read: ReadAs, value: Any) -> Any:
    return value if read.convert is None else read.convert(value)


def _timestamp(message: Any) -> dt.datetime:
    microseconds, left = divmod(message.nanos, 1_000)
    if left:
        raise ValueError(f"{message.nanos} nanoseconds are no number of microseconds")
    return EPOCH.replace(tzinfo=dt.UTC) + dt.timedelta(seconds=message.seconds, microseconds=microseconds)


def _time(message: Any) -> str:
    fraction = f".{message.nanos:09}".rstrip("0") if message.nanos else ""
    return f"{message.hours:02}:{message.minutes:02}:{message.seconds:02}{fraction}"


def _json(message: Any) -> str:
    from google.protobuf.json_format import MessageToJson

    return MessageToJson(message, indent=None, preserving_proto_field_name=True)


_WRAPPERS = {
    f"google.protobuf.{kind}Value"
    for kind in ("Double", "Float", "Int64", "UInt64", "Int32", "UInt32", "Bool", "String", "Bytes")
}
_JSON = {f"google.protobuf.{kind}" for kind in ("Struct", "Value", "ListValue", "Any")}
_KNOWN = {
    "google.protobuf.Timestamp": ReadAs(pa.timestamp("us", "UTC"), _timestamp),
    "google.type.Date": ReadAs(pa.date32(), lambda message: dt.date(message.year, message.month, message.day)),
    "google.type.TimeOfDay": ReadAs(pa.string(), _time),
}
