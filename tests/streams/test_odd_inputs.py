"""No input stops a source: what cannot be read is quarantined, what waits is said, and good records are there once.

Every kind of source gets good records with odd ones between them, is closed and opened again, and gets another one.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Collection
from decimal import Decimal
from pathlib import Path
from typing import Any

import fastavro
import pandas as pd
import pyarrow as pa
import pytest
from servers import Broker
from streams.odd_sources import Generated, Lines, OddSource, Polled, Reading, Topic

from workbench.session.directory.gate import Gate
from workbench.session.live.sources import SIGNATURE, SOURCE
from workbench.sql.algebra.types import DOUBLE, DataType, decimal
from workbench.streams.files import json_lines, json_records
from workbench.streams.files.json_records import as_record
from workbench.streams.live import socket_lines
from workbench.streams.live.puller import Puller
from workbench.streams.live.sources import open_live
from workbench.streams.log import open_log

DEEP = b'{"id": 9, "s": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"
DEEP_REASON = "nested more than 100 deep"
LONG = b'{"id": 9, "s": "' + b"x" * 900_000
LINES: dict[str, tuple[object, str]] = {
    "deep": (DEEP, DEEP_REASON),
    "101 deep": (b'{"id": 9, "s": ' + b"[" * 101 + b"]" * 101 + b"}", DEEP_REASON),
    "cut": (b'{"id": 9, "s": ', "it is no JSON"),
    "half a surrogate": (b'{"id": 9, "s": "\\ud800"}', r"s: '\ud800' is no string"),
    "half a surrogate in a name": (b'{"id": 9, "\\ud800": 1}', r"a member that is no column has '\ud800'"),
    "bytes": (b'{"id": 9, "s": "\xff"}', "no text in UTF-8: byte 0xff"),
    "only bytes": (b"\x00\xff\xfe", "no text in UTF-8"),
    "a number of 5,000 digits": (b'{"id": ' + b"9" * 5_000 + b"}", "it is no JSON"),
    "a number beyond 64 bits": (b'{"id": 99999999999999999999}', "beyond the 64 bits"),
    "not a number": (b'{"id": NaN}', "id: nan is no integer"),
    "a list": (b"[1, 2]", "no JSON object, but a list"),
    "another type": (b'{"id": {"a": [1]}, "s": "a"}', "is no integer"),
}
"""What stands where a line of JSON should be, and the reason that is said."""

TOPIC: dict[str, tuple[object, str]] = {
    "huge": (LONG, "it is no JSON"),
    "no value": (lambda put: put(None), "it has no value (a tombstone)"),
    "no bytes": (b"", "it is no JSON"),
}


class Raises:
    """An object of an analyst's that raises whatever is done with it."""

    def __repr__(self) -> str:
        raise RuntimeError("no text")

    __str__ = __hash__ = __eq__ = __repr__  # type: ignore[assignment]


def envelope(op: object, before: object, after: object) -> dict[str, object]:
    return {"op": op, "before": before, "after": after}


def row(number: object, s: object = "a") -> dict[str, object]:
    return {"id": number, "s": s}


CORRECTED: list[tuple[dict[str, object], Callable[[int], object], list[tuple[object, str]]]] = [
    (
        {"changes": "debezium", "key": ["id"]},
        lambda number: envelope("c", None, row(number)),
        [
            (envelope("x", None, row(9)), "op is 'x'"),
            (envelope(None, row(9), None), "op is None"),
            (envelope(["c"], None, row(9)), "op: ['c'] is no string"),
            (envelope("d", None, None), "there is no before"),
            (envelope("u", None, None), "there is no after"),
            (envelope("c", None, 5), "after: 5 is no struct"),
            (envelope("c", None, row("x")), "after.id: 'x' is no integer"),
            (envelope("c", None, row(None)), "a column of the key is NULL"),
            (envelope("d", row(77), None), "it takes back a row that is not there"),
        ],
    ),
    (
        {"changes": "upsert", "key": ["id"]},
        row,
        [
            (row(None), "a column of the key is NULL"),
            ({"id": 77}, "it takes back a row that is not there"),
            ({}, "a column of the key is NULL"),
        ],
    ),
    (
        {"changes": "cdf"},
        lambda number: row(number) | {"_change_type": "insert"},
        [
            (row(9) | {"_change_type": "upsert"}, "_change_type: 'upsert' is none of"),
            (row(9), "_change_type: None is none of"),
            (row(9) | {"_change_type": 5}, "_change_type: 5 is no string"),
            (row(9) | {"_change_type": "delete"}, "it takes back 1 of a row that is there 0 times"),
        ],
    ),
    (
        {"weight": "w"},
        lambda number: row(number) | {"w": 1},
        [
            (row(9) | {"w": None}, "its weight is NULL"),
            (row(9) | {"w": 10**12}, "its weight 1000000000000 is beyond"),
            (row(9) | {"w": 1.5}, "w: 1.5 is no integer"),
            (row(9) | {"w": -1}, "it takes back 1 of a row that is there 0 times"),
        ],
    ),
]


