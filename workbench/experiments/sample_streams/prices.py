"""Closing prices of stocks: the stream that the examples of TelegraphCQ are asked over (TelegraphCQ 4.1.1)."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from workbench.errors import StreamError
from workbench.experiments.sample_streams import columns
from workbench.experiments.sample_streams.schemas import PRICES

_SYMBOLS = ("MSFT", "AAPL", "AMZN", "BA", "CAT", "DIS", "GE", "HPQ", "IBM", "INTC", "JNJ", "KO", "MCD", "MRK", "ORCL",
           "PFE", "PG", "SUNW", "T", "XOM")  # fmt: skip
"""Every symbol is traded on every day, Microsoft first, as the paper assumes."""


def prices(rows: int = 20_000, seed: int = 41) -> pa.Table:
    """Prices in order of ``timestamp``, the number of the trading day from 1; the same arguments give the same table.

    A price is a random walk around 50 dollars, in cents. Some are missing, since there was no trade.

    Args:
        rows: how many, at least one; the last day may have fewer than ``_SYMBOLS``.
        seed: of the random numbers.

    Returns:
        A table of schema ``PRICES``.

    Raises:
        StreamError: fewer than one row.

    Example:
        >>> prices(rows=21).column("timestamp").to_pylist()[-2:]
        [1, 2]
    """
    if rows < 1:
        raise StreamError(f"{rows} rows are too few for prices", hint="ask for at least 1")
    rng = np.random.default_rng(seed)
    days = -(-rows // len(_SYMBOLS))
    first = rng.uniform(30.0, 70.0, len(_SYMBOLS))
    steps = rng.normal(0.0, 0.012, (days, len(_SYMBOLS)))
    # A walk that is drawn back to where it began does not leave the range of the examples.
    walk = np.zeros(len(_SYMBOLS))
    logs = np.empty_like(steps)
    for day, step in enumerate(steps):
        walk = 0.995 * walk + step
        logs[day] = walk
    values = np.round(first * np.exp(logs), 2).reshape(-1)[:rows]
    missing = columns.some(rng, rows, 0.01)
    day_of, symbol_of = np.divmod(np.arange(rows), len(_SYMBOLS))
    return pa.Table.from_arrays(
        [
            pa.array(day_of + 1, pa.int64()),
            columns.looked_up(_SYMBOLS, symbol_of),
            pa.array(values, pa.float64(), mask=missing),
        ],
        schema=PRICES,
    )
