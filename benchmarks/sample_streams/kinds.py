"""Rows for the cost matrix: a column of each type, groups of two sizes, times in order, and tables beside them."""

from __future__ import annotations

from decimal import Decimal
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

FEW, MANY = 20, 20_000
BANDS = 100
_FIRST = np.datetime64("2024-01-01T00:00:00", "us")
_SECONDS = 7
"""Between two rows."""


@lru_cache(maxsize=2)
def rows(number: int, seed: int = 0) -> pa.Table:
    """A number of rows, the same ones first however many there are of a seed.

    Example:
        >>> rows(3).column_names
        ['id', 'g', 'h', 'i', 'x', 'm', 'w', 's', 'd', 'ts', 'device', 'tags', 'rates']
    """
    drawn = np.random.default_rng(seed).random((number, 5))
    cents = pa.array((drawn[:, 3] * 100_000).astype(np.int64)).cast(pa.decimal128(19, 0))
    thousandths = (drawn[:, 1] * 1000).astype(np.int64)
    texts = pc.binary_join_element_wise("s", pa.array(thousandths).cast(pa.string()), "")
    times = _FIRST + np.arange(number) * np.timedelta64(_SECONDS, "s")
    days = _FIRST.astype("datetime64[D]") + (drawn[:, 4] * 365).astype(np.int64)
    return pa.table(
        {
            "id": pa.array(np.arange(number)),
            "g": pa.array((drawn[:, 0] * FEW).astype(np.int64)),
            "h": pa.array((drawn[:, 0] * MANY).astype(np.int64)),
            "i": pa.array(thousandths),
            "x": pa.array(drawn[:, 2]),
            "m": pc.multiply(cents, Decimal("0.01")).cast(pa.decimal128(15, 2)),
            "w": pc.multiply(cents, Decimal("0.001")).cast(pa.decimal128(38, 10)),
            "s": texts,
            "d": pa.array(days),
            "ts": pa.array(times),
            "device": pa.StructArray.from_arrays([texts, _place(drawn)], ["id", "at"]),
            "tags": pa.ListArray.from_arrays(pa.array(np.arange(number + 1, dtype=np.int32)), texts),
            "rates": pa.MapArray.from_arrays(np.arange(number + 1, dtype=np.int32), texts, thousandths),
        }
    )


def _place(drawn: npt.NDArray[np.float64]) -> pa.StructArray:
    return pa.StructArray.from_arrays([pa.array(drawn[:, 0]), pa.array(drawn[:, 1])], ["lat", "lon"])


def tables() -> dict[str, pa.Table]:
    """The tables that rows are joined with."""
    keys, lows = np.arange(MANY), np.arange(0, 1000, 1000 // BANDS)
    names = pa.array([f"n{key % 50}" for key in keys])
    bands = {"lo": pa.array(lows), "hi": pa.array(lows + 4), "name": pa.array([f"b{low}" for low in lows])}
    low = pa.array(keys % BANDS * (1000 // BANDS))
    return {"u": pa.table({"k": keys, "name": names, "lo": low, "hi": keys % 101}), "bands": pa.table(bands)}
