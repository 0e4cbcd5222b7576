"""The look of charts: colours, sizes of letters, and what stands at their axes."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

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


_CLOCK = "utcFormat(datum.value, {" + ", ".join(f"{unit}: '{form}'" for unit, form in {
    "year": "%Y", "quarter": "%b %d", "month": "%b %d", "week": "%b %d", "date": "%b %d",
    "hours": "%H:%M", "minutes": "%H:%M", "seconds": "%H:%M:%S", "milliseconds": "%H:%M:%S.%L",
}.items()) + "})"  # fmt: skip
"""How a place of the axis of times is written, by what it is the beginning of: with 24 hours, as tables have them."""
_DAY = 86_400_000
"""Milliseconds of a day."""
CLOCK = (
    f"domain('x')[1] - domain('x')[0] > {_DAY} && datum.value % {_DAY} != 0"
    f" ? [{_CLOCK}, utcFormat(datum.value, '%b %d')] : {_CLOCK}"
)
"""What writes the places of an axis of times: where several days are drawn, a time of day stands above its day."""


def whole_ticks(values: npt.NDArray[np.float64], scale: str) -> dict[str, str] | None:
    """How many marks an axis has so that none stands between whole numbers, where all values are; else ``None``.

    It is an expression over what is drawn, so that a chart whose points move stays.

    Args:
        values: those of the axis; NaN where there is none.
        scale: what Vega calls the axis.

    Example:
        >>> whole_ticks(np.array([1.0, 3.0]), "y")
        {'signal': "min(5, max(1, domain('y')[1] - domain('y')[0]))"}
        >>> whole_ticks(np.array([1, 2.5]), "y")
    """
    values = values[np.isfinite(values)]
    if (values != np.floor(values)).any():
        return None
    return {"signal": f"min(5, max(1, domain('{scale}')[1] - domain('{scale}')[0]))"}
