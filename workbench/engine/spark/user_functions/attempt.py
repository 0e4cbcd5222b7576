"""What came of calling a function of the analyst for some rows: values, and the rows for which it failed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from workbench.arrow.types import Mask


@dataclass(frozen=True)
class Attempt:
    """Calls of a function, some of which may have failed.

    Attributes:
        values: one for each row, NULL where the call failed.
        failed: the rows whose call failed.
        problem: what the first one of these did; empty where none failed.
        calls: how many were made; values that were known need none.
        seconds: how long these took.
    """

    values: pa.Array
    failed: Mask
    problem: str = ""
    calls: int = 0
    seconds: float = 0.0

    def take(self, rows: pa.Array) -> Attempt:
        """The attempt for rows that have the arguments of some of these."""
        return replace(self, values=self.values.take(rows), failed=self.failed[np.asarray(rows)])


def true_mask(values: pa.BooleanArray) -> Mask:
    """Which of some values are true."""
    return np.asarray(values.fill_null(False).to_numpy(zero_copy_only=False), dtype=bool)


def all_failed(rows: int, type_: pa.DataType, problem: str) -> Attempt:
    """The attempt of a function that can be called no more."""
    return Attempt(pa.nulls(rows, type_), np.ones(rows, dtype=bool), problem)


def as_one(attempts: Sequence[Attempt], values: pa.Array) -> Attempt:
    """Attempts for the same rows as one, with the results computed from their values."""
    return Attempt(
        values,
        np.logical_or.reduce([attempt.failed for attempt in attempts]),
        next((attempt.problem for attempt in attempts if attempt.problem), ""),
        sum(attempt.calls for attempt in attempts),
        sum(attempt.seconds for attempt in attempts),
    )
