"""Rows of an answer as a page shows them: the texts of cells, and which of them are numbers or changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from workbench.explain.cells import FrameCells, ValueForm, shown_text, title_of
from workbench.notebook.display import Shown, cell_html, rows_table
from workbench.notebook.panel.markup import grid


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
        >>> page["rows"][1]
        {'cells': ('1000',), 'titles': None, 'fresh': False, 'was': ['7']}
    """
    cells = FrameCells.of(rows, [was for was in replaced if was])
    before = [_was(was, row, cells.forms) for was, row in zip(replaced or [None] * len(rows), cells.rows, strict=True)]
    return {
        "columns": [
            {"name": name, "number": form.is_number, "sortable": not _is_nested(rows.iloc[:, i])}
            for i, (name, form) in enumerate(zip(cells.columns, cells.forms, strict=True))
        ],
        "rows": [
            {"cells": tuple(map(shown_text, row)), "titles": _titles(row), "fresh": new, "was": was}
            for row, new, was in zip(cells.rows, fresh or [False] * len(rows), before, strict=True)
        ],
        "start": start,
        "total": total,
        **more,
    }


def _titles(row: Sequence[str]) -> list[str] | None:
    """What is under the mouse of each cell, where something is."""
    titles = list(map(title_of, row))
    return titles if any(titles) else None


def _was(before: Sequence[Any] | None, now: Sequence[str], forms: Sequence[ValueForm]) -> list[str | None] | None:
    """Of the cells that changed the texts of what they were."""
    if before is None:
        return None
    texts = [form.text(value) for form, value in zip(forms, before, strict=True)]
    return [shown_text(was) if was != is_ else None for was, is_ in zip(texts, now, strict=True)]


def answer_table(rows: pd.DataFrame, total: int, title: str) -> Shown:
    """Show some rows of an answer as a table; numbers are aligned to the right.

    Example:
        >>> answer_table(pd.DataFrame({"n": [12345]}), 1, "big").html.partition("<tbody>")[2]
        '<tr><td class="number">12345</td></tr></tbody></table></div>'
    """
    cells = FrameCells.of(rows)
    numbers = [place for place, is_number in enumerate(cells.right) if is_number]
    html = grid(cells.columns, [list(map(cell_html, row)) for row in cells.rows], numbers)
    return Shown(rows_table(rows, total, title).text, f'<div style="overflow-x:auto">{html}</div>')


def _is_nested(column: pd.Series) -> bool:
    return column.dtype == object and any(isinstance(value, list | Mapping) for value in column)
