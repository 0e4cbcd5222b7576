"""Aggregates, declared once: their calls, and the basic statistics that they are made of (T4.2, Table 4.2).

Only basic statistics become ``AggregateCall``; an algebraic aggregate is a scalar function of them, so AVG(x) and
SUM(x) share one SUM. How statistics are kept and roll up is in ``aggregate_rules``. Variances of DOUBLE are statistics
of their own, whose sums of products are added up without rounding: a difference of rounded ones cancels
catastrophically.

SUM of INTEGER is kept in 38 digits so that it cannot wrap, and cast back at the output. PERCENTILE and MEDIAN
interpolate linearly between the two nearest values. Each depends on the bag of rows alone, never on their order: of
rows with equal keys MIN_BY takes the smallest value, NULL first, and MAX_BY the largest; of equally frequent values
MODE takes the smallest; in lists the values of equal keys stand in their own order.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial

from sqlglot import exp

from workbench.sql.algebra.arithmetic import bounded
from workbench.sql.algebra.coercion import TypeClash, as_string, coerce, is_null
from workbench.sql.algebra.expressions import AggregateCall, Column, Constant, Expression, Origin, column_name
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
from workbench.sql.functions.aggregate_rules import ALGEBRAIC, DESCENDING
from workbench.sql.functions.calls import NUMBER_OF_TEXT, call, cast
from workbench.sql.functions.declaration import Arguments, TypeRule, function
from workbench.sql.syntax import statistics_of_duckdb

Keep = Callable[[AggregateCall], None]
"""Takes a statistic that is needed."""
Expand = Callable[[Arguments, bool, Keep], Expression]
"""Makes an aggregate of statistics: from its arguments, whether they are DISTINCT, and what takes the statistics."""

HALF = Decimal("0.5")
"""The share of the median."""
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


def expand(name: str, arguments: Arguments, distinct: bool, keep: Keep) -> Expression:
    """A built-in aggregate as an expression over its statistics.

    Args:
        name: of the aggregate; with ``DESCENDING`` of one whose values are in that order.
        arguments: over the inputs; none is COUNT(*).
        distinct: whether each value counts once.
        keep: takes every basic statistic needed.

    Returns:
        An expression over columns named by ``column_name`` of the statistics, of source ``Origin.GROUPED``.

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
    return Column(column_name(statistic), statistic.type, Origin.GROUPED)


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
    if is_null(argument) and not argument.type.numeric:
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
    counts = "COUNT_IF(x) counts the rows for which it is true" if type_ == BOOLEAN else counts
    return f"{NUMBER_OF_TEXT}; {counts}" if type_ == STRING else counts


def _algebraic(name: str, arguments: Arguments, distinct: bool, keep: Keep) -> Expression:
    """AVG and the variances: a function of basic statistics (``ALGEBRAIC``)."""
    (argument,), rule = arguments, ALGEBRAIC[name]
    if is_null(argument) and not argument.type.numeric:
        argument = coerce(argument, INTEGER)
    type_ = argument.type
    if not type_.numeric:
        raise TypeClash(f"{name.upper()} needs numbers, not {type_}", argument, _number_hint(type_))
    if distinct and name != "avg":
        raise TypeClash(f"{name.upper()} of DISTINCT values is not supported", argument)
    if name != "avg" and (type_ == DOUBLE or type_.precision > SQUARES_FIT or type_.scale > SQUARED_SCALE):
        return _kept(AggregateCall(name, (coerce(argument, DOUBLE),), DOUBLE), keep)
    result = call(rule.function, *(_kept(_basic(*basic, argument, distinct), keep) for basic in rule.basics))
    if name == "avg" and type_.kind is Kind.DECIMAL:
        return replace(result, type=bounded(type_.precision + 4, type_.scale + 4))
    return result


def _basic(function: str, power: int, argument: Expression, distinct: bool) -> AggregateCall:
    value = _square(argument) if power == 2 else argument
    return AggregateCall("count", (value,), INTEGER, distinct) if function == "count" else _sum(value, distinct)


def _square(argument: Expression) -> Expression:
    """x*x without loss: integers are squared as decimals, where they cannot overflow."""
    wide = cast(argument, decimal(19, 0)) if argument.type.kind is Kind.INTEGER else argument
    return call("*", wide, wide)


