"""Aggregates, declared once: their calls, and their basic statistics and rules (T4.2, Tables 4.1 and 4.2).

Only basic statistics become ``AggregateCall``; an algebraic aggregate is a scalar function of them, so AVG(x) and
SUM(x) share one SUM. Categories: *distributive* (count, sum, min, max), *algebraic* (avg, variances of exact numbers),
*holistic* (median, percentile, mode; and what is made of sums of products of DOUBLE, such as variances, which are added
up without rounding, since a difference of rounded ones cancels catastrophically).

SUM of INTEGER is kept in 38 digits so that it cannot wrap, and cast back at the output. PERCENTILE and MEDIAN
interpolate linearly between the two nearest values. Each depends on the bag of rows alone, never on their order: of
rows with equal keys MIN_BY takes the smallest value, NULL first, and MAX_BY the largest; of equally frequent values
MODE takes the smallest; in lists the values of equal keys stand in their own order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

from sqlglot import exp

from workbench.sql.algebra.arithmetic import bounded
from workbench.sql.algebra.coercion import TypeClash, as_string, coerce, is_null
from workbench.sql.algebra.expressions import AggregateCall, Column, Constant, Expression, column_name
from workbench.sql.algebra.types import (
    BOOLEAN,
    DOUBLE,
    INTEGER,
    MAX_PRECISION,
    STRING,
    DataType,
    Kind,
    array_of,
    decimal,
)
from workbench.sql.functions.calls import call, cast
from workbench.sql.functions.declaration import Arguments, TypeRule, function

Category = Literal["distributive", "algebraic", "holistic"]

Keep = Callable[[AggregateCall], None]
"""Takes a statistic that is needed."""
Expand = Callable[[Arguments, bool, Keep], Expression]
"""Makes an aggregate of statistics: from its arguments, whether they are DISTINCT, and what takes the statistics."""

GROUPED = -1
"""Source of columns that exist only after grouping, while a grouped block is being bound."""
DESCENDING = "_desc"
"""The end of the name of a statistic whose values are in descending order."""
EXACT_SUM = "exact_sum"
"""The sum of DOUBLE without rounding, as a text of its digits."""
_OF_EXACT = {"sum": "rounded_total", EXACT_SUM: "exact_total"}
"""Sums of DOUBLE, and what gives them from the exact sums of finer groups."""
SQUARES_FIT = 18
"""Digits up to which the square of a decimal is exact in 38 digits; INTEGER squares are too, by their range."""
SQUARED_SCALE = 12
"""Digits behind the point up to which a sum of squares has one before it, of the 25 it has (``variances``)."""


@dataclass(frozen=True)
class AggregateFunction:
    """A built-in aggregate.

    Attributes:
        name: for all spellings.
        nodes: the syntax nodes that are calls of it.
        names: those that the parser leaves as plain names.
        takes: how many arguments it takes at least, and at most.
        rule: of a basic statistic, converts the arguments and says the type.
        expand: of others, makes it of statistics.
        distinct: whether it takes DISTINCT, or does not change by it.
        unordered: how many of its first arguments may be arrays; of several values they do not say which is smaller.
    """

    name: str
    nodes: tuple[type[exp.Expr], ...]
    names: tuple[str, ...]
    takes: tuple[int, int]
    rule: TypeRule
    expand: Expand | None
    distinct: bool
    unordered: int


def _of_first(arguments: Arguments) -> tuple[Arguments, DataType]:
    """A statistic that gives one of the values of its first argument."""
    return arguments, arguments[0].type


def _aggregate(
    signature: str, *nodes: type[exp.Expr], names: str = "", rule: TypeRule = _of_first, expand: Expand | None = None,
    distinct: bool = False, unordered: int = 0,
) -> AggregateFunction:  # fmt: skip
    """Declare an aggregate; without a type in the signature it has that of its first argument, or that of its rule."""
    declared = function(signature, rule=None if "):" in signature else rule, names=names)
    takes = declared.least, declared.most
    return AggregateFunction(declared.name, nodes, declared.names, takes, declared.rule, expand, distinct, unordered)


def category(statistic: AggregateCall) -> Category:
    """How a basic statistic can be maintained: anything over DISTINCT values needs the values."""
    holistic = statistic.distinct or statistic.function not in ("count", "sum", "min", "max", EXACT_SUM)
    return "holistic" if holistic else "distributive"


def follows_from_parts(statistic: AggregateCall) -> bool:
    """Whether a statistic of groups follows, to the last digit, from ``part_of`` of finer groups (T7.1.1).

    A sum that overflows is NULL, which a sum of sums would pass over: that of exact numbers must have room for ten
    thousand million of the largest values.
    """
    if category(statistic) == "holistic":
        return False
    if statistic.function != "sum":
        return True
    (summed,) = (argument.type for argument in statistic.arguments)
    return summed.kind in (Kind.INTEGER, Kind.DOUBLE) or (
        summed.kind is Kind.DECIMAL and summed.precision + 10 <= MAX_PRECISION
    )


def part_of(statistic: AggregateCall) -> AggregateCall:
    """The statistic of finer groups that a statistic follows from: itself, but a sum of DOUBLE must not be rounded.

    Example:
        >>> part_of(AggregateCall("sum", (Column("x", DOUBLE),), DOUBLE)).function
        'exact_sum'
    """
    return replace(statistic, function=EXACT_SUM, type=STRING) if _is_rounded(statistic) else statistic


def of_parts(statistic: AggregateCall, part: Column) -> AggregateCall:
    """A statistic from a column with ``part_of`` of finer groups: a count is the total of counts (T7.1.1).

    Example:
        >>> of_parts(AggregateCall("count", (), INTEGER), Column("n", INTEGER)).function
        'total'
    """
    function = "total" if statistic.function == "count" else statistic.function
    function = _OF_EXACT[function] if part_of(statistic).function == EXACT_SUM else function
    return replace(statistic, function=function, arguments=(part,))


def _is_rounded(statistic: AggregateCall) -> bool:
    return statistic.function == "sum" and statistic.type.kind is Kind.DOUBLE


def expand(name: str, arguments: Arguments, distinct: bool, keep: Keep) -> Expression:
    """A built-in aggregate as an expression over its statistics.

    Args:
        name: of the aggregate; with ``DESCENDING`` of one whose values are in that order.
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
    declared = AGGREGATES[name.removesuffix(DESCENDING)]
    if declared.expand is not None:
        return declared.expand(arguments, distinct, keep)
    arguments, type_ = declared.rule(arguments)
    # A smallest value is the same with and without duplicates.
    return _kept(AggregateCall(name, arguments, type_, distinct and name not in ("min", "max")), keep)


