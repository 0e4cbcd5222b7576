"""Values of statistics that are made of exact sums of products (``physical.moments``), as Spark has them.

NULL over no rows, and where Spark divides by 0. Where a value is NaN or infinite, so is every difference from a mean.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from workbench.arrow.types import Mask
from workbench.engine.storage.exact_sums import DigitColumns, ExactSums, rounded_quotient
from workbench.sql.functions.aggregate_rules import BITS, FOUR, ONE, THREE, TWO, XX, XY, YY, Powers, X, Y


def moment_values(function: str, n: npt.NDArray[np.int64], sums: Mapping[Powers, ExactSums]) -> pa.Array:
    """The statistic of each group.

    Args:
        function: which one; one that is made of ``products``.
        n: how many rows of each group have all values.
        sums: over these rows.
    """
    if function == "sum":
        return pa.array(sums[ONE].rounded(), mask=n == 0)
    if BITS in sums:
        return _bits(function, n, sums[BITS].counts_of_bits())
    groups = _Groups(n, sums)
    if function in ("regr_avgx", "regr_avgy"):
        (only,) = sums
        values = sums[only].with_special(groups.quotients(groups.sum(only), groups.n_to(1)))
        return pa.array(values, mask=n == 0)
    least = 2 if function == "corr" or function.endswith("_samp") else 1
    return pa.array(groups.values(function), pa.float64(), mask=n < least)


def _bits(function: str, n: npt.NDArray[np.int64], counts: DigitColumns) -> pa.Array:
    """The bits that all values of each group have, that some have, or that an odd number of them have."""
    bits = np.zeros(len(n), dtype=np.uint64)
    for bit, count in counts.items():
        there = {"bit_and": count == n, "bit_or": count > 0, "bit_xor": count % 2 == 1}[function]
        bits |= there.astype(np.uint64) << np.uint64(bit)
    return pa.array(bits.view(np.int64), mask=n == 0)


@dataclass(frozen=True)
class _Exact:
    """Integers of Python, one for each group, times a power of 2."""

    numbers: npt.NDArray[Any]
    exponent: int

    def __mul__(self, other: _Exact) -> _Exact:
        return _Exact(self.numbers * other.numbers, self.exponent + other.exponent)

    def __sub__(self, other: _Exact) -> _Exact:
        low = min(self.exponent, other.exponent)
        left, right = (each.numbers << (each.exponent - low) for each in (self, other))
        return _Exact(left - right, low)

    def times(self, factor: int) -> _Exact:
        """The numbers multiplied by a factor."""
        return _Exact(self.numbers * factor, self.exponent)


@dataclass(frozen=True)
class _Groups:
    """Groups, the number of their rows, and their sums."""

    n: npt.NDArray[np.int64]
    sums: Mapping[Powers, ExactSums]

    def sum(self, powers: Powers) -> _Exact:
        """The sum of a product of powers, for each group."""
        return _Exact(self.sums[powers].integers, self.sums[powers].exponent)

    def n_to(self, power: int) -> _Exact:
        """A power of the number of rows."""
        return _Exact(self.n.astype(object) ** power, 0)

    def central(self, product: Powers, one: Powers, other: Powers) -> _Exact:
        """n * n times a covariance, or a variance."""
        return self.n_to(1) * self.sum(product) - self.sum(one) * self.sum(other)

    @property
    def _pairs(self) -> _Exact:
        """The number of rows times one less."""
        return _Exact(self.n_to(2).numbers - self.n, 0)

    def special(self, *powers: Powers) -> Mask:
        """Which groups have NaN or an infinity in one of the sums."""
        return np.logical_or.reduce([self.sums[each].special for each in powers])

    def quotients(self, above: _Exact, below: _Exact) -> list[float | None]:
        """Exact quotients, rounded once; ``None`` of a division by 0."""
        exponent = above.exponent - below.exponent
        return [rounded_quotient(a, b, exponent) for a, b in zip(above.numbers, below.numbers, strict=True)]

    def roots(self, above: _Exact, below: _Exact, signs: _Exact) -> list[float | None]:
        """Square roots of quotients, with the signs of other numbers."""
        squares = zip(self.quotients(above, below), signs.numbers, strict=True)
        return [None if square is None else sqrt(square) * (1 if sign >= 0 else -1) for square, sign in squares]

    def values(self, function: str) -> list[float | None]:
        """A statistic of each group, also of those that have too few rows for it."""
        match function:
            case "covar_samp":
                return self._or_nan(self.quotients(self.central(XY, X, Y), self._pairs), X, Y)
            case "covar_pop":
                return self._or_nan(self.quotients(self.central(XY, X, Y), self.n_to(2)), X, Y)
            case "regr_sxy":
                return self._or_nan(self.quotients(self.central(XY, X, Y), self.n_to(1)), X, Y)
            case "regr_sxx":
                return self._or_nan(self.quotients(self.central(XX, X, X), self.n_to(1)), X)
            case "regr_syy":
                return self._or_nan(self.quotients(self.central(YY, Y, Y), self.n_to(1)), Y)
            case "var_samp" | "var_pop" | "stddev_samp" | "stddev_pop":
                divisor = self._pairs if function.endswith("samp") else self.n_to(2)
                found = self._or_nan(self.quotients(self.central(TWO, ONE, ONE), divisor), ONE)
                root = function.startswith("stddev")
                return [sqrt(value) if root and value is not None else value for value in found]
            case "skewness" | "kurtosis":
                return self._or_nan(self._shape(function), ONE)
            case "regr_slope" | "regr_intercept":
                return self._on_line(function)
            case _:
                return self._alike(function)

    def _on_line(self, function: str) -> list[float | None]:
        """Of the line through the points; NULL where all have the same x."""
        slope, variance = self.central(XY, X, Y), self.central(XX, X, X)
        if function == "regr_slope":
            values = self.quotients(slope, variance)
        else:
            values = self.quotients(self.sum(Y) * variance - slope * self.sum(X), self.n_to(1) * variance)
        return self._unless(self._or_nan(values, X, Y), self._alone(X, variance))

    def _alike(self, function: str) -> list[float | None]:
        """How much x and y go together: CORR or its square; NULL where all have the same x.

        Where all have the same y, CORR is NULL, and REGR_R2 is 1.
        """
        both, of_x, of_y = self.central(XY, X, Y), self.central(XX, X, X), self.central(YY, Y, Y)
        same_x, same_y = self._alone(X, of_x), self._alone(Y, of_y)
        if function == "corr":
            found = self._or_nan(self.roots(both * both, of_x * of_y, both), X, Y)
            return self._unless(found, same_x | same_y)
        found = self._or_nan(self.quotients(both * both, of_x * of_y), X, Y)
        return self._unless([1.0 if same else value for value, same in zip(found, same_y, strict=True)], same_x)

    def _shape(self, function: str) -> list[float | None]:
        """Of the third and fourth powers of the differences from the mean; NULL where all values are the same."""
        n, one, two, three = self.n_to(1), self.sum(ONE), self.sum(TWO), self.sum(THREE)
        second = self.central(TWO, ONE, ONE)
        if function == "skewness":
            third = n * (n * three - (one * two).times(3)) - (one * one * one).times(-2)
            return self.roots(third * third, second * second * second, third)
        fourth = n * (n * (n * self.sum(FOUR) - (three * one).times(4)) - (two * one * one).times(-6))
        return self.quotients(fourth - (one * one * one * one - (second * second).times(-1)).times(3), second * second)

    def _alone(self, powers: Powers, variance: _Exact) -> Mask:
        """Where all rows have the same value, which is a number."""
        return ~self.special(powers) & np.array(variance.numbers == 0, dtype=bool)

    def _or_nan(self, values: list[float | None], *powers: Powers) -> list[float | None]:
        return [float("nan") if special else x for x, special in zip(values, self.special(*powers), strict=True)]

    def _unless(self, values: list[float | None], missing: Mask) -> list[float | None]:
        return [None if absent else value for value, absent in zip(values, missing, strict=True)]
