"""Files as programs export them: padded titles, marks for nothing in declared columns, and days in two forms."""

from __future__ import annotations

import datetime as dt
import json
import math
import sqlite3
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from workbench import Session
from workbench.errors import StreamError
from workbench.streams.ingest import ingest
from workbench.streams.live.polled_query import PolledQuery
from workbench.streams.log import StreamLog

MARKS = ("", "null", "NULL", "None", "NA", "n/a", "N/A", "#N/A", "-", " - ", "\\N")


def added(folder: Path, text: str, name: str = "x.csv", **options: Any) -> StreamLog:
    (folder / name).write_text(text)
    return ingest("x", folder / name, folder / "log", **options)


def column(log: StreamLog, name: str) -> list[object]:
    return [row[name] for row in log.read(0, log.rows).to_pylist()]


TITLES = (["Dairy Ltd."], ["Dairy Ltd.", "January 2026"], ["Dairy Ltd.", "January 2026", ""], ["Run;2026-01-31", ""])


@pytest.mark.parametrize(
    ("titles", "separator", "unnamed"), [*product(TITLES, ";,\t", ("none", "last", "last two", "within"))]
)
def test_titles_that_are_padded_to_the_width_of_the_rows(
    tmp_path: Path, titles: list[str], separator: str, unnamed: str
) -> None:
    names, row = ["id", "day", "n"], ["007", "2026-01-31", "5"]
    at, more = {"none": (3, 0), "last": (3, 1), "last two": (3, 2), "within": (1, 1)}[unnamed]
    names[at:at], row[at:at] = [""] * more, [""] * more
    padded = [[*title.split(";"), *[""] * len(names)][: len(names)] for title in titles]
    lines = [*padded, names, *[row] * 4, [""] * len(names), row]
    log = added(tmp_path, "\n".join(separator.join(line) for line in lines) + "\n", time="day")
    assert [*log.spelled.values(), *(c for c, _ in log.columns if not c.startswith("column"))] == ["id", "day", "n"]
    days = [day for day in column(log, "day") if day is not None]
    assert days == [dt.date(2026, 1, 31)] * 5 and not log.quarantined


@pytest.mark.parametrize(
    ("type_", "value"),
    [
        ("double", "1,5%"),
        ("double", "1.5"),
        ("integer", "7"),
        ("decimal(8,2)", "$1,200.50"),
        ("date", "2026-01-31"),
        ("date d.M.yyyy", "31.01.2026"),
        ("timestamp", "2026-01-31 10:00:00"),
        ("timestamp ms", "1700000000123"),
        ("boolean", "true"),
        ("boolean J/N", "J"),
        ("time", "10:00"),
    ],
)
def test_marks_for_nothing_are_null_in_declared_columns_as_in_guessed_ones(
    tmp_path: Path, type_: str, value: str
) -> None:
    values = [*[value] * 9, *MARKS]
    log = added(tmp_path, "n;v\n" + "".join(f"{n};{v}\n" for n, v in enumerate(values)), columns={"v": type_})
    assert not log.quarantined
    assert [found is None for found in column(log, "v")] == [False] * 9 + [True] * len(MARKS)


def test_a_mark_that_is_declared_is_no_mark_for_nothing(tmp_path: Path) -> None:
    log = added(tmp_path, "n,v\n1,x\n2,-\n3,NA\n", columns={"v": "boolean x/-"})
    assert column(log, "v") == [True, False, None]


@pytest.mark.parametrize(
    ("first", "iso", "as_date"),
    [
        (["31.01.2026", "1.2.2026"], "2026-02-03", dt.date(2026, 2, 3)),
        (["1/31/2026", "2/1/2026"], "2026-02-03", dt.date(2026, 2, 3)),
        (["1/31/2026 2:30 PM", "2/1/2026 1:00 AM"], "2026-02-03 04:05:06", dt.datetime(2026, 2, 3, 4, 5, 6)),
        (["5 Jan 2026", "6 Jan 2026"], "2026-02-03", dt.date(2026, 2, 3)),
    ],
)
def test_days_that_come_later_as_sql_writes_them(tmp_path: Path, first: list[str], iso: str, as_date: object) -> None:
    log = added(tmp_path, "n;v\n" + "".join(f"{n};{v}\n" for n, v in enumerate([*first * 10, iso])))
    assert column(log, "v")[-1] == as_date and not log.quarantined


def test_a_time_is_not_cut_to_a_day_nor_put_into_a_zone(tmp_path: Path) -> None:
    days = added(tmp_path, "n;v\n" + "1;31.01.2026\n" * 20 + "2;2026-02-03 10:00:00\n")
    assert [entry.line for entry in days.quarantined] == [22]
    zoned = "n;v\n" + "1;31/Jan/2026:10:00:00 +0100\n" * 20 + "2;2026-02-03 10:00:00\n"
    (tmp_path / "y").mkdir()
    assert [entry.line for entry in added(tmp_path / "y", zoned).quarantined] == [22]


