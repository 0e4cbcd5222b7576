"""Topics whose messages have their schemas in a registry: Avro and Protobuf, as converters write them."""

from __future__ import annotations

import datetime as dt
import io
import json
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
import pytest
from servers import Broker, Registry

from workbench.errors import StreamError
from workbench.session.live.sources import begin_live
from workbench.streams.corrections.declared import EVENT, WEIGHT, corrections_of
from workbench.streams.ingest import declared_types, ingest
from workbench.streams.live.kafka import registry as registry_module
from workbench.streams.live.kafka.avro import AvroFormat
from workbench.streams.live.kafka.protobuf import ProtobufFormat
from workbench.streams.live.reader import Reader
from workbench.streams.live.sources import named_source, open_live
from workbench.streams.live.take_in import take_in
from workbench.streams.log import StreamLog
from workbench.streams.source import OpenedSource


@pytest.fixture(scope="module")
def broker() -> Broker:
    return Broker()


@pytest.fixture
def registry() -> Iterator[Registry]:
    found = Registry()
    yield found
    found.close()


def framed(number: int, data: bytes) -> bytes:
    return b"\0" + number.to_bytes(4) + data


def avro(number: int, schema: object, *records: object) -> Iterator[bytes]:
    """Records as messages, written by fastavro."""
    parsed = fastavro.parse_schema(json.loads(json.dumps(schema)))
    for record in records:
        written = io.BytesIO()
        fastavro.schemaless_writer(written, parsed, record)
        yield framed(number, written.getvalue())


def opened(url: object) -> Reader:
    reader = open_live(url)
    assert reader is not None
    return reader


def live(folder: Path, url: object, columns: dict[str, str] | None = None, **how: Any) -> tuple[StreamLog, Reader]:
    """As ``add_stream`` does it."""
    reader, corrections = opened(url), corrections_of(**{"changes": None, "key": None, "weight": None} | how)
    asked = {} if corrections is None else corrections.asked
    reader.declare({**declared_types(columns or {}), **asked})
    source = OpenedSource(reader.schema, iter(()), reader.inferred)
    log = ingest("s", source, folder / "s", corrections=corrections, columns=columns)
    return begin_live(log, reader, url, 0, durable=False), reader


def rows(log: StreamLog) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = log.read(0, log.rows).to_pylist()
    return [{name: value for name, value in row.items() if name != EVENT} for row in found]


def record(name: str, *fields: tuple[str, object]) -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": [{"name": field, "type": type_} for field, type_ in fields]}


def named(type_: str, name: str, **more: object) -> dict[str, object]:
    return {"type": type_, "connect.version": 1, "connect.name": name, **more}


DECIMAL = named(
    "bytes",
    "org.apache.kafka.connect.data.Decimal",
    scale=4,
    precision=15,
    logicalType="decimal",
    **{"connect.parameters": {"scale": "4", "connect.decimal.precision": "15"}},
)
VARIABLE = {**record("VariableScaleDecimal", ("scale", "int"), ("value", "bytes")), "namespace": "io.debezium.data"}
VARIABLE["connect.name"] = "io.debezium.data.VariableScaleDecimal"
GEOMETRY = record("Geometry", ("wkb", "bytes"), ("srid", ["null", "int"]))
GEOMETRY["connect.name"] = "io.debezium.data.geometry.Geometry"
DAY, MOMENT = dt.date(2022, 1, 8), dt.datetime(2022, 1, 8, 10, 30, 0, 123456)
MICROS = int((MOMENT - dt.datetime(1970, 1, 1)) / dt.timedelta(microseconds=1))

