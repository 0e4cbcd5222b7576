"""Aggregates that DuckDB computes otherwise than Spark, as expressions over statistics."""

from __future__ import annotations

from sqlglot import exp

from workbench.errors import with_article
from workbench.sql.algebra.coercion import as_string, coerce
from workbench.sql.algebra.expressions import Call, Constant, Expression
from workbench.sql.algebra.types import BOOLEAN, DOUBLE, INTEGER, MAX_PRECISION, STRING, TIMESTAMP, Kind, decimal
from workbench.sql.functions import aggregates
from workbench.sql.functions.calls import call, cast, instant_of_micros
from workbench.sql.syntax.source_text import SourceText

TIMES = (Kind.DATE, Kind.TIMESTAMP)
INTERPOLATED = (Kind.DECIMAL, *TIMES)
"""The kinds of values of which the median is one, too; that of a DATE is a TIMESTAMP."""
_HALF = Constant(aggregates.HALF, decimal(2, 1))


def average_of_duckdb(value: Expression, distinct: bool, keep: aggregates.Keep) -> Expression:
    """AVG of exact numbers, or of dates and times.

    Args:
        value: what is averaged.
        distinct: whether each value counts once.
        keep: takes every basic statistic needed.
    """
    if value.type.kind not in TIMES:
        return _average_of_digits(aggregates.expand("avg", (value,), distinct, keep))
    time = _as_time(value)
    mean = aggregates.expand("avg", (call("unix_micros", time),), distinct, keep)
    assert isinstance(mean, Call)
    micros = _rounded_quotient(*mean.arguments)
    return instant_of_micros(micros) if time.type.zoned else call("timestamp_micros", micros)


def _rounded_quotient(total: Expression, count: Expression) -> Expression:
    """The quotient of whole numbers as DuckDB rounds it: below zero towards zero, above to the nearest, halves down."""
    rest = call("%", total, count)
    whole = cast(call("/", call("-", total, rest), count), INTEGER)
    one, zero = Constant(1, INTEGER), Constant(0, INTEGER)
    return call("+", whole, call("case", call(">", call("+", rest, rest), count), one, zero))


def _average_of_digits(mean: Expression) -> Expression:
    """The sum of the digits by their number and scale, as DOUBLE."""
    assert isinstance(mean, Call)
    total, count = mean.arguments
    scale = total.type.scale
    divisor = cast(count, DOUBLE)
    if not scale:
        return call("/", cast(total, DOUBLE), divisor)
    if total.type.precision + scale <= MAX_PRECISION:
        digits = call("*", total, Constant(10**scale, INTEGER))
    else:  # the product might have more than 38; there DuckDB rounds twice
        point, nothing = Constant(".", STRING), Constant("", STRING)
        digits = cast(call("replace", as_string(total), point, nothing), decimal(MAX_PRECISION, 0))
    return call("/", cast(digits, DOUBLE), call("*", divisor, Constant(float(10**scale), DOUBLE)))


def quantile(
    name: str, arguments: tuple[Expression, ...], node: exp.Expr, keep: aggregates.Keep, source: SourceText
) -> Expression:
    """MEDIAN and QUANTILE_CONT of values of the kinds ``INTERPOLATED``.

    Args:
        name: ``median``, ``percentile`` or ``mad``.
        arguments: the values, and the share.
        node: the call, for errors.
        keep: takes every basic statistic needed.
        source: the text.

    Raises:
        UnsupportedError: MAD, and a share of the values in descending order.
    """
    value, *share = arguments
    kind = with_article(str(value.type.kind).upper())
    if name == "mad":
        cast_it = "duckdb cuts its digits off: CAST it AS DOUBLE"
        source.refuse(f"MAD of {kind}", node, cast_it if value.type.kind is Kind.DECIMAL else "MAD(EPOCH(x)) has one")
    if isinstance(node, exp.WithinGroup) and node.expression.expressions[0].args.get("desc"):
        source.refuse(f"a descending order of {kind}", node, "order it ascending, by 1 minus the share")
    return aggregates.expand("quantile_cont", (_as_time(value), *(share or [_HALF])), False, keep)


def _as_time(value: Expression) -> Expression:
    return cast(value, TIMESTAMP) if value.type.kind is Kind.DATE else value


def count_if(test: Expression, keep: aggregates.Keep) -> Expression:
    """COUNT_IF, a sum, which is NULL where every test is NULL and over no rows."""
    known = coerce(test, BOOLEAN)
    one, zero = Constant(1, INTEGER), Constant(0, INTEGER)
    counted = call("case", known, one, call("not", known), zero, Constant(None, INTEGER))
    return cast(aggregates.expand("sum", (counted,), False, keep), INTEGER)
