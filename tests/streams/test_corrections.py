"""Corrections: what changes of a source become in the log, and which of them are quarantined."""

from __future__ import annotations

import base64
import datetime as dt
import json
import math
import random
import sqlite3
from collections import Counter
from collections.abc import Mapping
from contextlib import ExitStack, closing
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from workbench.errors import StreamError
from workbench.streams.convert import convert
from workbench.streams.corrections.current_rows import CurrentRows
from workbench.streams.corrections.debezium import unfold
from workbench.streams.corrections.declared import EVENT, WEIGHT, Changes, corrections_of
from workbench.streams.files.envelopes import MEMBERS
from workbench.streams.files.json_records import rows_of
from workbench.streams.ingest import column_types, declared_types, fit, ingest
from workbench.streams.live.sources import open_live
from workbench.streams.live.take_in import take_in
from workbench.streams.log import StreamLog, log_schema, open_log
from workbench.streams.readers import open_source
from workbench.streams.source import Chunk, OpenedSource
from workbench.streams.stream import replayed


def logged(folder: Path, table: object, **how: object) -> StreamLog:
    return ingest(
        "s", table, folder / "s", corrections=corrections_of(**{"changes": None, "key": None, "weight": None} | how)
    )


def without_nulls(table: pa.Table) -> pa.Table:
    """The rows as records that leave out what is NULL."""
    members = sum(np.asarray(column.is_valid()).astype(int) for column in table.columns)
    return table.append_column(MEMBERS, pa.array(members, pa.int64()))


def rows(log: StreamLog) -> list[tuple[object, ...]]:
    """Weight, then the values."""
    found = log.read(0, log.rows).drop_columns([EVENT]).to_pylist()
    return [(row.pop(WEIGHT), *row.values()) for row in found]


def reasons(log: StreamLog) -> list[tuple[int, str]]:
    return [(entry.line, entry.reason) for entry in log.quarantined]


def test_an_upsert_takes_back_the_row_of_its_key(tmp_path: Path) -> None:
    table = without_nulls(pa.table({"id": [1, 2, 1, 1, 2], "v": ["a", "b", "c", "c", None]}))
    log = logged(tmp_path, table, changes="upsert", key=["id"])
    expected = [(1, 1, "a"), (1, 2, "b"), (-1, 1, "a"), (1, 1, "c"), (-1, 2, "b")]
    assert rows(log) == expected  # the row that came again changes nothing, and one without values is a tombstone
    assert log.columns == open_log(log.folder).columns
    assert open_log(log.folder).corrections == corrections_of("upsert", ["id"], None)
    assert rows(open_log(log.folder)) == expected


def test_what_cannot_be_taken_back_is_quarantined(tmp_path: Path) -> None:
    table = without_nulls(pa.table({"id": [1, None, 3], "v": ["a", "b", None]}))
    log = logged(tmp_path, table, changes="upsert", key=["id"])
    assert rows(log) == [(1, 1, "a")]
    assert reasons(log) == [
        (2, "a column of the key is NULL: id"),
        (3, "it takes back a row that is not there: no row has its key (id)"),
    ]


def test_weights_never_count_a_row_less_than_zero_times(tmp_path: Path) -> None:
    table = pa.table({"v": [1, 1, 1, 2, 1], "w": [2, -1, -2, -1, None]})
    log = logged(tmp_path, table, weight="w")
    assert rows(log) == [(2, 1), (-1, 1)]
    assert reasons(log) == [
        (3, "it takes back 2 of a row that is there 1 times"),
        (4, "it takes back 1 of a row that is there 0 times"),
        (5, "its weight is NULL"),
    ]


