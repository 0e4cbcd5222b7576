"""Series between constants, as rows: GENERATE_SERIES, RANGE and SEQUENCE of numbers, days and times.

The nth value is ``start + (n - 1) * step``, so a series is its places, 1 to their number, and an expression over them.

Example::

    FROM GENERATE_SERIES(DATE '2013-01-01', DATE '2013-12-31', INTERVAL '1 day') AS g(day)
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from fractions import Fraction

from sqlglot import exp

from workbench.sql.algebra.coercion import coerce
from workbench.sql.algebra.expressions import Constant, Expression
from workbench.sql.algebra.types import DATE, INSTANT, INTEGER, TIMESTAMP, Kind
from workbench.sql.algebra.zones import UTC, zoning
from workbench.sql.functions.calls import call
from workbench.sql.functions.reading import ExpressionBinder
from workbench.sql.functions.times.intervals import IntervalPart, add_interval
from workbench.sql.functions.times.time_series import step_of_series
from workbench.sql.query_limits import MOST_ELEMENTS_IN_FROM

_LAST_OF_ALL_MONTHS = 28
_MICROS_OF_DAY = 86_400_000_000
_CONSTANTS = "as in GENERATE_SERIES(DATE '2013-01-01', DATE '2013-12-31', INTERVAL '1 day')"


@dataclass(frozen=True)
class ConstantSeries:
    """A series between constants.

    Attributes:
        start: its first value.
        step: from a value to the next one: an integer, or a part of an interval.
        count: how many values it has, at least 0.
        node: it in the text.
    """

    start: Constant
    step: int | IntervalPart
    count: int
    node: exp.GenerateSeries

    def at(self, place: Expression, b: ExpressionBinder) -> Expression:
        """The value at a place, which counts from 1."""
        steps = call("-", place, Constant(1, INTEGER))
        if isinstance(self.step, int):
            return call("+", self.start, call("*", steps, Constant(self.step, INTEGER)))
        return add_interval(b, self.start, [self.step.times(steps)], 1, self.node)


def constant_series(node: exp.Expr, b: ExpressionBinder) -> ConstantSeries | None:
    """The series that a call makes; ``None`` for another call, or a series of numbers that are no constants.

    Raises:
        UnsupportedError: it is one of times that are no constants, or by a step for which databases differ, or of too
            many values.
    """
    if not isinstance(node, exp.GenerateSeries) or not _is_called_here(node, b):
        return None
    start, end = b.parts(node, "start", "end")
    if start.type.temporal or end.type.temporal:
        if not (isinstance(start, Constant) and isinstance(end, Constant)):
            return None
        series = _of_times(node, start, end, b)
    else:
        first, last = _integer(start), _integer(end)
        step = _integer(b.bind(node.args["step"])) if node.args.get("step") is not None else 1
        if first is None or last is None or not step:
            return None
        if (
            node.args.get("step") is None
            and b.rules.explodes
            and first > last
            and not node.args.get("is_end_exclusive")
        ):
            step = -1  # SEQUENCE goes down by itself
        series = ConstantSeries(Constant(first, INTEGER), step, _count(first, last, step, node), node)
    if series.count > MOST_ELEMENTS_IN_FROM:
        b.source.refuse(
            f"a series of more than {MOST_ELEMENTS_IN_FROM:,} values", node, "add_table adds a table of your own"
        )
    return series


def name_of_series(node: exp.GenerateSeries) -> str:
    """The name in postgres and duckdb of an item of FROM, and of its column, that have no other name."""
    return "range" if node.args.get("is_end_exclusive") else "generate_series"


def _is_called_here(node: exp.GenerateSeries, b: ExpressionBinder) -> bool:
    """Whether the text's database has the function by this name."""
    called = (b.source.called(node) or "").upper()
    if called == "SEQUENCE":
        return b.rules.explodes
    return b.rules.generates_series or (b.rules.explodes and called == "RANGE")


def _integer(value: Expression) -> int | None:
    """The number that a constant is."""
    number = value.value if isinstance(value, Constant) and value.type.kind is Kind.INTEGER else None
    return number if isinstance(number, int) else None


def _of_times(node: exp.GenerateSeries, start: Expression, end: Expression, b: ExpressionBinder) -> ConstantSeries:
    """A series of dates or timestamps; one between a date and a timestamp is of timestamps."""
    if INSTANT in (start.type, end.type) and zoning().zone != UTC:
        hint = "make one of timestamps, and AT TIME ZONE of its values"
        b.source.refuse(f"a series of instants by the clock of {zoning().zone}", node, hint)
    part, many = step_of_series(node, start.type == end.type == DATE, b)
    if start.type != end.type:
        start, end = coerce(start, TIMESTAMP), coerce(end, TIMESTAMP)
    first, last = _time(start), _time(end)
    if first is None or last is None or not isinstance(start, Constant):
        b.source.refuse("a series of times that are no constants", node, _CONSTANTS)
    if part.counts == "months":
        if first.day > _LAST_OF_ALL_MONTHS:
            hint = "databases go on differently after a shorter month: take the first of the month"
            b.source.refuse("a series of months from a day after the 28th", node, hint)
        return ConstantSeries(start, part, _count(0, _months(first, last), many, node), node)
    if part.counts == "seconds" and start.type == DATE and b.rules.explodes:
        b.source.refuse("a series of dates by hours", node, "CAST both ends AS TIMESTAMP")
    step = many * (_MICROS_OF_DAY if part.counts == "days" else 1_000_000)
    return ConstantSeries(start, part, _count(0, (last - first) // dt.timedelta(microseconds=1), step, node), node)


def _time(value: Expression) -> dt.datetime | None:
    """The time that a constant is."""
    time = value.value if isinstance(value, Constant) else None
    if isinstance(time, dt.date) and not isinstance(time, dt.datetime):
        return dt.datetime(time.year, time.month, time.day)
    return time if isinstance(time, dt.datetime) else None


def _months(first: dt.datetime, last: dt.datetime) -> Fraction:
    """The months between two times; what is left of the last one is a half."""
    whole = (last.year - first.year) * 12 + last.month - first.month
    beyond = (last.day, last.time()), (first.day, first.time())
    return whole + Fraction((beyond[0] > beyond[1]) - (beyond[0] < beyond[1]), 2)


def _count(start: int, end: int | Fraction, step: int, node: exp.GenerateSeries) -> int:
    """How many values there are from one end to the other, none where the step leads away."""
    steps, rest = divmod(end - start, step)
    without_end = rest == 0 and bool(node.args.get("is_end_exclusive"))
    return max(0, int(steps) + 1 - without_end)