AVRO_TYPES: dict[str, tuple[object, object, str, object]] = {
    "boolean": ("boolean", True, "boolean", True),
    "int": ("int", -(2**31), "integer", -(2**31)),
    "long": ("long", 2**63 - 1, "integer", 2**63 - 1),
    "float": ("float", 1.5, "double", 1.5),
    "double": ("double", 0.1, "double", 0.1),
    "string": ("string", "é", "string", "é"),
    "bytes": ("bytes", b"\0\xff", "binary", "00FF"),
    "enum": ({"type": "enum", "name": "E", "symbols": ["RED", "BLUE"]}, "BLUE", "string", "BLUE"),
    "decimal": (
        {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2},
        Decimal("-0.01"),
        "decimal(9,2)",
        Decimal("-0.01"),
    ),
    "connect_decimal": (DECIMAL, Decimal("0.1032"), "decimal(15,4)", Decimal("0.1032")),
    "old_decimal": (
        named("bytes", "org.apache.kafka.connect.data.Decimal", **{"connect.parameters": {"scale": "2"}}),
        b"\x04\x08",
        "decimal(38,2)",
        Decimal("10.32"),
    ),
    "variable": (VARIABLE, {"scale": 3, "value": b"\x04\x08"}, "string", "1.032"),
    "date": ({"type": "int", "logicalType": "date"}, DAY, "date", DAY),
    "debezium_date": (named("int", "io.debezium.time.Date"), 19000, "date", DAY),
    "connect_date": (named("int", "org.apache.kafka.connect.data.Date", logicalType="date"), DAY, "date", DAY),
    "iso_date": (named("string", "io.debezium.time.IsoDate"), "2022-01-08Z", "date", DAY),
    "time_millis": ({"type": "int", "logicalType": "time-millis"}, dt.time(1, 2, 3, 500_000), "string", "01:02:03.5"),
    "time_micros": ({"type": "long", "logicalType": "time-micros"}, dt.time(1, 2, 3), "string", "01:02:03"),
    "time": (named("int", "io.debezium.time.Time"), 3_723_500, "string", "01:02:03.5"),
    "micro_time": (named("long", "io.debezium.time.MicroTime"), -1, "string", "-00:00:00.000001"),
    "connect_time": (
        named("int", "org.apache.kafka.connect.data.Time", logicalType="time-millis"),
        dt.time(1),
        "string",
        "01:00:00",
    ),
    "local_micros": ({"type": "long", "logicalType": "local-timestamp-micros"}, MOMENT, "timestamp", MOMENT),
    "micros": (named("long", "io.debezium.time.MicroTimestamp"), MICROS, "timestamp", MOMENT),
    "millis": (
        named("long", "io.debezium.time.Timestamp"),
        MICROS // 1000,
        "timestamp",
        MOMENT.replace(microsecond=123000),
    ),
    "nanos": (named("long", "io.debezium.time.NanoTimestamp"), MICROS * 1000, "timestamp", MOMENT),
    "year": (named("int", "io.debezium.time.Year"), 2022, "integer", 2022),
    "uuid": (
        {"type": "string", "logicalType": "uuid"},
        "12345678-1234-5678-1234-567812345678",
        "string",
        "12345678-1234-5678-1234-567812345678",
    ),
    "json": (named("string", "io.debezium.data.Json"), '{"a": [1]}', "string", '{"a": [1]}'),
    "geometry": (GEOMETRY, {"wkb": b"\1\2", "srid": None}, "string", '{"wkb": "AQI=", "srid": null}'),
    "union": (["null", "int", "string"], "x", "string", "x"),
    "whole": (["int", "long"], 7, "integer", 7),
    "array": (
        {"type": "array", "items": ["null", named("int", "io.debezium.time.Date")]},
        [19000, None],
        "array<date>",
        "[19000,null]",
    ),
    "map": ({"type": "map", "values": "long"}, {"a": 1}, "map<string,integer>", '[{"f0":"a","f1":1}]'),
    "nested": (
        record("Geo", ("city", "string"), ("day", named("int", "io.debezium.time.Date"))),
        {"city": "Ulm", "day": 19000},
        "struct<city:string,day:date>",
        '{"f0":"Ulm","f1":19000}',
    ),
}
"""Of each column the Avro type, a value as fastavro writes it, the type of the stream, and the value that is stored."""


def stored(value: object) -> object:
    """A value as it is compared; arrays, structs and bytes are stored as texts."""
    if isinstance(value, bytes):
        return value.hex()
    return "".join(value.split()) if isinstance(value, str) and value[:1] in "[{" else value


