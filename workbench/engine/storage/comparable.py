"""Values of any type as 64-bit numbers that order as the values do: for binary search, hashing, and comparing days."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import numpy as np
import numpy.typing as npt
import pyarrow as pa


def comparable(values: pa.Array) -> npt.NDArray[np.generic]:
    """Values as numbers that order as they do; what stands for NULL is arbitrary.

    Decimals become their unscaled integers (beyond 64 bits: the largest or smallest one), dates days and timestamps
    microseconds since 1970, booleans 0 and 1. NaN sorts last, as in Spark.
    """
    if pa.types.is_decimal(values.type):
        return _unscaled(values)
    if pa.types.is_boolean(values.type):
        return values.cast(pa.int8()).fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    if pa.types.is_date32(values.type):
        return values.cast(pa.int32()).fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    if pa.types.is_timestamp(values.type):
        return values.cast(pa.timestamp("us")).cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
    return values.fill_null(0).to_numpy(zero_copy_only=False)


def _unscaled(values: pa.Array) -> npt.NDArray[np.int64]:
    words = np.frombuffer(values.buffers()[1], dtype=np.int64)
    words = words[2 * values.offset : 2 * (values.offset + len(values))].reshape(-1, 2)
    low, high = words[:, 0], words[:, 1]
    limits = np.iinfo(np.int64)
    fits = high == (low >> 63)
    return np.where(fits, low, np.where(high < 0, limits.min, limits.max))


def comparable_constant(value: object, scale: int) -> int | float | str:
    """A constant in the order of ``comparable``: ``scale`` is that of the decimal it is compared with."""
    match value:
        case bool():
            return int(value)
        case Decimal():
            return int(value.scaleb(scale))
        case dt.datetime():
            return (value - dt.datetime(1970, 1, 1)) // dt.timedelta(microseconds=1)
        case dt.date():
            return (value - dt.date(1970, 1, 1)).days
        case int() | float() | str():
            return value
    raise TypeError(f"no order for {value!r}")
