"""Cells of values that differ look different, as text, in HTML and in the panel."""

from __future__ import annotations

import datetime as dt
import html
import re
from collections.abc import Callable
from decimal import Decimal

import pandas as pd
import pyarrow as pa
import pytest

from workbench.arrow.frames import frame_of
from workbench.notebook.chart import ChartColumns, points_of
from workbench.notebook.display import frame_table
from workbench.notebook.panel.answer_page import answer_table, page_of

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


def cells_of(rows: pd.DataFrame) -> set[str]:
    """The cell of a row's one value in all places: text, HTML, the panel, a chart's label."""
    table, panel = frame_table(rows), answer_table(rows, len(rows), "v").html or ""
    chart = points_of(rows.assign(n=1), ChartColumns("v", "n", kind="bars"))
    return {
        html.unescape((table.html or "").split("<td")[1].split("</td>")[0].partition(">")[2]),
        html.unescape(panel.split("<td")[1].split("</td>")[0].partition(">")[2]),
        str(chart[0]["label"]),
    }


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
    grouped = f"{Decimal(text):,f}"
    label = points_of(rows.assign(n=1), ChartColumns("v", "n", kind="bars"))[0]["label"]
    assert grouped in (answer_table(rows, 1, "v").html or "") and label in (text, grouped)


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


def test_texts_are_aligned_to_the_left_and_dates_stay_on_a_line() -> None:
    day = dt.date(2002, 10, 9)
    rows = frame_of(pa.table({"bank": ["<td>", None], "n": [1, 2], "day": [day, None], "l": [["a"], None]}))
    shown = frame_table(rows).html or ""
    assert re.findall("<th(.*?)>(.*?)</th>", shown) == [
        (' style="text-align:left"', "bank"), ("", "n"), (' style="white-space:nowrap"', "day"), ("", "l"),
    ]  # fmt: skip
    assert '<td style="text-align:left">&lt;td&gt;</td>' in shown and '<td style="text-align:left">NULL</td>' in shown
    assert '<td style="white-space:nowrap">2002-10-09</td>' in shown


BELOW: list[tuple[list[object], list[str]]] = [
    ([3.7, 3.63, None], ["3.70", "3.63", "NULL"]),
    ([1069934.3, 287537.73], ["1,069,934.30", "287,537.73"]),
    ([2.0, 30.0], ["2.0", "30.0"]),
    ([2.5, 1e22, NAN, INFINITE], ["2.5", "1e+22", "NaN", "inf"]),
    ([0.000123456, 1.5], ["0.000123456", "1.500000"]),
    ([pd.Timestamp("2026-03-01"), None, pd.Timestamp("2026-03-02")], ["2026-03-01", "NULL", "2026-03-02"]),
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
    page = html.unescape(answer_table(rows, len(values), "v").html or "")
    assert [cell.partition(">")[2].split("</td>")[0] for cell in page.split("<td")[1:]] == seen


def test_doubles_beside_null_have_the_digits_of_their_column() -> None:
    rows = frame_of(pa.table({"v": [524.9, None, 1943.85, NAN]}))
    text = [line.strip() for line in frame_table(rows).text.splitlines()[1:]]
    assert text == ["524.90", "NULL", "1943.85", "NaN"]


def test_what_a_value_was_is_written_as_what_it_is() -> None:
    rows = pd.DataFrame({"at": [pd.Timestamp("2026-03-01")], "x": [2.25]})
    page = page_of(rows, 0, 1, replaced=[[pd.Timestamp("2026-03-01 10:00"), 2.5]])
    assert page["rows"][0]["cells"] == ("2026-03-01 00:00:00", "2.25")
    assert page["rows"][0]["was"] == ["2026-03-01 10:00:00", "2.50"]
