"""Buckets: rows by the hash of what they are looked up by, so that a task reads its share of a state alone.

There are 64. A set of them is a number: bit *n* says whether bucket *n* is in it. A segment says which buckets its rows
may be of, and each of some tasks has its own: when a task comes or goes, its buckets change hands, and few others
(``spark.placement``).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from zlib import crc32

import numpy as np
import numpy.typing as npt

from workbench.arrow.types import Mask
from workbench.engine.spark.placement import owners_by_rendezvous

BUCKETS = 64

EVERY_BUCKET = -1
"""The set of all, as a number of 64 bits with a sign."""

_SINGLE = (*(1 << number for number in range(BUCKETS - 1)), -1 << (BUCKETS - 1))
"""The sets of one bucket."""


@dataclass(frozen=True)
class BucketKey:
    """The columns by which the rows of a tree are in buckets.

    Attributes:
        columns: in order of their names, so that it does not matter who looks rows up by them.
        of_groups: whether they are the groups of the tree's own operator, which may become more as others are fused.
    """

    columns: tuple[str, ...]
    of_groups: bool = False

    @cached_property
    def number(self) -> int:
        """Tells segments that have rows of some buckets by these columns from others; that of groups is 0."""
        return 0 if self.of_groups else 1 + crc32("\x00".join(self.columns).encode()) % (1 << 30)


def bucket_key(columns: Iterable[str]) -> BucketKey:
    """The key of some columns, independent of their order.

    Example:
        >>> bucket_key(["b", "a"]) == bucket_key(["a", "b"])
        True
    """
    return BucketKey(tuple(sorted(columns)))


BucketNumbers = npt.NDArray[np.int64]


def of_buckets(numbers: BucketNumbers, buckets: int) -> Mask:
    """Select the numbers that belong to a set of buckets."""
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


def heavy_buckets(sizes: npt.NDArray[np.int64], tasks: int) -> int:
    """The buckets that have more than a task's part of what there is, and more than twice a bucket's.

    Args:
        sizes: of each bucket.
        tasks: how many there are.

    Example:
        >>> heavy_buckets(np.array([100, 500] + 62 * [10]), 4) == 0b10
        True
    """
    heavy = (sizes * tasks > sizes.sum()) & (sizes * BUCKETS > 2 * sizes.sum())
    return sum(bucket for bucket, is_heavy in zip(_SINGLE, heavy.tolist(), strict=True) if is_heavy)


def each_bucket(buckets: int) -> list[int]:
    """The buckets of a set, each as a set with one bucket."""
    return [bucket for bucket in _SINGLE if bucket & buckets]