def _kept(statistic: AggregateCall, keep: Keep) -> Column:
    keep(statistic)
    return Column(column_name(statistic), statistic.type, GROUPED)


def _count(arguments: Arguments, distinct: bool, keep: Keep) -> Expression:
    if not distinct:  # a constant is never NULL
        arguments = tuple(a for a in arguments if not isinstance(a, Constant) or is_null(a))
    if len(arguments) > 1 and not distinct:
        return _kept(counted_where_none_is_null(arguments), keep)
    return _kept(AggregateCall("count", arguments, INTEGER, distinct), keep)


def _total(arguments: Arguments, distinct: bool, keep: Keep) -> Expression:
    total = _kept(_sum(arguments[0], distinct), keep)
    return cast(total, INTEGER) if arguments[0].type.kind is Kind.INTEGER else total


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


def _count_if(arguments: Arguments, distinct: bool, keep: Keep) -> Expression:
    """COUNT_IF(c): the rows for which the condition is true."""
    test, one, nothing = coerce(arguments[0], BOOLEAN), Constant(1, INTEGER), Constant(None, INTEGER)
    return expand("count", (call("case", test, one, nothing),), False, keep)


def _bool_and(arguments: Arguments, distinct: bool, keep: Keep) -> Expression:
    """BOOL_AND(c): whether no value is false; from counts, which stay right when rows are taken back."""
    return _none_of(call("not", coerce(arguments[0], BOOLEAN)), arguments[0], keep)


