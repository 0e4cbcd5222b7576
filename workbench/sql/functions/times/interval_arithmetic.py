"""Intervals as values in SQL text: differences of times, literals, their arithmetic, parts and aggregates.

A value is of days to microseconds, 24 hours to the day. It is kept as its microseconds, of which all is computed; one
of months has no fixed length, and stands beside a time only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce

from sqlglot import exp

from workbench.sql.algebra import coercion
from workbench.sql.algebra.coercion import TypeClash
from workbench.sql.algebra.expressions import Constant, Expression
from workbench.sql.algebra.interval_values import interval_of, micros_of
from workbench.sql.algebra.types import INSTANT, INTEGER, INTERVAL, STRING, TIMESTAMP, Kind
from workbench.sql.algebra.zones import UTC, zoning
from workbench.sql.functions.calls import call, cast
from workbench.sql.functions.reading import ExpressionBinder, reads
from workbench.sql.functions.results import computed
from workbench.sql.functions.times.intervals import IntervalPart, interval_parts

_SECOND = 1_000_000
_DAY = 86_400 * _SECOND
_AGGREGATES = {"count", "approx_count_distinct", "min", "max", "any_value", "mode", "sum", "avg", "median",
               "percentile", "percentile_disc", "percentile_disc_desc", "min_by", "max_by"}  # fmt: skip
_COUNTS = ("count", "approx_count_distinct")
_ROUNDED = ("avg", "median", "percentile")
_MONTHS = "a month has no fixed length: add it to a date or a timestamp, or subtract it"


@reads(exp.Interval, parts="this unit")
@reads(exp.ToDays)
@reads(exp.MakeInterval, parts="year month week day hour minute second")
def literal(b: ExpressionBinder, node: exp.Expr) -> Expression:
    """INTERVAL '5' MINUTE, and functions that make one, where they stand alone."""
    parts = interval_parts(b, node)
    if parts is None:
        b.source.refuse((b.source.called(node) or node.key).upper(), node, "write INTERVAL '5' MINUTE")
    return _value(b, parts, node)


def plus_minus(left: Expression, right: Expression, sign: int) -> Expression | None:
    """A sum or difference with an interval in it, or of two times that is one; ``None`` of any other."""
    operator = "+" if sign == 1 else "-"
    if INTERVAL in (left.type, right.type):
        if left.type == INTERVAL and right.type.temporal and sign == 1:
            left, right = right, left
        if left.type.temporal:
            if left.type == INSTANT and zoning().zone != UTC:
                raise TypeClash("an instant and an interval that is computed, in a zone whose days differ in length",
                                right, "write INTERVAL '1' MINUTE * n")  # fmt: skip
            made = call("timestamp_micros", call(operator, call("unix_micros", left), micros_of(right)))
            return cast(made, INSTANT) if left.type == INSTANT else made
        for side in (left, right):
            if side.type != INTERVAL and not coercion.is_null(side):
                raise TypeClash(f"{operator} of {left.type} and {right.type}", side, "write INTERVAL '5' MINUTE")
        return interval_of(call(operator, *(micros_of(_typed(side)) for side in (left, right))))
    if sign == -1 and {TIMESTAMP, INSTANT} & {left.type, right.type} and _is_time(left) and _is_time(right):
        return interval_of(call("-", *(call("unix_micros", time) for time in subtracted(left, right))))
    return None


def subtracted(left: Expression, right: Expression) -> tuple[Expression, Expression]:
    """The sides of a difference of times, as the dialect takes them: instants, or what the session's clock shows.

    Raises:
        TypeClash: it is one of instants, of which the dialect takes some of both.
    """
    sides, here = [coercion.as_time(side) for side in (left, right)], zoning()
    is_of_instants = INSTANT in (left.type, right.type)
    if is_of_instants and here.subtracts_instants is None and here.zone != UTC:
        hint = (
            "duckdb counts days of the zone and hours that pass: EPOCH_US(x) - EPOCH_US(y), or CAST both AS TIMESTAMP"
        )
        raise TypeClash("a difference of instants, in a zone whose days differ in length", left, hint)
    type_ = INSTANT if is_of_instants and here.subtracts_instants else TIMESTAMP
    return coercion.coerce(sides[0], type_), coercion.coerce(sides[1], type_)


def plus_minus_parts(
    b: ExpressionBinder, interval: Expression, parts: Sequence[IntervalPart], sign: int, node: exp.Expr
) -> Expression:
    """An interval plus or minus one that is written."""
    return interval_of(call("+" if sign == 1 else "-", micros_of(interval), micros_of(_value(b, parts, node))))


@reads(exp.Mul, exp.SafeMultiply, parts="this expression")
def times(b: ExpressionBinder, node: exp.Mul | exp.SafeMultiply) -> Expression:
    """A product, of numbers or of an interval and a whole number."""
    left, right = b.bind(node.this), b.bind(node.expression)
    if INTERVAL not in (left.type, right.type):
        return computed(b, call("*", left, right), (node.this, left), (node.expression, right))
    interval, factor = (left, right) if left.type == INTERVAL else (right, left)
    return interval_of(call("*", micros_of(interval), _whole(b, factor, node)))


@reads(exp.IntDiv, parts="this expression")
def integer_division(b: ExpressionBinder, node: exp.IntDiv) -> Expression:
    """DIV of numbers, or of two intervals, toward zero."""
    sides = b.parts(node, "this", "expression")
    return call("div", *(map(micros_of, sides) if all(side.type == INTERVAL for side in sides) else sides))


def divided(b: ExpressionBinder, interval: Expression, by: Expression, node: exp.Expr) -> Expression:
    """An interval by a whole number, rounded half away from zero, as Spark does."""
    _refuse_rounding(b, "an interval divided by a number", "divide EXTRACT(EPOCH FROM x)", node)
    return interval_of(_quotient(micros_of(interval), _whole(b, by, node)))


def of_micros(change: Callable[[Expression], Expression], value: Expression) -> Expression:
    """A function of numbers, as of the microseconds of an interval."""
    return interval_of(change(micros_of(value))) if value.type == INTERVAL else change(value)


def seconds(interval: Expression) -> Expression:
    """EXTRACT(EPOCH FROM x): its seconds, with six digits after the point."""
    start = call("timestamp_micros", Constant(0, INTEGER))
    return call("seconds_between", call("timestamp_micros", micros_of(interval)), start)


def aggregate(
    b: ExpressionBinder,
    name: str,
    arguments: Sequence[Expression],
    node: exp.Expr,
    expand: Callable[[tuple[Expression, ...]], Expression],
) -> Expression:
    """An aggregate of intervals: that of their microseconds.

    Args:
        b: the binder.
        name: of the aggregate.
        arguments: its arguments.
        node: its syntax, for errors.
        expand: makes the aggregate's expression of arguments.

    Raises:
        TypeClash: intervals have no such aggregate.
        UnsupportedError: the text's database rounds otherwise than Spark.
    """
    if not any(argument.type == INTERVAL for argument in arguments):
        return expand(tuple(arguments))
    if name not in _AGGREGATES:
        raise TypeClash(f"{name.upper()} of an interval", arguments[0], coercion.AS_SECONDS)
    if name in _ROUNDED:
        _refuse_rounding(b, f"{name.upper()} of intervals", f"{name.upper()} of EXTRACT(EPOCH FROM x)", node)
    result = expand(tuple(micros_of(a) if a.type == INTERVAL else a for a in arguments))
    if name in _COUNTS or arguments[0].type != INTERVAL:
        return result
    return interval_of(_average(result) if name == "avg" else cast(result, INTEGER))


def _average(average: Expression) -> Expression:
    total, count = average.arguments  # type: ignore[union-attr]  # the rule of AVG over its sum and count
    return _quotient(cast(total, INTEGER), count)


def _quotient(value: Expression, by: Expression) -> Expression:
    """The quotient of integers, rounded half away from zero; that of Spark's ``DivideDTInterval``."""
    one, zero = Constant(1, INTEGER), Constant(0, INTEGER)
    rest, half = call("abs", call("%", value, by)), call("abs", by)
    # The rest is at least half of the divisor, without doubling it, which may overflow.
    rounds = call(">=", rest, call("-", half, rest))
    same_sign = call("=", call("<", value, zero), call("<", by, zero))
    away = call("case", rounds, call("case", same_sign, one, Constant(-1, INTEGER)), zero)
    return call("+", call("div", value, by), away)


