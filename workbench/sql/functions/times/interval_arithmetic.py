"""Intervals as values in SQL text: differences of times, literals, their arithmetic, parts and aggregates.

A value is of days to microseconds, 24 hours to the day, or of years and months, which have no fixed length. It is
kept as its microseconds, or its months, of which all is computed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import reduce

from sqlglot import exp

from workbench.errors import with_article
from workbench.sql.algebra import coercion
from workbench.sql.algebra.coercion import TypeClash
from workbench.sql.algebra.counted import counted_number, of_number
from workbench.sql.algebra.expressions import Constant, Expression, calls
from workbench.sql.algebra.types import (
    DATE,
    DOUBLE,
    INSTANT,
    INTEGER,
    INTERVAL,
    MONTHS,
    STRING,
    TIME,
    TIMESTAMP,
    DataType,
    Kind,
    integer,
)
from workbench.sql.algebra.zones import UTC, zoning
from workbench.sql.functions.calls import NOW, call, cast, within
from workbench.sql.functions.reading import ExpressionBinder, reads
from workbench.sql.functions.results import computed
from workbench.sql.functions.times.intervals import IntervalPart, add_interval, interval_parts

_SECOND = 1_000_000
_DAY = 86_400 * _SECOND
_SIZES = {"months": 1, "days": _DAY, "seconds": _SECOND, "micros": 1}
"""What a part counts -> how many months or microseconds it is."""
_OF_TIMES = {"count", "approx_count_distinct", "min", "max", "any_value", "mode", "percentile_disc",
             "percentile_disc_desc", "min_by", "max_by"}  # fmt: skip
_AGGREGATES = {*_OF_TIMES, "sum", "avg", "median", "percentile"}
_COUNTS = ("count", "approx_count_distinct")
_ROUNDED = ("avg", "median", "percentile")
_MONTHS = "a month has no fixed number of days: add them one after the other to a date or a timestamp"


@reads(exp.MakeInterval, parts="year month week day hour minute second")
def calendar_interval(b: ExpressionBinder, node: exp.MakeInterval) -> Expression:
    """MAKE_INTERVAL, which is in spark no value that is compared, of months and days at once."""
    if b.rules.rounds_intervals and interval_parts(b, node):
        b.source.refuse("MAKE_INTERVAL as a value", node, "write MAKE_DT_INTERVAL or MAKE_YM_INTERVAL")
    return literal(b, node)


@reads(exp.Interval, parts="this unit")
@reads(exp.ToDays)
def literal(b: ExpressionBinder, node: exp.Expr) -> Expression:
    """INTERVAL '5' MINUTE, and functions that make an interval, where no time is added."""
    parts = interval_parts(b, node)
    if parts is None:
        b.source.refuse((b.source.called(node) or node.key).upper(), node, "write INTERVAL '5' MINUTE")
    return interval_value(b, parts, node)


def plus_minus(
    b: ExpressionBinder, left: Expression, right: Expression, sign: int, node: exp.Expr
) -> Expression | None:
    """A sum or difference with an interval or a time of the day in it, or of two times that is an interval; ``None`` of
    any other. A timestamp and a number of days have one where the dialect says so, and ``now()`` and numbers in all."""
    operator = "+" if sign == 1 else "-"
    if left.type == TIMESTAMP and right.type.kind is Kind.INTEGER:
        if b.rules.exact and NOW not in calls(left):  # now() is the workbench's, and may be a number or a day
            unit = f"INTERVAL '{right.value}' DAY" if isinstance(right, Constant) else "INTERVAL '1' DAY * n"
            raise b.source.error("a number has no unit beside a timestamp", node, f"write {unit}")
        return call("add_seconds", left, call("*", right, Constant(sign * 86400, INTEGER)))
    if left.type.counted or right.type.counted:
        if (sign == 1 and right.type.temporal) or (right.type == TIME and left.type == INTERVAL):
            left, right = right, left
        if TIME in (left.type, right.type):
            return _with_time(b, left, right, sign, node)
        if left.type.temporal and right.type == MONTHS:
            return add_interval(b, left, [IntervalPart("months", counted_number(right))], sign, node)
        if left.type.temporal:
            if left.type == INSTANT and zoning().zone != UTC:
                raise TypeClash("an instant and an interval that is computed, in a zone whose days differ in length",
                                right, "write INTERVAL '1' MINUTE * n")  # fmt: skip
            made = call("timestamp_micros", call(operator, call("unix_micros", left), counted_number(right)))
            return cast(made, INSTANT) if left.type == INSTANT else made
        type_ = left.type if left.type.counted else right.type
        sides = [coercion.as_counted(side, type_) for side in (left, right)]
        if None in sides:
            raise TypeClash(f"{operator} of {left.type} and {right.type}", right, "write INTERVAL '5' MINUTE")
        return _counted(call(operator, *(counted_number(side) for side in sides if side is not None)), type_)
    if sign == -1 and {TIMESTAMP, INSTANT} & {left.type, right.type} and _is_time(left) and _is_time(right):
        note_clocks(b, left, right, node)
        return of_number(call("-", *(call("unix_micros", time) for time in subtracted(left, right))), INTERVAL)
    return None


def _with_time(b: ExpressionBinder, left: Expression, right: Expression, sign: int, node: exp.Expr) -> Expression:
    """A TIME moved by an interval, the interval between two, and a DATE with a TIME."""
    if sign == 1 and DATE in (left.type, right.type) and b.rules.times_begin_again:
        date, time = (left, right) if left.type == DATE else (right, left)
        return call("timestamp_micros", call("+", call("unix_micros", date), counted_number(time)))
    moved, by = coercion.as_counted(left, TIME), coercion.as_counted(right, INTERVAL)
    if left.type == TIME and by is not None:
        micros = call("+" if sign == 1 else "-", counted_number(left), counted_number(by))
        if b.rules.times_begin_again:
            return of_number(call("pmod", micros, Constant(_DAY, INTEGER)), TIME)
        return in_day(micros)
    other = coercion.as_counted(right, TIME)
    if sign == 1 or moved is None or other is None or not b.rules.subtracts_times:
        raise TypeClash(
            f"{'+' if sign == 1 else '-'} of {left.type} and {right.type}", right, "as in t + INTERVAL '5' MINUTE"
        )
    return of_number(call("-", counted_number(moved), counted_number(other)), INTERVAL)


def in_day(micros: Expression) -> Expression:
    """The time of the day of a number of microseconds, NULL of one that is not within the day."""
    known = call("and", call(">=", micros, Constant(0, INTEGER)), call("<", micros, Constant(_DAY, INTEGER)))
    if isinstance(known, Constant):
        return of_number(micros if known.value else Constant(None, INTEGER), TIME)
    return of_number(call("case", known, micros, Constant(None, INTEGER)), TIME)


def note_clocks(b: ExpressionBinder, left: Expression, right: Expression, node: exp.Expr) -> None:
    """Warn of a difference of instants that is one of what clocks show, where these are set forward and back."""
    here = zoning()
    if INSTANT in (left.type, right.type) and here.subtracts_instants is False and here.zone != UTC:
        message = f"a difference of instants is that of what clocks in {here.zone} show, also where these were changed"
        b.source.note(message, node, "UNIX_MICROS(later) - UNIX_MICROS(earlier) is the time that passes")


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


@reads(exp.Mul, exp.SafeMultiply, parts="this expression")
def times(b: ExpressionBinder, node: exp.Mul | exp.SafeMultiply) -> Expression:
    """A product, of numbers or of an interval and a number."""
    left, right = b.bind(node.this), b.bind(node.expression)
    if not (is_interval(left) or is_interval(right)):
        return computed(b, call("*", left, right), (node.this, left), (node.expression, right))
    interval, factor = (left, right) if is_interval(left) else (right, left)
    factor = _factor(b, factor, node)
    product = call("*", counted_number(interval), factor)
    return _counted(product if factor.type.kind is Kind.INTEGER else _rounded(product), interval.type)


def is_interval(value: Expression) -> bool:
    """Whether a value is an interval, of months or of shorter units."""
    return value.type.kind in (Kind.INTERVAL, Kind.MONTHS)


@reads(exp.IntDiv, parts="this expression")
def integer_division(b: ExpressionBinder, node: exp.IntDiv) -> Expression:
    """DIV of numbers, or of two intervals, toward zero."""
    sides = b.parts(node, "this", "expression")
    if sides[0].type == sides[1].type and is_interval(sides[0]):
        sides = [counted_number(side) for side in sides]
    return call("div", *sides)


def divided(b: ExpressionBinder, interval: Expression, by: Expression, node: exp.Expr) -> Expression:
    """An interval divided by a number, rounded half away from zero, as Spark does."""
    _refuse_rounding(b, "an interval divided by a number", "divide EXTRACT(EPOCH FROM x)", node)
    number, by = counted_number(interval), _factor(b, by, node)
    if by.type == DOUBLE:
        return _counted(_rounded(call("/", cast(number, DOUBLE), by)), interval.type)
    if isinstance(by, Constant) and isinstance(by.value, Decimal):
        shift = 10**by.type.scale
        number, by = call("*", number, Constant(shift, INTEGER)), Constant(int(by.value * shift), INTEGER)
    elif by.type.kind is Kind.DECIMAL:
        b.source.refuse("an interval divided by a DECIMAL that is no constant", node, "CAST(x AS DOUBLE)")
    return _counted(_quotient(number, by), interval.type)


def of_number_in(change: Callable[[Expression], Expression], value: Expression) -> Expression:
    """A function of numbers, as of the number of an interval."""
    return _counted(change(counted_number(value)), value.type) if is_interval(value) else change(value)


def _counted(number: Expression, type_: DataType) -> Expression:
    """The interval of a number; months have 32 bits, in all databases."""
    return of_number(within(number, integer(32)) if type_ == MONTHS else number, type_)


def _rounded(number: Expression) -> Expression:
    return cast(call("round", number), INTEGER)


def seconds(interval: Expression) -> Expression:
    """EXTRACT(EPOCH FROM x): its seconds, with six digits after the point."""
    start = call("timestamp_micros", Constant(0, INTEGER))
    return call("seconds_between", call("timestamp_micros", counted_number(interval)), start)


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
    counted = next((argument for argument in arguments if argument.type.counted), None)
    if counted is None:
        return expand(tuple(arguments))
    if name not in (_OF_TIMES if counted.type == TIME else _AGGREGATES):
        raise TypeClash(f"{name.upper()} of {with_article(str(counted.type))}", arguments[0], coercion.AS_SECONDS)
    if name in _ROUNDED:
        _refuse_rounding(b, f"{name.upper()} of intervals", f"{name.upper()} of EXTRACT(EPOCH FROM x)", node)
    result = expand(tuple(counted_number(a) if a.type.counted else a for a in arguments))
    if name in _COUNTS or not arguments[0].type.counted:
        return result
    return _counted(_average(result) if name == "avg" else cast(result, INTEGER), arguments[0].type)


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


def interval_value(b: ExpressionBinder, parts: Sequence[IntervalPart], node: exp.Expr) -> Expression:
    """The value of an interval's parts.

    Raises:
        UnsupportedError: it has months and days.
        SqlError: it has no part, or is longer than an interval may be.
    """
    if not parts:
        raise b.source.error("an interval of nothing", node, "say how long it is: INTERVAL '5' MINUTE")
    if {"months"} < {part.counts for part in parts}:
        b.source.refuse("an interval of months and days as a value", node, _MONTHS)
    type_ = MONTHS if parts[0].counts == "months" else INTERVAL
    numbers = [call("*", part.many, Constant(_SIZES[part.counts], INTEGER)) for part in parts]
    result = _counted(reduce(lambda left, right: call("+", left, right), numbers), type_)
    numbers_of = [(part.many.value, part.counts) for part in parts if isinstance(part.many, Constant)]
    exact = [number * _SIZES[counts] for number, counts in numbers_of if isinstance(number, int)]
    is_beyond = len(exact) == len(parts) and abs(sum(exact)) >= 2**63  # the least number NumPy takes for NULL
    if is_beyond or (coercion.is_null(result) and not any(coercion.is_null(part.many) for part in parts)):
        raise b.source.error("an interval that is too long", node, "it has up to 292,000 years here")
    return result


def _is_time(side: Expression) -> bool:
    """Whether it is a time, or a text that may be one."""
    return side.type.temporal or (isinstance(side, Constant) and side.type == STRING and side.value is not None)


def _factor(b: ExpressionBinder, number: Expression, node: exp.Expr) -> Expression:
    """What an interval is multiplied with or divided by: a whole number, and where databases agree a fraction, too."""
    if coercion.is_null(number):
        return Constant(None, INTEGER)
    if number.type.kind is Kind.INTEGER:
        return coercion.coerce(number, INTEGER)
    if not b.rules.rounds_intervals or not (number.type.numeric or number.type == STRING):
        hint = "+ adds an interval to a time" if number.type.temporal else "CAST(x AS INTEGER)"
        b.source.refuse("an interval times or by what is no INTEGER", node, hint)
    return cast(number, DOUBLE) if number.type == STRING else number


def _refuse_rounding(b: ExpressionBinder, what: str, hint: str, node: exp.Expr) -> None:
    if not b.rules.rounds_intervals:
        b.source.refuse(what, node, f"databases round it differently: {hint}")
