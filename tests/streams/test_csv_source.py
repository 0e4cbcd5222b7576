"""CSV files: types guessed or given, NULL apart from empty text, and what does not fit quarantined with its line."""

from __future__ import annotations

import datetime
import gzip
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from workbench.errors import StreamError
from workbench.streams.files import csv_source
from workbench.streams.files.csv_layout import CsvOptions
from workbench.streams.guessing import guess
from workbench.streams.ingest import ingest
from workbench.streams.log import StreamLog


def ingest_csv(folder: Path, text: str | bytes, **options: Any) -> StreamLog:
    path = folder / "x.csv"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return ingest("x", path, folder / "log", **options)


def rows_of(log: StreamLog) -> list[dict[str, Any]]:
    return log.read(0, log.rows).to_pylist()


def quarantined_of(log: StreamLog) -> list[tuple[int, str, str]]:
    return [(entry.line, entry.text, entry.reason) for entry in log.quarantined]


def test_a_file_in_utf_16_that_is_declared_otherwise_says_so(tmp_path: Path) -> None:
    source = tmp_path / "in.csv"
    source.write_bytes("name;fee\nMüller;1\nÖtzi;2\n".encode("utf-16"))
    with pytest.raises(StreamError) as caught:
        ingest("t", source, tmp_path / "log", options=CsvOptions(encoding="utf-8"))
    assert caught.value.hint == "its texts are in UTF-16: leave --encoding out"
    assert ingest("t", source, tmp_path / "log").rows == 2


def test_types_are_guessed_from_the_values(tmp_path: Path) -> None:
    log = ingest_csv(
        tmp_path,
        "I,D,Big,Zip,Flag,Day,At,S,Nothing\n"
        "1,1,9223372036854775808,02139,true,2005-01-31,2005-01-31 10:00,a,\n"
        "-2,2.5,1,10001,FALSE,1582-10-10,9999-12-31T23:59:59.999999Z,,\n",
    )
    assert {name: str(type_) for name, type_ in log.columns} == {
        "i": "integer",
        "d": "double",
        "big": "decimal(38,0)",
        "zip": "string",
        "flag": "boolean",
        "day": "date",
        "at": "timestamp",
        "s": "string",
        "nothing": "string",
    }
    assert rows_of(log)[1] == {
        "i": -2,
        "d": 2.5,
        "big": Decimal(1),
        "zip": "10001",
        "flag": False,
        "day": datetime.date(1582, 10, 10),
        "at": datetime.datetime(9999, 12, 31, 23, 59, 59, 999_999),
        "s": None,
        "nothing": None,
    }


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["1", "2", "3", "x"], "integer"),
        (["1", "2", "x"], "string"),
        (["1", "2", "3", "4", "x", "y"], "string"),
        (["1"] * 95 + ["x"] * 5, "integer"),
        (["1"] * 94 + ["x"] * 6, "string"),
        (["1"] * 99 + ["1.5"], "double"),
        (["1.0", "2.0"], "double"),
        (["038.9", "250.00"], "string"),
        (["0", "0.5", "-0.25"], "double"),
        (["1e5"], "string"),
        (["1e+5"], "double"),
        (["0x1F"], "string"),
        (["9" * 39], "string"),
        (["2005-01-01", "2005-01-01 10:00"], "timestamp"),
        (["", " ", None], "string"),
        ([], "string"),
    ],
)
def test_guesses(values: list[str | None], expected: str) -> None:
    assert str(guess("c", pa.array(values, pa.string())).type) == expected


def test_a_quoted_empty_field_is_empty_text_and_an_unquoted_one_null(tmp_path: Path) -> None:
    log = ingest_csv(tmp_path, 's,n\n"",1\n,""\n"NULL",NULL\nnull,\\N\n"a,""b""", 4 \n')
    assert rows_of(log) == [
        {"s": "", "n": 1},
        {"s": None, "n": None},
        {"s": "NULL", "n": None},
        {"s": "null", "n": None},
        {"s": 'a,"b"', "n": 4},
    ]


