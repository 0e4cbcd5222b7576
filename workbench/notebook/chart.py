"""Charts of an answer and of its changes: SVG made in Python, which a saved notebook keeps, with the numbers as text.

An answer has few rows when it is drawn, so bars, a line and a scale are all that is needed: a library that draws in the
browser would be loaded from the network or sent with every notebook, and matplotlib makes pictures without a theme.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Sequence
from decimal import Decimal
from html import escape
from numbers import Real
from typing import Any

import pandas as pd

from workbench.errors import nearest
from workbench.explain.text import counted, monospace, short
from workbench.notebook.command_line import MagicError
from workbench.notebook.display import Shown, marked_cell, table

WIDTH, LINE_HEIGHT, BAR_HEIGHT = 720, 180, 20
LABELS, VALUES = 200, 120
"""Pixels for the labels at the left of bars, and for the values at the right."""
_LONGEST = 28
"""Characters of a label."""
ADDED, REMOVED = "#4e79a7", "#d98b46"


def answer_chart(rows: pd.DataFrame, total: int, title: str, column: str = "", most_bars: int | None = None) -> Shown:
    """Rows of an answer as bars, or as a line where each row has a time of its own.

    Args:
        rows: what is drawn, in the order of the bars; rows without a value are left out, and the title says so.
        total: how many rows the answer has.
        title: what it is of.
        column: the numbers to draw; the last column of numbers unless given.
        most_bars: the most rows that become bars, and lines of text; a line has all of them as points.

    Raises:
        MagicError: there is no such column, or it has no numbers.

    Example:
        >>> print(answer_chart(pd.DataFrame({"bank": ["x", "y"], "n": [1, 4]}), 2, "big").text)
        big, n by bank: 2 rows
        bank  n
        x     1  ███
        y     4  ████████████
    """
    values = _values_of(rows, column)
    labels = _labels_of(rows, values)
    is_line = _is_line(rows, values, labels)
    if not is_line:
        rows = rows.head(most_bars)
    drawn = _with_values(rows, values)
    numbers = [float(value) for value in drawn[values]]
    names = _days(drawn[labels]) if labels else list(range(1, len(drawn) + 1))
    heading = f"{title}, {values}{f' by {labels}' if labels else ''}: {_count(len(rows), total, len(drawn))}"
    svg = (_line if is_line else _bars)(names, numbers, heading)
    return _shown(heading, [labels or "row", values, ""], _text_bars(names, numbers)[:most_bars], svg)


def changes_chart(changes: pd.DataFrame, title: str) -> Shown:
    """How many rows each batch added to an answer (above the line) and took away (below it).

    Args:
        changes: as ``Query.changes`` gives them, ``batch`` and ``weight`` first.
        title: what it is of.

    Example:
        >>> changed = pd.DataFrame({"batch": [1, 3, 3], "weight": [2, 1, -1]})
        >>> print(changes_chart(changed, "changes of big").text)
        changes of big: 4 changed rows by batch
        batch  added  removed
        1          2        0
        2          0        0
        3          1        1
    """
    batches, weights = changes.iloc[:, 0], changes.iloc[:, 1]
    shown = range(int(batches.min()), int(batches.max()) + 1) if len(changes) else range(0)
    added = weights.clip(lower=0).groupby(batches).sum().reindex(shown, fill_value=0).tolist()
    removed = (-weights.clip(upper=0)).groupby(batches).sum().reindex(shown, fill_value=0).tolist()
    heading = f"{title}: {counted(sum(added) + sum(removed), 'changed row')} by batch"
    rows = [[str(batch), f"{a:,}", f"{r:,}"] for batch, a, r in zip(shown, added, removed, strict=True)]
    return _shown(heading, ["batch", "added", "removed"], rows, _columns(list(shown), added, removed, heading))


def _shown(heading: str, columns: Sequence[str], rows: Sequence[Sequence[str]], svg: str) -> Shown:
    text = table(columns, rows, heading).text if rows else heading
    return Shown(text, monospace(heading) + svg)


def _values_of(rows: pd.DataFrame, wanted: str) -> str:
    numeric = [name for name in map(str, rows.columns) if has_numbers(rows[name])]
    if not wanted:
        if not numeric and len(rows):
            hint = "a chart draws a column of numbers, such as COUNT(*) by group"
            raise MagicError("the answer has no column of numbers", hint=hint)
        return numeric[-1] if numeric else str(rows.columns[-1])
    by_name = {name.lower(): name for name in map(str, rows.columns)}
    found = by_name.get(wanted.lower())
    if found is None:
        hint = nearest(wanted, list(by_name.values())) or f"its columns are {', '.join(by_name.values())}"
        raise MagicError(f"the answer has no column {wanted}", hint=hint)
    if len(rows) and found not in numeric:
        raise MagicError(f"{found} has no numbers to draw", hint=f"columns of numbers: {', '.join(numeric) or 'none'}")
    return found


def _labels_of(rows: pd.DataFrame, values: str) -> str | None:
    """The column that names the rows: the first that has no numbers, or else the first."""
    others = [name for name in map(str, rows.columns) if name != values]
    return next((name for name in others if not has_numbers(rows[name])), others[0] if others else None)


def _with_values(rows: pd.DataFrame, values: str) -> pd.DataFrame:
    """The rows that have a number to draw."""
    return rows[rows[values].map(_is_finite).astype(bool)]


def _is_line(rows: pd.DataFrame, values: str, labels: str | None) -> bool:
    """Whether each row that is drawn has a time of its own."""
    names = list(_with_values(rows, values)[labels]) if labels else []
    return len(set(names)) == len(names) > 1 and all(map(_is_time, names))


def _days(names: pd.Series) -> list[Any]:
    """Times that are all midnights as days; beside other times a midnight has its hour."""
    times = list(names)
    midnights = all(isinstance(time, dt.datetime) and _is_time(time) and time.time() == dt.time() for time in times)
    return [time.date() for time in times] if midnights else times


def _is_time(value: object) -> bool:
    return isinstance(value, dt.date) and value is not pd.NaT


def _is_number(value: object) -> bool:
    return isinstance(value, (Real, Decimal)) and not isinstance(value, bool)


def _is_finite(value: object) -> bool:
    return _is_number(value) and math.isfinite(value)  # type: ignore[arg-type]  # a Decimal is as good


def has_numbers(column: pd.Series) -> bool:
    """Whether all values of a column that are there are numbers, and some are."""
    present = column.dropna()
    return len(present) > 0 and all(map(_is_number, present))


def _count(rows: int, total: int, drawn: int) -> str:
    first = counted(total, "row") if rows == total else f"{rows:,} of {counted(total, 'row')}"
    return first if drawn == rows else f"{first}, {rows - drawn:,} without a value left out"


def _number(value: float) -> str:
    """A value to read beside its place: decimals only where they tell values apart."""
    if abs(value) >= 1e15:
        return f"{value:.4g}"
    if value == int(value) or abs(value) >= 1e6:
        return f"{value:,.0f}"
    return f"{value:,.4g}" if abs(value) < 1000 else f"{value:,.2f}"


def _label(value: Any) -> str:
    if isinstance(value, dt.datetime):
        return value.isoformat(" ", "seconds")
    return short(str(marked_cell(value)), _LONGEST)


def _text_bars(names: Sequence[Any], numbers: Sequence[float]) -> list[list[str]]:
    most = max(map(abs, numbers), default=0) or 1
    return [
        [_label(name), _number(number), "█" * round(12 * abs(number) / most)]
        for name, number in zip(names, numbers, strict=True)
    ]


def _svg(height: int, label: str, body: str) -> str:
    described = escape(label, quote=True)
    style = f"width:100%; max-width:{WIDTH}px; height:auto; font:12px system-ui,sans-serif"
    return f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{described}" style="{style}">{body}</svg>'


def _text(x: float, y: float, text: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="currentColor">{escape(text)}</text>'


def _bar(x: float, y: float, width: float, height: float, colour: str, title: str) -> str:
    size = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'
    return f'<rect {size} fill="{colour}"><title>{escape(title)}</title></rect>'


def _bars(names: Sequence[Any], numbers: Sequence[float], heading: str) -> str:
    """One bar below the other, from the line of zero."""
    low, high = min([0.0, *numbers]), max([0.0, *numbers])
    scale = (WIDTH - LABELS - VALUES) / ((high - low) or 1)
    zero = LABELS - low * scale
    parts = []
    for i, (name, number) in enumerate(zip(names, numbers, strict=True)):
        top, label = i * BAR_HEIGHT, _label(name)
        start = zero + min(0.0, number * scale)
        parts.append(_text(LABELS - 8, top + 14, label, "end"))
        title = f"{label}: {_number(number)}"
        parts.append(_bar(start, top + 3, max(1.0, abs(number) * scale), BAR_HEIGHT - 6, ADDED, title))
        parts.append(_text(zero + max(0.0, number * scale) + 6, top + 14, _number(number)))
    return _svg(max(1, len(numbers)) * BAR_HEIGHT, heading, "".join(parts))


def _line(times: Sequence[Any], numbers: Sequence[float], heading: str) -> str:
    """A line over time, with the least and the largest value and the ends of the time written beside it."""
    points = sorted(zip(map(pd.Timestamp, times), numbers, times, strict=True))
    first, last = points[0][0], points[-1][0]
    low, high = min(numbers), max(numbers)
    left, right, top, bottom = VALUES, WIDTH - 10, 14, LINE_HEIGHT - 26

    def place(time: pd.Timestamp, number: float) -> str:
        x = left + (right - left) * ((time - first) / (last - first))
        return f"{x:.1f},{bottom - (bottom - top) * ((number - low) / ((high - low) or 1)):.1f}"

    path = " ".join(place(time, number) for time, number, _ in points)
    parts = [
        f'<path d="M{left} {bottom}H{right}" stroke="currentColor" opacity=".35"/>',
        f'<polyline points="{path}" fill="none" stroke="{ADDED}" stroke-width="2"/>',
        _text(left - 8, top + 4, _number(high), "end"),
        _text(left - 8, bottom + 4, _number(low), "end") if high > low else "",
        _text(left, LINE_HEIGHT - 8, _label(points[0][2])),
        _text(right, LINE_HEIGHT - 8, _label(points[-1][2]), "end"),
    ]
    return _svg(LINE_HEIGHT, heading, "".join(parts))


def _columns(batches: Sequence[int], added: Sequence[int], removed: Sequence[int], heading: str) -> str:
    """A column for each batch, what was added above the line and what was removed below it."""
    if not batches:
        return ""
    up, down = max(added), max(removed)
    left, top, room = 90, 14, LINE_HEIGHT - 40
    scale, each = room / ((up + down) or 1), (WIDTH - left - 10) / len(batches)
    zero = top + up * scale
    parts = [f'<path d="M{left} {zero:.1f}H{WIDTH - 10}" stroke="currentColor" opacity=".35"/>']
    for i, (batch, a, r) in enumerate(zip(batches, added, removed, strict=True)):
        x, width = left + i * each + each * 0.1, min(each * 0.8, 40.0)
        if a:
            parts.append(_bar(x, zero - a * scale, width, a * scale, ADDED, f"batch {batch}: {a:,} added"))
        if r:
            parts.append(_bar(x, zero, width, r * scale, REMOVED, f"batch {batch}: {r:,} removed"))
    parts += [_text(left - 8, top + 4, f"{up:,} added", "end")] if up else []
    parts += [_text(left - 8, top + room + 4, f"{down:,} removed", "end")] if down else []
    parts += [_text(left, LINE_HEIGHT - 8, f"batch {batches[0]}")]
    parts += [_text(WIDTH - 10, LINE_HEIGHT - 8, f"batch {batches[-1]}", "end")] if len(batches) > 1 else []
    return _svg(LINE_HEIGHT, heading, "".join(parts))
