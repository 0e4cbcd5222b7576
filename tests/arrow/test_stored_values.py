"""Arrays as stored texts and as lists; that Spark writes the same texts is seen in tests/oracle/test_array_columns."""

from __future__ import annotations

import datetime as dt
import json
import math
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from workbench.arrow.stored_values import to_texts, to_values
from workbench.arrow.types import to_shown
from workbench.errors import StreamError
from workbench.sql.algebra.types import (
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    INTEGER,
    STRING,
    TIMESTAMP,
    DataType,
    Kind,
    array_of,
    decimal,
    map_of,
    struct_of,
)
from workbench.streams.convert import convert
from workbench.streams.files import json_lines
from workbench.streams.ingest import ingest

VALUES = {
    array_of(INTEGER): [[1, None, -(2**63), 2**63 - 1], [], None],
    array_of(STRING): [['"', "\\", "\x00\x1f\x7f\b\t\n\f\r", "é\U0001f600\u2028", "", "null", None]],
    array_of(BOOLEAN): [[True, False, None]],
    array_of(decimal(38, 7)): [[Decimal("1E-7"), Decimal("-100.0000000"), Decimal(10) ** 30, None]],
    array_of(DATE): [[dt.date(1, 1, 1), dt.date(9999, 12, 31), None]],
    array_of(TIMESTAMP): [[dt.datetime(1, 1, 1), dt.datetime(9999, 12, 31, 23, 59, 59, 999999), None]],
    array_of(array_of(array_of(INTEGER))): [[[[1], [], None], [], None]],
    BINARY: [b"", b"\x00\xff", None],
    struct_of([("a", DOUBLE), ("b c", array_of(BINARY))]): [
        {"a": 0.1, "b c": [b"x", None]},
        {"a": None, "b c": None},
        None,
        {"a": 1e300, "b c": []},
    ],
    array_of(struct_of([("t", TIMESTAMP), ("s", struct_of([("s", STRING)]))])): [
        [{"t": dt.datetime(1, 1, 1), "s": {"s": '"'}}, None, {"t": None, "s": None}],
    ],
    map_of(STRING, DOUBLE): [[("b", 0.1), ("a", None), ("", -0.5)], [], None],
    map_of(DATE, array_of(map_of(decimal(5, 2), TIMESTAMP))): [
        [(dt.date(1, 1, 1), [[(Decimal("1.50"), dt.datetime(9999, 1, 1))], None]), (dt.date(2024, 2, 29), None)],
    ],
    struct_of([("m", map_of(INTEGER, struct_of([("x", BINARY)])))]): [{"m": [(1, {"x": b"a"}), (0, None)]}, None],
}


@pytest.mark.parametrize("type_", VALUES, ids=str)
def test_texts_are_the_lists_that_they_were_made_of(type_: DataType) -> None:
    lists = pa.array(VALUES[type_], to_shown(type_))
    assert to_values(to_texts(lists, type_), type_).equals(lists)


def drawn_type(random: Random, depth: int) -> DataType:
    """A type with parts inside parts."""
    if depth and (kind := random.randrange(4)) < 3:
        if kind == 0:
            return array_of(drawn_type(random, depth - 1))
        if kind == 1:
            return struct_of([(name, drawn_type(random, depth - 1)) for name in ("a", "b c")])
        return map_of(random.choice([INTEGER, STRING, DATE]), drawn_type(random, depth - 1))
    return random.choice([INTEGER, STRING, DOUBLE, DATE, TIMESTAMP, BOOLEAN, BINARY, decimal(20, 7)])


def drawn_value(random: Random, type_: DataType, key: bool = False) -> Any:
    """A value of a type, as Python has it, NULL once in a while."""
    if not key and random.random() < 0.2:
        return None
    match type_.kind:
        case Kind.ARRAY:
            return [drawn_value(random, type_.element) for _ in range(random.randrange(4))]  # type: ignore[arg-type]
        case Kind.STRUCT:
            return {name: drawn_value(random, field) for name, field in type_.fields}
        case Kind.MAP:
            own, value = type_.key_and_value
            return [
                *{
                    drawn_value(random, own, True): drawn_value(random, value) for _ in range(random.randrange(3))
                }.items()
            ]
    return random.choice(
        {
            Kind.INTEGER: [0, -1, 2**63 - 1],
            Kind.STRING: ["", '"', "\\n\n\x01", "é\U0001f600"],
            Kind.DOUBLE: [0.1, -1e300, 5e-324, math.inf, 0.0],
            Kind.DATE: [dt.date(1, 1, 1), dt.date(2024, 2, 29)],
            Kind.TIMESTAMP: [dt.datetime(1969, 12, 31, 23, 59, 59, 1)],
            Kind.BOOLEAN: [True, False],
            Kind.BINARY: [b"", b"\xff\x00"],
            Kind.DECIMAL: [Decimal("1E-7"), Decimal("-12.5000000")],
        }[type_.kind]
    )