@pytest.mark.parametrize("key", [None, ["id"]])
def test_a_change_data_feed(tmp_path: Path, key: list[str] | None) -> None:
    kinds = ["insert", "update_preimage", "update_postimage", "delete", "moved"]
    table = pa.table({"id": [1, 1, 2, 2, 3], "_change_type": kinds, "_commit_version": [0, 1, 1, 2, 3]})
    log = logged(tmp_path, table, changes="cdf", key=key)
    assert rows(log) == [(1, 1), (-1, 1), (1, 2), (-1, 2)]
    assert log.columns == (("id", log.columns[0][1]),)
    assert [line for line, _ in reasons(log)] == [5]
    # An update is one event: a batch never ends between what it takes back and what it puts there.
    stream, sizes = replayed(log, batch=1), []
    while stream.waiting:
        stream, batch = stream.next()
        sizes.append(batch.num_rows)
    assert sizes == [1, 2, 1]
    assert replayed(log, history=2).history == 3


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("key", [None, ["id"]])
def test_images_of_a_version_come_in_any_order(tmp_path: Path, key: list[str] | None, seed: int) -> None:
    chosen, there, feed = random.Random(seed), dict[int, int](), list[tuple[int, int, str, int]]()
    for version in range(40):
        changes = list[tuple[int, int, str, int]]()
        for id_ in chosen.sample(range(12), 4):
            if id_ not in there:
                there[id_] = chosen.randrange(3)
                changes.append((id_, there[id_], "insert", version))
            elif chosen.random() < 0.25:
                changes.append((id_, there.pop(id_), "delete", version))
            else:
                changes.append((id_, there.pop(id_), "update_preimage", version))
                moved = id_ if chosen.random() < 0.7 else 100 + version * 12 + id_
                there[moved] = chosen.randrange(3)  # often what it was
                changes.append((moved, there[moved], "update_postimage", version))
        feed += chosen.sample(changes, len(changes)) if key else sorted(changes, key=lambda change: change[2] > "i")
    names = ["id", "v", "_change_type", "_commit_version"]
    log = logged(
        tmp_path, pa.table(dict(zip(names, map(list, zip(*feed, strict=True)), strict=True))), changes="cdf", key=key
    )
    found = Counter[tuple[object, ...]]()
    for weight, *row in rows(log):
        assert isinstance(weight, int)
        found[tuple(row)] += weight
    assert reasons(log) == [] and +found == Counter(there.items())


def test_an_image_that_is_not_the_current_one_takes_nothing_back(tmp_path: Path) -> None:
    feed = [
        (1, 5, "insert"),
        (1, 6, "update_postimage"),
        (1, 5, "update_preimage"),
        (1, 5, "delete"),
        (1, None, "delete"),
    ]
    table = pa.table(dict(zip(["id", "v", "_change_type"], map(list, zip(*feed, strict=True)), strict=True)))
    log = logged(tmp_path, table, changes="cdf", key=["id"])
    assert rows(log) == [(1, 1, 5), (-1, 1, 5), (1, 1, 6), (-1, 1, 6)]  # the last one has nothing but its key
    assert reasons(log) == [(4, "it takes back an image of a row that has another one now (id)")]


def test_rows_come_back_as_they_were(tmp_path: Path) -> None:
    """Through the current rows on disk: the ends of every type, NaN and the sign of a zero."""
    values = {
        "x": pa.array([math.nan, -0.0, math.inf, 5e-324, None]),
        "n": pa.array([2**63 - 1, -(2**63), 0, None, 1]),
        "m": pa.array([Decimal("1E-7"), Decimal("-9" * 1), None, Decimal("9" * 31), Decimal(0)], pa.decimal128(38, 7)),
        "d": pa.array([dt.date(1, 1, 1), dt.date(9999, 12, 31), None, None, None]),
        "t": pa.array(
            [dt.datetime(1, 1, 1), dt.datetime(9999, 12, 31, 23, 59, 59, 999999)] + [None] * 3, pa.timestamp("us")
        ),
        "s": ["é", "", 'a"b\\', "\n", None],
        "f": [True, False, None, None, None],
    }
    first = pa.table({"id": range(5), **values})
    second = pa.table({"id": range(5), **{name: [None] * 5 for name in values}}, schema=first.schema)
    log = logged(tmp_path, without_nulls(pa.concat_tables([first, second])), changes="upsert", key="id")
    stored = log.read(0, 10).drop_columns([WEIGHT, EVENT])
    # As text, since NaN is not equal to itself and 0.0 is equal to -0.0.
    assert list(map(str, stored.slice(5).to_pylist())) == list(map(str, first.cast(stored.schema).to_pylist()))


def test_random_changes_leave_what_a_dictionary_has(tmp_path: Path) -> None:
    chosen = random.Random(7)
    changes = [(chosen.randrange(12), chosen.choice([None, 1, 2, 3])) for _ in range(600)]
    table = pa.table({"id": [k for k, _ in changes], "v": pa.array([v for _, v in changes], pa.int64())})
    log = logged(tmp_path, without_nulls(table), changes="upsert", key=["id"])
    current: dict[int, int] = {}
    for key, value in changes:
        current.pop(key, None)
        if value is not None:
            current[key] = value
    bag: Counter[tuple[object, ...]] = Counter()
    for weight, *row in rows(log):
        bag[tuple(row)] += int(str(weight))
        assert bag[tuple(row)] >= 0
    assert +bag == Counter(current.items())