@pytest.mark.parametrize("envelopes", [False, True])
def test_avro_types(tmp_path: Path, broker: Broker, registry: Registry, envelopes: bool) -> None:
    fields = [
        (name, ["null", type_] if not isinstance(type_, list) else type_) for name, (type_, *_) in AVRO_TYPES.items()
    ]
    row = record("Value", ("id", "long"), *fields)
    values = {"id": 1, **{name: value for name, (_, value, _, _) in AVRO_TYPES.items()}}
    nulls = {"id": 2, **{name: None if "null" in type_ else 7 for name, type_ in fields}}
    schema, records, topic, how = row, [values, nulls], f"types-{envelopes}", {}
    if envelopes:
        source = record("Source", ("lsn", ["null", "long"]), ("odd", ["null", "int", "string"]))
        schema = record(
            "Envelope", ("before", ["null", row]), ("after", ["null", "Value"]), ("source", source), ("op", "string")
        )
        rest = {"before": None, "source": {"lsn": 1, "odd": None}, "op": "c"}
        records, how = [{"after": one, **rest} for one in records], {"changes": "debezium", "key": ["id"]}
    broker.put(topic, *avro(registry.register(f"{topic}-value", schema), schema, *records))
    log, reader = live(tmp_path, broker.url(topic, f"registry={registry.url}"), **how)
    take_in(log, reader, 100)
    first, second = ({name: stored(value) for name, value in row.items() if name != WEIGHT} for row in rows(log))
    assert not log.quarantined
    assert {name: str(type_) for name, type_ in log.columns} == {
        "id": "integer",
        **{name: text for name, (*_, text, _) in AVRO_TYPES.items()},
    }
    assert first == {"id": 1, **{name: stored(value) for name, (*_, value) in AVRO_TYPES.items()}}
    assert second == {"id": 2, **{name: value for name, value in nulls.items() if name != "id"}}
    assert registry.asked == ["/schemas/ids/1"]
    reader.close()


def test_instants(tmp_path: Path, broker: Broker, registry: Registry) -> None:
    """They are UTC's."""
    millis = {"type": "long", "logicalType": "timestamp-millis"}
    zoned = named("string", "io.debezium.time.ZonedTimestamp")
    schema = record("I", ("a", millis), ("b", zoned))
    moment = dt.datetime(2022, 1, 8, 10, 30, tzinfo=dt.timezone(dt.timedelta(hours=2)))
    broker.put(
        "instants", *avro(registry.register("i", schema), schema, {"a": moment, "b": "2022-01-08T10:30:00+02:00"})
    )
    log, reader = live(tmp_path, broker.url("instants", f"registry={registry.url}"))
    take_in(log, reader, 10)
    (row,) = rows(log)
    assert {value.replace(tzinfo=None) for value in row.values()} == {dt.datetime(2022, 1, 8, 8, 30)}
    reader.close()


def test_a_value_that_stands_for_nothing_is_quarantined(tmp_path: Path, broker: Broker, registry: Registry) -> None:
    schema = record("N", ("id", "long"), ("at", named("long", "io.debezium.time.NanoTimestamp")))
    number = registry.register("n", schema)
    broker.put(
        "nothing-meant",
        *avro(number, schema, {"id": 1, "at": 1000}, {"id": 2, "at": 1}, {"id": 3, "at": 10**18}),
    )
    broker.put("nothing-meant", b"{}", b"", framed(number, b"\x02"), framed(number, b"\x02\x00rest"))
    log, reader = live(tmp_path, broker.url("nothing-meant", f"registry={registry.url}"))
    take_in(log, reader, 100)
    assert [row["id"] for row in rows(log)] == [1, 3]
    reasons = [entry.reason.partition(": ")[2] for entry in log.quarantined]
    parts = [
        "at: 1 stands for nothing",
        "begin with a zero",
        "begin with a zero",
        "no Avro of this schema",
        "bytes are left",
    ]
    assert all(part in reason for part, reason in zip(parts, reasons, strict=True))
    reader.close()


def test_a_schema_that_evolves(tmp_path: Path, broker: Broker, registry: Registry) -> None:
    """Each value is read by its own: a type that widens, a field that is gone, an order that differs, another unit."""
    first = record(
        "R", ("id", "int"), ("n", "int"), ("gone", "string"), ("at", named("long", "io.debezium.time.Timestamp"))
    )
    second = record(
        "R", ("at", named("long", "io.debezium.time.MicroTimestamp")), ("n", ["null", "long"]), ("id", "long")
    )
    third = record("R", ("id", "long"), ("n", "double"))
    topic = "evolves"
    broker.put(topic, *avro(registry.register(topic, first), first, {"id": 1, "n": 1, "gone": "x", "at": 1000}))
    log, reader = live(tmp_path, broker.url(topic, f"registry={registry.url}"))
    broker.put(topic, *avro(registry.register(topic, second), second, {"id": 2, "n": 2**40, "at": 1_000_000}))
    broker.put(topic, *avro(registry.register(topic, third), third, {"id": 3, "n": 3.0}, {"id": 4, "n": 2.5}))
    take_in(log, reader, 100)
    at = dt.datetime(1970, 1, 1, 0, 0, 1)
    assert rows(log) == [
        {"id": 1, "n": 1, "gone": "x", "at": at},
        {"id": 2, "n": 2**40, "gone": None, "at": at},
        {"id": 3, "n": 3, "gone": None, "at": None},
    ]
    assert ["n: 2.5 is no integer" in entry.reason for entry in log.quarantined] == [True]
    assert registry.asked == [f"/schemas/ids/{number}" for number in (1, 2, 3)]
    reader.close()