@pytest.mark.parametrize("seed", range(40))
def test_any_values_are_read_as_they_were_written(seed: int) -> None:
    random = Random(seed)
    type_ = array_of(drawn_type(random, 3))
    values = pa.array([drawn_value(random, type_) for _ in range(30)], to_shown(type_))
    texts = to_texts(values, type_)
    assert to_values(texts, type_).equals(values)
    assert to_texts(values.slice(7, 9), type_).equals(texts.slice(7, 9))
    assert to_values(texts.slice(7, 9), type_).equals(values.slice(7, 9))
    for text, value in zip(texts.to_pylist(), values, strict=True):
        assert text is None if not value.is_valid else len(json.loads(text)) == len(value)


def test_texts_are_those_of_spark() -> None:
    texts = to_texts(pa.array(VALUES[array_of(STRING)]), array_of(STRING)).to_pylist()
    assert texts == ['["\\"","\\\\","\\u0000\\u001F\x7f\\b\\t\\n\\f\\r","é\U0001f600\u2028","","null",null]']
    (sums,) = to_texts(pa.array([[Decimal("1E-7"), Decimal("0E-7")]], pa.list_(pa.decimal128(38, 7))),
                       array_of(decimal(38, 7))).to_pylist()  # fmt: skip
    assert sums == "[1E-7,0E-7]"


def test_floats_are_whole_numbers_of_their_lowest_bit() -> None:
    floats = pa.array([[-0.0, 0.1, 5e-324, 2.0**1023, -math.inf, math.nan, None]], pa.list_(pa.float64()))
    (text,) = to_texts(floats, array_of(DOUBLE)).to_pylist()
    assert text == "[[0,0],[7205759403792794,-56],[1,-1074],[4503599627370496,971],[-1,9999],[0,1],null]"
    (values,) = to_values(pa.array([text]), array_of(DOUBLE)).to_pylist()
    assert math.isnan(values.pop(5)) and values == [0.0, 0.1, 5e-324, 2.0**1023, -math.inf, None]


def test_texts_of_json_that_no_list_can_have_are_misfits() -> None:
    texts = pa.array(["[1]", "[99999999999999999999]", "[" * 100_000, "[1.5]"])
    values, misfits = convert(texts, array_of(INTEGER))
    assert misfits is not None
    assert values.to_pylist() == ["[1]", None, None, None] and misfits.tolist() == [False, True, True, True]


def read(log: object) -> list[object]:
    texts = log.read(0, log.rows).column("x").combine_chunks()  # type: ignore[attr-defined]
    return to_values(texts, dict(log.columns)["x"]).to_pylist()  # type: ignore[attr-defined]


def test_a_map_has_a_key_once_and_keeps_the_order_of_its_entries(tmp_path: Path) -> None:
    type_ = pa.map_(pa.string(), pa.int32())
    maps = pa.array([[("b", 1), ("a", None)], [("a", 1), ("a", 2)], None, [("é", 3)]], type_)
    log = ingest("x", pa.table({"x": maps}), tmp_path / "log")
    assert log.columns == (("x", map_of(STRING, INTEGER)),)
    assert read(log) == [[("b", 1), ("a", None)], None, [("é", 3)]]
    assert [row.line for row in log.quarantined] == [2]
    keys = pa.MapArray.from_arrays([0, 1], pa.array(["a"]), pa.array([1]))
    assert to_texts(keys, map_of(STRING, INTEGER)).to_pylist() == ['[{"f0":"a","f1":1}]']


