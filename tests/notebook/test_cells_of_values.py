"""Cells of values that differ look different, as text, in HTML and in the panel."""

from __future__ import annotations

import datetime as dt
import html
import math
import re
import string
from collections.abc import Callable
from decimal import Decimal

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.arrow.frames import frame_of
from workbench.explain.cells import column_texts, frame_text, has_numbers
from workbench.notebook.chart import ChartColumns, answer_chart, answer_spec, points_of
from workbench.notebook.display import frame_table
from workbench.notebook.notification import change_line
from workbench.notebook.panel.answer_page import answer_table, page_of
from workbench.sql.algebra.types import Kind

NAN, INFINITE = float("nan"), float("inf")
TEXTS = ["NULL", None, "", " ", "NaN", "nan", "inf", "-inf", "a", "a ", "None", "null", "  "]
NUMBERS = [NAN, None, 0.0, INFINITE, -INFINITE, 1.5]
LISTS = [None, [], [None], ["NULL"], [""]]
AS_READ = [(NAN, "NaN"), (INFINITE, "inf"), (-INFINITE, "-inf"), (None, "NULL"), (1.5, "1.5")]
QUOTED = ["NULL", "NaN", "inf", "-inf", "Infinity", "", " ", "1.5"]
NESTED: list[tuple[Callable[[pa.DataType], pa.DataType], Callable[[object], object], str]] = [
    (pa.list_, lambda value: [value], "[{}]"),
    (lambda type_: pa.list_(pa.list_(type_)), lambda value: [[value], None], "[[{}], NULL]"),
    (lambda type_: pa.struct({"a": type_, "b": pa.int64()}), lambda value: {"a": value, "b": 1}, '{{"a": {}, "b": 1}}'),
    (lambda type_: pa.map_(pa.string(), type_), lambda value: [("k", value)], '{{"k": {}}}'),
    (lambda type_: pa.list_(pa.struct({"a": type_})), lambda value: [{"a": value}], '[{{"a": {}}}]'),
]
"""Types of a value within another, how that is made, and what a reader sees."""


def cells_in_html(shown: str | None) -> list[str]:
    """The texts of a table's cells."""
    cells = (cell.split("</td>")[0].partition(">")[2] for cell in (shown or "").split("<td")[1:])
    return [html.unescape(re.sub("<[^>]*>", "", cell)) for cell in cells]


def columns_of(rows: pd.DataFrame) -> dict[str, list[str]]:
    """The one column of rows in all places where answers are shown."""
    page, bars = page_of(rows, 0, len(rows)), rows.assign(n=range(len(rows)))
    places = {
        "a cell": cells_in_html(frame_table(rows).html),
        "its text": [line.strip() for line in frame_table(rows).text.splitlines()[1:]],
        "why in Python": [line.strip() for line in frame_text(rows).splitlines()[1:]],
        "a page": cells_in_html(answer_table(rows, len(rows), "v").html),
        "the panel": [row["cells"][0] for row in page["rows"]],
        "series": [point["by"] for point in points_of(bars, ChartColumns(None, "n", by="v", kind="line"))],
    }
    if len(set(places["a cell"])) == len(rows):  # bars of one name have other labels
        places["bars"] = [point["label"] for point in points_of(bars, ChartColumns("v", "n", kind="bars"))]
    if has_numbers(list(rows["v"])) and rows["v"].notna().all() and all(map(math.isfinite, rows["v"])):
        places["values"] = [point["value"] for point in points_of(bars, ChartColumns("n", "v", kind="bars"))]
    if len(rows) == 1:
        line = change_line(1, rows.assign(weight=1)[["weight", "v"]], dt.datetime(2026, 1, 1))
        places["an alert"] = [line.partition(" · v ")[2]]
    return places


def cells_of(rows: pd.DataFrame) -> set[str]:
    """The cell of a row's one value in all places."""
    return {cells[0] for cells in columns_of(rows).values()}


MICROS = st.datetimes(dt.datetime(1900, 1, 1), dt.datetime(2200, 1, 1))
SECONDS = MICROS.map(lambda at: at.replace(microsecond=0))
VALUES: dict[str, tuple[pa.DataType, st.SearchStrategy[object]]] = {
    "BIGINT": (pa.int64(), st.integers(-(10**12), 10**12)),
    "a year": (pa.int64(), st.integers(1900, 2100)),
    "DOUBLE": (pa.float64(), st.floats() | st.floats(-1e7, 1e7).map(lambda x: round(x, 2))),
    "DECIMAL": (pa.decimal128(18, 3), st.decimals(-(10**9), 10**9, places=3)),
    "BOOLEAN": (pa.bool_(), st.booleans()),
    "STRING": (pa.string(), st.text(string.ascii_letters + " ,'<>&0", max_size=25)),
    "DATE": (pa.date32(), st.dates(dt.date(1900, 1, 1), dt.date(2200, 1, 1))),
    "TIMESTAMP": (pa.timestamp("us"), MICROS),
    "midnights": (pa.timestamp("us"), MICROS.map(lambda at: dt.datetime(at.year, at.month, at.day))),
    "an instant": (pa.timestamp("us", "Europe/Berlin"), SECONDS.map(lambda at: at.replace(tzinfo=dt.UTC))),
    "BINARY": (pa.binary(), st.binary(max_size=9)),
    "an array": (pa.list_(pa.float64()), st.lists(st.floats(-9, 9) | st.none(), max_size=2)),
    "a struct": (pa.struct({"b": pa.bool_()}), st.fixed_dictionaries({"b": st.booleans() | st.none()})),
    "array of times": (pa.list_(pa.timestamp("us")), st.lists(SECONDS, max_size=1)),
}
"""Types with values of them."""


