"""Lists of dates and timestamps between values of a row: SEQUENCE(d, e, INTERVAL 1 DAY), in duckdb GENERATE_SERIES."""

from __future__ import annotations

from typing import cast

import numpy as np
from sqlglot import exp

from workbench.sql.algebra.coercion import coerce
from workbench.sql.algebra.expressions import Constant, Expression
from workbench.sql.algebra.types import BOOLEAN, DATE, INSTANT, INTEGER, TIMESTAMP, array_of
from workbench.sql.functions.calls import call
from workbench.sql.functions.declaration import function
from workbench.sql.functions.reading import ExpressionBinder
from workbench.sql.functions.size_limits import MOST_SIZES
from workbench.sql.functions.times.intervals import IntervalPart, interval_parts

_MOST_VALUES = MOST_SIZES["series"]
"""Values in a series at most, as in FROM."""
_MICROS = {"days": 86_400_000_000, "seconds": 1_000_000}


def series_of_times(b: ExpressionBinder, node: exp.GenerateSeries) -> Expression | None:
    """A series as a value; ``None`` of numbers.

    Raises:
        UnsupportedError: it is of instants, or by months elsewhere than in spark, or has no constant step.
    """
    start, end = b.parts(node, "start", "end")
    if not (start.type.temporal or end.type.temporal):
        return None
    if INSTANT in (start.type, end.type):
        b.source.refuse("a series of instants, as a value", node, "CAST both ends AS TIMESTAMP")
    of_dates = b.rules.explodes and start.type == end.type == DATE
    part, many = step_of_series(node, of_dates, b)
    if part.counts == "months" and not of_dates:
        b.source.refuse("a series of times by months, as a value", node, "in spark SEQUENCE of dates has one")
    if part.counts == "seconds" and of_dates:
        b.source.refuse("a series of dates by hours", node, "CAST both ends AS TIMESTAMP")
    if of_dates:
        step = Constant(0 if node.args.get("step") is None else many, INTEGER)
        return call(f"{'month' if part.counts == 'months' else 'date'}_series", start, end, step)
    flags = (bool(node.args.get("is_end_exclusive")), b.rules.explodes)
    step = Constant(many * _MICROS[part.counts], INTEGER)
    times = (coerce(time, TIMESTAMP) for time in (start, end))
    return call("timestamp_series", *times, step, *(Constant(flag, BOOLEAN) for flag in flags))


def step_of_series(node: exp.GenerateSeries, is_of_dates: bool, b: ExpressionBinder) -> tuple[IntervalPart, int]:
    """The interval between times, and how many months, days or seconds it is.

    Raises:
        UnsupportedError: it is no constant of one unit.
    """
    step = node.args.get("step")
    if isinstance(step, exp.Literal) and step.is_string and b.rules.generates_series:
        step = exp.Interval(this=step)
    parts = (interval_parts(b, step) or []) if step is not None else []
    if step is None and is_of_dates and b.rules.explodes:
        parts = [IntervalPart("days", Constant(1, INTEGER))]
    many = parts[0].many.value if len(parts) == 1 and isinstance(parts[0].many, Constant) else None
    if not isinstance(many, int) or many == 0:
        b.source.refuse("a series of times by this step", step or node, "write one of one unit, as in INTERVAL '1 day'")
    return parts[0], many


def numbers_between(start: int, end: int, step: int, excluded: bool) -> list[int] | None:
    """Whole numbers from a start to an end, ``excluded`` or not; NULL of more than 10,000, and none by no step.

    Example:
        >>> numbers_between(1, 7, 3, excluded=False), numbers_between(1, 7, 3, excluded=True)
        ([1, 4, 7], [1, 4])
    """
    if not step:
        return []
    if abs(end - start) // abs(step) > _MOST_VALUES:  # a range beyond 64 bits has no length
        return [] if (end > start) is not (step > 0) else None
    numbers = range(start, end if excluded else end + (1 if step > 0 else -1), step)
    return list(numbers) if len(numbers) <= _MOST_VALUES else None


def _days(start: int, end: int, step: int) -> list[int] | None:
    """NULL where the step leads away, at which Spark raises; without one it is a day towards the end."""
    return _strictly(start, end, step or (1 if end >= start else -1), False, True)


def _strictly(start: int, end: int, step: int, excluded: bool, strict: bool) -> list[int] | None:
    return None if strict and (end - start) * step < 0 else numbers_between(start, end, step, excluded)


def _months(start: int, end: int, step: int) -> list[int] | None:
    """Every month counts from the start, whose day is the last one of shorter months."""
    first, last = np.array([start, end], "datetime64[D]")
    month, until = first.astype("datetime64[M]"), last.astype("datetime64[M]")
    count = int((until - month).astype(np.int64)) // step + 1
    if (end - start) * step < 0 or count > _MOST_VALUES:
        return None
    months = month + np.arange(count) * step
    begins, ends = (each.astype("datetime64[D]").astype(np.int64) for each in (months, months + 1))
    days = begins + np.minimum(start - begins[0], ends - begins - 1)
    return cast("list[int]", days[(end - days) * step >= 0].tolist())


DECLARED = [
    function("date_series(date, date, integer): array<date>", python=_days, returns=array_of(DATE)),
    function("month_series(date, date, integer): array<date>", python=_months, returns=array_of(DATE)),
    function("timestamp_series(timestamp, timestamp, integer, boolean, boolean): array<timestamp>", python=_strictly,
             returns=array_of(TIMESTAMP)),
]  # fmt: skip
