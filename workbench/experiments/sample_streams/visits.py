"""The imaginary stream of patient visits that the aggregate examples B.12 and B.13 are asked over."""

from __future__ import annotations

from datetime import datetime

import numpy as np
import pyarrow as pa

from workbench.errors import StreamError
from workbench.experiments.sample_streams import columns
from workbench.experiments.sample_streams.icd9 import vocabulary
from workbench.experiments.sample_streams.schemas import VISITS

FIRST_MOMENT = datetime(2002, 9, 30)
"""The first day of `DAYS`."""

VISIT_DAYS = 60
_HOSPITALS = ("Bayside", "Elm Street", "Harbor", "Hillcrest", "Lakeview", "Mercy", "Riverside", "Saint Anne", "Union")
_MICROSECONDS_A_DAY = 86_400_000_000


def visits(rows: int = 100_000, seed: int = 12) -> pa.Table:
    """Visits in order of ``visit_date``; the same ``rows`` and ``seed`` give the same table.

    The first three characters of ``disease`` are its category. ``disease``, ``hospital`` and ``fee`` are sometimes
    NULL.

    Args:
        rows: how many, at least one.
        seed: of the random numbers.

    Returns:
        A table of schema ``VISITS``, ``visit_id`` from 1.

    Raises:
        StreamError: fewer than one row.

    Example:
        >>> visits(rows=3).column("visit_id").to_pylist()
        [1, 2, 3]
    """
    if rows < 1:
        raise StreamError(f"{rows} rows are too few for visits", hint="ask for at least one")
    rng = np.random.default_rng(seed)
    codes = vocabulary()
    share = codes.diagnosis_shares.mean(axis=0)
    start = np.datetime64(FIRST_MOMENT, "us").astype(np.int64)
    moments = start + np.sort(rng.integers(0, VISIT_DAYS * _MICROSECONDS_A_DAY, rows))
    busy = np.arange(len(_HOSPITALS), 0, -1) / np.arange(len(_HOSPITALS) + 1).sum()
    data = {
        "visit_id": columns.integer_column(np.arange(1, rows + 1), pa.int64()),
        "disease": columns.looked_up(
            codes.diagnoses, rng.choice(len(share), size=rows, p=share), columns.some(rng, rows, 0.005)
        ),
        "hospital": columns.looked_up(
            np.array(_HOSPITALS), rng.choice(len(_HOSPITALS), size=rows, p=busy), columns.some(rng, rows, 0.005)
        ),
        "visit_date": pa.array(moments, type=pa.timestamp("us")),
        "fee": columns.money(_fees_in_cents(rng, rows), columns.some(rng, rows, 0.01)),
    }
    return pa.table(data, schema=VISITS)


def _fees_in_cents(rng: np.random.Generator, rows: int) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    """Log-normal fees around $180; one in fifty is waived."""
    cents = (18_000 * rng.lognormal(0.0, 0.8, rows)).astype(np.int64)
    return np.where(columns.some(rng, rows, 0.02), 0, cents)
