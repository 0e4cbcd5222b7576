"""Functions of times as PostgreSQL computes them.

TO_TIMESTAMP(n)   (a, b) OVERLAPS (c, d)   ISFINITE(t)
"""

from __future__ import annotations

import math

from sqlglot import exp

from workbench.sql.algebra.coercion import TypeClash, as_time, coerce, is_null
from workbench.sql.algebra.expressions import Constant, Expression
from workbench.sql.algebra.types import BOOLEAN, INSTANT, INTERVAL, TIMESTAMP, Kind
from workbench.sql.functions.calls import call, instant_of_micros
from workbench.sql.functions.declaration import function
from workbench.sql.functions.reading import ExpressionBinder, reads, reads_name
from workbench.sql.syntax.dialects import ONLY_POSTGRES

_SECONDS_TO_2000 = 946_684_800
"""From 1970: PostgreSQL rounds to microseconds since 2000."""
_FIRST, _END = -62_135_596_800, 253_402_300_800
"""Seconds of the first moment of the year 1, and of the year 10000."""


def _micros(seconds: float) -> int | None:
    """A number of seconds since 1970 in microseconds, half to even; NULL beyond the years 1 to 9999."""
    if not _FIRST <= seconds < _END:
        return None
    return round((seconds - _SECONDS_TO_2000) * 1_000_000) + _SECONDS_TO_2000 * 1_000_000


def _overlap(a: int | None, b: int | None, c: int | None, d: int | None) -> bool | None:
    """Whether two periods have a time in common; of those that begin together it is certain, of others half open."""
    if (a is None and b is None) or (c is None and d is None):
        return None
    (start, end), (other, last) = _in_order(a, b), _in_order(c, d)
    if start > other:
        start, end, other, last = other, last, start, end
    if start == other:
        return None if end is None or last is None else True
    if end is None or other < end:
        return None if end is None else True
    return None if last is None else False


def _in_order(start: int | None, end: int | None) -> tuple[int, int | None]:
    if start is None or end is None:
        return (end if start is None else start) or 0, None
    return min(start, end), max(start, end)


@reads(exp.UnixToTime, parts="this", dialects=ONLY_POSTGRES)
def instant_of_seconds(b: ExpressionBinder, node: exp.UnixToTime) -> Expression:
    """TO_TIMESTAMP(n), a TIMESTAMP WITH TIME ZONE."""
    return instant_of_micros(call("micros_of_seconds", b.bind(node.this)))


@reads(exp.Overlaps, parts="this expression", dialects=ONLY_POSTGRES)
def overlaps(b: ExpressionBinder, node: exp.Overlaps) -> Expression:
    """``(a, b) OVERLAPS (c, d)``, where an end may be an interval from its start."""
    ends = list[Expression]()
    for period in (node.this, node.expression):
        if not isinstance(period, exp.Tuple) or len(period.expressions) != 2:
            raise b.source.error("OVERLAPS takes two periods", node, "(a, b) OVERLAPS (c, d)")
        start, end = period.expressions
        is_length = isinstance(end.unnest(), exp.Interval) or _is_interval(b, end)
        ends += [b.bind(start), b.bind(exp.Add(this=start.copy(), expression=end.copy()) if is_length else end)]
    zoned = any(end.type == INSTANT for end in ends)
    return call("periods_overlap", *(coerce(as_time(end), INSTANT if zoned else TIMESTAMP) for end in ends))


def _is_interval(b: ExpressionBinder, node: exp.Expr) -> bool:
    return not isinstance(node, exp.Cast) and b.bind(node).type.counted


@reads_name("isfinite", takes=1, dialects=ONLY_POSTGRES)
def is_finite(b: ExpressionBinder, arguments: list[Expression]) -> Expression:
    """ISFINITE of a date, a time or an interval: none is infinite here."""
    value = arguments[0]
    if not (value.type.kind in (Kind.DATE, Kind.TIMESTAMP) or value.type == INTERVAL or is_null(value)):
        raise TypeClash(f"ISFINITE takes a date, a time or an interval, not {value.type}", value)
    return call("case", call("is_null", value), Constant(None, BOOLEAN), Constant(True, BOOLEAN))


DECLARED = [
    function("micros_of_seconds(double): integer",
             python=lambda seconds: _micros(seconds) if math.isfinite(seconds) else None),
    function("periods_overlap(moment, moment, moment, moment): boolean", python=_overlap, of_null=True),
]  # fmt: skip
