"""What texts are read as: no value is another one than its text says."""

from __future__ import annotations

import gzip
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from workbench.errors import StreamError
from workbench.sql.algebra.column_names import display_name
from workbench.streams.files import csv_source
from workbench.streams.files.csv_layout import CsvOptions
from workbench.streams.guessing import Guess, guess, guess_columns, read
from workbench.streams.ingest import ingest
from workbench.streams.log import StreamLog, open_log

ACCOUNTS = ["12345678901234567", "12345678901234568", "12345678901234569"]


def added(folder: Path, data: str | bytes, **options: Any) -> StreamLog:
    path = folder / "x.csv"
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    log = ingest("x", path, folder / "log", **options)
    assert open_log(folder / "log") == log and open_log(folder / "log").guesses == log.guesses
    return log


def types_of(log: StreamLog) -> list[str]:
    return [str(type_) for _, type_ in log.columns]


def values_of(log: StreamLog) -> list[tuple[object, ...]]:
    return [tuple(row.values()) for row in log.read(0, log.rows).to_pylist()]


@pytest.mark.parametrize(
    ("values", "type_", "why"),
    [
        ([*ACCOUNTS, "nan"], "integer", "whole numbers; nan is NULL"),
        ([*ACCOUNTS, "1.23457E+16"], "string", "texts"),
        ([*ACCOUNTS, "0.5"], "decimal(38,1)", "more digits than a double keeps"),
        (["0.1234567890123456789", "123"], "decimal(38,19)", "more digits"),
        (["0.1234567890123456789", "1" * 20], "string", "texts"),
        (["0.30000000000000004", "1e-7"], "double", "numbers"),
        (["1e400"], "string", "1e400 is perhaps no number"),
        (["1e+400"], "string", "texts"),
        (["5E3", "7E1", "1E0"], "string", "5E3 is perhaps no number"),
        (["5e3", "123"], "string", "5e3 is perhaps no number"),
        (["123"] * 30 + ["1A2"], "string", "texts"),
        (["5E3", "2.5"], "string", "5E3 is perhaps no number"),
        (["NA", "1.5", "-"], "double", "-, NA is NULL"),
        (["true", "None", "false"], "boolean", "None is NULL"),
        (["true", "false", "1"], "string", "texts"),
        (["2005-01-01", "N/A"], "date", "N/A is NULL"),
        (["NA", "a"], "string", "texts"),
        (["NA"], "string", "no values"),
        (["2020-01-01 10:00:00.1234567"], "string", "texts"),
        (["+491701234567"], "string", "a plus"),
        (["1.234,56", "7"], "double", "numbers as 1.234,56"),
        (["(1,200.00)", "3", "NA"], "double", "numbers as (1,200.00); NA is NULL"),
        (["$1,200", "-$5"], "integer", "numbers as $1,200"),
        (["€ 5", "€ 1.200,5"], "double", "numbers as € 5"),
        (["€ 5", "$ 5"], "string", "texts"),
        (["1 234", "5"], "integer", "numbers as 1 234"),
        (["2,155"], "string", "2,155 may be a number in two ways"),
        (["2,155", "1,234,567"], "integer", "numbers as 2,155"),
        (["19,47", "2.155"], "double", "numbers as 19,47"),
        (["12345678901234567,5", "1,0"], "decimal(38,1)", "numbers as 12345678901234567"),
        (["12 %"], "string", "numbers as 12 %, which are perhaps shares of 1: --type c=double reads 12"),
        (["4.50", "x", "7.25", "1.00"], "double", "numbers"),
        (["4,50", "x", "7,25", "1,00"], "double", "numbers as 4,50"),
    ],
)
def test_guesses(values: list[str], type_: str, why: str) -> None:
    found = guess("c", pa.array(values))
    assert (str(found.type), why in found.why, bool(found.form)) == (type_, True, " as " in why and "numbers" in why), (
        found
    )


