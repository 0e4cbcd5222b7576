"""Charts of answers and of changes: which columns they draw, what they leave out, and what they say as text."""

from __future__ import annotations

import datetime as dt
import math
import re
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import pairwise
from typing import Any

import pandas as pd
import pytest

from workbench.errors import MagicError
from workbench.notebook.chart import ChartColumns, answer_chart, answer_spec, changes_chart, points_of
from workbench.notebook.chart_series import total_columns
from workbench.notebook.display import Shown
from workbench.notebook.joint_chart import drawn_rows, joint
from workbench.sql.algebra.types import BOOLEAN, DATE, DOUBLE, INTEGER, STRING, TIMESTAMP, DataType, decimal
from workbench.sql.binder.pipeline import bind
from workbench.sql.logical import output_columns
from workbench.sql.schema import Schema


def chart(rows: pd.DataFrame, total: int | None = None, latest: bool = False, **asked: str) -> Shown:
    """The chart of rows, of whose columns the types are those of their values."""
    kinds = {"i": INTEGER, "f": DOUBLE, "b": BOOLEAN, "M": TIMESTAMP}
    types = [(name, kinds.get(rows[name].dtype.kind) or of_objects(rows[name])) for name in rows.columns]
    columns = replace(ChartColumns.of(types, asked), latest=latest)
    return answer_chart(rows, columns, len(rows) if total is None else total, "q")


def of_objects(column: pd.Series) -> DataType:
    first = column.dropna().iloc[0]
    return decimal(9, 2) if isinstance(first, Decimal) else DATE if isinstance(first, dt.date) else STRING


def marks(shown: Shown, kind: str) -> int:
    """How many marks of a kind an SVG has: ``rect``, ``symbol``, ``line``, ``area``."""
    found = re.search(rf'<g class="mark-{kind} role-mark.*?</g>', shown.html or "", re.S)
    return 0 if found is None else found[0].count("<path")


def test_text_names_the_bars_and_the_last_numbers_are_their_lengths():
    rows = pd.DataFrame({"id": [7, 8], "bank": ["x", "<b>"], "total": [Decimal("1.50"), Decimal("-3.00")]})
    drawn = chart(rows, 9)
    assert drawn.text.splitlines()[0] == "q, total by bank: 2 of 9 rows"
    assert marks(drawn, "rect") == 2
    assert "&lt;b&gt;" in drawn.html and "<b>" not in drawn.html and 'role="img" aria-label="q, total by' in drawn.html
    assert chart(rows, 9, y="ID").text.startswith("q, id by bank")


def test_each_row_with_a_time_of_its_own_is_a_point_of_a_line():
    days = [dt.date(2024, 1, day) for day in (3, 1, 2)]
    rows = pd.DataFrame({"day": days, "n": [30, 10, 20]})
    assert marks(chart(rows), "line") == 1 and marks(chart(rows), "symbol") == 3
    assert [point["x"] for point in points_of(rows, ChartColumns("day", "n", None, "line", DATE.kind))] == [
        1704240000000, 1704067200000, 1704153600000
    ]  # fmt: skip
    twice = pd.DataFrame({"day": [days[0]] * 2, "n": [30, 10]})
    assert marks(chart(twice), "line") == 0 and marks(chart(twice), "symbol") == 2
    missing = pd.DataFrame({"at": pd.to_datetime(["2024-01-01", None, "2024-01-02"]), "n": [1, 2, 3]})
    assert marks(chart(missing), "symbol") == 2


def test_a_text_beside_a_time_is_a_series():
    days = [dt.date(2024, 1, 1), dt.date(2024, 1, 2)] * 2
    rows = pd.DataFrame({"day": days, "bank": ["x", "x", "y", None], "n": [1, 2, 3, 4]})
    drawn = chart(rows)
    assert drawn.text.splitlines()[0] == "q, n by day by bank: 4 rows" and "2024-01-02, NULL" in drawn.text
    assert marks(chart(rows, kind="area"), "area") > 0 or "mark-area" in (chart(rows, kind="area").html or "")
    assert chart(rows, x="bank").text.splitlines()[0] == "q, n by bank: 4 rows"
    assert chart(rows, x="bank", by="day", kind="bars").text.splitlines()[0] == "q, n by bank by day: 4 rows"


