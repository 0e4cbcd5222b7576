"""Topics as live sources, with a broker in the process."""

from __future__ import annotations

import datetime as dt
import io
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path

import fastavro
import pyarrow as pa
import pytest
from servers import Broker, LockedBroker

from workbench.arrow.stored_values import as_shown
from workbench.errors import StreamError
from workbench.session.live.sources import begin_live, fit_reader
from workbench.streams.corrections.declared import WEIGHT, corrections_of
from workbench.streams.files.envelopes import MEMBERS
from workbench.streams.ingest import ingest
from workbench.streams.live.kafka import reader as reader_module
from workbench.streams.live.reader import Reader
from workbench.streams.live.sources import open_live
from workbench.streams.live.take_in import take_in
from workbench.streams.log import StreamLog, open_log
from workbench.streams.source import OpenedSource


@pytest.fixture(scope="module")
def broker() -> Broker:
    return Broker()


def opened(url: str, schema: pa.Schema | None = None) -> Reader:
    reader = open_live(url, schema)
    assert reader is not None
    return reader


def live(folder: Path, url: str, **how: object) -> tuple[StreamLog, Reader]:
    """As ``add_stream`` does it."""
    reader, columns = opened(url), how.pop("columns", None)
    corrections = corrections_of(**{"changes": None, "key": None, "weight": None} | how)  # type: ignore[arg-type]
    source = OpenedSource(reader.schema, iter(()), reader.inferred)
    log = ingest("s", source, folder / "s", corrections=corrections, columns=columns)  # type: ignore[arg-type]
    return begin_live(log, reader, url, 0, durable=False), reader


def rows(log: StreamLog) -> list[dict[str, object]]:
    found: list[dict[str, object]] = log.read(0, log.rows).to_pylist()
    return found


def test_partitions_are_read_from_the_offsets_in_the_log(broker: Broker, tmp_path: Path) -> None:
    for number in range(10):
        broker.put("clicks", {"id": number, "page": "é"}, partition=number % 2)
    url = broker.url("clicks", "partition=part&offset=at&timestamp=ts&headers=h")
    log, reader = live(tmp_path, url)
    assert not take_in(log, reader, 4) and log.rows == 4
    take_in(log, reader, 3)
    reader.close()
    # Another process goes on where the log ends.
    again, reader = (
        open_log(log.folder),
        opened(url),
    )
    take_in(again, reader, 100)
    take_in(again, reader, 100)
    broker.put("clicks", {"id": 10, "page": None}, partition=3, headers={"who": "me"})
    take_in(again, reader, 100)
    found = rows(again)
    assert sorted(row["id"] for row in found) == list(range(11))  # type: ignore[type-var]
    for part in (0, 1):
        assert [row["at"] for row in found if row["part"] == part] == [0, 1, 2, 3, 4]
    assert found[-1]["h"] == '{"who": "me"}' and isinstance(found[-1]["ts"], dt.datetime)
    assert again.tail is not None and {p: again.tail.offsets[p] for p in "013"} == {"0": "5", "1": "5", "3": "1"}
    reader.close()


def test_a_record_that_does_not_fit_is_quarantined_with_its_offset(broker: Broker, tmp_path: Path) -> None:
    broker.put("poison", {"id": 1, "fee": 1.5})
    log, reader = live(tmp_path, broker.url("poison"))
    broker.put("poison", b"{", b"[1]", {"id": "x", "fee": 1}, {"id": 2, "fee": 2, "new": 1}, None)
    broker.put("poison", {"id": 3, "fee": 2.5})
    take_in(log, reader, 100)
    assert [row["id"] for row in rows(log)] == [1, 2, 3]
    reasons = {entry.line: entry.reason for entry in log.quarantined}
    assert [*reasons] == [1, 2, 3, 5]
    expected = [
        "no JSON",
        "no JSON object",
        "id: 'x' is no integer",
        "no value (a tombstone)",
    ]
    for reason, (offset, part) in zip(reasons.values(), zip([*reasons], expected, strict=True), strict=True):
        assert reason.startswith(f"partition 0, offset {offset}: ") and part in reason
    reader.close()