def test_rows_that_do_not_fit_are_quarantined_with_line_text_and_reason(tmp_path: Path) -> None:
    log = ingest_csv(
        tmp_path,
        b"id,note,day\n"
        b"1,a,2005-01-01\n"
        b"x,b,2005-01-01\n"
        b'3,"two\n\nlines",2005-01-01\n'  # lines 4 to 6
        b"\n"
        b"4,too few\n"
        b"5,c,2005-02-30\n"
        b"6,\xff,2005-01-01\n"
        b"7,\xff\n"
        b"\r\n"
        b"8,d,2005-01-01,too many\n"
        b"9223372036854775808,e,2005-01-01\n"
        b"10,f,9999-12-31",
        columns={"id": "bigint", "day": "date"},
    )
    assert [row["id"] for row in rows_of(log)] == [1, 3, 10]
    assert rows_of(log)[1]["note"] == "two\n\nlines"
    assert quarantined_of(log) == [
        (3, "x,b,2005-01-01", "id: 'x' is no integer"),
        (8, "4,too few", "2 fields instead of 3"),
        (9, "5,c,2005-02-30", "day: '2005-02-30' is no date"),
        (10, "6,�,2005-01-01", "not UTF-8 text"),
        (11, "7,�", "not UTF-8 text"),
        (13, "8,d,2005-01-01,too many", "4 fields instead of 3"),
        (14, "9223372036854775808,e,2005-01-01", "id: '9223372036854775808' is no integer"),
    ]
    assert log.misfits == 7


def test_line_numbers_hold_across_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_source, "_BLOCK_BYTES", 100)
    lines, bad = ["n,s"], []
    for number in range(2, 500):
        kind = number % 7
        lines.append({0: "short", 1: "", 2: f"bad{number},s"}.get(kind, f"{number},s"))
        if kind in (0, 2):
            bad.append(number)
    log = ingest_csv(tmp_path, "\n".join(lines) + "\n", columns={"n": "int"})
    assert [row["n"] for row in rows_of(log)] == [number for number in range(2, 500) if number % 7 > 2]
    assert [entry.line for entry in log.quarantined] == bad


@pytest.mark.parametrize(
    ("type_", "good", "bad"),
    [
        (
            "bigint",
            ["9223372036854775807", "-9223372036854775808", "+5", " 7 "],
            ["9223372036854775808", "1.0", "0x1F"],
        ),
        ("double", ["1e308", "-.5", "inf", "NaN", "+1."], ["1e309", "1,5", ".", "0x1p3"]),
        ("decimal(38,0)", ["9" * 38, "-" + "9" * 38, "0" * 40 + "1", "5.000"], ["1" + "0" * 38, "9" * 39, "1.5", "."]),
        ("decimal(5,2)", ["999.99", "-.5", "1.2300", "+0"], ["1000", "1.234", "1e2", "--", "1_0"]),
        ("decimal(2,2)", ["0.99", ".00"], ["1", "0.001"]),
        ("boolean", ["true", "FALSE", "0", "1"], ["t", "yes", "2"]),
        ("date", ["0001-01-01", "9999-12-31", "2004-02-29"], ["2005-02-29", "10000-01-01", "0000-01-01", "1/2/2005"]),
        (
            "timestamp",
            ["2005-01-01", "2005-01-01 10:00:00.1234567", "2005-01-01T10:00:00+02:00"],
            ["2005-01-01 25:00:00", "9:00", "2005-13-01"],
        ),
    ],
)
def test_what_fits_a_given_type(type_: str, good: list[str], bad: list[str], tmp_path: Path) -> None:
    lines = [f'"{value}",{number}' for number, value in enumerate(good + bad)]
    log = ingest_csv(tmp_path, "\n".join(["v,n", *lines]) + "\n", columns={"v": type_})
    assert [row["n"] for row in rows_of(log)] == list(range(len(good)))
    assert all(row["v"] is not None for row in rows_of(log))
    assert [entry.line for entry in log.quarantined] == list(range(2 + len(good), 2 + len(good) + len(bad)))


def test_timestamps_become_utc_and_microseconds(tmp_path: Path) -> None:
    text = "t\n2005-01-01 10:00:00.1234567\n2005-01-01T10:00:00+02:00\n2005-01-01T10:00Z\n"
    log = ingest_csv(tmp_path, text, columns={"t": "timestamp"})
    assert [row["t"] for row in rows_of(log)] == [
        datetime.datetime(2005, 1, 1, 10, 0, 0, 123456),
        datetime.datetime(2005, 1, 1, 8),
        datetime.datetime(2005, 1, 1, 10),
    ]