def test_texts_of_json_are_read_as_maps_where_that_is_said(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text('id,x\n1,"{""b"": 1.5, ""a"": null}"\n2,\n3,{}\n4,[]\n5,"{""a"": ""b""}"\n6,"{""a"": 2}"\n')
    log = ingest("x", path, tmp_path / "log", columns={"x": "MAP<string, decimal(5,2)>"})
    assert read(log) == [[("b", Decimal("1.50")), ("a", None)], None, [], [("a", Decimal("2.00"))]]
    assert [row.line for row in log.quarantined] == [5, 6]


def test_what_is_no_list_is_quarantined(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"x": ["a", "b"]}\n{"x": "ab"}\n{"x": []}\n{"x": null}\n{"x": [1]}\n')
    log = ingest("x", path, tmp_path / "log")
    assert log.columns == (("x", array_of(STRING)),) and read(log) == [["a", "b"], [], None, ["1"]]
    assert [row.line for row in log.quarantined] == [2]


def test_lists_without_elements_are_of_texts(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"x": []}\n{"x": [["a"]]}\n')
    assert ingest("x", path, tmp_path / "log").columns == (("x", array_of(array_of(STRING))),)
    path.write_text('{"x": []}\n')
    assert ingest("x", path, tmp_path / "other").columns == (("x", array_of(STRING)),)


def test_texts_of_json_are_read_as_arrays_where_that_is_said(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text('id,x\n1,"[1.5, 2]"\n2,\n3,"[""a""]"\n4,7\n5,[\n6,"[0.125, null]"\n')
    log = ingest("x", path, tmp_path / "log", columns={"x": "ARRAY<decimal(5,2)>"})
    assert read(log) == [[Decimal("1.50"), Decimal("2.00")], None]
    assert [row.line for row in log.quarantined] == [4, 5, 6, 7]


@pytest.mark.parametrize(
    ("frame", "columns", "message"),
    [
        (pd.DataFrame({"x": [[1]]}), {"x": "array<word>"}, "column x: unknown type word"),
        (pd.DataFrame({"x": [1]}), {"x": "array<bigint>"}, "column x of type int64 cannot be read as array<integer>"),
        (pd.DataFrame({"x": [[{"a": 1}]]}), {"x": "array<struct<a>>"}, "column x: struct<a> is no type of structs"),
        (
            pd.DataFrame({"x": [[{"a": 1, "b": 2}]]}),
            {"x": "array<struct<a:bigint>>"},
            "column x of type list<item: struct<a: int64, b: int64>> cannot be read as array<struct<a:integer>>",
        ),
        (pd.DataFrame({"x": [{"a": 1}]}), {"x": "map<string>"}, "column x: map<string> is no type of maps"),
        (pd.DataFrame({"x": [{"a": 1}]}), {"x": "map<double,int>"}, "column x: a map with keys of type double"),
        (
            pd.DataFrame({"x": [{"a": 1}]}),
            {"x": "map<string,int>"},
            "column x of type struct<a: int64> cannot be read as map<string,integer>",
        ),
        (
            pd.DataFrame({"x": [1]}),
            {"x": "array<interval year to month>"},
            "column x: no stream has a column of years and months",
        ),
        (pd.DataFrame({"x": ["0aff"]}), {"x": "binary"}, "column x of type string cannot be read as binary"),
        (
            pa.table({"x": pa.array([{"a": 1, "A": 2}])}),
            {},
            "column x: values of type struct<a: int64, A: int64>: a struct with two fields of one name: a, a",
        ),
    ],
)
def test_arrays_that_a_stream_does_not_have(
    frame: pd.DataFrame | pa.Table, columns: dict[str, str], message: str, tmp_path: Path
) -> None:
    with pytest.raises(StreamError) as raised:
        ingest("x", frame, tmp_path / "log", columns=columns)
    assert raised.value.message == message and raised.value.hint


def test_objects_of_json_lines_are_structs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_lines, "SAMPLE_LINES", 2)
    path = tmp_path / "rows.jsonl"
    lines = [
        '{"x": {"Name": "a", "price": 0.1, "tags": []}}',
        '{"x": {"Name": "b", "price": 2}}',
        '{"x": {"Name": "c", "more": 1}}',
        '{"x": {"Name": 7}}',
        '{"x": [1]}',
        '{"x": null}',
    ]
    path.write_text("\n".join(lines))
    log = ingest("x", path, tmp_path / "log")
    assert log.columns == (("x", struct_of([("name", STRING), ("price", DOUBLE), ("tags", array_of(STRING))])),)
    assert read(log) == [
        {"name": "a", "price": 0.1, "tags": []}, {"name": "b", "price": 2.0, "tags": None},
        {"name": "c", "price": None, "tags": None}, None,
    ]  # fmt: skip
    assert [(row.line, row.reason) for row in log.quarantined] == [
        (4, "x.Name: 7 is no string"),
        (5, "x: [1] is no struct<name:string,price:double,tags:array<string>>"),
    ]


def test_texts_of_json_are_read_as_structs_where_that_is_said(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text('id,x\n1,"{""A"": 1.5}"\n2,\n3,"{""b"": [{""c"": 2}]}"\n4,7\n5,"{""b"": [{""d"": 2}]}"\n')
    log = ingest("x", path, tmp_path / "log", columns={"x": "STRUCT<a: double, b: array<struct<c: int>>>"})
    assert read(log) == [{"a": 1.5, "b": None}, None, {"a": None, "b": [{"c": 2}]}]
    assert [row.line for row in log.quarantined] == [5, 6]


def test_a_later_value_of_other_fields_is_a_misfit() -> None:
    """Arrow would leave the field out, or cast no number to a struct."""
    type_ = struct_of([("a", INTEGER)])
    for values in (pa.array([{"a": 1, "b": 2}, None]), pa.array([1, None])):
        fitting, misfit = convert(values, type_)
        assert fitting.to_pylist() == [None, None] and misfit is not None and misfit.tolist() == [True, False]
    fitting, misfit = convert(pa.array([{"A": 1}, {"A": None}, None]), type_)
    assert fitting.to_pylist() == ['{"f0":1}', '{"f0":null}', None] and misfit is None