def test_a_schema_that_changes_on_the_way(broker: Broker, tmp_path: Path) -> None:
    """Of whatever the columns cannot have, the record is quarantined whole and says which member it is."""
    broker.put("moving", {"id": 1, "fee": 2, "s": "a", "v": 1.5})
    log, reader = live(tmp_path, broker.url("moving"), columns={"fee": "double"})
    fits: list[dict[str, object]] = [
        {"id": 2, "fee": 2.5, "s": "a", "v": 2},  # declared as double, though the first fee was a whole number
        {"id": 3, "fee": None, "s": None},  # a member that is gone is NULL
        {"id": 4.0, "fee": 10**15, "s": "", "v": -0.5},
        {"id": 5, "new": 1},
    ]
    breaks: list[tuple[dict[str, object], str]] = [
        ({"id": 5.5}, "id: 5.5 is no integer"),
        ({"id": 2**63}, f"id: {2**63} is beyond the 64 bits of an integer"),
        ({"id": "5"}, "id: '5' is no integer"),
        ({"id": True}, "id: True is no integer"),
        ({"id": 5, "fee": True}, "fee: True is no double"),
        ({"id": 5, "s": 5}, "s: 5 is no string"),
        ({"id": 5, "s": {"a": 1}}, "s: {'a': 1} is no string"),
        ({"id": 5, "v": [1.5]}, "v: [1.5] is no double"),
    ]
    broker.put("moving", *fits, *(record for record, _ in breaks), {"id": 9, "fee": 9, "s": "z", "v": 9})
    take_in(log, reader, 100)
    assert [row["id"] for row in rows(log)] == [1, 2, 3, 4, 5, 9]
    assert [row["fee"] for row in rows(log)] == [2.0, 2.5, None, 1e15, None, 9.0]
    expected = [f"partition 0, offset {at}: {reason}" for at, (_, reason) in enumerate(breaks, 5)]
    assert [entry.reason for entry in log.quarantined] == expected
    reader.close()


def test_rejected_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    locked = LockedBroker()
    monkeypatch.setenv("ARGUS_TEST_PASSWORD", "not-the-password")
    until = time.monotonic() + 120
    with pytest.raises(StreamError, match=r"topic t at .*: wrong user or password") as refused:
        while time.monotonic() < until:
            with suppress_others("wrong user or password"):
                open_live(locked.url("t"))
    assert "check the user and the password" in (refused.value.hint or "")
    locked.close()


@contextmanager
def suppress_others(text: str) -> Iterator[None]:
    """Go on where a broker was slow to answer on a busy machine."""
    try:
        yield
    except StreamError as error:
        if text in error.message:
            raise


def test_upserts_with_tombstones(broker: Broker, tmp_path: Path) -> None:
    broker.put("orders", {"fee": 1.0}, {"fee": 2.0}, key=7)
    broker.put("orders", {"fee": 3.0}, key=8)
    broker.put("orders", None, key=7)
    broker.put("orders", None, {"fee": 4.0}, key=9)
    broker.put("orders", {"fee": 5.0})
    log, reader = live(tmp_path, broker.url("orders", "key=id"), changes="upsert", key=["id"])
    take_in(log, reader, 100)
    changes = [(row[WEIGHT], row["id"], row["fee"]) for row in rows(log)]
    assert changes == [(1, 7, 1.0), (-1, 7, 1.0), (1, 7, 2.0), (1, 8, 3.0), (-1, 7, 2.0), (1, 9, 4.0)]
    never, null = log.quarantined
    assert never.reason.startswith("partition 0, offset 4: ") and null.reason.startswith("partition 0, offset 6: ")
    reader.close()


def test_texts_that_are_dates_are_read_as_such_and_said(broker: Broker, tmp_path: Path) -> None:
    days = ["31.12.2025", "13.01.2026", "02.01.2026"]
    for day in days[:2]:
        broker.put("days", {"day": day, "to": {"day": day}, "kept": day})
    log, reader = live(tmp_path, broker.url("days"), columns={"kept": "string"})
    broker.put("days", {"day": days[2], "to": {"day": days[2]}, "kept": days[2]})
    broker.put("days", {"day": days[2], "to": {"day": "soon"}, "kept": days[2]})
    take_in(log, reader, 10)
    written = ["2025-12-31", "2026-01-13", "2026-01-02"]
    expected = [
        {"day": dt.date.fromisoformat(iso), "to": {"day": dt.date.fromisoformat(iso)}, "kept": day}
        for iso, day in zip(written, days, strict=True)
    ]
    to = as_shown(log.read(0, log.rows).column("to"), dict(log.columns)["to"]).to_pylist()
    assert [row | {"to": struct} for row, struct in zip(rows(log), to, strict=True)] == expected
    assert [one.reason.partition(";")[0] for one in log.quarantined] == [
        "partition 0, offset 3: to.day: 'soon' is no date"
    ]
    assert [note.partition(";")[0] for note in reader.notes] == [
        "day: texts, read as dates as d.M.yyyy",
        "to.day: texts, read as dates as d.M.yyyy",
        "kept: texts, read as dates as d.M.yyyy",
    ]