def test_all_quarantined_rows_are_kept_and_the_first_thousand_shown(tmp_path: Path) -> None:
    good = "".join(f"{number},{number}\n" for number in range(3_000))
    log = ingest_csv(tmp_path, "a,b\n" + good + "x" * 500 + ",1\n" + "1\n" * 1_500, columns={"a": "int"})
    assert (log.rows, log.misfits, len(log.quarantined)) == (3_000, 1_501, 1_000)
    side_file = (log.folder / "set_aside.jsonl").read_text().splitlines()
    assert len(side_file) == 1_501
    assert json.loads(side_file[0]) == {"line": 3_002, "text": "x" * 200, "reason": f"a: '{'x' * 59} is no integer"}


def test_a_column_of_a_wrong_given_type_is_refused_where_no_row_fits(tmp_path: Path) -> None:
    text = "a\n" + "".join(f"v{number}\n" for number in range(1_000))
    with pytest.raises(StreamError, match="no row fits its columns; line 2: a: 'v0' is no date"):
        ingest_csv(tmp_path, text, columns={"a": "date"})


def test_gzip_byte_order_mark_and_windows_line_ends(tmp_path: Path) -> None:
    (tmp_path / "x.CSV.gz").write_bytes(gzip.compress(b"\xef\xbb\xbfA,B\r\n1,x\r\n2,y\r\n"))
    log = ingest("x", tmp_path / "x.CSV.gz", tmp_path / "log")
    assert rows_of(log) == [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]


def test_a_truncated_gzip_file_keeps_its_whole_lines_and_says_where_it_ends(tmp_path: Path) -> None:
    lines = [f"{number},{number * 7919 % 100_003}" for number in range(50_000)]
    packed = gzip.compress("\n".join(["a,b", *lines, ""]).encode())
    (tmp_path / "x.csv.gz").write_bytes(packed[: len(packed) // 2])
    log = ingest("x", tmp_path / "x.csv.gz", tmp_path / "log")
    assert 1_000 < log.rows < 50_000
    assert [f"{row['a']},{row['b']}" for row in rows_of(log)] == lines[: log.rows]
    (entry,) = log.quarantined
    assert entry.line == log.rows + 2
    assert lines[log.rows].startswith(entry.text)
    assert "cut short" in entry.reason


@pytest.mark.parametrize("separator", [";", "\t", "|"])
def test_other_separators_are_seen_in_the_header(separator: str, tmp_path: Path) -> None:
    text = 'id;"paid";day\n1;2,50;2025-03-01\n2;"3;5";\n3;4\n'.replace(";", separator)
    log = ingest_csv(tmp_path, text)
    assert [(name, str(type_)) for name, type_ in log.columns] == [
        ("id", "integer"),
        ("paid", "string"),
        ("day", "date"),
    ]
    assert [row["paid"] for row in rows_of(log)] == ["2,50", f"3{separator}5"]
    assert [(line, reason) for line, _, reason in quarantined_of(log)] == [(4, "2 fields instead of 3")]


def test_a_header_with_a_comma_is_separated_by_commas(tmp_path: Path) -> None:
    log = ingest_csv(tmp_path, "a;b,c\n1;2,3\n")
    assert [list(row.values()) for row in rows_of(log)] == [["1;2", 3]]


def test_a_header_alone_is_an_empty_stream(tmp_path: Path) -> None:
    log = ingest_csv(tmp_path, "A,B\n", columns={"b": "date"}, time="b")
    assert (log.rows, [(name, str(type_)) for name, type_ in log.columns]) == (0, [("a", "string"), ("b", "date")])
    assert log.read(0, 10).num_rows == 0


def test_a_file_of_only_bad_rows_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StreamError, match="no row fits its columns; line 2: 1 fields instead of 2"):
        ingest_csv(tmp_path, "a,b\n1\n1,2,3\n")


@pytest.mark.parametrize("data", [b"", b"\n\n"])
def test_files_without_a_usable_header_are_refused(data: bytes, tmp_path: Path) -> None:
    with pytest.raises(StreamError) as raised:
        ingest_csv(tmp_path, data)
    assert raised.value.hint
    assert [path.name for path in tmp_path.iterdir()] == ["x.csv"]


@pytest.mark.parametrize("block_bytes", [1_000, 1 << 22])
def test_an_unclosed_quote_is_reported_where_it_opens(
    block_bytes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(csv_source, "_BLOCK_BYTES", block_bytes)
    log = ingest_csv(tmp_path, "a,b\n" + "1,x\n" * 400 + '2,"y\n' + "3,z\n" * 2_000)
    assert [row["b"] for row in rows_of(log)][:400] == ["x"] * 400
    (entry,) = log.quarantined
    assert entry.line == 402
    assert "quote is not closed" in entry.reason