def nested(levels: int) -> object:
    value: object = 1
    for _ in range(levels):
        value = [value]
    return value


LOOP: dict[str, object] = {"id": 9}
LOOP["s"] = LOOP
ITEMS: dict[str, tuple[object, str]] = {
    "deep": ({"id": 9, "s": nested(100_000)}, DEEP_REASON),
    "holds itself": (LOOP, DEEP_REASON),
    "half a surrogate": ({"id": 9, "s": "\ud800"}, r"s: '\ud800' is no string"),
    "a number": (1, "the iterator gives an int, and no dict or table"),
    "None": (None, "the iterator gives a NoneType"),
    "a text": ("id=9", "the iterator gives a str"),
    "a list with a number": ([9], "the iterator gives an int"),
    "an object that raises": ({"id": Raises(), "s": "a"}, "is no integer"),
    "names that are no texts": ({1: 2}, "a member is called 1, which is no text"),
    "deep in a frame": (pd.DataFrame({"id": [9], "s": [nested(100_000)]}), DEEP_REASON),
    "columns of several types": (pd.DataFrame({"id": [{}], "s": [1]}), "is no integer"),
    "a time without a year in a table": (
        pa.table({"id": pa.array([2**62]).view(pa.timestamp("us")), "s": ["a"]}),
        "it cannot be read: ",
    ),
    "times without a year in lists": (
        pa.table({"id": [9], "s": pa.array([[2**62]]).cast(pa.list_(pa.timestamp("us")))}),
        "it cannot be read: ",
    ),
    "one name twice": (pa.table([[9], ["a"], ["b"]], ["id", "s", "s"]), "two columns of the table have one name"),
    "bytes in a table": (
        pa.table({"id": [9], "s": pa.array([b"\xff"]).view(pa.string())}),
        "it cannot be read: Unicode",
    ),
}

ROWS: dict[str, tuple[Callable[[int], dict[str, object]], str]] = {
    "a text for a number": (lambda last: {"id": "x", "s": "a"}, "id: 'x' does not say where the row belongs"),
    "a fraction": (lambda last: {"id": last + 0.5, "s": "a"}, "1000.5 does not say where the row belongs"),
    "no id": (lambda last: {"id": None, "s": "a"}, "id: None does not say where the row belongs"),
    "bytes for a text": (lambda last: {"id": last + 1, "s": b"\xff"}, "s: b'\\xff' is no string"),
    "a number for a text": (lambda last: {"id": last + 1, "s": 5}, "s: 5 is no string"),
}
"""Rows after the last one, and the reason that is said."""


