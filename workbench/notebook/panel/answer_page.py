"""Rows of an answer as a page shows them: the texts of cells, and which of them are numbers or changed."""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from html import escape
from typing import Any

import pandas as pd

from workbench.explain.text import short
from workbench.notebook.chart import has_numbers
from workbench.notebook.display import WIDEST, Shown, marked_cell, rounded_text, rows_table
from workbench.notebook.panel.markup import grid
from workbench.sql.algebra.counted import interval_text

_DIGITS = 6
"""The most that a double has after its point; ``rounded_text`` gives more to what is less than 1."""
_Text = Callable[[Any], str]


def page_of(
    rows: pd.DataFrame,
    start: int,
    total: int,
    fresh: Sequence[bool] = (),
    replaced: Sequence[Sequence[Any] | None] = (),
    **more: Any,
) -> dict[str, Any]:
    """A page as ``AnswerWidget`` takes it.

    Args:
        rows: the rows that are sent.
        start: how many rows come before them.
        total: how many rows there are in all.
        fresh: which of them are new since the query was looked at.
        replaced: for each the row that it replaced in the last batch, if any.
        more: further fields of the page.

    Example:
        >>> page = page_of(pd.DataFrame({"n": [1, 1000]}), 0, 9, replaced=[None, [7]])
        >>> page["rows"]
        [{'cells': ('1',), 'fresh': False, 'was': None}, {'cells': ('1,000',), 'fresh': False, 'was': ['7']}]
    """
    cells, numbers, texts = _cell_texts(rows, [was for was in replaced if was])
    before = [_was(was, row, texts) for was, row in zip(replaced or [None] * len(cells), cells, strict=True)]
    return {
        "columns": [
            {"name": str(name), "number": i in numbers, "sortable": not _is_nested(rows.iloc[:, i])}
            for i, name in enumerate(rows.columns)
        ],
        "rows": [
            {"cells": row, "fresh": new, "was": was}
            for row, new, was in zip(cells, fresh or [False] * len(cells), before, strict=True)
        ],
        "start": start,
        "total": total,
        **more,
    }


def _was(before: Sequence[Any] | None, now: Sequence[str], texts: Sequence[_Text]) -> list[str | None] | None:
    """Of the cells that changed the texts of what they were."""
    if before is None:
        return None
    written = [text(value) for text, value in zip(texts, before, strict=True)]
    return [was if was != is_ else None for was, is_ in zip(written, now, strict=True)]


def answer_table(rows: pd.DataFrame, total: int, title: str) -> Shown:
    """Some rows of an answer; numbers stand at the right, with separators.

    Example:
        >>> answer_table(pd.DataFrame({"n": [12345]}), 1, "big").html.partition("<tbody>")[2]
        '<tr><td class="number">12,345</td></tr></tbody></table></div>'
    """
    cells, numbers, _ = _cell_texts(rows)
    html = grid([str(name) for name in rows.columns], [list(map(escape, row)) for row in cells], numbers)
    return Shown(rows_table(rows, total, title).text, f'<div style="overflow-x:auto">{html}</div>')


def value_text(value: Any) -> str:
    """A value by itself, as a page shows it.

    Example:
        >>> [value_text(value) for value in (7170, 2.5, dt.datetime(2026, 1, 2), "a", None)]
        ['7,170', '2.5', '2026-01-02', 'a', 'NULL']
    """
    is_number = has_numbers(pd.Series([value], dtype=object))
    return _text(value, is_number, rounded_text, _time_unit([value]))


def _cell_texts(
    rows: pd.DataFrame, before: Sequence[Sequence[Any]] = ()
) -> tuple[list[tuple[str, ...]], list[int], list[_Text]]:
    """The texts of rows, which columns are numbers, and what writes the values of each column.

    Args:
        rows: the rows.
        before: others whose values are to be written beside them.
    """
    numbers = [i for i in range(rows.shape[1]) if has_numbers(rows.iloc[:, i])]
    texts: list[_Text] = [
        partial(_text, number=i in numbers, float_text=_float_text(beside), time_unit=_time_unit(beside))
        for i in range(rows.shape[1])
        for beside in [[*rows.iloc[:, i], *(was[i] for was in before)]]
    ]
    columns = [[text(value) for value in rows.iloc[:, i]] for i, text in enumerate(texts)]
    return list(zip(*columns, strict=True)), numbers, texts


def _is_nested(column: pd.Series) -> bool:
    return column.dtype == object and any(isinstance(value, list | Mapping) for value in column)


def _float_text(column: Sequence[Any]) -> Callable[[float], str]:
    """How doubles that stand below each other are written: with as many digits after the point, 3.70 beside 3.63."""
    present = [rounded_text(value) for value in column if isinstance(value, float) and math.isfinite(value)]
    digits = min(_DIGITS, max(map(_digits, present), default=0))
    return lambda value: _padded(rounded_text(value), digits)


def _digits(text: str) -> int:
    return 0 if "e" in text else len(text.partition(".")[2])


def _padded(text: str, digits: int) -> str:
    return text + "0" * (digits - _digits(text)) if "." in text and "e" not in text else text


def _time_unit(column: Sequence[Any]) -> str | None:
    """The unit to which times that stand below each other are written; ``None``: days, since all are midnights.

    Example:
        >>> _time_unit([dt.datetime(2026, 1, 2), dt.datetime(2026, 1, 2, 3, 0, 0, 120_000), pd.NaT])
        'milliseconds'
    """
    times = [value for value in column if isinstance(value, dt.datetime) and not pd.isna(value)]
    if any(time.microsecond % 1000 for time in times):
        return "microseconds"
    if any(time.microsecond for time in times):
        return "milliseconds"
    return "seconds" if any(time.tzinfo or time.time() != dt.time() for time in times) else None


def _text(value: Any, number: bool, float_text: Callable[[float], str], time_unit: str | None) -> str:
    marked = marked_cell(value)
    if isinstance(marked, str) and marked is not value:
        return marked if len(marked) <= WIDEST else short(marked, WIDEST)
    if isinstance(value, dt.datetime):
        return value.isoformat(" ", time_unit) if time_unit else str(value.date())
    if isinstance(value, dt.timedelta):
        return interval_text(value)
    if isinstance(value, pd.DateOffset):
        return interval_text((value.kwds["months"], 0, 0))
    if isinstance(value, float):
        return float_text(value)
    return f"{value:,}" if number and not isinstance(value, str) else short(str(value), WIDEST)
