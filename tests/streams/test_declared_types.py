"""What is declared of columns is obeyed: texts, digits, NULLs and times of files, lists, folders and live sources."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from workbench.errors import StreamError
from workbench.session.live.sources import begin_live
from workbench.streams.files.csv_layout import CsvOptions
from workbench.streams.ingest import declared_types, ingest
from workbench.streams.live.sources import open_live
from workbench.streams.log import StreamLog
from workbench.streams.source import OpenedSource

MOMENT = dt.datetime(2023, 11, 14, 22, 13, 20, 123_000)


def of_file(text: str, folder: Path, columns: dict[str, str]) -> StreamLog:
    path = folder / "x.jsonl"
    path.write_text(text)
    return ingest("x", path, folder / "log", columns=columns)


def of_folder(text: str, folder: Path, columns: dict[str, str]) -> StreamLog:
    (folder / "in").mkdir()
    (folder / "in/1.jsonl").write_text(text)
    return _live(str(folder / "in/*.jsonl"), folder, columns)


def _live(source: object, folder: Path, columns: dict[str, str]) -> StreamLog:
    reader = open_live(source)
    assert reader is not None
    reader.declare(declared_types(columns))
    log = ingest("x", OpenedSource(reader.schema, iter(()), reader.inferred), folder / "log", columns=columns)
    return begin_live(log, reader, source, 100, durable=False)


KINDS = {
    "decimals": ("decimal(20,2)", ["12345678901234567.89", "0.07", "5"], ["12345678901234567.89", "0.07", "5.00"]),
    "digits": ("decimal(38,0)", ["1", "327267367867168100000"], ["1", "327267367867168100000"]),
    "texts": ("string", ["471", '"0471"', "1.50", "true", "null"], ["471", "0471", "1.50", "true", "None"]),
    "nulls": ("integer", ["null", "null", "7"], ["None", "None", "7"]),
    "doubles": ("double", ["1", "12345678901234567.5", "2.5"], ["1.0", "1.2345678901234568e+16", "2.5"]),
    "milliseconds": ("timestamp ms", ["1700000000123", "null"], [str(MOMENT), "None"]),
    "seconds": ("timestamp s", ["1700000000.123"], [str(MOMENT)]),
    "days": ("date ms", ["1700000000123"], ["2023-11-14"]),
    "times": ("timestamp", ['"2023-11-14T22:13:20.123"'], [str(MOMENT)]),
    "pattern": ("date d.M.yyyy", ['"14.11.2023"', '"1.2.2024"'], ["2023-11-14", "2024-02-01"]),
    "lists": ("array<integer>", ["null", "[1, 2]"], ["None", "[1,2]"]),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("added", [of_file, of_folder])
def test_values_of_json_are_what_is_declared(added: Any, kind: str, tmp_path: Path) -> None:
    type_, written, expected = KINDS[kind]
    log = added("".join(f'{{"v":{value},"n":{n}}}\n' for n, value in enumerate(written)), tmp_path, {"V": type_})
    assert ([str(row["v"]) for row in log.read(0, 99).to_pylist()], log.quarantined) == (expected, ())


@pytest.mark.parametrize("kind", ["texts", "nulls", "digits", "milliseconds", "pattern", "lists"])
def test_values_of_python_are_what_is_declared(kind: str, tmp_path: Path) -> None:
    type_, written, expected = KINDS[kind]
    rows = [{"v": eval(value, {"null": None, "true": True}), "n": n} for n, value in enumerate(written)]
    for number, source in enumerate([rows, iter(rows)]):
        folder = tmp_path / str(number)
        folder.mkdir()
        columns = {"v": type_}
        log = ingest("x", source, folder / "log", columns=columns) if source is rows else _live(source, folder, columns)
        found = [str(row["v"]).replace("1.5", "1.50") for row in log.read(0, 99).to_pylist()]
        assert (found, log.quarantined) == (expected, ())


def test_what_a_line_declares_is_not_asked_for_again(tmp_path: Path) -> None:
    (tmp_path / "shares.csv").write_text("v,n\n12 %,1\n7.5 %,2\n")
    log = ingest("x", str(tmp_path / "shares.csv"), tmp_path / "log", columns={"v": "double"})
    assert log.guesses["v"].why == "declared; numbers as 12 %"


def test_the_unit_of_a_time_is_found_out_where_it_is_not_declared_and_said(tmp_path: Path) -> None:
    with pytest.raises(StreamError, match="timestamp ms, or s, us or ns, declares the unit"):
        of_file('{"v":1700000000123}\n{"v":12}\n', tmp_path, {"v": "timestamp"})
    log = of_file('{"v":1700000000123}\n' * 3 + '{"v":12}\n', tmp_path, {"v": "timestamp"})
    assert [entry.reason for entry in log.quarantined] == ["v: '12' is no timestamp"]
    assert log.read(0, 1).to_pylist() == [{"v": MOMENT}]
    assert log.guesses["v"].why == "declared; milliseconds since 1970, as its values say: timestamp ms declares that"


@pytest.mark.parametrize(
    ("values", "declared", "expected"),
    [
        ([1_700_000_000_123], "timestamp ms", MOMENT),
        ([1_700_000_000_123], "timestamp", MOMENT),  # the unit in which it is between 1990 and 2100
        ([None, 1_700_000_000.123], "timestamp", MOMENT),
        ([Decimal("1700000000.123")], "timestamp s", MOMENT),
        ([-1], "timestamp us", dt.datetime(1969, 12, 31, 23, 59, 59, 999_999)),
        ([-1], "date ms", dt.date(1969, 12, 31)),
        ([19_700], "timestamp", None),
        ([], "timestamp", None),
        ([1.5], "date", None),
    ],
)
@pytest.mark.parametrize("is_live", [False, True])
def test_numbers_of_typed_sources_are_times_in_a_unit(
    values: list[object], declared: str, expected: object, is_live: bool, tmp_path: Path
) -> None:
    table = pa.table({"t": pa.array(values, None if values else pa.int64())})
    form = declared.partition(" ")[2]
    if is_live:
        (tmp_path / "in").mkdir()
        pq.write_table(table, tmp_path / "in/1.parquet")
    columns = {"T": declared}
    if expected is None or (is_live and not form):
        with pytest.raises(StreamError, match="numbers without a unit"):
            _live(f"{tmp_path}/in/*", tmp_path, columns) if is_live else ingest(
                "x", table, tmp_path / "log", columns=columns
            )
        return
    log = (
        _live(f"{tmp_path}/in/*", tmp_path, columns)
        if is_live
        else ingest("x", table, tmp_path / "log", columns=columns)
    )
    assert [*filter(None, log.read(0, 2)["t"].to_pylist())] == [expected]
    assert ("declared, as" if form else "as its values say") in log.guesses["t"].why


def test_numbers_of_json_that_are_not_declared_keep_their_digits(tmp_path: Path) -> None:
    text = '{"a":12345678901234567.89,"b":0.5,"c":[1.5,12345678901234567.89]}\n{"a":0.07,"b":0.1,"c":[2]}\n'
    later = '{"a":0.125,"b":12345678901234567.89,"c":[]}\n{"a":1,"b":1e400,"c":null}\n'
    log = of_file(text + '{"a":1.5,"b":1,"c":null}\n' * 10_000 + later, tmp_path, {})
    assert [str(type_) for _, type_ in log.columns] == ["decimal(38,2)", "double", "array<decimal(38,2)>"]
    assert log.read(0, 1).to_pylist()[0]["a"] == Decimal("12345678901234567.89")
    reasons = [entry.reason for entry in log.quarantined]
    assert ["is no" in reason for reason in reasons] == [True, True] and "1E+400" in reasons[1]


@pytest.mark.parametrize("declared", [{}, {"t": "string"}])
def test_records_of_which_a_part_would_be_lost_are_quarantined(declared: dict[str, str], tmp_path: Path) -> None:
    text = '{"t":"ok"}\n{"t":"\\ud800"}\n{"t":"a","t":"b"}\n{"t":"1"}\n'
    log = of_file(text, tmp_path, declared)
    assert [row["t"] for row in log.read(0, 9).to_pylist()] == ["ok", "1"]
    first, second = (entry.reason for entry in log.quarantined)
    assert ("t: '\\ud800' is no string" in (first, second)) and "it has a member twice: t" in (first, second)


@pytest.mark.parametrize(
    ("type_", "text", "expected"),
    [
        ("date MMM d yyyy", "Mar 5 2024", dt.date(2024, 3, 5)),
        ("date MMMM d yyyy", "march 5 2024", dt.date(2024, 3, 5)),
        ("timestamp d.MM.yy h:mm a", "31.12.24 12:03 am", dt.datetime(2024, 12, 31, 0, 3)),
        ("timestamp yyyyMMdd'T'HHmmss.SSS", "20240305T101112.345", dt.datetime(2024, 3, 5, 10, 11, 12, 345_000)),
        ("date d/M/yyyy", "31/2/2024", None),
        ("date d/M/yyyy", "1-2-2024", None),
    ],
)
def test_patterns_of_dates(type_: str, text: str, expected: object, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text(f"n,d\n1,{text}\n2,\n")
    log = ingest("x", tmp_path / "x.csv", tmp_path / "log", columns={"d": type_})
    assert [row["d"] for row in log.read(0, 9).to_pylist()] == [expected] * (expected is not None) + [None]
    assert log.misfits == (expected is None)


@pytest.mark.parametrize(
    "type_",
    ["date foo", "timestamp yyyy yyyy", "date with time zone", "timestamp HH:mm", "date yyyy", "date yy yyyy MM"],
)
def test_patterns_that_say_no_date_are_refused(type_: str, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("d\n1\n")
    with pytest.raises(StreamError):
        ingest("x", tmp_path / "x.csv", tmp_path / "log", columns={"d": type_})


def test_decimals_are_declared_beside_the_form_of_numbers(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("fee;n\n1.234,56;1\nx;2\n2.155;3\n")
    columns, options = {"fee": "decimal(10,2)"}, CsvOptions(decimal=",")
    log = ingest("x", tmp_path / "x.csv", tmp_path / "log", columns=columns, options=options)
    assert [row["fee"] for row in log.read(0, 9).to_pylist()] == [Decimal("1234.56"), Decimal("2155.00")]
    assert [entry.reason for entry in log.quarantined] == ["fee: 'x' is no decimal(10,2)"]


@pytest.mark.parametrize(
    "text",
    [
        '[{"v": 1.50},\n {"v": 2}]\n',
        '\ufeff [\n{"v":1.50},{"v":2}]',
        '{"v":1.50}\n{"v":2}\n',
        '{\n  "v": 1.50\n}\n{\n  "v": 2\n}\n',
        '\ufeff{\r\n "v":\r\n 1.50}{"v":2}',
    ],
)
def test_a_file_of_json_is_lines_or_an_array_or_objects_over_lines(text: str, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(text)
    log = ingest("x", tmp_path / "x.json", tmp_path / "log", columns={"v": "decimal(9,2)"})
    assert [row["v"] for row in log.read(0, 9).to_pylist()] == [Decimal("1.50"), Decimal(2)]


def test_an_array_that_is_cut_keeps_its_whole_objects(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text('[{"v":1},{"v":2},7,{"v":3')
    log = ingest("x", tmp_path / "x.json", tmp_path / "log")
    assert [row["v"] for row in log.read(0, 9).to_pylist()] == [1, 2]
    assert [entry.line for entry in log.quarantined] == [3, 4]


@pytest.mark.parametrize("added", [of_file, of_folder])
def test_objects_without_members_are_texts_of_json(added: Any, tmp_path: Path) -> None:
    log = added('{"id":1,"m":{},"l":[{}],"s":{"t":{}}}\n{"id":2,"m":null}\n', tmp_path, {})
    first, second = log.read(0, 9).to_pylist()
    assert (first["m"], first["l"], first["s"]) == ("{}", '["{}"]', '{"f0":"{}"}')
    assert (second["m"], second["l"], second["s"]) == (None, None, None)


def test_rows_of_python_whose_objects_have_no_members(tmp_path: Path) -> None:
    log = ingest("x", [{"id": 1, "m": {}}, {"id": 2, "m": {}}], tmp_path / "log")
    assert [row["m"] for row in log.read(0, 9).to_pylist()] == ["{}", "{}"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{}\n{}\n", "have no members"),
        ('{"a":1}'.encode("utf-16").decode("latin-1"), "line 1: it is no JSON"),
        ("[1]\n[2]\n", "line 1: it is no JSON object, but a list"),
        ("", "line 1: it is empty"),
    ],
)
def test_a_file_without_objects_is_refused_with_the_reason(text: str, reason: str, tmp_path: Path) -> None:
    with pytest.raises(StreamError, match=reason):
        of_file(text, tmp_path, {})


def test_numbers_of_which_most_are_beyond_64_bits_keep_their_digits(tmp_path: Path) -> None:
    log = of_file('{"n":123456789012345678901}\n{"n":-9223372036854775809}\n{"n":1}\n', tmp_path, {})
    numbers = [Decimal(123456789012345678901), Decimal(-9223372036854775809), Decimal(1)]
    assert [row["n"] for row in log.read(0, 9).to_pylist()] == numbers