def test_many_rows_are_drawn_as_bars_only_up_to_a_number():
    columns = [("at", TIMESTAMP), ("n", INTEGER)]
    assert ChartColumns.of(columns, {}).most == 1_000 and ChartColumns.of(columns, {"kind": "bars"}).most == 30
    assert ChartColumns.of([("bank", STRING), ("n", INTEGER)], {}).most == 30
    assert ChartColumns.of([("m", INTEGER), ("n", INTEGER)], {}).most == 1_000


def test_a_timestamp_has_its_hour_also_at_midnight_and_a_date_has_none():
    hours = pd.date_range("2024-01-01 22:00", periods=4, freq="h")
    text = chart(pd.DataFrame({"at": hours, "n": [1, 2, 3, 4]})).text
    assert "2024-01-02 00:00:00" in text and "2024-01-01 23:00:00" in text
    midnights = pd.DataFrame({"at": hours.normalize().unique(), "n": [1, 2]})
    assert "2024-01-02 00:00:00  2" in chart(midnights).text
    assert "2024-01-02  2" in chart(midnights.assign(at=midnights["at"].dt.date)).text


def test_rows_without_a_value_are_left_out_and_counted():
    rows = pd.DataFrame({"bank": ["x", None, "z", "w"], "n": [1.0, 2.0, float("nan"), float("inf")]})
    drawn = chart(rows)
    assert drawn.text.splitlines()[0] == "q, n by bank: 4 rows, 2 without a value left out"
    assert "NULL" in drawn.text and len(drawn.text.splitlines()) == 4


def test_what_cannot_be_drawn_says_so():
    rows = pd.DataFrame({"bank": ["x"], "open": [True], "n": [1]})
    with pytest.raises(MagicError, match="the answer has no column m"):
        chart(rows, y="m")
    with pytest.raises(MagicError, match="bank has no numbers to draw"):
        chart(rows, y="bank")
    with pytest.raises(MagicError, match="no kind of chart pie"):
        chart(rows, kind="pie")
    with pytest.raises(MagicError, match="no column of numbers"):
        chart(rows[["bank", "open"]])
    columns = ChartColumns.of([("bank", STRING), ("n", INTEGER)], {})
    assert answer_chart(rows.head(0), columns, 0, "q").text == "q, n by bank: 0 rows"


def test_changes_are_drawn_by_batch_also_where_nothing_changed():
    changes = pd.DataFrame({"batch": [2, 2, 4], "weight": [3, -1, -2], "n": [1, 2, 3]})
    chart = changes_chart(changes, "changes of q")
    assert chart.text.splitlines()[0] == "changes of q: 6 changed rows by batch"
    assert [line.split() for line in chart.text.splitlines()[2:]] == [["2", "3", "1"], ["3", "0", "0"], ["4", "0", "2"]]
    assert marks(chart, "rect") == 3
    assert changes_chart(changes.head(0), "changes of q").text == "changes of q: 0 changed rows by batch"


def test_a_cell_draws_an_answer_and_its_changes(run):
    run("%%argus q1\nSELECT big")
    cell = run("%argus results q1 --sort tranid --desc --limit 2 --chart")
    assert cell.text.startswith("q1 after batch 0, by tranid, tranid by city: 2 of 25 rows")
    assert "<svg" in cell.htmls[0]
    assert "q1 after batch 0, tranid by city: 3 of 25 rows" in run("%argus results q1 --limit 3 --chart tranid").text
    assert "tranid by city: 25 rows" in run("%argus results q1 --chart").text
    assert "10 of 24 rows" in run("%argus results q1 --where 'tranid > 0'").text
    assert "25 changed rows by batch" in run("%argus results q1 --changes --chart").text
    assert "without a column" in str(run("%argus results q1 --changes --chart tranid").error)
    assert "did you mean tranid?" in str(run("%argus results q1 --chart trandi").error)
    assert "tranid by city" in run("%argus results q1 --chart x=city y=tranid kind=bars").text
    assert "tranid by city" in run("%argus results q1 --chart tranid y=tranid").text
    assert "a chart has one x=" in str(run("%argus results q1 --chart x=city x=tranid").error)
    assert "z= is no part" in str(run("%argus results q1 --chart z=tranid").error)


