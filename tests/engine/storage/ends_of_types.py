"""Values at the ends of Arrow's types, and what is easily taken for another: both zeros, NaN, texts with NUL."""

from __future__ import annotations

import math
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa

_LARGEST = Decimal("9" * 36 + ".99")

ENDS: dict[pa.DataType, list[Any]] = {
    pa.int64(): [0, 1, -1, -3, 127, 128, 2**63 - 1, -(2**63)],
    pa.int32(): [0, 5, -1, -7, 2**31 - 1, -(2**31)],
    pa.bool_(): [True, False],
    pa.float64(): [0.0, -0.0, 1.5, -1.5, 5e-324, -5e-324, 1e308, math.inf, -math.inf, math.nan],
    pa.decimal128(15, 2): [Decimal(0), Decimal("-0.01"), Decimal("9999999999999.99")],
    pa.decimal128(18, 2): [Decimal("1.50"), Decimal("-9.99"), Decimal(10**16 - 1)],
    pa.decimal128(38, 2): [
        Decimal(0),
        Decimal("-0.01"),
        Decimal(2**64),
        Decimal(10**35),
        _LARGEST,
        _LARGEST.copy_negate(),
    ],
    pa.string(): [
        *("", "a", "A", "b", "ab", "é", "a\x00", "a\x00\x00", "a\x01", "a\x01\x01", "\x00", "\x01\x02"),
        *("a long text that begins alike", "a long text that begins alikf"),
    ],
    pa.date32(): [date(1, 1, 1), date(1970, 1, 1), date(9999, 12, 31)],
    pa.timestamp("us"): [
        *(datetime(1, 1, 1), datetime(1969, 12, 31, 23, 59, 59, 999999), datetime(1970, 1, 1)),
        *(datetime(2026, 1, 1, 0, 0, 0, 1), datetime(2026, 1, 1, 12), datetime(9999, 12, 31, 23, 59, 59, 999999)),
    ],
}
"""None of them NULL."""
