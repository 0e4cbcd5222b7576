"""Charts of answers and of changes: which columns they draw, what they leave out, and what they say as text."""

from __future__ import annotations

import datetime as dt
import re
from decimal import Decimal

import pandas as pd
import pytest

from workbench.notebook.chart import answer_chart, changes_chart
from workbench.notebook.command_line import MagicError


def test_text_names_the_bars_and_the_last_numbers_are_their_lengths():
    rows = pd.DataFrame({"id": [7, 8], "bank": ["x", "<b>"], "total": [Decimal("1.50"), Decimal("-3.00")]})
    chart = answer_chart(rows, 9, "q")
    assert chart.text.splitlines()[0] == "q, total by bank: 2 of 9 rows"
    assert chart.html is not None and chart.html.count("<rect") == 2
    assert "&lt;b&gt;" in chart.html and "<b>" not in chart.html and 'role="img" aria-label="q, total by' in chart.html
    assert answer_chart(rows, 9, "q", "ID").text.startswith("q, id by bank")


def test_each_row_with_a_time_of_its_own_is_a_point_of_a_line():
    days = [dt.date(2024, 1, day) for day in (3, 1, 2)]
    line = answer_chart(pd.DataFrame({"day": days, "n": [30, 10, 20]}), 3, "q")
    assert line.html is not None
    (points,) = re.findall(r'points="([^"]+)"', line.html)
    heights = [float(point.split(",")[1]) for point in points.split()]
    assert heights == sorted(heights, reverse=True), "by time, not by the order of the rows"
    large = answer_chart(pd.DataFrame({"day": days, "n": [286862816.6, -1e14, 1e20]}), 3, "q")
    assert large.html is not None and ">-100,000,000,000,000<" in large.html and ">1e+20<" in large.html
    twice = answer_chart(pd.DataFrame({"day": [days[0]] * 2, "n": [30, 10]}), 2, "q")
    missing = answer_chart(pd.DataFrame({"at": pd.to_datetime(["2024-01-01", None]), "n": [1, 2]}), 2, "q")
    assert missing.html is not None and "polyline" not in missing.html
    assert twice.html is not None and "polyline" not in twice.html and twice.html.count("<rect") == 2


def test_midnight_has_its_hour_beside_other_times():
    hours = pd.date_range("2024-01-01 22:00", periods=4, freq="h")
    text = answer_chart(pd.DataFrame({"at": hours, "n": [1, 2, 3, 4]}), 4, "q").text
    assert "2024-01-02 00:00:00" in text and "2024-01-01 23:00:00" in text
    days = answer_chart(pd.DataFrame({"at": hours.normalize().unique(), "n": [1, 2]}), 2, "q")
    assert "00:00" not in days.text and days.html is not None and "2024-01-02<" in days.html


def test_a_line_has_all_points_and_bars_are_few():
    times = pd.date_range("2024-01-01", periods=100, freq="h")
    line = answer_chart(pd.DataFrame({"at": times, "n": range(100)}), 200, "q", most_bars=30)
    assert line.html is not None and line.html.count(",") > 100 and "100 of 200 rows" in line.text
    assert len(line.text.splitlines()) == 32
    bars = answer_chart(pd.DataFrame({"bank": [str(n) for n in range(100)], "n": range(100)}), 200, "q", most_bars=30)
    assert bars.html is not None and bars.html.count("<rect") == 30 and "30 of 200 rows" in bars.text


def test_rows_without_a_value_are_left_out_and_counted():
    rows = pd.DataFrame({"bank": ["x", None, "z", "w"], "n": [1.0, 2.0, float("nan"), float("inf")]})
    chart = answer_chart(rows, 4, "q")
    assert chart.text.splitlines()[0] == "q, n by bank: 4 rows, 2 without a value left out"
    assert "NULL" in chart.text and len(chart.text.splitlines()) == 4


def test_what_cannot_be_drawn_says_so():
    rows = pd.DataFrame({"bank": ["x"], "open": [True], "n": [1]})
    with pytest.raises(MagicError, match="the answer has no column m"):
        answer_chart(rows, 1, "q", "m")
    with pytest.raises(MagicError, match="bank has no numbers to draw"):
        answer_chart(rows, 1, "q", "bank")
    with pytest.raises(MagicError, match="no column of numbers"):
        answer_chart(rows[["bank", "open"]], 1, "q")
    assert answer_chart(rows.head(0), 0, "q").text == "q, n by bank: 0 rows"


def test_changes_are_drawn_by_batch_also_where_nothing_changed():
    changes = pd.DataFrame({"batch": [2, 2, 4], "weight": [3, -1, -2], "n": [1, 2, 3]})
    chart = changes_chart(changes, "changes of q")
    assert chart.text.splitlines()[0] == "changes of q: 6 changed rows by batch"
    assert [line.split() for line in chart.text.splitlines()[2:]] == [["2", "3", "1"], ["3", "0", "0"], ["4", "0", "2"]]
    assert chart.html is not None and "batch 4: 2 removed" in chart.html and "batch 3:" not in chart.html
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
