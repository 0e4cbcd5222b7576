"""Statistics of lists in duckdb, of which HISTOGRAM(x), MAD(x), SKEWNESS(x) … are those of the list of a group.

LIST_MEDIAN(n)   LIST_MAD(n)   LIST_ENTROPY(n)   LIST_HISTOGRAM(n)   LIST_MODE(n)   LIST_AGGREGATE(n, 'sum')
LIST_PRODUCT(n)   LIST_STDDEV_SAMP(n)   LIST_SEM(n)   LIST_SKEWNESS(n)   LIST_BIT_OR(n)   LIST_BOOL_AND(n) …

Moments are exact, so that the order of the values does not matter, but for the last digits of a product.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial, reduce
from operator import and_, or_, xor
from typing import Any

from sqlglot import exp

from workbench.sql.algebra.coercion import TypeClash
from workbench.sql.algebra.expressions import Constant, Expression
from workbench.sql.algebra.types import DOUBLE, INTEGER, STRING, Kind, array_of
from workbench.sql.functions.arrays.arrays import element_of
from workbench.sql.functions.arrays.maps import of_arrays
from workbench.sql.functions.arrays.postgres import spelled
from workbench.sql.functions.calls import call
from workbench.sql.functions.declaration import function
from workbench.sql.functions.reading import ExpressionBinder, reads_call
from workbench.sql.syntax.dialects import ONLY_DUCKDB

_NUMBERS = frozenset({Kind.INTEGER, Kind.DOUBLE})
BindList = Callable[[ExpressionBinder, Expression, exp.Expr], Expression]
"""Binds a function of a list, from the list and the node of the call."""


def _middle(values: Sequence[float]) -> float | None:
    """The median, between two values that are nearest to the middle; NaN is the largest."""
    ordered = sorted((value for value in values if value is not None), key=lambda value: (value != value, value))
    if not ordered:
        return None
    half, odd = divmod(len(ordered) - 1, 2)
    low = ordered[half]
    return low * 0.5 + ordered[half + 1] * 0.5 if odd else low


def _deviation(values: Sequence[float]) -> float | None:
    """The median of the distances of values from their median."""
    middle = _middle(values)
    return None if middle is None else _middle([abs(value - middle) for value in values if value is not None])


def _runs(values: Sequence[Any]) -> list[int]:
    """How often each value occurs, in the order of the values, without NULL; NaN is the largest."""
    counts = Counter("NaN" if value != value else value for value in values if value is not None)
    nan = [counts.pop("NaN")] if any(value != value for value in values) else []
    return [*(counts[value] for value in sorted(counts)), *nan]


def _entropy(values: Sequence[Any]) -> float:
    """The entropy of the values that are no NULL, in bits."""
    counts = _runs(values)
    total = sum(counts)
    return math.fsum(count / total * math.log2(total / count) for count in counts)


def _moment(values: Sequence[float | None], power: int) -> tuple[int, Fraction]:
    """The number of values, and the mean of a power of their distances from the mean.

    Raises:
        ValueError: a value is NaN.
        ArithmeticError: one is infinite.
    """
    exact = [Fraction(value) for value in values if value is not None]
    mean = sum(exact, Fraction()) / (len(exact) or 1)
    return len(exact), sum(((value - mean) ** power for value in exact), Fraction()) / (len(exact) or 1)


def _of_moments(of: Callable[[Sequence[float | None]], float | None]) -> Callable[[Sequence[float | None]], Any]:
    """NULL where a value is NaN or infinite, or the result beyond a DOUBLE: DuckDB has an error."""

    def compute(values: Sequence[float | None]) -> float | None:
        try:
            return of(values)
        except (ValueError, ArithmeticError):
            return None

    return compute


def _variance(values: Sequence[float | None], samples: bool) -> float | None:
    count, squares = _moment(values, 2)
    return float(squares * count / (count - samples)) if count > samples else None


def _root(value: float | None) -> float | None:
    return None if value is None else math.sqrt(value)


def _error_of_mean(values: Sequence[float | None]) -> float | None:
    """The standard error of the mean: the deviation divided by the root of the number of values."""
    count, squares = _moment(values, 2)
    return math.sqrt(squares / count) if count else None


def _skewness(values: Sequence[float | None]) -> float | None:
    """The third moment in units of the deviation, of samples."""
    (count, squares), (_, cubes) = _moment(values, 2), _moment(values, 3)
    if count <= 2 or not squares:
        return None
    return math.sqrt(count * (count - 1)) / (count - 2) * float(cubes) / float(squares) ** 1.5


def _kurtosis(values: Sequence[float | None], samples: bool) -> float | None:
    """The fourth moment in units of the deviation, beyond that of a normal distribution."""
    (count, squares), (_, fourth) = _moment(values, 2), _moment(values, 4)
    if count <= (3 if samples else 1) or not squares:
        return None
    ratio = fourth / squares**2
    if not samples:
        return float(ratio - 3)
    return float((count - 1) * ((count + 1) * ratio - 3 * (count - 1)) / ((count - 2) * (count - 3)))


def _product(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return math.prod(sorted(known)) if known else None


def _geometric_mean(values: Sequence[float | None]) -> float | None:
    """NULL where a value is 0 or below: it has no logarithm."""
    known = [value for value in values if value is not None]
    if not known or any(value <= 0 for value in known):
        return None
    return math.exp(math.fsum(map(math.log, known)) / len(known))


def _folded(of: Callable[[Any, Any], Any]) -> Callable[[Sequence[Any]], Any]:
    """Combine all values that are not NULL by a function of two; NULL where there are none."""

    def compute(values: Sequence[Any]) -> Any:
        known = [value for value in values if value is not None]
        return reduce(of, known) if known else None

    return compute


def _sorted(array: Expression) -> Expression:
    return call("array_sort", call("array_compact", array))


def _of_numbers(name: str, *kinds: Kind) -> BindList:
    def bind(b: ExpressionBinder, array: Expression, node: exp.Expr) -> Expression:
        if element_of(array).kind not in {*_NUMBERS, *kinds}:
            what = f"{b.called(node)} of {element_of(array)}"
            b.source.refuse(what, node, "CAST the values AS DOUBLE: a DECIMAL is cut there, and times differ")
        as_doubles = array
        if element_of(array) != DOUBLE:
            as_doubles = call("transform", array, _cast_of(b, array))
        return call(name, as_doubles)

    return bind


def _cast_of(b: ExpressionBinder, array: Expression) -> Expression:
    x = exp.to_identifier("x")
    body = exp.Lambda(this=exp.cast(x, exp.DType.DOUBLE), expressions=[x.copy()])
    return b.function_body(body, element_of(array))


def _where_some(array: Expression, value: Expression) -> Expression:
    """A value, NULL of no elements that are no NULL."""
    some = call(">", call("array_size", call("array_compact", array)), Constant(0, INTEGER))
    return call("case", some, value, Constant(None, value.type))


def _histogram(b: ExpressionBinder, array: Expression, node: exp.Expr) -> Expression:
    """The counts of the values, by the values in their order."""
    ordered = _sorted(array)
    # Not of Python: Spark has no such function in a lambda, by which maps are made.
    counts = spelled(b, "TRANSFORM(ARRAY_DISTINCT(n), k -> SIZE(FILTER(n, e -> e = k)))", n=ordered)
    return _where_some(array, of_arrays(b, call("array_distinct", ordered), counts, node))


def _entropy_of(b: ExpressionBinder, array: Expression, node: exp.Expr) -> Expression:
    return call("list_entropy", array)


def _mode(b: ExpressionBinder, array: Expression, node: exp.Expr) -> Expression:
    """The most frequent value; of several the smallest, as MODE takes it."""
    counts, values = call("run_lengths", array), call("array_distinct", _sorted(array))
    return call("element_at", values, call("array_position", counts, call("array_max", counts)))


def _of_type(name: str, kind: Kind) -> BindList:
    """The binder of a statistic over lists of one type."""

    def bind(b: ExpressionBinder, array: Expression, node: exp.Expr) -> Expression:
        if element_of(array).kind is not kind:
            raise TypeClash(f"{b.called(node)} of {element_of(array)}", array, f"a list of {kind.value} is needed")
        return call(name, array)

    return bind


def _joined(b: ExpressionBinder, array: Expression, node: exp.Expr) -> Expression:
    """The texts behind each other, NULL of none."""
    if element_of(array) != STRING:
        b.source.refuse(f"{b.called(node)} of {element_of(array)}", node, "CAST the values AS VARCHAR")
    return _where_some(array, call("array_join", array, Constant(",", STRING)))


def _distinct(b: ExpressionBinder, array: Expression, node: exp.Expr) -> Expression:
    """How many values there are, exactly: LIST_APPROX_COUNT_DISTINCT."""
    return call("array_size", call("array_distinct", call("array_compact", array)))


_EXACT = ("stddev_pop", "stddev_samp", "var_pop", "var_samp", "sem", "skewness", "kurtosis", "kurtosis_pop")
_OF_LISTS: dict[str, BindList] = {
    **{f"list_{name}": _of_numbers(f"list_{name}", Kind.DECIMAL) for name in (*_EXACT, "product", "geomean")},
    **{f"list_bit_{name}": _of_type(f"list_bit_{name}", Kind.INTEGER) for name in ("and", "or", "xor")},
    **{f"list_bool_{name}": _of_type(f"list_bool_{name}", Kind.BOOLEAN) for name in ("and", "or")},
    "list_geometric_mean": _of_numbers("list_geomean", Kind.DECIMAL),
    "list_string_agg": _joined,
    "list_approx_count_distinct": _distinct,
    "list_median": _of_numbers("list_median"),
    "list_mad": _of_numbers("list_mad"),
    "list_entropy": _entropy_of,
    "list_histogram": _histogram,
    "list_mode": _mode,
}
_AGGREGATED = {
    **{name: f"list_{name}" for name in ("sum", "avg", "count", "first", "last", "any_value")},
    **{name.removeprefix("list_"): name for name in _OF_LISTS},
    **{name: f"list_{name}" for name in ("min", "max")},
}
"""What LIST_AGGREGATE computes -> the function of a list."""


@reads_call(*_OF_LISTS, dialects=ONLY_DUCKDB)
def of_list(b: ExpressionBinder, node: exp.Anonymous) -> Expression:
    """LIST_MEDIAN(n) and its like: NULLs do not count."""
    if len(node.expressions) != 1:
        raise TypeClash(f"{node.name.upper()} takes 1 argument, not {len(node.expressions)}")
    array = b.bind(node.expressions[0])
    if array.type.kind is Kind.ARRAY and not element_of(array).ordered:
        raise TypeClash(f"{node.name.upper()} of {element_of(array)}, which has no order", array)
    if array.type.kind is not Kind.ARRAY:
        raise TypeClash(f"a list is needed, not {array.type}", array, f"as in {node.name.upper()}(LIST(x))")
    return _OF_LISTS[node.name.lower()](b, array, node)


@reads_call("list_aggregate", "list_aggr", "array_aggregate", "array_aggr", "aggregate", dialects=ONLY_DUCKDB)
def aggregated(b: ExpressionBinder, node: exp.Anonymous) -> Expression:
    """LIST_AGGREGATE(n, 'sum'), which is LIST_SUM(n)."""
    name = node.expressions[1] if len(node.expressions) > 1 else None
    if len(node.expressions) == 3 and name is not None and name.name.lower() == "string_agg":
        array = b.bind(node.expressions[0])
        return _where_some(array, call("array_join", array, b.bind(node.expressions[2])))
    known = _AGGREGATED.get(name.name.lower()) if isinstance(name, exp.Literal) and name.is_string else None
    if known is None or len(node.expressions) != 2:
        b.source.refuse("LIST_AGGREGATE of this", node, f"the second argument is one of {', '.join(_AGGREGATED)}")
    called = exp.Anonymous(this=known, expressions=[node.expressions[0].copy()])
    called.meta.update(node.meta)
    if known in ("list_min", "list_max"):
        return call(f"array_{known.removeprefix('list_')}", b.bind(node.expressions[0]))
    return b.bind(called)


DECLARED = [
    function("run_lengths(array)", rule=lambda arguments: (arguments, array_of(INTEGER)), returns=array_of(INTEGER),
             python=_runs),
    function("list_entropy(array)", rule=lambda arguments: (arguments, DOUBLE), returns=DOUBLE, python=_entropy),
    *(function(f"list_{name}(array<double>): double", python=python) for name, python in (
        ("product", _product), ("geomean", _geometric_mean), ("sem", _of_moments(_error_of_mean)),
        ("skewness", _of_moments(_skewness)), ("kurtosis", _of_moments(partial(_kurtosis, samples=True))),
        ("kurtosis_pop", _of_moments(partial(_kurtosis, samples=False))),
        ("var_pop", _of_moments(partial(_variance, samples=False))),
        ("var_samp", _of_moments(partial(_variance, samples=True))),
        ("stddev_pop", _of_moments(lambda values: _root(_variance(values, False)))),
        ("stddev_samp", _of_moments(lambda values: _root(_variance(values, True)))),
    )),
    *(function(f"list_bit_{name}(array<integer>): integer", python=_folded(of))
      for name, of in (("and", and_), ("or", or_), ("xor", xor))),
    *(function(f"list_bool_{name}(array<boolean>): boolean", python=_folded(of))
      for name, of in (("and", and_), ("or", or_))),
    function("list_median(array<double>): double", python=_middle),
    function("list_mad(array<double>): double", python=_deviation),
]  # fmt: skip