def test_references_and_keys(tmp_path: Path, broker: Broker, registry: Registry) -> None:
    place = {**record("Place", ("city", "string")), "namespace": "geo"}
    schema = record("R", ("v", ["null", "geo.Place"]))
    registry.register("places", place)
    number = registry.register("r", schema, references=[("geo.Place", "places")])
    key = record("Key", ("id", "long"))
    own = registry.register("r-key", key)
    (message,) = avro(number, {**schema, "fields": [{"name": "v", "type": ["null", place]}]}, {"v": {"city": "Ulm"}})
    keys = [*avro(own, key, {"id": 1}, {"id": 2})]
    broker.put("referenced", message, key=keys[0])
    broker.put("referenced", message, key=keys[1])
    broker.put("referenced", None, key=keys[0])
    for name in ("id", "*"):
        log, reader = live(
            tmp_path / name.replace("*", "all"),
            broker.url("referenced", f"key={name}&registry={registry.url}"),
            changes="upsert",
            key=["id"],
        )
        take_in(log, reader, 100)
        assert [(row[WEIGHT], row["id"], json.loads(row["v"])) for row in rows(log)] == [
            (1, 1, {"f0": "Ulm"}),
            (1, 2, {"f0": "Ulm"}),
            (-1, 1, {"f0": "Ulm"}),
        ] and not log.quarantined
        reader.close()


def test_debezium_in_avro(tmp_path: Path, broker: Broker, registry: Registry) -> None:
    row = record(
        "Value", ("id", "long"), ("v", ["null", "string"]), ("day", ["null", named("int", "io.debezium.time.Date")])
    )
    schema = record(
        "Envelope",
        ("before", ["null", row]),
        ("after", ["null", "Value"]),
        ("op", "string"),
        ("ts_ms", ["null", "long"]),
    )
    heartbeat = record("Heartbeat", ("ts_ms", "long"))
    a, b, placeholder = (
        {"id": 1, "v": "a", "day": 1},
        {"id": 1, "v": "b", "day": 2},
        {"id": 1, "v": "__debezium_unavailable_value", "day": 3},
    )
    changes = [
        ("c", None, a),
        ("u", a, b),
        ("u", None, placeholder),
        ("c", None, {**a, "id": 2}),
        ("d", a, None),
        ("t", None, None),
        ("r", None, {**a, "id": 3}),
    ]
    number = registry.register("e", schema)
    messages = [
        *avro(number, schema, *({"op": op, "before": old, "after": new, "ts_ms": 1} for op, old, new in changes))
    ]
    broker.put("dbz-avro", messages[0])
    log, reader = live(tmp_path, broker.url("dbz-avro", f"registry={registry.url}"), changes="debezium", key=["id"])
    broker.put(
        "dbz-avro",
        *avro(registry.register("h", heartbeat), heartbeat, {"ts_ms": 1}),
        *messages[1:5],
        None,
        *messages[5:],
    )
    take_in(log, reader, 100)
    day = [dt.date(1970, 1, number) for number in (2, 3, 4)]
    assert [tuple(row.values()) for row in rows(log)] == [
        (1, "a", day[0], 1),
        (1, "a", day[0], -1),
        (1, "b", day[1], 1),
        (1, "b", day[1], -1),
        (1, "b", day[2], 1),
        (2, "a", day[0], 1),
        (1, "b", day[2], -1),
        (2, "a", day[0], -1),
        (3, "a", day[0], 1),
    ] and not log.quarantined
    reader.close()


