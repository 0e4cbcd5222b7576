"""Cells of values that differ look different, as text, in HTML and in the panel."""

from __future__ import annotations

import pyarrow as pa
import pytest

from workbench.arrow.frames import frame_of
from workbench.notebook.display import frame_table
from workbench.notebook.panel.answer_page import answer_table

NAN, INFINITE = float("nan"), float("inf")
TEXTS = ["NULL", None, "", " ", "NaN", "nan", "a", "a ", "None", "null", "  "]
NUMBERS = [NAN, None, 0.0, INFINITE, -INFINITE, 1.5]
LISTS = [None, [], [None], ["NULL"], [""]]


@pytest.mark.parametrize("values", [TEXTS, NUMBERS, LISTS], ids=["texts", "numbers", "lists"])
def test_cells_look_different(values: list[object]) -> None:
    rows = frame_of(pa.table({"v": values}))
    table = frame_table(rows)
    cells = [line.split("</td>")[0] for line in (table.html or "").split("<td>")[1:]]
    assert len(set(cells)) == len(values), cells
    lines = [line for line in table.text.splitlines()[1:] if line.strip()]
    assert len({line.strip() for line in lines}) == len(values), lines
    panel = answer_table(rows, len(values), "v").html or ""
    cells = [cell.split("</td>")[0] for cell in panel.split("<td")[1:]]
    assert len(set(cells)) == len(values), cells