@pytest.mark.parametrize("form", ["json", "csv"])
def test_only_a_message_without_a_value_is_a_tombstone(broker: Broker, tmp_path: Path, form: str) -> None:
    """Also of a stream that a version stored whose readers did not tell tombstones."""
    topic, url = f"nulls-{form}", broker.url(f"nulls-{form}", "key=id" + "&format=csv&columns=fee" * (form == "csv"))
    broker.put(topic, {"fee": 1} if form == "json" else b"1", key=7)
    log, reader = live(tmp_path, url, changes="upsert", key=["id"])
    broker.put(topic, {"fee": None} if form == "json" else b'""', key=7)
    broker.put(topic, {} if form == "json" else b'""', key=8)
    broker.put(topic, None, key=7)
    take_in(log, reader, 2)
    reader.close()
    earlier = pa.schema([field for field in reader.schema if field.name != MEMBERS])
    again = opened(url, earlier)
    fit_reader(again, log)
    take_in(log, again, 100)
    again.close()
    changes = [(row[WEIGHT], row["id"], row["fee"]) for row in rows(log)]
    assert changes == [(1, 7, 1), (-1, 7, 1), (1, 7, None), (1, 8, None), (-1, 7, None)] and not log.quarantined


@pytest.mark.parametrize("wrapped", [False, True])
def test_envelopes_of_debezium(broker: Broker, tmp_path: Path, wrapped: bool) -> None:
    """As Kafka Connect writes them: with the schema beside the payload or without, and tombstones after deletions."""
    topic = f"dbz-{wrapped}"

    def put(op: str, before: object, after: object) -> None:
        envelope = {"before": before, "after": after, "source": {"table": "orders", "lsn": 1}, "op": op, "ts_ms": 1}
        broker.put(topic, {"schema": {"type": "struct"}, "payload": envelope} if wrapped else envelope, key={"id": 1})

    put("c", None, {"id": 1, "v": "a"})
    put("u", {"id": 1, "v": "a"}, {"id": 1, "v": "b"})
    put("d", {"id": 1, "v": "b"}, None)
    broker.put(topic, None, key={"id": 1})
    put("r", None, {"id": 2, "v": "c"})
    log, reader = live(tmp_path, broker.url(topic), changes="debezium", key=["id"])
    put("c", None, {"id": 3, "v": "d", "new": 1})
    take_in(log, reader, 100)
    changes = [(row[WEIGHT], row["id"], row["v"]) for row in rows(log)]
    assert changes == [(1, 1, "a"), (-1, 1, "a"), (1, 1, "b"), (-1, 1, "b"), (1, 2, "c"), (1, 3, "d")]
    assert [drift.name for drift in log.drifts] == ["new"] and not log.quarantined
    reader.close()


def test_csv(broker: Broker, tmp_path: Path) -> None:
    broker.put("lines", b'1,"a,b",2026-01-02', b"2,,2026-01-03", b"3", b"x,c,2026-01-04", b'"')
    log, reader = live(tmp_path, broker.url("lines", "format=csv&columns=id,name,day"))
    assert [str(type_) for _, type_ in log.columns] == ["string", "string", "date"]  # one id is none
    take_in(log, reader, 100)
    assert [row["name"] for row in rows(log)] == ["a,b", None, "c"]
    assert [entry.line for entry in log.quarantined] == [2, 4]
    reader.close()


