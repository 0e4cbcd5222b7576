"""The columns of an answer at a glance: how many values are missing, how many differ, their range and distribution."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from workbench.engine.storage.comparable import comparable
from workbench.explain.cells import rounded_text, shown_text, value_text
from workbench.notebook.display import Shown, table
from workbench.notebook.panel.markup import grid, sparkline
from workbench.sql.algebra.types import DataType

BINS = 24
"""Bars of a distribution."""
_COLUMNS = ("column", "type", "NULL", "NaN", "different", "least", "greatest", "mean", "most often")
_LONGEST = 24


def profile(rows: pa.Table, columns: Sequence[tuple[str, DataType]], shown: pa.Table, title: str) -> Shown:
    """What each column of an answer has.

    Args:
        rows: the answer, as it is stored.
        columns: names and types of its columns.
        shown: the same rows with the types that answers show, of which least and greatest are written.
        title: what it is of.
    """
    texts, drawings = [], []
    for place, (name, type_) in enumerate(columns):
        column = rows.column(place).combine_chunks()
        texts.append([name, str(type_), *_numbers(column, shown.column(place).combine_chunks())])
        drawings.append(_distribution(column, name))
    html = [
        [*map(escape, row[:2]), drawing, *map(escape, row[2:])] for row, drawing in zip(texts, drawings, strict=True)
    ]
    return Shown(
        table(_COLUMNS, texts, title).text if texts else title,
        f'<div style="overflow-x:auto">{grid([*_COLUMNS[:2], "distribution", *_COLUMNS[2:]], html, range(3, 6))}</div>',
    )


def _numbers(column: pa.Array, shown: pa.Array) -> list[str]:
    missing, present = column.null_count, column.drop_null()
    nan = int(pc.sum(pc.is_nan(present)).as_py() or 0) if pa.types.is_floating(column.type) else 0
    ends = ["", ""]
    if len(present) and not pa.types.is_nested(shown.type):
        at = np.flatnonzero(np.asarray(column.is_valid()))
        order = _sort_values(column)[at]
        ends = [_text(shown[int(at[place])].as_py()) for place in (order.argmin(), order.argmax())]
    is_number = (
        pa.types.is_floating(column.type) or pa.types.is_integer(column.type) or pa.types.is_decimal(column.type)
    )
    is_number = is_number and column.type == shown.type
    mean = rounded_text(float(np.mean(_floats(present)))) if is_number and len(present) else ""
    return [
        f"{missing:,}",
        f"{nan:,}",
        f"{pc.count_distinct(present).as_py():,}",
        *ends,
        mean,
        _most_often(column, shown),
    ]


def _most_often(column: pa.Array, shown: pa.Array) -> str:
    if not len(column):
        return ""
    counts = pc.value_counts(column)
    most = int(np.argmax(counts.field("counts")))
    number = counts.field("counts")[most].as_py()
    if number == 1:
        return ""
    first = pc.index(column, counts.field("values")[most]).as_py() if counts.field("values")[most].is_valid else None
    return f"{_text(None if first is None or first < 0 else shown[first].as_py())} ({number:,} times)"


def _sort_values(column: pa.Array) -> npt.NDArray[Any]:
    """Numbers that order as the values do."""
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        return np.asarray(pc.rank(column, tiebreaker="dense")).astype(np.int64)
    return comparable(column)


def _floats(values: pa.Array) -> npt.NDArray[np.float64]:
    return np.asarray(values.cast(pa.float64()).to_numpy(zero_copy_only=False))


def _distribution(column: pa.Array, name: str) -> str:
    """Bars over the range of numbers and times; over the values of other columns where they are few."""
    present = column.drop_null()
    if not len(present):
        return ""
    if pa.types.is_string(present.type) or pa.types.is_boolean(present.type):
        counts = np.sort(np.asarray(pc.value_counts(present).field("counts")))[::-1]
        return sparkline(counts[:BINS].tolist(), f"{name}: how often its values come", 120, 20)
    values = comparable(present).astype(np.float64)
    values = values[np.isfinite(values)]
    if not len(values):
        return ""
    return sparkline(np.histogram(values, BINS)[0].tolist(), f"{name} from least to greatest", 120, 20)


def _text(value: object) -> str:
    return shown_text(value_text(value), _LONGEST)