def test_a_cell_draws_several_answers(run, session):
    for name in ("q1", "q2"):
        run(f"%%argus {name}\nSELECT big")
    cell = run("%argus results q1 q2 --chart x=city y=tranid")
    assert cell.text.startswith("q1, q2, tranid by city by query: 50 rows")
    assert cell.text.endswith("q1 as of batch 0 · all is well\nq2 as of batch 0 · all is well")
    assert "q2, " + session.queries["q2"].frame["city"][0] in run("%argus results q1 q2 --chart tranid by=city").text
    for line, said in {
        "%argus results q1 q2": "a table is of one answer, not of 2",
        "%argus results q1 q2 --chart --changes": "--changes is of one answer",
        "%argus results q1 q2 --chart -o rows": "-o is of one answer",
        "%argus results q1 q2 --chart x=zip": "q1: the answer has no column zip",
        "%argus results q1 q3 --chart": "q3",
        "%argus results q1 --chart x=city y=": "nothing stands behind y=",
        "%argus results q1 sorted": "there is no query sorted",
    }.items():
        assert said in str(run(line).error), line
    session.queries["q2"].columns = (("tranid", INTEGER), ("id", INTEGER))
    assert "q1 has names, q2 has numbers" in str(run("%argus results q1 q2 --chart y=tranid").error)


@pytest.mark.parametrize("asked", ["y=n y=mean", "y=n,mean", "n mean", "n,mean y=n"])
def test_several_columns_of_an_answer_are_series_of_one_chart(run, session, asked):
    """As a count beside its moving average; "a chart has one y=, not two" was said."""
    run("%%argus q1\nSELECT big")
    query = session.queries["q1"]
    query.columns = (("day", DATE), ("n", INTEGER), ("mean", DOUBLE))
    days = [dt.date(2026, 3, day) for day in (1, 2, 3)]
    query.frame = pd.DataFrame({"day": days, "n": [4, 8, 6], "mean": [4.0, 6.0, None]})
    cell = run(f"%argus results q1 --chart x=day {asked}")
    assert cell.error is None
    assert cell.text.splitlines()[0] == "q1, n / mean by day: 3 rows, 1 without a value left out"
    assert cell.text.splitlines()[-1] == "as of batch 0 · all is well"
    assert [line.split()[1:3] for line in cell.text.splitlines()[2:7]] == [
        ["n", "4"], ["n", "8"], ["n", "6"], ["mean", "4.0"], ["mean", "6.0"]
    ]  # fmt: skip
    assert marks(Shown("", cell.htmls[0]), "line") == 1, "a line for each column, the mean last"
    assert "--sort is of one answer, not of several columns" in str(
        run(f"%argus results q1 --sort day --chart {asked}").error
    )
    assert "no column m" in str(run("%argus results q1 --chart y=n,m").error)


def test_bars_of_several_columns_stand_beside_each_other() -> None:
    """They are no parts of a sum, as the parts of one column are."""
    rows = pd.DataFrame({"bank": ["x", "y"] * 2, "n / mean": [4, 8, 2, 3], "column": ["n", "n", "mean", "mean"]})
    spec = answer_spec(rows, ChartColumns("bank", "n / mean", "column", "bars", STRING.kind, of_each=2), "q")
    assert spec["encoding"]["x"]["stack"] is None and spec["encoding"]["yOffset"]["field"] == "by"
    spec = answer_spec(rows, ChartColumns("bank", "n / mean", "column", "bars", STRING.kind), "q")
    assert "stack" not in spec["encoding"]["x"] and "yOffset" not in spec["encoding"]