@pytest.mark.parametrize("framing", ["", "&framing=confluent"])
def test_avro(broker: Broker, tmp_path: Path, framing: str) -> None:
    schema = {
        "type": "record",
        "name": "trade",
        "fields": [
            {"name": "id", "type": "long"},
            {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
            {"name": "fee", "type": ["null", {"type": "bytes", "logicalType": "decimal", "precision": 15, "scale": 2}]},
        ],
    }
    topic = f"avro{len(framing)}"
    file = tmp_path / "trade.avsc"
    file.write_text(json.dumps(schema))
    at = dt.datetime(2026, 1, 2, 3, tzinfo=dt.UTC)
    for number, fee in enumerate([None, Decimal("1.50")]):
        written = io.BytesIO()
        fastavro.schemaless_writer(written, fastavro.parse_schema(schema), {"id": number, "at": at, "fee": fee})
        broker.put(topic, (b"\0\0\0\0\7" if framing else b"") + written.getvalue())
    broker.put(topic, b"\1", b"")
    log, reader = live(tmp_path, broker.url(topic, f"format=avro&schema={file}{framing}"))
    assert [str(type_) for _, type_ in log.columns] == ["integer", "timestamp with time zone", "decimal(15,2)"]
    take_in(log, reader, 100)
    naive = at.replace(tzinfo=None)
    assert rows(log) == [{"id": 0, "at": naive, "fee": None}, {"id": 1, "at": naive, "fee": Decimal("1.50")}]
    assert len(log.quarantined) == 2
    reader.close()


def test_offsets_that_are_gone(broker: Broker, tmp_path: Path) -> None:
    """The broker keeps five megabytes of a partition."""
    broker.put("short", {"id": 0, "s": ""})
    log, reader = live(tmp_path, broker.url("short"))
    take_in(log, reader, 100)
    broker.put("short", *({"id": number, "s": "x" * 900_000} for number in range(1, 10)))
    with pytest.raises(StreamError, match=r"partition 0, offsets 1 to \d are gone from the topic") as refused:
        take_in(log, reader, 100)
    assert "gone=skip" in (refused.value.hint or "") and log.rows == 1
    reader.close()
    skipping = opened(broker.url("short", "gone=skip"))
    take_in(log, skipping, 100)
    assert len(log.quarantined) == 1 and "(retention)" in log.quarantined[0].reason
    assert rows(log)[-1]["id"] == 9 and 2 < log.rows < 10
    skipping.close()


def test_a_topic_that_was_made_anew(broker: Broker, tmp_path: Path) -> None:
    broker.put("anew", {"id": 0})
    log, reader = live(tmp_path, broker.url("anew"))
    assert log.tail is not None
    with log.tail.transaction():
        log.tail.append(log.schema.empty_table(), offsets={"0": "50"})
    with pytest.raises(StreamError, match="partition 0 ends at 1, and the log goes on at 50"):
        take_in(log, reader, 100)
    reader.close()


def test_a_broker_that_goes_away_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broker = Broker()
    broker.put("t", {"id": 0})
    log, reader = live(tmp_path, broker.url("t"))
    take_in(log, reader, 1)
    # Only now is the wait short: a broker that is there may need longer.
    monkeypatch.setattr(reader_module, "METADATA_ANSWER", 0.5)
    with pytest.raises(StreamError, match=r"topic t at 127\.0\.0\.1:9 cannot be reached: .*Connection refused"):
        open_live("kafka://127.0.0.1:9/t")
    del broker
    with pytest.raises(StreamError, match="cannot be reached"):
        take_in(log, reader, 1)
    # It is not asked again at once, so that batches do not wait for it.
    monkeypatch.setattr(reader_module, "METADATA_ANSWER", 60.0)
    with pytest.raises(StreamError, match="cannot be reached"):
        take_in(log, reader, 1)
    assert log.rows == 1
    reader.close()


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("kafka://host:1", "names no broker and topic"),
        ("kafka://host:1/t?kye=id", "no option kye"),
        ("kafka://host:1/t?format=xml", "format=xml"),
        ("kafka://host:1/t?format=csv", "needs columns="),
        ("kafka://host:1/t?columns=a", "goes with format=csv"),
        ("kafka://host:1/t?format=avro&schema=no.avsc", "no Avro schema"),
        ("kafka://host:1/t?sasl.password=x", "would be kept with the session"),
        ("kafka://host:1/t?sasl.password=$ARGUS_NO", "no variable ARGUS_NO"),
        ("kafka://host:1/t?no.setting=1", "no.setting"),
    ],
)
def test_an_address_that_cannot_be_followed(url: str, message: str) -> None:
    with pytest.raises(StreamError, match=message):
        open_live(url)


def test_a_topic_without_messages(broker: Broker) -> None:
    with pytest.raises(StreamError, match=r"no message that says what columns|Unknown topic"):
        open_live(broker.url("nothing"))