@pytest.mark.parametrize(("number", "type_"), [(-0.52, "double"), (7, "integer"), (1.5, "double")])
@pytest.mark.parametrize("mark", ["N/A", "-", "", "null", "NaN"])
@pytest.mark.parametrize("most", ["numbers", "marks"])
def test_numbers_of_json_among_texts_for_nothing(
    tmp_path: Path, number: float, type_: str, mark: str, most: str
) -> None:
    values = [number, *[mark] * 5, None] if most == "marks" else [mark, *[number] * 5, None]
    lines = "".join(json.dumps({"id": n, "v": v, "in": {"v": v}, "l": [v]}) + "\n" for n, v in enumerate(values))
    log = added(tmp_path, lines, "x.jsonl")
    assert {name: str(kind) for name, kind in log.columns}["v"] == type_ and not log.quarantined
    expected = [None if isinstance(v, str) else v for v in values]
    found = [None if isinstance(v, float) and math.isnan(v) else v for v in column(log, "v")]
    assert found == expected
    if type_ == "double" and mark == "NaN":
        assert sum(isinstance(v, float) and math.isnan(v) for v in column(log, "v")) == values.count(mark)


def test_texts_that_are_no_marks_stay_texts(tmp_path: Path) -> None:
    log = added(tmp_path, '{"v": "N/A"}\n{"v": "x"}\n{"v": "-"}\n', "x.jsonl")
    assert column(log, "v") == ["N/A", "x", "-"]


@pytest.mark.parametrize(
    ("written", "type_"),
    [("2026-01-{:02d}", "date"), ("2026-01-{:02d} 10:00:00", "timestamp"), ("{:02d}.01.2026", "date")],
)
def test_the_event_time_of_a_polled_query_may_be_a_text(tmp_path: Path, written: str, type_: str) -> None:
    with sqlite3.connect(tmp_path / "x.db") as database:
        database.execute("CREATE TABLE paid (id INTEGER PRIMARY KEY, day TEXT)")
        database.executemany("INSERT INTO paid VALUES (?, ?)", [(n, written.format(n)) for n in range(12, 20)])
    with Session() as session:
        polled = PolledQuery(lambda: sqlite3.connect(tmp_path / "x.db"), "SELECT * FROM paid", by="id")
        stream = session.add_stream("Paid", polled, time="day")
        assert str(dict(stream.columns)["day"]) == type_
        session.run()
        assert session.ask("SELECT COUNT(day) AS n FROM Paid").n[0] == 8


def test_a_second_form_of_a_column_of_times_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("n,v\n" + "1,2026-01-31\n" * 20 + "2,31.01.2026\n")
    with Session() as session:
        session.add_stream("S", tmp_path / "x.csv")
        with pytest.raises(StreamError, match="read in one form alone") as caught:
            session.widen_column("S", "v", "date d.M.yyyy")
        assert "string has all" in str(caught.value.hint)


@pytest.mark.parametrize(
    ("values", "type_"),
    [
        (["12345678901234567890123456789", "0.5", "98765432109876543210987654321"], "decimal(38,1)"),
        (["1" * 30, "0.1234567890123", "2" * 30], "string"),
        (["1" * 38, "0.5", "2" * 38], "string"),
        (["1" * 40, "0.5", "2" * 40], "string"),
        (["1" * 40, "2" * 40], "string"),
        (["1.5", "2", "0.25", "1" * 40], "double"),
    ],
)
def test_numbers_of_json_that_no_type_keeps_are_texts(tmp_path: Path, values: list[str], type_: str) -> None:
    lines = "".join(f'{{"id": {n}, "v": {v}, "in": {{"v": {v}}}}}\n' for n, v in enumerate(values))
    log = added(tmp_path, lines, "x.jsonl")
    assert {name: str(kind) for name, kind in log.columns}["v"] == type_
    found = {row["id"]: str(row["v"]) for row in log.read(0, log.rows).to_pylist()}
    assert len(log.quarantined) + len(found) == len(values) and len(found) > len(values) / 2
    assert all(found[n] == values[n] or float(found[n]) == float(values[n]) for n in found)


@pytest.mark.parametrize("kind", ["frame", "arrow", "parquet", "folder"])
def test_nanoseconds_that_are_cut_are_said(tmp_path: Path, kind: str) -> None:
    at = pd.to_datetime(["2026-01-31 10:00:00.000001500", "2026-01-31 10:00:01.000000000", None])
    frame = pd.DataFrame({"at": at.astype("datetime64[ns]"), "id": [1, 2, 3]})
    (tmp_path / "in").mkdir()
    frame.to_parquet(tmp_path / "in/1.parquet")
    source = {"frame": frame, "arrow": pa.Table.from_pandas(frame), "parquet": tmp_path / "in/1.parquet"}
    with Session() as session:
        stream = session.add_stream("S", source.get(kind, f"{tmp_path}/in/*.parquet"))
        session.run()
        stream = session.streams["S"]
        assert [note for note in stream.notes if note.startswith("nanoseconds: at, whose times are cut")]
        assert str(session.ask("SELECT MIN(at) AS first FROM S")["first"][0]) == "2026-01-31 10:00:00.000001"
    with Session() as session:
        stream = session.add_stream("S", frame.iloc[1:])
        assert not stream.notes
