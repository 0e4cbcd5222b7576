"""Intervals in SQL text: what a date or a timestamp is moved by.

An interval is no value: it stands beside a time, as in ``t + INTERVAL '3' DAY``, ``t - n * INTERVAL '1' HOUR`` and
``t + make_interval(0, 0, 0, n)``, and the sum is a time again.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce

from sqlglot import exp

from workbench.sql.algebra import coercion
from workbench.sql.algebra.expressions import Constant, Expression
from workbench.sql.algebra.types import DATE, INSTANT, INTEGER, TIMESTAMP, Kind
from workbench.sql.algebra.zones import UTC, zoning
from workbench.sql.functions.calls import call, cast
from workbench.sql.functions.reading import ExpressionBinder
from workbench.sql.functions.times.zoned import at_clock

_UNITS = {
    "YEAR": ("months", 12), "QUARTER": ("months", 3), "MONTH": ("months", 1), "WEEK": ("days", 7), "DAY": ("days", 1),
    "HOUR": ("seconds", 3600), "MINUTE": ("seconds", 60), "SECOND": ("seconds", 1),
}  # fmt: skip
"""Unit -> what it counts, and how many of these it is; a time is moved in this order, as Spark does."""
_SECONDS_OF_DAY = 86_400
_OF_UNIT = re.compile(r"([+-]?[0-9]{1,10})\s*([a-z]+)(?:\s+|$)", re.IGNORECASE)
_OF_CLOCK = re.compile(r"([+-]?)([0-9]{1,4}):([0-5][0-9])(?::([0-5][0-9]))?(?:\s+|$)")
"""Parts of the text of an interval: ``2 hours``, ``01:30:00``."""


@dataclass(frozen=True)
class IntervalPart:
    """A number of months, days or seconds.

    Attributes:
        counts: ``"months"``, ``"days"`` or ``"seconds"``.
        many: how many, an INTEGER.
        passes: whether seconds are those that pass, whatever clocks show; else an interval of spark may have days.
    """

    counts: str
    many: Expression
    passes: bool = False

    def times(self, factor: Expression) -> IntervalPart:
        """The number of units."""
        one = self.many == Constant(1, INTEGER)
        return replace(self, many=factor if one else call("*", factor, self.many))


def interval_parts(b: ExpressionBinder, node: exp.Expr) -> list[IntervalPart] | None:
    """The parts of an interval; ``None`` for any other expression.

    Raises:
        UnsupportedError: it is of a unit that is not supported, or its numbers are not whole.
        SqlError: its number is no INTEGER.
    """
    node = node.unnest()
    if isinstance(node, exp.Interval):
        return _of_text(b, node, node.this) if node.args.get("unit") is None else [_literal(b, node)]
    if isinstance(node, exp.Cast) and node.args["to"].this == exp.DType.INTERVAL and b.rules.clock_in_intervals:
        return _of_text(b, node, node.this)
    if isinstance(node, exp.Mul):
        for interval, many in ((node.this, node.expression), (node.expression, node.this)):
            if isinstance(interval.unnest(), exp.Interval):
                factor = _integer(b, many)
                return [part.times(factor) for part in interval_parts(b, interval) or ()]
    if isinstance(node, exp.MakeInterval):
        return [_part(b, unit, _value(node.args[unit.lower()])) for unit in _UNITS if node.args.get(unit.lower())]
    if isinstance(node, exp.ToDays) and "to_days" in b.rules.intervals:
        return [_part(b, "DAY", node.this)]
    if isinstance(node, exp.Anonymous) and (units := b.rules.intervals.get(node.name.lower())):
        if len(node.expressions) > len(units):
            raise b.source.error(f"{node.name} takes {len(units)} values", node, ", ".join(units).lower())
        return [_part(b, unit, many) for unit, many in zip(units, node.expressions, strict=False)]
    return None


def add_interval(
    b: ExpressionBinder, time: Expression, parts: Sequence[IntervalPart], sign: int, node: exp.Expr
) -> Expression:
    """A date or timestamp plus (``sign`` 1) or minus (-1) an interval; ``node`` is it in the text."""
    time = coercion.as_time(time)
    if time.type == INSTANT and b.rules.timestamp_is_instant:
        parts = _of_days_and_seconds(parts)
    for part in parts:
        if part.many == Constant(0, INTEGER):
            continue
        if len(parts) > 1 and time.type == DATE and part.counts == "seconds" and not b.rules.date_plus_interval_is_time:
            b.source.refuse("a DATE plus days and hours at once", node, "CAST(d AS TIMESTAMP) + …")
        time = _plus(b, time, part if sign == 1 else part.times(Constant(-1, INTEGER)))
    # Of whole days, too, it is a TIMESTAMP there.
    return cast(time, TIMESTAMP) if time.type == DATE and b.rules.date_plus_interval_is_time else time


def _plus(b: ExpressionBinder, time: Expression, part: IntervalPart) -> Expression:
    if time.type == INSTANT and zoning().zone != UTC:
        return _plus_on_clock(b, time, part)
    if time.type == INSTANT and part.counts == "months":
        return cast(call("add_months_to_timestamp", time, part.many), INSTANT)
    if part.counts == "months":
        return call("add_months" if time.type == DATE else "add_months_to_timestamp", time, part.many)
    if part.counts == "days" and time.type == DATE:
        return call("+", time, part.many)
    seconds = part.many
    if part.counts == "days":
        seconds = call("*", seconds, Constant(_SECONDS_OF_DAY, INTEGER))
    return call("add_seconds", time, seconds)


def _of_days_and_seconds(parts: Sequence[IntervalPart]) -> list[IntervalPart]:
    """The parts of an interval of spark, whose days and seconds are one number."""
    units = {"days": Constant(_SECONDS_OF_DAY, INTEGER), "seconds": Constant(1, INTEGER)}
    seconds = [part.times(units[part.counts]) for part in parts if part.counts in units]
    months = [part for part in parts if part.counts == "months"]
    if len(seconds) < 2:
        return list(parts)
    total = reduce(lambda left, right: call("+", left, right), (part.many for part in seconds))
    return [*months, replace(seconds[0], counts="seconds", many=total)]


def _plus_on_clock(b: ExpressionBinder, instant: Expression, part: IntervalPart) -> Expression:
    """An instant moved by months and days of the clock of the session, or by seconds that pass.

    An interval of spark has days, and less than a day of seconds.
    """
    many, clock = part.many, coercion.coerce(instant, TIMESTAMP)
    if part.counts == "months":
        return at_clock(b, instant, call("add_months_to_timestamp", clock, many))
    day = Constant(_SECONDS_OF_DAY, INTEGER)
    if part.counts == "days":
        return at_clock(b, instant, call("add_seconds", clock, call("*", many, day)))
    rest: Expression = many
    if b.rules.timestamp_is_instant and not part.passes:
        rest = call("%", many, day)
        if isinstance(many, Constant) and isinstance(many.value, int):
            rest = Constant(many.value - int(many.value / _SECONDS_OF_DAY) * _SECONDS_OF_DAY, INTEGER)
        days = call("-", many, rest)
        if days != Constant(0, INTEGER):
            instant = at_clock(b, instant, call("add_seconds", clock, days))
    return instant if rest == Constant(0, INTEGER) else call("add_seconds", instant, rest)


def _of_text(b: ExpressionBinder, interval: exp.Expr, text: exp.Expr | None) -> list[IntervalPart]:
    """INTERVAL '1 day -2 hours', and in postgres and duckdb '01:30:00' and '2 days'::interval."""
    b.source.refuse_others(interval, {"this", "to"}, "INTERVAL")
    rest = text.name.strip() if isinstance(text, exp.Literal) and text.is_string else ""
    counted: dict[str, int] = {}
    while rest and (found := _OF_UNIT.match(rest) or (b.rules.clock_in_intervals and _OF_CLOCK.match(rest))):
        if found.re is _OF_UNIT:
            number, unit = found.groups()
            sizes = [(int(number), _UNITS.get(unit.upper().removesuffix("S"), ("", 0)))]
        else:
            sign, *digits = found.groups("0")
            sizes = [
                (int(f"{sign.strip('0')}{n}"), ("seconds", size)) for n, size in zip(digits, (3600, 60, 1), strict=True)
            ]
        for many, (counts, size) in sizes:
            counted[counts] = counted.get(counts, 0) + many * size
        rest = rest[found.end() :]
    if rest or not counted or "" in counted or not b.rules.interval_texts:
        hint = "write INTERVAL '3' DAY, or INTERVAL '1 day 2 hours', with whole numbers"
        b.source.refuse("this interval", interval, hint)
    kinds = [kind for kind in ("months", "days", "seconds") if counted.get(kind)] or list(counted)[:1]
    return [IntervalPart(kind, Constant(counted[kind], INTEGER)) for kind in kinds]


def _literal(b: ExpressionBinder, interval: exp.Interval) -> IntervalPart:
    """INTERVAL '3' DAY, or INTERVAL n DAY."""
    b.source.refuse_others(interval, {"this", "unit"}, "INTERVAL")
    unit = interval.args["unit"].name.upper().removesuffix("S") if interval.args.get("unit") else ""
    amount = interval.this
    if unit in _UNITS and amount is not None and not isinstance(_positive(amount), exp.Literal):
        return _part(b, unit, amount)
    digits = "" if amount is None else _positive(amount).name
    if unit not in _UNITS or not re.fullmatch(r"[+-]?[0-9]{1,10}", digits.strip()):
        b.source.refuse("this interval", interval, "write INTERVAL '3' DAY, with a whole number of one unit")
    counts, factor = _UNITS[unit]
    return IntervalPart(counts, Constant(int(digits) * factor * (-1 if isinstance(amount, exp.Neg) else 1), INTEGER))


def _part(b: ExpressionBinder, unit: str, many: exp.Expr) -> IntervalPart:
    counts, factor = _UNITS[unit]
    return IntervalPart(counts, Constant(factor, INTEGER)).times(_integer(b, many))


def _positive(amount: exp.Expr) -> exp.Expr:
    inner: exp.Expr = amount.this if isinstance(amount, exp.Neg) else amount
    return inner


def _value(argument: exp.Expr) -> exp.Expr:
    """An argument without its name, as in ``make_interval(mins => n)``."""
    value: exp.Expr = argument.expression if isinstance(argument, exp.Kwarg) else argument
    return value


def _integer(b: ExpressionBinder, many: exp.Expr) -> Expression:
    bound = b.bind(many)
    if bound.type.kind is not Kind.INTEGER:
        b.source.refuse("an interval times what is no INTEGER", many, "CAST(x AS INTEGER)")
    return bound
