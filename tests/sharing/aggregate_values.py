"""Groups of rows and their statistics, in plain Python."""

from __future__ import annotations

import math
import operator
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from functools import reduce
from statistics import median
from typing import Any

from sharing import scalars
from sharing.expression_values import Sides, compiled
from sharing.scalars import compared, plain

from workbench.sql.algebra.expressions import AggregateCall, Expression, Value


def grouped(
    rows: Sequence[Sides], groups: Sequence[Expression], statistics: Sequence[AggregateCall]
) -> list[tuple[Value, ...]]:
    """For each group its values and its statistics; without groups one row in any case."""
    found: dict[tuple[Value, ...], list[Sides]] = {} if groups else {(): []}
    for row in rows:
        found.setdefault(tuple(plain(compiled(g)(row)) for g in groups), []).append(row)
    return [(*key, *(statistic_of(s, members) for s in statistics)) for key, members in found.items()]


def statistic_of(statistic: AggregateCall, rows: Sequence[Sides]) -> Value:
    """A statistic of the rows of one group."""
    if not statistic.arguments:
        return len(rows)
    values: list[Any] = [v for row in rows if (v := plain(compiled(statistic.arguments[0])(row))) is not None]
    if statistic.distinct:
        values = list(dict.fromkeys(values))
    match statistic.function:
        case "count":
            return len(values)
        case "total":
            return sum(values)
    if not values:
        return None
    match statistic.function:
        case "sum":
            return scalars.total(values, statistic.type)
        case "exact_sum":
            return _exact(values)
        case "exact_total":
            return _exact([part for value in values for part in _parts(value)])
        case "rounded_total":
            return scalars.total([part for value in values for part in _parts(value)], statistic.type)
        case "min":
            return reduce(lambda a, b: b if compared(b, a) < 0 else a, values)
        case "max":
            return reduce(lambda a, b: b if compared(b, a) > 0 else a, values)
        case "bit_and" | "bit_or" | "bit_xor" as bits:
            return reduce({"bit_and": operator.and_, "bit_or": operator.or_, "bit_xor": operator.xor}[bits], values)
        case "median":
            return plain(median(sorted(map(float, values), key=lambda v: (v != v, v))))
        case "mode":
            most = max(Counter(values).values())
            return reduce(
                lambda a, b: b if compared(b, a) < 0 else a, [v for v, n in Counter(values).items() if n == most]
            )
        case "var_pop" | "var_samp" | "stddev_pop" | "stddev_samp" as spread:
            return _spread(values, sample=spread.endswith("samp"), root=spread.startswith("stddev"))
    raise AssertionError(f"not evaluated here: {statistic.function}")


def _exact(values: Sequence[Any]) -> str:
    """A sum of DOUBLE without rounding, as a text of a fraction and of what is no number."""
    special = sorted({str(v) for v in values if not math.isfinite(v)})
    return " ".join([str(sum(Fraction(v) for v in values if math.isfinite(v))), *special])


def _parts(exact: str) -> list[Any]:
    """The numbers of which there is such a sum."""
    number, *special = exact.split()
    return [Fraction(number), *map(float, special)]


def _spread(values: Sequence[Any], sample: bool, root: bool) -> Value:
    """A variance or its root, exact until the end, so that the order of the values does not count."""
    if len(values) <= sample:
        return None
    if not all(map(math.isfinite, values)):
        return math.nan
    exact = list(map(Fraction, values))
    middle = sum(exact) / len(exact)
    variance = sum((value - middle) ** 2 for value in exact) / (len(exact) - sample)
    try:
        return math.sqrt(variance) if root else float(variance)
    except OverflowError:
        return math.inf
