"""The forms of Debezium's records, as its documentation has them, one row each; and what a stream makes of them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from long import some
from servers import Broker

from workbench.errors import StreamError
from workbench.session.live.sources import begin_live
from workbench.streams.corrections.declared import EVENT, WEIGHT, corrections_of
from workbench.streams.files.undeclared import seeming_type
from workbench.streams.ingest import declared_types, ingest
from workbench.streams.live.sources import open_live
from workbench.streams.live.take_in import take_in
from workbench.streams.log import StreamLog
from workbench.streams.source import OpenedSource

Record = dict[str, Any]
SOURCE = {
    "version": "3.0.5.Final",
    "connector": "postgresql",
    "name": "pg",
    "ts_ms": 1,
    "table": "orders",
    "lsn": 24023128,
}


def envelope(op: str | None, before: Record | None, after: Record | None, **more: object) -> Record:
    return {"before": before, "after": after, "source": SOURCE, "op": op, "ts_ms": 5, "transaction": None, **more}


A, B, C = ({"id": number, "v": text} for number, text in ((1, "a"), (2, "b"), (1, "c")))
CREATED = [envelope("c", None, A), envelope("c", None, B)]
BLOCK = {"id": "571", "total_order": 1, "data_collection_order": 1}
NOTHING = [
    envelope("m", None, None, message={"prefix": "audit", "content": "eA=="}),  # pg_logical_emit_message
    {"op": "m", "ts_ms": 1, "source": SOURCE, "message": {"prefix": "p", "content": ""}},
    {"ts_ms": 1700000000000},  # a heartbeat
    {"ts_ms": 1, "ts_us": 1000, "ts_ns": 1000000},
    {"status": "BEGIN", "id": "571", "ts_ms": 1, "event_count": None, "data_collections": None},
    {
        "status": "END",
        "id": "571",
        "ts_ms": 1,
        "event_count": 2,
        "data_collections": [{"data_collection": "s.a", "event_count": 2}],
    },
    {
        "source": SOURCE,
        "ts_ms": 1,
        "databaseName": "inventory",
        "schemaName": None,
        "ddl": "CREATE TABLE t (i INT)",
        "tableChanges": [],
    },
    {
        "source": SOURCE,
        "databaseName": "inventory",
        "schemaName": "s",
        "ddl": None,
        "tableChanges": [{"type": "CREATE"}],
    },
    {"id": "7", "aggregate_type": "Initial Snapshot", "type": "COMPLETED", "additional_data": {}, "timestamp": 1},
    {"before": None, "after": None, "op": None},
    {},
]
"""Records that are no changes of rows."""

FORMS: dict[str, tuple[list[Record], list[Record]]] = {
    "read in a snapshot": ([envelope("r", None, A, source={**SOURCE, "snapshot": "last"})], [A]),
    "read in an incremental snapshot, again": ([*CREATED, envelope("r", None, A)], [A, B]),
    "created": (CREATED, [A, B]),
    "updated, with the whole row before": ([*CREATED, envelope("u", A, C)], [C, B]),
    "updated, REPLICA IDENTITY DEFAULT": ([*CREATED, envelope("u", None, C)], [C, B]),
    "updated, without the member before": ([*CREATED, {"op": "u", "after": C}], [C, B]),
    "updated, with no more than the key before": ([*CREATED, envelope("u", {"id": 1, "v": None}, C)], [C, B]),
    "updated, with the columns of another index before": ([*CREATED, envelope("u", {"id": None, "v": "a"}, C)], [C, B]),
    "a key that was updated": ([*CREATED, envelope("u", A, {"id": 3, "v": "a"})], [B, {"id": 3, "v": "a"}]),
    "a key that was updated, as two": (
        [*CREATED, envelope("d", A, None), {}, envelope("c", None, {"id": 3, "v": "a"})],
        [B, {"id": 3, "v": "a"}],
    ),
    "deleted, and its tombstone": ([*CREATED, envelope("d", A, None), {}], [B]),
    "deleted, with no more than the key": ([*CREATED, envelope("d", {"id": 1, "v": None}, None)], [B]),
    "deleted, key alone": ([*CREATED, envelope("d", {"id": 1}, None)], [B]),
    "truncated": ([*CREATED, {"source": SOURCE, "op": "t", "ts_ms": 1}, envelope("c", None, C)], [C]),
    "truncated at once and twice": ([{"op": "t"}, *CREATED, {"op": "t"}, {"op": "t"}, envelope("c", None, C)], [C]),
    "a value that was not sent": (
        [*CREATED, envelope("u", None, {"id": 1, "v": "__debezium_unavailable_value"})],
        [A, B],
    ),
    "with a block of its transaction": ([envelope("c", None, A, transaction=BLOCK), *CREATED[1:]], [A, B]),
    "other members of source": (
        [*CREATED, envelope("u", A, C, source={**SOURCE, "ts_us": 1, "new": {"x": [1]}}, ts_us=3)],
        [C, B],
    ),
    "what says nothing of rows": ([NOTHING[0], *CREATED, *NOTHING, envelope("u", A, C)], [C, B]),
}
"""Records, and the rows that there are then; the key is ``id``."""

FLAT: dict[str, tuple[list[Record], list[Record]]] = {
    "rewritten deletion": ([{**A, "__deleted": "false"}, {**B, "__deleted": "false"}, {**A, "__deleted": "true"}], [B]),
    "rewritten deletion, others NULL": ([{**A, "__deleted": "false"}, {"id": 1, "v": None, "__deleted": "true"}], []),
    "and its tombstone": (
        [{**A, "__deleted": "false"}, {**A, "__deleted": "true"}, {"id": 1}, {**C, "__deleted": "false"}],
        [C],
    ),
    "a tombstone alone": ([{**A, "__deleted": "false"}, {**B, "__deleted": "false"}, {"id": 1}], [B]),
    "booleans": ([{**A, "__deleted": False}, {**A, "__deleted": True}, {**B, "__deleted": False}], [B]),
    "updated": ([{**A, "__deleted": "false", "__op": "c"}, {**C, "__deleted": "false", "__op": "u"}], [C]),
    "an operation alone": ([{**A, "__op": "r"}, {**C, "__op": "u"}, {**B, "__op": "c"}, {**B, "__op": "d"}], [C]),
    "truncated": ([{**A, "__op": "c"}, {"__op": "t"}, {**B, "__op": "c"}], [B]),
    "a value that was not sent": (
        [{**A, "__op": "c"}, {"id": 1, "v": "__debezium_unavailable_value", "__op": "u"}],
        [A],
    ),
}
PART = {
    "type": "struct",
    "fields": [
        {
            "field": "after",
            "type": "struct",
            "fields": [{"field": "id", "type": "int64"}, {"field": "v", "type": "string"}],
        }
    ],
}


def wrapped(records: Sequence[Record]) -> list[Record]:
    """As Kafka Connect's JSON converter writes them; it writes a tombstone as it is."""
    return [{"schema": PART, "payload": record} if record else {} for record in records]