PROTO = """syntax = "proto3";
package shop;
import "google/protobuf/timestamp.proto";
import "google/protobuf/wrappers.proto";
import "google/type/date.proto";
import "google/type/timeofday.proto";
import "confluent/meta.proto";
import "confluent/type/decimal.proto";
import "place.proto";
message Other { string x = 1; message Inner { int64 y = 1; } }
message Order {
  enum Color { RED = 0; BLUE = 1; }
  int64 id = 1;
  optional string note = 2;
  uint64 big = 3;
  Color color = 4;
  repeated int32 counts = 5;
  map<string, int64> fees = 6;
  google.protobuf.Timestamp at = 7;
  google.protobuf.Int64Value maybe = 8;
  google.type.Date day = 9;
  google.type.TimeOfDay time = 10;
  confluent.type.Decimal amount = 11 [(confluent.field_meta) = {
    params: [{ key: "precision", value: "15" }, { key: "scale", value: "2" }]
  }];
  confluent.type.Decimal free = 12;
  geo.Place place = 13;
  bytes raw = 14;
  oneof kind { string text = 15; bool flag = 16; }
  Order within = 17;
  float rate = 18;
}
"""
PLACE = 'syntax = "proto3"; package geo; message Place { string city = 1; }'


def protobuf_classes() -> dict[str, Any]:
    """The classes of the messages, by their names; the types that Kafka Connect knows are compiled with them."""
    return ProtobufFormat(PROTO, {"place.proto": PLACE}, "it").classes()


def test_protobuf(tmp_path: Path, broker: Broker, registry: Registry) -> None:
    pytest.importorskip("grpc_tools")
    registry.register("places", PLACE, "PROTOBUF")
    number = registry.register("orders", PROTO, "PROTOBUF", references=[("place.proto", "places")])
    order = protobuf_classes()["Order"]
    full = order(
        id=1,
        note="n",
        big=2**64 - 1,
        color=1,
        counts=[1, 2],
        fees={"a": 5},
        at={"seconds": 1, "nanos": 500_000_000},
        maybe={"value": 0},
        day={"year": 2022, "month": 1, "day": 8},
        time={"hours": 1, "nanos": 5_000_000},
        amount={"value": b"\x04\x08", "scale": 2},
        free={"value": b"\xff", "scale": 3},
        place={"city": "Ulm"},
        raw=b"\0",
        flag=False,
        within={"id": 7},
        rate=1.5,
    )
    broker.put("orders", framed(number, b"\x02\x02" + full.SerializeToString()))
    broker.put("orders", framed(number, b"\x02\x02" + order(id=2).SerializeToString()))
    broker.put("orders", framed(number, b"\x02\x12"), framed(number, b"\x02\x02\xff"), framed(number, b"\x80"))
    log, reader = live(tmp_path, broker.url("orders", f"registry={registry.url}"))
    take_in(log, reader, 100)
    first, second = ({name: stored(value) for name, value in row.items()} for row in rows(log))
    assert {name: str(type_) for name, type_ in log.columns}["amount"] == "decimal(15,2)"
    assert first.pop("at").replace(tzinfo=None) == dt.datetime(1970, 1, 1, 0, 0, 1, 500_000)  # type: ignore[attr-defined]
    assert json.loads(str(first.pop("within"))) == {"id": "7"}
    assert first == {
        "id": 1,
        "note": "n",
        "big": Decimal(2**64 - 1),
        "color": "BLUE",
        "counts": "[1,2]",
        "fees": '[{"f0":"a","f1":5}]',
        "maybe": 0,
        "day": DAY,
        "time": "01:00:00.005",
        "amount": Decimal("10.32"),
        "free": "-0.001",
        "place": '{"f0":"Ulm"}',
        "raw": "00",
        "text": None,
        "flag": False,
        "rate": 1.5,
    }
    nothing = dict.fromkeys(("note", "at", "maybe", "day", "time", "amount", "free", "place", "text", "flag", "within"))
    assert second == {
        "id": 2,
        **nothing,
        "big": 0,
        "color": "RED",
        "counts": "[]",
        "fees": "[]",
        "raw": "",
        "rate": 0.0,
    }
    parts = ["no message type at [9]", "no Protobuf of this schema", "of which message type"]
    assert all(part in entry.reason for part, entry in zip(parts, log.quarantined, strict=True))
    reader.close()


