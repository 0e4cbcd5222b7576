"""Aggregates as basic statistics and rules (T4.2, Tables 4.1 and 4.2).

Only basic statistics become ``AggregateCall``; an algebraic aggregate is a scalar function of them, so AVG(x) and
SUM(x) share one SUM. Categories: *distributive* (count, sum, min, max), *algebraic* (avg, variances of exact numbers),
*holistic* (median, percentile, mode; and what is made of sums of products of DOUBLE, such as variances, which are added
up without rounding, since a difference of rounded ones cancels catastrophically).

SUM of INTEGER is kept in 38 digits so that it cannot wrap, and cast back at the output. PERCENTILE and MEDIAN
interpolate linearly between the two nearest values. MODE of several equally frequent values is the smallest.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from workbench.sql.algebra.arithmetic import bounded
from workbench.sql.algebra.coercion import TypeClash, coerce, is_null
from workbench.sql.algebra.expressions import AggregateCall, Column, Constant, Expression, column_name
from workbench.sql.algebra.types import BOOLEAN, DOUBLE, INTEGER, MAX_PRECISION, STRING, DataType, Kind, decimal
from workbench.sql.functions.calls import call, cast
from workbench.sql.functions.holistic import HOLISTIC_CALLS

Category = Literal["distributive", "algebraic", "holistic"]

Keep = Callable[[AggregateCall], None]
"""Takes a statistic that is needed."""

GROUPED = -1
"""Source of columns that exist only after grouping, while a grouped block is being bound."""


@dataclass(frozen=True)
class _Rule:
    """A built-in algebraic aggregate: the statistics it needs of its argument, and the function that combines them."""

    statistics: tuple[str, ...]
    function: str


ALGEBRAIC = {
    "avg": _Rule(("sum", "count"), "average"),
    "var_samp": _Rule(("count", "sum", "sum of squares"), "variance_samp"),
    "var_pop": _Rule(("count", "sum", "sum of squares"), "variance_pop"),
    "stddev_samp": _Rule(("count", "sum", "sum of squares"), "stddev_samp"),
    "stddev_pop": _Rule(("count", "sum", "sum of squares"), "stddev_pop"),
}
HOLISTIC = ("median", "percentile", "mode")
STATISTICS = frozenset({"count", "sum", "min", "max", "total", *HOLISTIC, *ALGEBRAIC, *HOLISTIC_CALLS})
"""All basic statistics; ``total`` sums counts of finer groups."""
SQUARES_FIT = 18
"""Digits up to which the square of a decimal is exact in 38 digits; INTEGER squares are too, by their range."""
SQUARED_SCALE = 12
"""Digits behind the point up to which a sum of squares has one before it, of the 25 it has (``variances``)."""


def category(statistic: AggregateCall) -> Category:
    """How a basic statistic can be maintained: anything over DISTINCT values needs the values."""
    holistic = statistic.distinct or statistic.function not in ("count", "sum", "min", "max")
    return "holistic" if holistic else "distributive"


def follows_from_parts(statistic: AggregateCall) -> bool:
    """Whether a statistic of groups follows, to the last digit, from the same statistic of finer groups (T7.1.1).

    A sum of DOUBLE would have another last digit. A sum that overflows is NULL, which a sum of sums would pass over: an
    exact sum must have room for ten thousand million of the largest values.
    """
    if category(statistic) == "holistic":
        return False
    if statistic.function != "sum":
        return True
    (summed,) = (argument.type for argument in statistic.arguments)
    return summed.kind is Kind.INTEGER or (summed.kind is Kind.DECIMAL and summed.precision + 10 <= MAX_PRECISION)


def of_parts(statistic: AggregateCall, part: Column) -> AggregateCall:
    """A statistic from a column with the same statistic of finer groups: a count is the total of counts (T7.1.1).

    Example:
        >>> of_parts(AggregateCall("count", (), INTEGER), Column("n", INTEGER)).function
        'total'
    """
    function = "total" if statistic.function == "count" else statistic.function
    return replace(statistic, function=function, arguments=(part,))


def expand(name: str, arguments: tuple[Expression, ...], distinct: bool, keep: Keep) -> Expression:
    """A built-in aggregate as an expression over its statistics.

    Args:
        name: ``count, sum, min, max``, one of ``HOLISTIC``, or a key of ``ALGEBRAIC``, ``DERIVED`` or
            ``HOLISTIC_CALLS``.
        arguments: over the inputs; none is COUNT(*).
        distinct: whether each value counts once.
        keep: takes every basic statistic needed.

    Returns:
        An expression over columns named by ``column_name`` of the statistics, of source ``GROUPED``.

    Raises:
        TypeClash: the argument has no such aggregate.

    Example:
        >>> from workbench.sql.algebra.expressions import text
        >>> kept = []
        >>> rule = expand("avg", (Column("a", DOUBLE),), False, kept.append)
        >>> [text(k) for k in kept], rule.function
        (['sum(a)', 'count(a)'], 'average')
    """

    def statistic(call: AggregateCall) -> Column:
        keep(call)
        return Column(column_name(call), call.type, GROUPED)

    if name in DERIVED:
        return DERIVED[name](arguments, keep)
    if name in HOLISTIC_CALLS:
        return statistic(replace(HOLISTIC_CALLS[name](arguments), distinct=distinct))
    if name in ALGEBRAIC:
        return _algebraic(name, arguments[0], distinct, statistic)
    if name == "sum":
        total = statistic(_sum(arguments[0], distinct))
        return cast(total, INTEGER) if arguments[0].type.kind is Kind.INTEGER else total
    return statistic(_basic(name, arguments, distinct))


def _basic(name: str, arguments: tuple[Expression, ...], distinct: bool) -> AggregateCall:
    match name:
        case "count":
            if not distinct:  # a constant is never NULL
                arguments = tuple(a for a in arguments if not isinstance(a, Constant) or is_null(a))
            if len(arguments) > 1 and not distinct:
                return counted_where_none_is_null(arguments)
            return AggregateCall("count", arguments, INTEGER, distinct)
        case "median":
            return AggregateCall("median", (coerce(arguments[0], DOUBLE),), DOUBLE)
        case "percentile":
            return AggregateCall("percentile", (coerce(arguments[0], DOUBLE), arguments[1]), DOUBLE)
        case _:
            # A smallest value is the same with and without duplicates.
            return AggregateCall(name, arguments, arguments[0].type)


def counted_where_none_is_null(arguments: tuple[Expression, ...]) -> AggregateCall:
    """COUNT(a, b): the rows in which none of the arguments is NULL.

    Example:
        >>> from workbench.sql.algebra.expressions import text
        >>> text(counted_where_none_is_null((Column("a", DOUBLE), Column("b", DOUBLE))))
        'count(case(and(not(is_null(a)), not(is_null(b))), 1, null::integer))'
    """
    tests = (call("not", call("is_null", argument)) for argument in arguments)
    one, nothing = Constant(1, INTEGER), Constant(None, INTEGER)
    return AggregateCall("count", (call("case", call("and", *tests), one, nothing),), INTEGER)


def _count_if(arguments: tuple[Expression, ...], keep: Keep) -> Expression:
    """COUNT_IF(c): the rows for which the condition is true."""
    test, one, nothing = coerce(arguments[0], BOOLEAN), Constant(1, INTEGER), Constant(None, INTEGER)
    return expand("count", (call("case", test, one, nothing),), False, keep)


def _bool_and(arguments: tuple[Expression, ...], keep: Keep) -> Expression:
    """BOOL_AND(c): whether no value is false; from counts, which stay right when rows are taken back."""
    return _none_of(call("not", coerce(arguments[0], BOOLEAN)), arguments[0], keep)


def _bool_or(arguments: tuple[Expression, ...], keep: Keep) -> Expression:
    """BOOL_OR(c): whether some value is true."""
    return call("not", _none_of(coerce(arguments[0], BOOLEAN), arguments[0], keep))


def _none_of(test: Expression, value: Expression, keep: Keep) -> Expression:
    """Whether the test is true for no row; NULL where there is no value."""
    zero, values = Constant(0, INTEGER), expand("count", (value,), False, keep)
    none = call("=", _count_if((test,), keep), zero)
    return call("case", call(">", values, zero), none, Constant(None, BOOLEAN))


def _regr_count(arguments: tuple[Expression, ...], keep: Keep) -> Expression:
    """REGR_COUNT(y, x): the pairs without NULL."""
    return expand("count", arguments, False, keep)


DERIVED: dict[str, Callable[[tuple[Expression, ...], Keep], Expression]] = {
    "count_if": _count_if,
    "bool_and": _bool_and,
    "bool_or": _bool_or,
    "regr_count": _regr_count,
    # Any value will do; the smallest one is the same on every replay, whatever the order of rows.
    "any_value": lambda arguments, keep: expand("min", arguments[:1], False, keep),
    # An exact answer is the best approximation.
    "approx_count_distinct": lambda arguments, keep: expand("count", arguments[:1], True, keep),
    "approx_percentile": lambda arguments, keep: expand("percentile_disc", arguments[:2], False, keep),
}
"""Aggregate -> what gives it as an expression over other aggregates."""


def _sum(argument: Expression, distinct: bool) -> AggregateCall:
    if is_null(argument):
        argument = coerce(argument, INTEGER)
    return AggregateCall("sum", (argument,), _sum_type(argument.type), distinct)


def _sum_type(type_: DataType) -> DataType:
    match type_.kind:
        case Kind.INTEGER:
            return decimal(MAX_PRECISION, 0)
        case Kind.DECIMAL:
            return decimal(type_.precision + 10, type_.scale)
        case Kind.DOUBLE:
            return DOUBLE
        case _:
            raise TypeClash(f"SUM and AVG need numbers, not {type_}", hint=_number_hint(type_))


def _number_hint(type_: DataType) -> str:
    counts = "COUNT, MIN and MAX take values of any type"
    return f"CAST(… AS DOUBLE) makes a number of a text; {counts}" if type_ == STRING else counts


def _algebraic(
    name: str, argument: Expression, distinct: bool, statistic: Callable[[AggregateCall], Column]
) -> Expression:
    if is_null(argument):
        argument = coerce(argument, INTEGER)
    rule, type_ = ALGEBRAIC[name], argument.type
    if not type_.numeric:
        raise TypeClash(f"{name.upper()} needs numbers, not {type_}", argument, _number_hint(type_))
    if "sum of squares" in rule.statistics:
        if distinct:
            raise TypeClash(f"{name.upper()} of DISTINCT values is not supported", argument)
        if type_ == DOUBLE or type_.precision > SQUARES_FIT or type_.scale > SQUARED_SCALE:
            return statistic(AggregateCall(name, (coerce(argument, DOUBLE),), DOUBLE))
    statistics = {
        "count": lambda: AggregateCall("count", (argument,), INTEGER, distinct),
        "sum": lambda: _sum(argument, distinct),
        "sum of squares": lambda: _sum(_square(argument), False),
    }
    parts = [statistic(statistics[s]()) for s in rule.statistics]
    combined = call(rule.function, *parts)
    if name == "avg" and type_.kind is Kind.DECIMAL:
        return replace(combined, type=bounded(type_.precision + 4, type_.scale + 4))
    return combined


def _square(argument: Expression) -> Expression:
    """x*x without loss: integers are squared as decimals, where they cannot overflow."""
    wide = cast(argument, decimal(19, 0)) if argument.type.kind is Kind.INTEGER else argument
    return call("*", wide, wide)