RECORDS: list[dict[str, object]] = [
    {"id": 1, "v": 7}, {"id": 2, "v": 1}, {"id": 2, "v": None}, {"id": 1}, {"id": 3, "v": None}
]  # fmt: skip
ROWS = [(1, 1, 7), (1, 2, 1), (-1, 2, 1), (1, 2, None), (-1, 1, 7), (1, 3, None)]


@pytest.mark.parametrize("declared", [{}, {"v": "integer"}])
@pytest.mark.parametrize("form", ["list", "lines", "array"])
def test_a_row_of_nulls_is_a_row(tmp_path: Path, form: str, declared: dict[str, str]) -> None:
    """Only a record that has nothing but its key takes a row back."""
    source: object = RECORDS
    if form != "list":
        source = tmp_path / ("rows.jsonl" if form == "lines" else "rows.json")
        lines = "\n".join(map(json.dumps, RECORDS))
        source.write_text(lines if form == "lines" else json.dumps(RECORDS))
    upsert = corrections_of("upsert", ["id"], None)
    log = ingest("s", source, tmp_path / "s", columns=declared, corrections=upsert)
    assert rows(log) == ROWS and reasons(log) == [] and [name for name, _ in log.columns] == ["id", "v"]


@pytest.mark.parametrize("form", ["arrow", "pandas", "csv"])
def test_rows_of_tables_are_always_rows(tmp_path: Path, form: str) -> None:
    table = pa.Table.from_pylist(RECORDS)
    source: object = table if form == "arrow" else table.to_pandas()
    if form == "csv":
        source = tmp_path / "rows.csv"
        table.to_pandas().astype({"v": "Int64"}).to_csv(source, index=False)
    log = ingest("s", source, tmp_path / "s", corrections=corrections_of("upsert", ["id"], None))
    assert rows(log) == [*ROWS[:5], (1, 1, None), ROWS[5]] and reasons(log) == []


def test_a_key_of_two_columns_and_nothing_but_a_key(tmp_path: Path) -> None:
    records = [{"a": 1, "b": 2, "v": 3}, {"a": 1, "b": 2}, {"a": None, "v": 3}, {"a": 1, "b": 2, "v": None}]
    log = logged(tmp_path, records, changes="upsert", key=["a", "b"])
    assert rows(log) == [(1, 1, 2, 3), (-1, 1, 2, 3), (1, 1, 2, None)]
    assert reasons(log) == [(3, "a column of the key is NULL: a, b")]
    only = ingest("t", [{"id": 1}], tmp_path / "t", corrections=corrections_of("upsert", ["id"], None))
    assert rows(only) == [(1, 1)]  # a stream that has no other column has rows


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"key": ["id"]}, "a key, and nothing that says how rows change"),
        ({"changes": "upsert"}, "an upsert needs a key"),
        ({"changes": "upsrt", "key": ["id"]}, "changes='upsrt'"),
        ({"weight": "w", "key": ["id"]}, "weight does not go with key"),
        ({"changes": "upsert", "key": ["idd"]}, "no column idd for the key"),
        ({"weight": "v"}, "no column v of whole numbers to take weights from"),
        ({"changes": "cdf"}, "no column _change_type"),
    ],
)
def test_what_does_not_go_together_is_refused(tmp_path: Path, how: dict[str, object], message: str) -> None:
    with pytest.raises(StreamError, match=message):
        logged(tmp_path, pa.table({"id": [1], "v": ["a"]}), **how)


def test_lateness_does_not_go_with_corrections(tmp_path: Path) -> None:
    with pytest.raises(StreamError, match="lateness does not go with corrections"):
        ingest(
            "s", pa.table({"id": [1]}), tmp_path / "s", time="id", lateness=1,
            corrections=corrections_of(Changes.UPSERT, ["id"], None),
        )  # fmt: skip


