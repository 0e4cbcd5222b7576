"""Rows of an answer as a page shows them: the texts of cells, and which of them are numbers or changed."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import pandas as pd

from workbench.explain.text import short
from workbench.notebook.chart import has_numbers
from workbench.notebook.display import WIDEST, Shown, marked_cell, rounded_text, rows_table
from workbench.notebook.panel.markup import grid
from workbench.sql.algebra.counted import interval_text


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
    cells, numbers = cells_of(rows)
    before = [_was(was, row, numbers) for was, row in zip(replaced or [None] * len(cells), cells, strict=True)]
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


def _was(before: Sequence[Any] | None, now: Sequence[str], numbers: Sequence[int]) -> list[str | None] | None:
    """Of the cells that changed the texts of what they were."""
    if before is None:
        return None
    texts = [_text(value, place in numbers) for place, value in enumerate(before)]
    return [was if was != is_ else None for was, is_ in zip(texts, now, strict=True)]


def answer_table(rows: pd.DataFrame, total: int, title: str) -> Shown:
    """Some rows of an answer; numbers stand at the right, with separators.

    Example:
        >>> answer_table(pd.DataFrame({"n": [12345]}), 1, "big").html.partition("<tbody>")[2]
        '<tr><td class="number">12,345</td></tr></tbody></table></div>'
    """
    cells, numbers = cells_of(rows)
    html = grid([str(name) for name in rows.columns], [list(map(escape, row)) for row in cells], numbers)
    return Shown(rows_table(rows, total, title).text, f'<div style="overflow-x:auto">{html}</div>')


def cells_of(rows: pd.DataFrame) -> tuple[list[tuple[str, ...]], list[int]]:
    """The texts of rows, and which columns are numbers."""
    numbers = [i for i in range(rows.shape[1]) if has_numbers(rows.iloc[:, i])]
    columns = [[_text(value, i in numbers) for value in rows.iloc[:, i]] for i in range(rows.shape[1])]
    return list(zip(*columns, strict=True)), numbers


def _is_nested(column: pd.Series) -> bool:
    return column.dtype == object and any(isinstance(value, list | Mapping) for value in column)


def _text(value: Any, number: bool) -> str:
    marked = marked_cell(value)
    if isinstance(marked, str) and marked is not value and len(marked) <= WIDEST:
        return marked
    if isinstance(value, dt.timedelta):
        return interval_text(value)
    if isinstance(value, pd.DateOffset):
        return interval_text((value.kwds["months"], 0, 0))
    if isinstance(value, float):
        return rounded_text(value)
    return f"{value:,}" if number and not isinstance(value, str) else short(str(value), WIDEST)
