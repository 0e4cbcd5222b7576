"""Variances of exact numbers from stored counts, sums and sums of squares: with Spark's bits, without Spark.

What ``functions/variances`` writes as SQL is computed here with whole numbers of any size; where a decimal of Spark has
no room for a number, it is NULL here too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from workbench.engine.physical.stored.calls import RowValue
from workbench.engine.physical.stored.conditions import ValueReader
from workbench.engine.physical.stored.unscaled import large_integers
from workbench.sql.algebra.expressions import Call, Expression
from workbench.sql.algebra.types import MAX_PRECISION, Kind

_FUNCTIONS = {
    "variance_samp": (True, False),
    "variance_pop": (False, False),
    "stddev_samp": (True, True),
    "stddev_pop": (False, True),
}
_COUNT, _SUM, _SQUARES = 10**11, 10**18, 10**25
"""From here on the plain form has no room for the count, the sum, or the sum of squares."""
_MOST, _QUOTIENT = 10**MAX_PRECISION, 10 ** (MAX_PRECISION - 6)
"""From here on there is no decimal, and no quotient of decimals, which has six digits behind the point."""


@dataclass(frozen=True)
class Variance:
    """A variance, or its root.

    Attributes:
        count, total, squares: of the numbers; there are twice as many digits behind the point of the squares.
        samples: whether it is that of a sample.
        root: whether it is the standard deviation.
        scale: digits behind the point of the sum of squares.
    """

    count: RowValue
    total: RowValue
    squares: RowValue
    samples: bool
    root: bool
    scale: int

    def values(self, rows: pa.RecordBatch) -> pa.Array:
        """A DOUBLE for each row; NULL where the count, or the count of a sample beside the first, is 0."""
        columns = [part.values(rows) for part in (self.count, self.total, self.squares)]
        known = np.logical_and.reduce([np.asarray(column.is_valid()) for column in columns])
        parts = zip(*(large_integers(column).tolist() for column in columns), known.tolist(), strict=True)
        found = pa.array((self._variance(n, s, q) if all_known else None for n, s, q, all_known in parts), pa.float64())
        if not self.root:
            return found
        with np.errstate(invalid="ignore"):
            return pa.array(
                np.sqrt(found.fill_null(0.0).to_numpy(zero_copy_only=False)), mask=np.asarray(found.is_null())
            )

    def _variance(self, n: int, s: int, q: int) -> float | None:
        divisor = float(n) * float(n - 1 if self.samples else n)
        if n < _COUNT and abs(s) < _SUM and abs(q) < _SQUARES:
            apart: float | None = (n * q - s * s) / 10**self.scale
        else:
            apart = _shifted(n, s, q, self.scale)
        return apart / divisor if divisor and apart is not None else None


def stored_variance(expression: Expression, part: ValueReader) -> Variance | None:
    """An expression as a variance, if it is that, of numbers whose digits tell those of their squares."""
    if not isinstance(expression, Call) or expression.function not in _FUNCTIONS:
        return None
    count, total, squares = expression.arguments
    values = part(count), part(total), part(squares)
    plain = count.type.kind is Kind.INTEGER and total.type.kind is squares.type.kind is Kind.DECIMAL
    if not plain or squares.type.scale != 2 * total.type.scale:
        return None
    if values[0] is None or values[1] is None or values[2] is None:
        return None
    return Variance(values[0], values[1], values[2], *_FUNCTIONS[expression.function], squares.type.scale)


def _shifted(n: int, s: int, q: int, scale: int) -> float | None:
    """n*q - s*s, by squares of what the numbers are above a whole number near their mean."""
    if not n:
        return None
    rest = abs(s) % n * (1 if s >= 0 else -1)
    mean = _fitting((s - rest) // n, _QUOTIENT)
    both = _fitting(s + rest)
    product = None if mean is None or both is None else _fitting(mean * both)
    apart = None if product is None else _fitting(q - product)
    if apart is None:
        return None
    products = _fitting(n * apart), _fitting(rest * rest)
    exact = None if products[0] is None or products[1] is None else _fitting(products[0] - products[1])
    wide = float(n) * float(apart) - float(rest) * float(rest) if exact is None else float(exact)
    return wide / float(10**scale)


def _fitting(number: int, most: int = _MOST) -> int | None:
    return number if abs(number) < most else None
