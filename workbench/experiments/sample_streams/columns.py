"""Arrow columns from numpy arrays, with NULLs where a mask says so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from workbench.arrow.types import Mask
from workbench.experiments.sample_streams.schemas import MONEY

Ints = NDArray[np.integer[Any]]


def some(rng: np.random.Generator, size: int, share: float) -> Mask:
    """A mask of ``size`` that is true for about ``share`` of the rows."""
    return np.asarray(rng.random(size) < share)


def integer_column(values: Ints, kind: pa.DataType, null: Mask | None = None) -> pa.Array:
    """Whole numbers of type ``kind``."""
    return pa.array(values, type=kind, mask=null)


def day_column(values: Ints, null: Mask | None = None) -> pa.Array:
    """Dates from days since 1970-01-01."""
    return pa.array(values.astype(np.int32), mask=null).cast(pa.date32())


def money(cents: NDArray[np.int64], null: Mask | None = None) -> pa.Array:
    """``DECIMAL(15,2)`` from cents.

    The 128-bit values are laid out by hand (low word, then sign): going through Python's ``Decimal`` takes seconds
    for a full stream.
    """
    words = np.empty((len(cents), 2), dtype=np.int64)
    words[:, 0] = cents
    words[:, 1] = cents >> 63
    amounts = pa.Array.from_buffers(MONEY, len(cents), [None, pa.py_buffer(words)])
    return amounts if null is None else pa.compute.if_else(pa.array(null), pa.scalar(None, MONEY), amounts)


def looked_up(values: Sequence[str] | NDArray[np.str_], index: Ints, null: Mask | None = None) -> pa.Array:
    """``values[index]`` as strings; a negative index is NULL."""
    missing = index < 0
    if null is not None:
        missing = missing | null
    return pa.array(values, type=pa.string()).take(pa.array(index, type=pa.int64(), mask=missing))


def numbered(prefix: pa.Array, numbers: Ints, width: int) -> pa.Array:
    """``prefix`` followed by the number padded with zeros to ``width``; NULL where the prefix is."""
    text = pa.compute.utf8_lpad(pa.array(numbers).cast(pa.string()), width=width, padding="0")
    return pa.compute.binary_join_element_wise(prefix, text, "")