def test_a_series_keeps_its_colour_whichever_row_comes_first() -> None:
    rows = pd.DataFrame({"day": [1, 1, 2, 2], "n": [1, 2, 3, 4], "hub": ["x", "y", "x", "y"]})
    columns = ChartColumns("day", "n", "hub", "line", INTEGER.kind)
    for one in (rows, rows[::-1]):  # the legend's colours stand in the order of its names
        assert re.findall(">([xy])</text>", answer_chart(one, columns, 4, "q").html or "") == ["x", "y"]


def test_a_name_that_the_page_writes_wider_is_not_cut_off_at_the_edge() -> None:
    """A page without the chart's font showed "eitschrift, Fräulein Smilla 196"."""
    rows = pd.DataFrame({"title": ["Zeitschrift, Fräulein Smilla 196"], "n": [1]})
    assert "overflow:visible" in (chart(rows).html or "").partition("<svg ")[2].partition(">")[0]


def test_rows_without_a_place_are_counted_as_left_out() -> None:
    rows = pd.DataFrame({"x": [1.0, math.nan, math.inf, 2.0], "y": [1.0, 2.0, 3.0, math.nan]})
    chart = answer_chart(rows, ChartColumns("x", "y", x_kind=DOUBLE.kind), 4, "q")
    assert "3 without a value left out" in chart.text and chart.text.count("█") == 12


@pytest.mark.parametrize(
    ("types", "x", "by"),
    [
        ([("city", STRING), ("hour", TIMESTAMP), ("n", INTEGER)], "hour", "city"),
        ([("hour", TIMESTAMP), ("city", STRING), ("n", INTEGER)], "hour", "city"),
        ([("city", STRING), ("country", STRING), ("n", INTEGER)], "city", None),
        ([("city", STRING), ("since", DATE), ("till", DATE), ("n", INTEGER)], "city", None),
        ([("city", STRING), ("n", INTEGER)], "city", None),
    ],
)
def test_a_time_and_a_name_are_series_over_the_time(types: Any, x: str, by: str | None) -> None:
    columns = ChartColumns.of(types, {})
    assert (columns.x, columns.by) == (x, by)


@pytest.mark.parametrize("asked", [{}, {"kind": "bars"}, {"x": "city"}, {"x": "city", "kind": "bars"}])
def test_rows_of_one_name_have_bars_of_their_own(asked: dict[str, str]) -> None:
    """A bar that is the sum of rows is of no answer."""
    rows = pd.DataFrame({"city": ["Ulm", "Ulm", "Graz", "Ulm"], "land": ["D", "A", "A", "D"], "n": [5, 6, 7, 8]})
    columns = ChartColumns.of([("city", STRING), ("land", STRING), ("n", INTEGER)], asked).drawn_as(rows)
    points = points_of(rows, columns)
    assert [point["label"] for point in points] == ["Ulm, D", "Ulm, A", "Graz, A", "Ulm, D (2)"]
    assert len({point["x"] for point in points}) == len(rows)


def test_times_are_written_with_24_hours() -> None:
    rows = pd.DataFrame({"at": pd.date_range("2026-03-02 10:00", periods=30, freq="h"), "n": range(30)})
    html = answer_chart(rows, ChartColumns.of([("at", TIMESTAMP), ("n", INTEGER)], {}), 30, "q").html or ""
    marks = re.findall(r">([^<]*)</(?:text|tspan)>", html)
    assert "15:00" in marks and "Mar 03" in marks and not any("PM" in mark for mark in marks)


SPANS = [
    ("2026-03-02 12:31", "2min", 14),
    ("2026-10-23 03:00", "h", 60),
    ("2026-03-23", "D", 12),
    ("2025-11-01", "D", 99),
]