@pytest.mark.parametrize(
    ("sample", "later", "expected"),
    [
        (
            ["1", "2"],
            ["3", "02139", "4.0", "4.5", "5E3", "NA", "", "+4912345678"],
            [3, "?", 4, "?", "?", None, None, "?"],
        ),
        (["1.5"], ["3", "12345678901234567.5", "007.5", "nan", "1e400"], [3.0, "?", "?", "nan", "?"]),
        (["1.234,56"], ["2.155", "1.5", "19,47", "1,200.00"], [2155.0, "?", 19.47, "?"]),
        ([*ACCOUNTS, "0.5"], ["0.25", "1", "01"], ["?", Decimal("1.0"), "?"]),
        (["true", "false"], ["1", "TRUE", "-"], ["?", True, None]),
        (["a", "b"], ["02139", "NA", "-"], ["02139", "NA", "-"]),
    ],
)
def test_what_comes_later_is_the_same_value_or_does_not_fit(
    sample: list[str], later: list[str], expected: list[object]
) -> None:
    values, misfit = read(pa.array(later), guess("c", pa.array(sample)))
    found = ["?" if misfit is not None and misfit[at] else value for at, value in enumerate(values.to_pylist())]
    assert [str(value) if value != value else value for value in found] == expected


@pytest.mark.parametrize(
    ("values", "says", "declared", "expected"),
    [
        (["3/4/2026", "5/6/2026"], 'date d/M/yyyy" or --type "v=date M/d/yyyy" says which', "date d/M/yyyy", None),
        (["1/31/26", "2/1/26"], "", "date M/d/yy", [date(2026, 1, 31), date(2026, 2, 1)]),
        (["1/2/26", "2/1/26"], 'date d/M/yy" or --type "v=date M/d/yy" says which', "date d/M/yy", None),
        (["14:30", "09:15:30"], "", "time", [52_200_000_000, 33_330_000_000]),
        (["2026-01-31 10:00:00.123456789", "2026-02-01 10:00:00"], "to the microsecond", "timestamp", None),
        (["31.1.26", "1.2.26"], "", "date d.M.yy", [date(2026, 1, 31), date(2026, 2, 1)]),
        (["2026.1.31", "2026.2.1"], "", "date yyyy.M.d", [date(2026, 1, 31), date(2026, 2, 1)]),
        (["Y", "n", "Y"], "", "boolean Y/n", [True, False, True]),
        (["yes", "No"], "", "boolean yes/No", [True, False]),
        (["12%", "7.5 %"], "numbers as 12%, which are perhaps shares of 1", "double", [12.0, 7.5]),
        (["1.200,5 %"], "", "decimal(9,2)", [Decimal("1200.50")]),
        (["10.0.0.1", "10.0.0.2"], None, "", None),
        (["31.01.2026", "tomorrow"], None, "", None),
        (["12%", "x"], None, "", None),
        (["Y", "N", "?"], None, "", None),
    ],
)
def test_texts_that_are_nearly_something_say_how_they_are_declared(
    values: list[str], says: str | None, declared: str, expected: list[object] | None, tmp_path: Path
) -> None:
    found = guess("v", pa.array(values))
    assert str(found.type) == "string"
    if says is None:
        assert found.why == "texts"
        return
    assert says in found.why and (f"v={declared}" in found.why or declared.startswith("decimal"))
    text = "n;v\n" + "".join(f"{n};{value}\n" for n, value in enumerate(values))
    log = added(tmp_path, text, columns={"v": declared}, options=CsvOptions(sep=";"))
    assert log.rows == len(values) and not log.quarantined
    assert expected is None or [row[1] for row in values_of(log)] == expected


@pytest.mark.parametrize(("point", "written", "other"), [(".", ["3,50", "7"], ","), (",", ["1,200.5", "2"], ".")])
def test_a_declared_point_that_is_the_other_one_is_said(point: str, written: list[str], other: str) -> None:
    found = guess("fee", pa.array(written), point)
    assert str(found.type) == "string" and f"{written[0]} has no {point} before its fraction" in found.why
    assert f"--decimal {other} reads it" in found.why
    assert guess("fee", pa.array(["a", "b"]), point).why == "texts"


def test_points_are_doubted_beside_decimal_commas_and_semicolons() -> None:
    points = {"cases": pa.array(["2.155", "6"])}
    assert guess_columns(points)["cases"].type.kind.value == "double"
    assert guess_columns(points, ";")["cases"].type.kind.value == "string"
    assert guess_columns({**points, "rate": pa.array(["2.5"])}, ";")["cases"].type.kind.value == "double"
    beside = guess_columns({**points, "rate": pa.array(["19,47"])}, "\t")
    assert beside["cases"].type.kind.value == "string" and "--decimal" in beside["cases"].why
    declared = guess_columns({**points, "rate": pa.array(["19,47"])}, ";", ",")
    assert (str(declared["cases"].type), declared["cases"].form) == ("integer", ",.")