ENVELOPES = [
    {"op": "r", "before": None, "after": {"id": 1, "v": "a"}, "ts_ms": 1},
    {"op": "c", "before": None, "after": {"id": 2, "v": "b"}, "ts_ms": 2},
    {"op": "u", "before": {"id": 1, "v": "a"}, "after": {"id": 1, "v": "c"}, "ts_ms": 3},
    {"op": "u", "before": {"id": 1, "v": "c"}, "after": {"id": 4, "v": "c"}, "ts_ms": 4},
    {"op": "d", "before": {"id": 2, "v": "b"}, "after": None, "ts_ms": 5},
    {"op": None, "before": None, "after": None, "ts_ms": None},
    {"op": "t", "before": None, "after": None, "ts_ms": 6},
]
"""As Debezium's PostgreSQL connector writes them, with a key that changes and a table that is truncated."""


@pytest.mark.parametrize("key", [None, ["id"]])
@pytest.mark.parametrize("wrapped", [False, True])
def test_debezium(tmp_path: Path, key: list[str] | None, wrapped: bool) -> None:
    lines = [json.dumps({"schema": {"type": "struct"}, "payload": e} if wrapped else e) for e in ENVELOPES]
    file = tmp_path / "topic.jsonl"
    file.write_text("\n".join([*lines, "", "poison"]))
    log = ingest("s", file, tmp_path / "s", corrections=corrections_of("debezium", key, None))
    changes = [(1, 1, "a"), (1, 2, "b"), (-1, 1, "a"), (1, 1, "c"), (-1, 1, "c"), (1, 4, "c"), (-1, 2, "b")]
    assert rows(log) == [*changes, (-1, 4, "c")]
    assert [line for line, _ in reasons(log)] == [9]


def test_debezium_without_the_row_before(tmp_path: Path) -> None:
    """With a key nothing of ``before`` is needed but the key of a row that is deleted."""
    envelopes = [
        {"op": "c", "after": {"id": 1, "v": "a"}},
        {"op": "u", "after": {"id": 1, "v": "b"}},
        {"op": "d", "before": {"id": 1}, "after": None},
    ]
    log = logged(tmp_path, envelopes, changes="debezium", key=["id"])
    assert rows(log) == [(1, 1, "a"), (-1, 1, "a"), (1, 1, "b"), (-1, 1, "b")]
    other = ingest("s", envelopes, tmp_path / "t", corrections=corrections_of("debezium", None, None))
    assert rows(other) == [(1, 1, "a")]
    assert [line for line, _ in reasons(other)] == [2, 3]


