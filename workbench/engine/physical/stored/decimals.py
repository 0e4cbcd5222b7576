"""Sums and products of stored decimals, exact whatever their digits: in 64 bits where the values fit, as most do."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from workbench.arrow.types import filled, to_arrow
from workbench.engine.physical.stored.unscaled import (
    UNSCALED_LIMIT,
    Polynomial,
    large_integers,
    unscaled_or_beyond,
)
from workbench.sql.algebra.expressions import Expression
from workbench.sql.algebra.types import MAX_PRECISION, DataType, Kind

_LOW_WORD = 2**64 - 1
_WIDE = 76
"""Digits of Arrow's largest decimals: enough for 38 on each side of the point."""


@dataclass(frozen=True)
class ExactDecimals:
    """Sums and products of columns' unscaled integers, and the type whose scale they have.

    Attributes:
        integers: what is computed.
        type: of the decimals.
        small: whether they are integers of 64 bits by their digits, whatever the rows.
    """

    integers: Polynomial
    type: DataType
    small: bool = False

    def values(self, rows: pa.RecordBatch) -> pa.Array:
        """A decimal or NULL for each row.

        Example:
            >>> from workbench.sql.algebra.types import decimal
            >>> rows = pa.RecordBatch.from_pydict({"a": pa.array([Decimal("-1.5"), None], pa.decimal128(9, 1))})
            >>> ExactDecimals(Polynomial(((("a", "a"), 1),)), decimal(18, 2)).values(rows).to_pylist()
            [Decimal('2.25'), None]
        """
        if self.small or self.integers.fits(rows):
            return from_64_bits(self.integers.values(rows), self.type)
        return from_integers(self.integers.exact(rows), self.type)


@lru_cache(maxsize=65_536)
def exact_decimals(expression: Expression) -> ExactDecimals | None:
    """An expression as sums and products of stored decimals, if no part of it can have more than 38 digits; else
    ``None``.
    """
    if expression.type.kind is not Kind.DECIMAL:
        return None
    number = unscaled_or_beyond(expression, 10**MAX_PRECISION + 1)
    if number is None:
        return None
    whole = number.at(expression.type.scale)
    return ExactDecimals(whole.number, expression.type, whole.most < UNSCALED_LIMIT)


def quotients_and_remainders(decimals: pa.Array, unit: int) -> tuple[list[int | None], list[int | None]]:
    """The quotients of unscaled integers by ``unit``, and the remainders; both have the sign of the number.

    Example:
        >>> quotients_and_remainders(pa.array([Decimal("-12.34"), None]), 1000)
        ([-1, None], [-234, None])
    """
    missing = decimals.is_null().to_pylist()
    numbers = [None if lost else n for lost, n in zip(missing, large_integers(decimals).tolist(), strict=True)]
    high = [None if n is None else (abs(n) // unit) * (-1 if n < 0 else 1) for n in numbers]
    return high, [None if n is None or h is None else n - h * unit for n, h in zip(numbers, high, strict=True)]


def from_64_bits(numbers: pa.Int64Array, type_: DataType) -> pa.Array:
    """Unscaled integers of 64 bits as decimals, which have room for them; NULL as NULL."""
    known = filled(numbers, 0).to_numpy(zero_copy_only=False)
    words = np.stack([known, known >> 63], axis=1)
    valid = numbers.is_valid().buffers()[1] if numbers.null_count else None
    return pa.Array.from_buffers(to_arrow(type_), len(known), [valid, pa.py_buffer(words)])


def rescaled(numbers: pa.Array, type_: DataType) -> pa.Array:
    """Convert decimals or integers to a decimal type: rounded half away from zero, and NULL where they do not fit.

    Example:
        >>> from workbench.sql.algebra.types import decimal
        >>> rescaled(pa.array([Decimal("-1.25"), Decimal("99.96"), Decimal("7.00")]), decimal(3, 1)).to_pylist()
        [Decimal('-1.3'), None, Decimal('7.0')]
    """
    numbers = numbers.cast(pa.decimal128(19, 0)) if pa.types.is_integer(numbers.type) else numbers
    digits, whole = numbers.type.precision - numbers.type.scale, type_.precision - type_.scale
    if numbers.type.scale <= type_.scale and digits <= whole:
        return numbers.cast(to_arrow(type_))
    wide = widest(numbers, max(numbers.type.scale, type_.scale))
    return fitting(pc.round(wide, type_.scale, round_mode="half_towards_infinity"), type_)


def widest(numbers: pa.Array, scale: int) -> pa.Array:
    """Decimals or integers as decimals of 256 bits with no fewer digits behind the point."""
    return numbers.cast(pa.decimal256(_WIDE, scale))


def fitting(numbers: pa.Array, type_: DataType) -> pa.Array:
    """Convert decimals of 256 bits, with no more digits after the point than a type has, to it; NULL where they do not
    fit.
    """
    whole = type_.precision - type_.scale
    if numbers.type.precision - numbers.type.scale > whole:
        most = pa.scalar(Decimal(10**whole), pa.decimal256(whole + 1 + numbers.type.scale, numbers.type.scale))
        numbers = pc.if_else(pc.less(pc.abs(numbers), most), numbers, None)
    return numbers.cast(to_arrow(type_))


def from_integers(numbers: Iterable[int | None], type_: DataType) -> pa.Array:
    """Unscaled integers as decimals, NULL where they have more than 38 digits."""
    most, found = 10**MAX_PRECISION, list(numbers)
    fitting = [0 if n is None or abs(n) >= most else n for n in found]
    low = np.fromiter((n & _LOW_WORD for n in fitting), np.uint64, len(fitting)).view(np.int64)
    words = np.stack([low, np.fromiter((n >> 64 for n in fitting), np.int64, len(fitting))], axis=1)
    valid = pa.array([n is not None and -most < n < most for n in found], pa.bool_()).buffers()[1]
    return pa.Array.from_buffers(to_arrow(type_), len(found), [valid, pa.py_buffer(words)])
