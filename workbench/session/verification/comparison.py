"""Answers compared as bags: NULL is not NaN, equal rows count, and binary numbers may differ in the last bits."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
import pyarrow as pa

from workbench.arrow.stored_values import as_python

_Row = tuple[Any, ...]
SHOWN = 20
"""Differing rows that are shown, of each side."""
RELATIVE = 1e-9
"""How much two binary numbers may differ that are the same but for the order of additions, by the larger of them."""
ABSOLUTE = 1e-12
"""The same, by the largest number of the column: what is left where sums cancel out."""


@dataclass(frozen=True)
class Difference:
    """The difference of two bags of rows.

    Attributes:
        missing, unexpected: the rows that only the one and only the other has, with how often.
        rounded: how many rows are equal to 9 digits alone.
    """

    missing: Counter[_Row]
    unexpected: Counter[_Row]
    rounded: int

    def __bool__(self) -> bool:
        return bool(self.missing or self.unexpected)

    def frame(self, names: Sequence[str], by: str) -> pd.DataFrame:
        """The first differing rows, similar ones next to each other; the column ``side`` says which side has them.

        Args:
            names: of the columns.
            by: what the kept rows are compared with.
        """
        rows = [(by, *row) for row in [*self.missing.elements()][:SHOWN]]
        rows += [("kept", *row) for row in [*self.unexpected.elements()][:SHOWN]]
        rows.sort(key=lambda row: (repr(row[1:2]), row[0] == "kept"))
        frame = pd.DataFrame(rows, columns=range(1 + len(names)), dtype=object)
        frame.columns = pd.Index(["side", *names], dtype=object)
        return frame


def bag_difference(right: pa.Table, kept: pa.Table) -> Difference:
    """The rows that the kept rows lack, or have too many, compared with the right ones; both have the same types.

    Example:
        >>> found = bag_difference(pa.table({"n": [1, 2, 2]}), pa.table({"n": [1, 2, None]}))
        >>> found.missing, found.unexpected
        (Counter({(2,): 1}), Counter({(None,): 1}))
    """
    expected, found = Counter(_rows(right)), Counter(_rows(kept))
    return _difference(expected, found, _inexact(kept), _largest(expected, _inexact(kept)))


def is_between(found: Difference, low: pa.Table, high: pa.Table) -> bool:
    """Whether the differing rows are those that change where sums are shifted: each is in one of two answers alone.

    Args:
        found: the differing rows.
        low, high: the answers with the smaller and with the larger sums, of the types that were compared.
    """
    jumps, inexact = bag_difference(low, high), _inexact(low)
    jumping = jumps.missing + jumps.unexpected
    largest = _largest(jumping, inexact)
    return not any(_difference(rows, jumping, inexact, largest).missing for rows in (found.missing, found.unexpected))


def _inexact(rows: pa.Table) -> list[int]:
    """The places of columns whose values may differ in the last bits."""
    return [i for i, column in enumerate(rows.columns) if pa.types.is_float64(column.type)]


def _largest(rows: Counter[_Row], inexact: Sequence[int]) -> dict[int, float]:
    return {i: max((abs(row[i]) for row in rows if _is_finite(row[i])), default=0.0) for i in inexact}


def _difference(
    expected: Counter[_Row], found: Counter[_Row], inexact: Sequence[int], largest: Mapping[int, float]
) -> Difference:
    missing, unexpected = expected - found, found - expected
    if not inexact or not missing or not unexpected:
        return Difference(missing, unexpected, 0)
    near: dict[object, list[_Row]] = defaultdict(list)
    for row in unexpected:
        near[_exact_part(row, inexact)].append(row)
    rounded = 0
    for row in [*missing]:
        for other in near[_exact_part(row, inexact)]:
            if all(_close(row[i], other[i], largest[i]) for i in inexact):
                paired = min(missing[row], unexpected[other])
                missing[row], unexpected[other], rounded = (
                    missing[row] - paired,
                    unexpected[other] - paired,
                    rounded + paired,
                )
    return Difference(+missing, +unexpected, rounded)


_NAN = float("nan")


def _rows(table: pa.Table) -> list[_Row]:
    """Rows as values that are equal where the rows are: with one NaN, one 0.0, and nested values as texts."""
    return [*zip(*map(_values, table.columns), strict=True)]


def _values(column: pa.ChunkedArray) -> list[Any]:
    type_ = column.type
    if pa.types.is_float64(type_):
        return [_NAN if value is not None and math.isnan(value) else value for value in column.to_pylist()]
    if pa.types.is_nested(type_):
        return [None if value is None else repr(_with_one_zero(value)) for value in as_python(column)]
    return as_python(column) if pa.types.is_temporal(type_) else column.to_pylist()


def _with_one_zero(value: Any) -> Any:
    """A value with parts, in which -0.0 is 0.0."""
    match value:
        case float():
            return value + 0.0
        case list():
            return [*map(_with_one_zero, value)]
        case dict():
            return {key: _with_one_zero(part) for key, part in value.items()}
    return value


def _exact_part(row: _Row, inexact: Sequence[int]) -> _Row:
    return tuple(value for i, value in enumerate(row) if i not in inexact)


def _is_finite(value: float | None) -> bool:
    return value is not None and math.isfinite(value)


def _close(a: float | None, b: float | None, largest: float) -> bool:
    if a is None or b is None or math.isnan(a) or math.isnan(b):
        return a is b
    return math.isclose(a, b, rel_tol=RELATIVE, abs_tol=ABSOLUTE * largest)
