"""Values between two decimals or two timestamps, as DuckDB computes its QUANTILE_CONT.

A decimal is cut to the digits of its type; a timestamp is rounded to microseconds.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from workbench.arrow.types import to_data_type, unscaled_integers
from workbench.engine.physical.stored.decimals import from_integers
from workbench.engine.physical.stored.unscaled import large_integers

_NARROW = 18
"""Digits up to which DuckDB has a decimal in 64 bits, and interpolates it as DOUBLE."""
_HALVES = 2.0**27 + 1
"""Splits a DOUBLE in two of 26 bits, whose products are exact (T. J. Dekker, 1971)."""
_WHOLE = 2.0**52
"""DOUBLEs from here on are whole."""

_Floats = npt.NDArray[np.float64]


def between(low: pa.Array, high: pa.Array, share: npt.NDArray[np.float64]) -> pa.Array:
    """The value at a share of the way from one value to another.

    Args:
        low, high: decimals or timestamps of one type, both NULL in the same places.
        share: from 0 to 1, which excludes 1.

    Example:
        >>> from decimal import Decimal
        >>> cents = pa.array([Decimal("1.00"), Decimal("1.01")])
        >>> between(cents[:1], cents[1:], np.array([0.5])).to_pylist()
        [Decimal('1.00')]
    """
    if pa.types.is_decimal(low.type) and low.type.precision > _NARROW:
        missing, ends = low.is_null().to_pylist(), (large_integers(values).tolist() for values in (low, high))
        ranks = zip(missing, *ends, share.tolist(), strict=True)
        # Of 128 bits only the distance is multiplied as DOUBLE.
        interpolated = (None if lost else first + int((second - first) * at) for lost, first, second, at in ranks)
        return from_integers(interpolated, to_data_type(low.type))
    if pa.types.is_decimal(low.type):
        first, second = (unscaled_integers(values).astype(np.float64) for values in (low, high))
        whole = np.where(share == 0, unscaled_integers(low), np.trunc(_fused(second - first, share, first)))
        words = np.stack([whole.astype(np.int64), whole.astype(np.int64) >> 63], axis=1)
        valid = pa.array(np.asarray(low.is_valid())).buffers()[1]
        return pa.Array.from_buffers(low.type, len(low), [valid, pa.py_buffer(np.ascontiguousarray(words))])
    first, second = (unscaled_integers(values).astype(np.float64) for values in (low, high))
    found = _fused(first, 1 - share, second * share)
    whole = np.where(np.abs(found) < _WHOLE, np.trunc(found + np.copysign(0.5, found)), found)
    micros = np.where(share == 0, unscaled_integers(low), whole)
    return pa.array(micros.astype(np.int64), pa.int64(), mask=np.asarray(low.is_null())).cast(low.type)


def _fused(one: _Floats, other: _Floats, addend: _Floats) -> _Floats:
    """A product and a sum that are rounded once, as by the processors' fused multiply-add."""
    product = one * other
    (high, low), (other_high, other_low) = _halves(one), _halves(other)
    lost = low * other_low - (((product - high * other_high) - low * other_high) - high * other_low)
    total = product + addend
    of_addend = total - product
    lost_of_sum = (product - (total - of_addend)) + (addend - of_addend)
    return total + (lost + lost_of_sum)


def _halves(number: _Floats) -> tuple[_Floats, _Floats]:
    wide = number * _HALVES
    high = wide - (wide - number)
    return high, number - high