def _value(b: ExpressionBinder, parts: Sequence[IntervalPart], node: exp.Expr) -> Expression:
    if any(part.counts == "months" for part in parts):
        b.source.refuse("an interval of months or years as a value", node, _MONTHS)
    if not parts:
        raise b.source.error("an interval of nothing", node, "say how long it is: INTERVAL '5' MINUTE")
    micros = [call("*", part.many, Constant(_DAY if part.counts == "days" else _SECOND, INTEGER)) for part in parts]
    return interval_of(reduce(lambda left, right: call("+", left, right), micros))


def _is_time(side: Expression) -> bool:
    """Whether it is a time, or a text that may be one."""
    return side.type.temporal or (isinstance(side, Constant) and side.type == STRING and side.value is not None)


def _typed(side: Expression) -> Expression:
    return side if side.type == INTERVAL else Constant(None, INTERVAL)


def _whole(b: ExpressionBinder, number: Expression, node: exp.Expr) -> Expression:
    if number.type.kind is not Kind.INTEGER and not coercion.is_null(number):
        b.source.refuse("an interval times or by what is no INTEGER", node, "CAST(x AS INTEGER)")
    return coercion.coerce(number, INTEGER)


def _refuse_rounding(b: ExpressionBinder, what: str, hint: str, node: exp.Expr) -> None:
    if not b.rules.rounds_intervals:
        b.source.refuse(what, node, f"databases round it differently: {hint}")
