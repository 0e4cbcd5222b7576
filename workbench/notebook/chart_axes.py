"""What stands at the axes of a chart: times with their days, whole numbers without fractions between them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

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