def in_cloud_events(records: Sequence[Record]) -> list[Record]:
    """As the CloudEvents converter writes envelopes; what else there is has another topic."""
    known = {"id": "x", "source": "/debezium", "specversion": "1.0", "datacontenttype": "application/json"}
    return [
        {**known, "iodebeziumop": record["op"], "data": {name: record.get(name) for name in ("before", "after")}}
        if record.get("op")
        else {}
        for record in records
        if "op" in record or not record
    ]


CONVERTERS = {"plain": list, "wrapped": wrapped, "cloud events": in_cloud_events}


def current(log: StreamLog) -> list[Record]:
    """The rows that there are, none of them less than zero times on the way."""
    there = Counter[str]()
    for row in log.read(0, log.rows).drop_columns([EVENT]).to_pylist():
        weight = row.pop(WEIGHT)
        there[json.dumps(row, default=str)] += weight
        assert min(there.values()) >= 0
    return [json.loads(text) for text in sorted(there.elements())]


def added(folder: Path, source: object, changes: str, **how: Any) -> StreamLog:
    return ingest("s", source, folder / "s", corrections=corrections_of(changes, ["id"], None), **how)


@pytest.mark.parametrize("converter", CONVERTERS)
@pytest.mark.parametrize("name", FORMS)
def test_envelopes(tmp_path: Path, name: str, converter: str) -> None:
    records, expected = FORMS[name]
    log = added(tmp_path, CONVERTERS[converter](records), "debezium")
    assert current(log) == expected and not log.quarantined
    file = tmp_path / "a.jsonl"
    file.write_text("\n".join(map(json.dumps, CONVERTERS[converter](records))))
    again = added(tmp_path / "again", file, "debezium")
    assert current(again) == expected and not again.quarantined


@pytest.mark.parametrize("changes", ["debezium", "upsert"])
@pytest.mark.parametrize("name", FLAT)
def test_flattened_rows(tmp_path: Path, name: str, changes: str) -> None:
    records, expected = FLAT[name]
    if changes == "upsert" and "__deleted" not in records[0]:
        return  # columns of their own, where nothing says that Debezium has written them
    log = added(tmp_path, records, changes)
    assert current(log) == expected and not log.quarantined and not {"__deleted", "__op"} & {*dict(log.columns)}
    fields = [{"field": name, "type": "int64" if name == "id" else "string"} for name in records[0]]
    part = {"type": "struct", "fields": fields}
    beside = [{"schema": part, "payload": record} for record in records]
    again = added(tmp_path / "again", beside, changes)
    assert current(again) == expected and not again.quarantined


