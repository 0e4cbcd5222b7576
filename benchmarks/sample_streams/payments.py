"""Payments to a few banks: narrow rows of which millions are made in a second, for views that any system can keep."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

_BANKS = 20
ACCOUNTS = 50_000
LARGEST_AMOUNT = 1_000_000
"""Amounts are below it: cents, where they are integers."""
AMOUNT = pa.decimal128(15, 2)
CENTS = 100
"""In the unit of the amounts."""


def payments(rows: int, money: pa.DataType | None = None, seed: int = 0, hot: float = 0) -> pa.Table:
    """A number of payments, with amounts that are evenly distributed.

    Args:
        rows: how many.
        money: the type of amounts, such as ``pa.decimal128(15, 2)``; integers of cents unless given.
        seed: of the random numbers.
        hot: the part of the rows whose account is the first one, beside those that have it anyway.

    Example:
        >>> payments(2, pa.decimal128(15, 2)).column_names
        ['payment', 'bank', 'payer', 'account', 'amount']
    """
    random = np.random.default_rng(seed)
    cents = pa.array(random.integers(0, LARGEST_AMOUNT, rows))
    in_units = pc.multiply(cents.cast(pa.decimal128(19, 0)), Decimal("0.01"))
    columns = {
        "payment": pa.array(np.arange(rows)),
        "bank": pa.array(random.integers(0, _BANKS, rows)),
        "payer": pa.array(random.integers(0, ACCOUNTS, rows)),
        "account": pa.array(random.integers(0, ACCOUNTS, rows) * (random.random(rows) >= hot)),
        "amount": cents if money is None else in_units.cast(money),
    }
    return pa.table(columns)