def test_a_guess_is_stored() -> None:
    found = guess("fee", pa.array(["1.234,56", "3"]))
    assert Guess.of_json(found.to_json()) == found
    assert found.first == ("1.234,56", "3")


def test_later_rows_of_a_file_that_are_other_values_are_quarantined(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(csv_source, "_BLOCK_BYTES", 4_000)
    text = "zip,n\n" + "10001,1\n" * 1_000 + "02139,2\n"
    log = added(tmp_path, text)
    assert (types_of(log), log.rows) == (["integer", "integer"], 1_000)
    reason = "zip: '02139' is no integer, as was guessed; --type zip=string keeps it"
    assert [(entry.line, entry.reason) for entry in log.quarantined] == [(1_002, reason)]


@pytest.mark.parametrize("ending", ["csv", "csv.gz"])
def test_types_are_guessed_from_as_much_of_a_file_that_is_compressed(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"s.{ending}"
    text = "".join(f"{number * 104_729 % 99_991 + 10_000},{number}\n" for number in range(150_000))
    with gzip.open(path, "wb") if path.suffix == ".gz" else path.open("wb") as file:
        file.write(f"zip,n\n{text}02139,2\n".encode())
    assert types_of(ingest("s", path, tmp_path / "s")) == ["string", "integer"]


@pytest.mark.parametrize(
    ("data", "names", "row", "line"),
    [
        ("id;amount, EUR;who\n1;2,5;a\n", ["id", "amount, EUR", "who"], (1, 2.5, "a"), 2),
        ('id|"a|b"\n1|x\n', ["id", "a|b"], (1, "x"), 2),
        ("Report 2024\n\nid,fee\n1,2\n3,4\n", ["id", "fee"], (1, 2), 4),
        ("Report, 2024\nid,fee,c\n1,2,3\n3,5,5\n", ["id", "fee", "c"], (1, 2, 3), 3),
        ("Report,,\nid,fee,c\n1,2,3\n3,5,5\n", ["id", "fee", "c"], (1, 2, 3), 3),
        ('"","Ozone","Solar.R"\n"1",41,NA\n"2",2,3\n', ["column_1", "Ozone", "Solar.R"], (1, 41, None), 2),
        ('"x","y"\n"1",41,190\n"2",NA,118\n', ["column_1", "x", "y"], (1, 41, 190), 2),
        ("a,A,,b\n1,2,3,4\n", ["a", "A_2", "column_3", "b"], (1, 2, 3, 4), 2),
        ("\ufeffnäh,b\n1,€\n", ["näh", "b"], (1, "€"), 2),
        ("n\u00e9,b\n1,Caf\u00e9\n".encode("latin-1"), ["né", "b"], (1, "Café"), 2),
        ("né,b\n1,5 \u20ac\n".encode("cp1252"), ["né", "b"], (1, 5), 2),
        ("Größe;b €\n„XL“;Café – 5\n".encode("cp1252"), ["Größe", "b €"], ("„XL“", "Café – 5"), 2),
        ("né,b\n1,日本\n".encode("utf-16"), ["né", "b"], (1, "日本"), 2),
    ],
)
def test_layouts_are_found_out(
    data: str | bytes, names: list[str], row: tuple[object, ...], line: int, tmp_path: Path
) -> None:
    log = added(tmp_path, data)
    assert [guess.column for guess in log.guesses.values()] == names
    assert values_of(log)[0] == row
    plain = names[0] in ("id", "näh") and line == 2 and ";" not in str(data) and "|" not in str(data)
    assert bool(log.notes) != plain


@pytest.mark.parametrize(
    ("data", "options", "row"),
    [
        ("1,x\n2,y\n", CsvOptions(header=False), (1, "x")),
        ("\ufeff1,x\n2,y\n", CsvOptions(header=False), (1, "x")),
        ("a~b\n1~x\n", CsvOptions(sep="~"), (1, "x")),
        ("a;b\n2.155;1\n", CsvOptions(decimal=","), (2155, 1)),
        ("a;b\n2.155;1\n", CsvOptions(decimal="."), (2.155, 1)),
        ("a,b\n1,\x84\n".encode("latin-1"), CsvOptions(encoding="cp437"), (1, "ä")),
    ],
)
def test_what_is_declared_of_a_file_counts(
    data: str | bytes, options: CsvOptions, row: tuple[object, ...], tmp_path: Path
) -> None:
    assert values_of(added(tmp_path, data, options=options))[0] == row


def test_what_dos_has_written_is_not_taken_for_windows(tmp_path: Path) -> None:
    log = added(tmp_path, "Stadt;n\nK\u00f6ln;1\nL\u00f6rrach;2\nUlm;3\n".encode("cp437"))
    assert [one.reason for one in log.quarantined] == ["not UTF-8 text"] * 2 and values_of(log) == [("Ulm", 3)]


@pytest.mark.parametrize("ending", [".tsv", ".txt", ".tab", ".txt.gz"])
def test_delimited_text_of_other_endings_is_read(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"stops{ending}"
    data = b"stop_id\tname\n1\tK\xc3\xb6ln, Dom\n2\tUlm\n"
    path.write_bytes(gzip.compress(data) if ending.endswith(".gz") else data)
    assert values_of(ingest("s", path, tmp_path / "log"))[0] == (1, "Köln, Dom")


@pytest.mark.parametrize("wrong", [{"sep": ";;"}, {"decimal": "x"}, {"encoding": "latin-99"}])
def test_options_that_say_nothing_are_refused(wrong: dict[str, str]) -> None:
    with pytest.raises(StreamError):
        CsvOptions(**wrong)  # type: ignore[arg-type]
    with pytest.raises(StreamError, match="sep would say nothing"):
        ingest("x", pa.table({"a": [1]}), Path("nowhere"), options=CsvOptions(sep=";"))


@pytest.mark.parametrize(
    ("text", "columns", "first"),
    [
        ("a;b\n1;2;\n3;4;\n", ["a", "b", "column_3"], (1, 2, None)),
        ('Konto:;DE02;\nSaldo:;"1,5";\n\nTag;An;Wie;Betrag\n1.2.24;A;x;2,5\n', ["tag", "an", "wie", "betrag"], None),
        ("Report,,\n,,\nregion,units,sales\nN,1,2.5\nS,2,3.5\n", ["region", "units", "sales"], ("N", 1, 2.5)),
        ("# a, b\n# c\nts,v\n1,1.5\n2,1.6\n", ["ts", "v"], (1, 1.5)),
        ("Source,A,\nUpdated,x,\nLand,Code,2019,2020\nAruba,ABW,1,2\nChad,TCD,3,4\n", None, ("Aruba", "ABW", 1, 2)),
        ("Account:,12-34,,\nPeriod:,2026,,\n\nDay,What,In,Out\n1/2/26,x,,2.5\n", ["day", "what", "in", "out"], None),
        ("id,name,,\n1,a,2,3\n4,b,5,6\n", None, (1, "a", 2, 3)),
        ("a,b\r1,2\r3,4\r", ["a", "b"], (1, 2)),
        ("#time,temp\n7,20.5\n", ["#time", "temp"], (7, 20.5)),
    ],
)
def test_lines_before_the_names_and_separators_after_the_rows(
    tmp_path: Path, text: str, columns: list[str] | None, first: tuple[object, ...] | None
) -> None:
    log = added(tmp_path, text)
    assert columns in (None, [display_name(name) for name, _ in log.columns]) and not log.quarantined
    assert first is None or values_of(log)[0] == first


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("is_declared", [False, True])
def test_utf_16_without_a_mark(tmp_path: Path, encoding: str, is_declared: bool) -> None:
    options = CsvOptions(encoding=encoding) if is_declared else None
    log = added(tmp_path, "id;name\n1;Ä\n2;Łódź\n".encode(encoding), options=options)
    assert values_of(log) == [(1, "Ä"), (2, "Łódź")]
    assert any(encoding in note for note in log.notes) is not is_declared


def test_a_first_row_that_is_taken_for_names_is_said(tmp_path: Path) -> None:
    log = added(tmp_path, "2024-01-01,abc,5\n2024-01-02,def,6\n")
    assert "the columns are called 2024-01-01, abc, 5: if that line is a row, say header=False" in log.notes


def test_texts_with_separators_do_not_make_names_of_the_first_row(tmp_path: Path) -> None:
    with pytest.raises(StreamError, match="3 fields instead of 2"):
        added(tmp_path, "name,address\nAl,Main St, Ulm\nBo,High St, Bonn\n")


@pytest.mark.parametrize(
    ("values", "type_", "why"),
    [
        (["1.10", "1.9", "1.1"], "string", "codes: 1.10 is perhaps not 1.1"),
        (["1.10", "1.9", "2.0"], "double", "numbers; 1.10 is 1.1"),
        (["1.10", "1.90", "5"], "double", "numbers"),
        (["1.1", "8.0", "2.25"], "double", "numbers"),
        (["10002", "10003", "10004", "10005", "10001-1234"], "string", "texts"),
        (["1.2", "1.3", "1.4", "1.5", "1.10.2"], "string", "texts"),
        (["2024-01-01 10:00:00+01:00", "2024-01-01T10:00:00Z"], "timestamp", "times, in UTC"),
        (["2024-01-01 10:00:00 +0100", "2024-01-01 10:00:00.5 UTC"], "timestamp", "times, in UTC"),
        (["2024-01-01 10:00:00 CET", "2024-01-01 10:00:00 CET"], "string", "texts"),
        (
            ["2024-01-01 10:00:00+01:00", "2024-01-01 10:00:00"],
            "timestamp",
            "times, in UTC; those without an offset are taken as UTC",
        ),
    ],
)
def test_what_would_be_merged_or_moved_is_text_or_said(values: list[str], type_: str, why: str) -> None:
    found = guess("v", pa.array(values))
    assert (str(found.type), found.why) == (type_, why)


@pytest.mark.parametrize(
    ("texts", "form", "first"),
    [
        (["2026-01-31 10:00:00,123", "2026-02-01 11:00:00,000"], "yyyy-MM-dd HH:mm:ss,SSS", "2026-01-31 10:00:00.123"),
        (["Sat, 31 Jan 2026 10:00:00 GMT", "Sun, 1 Feb 2026 10:00:00 +0200"], "E, d MMM yyyy HH:mm:ss Z, in UTC", ""),
        (["31/Jan/2026:10:00:00 -0500", "01/Feb/2026:10:00:00 +0000"], "d/MMM/yyyy:HH:mm:ss Z", "2026-01-31 15:00:00"),
        (["Sun Feb  1 10:00:00 2026", "Sat Jan 31 10:00:00 2026"], "E MMM d HH:mm:ss yyyy", "2026-02-01 10:00:00"),
        (["20260131T100000", "20260201T110000"], "yyyyMMdd'T'HHmmss", "2026-01-31 10:00:00"),
        (["20260131T100000Z", "20260201T110000+0100"], "yyyyMMdd'T'HHmmssZ, in UTC", "2026-01-31 10:00:00"),
    ],
)
def test_times_as_programs_write_them(texts: list[str], form: str, first: str, tmp_path: Path) -> None:
    found = guess("at", pa.array(texts))
    assert str(found.type) == "timestamp" and f"times as {form}" in found.why
    log = added(tmp_path, "n|at\n" + "".join(f"{n}|{text}\n" for n, text in enumerate([*texts, "tomorrow", texts[0]])))
    assert [entry.text for entry in log.quarantined] == ["2,tomorrow"]
    written = [str(row[1]) for row in values_of(log)]
    assert written[0] == written[2] == (first + "000" * ("." in first) or "2026-01-31 10:00:00")
    assert first or written[1] == "2026-02-01 08:00:00"


@pytest.mark.parametrize("offset", ["Z", " UTC", " GMT", "UTC", " +0000", " -00:00", "+00", " Z"])
def test_offsets_that_stand_apart_from_a_time(offset: str) -> None:
    texts = pa.array([f"2024-01-01 10:00:00{offset}", "2024-01-01 11:30:00.25 +0130"])
    times, misfit = read(texts, guess("at", texts))
    assert misfit is None and times.cast(pa.string()).to_pylist() == [
        "2024-01-01 10:00:00.000000",
        "2024-01-01 10:00:00.250000",
    ]


def test_a_refusal_names_the_column_that_does_not_fit(tmp_path: Path) -> None:
    with pytest.raises(StreamError) as refused:
        added(tmp_path, "id,ok\n1,Y\n2,N\n", columns={"ok": "boolean"})
    assert refused.value.hint is not None and "--type ok=string" in refused.value.hint


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("Price, EUR;Count\n1,5;2\n2,5;3\n", (1.5, 2)),
        ("Name, first;Price, EUR;Count\nA, B;1,5;2\nC, D;2,5;3\n", ("A, B", 1.5, 2)),
        ("Name, first;City, land\nA, B;Ulm, D\nC, D;Bonn, D\n", ("A, B", "Ulm, D")),
        ("id,tags\n1,a|b\n2,c|d\n", (1, "a|b")),
        ("a, b, c\n1, 2, x\n", (1, 2, " x")),
    ],
)
def test_what_stands_before_a_space_separates_less_likely(tmp_path: Path, text: str, first: tuple[object, ...]) -> None:
    assert values_of(added(tmp_path, text))[0] == first


@pytest.mark.parametrize("rows", ["1,5\n2,5\n2,75\n", "17,5\n18,25\n", "1.234.567,89\n"])
def test_fractions_of_one_column_are_no_names_of_rows(tmp_path: Path, rows: str) -> None:
    with pytest.raises(StreamError, match="2 fields instead of 1"):
        added(tmp_path, "v\n" + rows)
    log = ingest("x", tmp_path / "x.csv", tmp_path / "log", options=CsvOptions(sep=";", decimal=","))
    assert types_of(log) == ["double"] and not log.quarantined


@pytest.mark.parametrize(("text", "is_said"), [('1,"say \\"hi\\""', True), ('1,"C:\\"', False), ('1,"a ""b"""', False)])
def test_quotes_that_another_program_escapes_are_said(tmp_path: Path, text: str, is_said: bool) -> None:
    assert any("two quotes in CSV" in note for note in added(tmp_path, f"a,b\n{text}\n2,c\n").notes) is is_said


DAYS = {
    ("31.01.2026", "1.2.2026"): ("d.M.yyyy", "2026-01-31", "2026-02-01"),
    ("31.12.2025", "31.12.2025", "31.12.2025", "1.1.2026"): ("d.M.yyyy", "2025-12-31", "2026-01-01"),
    ("1.2.2025 9:05", "31.12.2025 23:59"): ("d.M.yyyy H:mm", "2025-02-01 09:05:00", "2025-12-31 23:59:00"),
    ("1.2.2025 09:05:07.250", "2.2.2025 09:05:07.500"): (
        "d.M.yyyy H:mm:ss.SSS", "2025-02-01 09:05:07.250000", "2025-02-02 09:05:07.500000"),
    ("1/31/2026 9:05", "12/1/2025 10:30"): ("M/d/yyyy H:mm", "2026-01-31 09:05:00", "2025-12-01 10:30:00"),
    ("1/31/2026 2:30:05 PM", "2/1/2026 12:00:00 AM"): (
        "M/d/yyyy h:mm:ss a", "2026-01-31 14:30:05", "2026-02-01 00:00:00"),
    ("3/4/2026", "13/4/2026"): ("d/M/yyyy", "2026-04-03", "2026-04-13"),
    ("2026/1/5", "2026/12/31"): ("yyyy/M/d", "2026-01-05", "2026-12-31"),
    ("Jan 5, 2026", "Feb 6, 2026"): ("MMM d, yyyy", "2026-01-05", "2026-02-06"),
    ("5 January 2026", "6 May 2026"): ("d MMMM yyyy", "2026-01-05", "2026-05-06"),
}  # fmt: skip


@pytest.mark.parametrize("texts", DAYS)
def test_dates_that_can_be_read_in_one_way_are_read(tmp_path: Path, texts: tuple[str, ...]) -> None:
    form, first, last = DAYS[texts]
    what = "times" if ":" in texts[0] else "dates"
    log = added(tmp_path, "n;v\n" + "".join(f"{n};{v}\n" for n, v in enumerate([*texts, "", "n/a"])))
    found = [row[1] for row in values_of(log)]
    assert log.guesses["v"].why == f"{what} as {form}; n/a is NULL" and not log.quarantined
    assert [str(found[0]), str(found[len(texts) - 1]), *found[len(texts) :]] == [first, last, None, None]


def test_a_later_text_that_is_no_such_date_is_quarantined(tmp_path: Path) -> None:
    log = added(tmp_path, "n,v\n" + "1,31.12.2025\n" * 9 + "2,12/31/2025\n")
    assert log.rows == 9
    assert "no date, as was guessed; --type v=string keeps it" in next(iter(log.quarantined)).reason


def test_a_date_that_does_not_exist_among_others_does_not_hide_what_they_are() -> None:
    days = pa.array(["30.01.2026", "31.01.2026", "32.01.2026", "1.2.2026"])
    assert guess("day", days).why == "dates as d.M.yyyy"
    assert guess("day", days[:3]).why == "texts"