def _listed(arguments: Arguments) -> tuple[Arguments, DataType]:
    """A text, the separator between two, and the keys of their order."""
    value, separator, *order = arguments
    return (as_string(value), coerce(separator, STRING), *order), STRING


def _collected(arguments: Arguments) -> tuple[Arguments, DataType]:
    """Whether a row counts, its value, and what values are ordered by before their own order."""
    return arguments, array_of(arguments[1].type)


def _collected_first(arguments: Arguments) -> tuple[Arguments, DataType]:
    """How many elements there are at most, and the arguments of ``array_agg``."""
    return arguments, _collected(arguments[1:])[1]


def _counts_of_values(arguments: Arguments) -> tuple[Arguments, DataType]:
    return arguments, array_of(INTEGER)


def _entropy(arguments: Arguments, distinct: bool, keep: Keep) -> Expression:
    """ENTROPY(x) of duckdb, which is 0 of no values."""
    return call("coalesce", _kept(AggregateCall("entropy", arguments, DOUBLE), keep), _double(0))


def _sample_skewness(arguments: Arguments, distinct: bool, keep: Keep) -> Expression:
    """SKEWNESS(x) of duckdb: the root of n(n-1), divided by n-2, times that of the values."""
    n, skewness = _count_as_double(arguments, keep), expand("skewness", arguments, distinct, keep)
    correction = call("/", call("sqrt", call("*", n, _minus(n, 1))), _minus(n, 2))
    return _where_defined(call(">", n, _double(2)), skewness, call("*", correction, skewness))


def _sample_kurtosis(arguments: Arguments, distinct: bool, keep: Keep) -> Expression:
    """KURTOSIS(x) of duckdb: (n-1)((n+1)k + 6), divided by (n-2)(n-3), where k is that of the values."""
    n, kurtosis = _count_as_double(arguments, keep), expand("kurtosis", arguments, distinct, keep)
    weighted = call("+", call("*", call("+", n, _double(1)), kurtosis), _double(6))
    corrected = call("/", call("*", _minus(n, 1), weighted), call("*", _minus(n, 2), _minus(n, 3)))
    return _where_defined(call(">", n, _double(3)), kurtosis, corrected)


def _population_kurtosis(arguments: Arguments, distinct: bool, keep: Keep) -> Expression:
    n, kurtosis = _count_as_double(arguments, keep), expand("kurtosis", arguments, distinct, keep)
    return _where_defined(call(">", n, _double(1)), kurtosis, kurtosis)


def _standard_error(arguments: Arguments, distinct: bool, keep: Keep) -> Expression:
    """SEM(x) of duckdb: the deviation of the values, divided by the root of their number."""
    n, variance = _count_as_double(arguments, keep), expand("var_pop", arguments, distinct, keep)
    error = call("sqrt", call("/", variance, n))
    return call("case", call(">", n, _double(0)), error, Constant(None, DOUBLE))


def _geometric_mean(arguments: Arguments, distinct: bool, keep: Keep) -> Expression:
    """GEOMEAN(x) of duckdb: 0 where a value is 0, and NaN where one is below."""
    value = coerce(arguments[0], DOUBLE)
    mean = expand("avg", (call("ln", value),), distinct, keep)
    least, zero = expand("min", (value,), distinct, keep), _double(0)
    below, equal = (call(sign, least, zero) for sign in ("<", "="))
    return call("case", below, _double(math.nan), equal, zero, call("exp", mean))


def _or_nan(name: str, arguments: Arguments, distinct: bool, keep: Keep) -> Expression:
    """A statistic of pairs that is NaN, and not NULL, where there are pairs of which it is not defined."""
    there = call(">", expand("regr_count", arguments, distinct, keep), Constant(0, INTEGER))
    statistic = expand(name, arguments, distinct, keep)
    return call("case", there, call("coalesce", statistic, _double(math.nan)), Constant(None, DOUBLE))


def _intercept(arguments: Arguments, distinct: bool, keep: Keep) -> Expression:
    intercept = expand("regr_intercept", arguments, distinct, keep)
    return call("case", call("isnan", intercept), Constant(None, DOUBLE), intercept)


def _count_as_double(arguments: Arguments, keep: Keep) -> Expression:
    return cast(expand("count", arguments, False, keep), DOUBLE)