@pytest.mark.parametrize("what", ["unknown", "unreachable", "forbidden", "down"])
def test_messages_wait_for_the_registry(
    tmp_path: Path, broker: Broker, registry: Registry, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those before, and of other partitions, are logged; then all of them are, once."""
    monkeypatch.setattr(registry_module, "_PAUSE", 0.0)
    schema, topic = record("R", ("id", "long")), f"waits-{what}"
    number = registry.register("r", schema)
    later = number + 1
    locked = Registry("secret")
    monkeypatch.setenv("ARGUS_TEST_PASSWORD", "wrong" if what == "forbidden" else "secret")
    ids = iter(range(1, 100))

    def put(number: int, partition: int = 0) -> None:
        broker.put(topic, *avro(number, schema, {"id": next(ids)}), partition=partition)

    put(number)
    log, reader = live(tmp_path, broker.url(topic, f"registry={registry.url}"))
    put(number)
    put(later)
    put(number)
    put(number, partition=1)
    if what == "unreachable":
        registry.close()
    registry.down = what == "down"
    if what == "forbidden":
        reader.close()
        locked.register("r", schema)
        reader = opened_with(
            broker.url(topic, f"registry={locked.url}&registry_user=me&registry_password=$ARGUS_TEST_PASSWORD"), reader
        )
    words = {
        "unknown": "has no schemas/ids/2: 40403",
        "unreachable": "cannot be reached",
        "forbidden": "answers 401",
        "down": "answers 503",
    }
    for _ in range(2):
        with pytest.raises(StreamError, match=words[what]) as waiting:
            take_in(log, reader, 100)
        assert "hint: " in str(waiting.value)
    expected = [] if what == "forbidden" else [1, 2, 5]
    assert sorted(row["id"] for row in rows(log)) == expected and not log.quarantined
    if what in ("unknown", "down"):
        registry.down = False
        registry.register("r", schema)
        take_in(log, reader, 100)
        assert sorted(row["id"] for row in rows(log)) == [1, 2, 3, 4, 5] and not log.quarantined
    reader.close()
    locked.close()


def opened_with(url: str, earlier: Reader) -> Reader:
    reader = open_live(url, earlier.schema)
    assert reader is not None
    return reader


def test_an_unknown_schema_is_passed_over_where_the_address_says_so(
    tmp_path: Path, broker: Broker, registry: Registry
) -> None:
    schema = record("R", ("id", "long"))
    broker.put("gone-schema", *avro(registry.register("r", schema), schema, {"id": 1}))
    broker.put("gone-schema", *avro(77, schema, {"id": 2}), *avro(1, schema, {"id": 3}))
    log, reader = live(tmp_path, broker.url("gone-schema", f"gone=skip&registry={registry.url}"))
    take_in(log, reader, 100)
    assert [row["id"] for row in rows(log)] == [1, 3] and "has no schemas/ids/77" in log.quarantined[0].reason
    reader.close()


def test_a_schema_that_cannot_be_read(tmp_path: Path, broker: Broker, registry: Registry) -> None:
    schema = record("R", ("id", "long"))
    broker.put("odd-schema", *avro(registry.register("r", schema), schema, {"id": 1}))
    log, reader = live(tmp_path, broker.url("odd-schema", f"registry={registry.url}"))
    for text, kind in (("{", "AVRO"), ("message {", "PROTOBUF"), ("x", "XML")):
        broker.put("odd-schema", framed(registry.register("r", text, kind), b"\0"))
    broker.put("odd-schema", framed(registry.register("r", "{}", "JSON"), b'{"id": 2}'), b'{"id": 3}')
    take_in(log, reader, 100)
    assert [row["id"] for row in rows(log)] == [1, 2]
    parts = ["is no Avro schema", "is no schema of Protobuf", "of the kind XML", "begin with a zero"]
    assert all(part in entry.reason for part, entry in zip(parts, log.quarantined, strict=True))
    reader.close()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("format=protobuf", "needs registry="),
        ("registry_user=me", "goes with registry="),
        ("registry=http://h:1&schema=a.avsc&format=avro", "does not go with registry="),
        ("registry=http://me:pw@h:1", "user or options"),
        ("registry=http://h:1&registry_password=x", "would be kept"),
    ],
)
def test_addresses_that_cannot_be_followed(options: str, message: str) -> None:
    with pytest.raises(StreamError, match=message):
        open_live(f"kafka://127.0.0.1:1/t?{options}")


def test_a_registry_that_is_given_beside_the_address() -> None:
    url = "http://localhost:8081"
    assert named_source("kafka://h:1/t", None, None, url) == f"kafka://h:1/t?registry={url}"
    with pytest.raises(StreamError, match="goes with a topic"):
        named_source("a.csv", None, None, url)


def test_records_that_hold_themselves() -> None:
    tree = record("Tree", ("v", "int"), ("left", ["null", "Tree"]))
    read = AvroFormat(json.dumps(tree))
    (message,) = avro(1, tree, {"v": 1, "left": {"v": 2, "left": None}})
    assert read.schema == pa.schema([("v", pa.int64()), ("left", pa.string())])
    assert read.value(message[5:]) == {"v": 1, "left": '{"v": 2, "left": null}'}