def test_json_lines_and_lists_of_dicts(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text('{"id": 1, "x": 1.5}\n{"id": 2, "s": "é"}\n[]\n{"id": "three"}\n\n{"id": 3, "x": null, "s": ""}\n')
    log = ingest("s", file, tmp_path / "s")
    assert log.read(0, 9).to_pylist() == [
        {"id": 1, "x": 1.5, "s": None}, {"id": 2, "x": None, "s": "é"}, {"id": 3, "x": None, "s": ""}
    ]  # fmt: skip
    assert [line for line, _ in reasons(log)] == [3, 4]
    assert ingest("t", [{"id": 1}, {"id": 2, "b": True}], tmp_path / "t").read(0, 9).to_pylist() == [
        {"id": 1, "b": None}, {"id": 2, "b": True}
    ]  # fmt: skip


def test_a_fraction_is_never_cut_to_a_whole_number(tmp_path: Path) -> None:
    """Also not within an envelope, where the columns' types come from the first rows."""
    schema = pa.schema([("id", pa.int64()), ("after", pa.struct([("v", pa.int64())]))])
    records: list[Mapping[str, object]] = [
        {"id": 1, "after": {"v": 2.0}}, {"id": 2.5, "after": None}, {"id": Decimal("3.5")},
        {"id": 4, "after": {"v": 0.5}}, {"id": float("nan")}, {"id": float("inf")},
        {"id": None, "after": {"v": None}}, {"id": Decimal("1E+40")},
    ]  # fmt: skip
    chunk = rows_of([(n, record, record) for n, record in enumerate(records, 1)], schema)
    assert chunk.rows.to_pylist() == [{"id": 1, "after": {"v": 2}}, {"id": None, "after": {"v": None}}]
    assert chunk.lines.tolist() == [1, 7] and [row.line for row in chunk.quarantined] == [2, 3, 4, 5, 6, 8]
    assert [chunk.quarantined[place].reason for place in (0, 2)] == [
        "id: 2.5 is no integer",
        "after.v: 0.5 is no integer",
    ]


UNSENT = "__debezium_unavailable_value"


def unsent_base64() -> str:
    return base64.b64encode(UNSENT.encode()).decode()


@pytest.mark.parametrize(
    ("value", "placeholder"),
    [
        ("long", UNSENT), ("bG9uZw==", unsent_base64()), (b"long", UNSENT.encode()), (["a", "b"], [UNSENT]),
        ([1, 2], [*UNSENT.encode()]), ([b"a"], [UNSENT.encode()]), ('{"a": 1}', UNSENT), (None, UNSENT),
        (["bG9uZw=="], [unsent_base64()]), ('"a"=>"b"', json.dumps({UNSENT: UNSENT}, separators=(",", ":"))),
    ],
)  # fmt: skip
@pytest.mark.parametrize("together", [True, False])
def test_a_value_that_was_not_sent_is_that_of_the_current_row(
    tmp_path: Path, value: object, placeholder: object, together: bool
) -> None:
    """Also where the row before is of the same chunk, was not sent itself, or has another key."""
    envelopes = [
        {"op": "c", "after": {"id": 1, "v": value, "n": 1}},
        {"op": "u", "after": {"id": 1, "v": placeholder, "n": 2}},
        {"op": "u", "before": {"id": 1}, "after": {"id": 2, "v": placeholder, "n": 3}},
        {"op": "u", "after": {"id": 2, "v": placeholder, "n": 4}},
        {"op": "u", "after": {"id": 1, "v": placeholder, "n": 5}},
        {"op": "d", "before": {"id": 2, "v": placeholder}},
    ]
    opened = open_source(envelopes, tmp_path, ExitStack())
    corrections = corrections_of("debezium", ["id"], None)
    assert corrections is not None
    if not together:
        (whole,) = opened.chunks
        parts = (Chunk(whole.rows.slice(at, 1), whole.lines[at : at + 1]) for at in range(len(envelopes)))
        opened = OpenedSource(opened.schema, parts)
    unfolded = unfold(opened, corrections)
    types = column_types(unfolded, {})
    columns = log_schema(corrections.without_control(types).items())
    changes, why = list[tuple[object, ...]](), dict[int, str]()
    with closing(sqlite3.connect(":memory:")) as database:
        current = CurrentRows(database, columns, corrections)
        for chunk in unfolded.chunks:
            given, lines, _ = fit(chunk, types, log_schema(types.items()))
            found, rejected = current.apply(given, lines)
            changes += [(row[WEIGHT], row["id"], row["v"], row["n"]) for row in found.to_pylist()]
            why |= {int(lines[at]): reason for at, reason in rejected.items()}
    expected, _ = convert(
        pa.array([value], pa.schema(list(opened.schema.field("after").type)).field("v").type), types["v"]
    )
    v = expected.to_pylist()[0]
    assert changes == [
        (1, 1, v, 1), (-1, 1, v, 1), (1, 1, v, 2), (-1, 1, v, 2),
        (1, 2, v, 3), (-1, 2, v, 3), (1, 2, v, 4), (-1, 2, v, 4),
    ]  # fmt: skip
    assert why == {5: "v: the value was not sent, and no row has the key (id) to keep it from"}


def test_a_value_that_was_not_sent_without_a_key(tmp_path: Path) -> None:
    """It is that of ``before``; where that has none, it cannot be known."""
    whole, part = {"id": 1, "v": "a", "n": 1}, {"id": 1, "v": UNSENT, "n": 2}
    envelopes = [{"op": "c", "after": whole}, {"op": "u", "before": whole, "after": part}, {"op": "d", "before": part}]
    log = logged(tmp_path, envelopes, changes="debezium")
    assert rows(log) == [(1, 1, "a", 1), (-1, 1, "a", 1), (1, 1, "a", 2)]
    assert reasons(log) == [(3, "op is d, and a value was not sent, which a key is needed to find: key=['id']")]


CONNECT: dict[str, tuple[str, str, object, str, object]] = {
    "amount": ("bytes", "org.apache.kafka.connect.data.Decimal", "BAg=", "decimal(38,4)", Decimal("0.1032")),
    "negative": ("bytes", "org.apache.kafka.connect.data.Decimal", "/w==", "decimal(38,4)", Decimal("-0.0001")),
    "text": ("string", "", "00.10", "string", "00.10"),
    "double": ("double", "", 2.5, "double", 2.5),
    "any_scale": ("struct", "io.debezium.data.VariableScaleDecimal", {"scale": 2, "value": "BAg="}, "string", "10.32"),
    "day": ("int32", "io.debezium.time.Date", 19000, "date", dt.date(2022, 1, 8)),
    "connect_day": ("int32", "org.apache.kafka.connect.data.Date", -1, "date", dt.date(1969, 12, 31)),
    "time": ("int32", "io.debezium.time.Time", 3600500, "string", "01:00:00.5"),
    "micro_time": ("int64", "io.debezium.time.MicroTime", 86399999999, "string", "23:59:59.999999"),
    "ms": ("int64", "io.debezium.time.Timestamp", 1500, "timestamp", dt.datetime(1970, 1, 1, 0, 0, 1, 500_000)),
    "us": ("int64", "io.debezium.time.MicroTimestamp", 1, "timestamp", dt.datetime(1970, 1, 1, 0, 0, 0, 1)),
    "ns": ("int64", "io.debezium.time.NanoTimestamp", 1_000, "timestamp", dt.datetime(1970, 1, 1, 0, 0, 0, 1)),
    "zoned": (
        "string", "io.debezium.time.ZonedTimestamp", "2024-01-01T02:00:00+02:00", "timestamp with time zone",
        dt.datetime(2024, 1, 1),
    ),
    "json": ("string", "io.debezium.data.Json", '{"a": 1.50}', "string", '{"a": 1.50}'),
    "uuid": ("string", "io.debezium.data.Uuid", "6c1d", "string", "6c1d"),
    "bytes": ("bytes", "", "AQI=", "string", "AQI="),
    "point": ("struct", "io.debezium.data.geometry.Point", {"x": 1, "y": 2.5}, "string", '{"x": 1, "y": 2.5}'),
    "whole": ("int32", "", 5, "integer", 5),
    "flag": ("boolean", "", True, "boolean", True),
}  # fmt: skip


def enveloped(op: str, after: Mapping[str, object], scale: int = 4) -> dict[str, object]:
    fields: list[dict[str, object]] = [{"field": "id", "type": "int64"}]
    for name, (kind, meaning, *_) in CONNECT.items():
        fields.append({"field": name, "type": kind, "optional": True} | ({"name": meaning} if meaning else {}))
        if meaning.endswith(".Decimal"):
            fields[-1]["parameters"] = {"scale": str(scale), "connect.decimal.precision": "15"}
    rows_ = [{"field": name, "type": "struct", "fields": fields} for name in ("before", "after")]
    return {"schema": {"type": "struct", "fields": rows_}, "payload": {"op": op, "before": None, "after": after}}


@pytest.mark.parametrize("nulls_first", [True, False])
@pytest.mark.parametrize("columns", [{}, {"amount": "decimal(15,4)", "day": "date", "ms": "timestamp ms"}])
@pytest.mark.parametrize("form", ["list", "lines", "folder"])
def test_the_schema_part_says_what_values_are(
    tmp_path: Path, form: str, columns: dict[str, str], nulls_first: bool
) -> None:
    values = {name: value for name, (_, _, value, _, _) in CONNECT.items()}
    some = [enveloped("c", {"id": 1, **values}), enveloped("c", {"id": 2, **dict.fromkeys(values)})]
    some = some[::-1] if nulls_first else some
    more = [
        enveloped("u", {"id": 1, **values}, scale=2),  # the column has another scale from now on
        enveloped("c", {"id": 3, **values, "amount": "?"}),
        enveloped("c", {"id": 4, **values, "day": 10**12}),
    ]
    source: object = [*some, *more]
    if form != "list":
        source = tmp_path / "a.jsonl"
        source.write_text("\n".join(map(json.dumps, [*some, *more])))
    corrections = corrections_of("debezium", ["id"], None)
    if form == "folder":
        reader = open_live(str(tmp_path / "*.jsonl"))
        assert reader is not None
        reader.declare(declared_types(columns))
        empty = OpenedSource(reader.schema, iter(()))
        log = ingest("s", empty, tmp_path / "s", columns=columns, corrections=corrections).growing(durable=False)
        take_in(log, reader, 99)
    else:
        log = ingest("s", source, tmp_path / "s", columns=columns, corrections=corrections)
    types = {name: type_ for name, (*_, type_, _) in CONNECT.items()}
    assert {name: str(type_) for name, type_ in log.columns} == {"id": "integer", **types} | (
        {"amount": "decimal(15,4)"} if columns else {}
    )
    found = {name: value for name, (*_, value) in CONNECT.items()}
    full, nothing = (1, 1, *found.values()), (1, 2, *dict.fromkeys(found).values())
    scaled = found | {"amount": Decimal("10.32"), "negative": Decimal("-0.01")}
    assert sorted(rows(log)[:2], key=str, reverse=True) == sorted([full, nothing], key=str, reverse=True)
    assert rows(log)[2:] == [(-1, *full[1:]), (1, 1, *scaled.values())]
    assert [why for _, why in reasons(log)] == [
        "amount: '?' is no org.apache.kafka.connect.data.Decimal", "day: '1000000000000' is no io.debezium.time.Date"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("type_", "values", "expected"),
    [
        ("decimal(15,4)", ["BAg=", "1234", None], [Decimal("0.1032"), Decimal("-265.8824"), None]),
        ("decimal(15,4)", ["0.1032", "1234", 12.5], [Decimal("0.1032"), Decimal("1234.0000"), Decimal("12.5000")]),
        ("decimal(15,0)", ["1234"], [Decimal(1234)]),
        ("decimal(15,4)", ["1234", None], [None]),  # it may be both
        (
            "decimal(15,4)",
            [1234, None, 5678],
            [Decimal("1234.0000"), None, Decimal("5678.0000")],
        ),  # numbers are no Base64
        ("decimal(15,0)", [1234, 10**14], [Decimal(1234), Decimal(10**14)]),
        ("decimal(15,4)", ["BAg=", "1.5", "1234"], [Decimal("0.1032"), Decimal("1.5000")]),
        ("decimal(15,4)", ["?", "BAg="], [Decimal("0.1032")]),
        ("decimal(15,4)", [{"scale": 3, "value": "BAg="}, {"scale": 9, "value": "BAg="}], [Decimal("1.0320")]),
        (
            "date",
            [19000, -1, "2022-01-08", None],
            [dt.date(2022, 1, 8), dt.date(1969, 12, 31), dt.date(2022, 1, 8), None],
        ),
        ("date", [19000, 10**8, "8.1.2022"], [dt.date(2022, 1, 8)]),
    ],
)
@pytest.mark.parametrize("added", ["list", "live"])
def test_declared_decimals_and_days_without_a_schema_part(
    tmp_path: Path, type_: str, values: list[object], expected: list[object], added: str
) -> None:
    envelopes = [{"op": "c", "before": None, "after": {"id": n, "v": value}} for n, value in enumerate(values)]
    corrections, columns = corrections_of("debezium", ["id"], None), {"v": type_}
    if added == "list":
        log = ingest("s", envelopes, tmp_path / "s", columns=columns, corrections=corrections)
    else:
        reader = open_live(iter(envelopes))
        assert reader is not None
        reader.declare(declared_types(columns))
        empty = OpenedSource(reader.schema, iter(()))
        log = ingest("s", empty, tmp_path / "s", columns=columns, corrections=corrections).growing(durable=False)
        take_in(log, reader, 99)
    assert [value for *_, value in rows(log)] == expected
    assert len(reasons(log)) == len(values) - len(expected) and all(type_ in why for _, why in reasons(log))


def test_whether_decimals_are_base64_is_decided_for_a_column(tmp_path: Path) -> None:
    """A value that could be a number, too, is read as those were that came with earlier batches."""
    texts = ["BAg=", "1234", "CwY=", "12.50", "7"]
    corrections, columns = corrections_of("debezium", ["id"], None), {"v": "decimal(9,0)"}
    envelopes = ({"op": "c", "before": None, "after": {"id": n, "v": text}} for n, text in enumerate(texts))
    reader = open_live(envelopes)
    assert reader is not None
    reader.declare(declared_types(columns))
    empty = OpenedSource(reader.schema, iter(()))
    log = ingest("s", empty, tmp_path / "s", columns=columns, corrections=corrections).growing(durable=False)
    for _ in texts:
        take_in(log, reader, 1)
    assert [value for *_, value in rows(log)] == [1032, -2658824, 2822, 7]
    assert [why for _, why in reasons(log)] == ["v: '12.50' is no decimal(9,0), or may be Base64 or not"]
