"""Kernels of variances of exact numbers, from counts, sums and sums of squares: with Spark's bits.

What ``functions/variances`` writes as SQL is computed here with whole numbers of any size; where a decimal of Spark has
no room for a number, it is NULL here too.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from workbench.engine.physical.stored.kernels.kernel import Kernel
from workbench.engine.physical.stored.unscaled import large_integers
from workbench.sql.algebra.expressions import Call
from workbench.sql.algebra.types import MAX_PRECISION, Kind

_COUNT, _SUM, _SQUARES = 10**11, 10**18, 10**25
"""From here on the plain form has no room for the count, the sum, or the sum of squares."""
_MOST, _QUOTIENT = 10**MAX_PRECISION, 10 ** (MAX_PRECISION - 6)
"""From here on there is no decimal, and no quotient of decimals, which has six digits behind the point."""


def _kernel(samples: bool, root: bool) -> Kernel:
    """A variance, or its root; NULL where the count, or the count of a sample beside the first, is 0."""

    def compute(call: Call, arguments: Sequence[pa.Array]) -> pa.Array:
        scale = call.arguments[2].type.scale
        known = np.logical_and.reduce([np.asarray(column.is_valid()) for column in arguments])
        parts = zip(*(large_integers(column).tolist() for column in arguments), known.tolist(), strict=True)
        found = pa.array(
            (_variance(n, s, q, samples, scale) if all_ else None for n, s, q, all_ in parts), pa.float64()
        )
        if not root:
            return found
        with np.errstate(invalid="ignore"):
            roots = np.sqrt(found.fill_null(0.0).to_numpy(zero_copy_only=False))
        return pa.array(roots, mask=np.asarray(found.is_null()))

    return Kernel(compute, _is_exact)


def _is_exact(call: Call) -> bool:
    """Whether it is of numbers whose digits tell those of their squares."""
    count, total, squares = (argument.type for argument in call.arguments)
    plain = count.kind is Kind.INTEGER and total.kind is squares.kind is Kind.DECIMAL
    return plain and squares.scale == 2 * total.scale


def _variance(n: int, s: int, q: int, samples: bool, scale: int) -> float | None:
    divisor = float(n) * float(n - 1 if samples else n)
    if n < _COUNT and abs(s) < _SUM and abs(q) < _SQUARES:
        apart: float | None = (n * q - s * s) / 10**scale
    else:
        apart = _shifted(n, s, q, scale)
    return apart / divisor if divisor and apart is not None else None


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


VARIANCE_KERNELS = {
    "variance_samp": _kernel(samples=True, root=False),
    "variance_pop": _kernel(samples=False, root=False),
    "stddev_samp": _kernel(samples=True, root=True),
    "stddev_pop": _kernel(samples=False, root=True),
}
"""By the name of the function."""
