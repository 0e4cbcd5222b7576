"""Colours of SQL in ``%%argus`` cells: a widget that is on no page, whose module colours the cells of all notebooks."""

from __future__ import annotations

from pathlib import Path

import anywidget


class SqlColours(anywidget.AnyWidget):
    """Colours SQL in cells from when it is made; the page keeps the colours when the kernel ends."""

    _esm = Path(__file__).parents[1] / "static" / "sql_colours.js"
