"""The look of charts: colours and sizes of letters, as the configuration of a Vega-Lite specification."""

from __future__ import annotations

from typing import Any

ADDED, REMOVED = "#4e79a7", "#d98b46"
"""The colours of added and of removed rows; other marks have the first."""
_INK, _LETTERS = "currentColor", 12
CHART_LOOK: dict[str, Any] = {
    "background": None,
    "numberFormat": ".12~g",  # as tables write them: nothing between thousands
    "font": "Helvetica, Arial, sans-serif",
    "padding": {"left": 8, "top": 8, "bottom": 8, "right": 24},  # text may be wider in a page than here
    "view": {"stroke": None},
    "axis": {
        "labelColor": _INK, "titleColor": _INK, "domainColor": _INK, "tickColor": _INK,
        "gridColor": _INK, "gridOpacity": 0.15, "titleFontWeight": "normal",
        "labelFontSize": _LETTERS, "titleFontSize": _LETTERS, "titlePadding": 10,  # as its text may be wider
        "labelSeparation": 16,  # as above
        "labelFlush": False,  # what overlaps is found before the first and the last label would be moved
    },
    "legend": {"labelColor": _INK, "titleColor": _INK, "titleFontWeight": "normal", "labelFontSize": _LETTERS,
               "titleFontSize": _LETTERS},
    "bar": {"color": ADDED}, "line": {"color": ADDED}, "point": {"color": ADDED},
    "area": {"color": ADDED, "opacity": 0.6},
}  # fmt: skip