def _bool_or(arguments: Arguments, distinct: bool, keep: Keep) -> Expression:
    """BOOL_OR(c): whether some value is true."""
    return call("not", _none_of(coerce(arguments[0], BOOLEAN), arguments[0], keep))


def _none_of(test: Expression, value: Expression, keep: Keep) -> Expression:
    """Whether the test is true for no row; NULL where there is no value."""
    zero, values = Constant(0, INTEGER), expand("count", (value,), False, keep)
    none = call("=", _count_if((test,), False, keep), zero)
    return call("case", call(">", values, zero), none, Constant(None, BOOLEAN))


def _as(name: str, count: int, distinct: bool = False) -> Expand:
    """An aggregate that is another one of its first arguments."""
    return lambda arguments, given, keep: expand(name, arguments[:count], distinct, keep)


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


def _algebraic(name: str, rule: str, arguments: Arguments, distinct: bool, keep: Keep) -> Expression:
    """AVG and the variances: a function of the sum of the values, of their squares, and of their count."""
    (argument,) = arguments
    if is_null(argument):
        argument = coerce(argument, INTEGER)
    type_ = argument.type
    if not type_.numeric:
        raise TypeClash(f"{name.upper()} needs numbers, not {type_}", argument, _number_hint(type_))
    count = AggregateCall("count", (argument,), INTEGER, distinct)
    if name == "avg":
        average = call(rule, _kept(_sum(argument, distinct), keep), _kept(count, keep))
        is_decimal = type_.kind is Kind.DECIMAL
        return replace(average, type=bounded(type_.precision + 4, type_.scale + 4)) if is_decimal else average
    if distinct:
        raise TypeClash(f"{name.upper()} of DISTINCT values is not supported", argument)
    if type_ == DOUBLE or type_.precision > SQUARES_FIT or type_.scale > SQUARED_SCALE:
        return _kept(AggregateCall(name, (coerce(argument, DOUBLE),), DOUBLE), keep)
    statistics = (count, _sum(argument, False), _sum(_square(argument), False))
    return call(rule, *(_kept(statistic, keep) for statistic in statistics))


def _square(argument: Expression) -> Expression:
    """x*x without loss: integers are squared as decimals, where they cannot overflow."""
    wide = cast(argument, decimal(19, 0)) if argument.type.kind is Kind.INTEGER else argument
    return call("*", wide, wide)


def _listed(arguments: Arguments) -> tuple[Arguments, DataType]:
    """A text, what stands between two of them, and what they are ordered by."""
    value, separator, *order = arguments
    return (as_string(value), coerce(separator, STRING), *order), STRING


def _collected(arguments: Arguments) -> tuple[Arguments, DataType]:
    """Whether a row counts, its value, and what values are ordered by before their own order."""
    return arguments, array_of(arguments[1].type)