@pytest.mark.parametrize(("begins", "step", "count"), SPANS)
def test_the_axis_of_times_has_days_and_no_label_over_another(begins: str, step: str, count: int) -> None:
    """Nine hours of several days stood without their days, the first of a month was called Apr, and ends overlapped."""
    rows = pd.DataFrame(
        {"at": pd.date_range(begins, periods=count, freq=step), "n": [1, 3] * (count // 2) + [2] * (count % 2)}
    )
    html = answer_chart(rows, ChartColumns.of([("at", TIMESTAMP), ("n", INTEGER)], {}), count, "q").html or ""
    below = html[: html.index(">at</text>")]
    places = re.findall(
        r'text-anchor="(\w+)" transform="translate\(([\d.]+),\d+\)"[^>]*opacity="1">(.*?)</text>', below
    )
    middles = [(float(x), re.sub("<[^>]*>", " ", label).strip()) for anchor, x, label in places if anchor == "middle"]
    assert len(middles) >= 5 and len(middles) == len(places), "none is moved to the side"
    assert all(right - left > 30 for (left, _), (right, _) in pairwise(middles)), middles
    assert step == "2min" or all(re.search(r"[A-Z][a-z]{2} \d\d|20\d\d", label) for _, label in middles), middles
    assert {"1", "2", "3"} <= {*re.findall(r">([^<]*)</text>", html)} and ">1.5<" not in html


def test_letters_can_be_read() -> None:
    days = [dt.date(2026, 1, day) for day in (1, 1, 2, 2)]
    rows = pd.DataFrame({"city": ["Ulm", "Graz"] * 2, "at": days, "n": range(4)})
    html = answer_chart(rows, ChartColumns.of([("city", STRING), ("at", DATE), ("n", INTEGER)], {}), 4, "q").html or ""
    sizes = {float(size) for size in re.findall(r'font-size="([\d.]+)px"', html)}
    assert sizes and min(sizes) >= 11


@pytest.mark.parametrize("frequency", ["D", "h", "17s", "1ms"])
@pytest.mark.parametrize("asked", [{}, {"kind": "bars"}, {"kind": "area"}])
@pytest.mark.parametrize("missing", [False, True])
def test_times_of_a_column_are_drawn_as_each_by_itself(frequency: str, asked: dict[str, str], missing: bool) -> None:
    times = pd.Series(pd.date_range("1969-12-31", periods=40, freq=frequency))
    if missing:
        times[7] = pd.NaT
    fast = pd.DataFrame({"at": times, "n": range(40)})
    slow = fast.assign(at=fast["at"].astype(object))
    columns = ChartColumns.of([("at", TIMESTAMP), ("n", INTEGER)], asked).drawn_as(fast)
    assert points_of(fast, columns) == points_of(slow, columns)


@pytest.mark.parametrize("asked", [{}, {"x": "at", "y": "kwh", "by": "meter", "kind": "line"}])
def test_of_many_series_those_with_the_largest_values_are_drawn_each_in_its_own_colour(asked: dict[str, str]) -> None:
    rows = pd.DataFrame(
        [(f"2026-01-0{day}", f"m{meter:02}", meter + day / 10) for day in (3, 2, 1) for meter in range(60)],
        columns=["at", "meter", "kwh"],
    ).astype({"at": "datetime64[us]"})
    shown = chart(rows, 600, True, **asked)
    head = shown.text.splitlines()[0]
    assert head == (
        "q, kwh by at by meter: the latest 180 of 600 rows; the 10 of 60 series with the largest values, "
        "a condition (--where) chooses others"
    )
    assert (shown.html or "").count("mark-line role-mark") == 10 and "entries" not in (shown.html or "")
    assert {*re.findall(r">(m\d\d)<", shown.html or "")} == {f"m{meter}" for meter in range(50, 60)}


def test_many_rows_that_are_not_the_newest_are_not_called_so() -> None:
    rows = pd.DataFrame({"at": pd.to_datetime(["2026-01-01", "2026-01-03", "2026-01-02"]), "n": [1, 2, 3]})
    assert chart(rows, 9).text.startswith("q, n by at: 3 of 9 rows")


_SALES = Schema({"t": (("tariff", STRING), ("city", STRING), ("price", DOUBLE))})


@pytest.mark.parametrize(
    ("sql", "y", "by"),
    [
        ("SELECT city, COUNT(*) AS n, SUM(price) AS total, MAX(price) AS most FROM t GROUP BY city", "total", None),
        ("SELECT city, MAX(price) AS most, COUNT(*) AS n FROM t GROUP BY city ORDER BY n", "n", None),
        ("SELECT city, AVG(price) AS mean, MAX(price) AS most FROM t GROUP BY city", "most", None),
        ("SELECT city, tariff, SUM(price) AS total, MIN(price) AS least FROM t GROUP BY ALL", "total", "tariff"),
        ("SELECT city, tariff, MIN(price) AS least FROM t GROUP BY ALL", "least", None),
        ("SELECT city, price FROM t", "price", None),
    ],
)
def test_counts_and_sums_are_drawn_before_other_numbers(sql: str, y: str, by: str | None) -> None:
    query = bind(sql, "spark", _SALES).query
    drawn = ChartColumns.of(output_columns(query), {}, total_columns(query))
    assert (drawn.y, drawn.by) == (y, by)


def test_numbers_that_most_rows_lack_are_not_drawn_unasked() -> None:
    types = [("day", DATE), ("price", DOUBLE), ("n", INTEGER), ("mean", DOUBLE)]
    days = [dt.date(2026, 1, day) for day in range(1, 5)]
    rows = pd.DataFrame({"day": days, "price": [1.5] * 4, "n": [1, 2, 3, 4], "mean": [math.nan] * 3 + [2.5]})
    assert ChartColumns.of(types, {}).drawn_as(rows).y == "n"
    assert ChartColumns.of(types, {"y": "mean"}).drawn_as(rows).y == "mean"
    assert ChartColumns.of(types, {"x": "n"}).drawn_as(rows).y == "price"
    assert ChartColumns.of(types, {}).drawn_as(rows.assign(mean=[math.nan] * 2 + [2.5] * 2)).y == "mean"
    assert ChartColumns.of(types, {}).drawn_as(rows.assign(price=None, n=None, mean=None)).y == "mean"
    assert ChartColumns.of(types, {}).drawn_as(rows.head(0)).y == "mean"


def test_names_that_repeat_are_stacked_by_the_other_name() -> None:
    types = [("city", STRING), ("kind", STRING), ("n", INTEGER)]
    columns = ChartColumns.of(types, {}, ["n"])
    once = pd.DataFrame({"city": ["a", "b"], "kind": ["x", "y"], "n": [1, 2]})
    twice = pd.DataFrame({"city": ["a", "a", "b"], "kind": ["x", "y", "x"], "n": [1, 2, 3]})
    assert columns.drawn_as(once).by is None and columns.drawn_as(twice).by == "kind"
    assert len({*re.findall(r"fill=\"(#\w{6})\"", answer_chart(twice, columns, 3, "q").html or "")}) == 2


@dataclass
class Answer:
    """A query's answer by the hour, as a chart reads it."""

    name: str
    rows: int
    logical: None = None
    columns: tuple[tuple[str, DataType], ...] = (("at", TIMESTAMP), ("n", INTEGER))

    def count(self) -> int:
        return self.rows

    def head(self, rows: int, sort: str | None = None, descending: bool = False) -> pd.DataFrame:
        frame = pd.DataFrame({"at": pd.date_range("2026-03-01", periods=self.rows, freq="h"), "n": range(self.rows)})
        return (frame if sort is None else frame.sort_values(sort, ascending=not descending)).head(rows)


@pytest.mark.parametrize(("rows", "said"), [((30, 30), "60 rows"), ((5000, 30), "the latest 1,030 of 5,030 rows")])
def test_a_chart_of_several_answers_says_that_the_latest_rows_are_drawn(rows: tuple[int, int], said: str) -> None:
    made = joint([drawn_rows(Answer(name, number), {}) for name, number in zip("ab", rows, strict=True)])  # type: ignore[arg-type]
    assert answer_chart(made.rows, made.columns, made.total, made.name).text.startswith(
        f"a, b, n by at by query: {said}\n"
    )