def test_a_schema_part_beside_a_flattened_row(tmp_path: Path) -> None:
    fields = [{"field": "id", "type": "int64"}, {"field": "day", "type": "int32", "name": "io.debezium.time.Date"}]
    rows = [{"id": 1, "day": 19000}, {"id": 1, "day": 19001}, {"id": 2, "day": 10**12}]
    records = [{"schema": {"type": "struct", "fields": fields}, "payload": row} for row in rows]
    for changes in ("debezium", "upsert"):
        log = added(tmp_path / changes, records, changes)
        assert current(log) == [{"id": 1, "day": "2022-01-09"}]
        assert [entry.reason for entry in log.quarantined] == ["day: '1000000000000' is no io.debezium.time.Date"]


@pytest.mark.parametrize("converter", some(["plain", "wrapped"]))
def test_a_topic(tmp_path: Path, converter: str) -> None:
    """Of all forms, one after the other; what says nothing of rows has offsets that are logged."""
    broker, topic = Broker(), f"forms-{converter}"
    url = broker.url(topic)

    def put(records: Sequence[Record]) -> None:
        broker.put(topic, *(record or None for record in CONVERTERS[converter](records)), key={"id": 1})

    put(CREATED)
    reader = open_live(url)
    assert reader is not None
    corrections = corrections_of("debezium", ["id"], None)
    log = ingest("s", OpenedSource(reader.schema, iter(())), tmp_path / "s", corrections=corrections)
    log = begin_live(log, reader, url, 0, durable=False)
    assert log.tail is not None
    written = len(CREATED)
    for records, expected in FORMS.values():
        put([{"op": "t"}, *records])
        take_in(log, reader, 1000)
        written += 1 + len(records)
        assert current(log) == expected and log.tail.offsets["0"] == str(written)
    put(NOTHING)
    logged = log.rows
    take_in(log, reader, 1000)
    assert log.rows == logged and log.tail.offsets["0"] == str(written + len(NOTHING)) and not log.quarantined
    put([envelope("x", None, A), {"what": 1}])
    take_in(log, reader, 1000)
    assert ["op is 'x'" in log.quarantined[0].reason, "no envelope of Debezium" in log.quarantined[1].reason]
    reader.close()


@pytest.mark.parametrize(
    ("deleted", "key"), [({}, "key=id"), ({"__deleted": "false"}, "key=id"), ({"__deleted": "false"}, "")]
)
def test_a_topic_of_flattened_rows(tmp_path: Path, deleted: Record, key: str) -> None:
    broker = Broker()
    url = broker.url("flat", key)
    broker.put("flat", {"id": 1, "v": "a", **deleted}, key=1)
    broker.put("flat", {"id": 2, "v": "b", **deleted}, {"id": 2, "v": "c", **deleted}, key=2)
    if deleted:
        broker.put("flat", {"id": 1, "v": "a", "__deleted": "true"}, key=1)
    broker.put("flat", None, key=1)
    reader, corrections = open_live(url), corrections_of("upsert", ["id"], None)
    assert reader is not None and corrections is not None
    reader.declare(corrections.asked)
    log = ingest("s", OpenedSource(reader.schema, iter(())), tmp_path / "s", corrections=corrections)
    log = begin_live(log, reader, url, 0, durable=False)
    take_in(log, reader, 100)
    assert current(log) == [{"id": 2, "v": "c"}] and not log.quarantined
    reader.close()


@pytest.mark.parametrize("converter", ["plain", "wrapped"])
def test_columns_of_envelopes_that_an_earlier_version_stored(tmp_path: Path, converter: str) -> None:
    """It read all members of envelopes."""
    broker, corrections = Broker(), corrections_of("debezium", ["id"], None)
    broker.put("stored", *CONVERTERS[converter](CREATED))
    first = open_live(broker.url("stored"))
    assert (first is not None and "op" not in first.schema.names) or converter == "plain"
    log = ingest("s", OpenedSource(first.schema, iter(())), tmp_path / "s", corrections=corrections)
    reader = open_live(broker.url("stored"), first.schema)
    assert reader is not None
    log = begin_live(log, reader, broker.url("stored"), 0, durable=False)
    broker.put("stored", *CONVERTERS[converter]([{"ts_ms": 1}, envelope("u", A, C, source={"new": 1})]))
    take_in(log, reader, 100)
    assert current(log) == [C, B] and not log.quarantined and not log.drifts
    first.close()
    reader.close()