_ALGEBRAIC = {"avg": "average"} | {
    name: name.replace("var_", "variance_") for name in ("var_samp", "var_pop", "stddev_samp", "stddev_pop")
}
"""Aggregate -> the function of its statistics."""
_OF = {name: partial(_algebraic, name, rule) for name, rule in _ALGEBRAIC.items()}
_ANY = 9
_PAIR = "(double, double): double"
AGGREGATES = {aggregate.name: aggregate for aggregate in (
    _aggregate("count([any...])", exp.Count, expand=_count, distinct=True, unordered=_ANY),
    _aggregate("sum(any)", exp.Sum, names="try_sum", expand=_total, distinct=True),
    _aggregate("avg(any)", exp.Avg, names="average mean try_avg", expand=_OF["avg"], distinct=True),
    _aggregate("min(any)", exp.Min, distinct=True),
    _aggregate("max(any)", exp.Max, distinct=True),
    # Any value will do; the smallest one is the same on every replay, whatever the order of rows.
    _aggregate("any_value(any)", exp.AnyValue, expand=_as("min", 1), distinct=True, unordered=_ANY),
    _aggregate("count_if(any)", exp.CountIf, expand=_count_if),
    _aggregate("bool_and(any)", exp.LogicalAnd, names="every", expand=_bool_and, distinct=True),
    _aggregate("bool_or(any)", exp.LogicalOr, names="some", expand=_bool_or, distinct=True),
    _aggregate("bit_and(integer): integer", exp.BitwiseAndAgg, distinct=True),
    _aggregate("bit_or(integer): integer", exp.BitwiseOrAgg, distinct=True),
    _aggregate("bit_xor(integer): integer", exp.BitwiseXorAgg),
    _aggregate("median(double): double", exp.Median),
    _aggregate("mode(any)", exp.Mode, unordered=_ANY),
    _aggregate("percentile(double, any): double", exp.Quantile, exp.PercentileCont, names="percentile"),
    _aggregate("percentile_disc(any, any)", exp.PercentileDisc),
    # An exact answer is the best approximation.
    _aggregate("approx_percentile(any, any[, any])", exp.ApproxQuantile, expand=_as("percentile_disc", 2)),
    _aggregate("approx_count_distinct(any[, any])", exp.ApproxDistinct, expand=_as("count", 1, distinct=True),
               distinct=True, unordered=_ANY),
    _aggregate("min_by(any, any)", exp.ArgMin, unordered=1),
    _aggregate("max_by(any, any)", exp.ArgMax, unordered=1),
    _aggregate("stddev_samp(any)", exp.Stddev, exp.StddevSamp, names="std", expand=_OF["stddev_samp"], distinct=True),
    _aggregate("stddev_pop(any)", exp.StddevPop, expand=_OF["stddev_pop"], distinct=True),
    _aggregate("var_samp(any)", exp.Variance, expand=_OF["var_samp"], distinct=True),
    _aggregate("var_pop(any)", exp.VariancePop, expand=_OF["var_pop"], distinct=True),
    _aggregate("skewness(double): double", exp.Skewness),
    _aggregate("kurtosis(double): double", exp.Kurtosis),
    *(_aggregate(f"{name}{_PAIR}", node) for name, node in (
        ("corr", exp.Corr), ("covar_samp", exp.CovarSamp), ("covar_pop", exp.CovarPop), ("regr_slope", exp.RegrSlope),
        ("regr_intercept", exp.RegrIntercept), ("regr_r2", exp.RegrR2), ("regr_avgx", exp.RegrAvgx),
        ("regr_avgy", exp.RegrAvgy), ("regr_sxx", exp.RegrSxx), ("regr_syy", exp.RegrSyy), ("regr_sxy", exp.RegrSxy))),
    _aggregate("regr_count(any, any)", exp.RegrCount, expand=_as("count", 2)),
    _aggregate("listagg(any...)", exp.GroupConcat, rule=_listed, distinct=True),
    _aggregate("array_agg(any)", exp.ArrayAgg, exp.ArrayUniqueAgg, rule=_collected, distinct=True, unordered=_ANY),
)}  # fmt: skip
"""Built-in aggregates by name."""
HOLISTIC = frozenset(
    name + end
    for name, aggregate in AGGREGATES.items()
    if aggregate.expand is None and name not in ("min", "max")
    for end in ("", *[DESCENDING] * (name in ("percentile_disc", "listagg", "array_agg")))
)
"""The statistics that need the values of a group, but for variances of DOUBLE."""
STATISTICS = frozenset({"count", "sum", "min", "max", "total", EXACT_SUM, *_OF_EXACT.values(), *HOLISTIC, *_ALGEBRAIC})
"""All basic statistics; ``total`` sums counts of finer groups."""
