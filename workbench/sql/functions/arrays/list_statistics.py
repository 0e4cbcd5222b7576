"""Statistics of lists in duckdb, of which HISTOGRAM(x), MAD(x) and ENTROPY(x) are those of the list of a group.

LIST_MEDIAN(n)   LIST_MAD(n)   LIST_ENTROPY(n)   LIST_HISTOGRAM(n)   LIST_MODE(n)   LIST_AGGREGATE(n, 'sum')
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from sqlglot import exp

from workbench.sql.algebra.coercion import TypeClash
from workbench.sql.algebra.expressions import Constant, Expression
from workbench.sql.algebra.types import DOUBLE, INTEGER, Kind, array_of
from workbench.sql.functions.arrays.arrays import element_of
from workbench.sql.functions.arrays.maps import of_arrays
from workbench.sql.functions.arrays.postgres import spelled
from workbench.sql.functions.calls import call
from workbench.sql.functions.declaration import function
from workbench.sql.functions.reading import ExpressionBinder, reads_call
from workbench.sql.syntax.dialects import ONLY_DUCKDB

_NUMBERS = frozenset({Kind.INTEGER, Kind.DOUBLE})


def _middle(values: Sequence[float]) -> float | None:
    """The median, between two values that are nearest to the middle; NaN is the largest."""
    ordered = sorted((value for value in values if value is not None), key=lambda value: (value != value, value))
    if not ordered:
        return None
    half, odd = divmod(len(ordered) - 1, 2)
    low = ordered[half]
    return low + (ordered[half + 1] - low) * 0.5 if odd else low


def _deviation(values: Sequence[float]) -> float | None:
    """The median of what values are away from their median."""
    middle = _middle(values)
    return None if middle is None else _middle([abs(value - middle) for value in values if value is not None])


def _runs(values: Sequence[Any]) -> list[int]:
    """How often each value that is no NULL stands there, in the order of the values; NaN is the largest."""
    counts = Counter("NaN" if value != value else value for value in values if value is not None)
    nan = [counts.pop("NaN")] if any(value != value for value in values) else []
    return [*(counts[value] for value in sorted(counts)), *nan]


def _entropy(values: Sequence[Any]) -> float:
    """The entropy of the values that are no NULL, in bits."""
    counts = _runs(values)
    total = sum(counts)
    return math.fsum(count / total * math.log2(total / count) for count in counts)


def _sorted(array: Expression) -> Expression:
    return call("array_sort", call("array_compact", array))


def _of_numbers(name: str) -> Callable[[ExpressionBinder, Expression, exp.Expr], Expression]:
    def bind(b: ExpressionBinder, array: Expression, node: exp.Expr) -> Expression:
        if element_of(array).kind not in _NUMBERS:
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


_OF_LISTS = {
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
    name = node.expressions[1] if len(node.expressions) == 2 else None
    known = _AGGREGATED.get(name.name.lower()) if isinstance(name, exp.Literal) and name.is_string else None
    if known is None:
        b.source.refuse("LIST_AGGREGATE of this", node, f"the second argument is one of {', '.join(_AGGREGATED)}")
    called = exp.Anonymous(this=known, expressions=[node.expressions[0].copy()])
    called.meta.update(node.meta)
    if known in ("list_min", "list_max"):
        return call(f"array_{known.removeprefix('list_')}", b.bind(node.expressions[0]))
    return b.bind(called)


DECLARED = [
    function("run_lengths(array)", rule=lambda arguments: (arguments, array_of(INTEGER)), returns=array_of(INTEGER),
             python=_runs, inner=True),
    function("list_entropy(array)", rule=lambda arguments: (arguments, DOUBLE), returns=DOUBLE, python=_entropy,
             inner=True),
    function("list_median(array<double>): double", python=_middle, inner=True),
    function("list_mad(array<double>): double", python=_deviation, inner=True),
]  # fmt: skip
