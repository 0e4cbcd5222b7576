"""Aggregates that need the values of a group: which arguments they take, and the type of what they give.

Each is defined to depend on the bag of rows alone, never on their order: of rows with equal keys MIN_BY takes the
smallest value, NULL first, and MAX_BY the largest; of equally frequent values MODE takes the smallest; in lists the
values of equal keys stand in their own order.
"""

from __future__ import annotations

from collections.abc import Callable

from workbench.sql.algebra.coercion import TypeClash, as_string, coerce
from workbench.sql.algebra.expressions import AggregateCall, Expression
from workbench.sql.algebra.types import DOUBLE, INTEGER, STRING, array_of

_Arguments = tuple[Expression, ...]


def _of_doubles(name: str, count: int) -> Callable[[_Arguments], AggregateCall]:
    def build(arguments: _Arguments) -> AggregateCall:
        _count(name, count, arguments)
        return AggregateCall(name, tuple(coerce(a, DOUBLE) for a in arguments), DOUBLE)

    return build


def _of_integers(name: str) -> Callable[[_Arguments], AggregateCall]:
    def build(arguments: _Arguments) -> AggregateCall:
        _count(name, 1, arguments)
        return AggregateCall(name, (coerce(arguments[0], INTEGER),), INTEGER)

    return build


def _of_first(name: str) -> Callable[[_Arguments], AggregateCall]:
    """Aggregates that give one of the values of their first argument."""

    def build(arguments: _Arguments) -> AggregateCall:
        _count(name, 2, arguments)
        return AggregateCall(name, arguments, arguments[0].type)

    return build


def _of_texts(name: str) -> Callable[[_Arguments], AggregateCall]:
    """A text, what stands between two of them, and what they are ordered by."""

    def build(arguments: _Arguments) -> AggregateCall:
        value, separator, *order = arguments
        return AggregateCall(name, (as_string(value), coerce(separator, STRING), *order), STRING)

    return build


def _of_kept(name: str) -> Callable[[_Arguments], AggregateCall]:
    """Whether a row counts, its value, and what values are ordered by before their own order."""

    def build(arguments: _Arguments) -> AggregateCall:
        _, value, *_ = arguments
        return AggregateCall(name, arguments, array_of(value.type))

    return build


def _count(name: str, needed: int, arguments: _Arguments) -> None:
    if len(arguments) != needed:
        raise TypeClash(f"{name.upper()} takes {needed} argument{'s' * (needed > 1)}, not {len(arguments)}")


_PAIRS = ("corr", "covar_samp", "covar_pop", "regr_slope", "regr_intercept", "regr_r2", "regr_avgx", "regr_avgy",
          "regr_sxx", "regr_syy", "regr_sxy")  # fmt: skip

HOLISTIC_CALLS: dict[str, Callable[[_Arguments], AggregateCall]] = {
    **{name: _of_doubles(name, 2) for name in _PAIRS},
    **{name: _of_doubles(name, 1) for name in ("skewness", "kurtosis")},
    **{name: _of_integers(name) for name in ("bit_and", "bit_or", "bit_xor")},
    **{name: _of_first(name) for name in ("min_by", "max_by", "percentile_disc", "percentile_disc_desc")},
    **{name: _of_texts(name) for name in ("listagg", "listagg_desc")},
    **{name: _of_kept(name) for name in ("array_agg", "array_agg_desc")},
}
"""Aggregate -> what makes its call; those with ``_desc`` differ in the direction of their order."""