@pytest.mark.parametrize("type_", VALUES)
@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_a_value_is_written_alike_in_every_place(type_: str, data: st.DataObject) -> None:
    arrow, values = VALUES[type_]
    column = data.draw(st.lists(values | st.none(), min_size=1, max_size=5))
    rows = frame_of(pa.table({"v": pa.array(column, arrow)}))
    places = columns_of(rows)
    if any(len(cell) > 32 for cell in places["a cell"]):  # labels are shorter
        places.pop("bars", None)
    written = [[" ".join(text.split()) for text in texts] for texts in places.values()]
    assert all(texts == written[0] for texts in written), places
    for text, value in zip(written[0], column, strict=True):
        if value is not None and type_ in ("BIGINT", "a year", "DECIMAL"):
            assert text == f"{value:f}" if type_ == "DECIMAL" else text == str(value), "as it is typed in SQL"
        if value is not None and type_ in ("TIMESTAMP", "midnights", "an instant"):
            assert re.match(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", text), "a TIMESTAMP is no DATE"


def test_marks_of_axes_are_written_as_values_are() -> None:
    rows = pd.DataFrame({"at": pd.date_range("2026-03-01", periods=3), "n": [40_000, 66_429, 50_000]})
    drawn = answer_chart(rows, ChartColumns("at", "n", x_kind=Kind.TIMESTAMP), 3, "q")
    ticks = re.findall(r">([\d,.]{4,})</text>", drawn.html or "")
    assert "50000" in ticks and not any("," in tick for tick in ticks), ticks
    assert "66429" in drawn.text and "2026-03-01 00:00:00" in drawn.text
    columns = ChartColumns("at", "n", kind="line", x_kind=Kind.TIMESTAMP)
    tooltip = answer_spec(rows, columns, "q")["encoding"]["tooltip"]
    read = {part["title"]: points_of(rows, columns)[1][part["field"]] for part in tooltip}
    assert read == {"at": "2026-03-02 00:00:00", "n": "66429"}


def test_arrays_and_structs_are_one_line_at_the_left_with_the_whole_under_the_mouse() -> None:
    rooms = [{"room": f"r{number}", "guests": [1, 2, 3]} for number in range(9)]
    rows = frame_of(pa.table({"rooms": [rooms, None], "text": ["a\nb", "x" * 99]}))
    whole = "[" + ", ".join(f'{{"room": "r{number}", "guests": [1, 2, 3]}}' for number in range(9)) + "]"
    shown = frame_table(rows)
    assert cells_in_html(shown.html)[0] == whole[:59] + "…" and len(shown.text.splitlines()) == 3
    assert set(re.findall('<t[dh] style="([^"]*)"', shown.html or "")) == {"text-align:left; white-space:nowrap"}
    assert shown.text.splitlines()[1].startswith('[{"room')
    page = page_of(rows, 0, 2)["rows"]
    assert page[0]["titles"] == [whole, "a\nb"] and page[1]["titles"] == ["", "x" * 99]
    for html_ in (shown.html or "", answer_table(rows, 2, "q").html or ""):
        assert f'title="{html.escape(whole)}"' in html_ and 'title="a\nb">a b<' in html_


@pytest.mark.parametrize("place", range(len(NESTED)))
def test_values_within_others_are_read_as_they_are(place: int) -> None:
    type_of, made, text = NESTED[place]
    for value, seen in AS_READ:
        rows = frame_of(pa.table({"v": pa.array([made(value)], type_of(pa.float64()))}))
        assert cells_of(rows) == {text.format(seen)}
    for quoted in QUOTED:
        rows = frame_of(pa.table({"v": pa.array([made(quoted)], type_of(pa.string()))}))
        assert cells_of(rows) == {text.format(f'"{quoted}"')}
    exact = frame_of(pa.table({"v": pa.array([made(Decimal("1.50"))], type_of(pa.decimal128(9, 2)))}))
    assert cells_of(exact) == {text.format("1.50")}


@pytest.mark.parametrize(
    "text", ["0.00000000000000", "-0.00000001000000", "1.50", "0.00", "123456789012345678901.0000"]
)
def test_a_decimal_has_no_exponent(text: str) -> None:
    type_ = pa.decimal128(38, len(text.partition(".")[2]))
    rows = frame_of(pa.table({"v": pa.array([Decimal(text)], type_)}))
    assert text in (frame_table(rows).html or "") and text in frame_table(rows).text
    label = points_of(rows.assign(n=1), ChartColumns("v", "n", kind="bars"))[0]["label"]
    assert text in (answer_table(rows, 1, "v").html or "") and label == text


def test_shares_and_averages_of_decimals_are_read_like_doubles() -> None:
    shares = [Decimal("0.048493835384646590"), Decimal("0.181306627295116882"), None]
    averages = [Decimal("2.87000000000000000000"), Decimal("13.02666666666666670000"), Decimal("1234567890123456789.5")]
    assert column_texts(shares) == ["0.0484938", "0.181307", "NULL"]
    assert column_texts(averages) == ["2.870000", "13.026667", "1234567890123456789.500000"]
    assert column_texts([Decimal("0.12345678901234"), Decimal(7)]) == ["0.12345678901234", "7"]
    assert column_texts([Decimal("1E-18"), Decimal("2.5E-17")]) == ["0.000000000000000001", "0.000000000000000025"]


@pytest.mark.parametrize("values", [TEXTS, NUMBERS, LISTS], ids=["texts", "numbers", "lists"])
def test_cells_look_different(values: list[object]) -> None:
    rows = frame_of(pa.table({"v": values}))
    table = frame_table(rows)
    cells = [line.split("</td>")[0] for line in (table.html or "").split("<td")[1:]]
    assert len(set(cells)) == len(values), cells
    lines = [line for line in table.text.splitlines()[1:] if line.strip()]
    assert len({line.strip() for line in lines}) == len(values), lines
    panel = answer_table(rows, len(values), "v").html or ""
    cells = [cell.split("</td>")[0] for cell in panel.split("<td")[1:]]
    assert len(set(cells)) == len(values), cells


def test_texts_are_aligned_to_the_left_and_numbers_to_the_right() -> None:
    day = dt.date(2002, 10, 9)
    rows = frame_of(pa.table({"bank": ["<td>", None], "n": [1, 2], "day": [day, None], "l": [["a"], None]}))
    shown = frame_table(rows).html or ""
    ways = re.findall('<th style="text-align:(.*?); white-space:nowrap">(.*?)</th>', shown)
    assert ways == [("left", "bank"), ("right", "n"), ("left", "day"), ("left", "l")]
    assert cells_in_html(shown) == ["<td>", "1", "2002-10-09", '["a"]', "NULL", "2", "NULL", "NULL"]


BELOW: list[tuple[list[object], list[str]]] = [
    ([3.7, 3.63, None], ["3.70", "3.63", "NULL"]),
    ([1069934.3, 287537.73], ["1069934.30", "287537.73"]),
    ([2.0, 30.0], ["2.0", "30.0"]),
    ([2.5, 1e22, NAN, INFINITE], ["2.5", "1e+22", "NaN", "inf"]),
    ([0.000123456, 1.5], ["0.000123456", "1.500000"]),
    ([pd.Timestamp("2026-03-01"), None], ["2026-03-01 00:00:00", "NULL"]),
    ([pd.Timestamp("2026-03-01"), pd.Timestamp("2026-03-01 04:00")], ["2026-03-01 00:00:00", "2026-03-01 04:00:00"]),
    ([pd.Timestamp("2026-03-01 04:00:00.23")], ["2026-03-01 04:00:00.230"]),
    ([pd.Timestamp("2026-03-01 04:00:00.000001")], ["2026-03-01 04:00:00.000001"]),
    ([pd.Timestamp("2026-03-01", tz="UTC")], ["2026-03-01 00:00:00+00:00"]),
    ([{"no": "8" * 50, "other": None}], [f'{{"no": "{"8" * 50}"…']),
    ([["é"] * 40], ["[" + '"é", ' * 11 + '"é"…']),
]
"""Values of a column, and what stands below each other in a page."""


@pytest.mark.parametrize(("values", "seen"), BELOW)
def test_values_of_a_column_are_written_alike(values: list[object], seen: list[str]) -> None:
    """As long as they are needed to tell them apart, and what is cut is no text of Python."""
    rows = frame_of(pa.table({"v": pa.array(values)}))
    assert cells_in_html(answer_table(rows, len(values), "v").html) == seen


def test_doubles_beside_null_have_the_digits_of_their_column() -> None:
    rows = frame_of(pa.table({"v": [524.9, None, 1943.85, NAN]}))
    text = [line.strip() for line in frame_table(rows).text.splitlines()[1:]]
    assert text == ["524.90", "NULL", "1943.85", "NaN"]


def test_what_a_value_was_is_written_as_what_it_is() -> None:
    rows = pd.DataFrame({"at": [pd.Timestamp("2026-03-01")], "x": [2.25]})
    page = page_of(rows, 0, 1, replaced=[[pd.Timestamp("2026-03-01 10:00"), 2.5]])
    assert page["rows"][0]["cells"] == ("2026-03-01 00:00:00", "2.25")
    assert page["rows"][0]["was"] == ["2026-03-01 10:00:00", "2.50"]
