"""Buckets: the rows of a state by the hash of their group, so that a task reads its share of the state alone.

There are 64. A set of them is a number: bit *n* says whether bucket *n* is in it. A segment says which buckets its rows
may be of, and each of some tasks has its own: when a task comes or goes, its buckets change hands, and few others
(``spark.placement``).
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from workbench.arrow.types import Mask
from workbench.engine.spark.placement import owners_by_rendezvous

BUCKETS = 64

EVERY_BUCKET = -1
"""The set of all, as a number of 64 bits with a sign."""

_SINGLE = (*(1 << number for number in range(BUCKETS - 1)), -1 << (BUCKETS - 1))
"""The sets of one bucket."""

BucketNumbers = npt.NDArray[np.int64]


def of_buckets(numbers: BucketNumbers, buckets: int) -> Mask:
    """Which of some numbers are those of a set of buckets."""
    return np.asarray((np.int64(buckets) >> numbers) & 1 == 1)


@lru_cache(maxsize=64)
def buckets_of_tasks(tasks: int) -> tuple[int, ...]:
    """The buckets of each of some tasks: about as many for all, and each bucket once.

    Example:
        >>> buckets_of_tasks(1) == (EVERY_BUCKET,)
        True
    """
    owned = [0] * tasks
    for bucket, task in zip(_SINGLE, owners_by_rendezvous(BUCKETS, tuple(map(str, range(tasks)))), strict=True):
        owned[task] |= bucket
    return tuple(owned)


def each_bucket(buckets: int) -> list[int]:
    """Those of a set, each as a set of its own."""
    return [bucket for bucket in _SINGLE if bucket & buckets]