def _double(value: float) -> Constant:
    return Constant(float(value), DOUBLE)


def _minus(value: Expression, number: int) -> Expression:
    return call("-", value, _double(number))


def _where_defined(enough: Expression, of_values: Expression, result: Expression) -> Expression:
    """A statistic of enough values that are finite; NULL otherwise, where DuckDB has an error."""
    return call("case", call("and", enough, call("not", call("isnan", of_values))), result, Constant(None, DOUBLE))


_OF = {name: partial(_algebraic, name) for name in ALGEBRAIC}
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
    # The value of the row with the smallest number: rows are numbered as they arrive.
    _aggregate("first(any)", exp.First, exp.FirstValue, names="arbitrary", expand=_as("min_by", 2), unordered=1),
    _aggregate("last(any)", exp.Last, exp.LastValue, expand=_as("max_by", 2), unordered=1),
    _aggregate("count_if(any)", exp.CountIf, expand=_count_if),
    _aggregate("bool_and(any)", exp.LogicalAnd, names="every", expand=_bool_and, distinct=True),
    _aggregate("bool_or(any)", exp.LogicalOr, names="some", expand=_bool_or, distinct=True),
    _aggregate("bit_and(integer): integer", exp.BitwiseAndAgg, distinct=True),
    _aggregate("bit_or(integer): integer", exp.BitwiseOrAgg, distinct=True),
    _aggregate("bit_xor(integer): integer", exp.BitwiseXorAgg),
    _aggregate("median(double): double", exp.Median),
    _aggregate("mad(double): double", statistics_of_duckdb.MedianDeviation),
    _aggregate("mode(any)", exp.Mode, unordered=_ANY),
    _aggregate("percentile(double, any): double", exp.Quantile, exp.PercentileCont, names="percentile"),
    # That of decimals and times, which is one, too.
    _aggregate("quantile_cont(any, any)"),
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
    _aggregate("sample_skewness(any)", statistics_of_duckdb.SampleSkewness, expand=_sample_skewness),
    _aggregate("sample_kurtosis(any)", statistics_of_duckdb.SampleKurtosis, expand=_sample_kurtosis),
    _aggregate("population_kurtosis(any)", statistics_of_duckdb.PopulationKurtosis, expand=_population_kurtosis),
    _aggregate("standard_error(any)", statistics_of_duckdb.StandardError, expand=_standard_error),
    _aggregate("geometric_mean(any)", statistics_of_duckdb.GeometricMean, expand=_geometric_mean),
    _aggregate("product(double): double", statistics_of_duckdb.Product),
    _aggregate("entropy(any): double", statistics_of_duckdb.Entropy, expand=_entropy, unordered=_ANY),
    _aggregate("frequencies(any)", statistics_of_duckdb.Frequencies, rule=_counts_of_values),
    *(_aggregate(f"{name}{_PAIR}", node) for name, node in (
        ("corr", exp.Corr), ("covar_samp", exp.CovarSamp), ("covar_pop", exp.CovarPop), ("regr_slope", exp.RegrSlope),
        ("regr_intercept", exp.RegrIntercept), ("regr_r2", exp.RegrR2), ("regr_avgx", exp.RegrAvgx),
        ("regr_avgy", exp.RegrAvgy), ("regr_sxx", exp.RegrSxx), ("regr_syy", exp.RegrSyy), ("regr_sxy", exp.RegrSxy))),
    _aggregate("correlation(any, any)", statistics_of_duckdb.Correlation, expand=partial(_or_nan, "corr")),
    _aggregate("slope(any, any)", statistics_of_duckdb.Slope, expand=partial(_or_nan, "regr_slope")),
    _aggregate("intercept(any, any)", statistics_of_duckdb.Intercept, expand=_intercept),
    _aggregate("regr_count(any, any)", exp.RegrCount, expand=_as("count", 2)),
    _aggregate("listagg(any...)", exp.GroupConcat, rule=_listed, distinct=True),
    _aggregate("array_agg(any)", exp.ArrayAgg, exp.ArrayUniqueAgg, rule=_collected, distinct=True, unordered=_ANY),
    # The first elements of that array.
    _aggregate("array_agg_limit(integer, any)", rule=_collected_first, distinct=True, unordered=_ANY),
)}  # fmt: skip
"""Built-in aggregates by name."""