def test_rows_behind_many_records_that_are_none(tmp_path: Path) -> None:
    """A topic does not stand still for a batch that is smaller than what says nothing of rows."""
    broker = Broker()
    broker.put("noisy", *CREATED)
    reader, corrections = open_live(broker.url("noisy")), corrections_of("debezium", ["id"], None)
    assert reader is not None and corrections is not None
    log = ingest("s", OpenedSource(reader.schema, iter(())), tmp_path / "s", corrections=corrections)
    log = begin_live(log, reader, broker.url("noisy"), 2, durable=False)
    broker.put("noisy", *NOTHING[:10], *NOTHING[:10], envelope("u", A, C))
    take_in(log, reader, 5)
    assert current(log) == [C, B]
    reader.close()


DOCUMENT = [{"op": "c", "after": '{"_id": 1, "v": "a"}', "source": SOURCE}]


@pytest.mark.parametrize(
    ("records", "key", "message", "hint"),
    [
        (DOCUMENT, ["id"], "has no Debezium envelopes", "ExtractNewDocumentState"),
        ([A], ["id"], "has no Debezium envelopes", "changes='upsert'"),
        ([{**A, "__deleted": "false"}], None, "flattened rows of Debezium need a key", "key="),
    ],
)
def test_what_is_not_followed(
    tmp_path: Path, records: list[Record], key: list[str] | None, message: str, hint: str
) -> None:
    with pytest.raises(StreamError, match=message) as refused:
        ingest("s", records, tmp_path / "s", corrections=corrections_of("debezium", key, None))
    assert hint in (refused.value.hint or "")


VALUES: Record = {
    "id": 1,
    "ship_date": 19000,
    "created_at": 1700000000000,
    "amount": "BAg=",
    "n": 19000,
    "name": "Mary",
}
DECLARED = {"ship_date": "date", "created_at": "timestamp ms", "amount": "decimal(38,2)"}


@pytest.mark.parametrize("form", ["envelope", "wrapped", "flat", "topic"])
def test_what_looks_like_days_or_base64_is_said_and_not_changed(tmp_path: Path, form: str) -> None:
    record = {**VALUES, "__deleted": "false"} if form == "flat" else envelope("c", None, VALUES)
    records: Any = [{"schema": None, "payload": record} if form == "wrapped" else record]
    corrections = corrections_of("debezium", ["id"], None)
    assert corrections is not None
    for declared in ({}, DECLARED):
        folder = tmp_path / str(len(declared))
        if form == "topic":
            broker = Broker()
            broker.put("t", *records)
            reader = open_live(broker.url("t"))
            assert reader is not None
            reader.declare({**declared_types(declared), **corrections.asked})
            log = ingest("s", OpenedSource(reader.schema, iter(())), folder, corrections=corrections, columns=declared)
            log = begin_live(log, reader, broker.url("t"), 1, durable=False)
            reader.close()
        else:
            log = ingest("s", records, folder, corrections=corrections, columns=declared)
        (row,) = current(log)
        if declared:
            changed = {"ship_date": "2022-01-08", "created_at": "2023-11-14 22:13:20", "amount": "10.32"}
            assert row == {**VALUES, **changed} and not log.notes
        else:
            assert row == VALUES
            assert [note.partition(":")[0] for note in log.notes] == [*DECLARED]
            assert all(
                f"--type {name}='{type_}'" in note
                for note, (name, type_) in zip(log.notes, DECLARED.items(), strict=True)
            )


@pytest.mark.parametrize(
    ("name", "values", "type_"),
    [
        ("orderDate", [18000, 19000], "date"),
        ("day", [1, 2, 31], ""),  # of the month
        ("date", [20240105], ""),
        ("updated", [1700000000000000], "timestamp us"),
        ("ts", [1700000000000000000], "timestamp ns"),
        ("total", [1700000000000], ""),
        ("fee", ["BAg=", "AYag"], "decimal(38,2)"),
        ("fee", [{"scale": 3, "value": "BAg="}, None], "decimal(38,3)"),
        ("fee", [{"scale": 3, "value": "?"}], ""),
        ("code", ["ABCD", "EFGH"], ""),
        ("name", ["Mary", "John"], ""),
        ("fee", ["AYag", "not Base64"], ""),
        ("fee", [None, None], ""),
        ("flag", [True, False], ""),
    ],
)
def test_what_values_seem_to_stand_for(name: str, values: list[object], type_: str) -> None:
    assert seeming_type(name, values) == type_