def goes_on(source: OddSource, folder: Path, odd: Collection[tuple[object, str]], problem: str = "") -> None:
    """A good record before and after each odd one, and one more after the session was opened again."""
    reading, last = Reading(folder, source), len(odd)
    reading.take_in()
    for number, (record, _) in enumerate(odd, 1):
        source.put(record)
        source.good(number)
    reading.until(lambda: last in reading.ids)
    reasons = reading.reasons
    assert reading.ids == [*range(last + 1)], (reasons, reading.problem)
    assert len(reasons) == len(odd), reasons
    for _, reason in odd:
        assert any(reason in said for said in reasons), (reason, reasons)
    assert (problem in reading.problem) if problem else not reading.problem, reading.problem
    reading.reopen()
    source.good(last + 1)
    reading.until(lambda: last + 1 in reading.ids)
    assert reading.ids == [*range(last + 2)] and reading.reasons == reasons
    assert (problem in reading.problem) if problem else not reading.problem, reading.problem
    reading.close()
    source.close()


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing here computes for long between two rows."""
    monkeypatch.setattr(Puller.want, "__defaults__", (0.02,))


@pytest.fixture(scope="module")
def broker() -> Broker:
    return Broker()


def test_messages(broker: Broker, tmp_path: Path) -> None:
    goes_on(Topic(broker, "message"), tmp_path, [*LINES.values(), *TOPIC.values()])


def test_keys_of_messages(broker: Broker, tmp_path: Path) -> None:
    """A key that is no JSON, or an envelope around nothing, is no key."""
    odd: list[tuple[object, str]] = [
        (lambda put: put({"id": 9, "s": "a"}, key=b'{"schema": 1, "payload": 2}'), "it cannot be read: TypeError"),
    ]
    goes_on(Topic(broker, "keys", "&key=*"), tmp_path, odd)


def test_avro(broker: Broker, tmp_path: Path) -> None:
    fields = [{"name": "id", "type": "long"}, {"name": "s", "type": "string"}]
    schema, other = ({"type": "record", "name": n, "fields": fields[:count]} for n, count in (("row", 2), ("other", 1)))
    (tmp_path / "row.avsc").write_text(json.dumps(schema))

    def written(schema: dict[str, object], row: dict[str, object]) -> bytes:
        value = io.BytesIO()
        fastavro.schemaless_writer(value, fastavro.parse_schema(schema), row)
        return value.getvalue()

    class Avro(Topic):
        def good(self, number: int) -> None:
            self.put(written(schema, {"id": number, "s": "a"}))

    odd: list[tuple[object, str]] = [
        (written(other, {"id": 9}), "it is no Avro of this schema"),
        (written(schema, {"id": 9, "s": "a"}) + b"more", "4 bytes are left"),
        (b"\x02\xfe\xff\xff\xff\xff\xff\xff\xff\x7f", "it is no Avro of this schema"),
        (b"", "it is no Avro of this schema"),
        (None, "it has no value"),
    ]
    goes_on(Avro(broker, "avro", f"&format=avro&schema={tmp_path}/row.avsc"), tmp_path, [*odd])


def test_partitions_that_are_added(broker: Broker, tmp_path: Path) -> None:
    source = Topic(broker, "partitions")
    reading = Reading(tmp_path, source)
    reading.take_in()
    for number in (1, 2, 3):
        source.put(lambda put, n=number: put({"id": n, "s": "a"}, partition=n))  # none was read from it before
        reading.until(lambda n=number: n in reading.ids)  # type: ignore[misc]
    assert reading.ids == [0, 1, 2, 3] and not reading.problem
    reading.close()


@pytest.mark.parametrize("more", [0, 3])
def test_a_topic_that_was_made_anew(broker: Broker, tmp_path: Path, more: int) -> None:
    """Whether it has as many messages by now as were read from the old one, or more."""
    source = Topic(broker, f"anew-{more}")
    reading = Reading(tmp_path, source)
    source.good(1)
    reading.until(lambda: 1 in reading.ids)
    reading.close()
    anew = Topic(Broker(), f"anew-{more}")
    for number in range(2 + more):
        anew.good(100 + number)
    log = open_log(reading.log.folder)
    assert log.tail is not None
    with log.tail.transaction():
        source_anew = str(anew.source())
        signed = Gate().signed_source(log.name, source_anew) or ""
        log.tail.append(log.schema.empty_table(), offsets={SOURCE: source_anew, SIGNATURE: signed})
    reading.reopen()
    reading.until(lambda: bool(reading.problem))
    assert reading.ids == [0, 1] and "another message than was read" in reading.problem, reading.problem
    reading.reopen()
    reading.until(lambda: bool(reading.problem))
    assert reading.ids == [0, 1] and "another message than was read" in reading.problem
    reading.close()


def test_lines_of_a_socket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket_lines, "_PAUSE", 0.0)
    for module in (json_lines, socket_lines):
        monkeypatch.setattr(module, "LONGEST_JSON_LINE", 3_000_000)
    endless = (b"x" * 20_000_000, "its line has more than")
    goes_on(Lines(), tmp_path, [*LINES.values(), endless])


def test_a_line_of_a_socket_whose_end_does_not_come(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket_lines, "_PAUSE", 0.0)
    source = Lines()
    reading = Reading(tmp_path, source)
    source.send(b"x" * 2_000_000)
    reading.until(lambda: bool(reading.problem))
    assert "sends a line whose end has not come" in reading.problem and not reading.reasons
    source.send(b"\n")
    source.good(1)
    reading.until(lambda: 1 in reading.ids)
    assert not reading.problem and len(reading.reasons) == 1
    source.leave()
    source.good(2)
    reading.until(lambda: 2 in reading.ids)
    assert reading.ids == [0, 1, 2] and not reading.problem
    source.leave(comes_back=False)
    reading.until(lambda: bool(reading.problem))
    assert "cannot be reached" in reading.problem
    reading.close()


def test_items_of_a_generator(tmp_path: Path) -> None:
    goes_on(Generated(), tmp_path, [*ITEMS.values()])


def test_a_generator_that_raises(tmp_path: Path) -> None:
    source = Generated()
    reading = Reading(tmp_path, source)
    source.good(1)
    source.put(ConnectionResetError("the feed was cut"))
    reading.until(lambda: bool(reading.problem))
    for _ in range(3):
        reading.take_in()
        assert reading.ids == [0, 1] and "ConnectionResetError: the feed was cut" in reading.problem
        assert reading.ended
    reading.reopen(attached=False)
    reading.take_in()
    assert "session.attach('T', source)" in reading.problem
    reading.reopen()
    source.good(2)
    reading.until(lambda: 2 in reading.ids)
    assert reading.ids == [0, 1, 2] and not reading.problem
    reading.close()


def test_an_iterator_that_goes_on_after_an_error(tmp_path: Path) -> None:
    class Unsteady(Generated):
        def source(self) -> Any:
            given = iter([{"id": 0, "s": "a"}, OSError("busy"), OSError("busy"), {"id": 1, "s": "a"}])

            class Steps:
                def __iter__(self) -> Any:
                    return self

                def __next__(self) -> object:
                    item = next(given)
                    if isinstance(item, Exception):
                        raise item
                    return item

            return Steps()

    reading = Reading(tmp_path, Unsteady())
    reading.take_in()
    assert reading.ids == [0] and "OSError: busy" in reading.problem and not reading.ended
    reading.until(lambda: 1 in reading.ids)
    assert reading.ids == [0, 1] and not reading.problem
    reading.close()


def test_rows_of_a_polled_query(tmp_path: Path) -> None:
    source = Polled(tmp_path)
    reading, good = Reading(tmp_path, source), [0]
    reading.take_in()
    for row, reason in ROWS.values():
        source.put(row(good[-1]))
        source.good(good[-1] + 1_000)
        good.append(good[-1] + 1_000)
        for _ in range(2):
            reading.take_in()
            assert reading.ids == good and not reading.problem, (row, reading.problem)
            assert sum(reason in said for said in reading.reasons) == 1
            reading.reopen()
    reading.close()


def test_a_database_that_goes_away(tmp_path: Path) -> None:
    source = Polled(tmp_path)
    reading = Reading(tmp_path, source)
    reading.take_in()
    for gone, back, problem in (
        ("ALTER TABLE t RENAME TO u", "ALTER TABLE u RENAME TO t", "no such table: t"),
        ("ALTER TABLE t RENAME id TO other", "ALTER TABLE t RENAME other TO id", "id"),
    ):
        source.execute(gone)
        reading.take_in()
        assert problem in reading.problem, reading.problem
        source.execute(back)
        source.good(number := len(reading.ids))
        reading.take_in()
        assert reading.ids == [*range(number + 1)] and not reading.problem
    reading.close()


@pytest.mark.parametrize(("declared", "good", "odd"), CORRECTED, ids=["debezium", "upsert", "cdf", "weight"])
def test_corrections(tmp_path: Path, declared: Any, good: Any, odd: Any) -> None:
    class Corrected(Generated):
        def good(self, number: int) -> None:
            self.put(good(number))

    goes_on(Corrected(**declared), tmp_path, odd)


@pytest.mark.parametrize("declared", [DOUBLE, decimal(20, 6)], ids=str)
def test_decimals_of_a_database_whose_type_was_declared(declared: DataType) -> None:
    given = [{"id": n, "v": Decimal(digits)} for n, digits in enumerate(("1.5", "123456.789", "2.5"))]
    reader = open_live(iter(given))
    assert reader is not None
    reader.widen([("v", declared)])
    fetched = reader.fetch({}, 10)
    assert [float(value) for value in fetched.rows["v"].to_pylist()] == [1.5, 123456.789, 2.5]


@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n"])
@pytest.mark.parametrize(
    ("line", "place"), [(b'{"id": 1, "s": "x"', 19), (b'{"id": 1 "s": 2}', 10), (b'{"id": 1}}', 10)]
)
def test_the_place_in_a_record_that_is_no_json_is_counted_from_its_beginning(
    line: bytes, place: int, end: bytes
) -> None:
    """It was counted from the line's end, as character 1, where the line was cut there."""
    assert str(as_record(line + end)).endswith(f" at its character {place}")


@pytest.mark.parametrize("bad", [{17}, {0, 1_999}, set(range(0, 2_000, 100)), set(range(2_000))], ids=len)
def test_bad_records_among_thousands_are_found_by_halves(bad: set[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """Each record of a chunk with a bad one was converted by itself, 0.5 ms each: 20 s for 40,000 lines."""
    converted, convert = list[int](), json_records.column_of

    def counted(values: list[object], field: pa.Field) -> pa.Array:
        converted.append(len(values))
        return convert(values, field)

    monkeypatch.setattr(json_records, "column_of", counted)
    records = [(n, b"", {"id": n, "fee": "x" if n in bad else n / 2}) for n in range(2_000)]
    chunk = json_records.rows_of(records, pa.schema([("id", pa.int64()), ("fee", pa.float64())]))
    assert [row.line for row in chunk.quarantined] == sorted(bad) and {row.reason for row in chunk.quarantined} == {
        "fee: 'x' is no double"
    }
    assert chunk.rows["id"].to_pylist() == [n for n in range(2_000) if n not in bad]
    assert [row.number for row in chunk.quarantined] == [n - place for place, n in enumerate(sorted(bad))]
    assert len(converted) < 60 * len(bad) + 60
