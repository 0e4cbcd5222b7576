"""Slots: where hashes stand among many that are in order, without a binary search."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from workbench.engine.storage.grouping import Positions

Hashes = npt.NDArray[np.uint64]
ShortPositions = npt.NDArray[np.int32]
"""Positions of a segment's rows, or of an index's entries, in half the bytes."""

_HALF, _MANY, _STEPS = np.uint64(32), 1_000, 8
"""Half of a hash's bits; hashes from which on slots are used; steps from a start after which one searches."""


def starts_of_slots(hashes: Hashes) -> ShortPositions:
    """Where the hashes of each slot begin; there are as many slots as hashes, which are spread evenly among them."""
    counts = np.bincount(_slots(hashes, len(hashes)), minlength=len(hashes))
    return (np.cumsum(counts) - counts).astype(np.int32)


def first_entries(hashes: Hashes, asked: Hashes, starts: ShortPositions | None = None) -> tuple[Positions, Positions]:
    """The positions among those that are asked whose hash is there, and its first entry.

    Each hash that is asked for goes on from the start of its slot by steps, in a third of the time of a binary search.

    Source: W. Peterson, Addressing for random-access storage, 1957 (interpolation search); here its first guess.
    """
    if not len(hashes):
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    if starts is None or len(asked) < _MANY or len(hashes) < _MANY:
        first = hashes.searchsorted(asked)
        known = np.flatnonzero(hashes.take(first, mode="clip") == asked)
        return known, first[known]
    first = starts.take(_slots(asked, len(starts))).astype(np.int64)
    found = hashes.take(first, mode="clip")
    below = np.flatnonzero(found < asked)
    for _ in range(_STEPS):
        first[below] += 1
        found[below] = hashes.take(first[below], mode="clip")
        below = below[found[below] < asked[below]]
    first[below] = hashes.searchsorted(asked[below])
    found[below] = hashes.take(first[below], mode="clip")
    known = np.flatnonzero(found == asked)
    return known, first[known]


def _slots(hashes: Hashes, slots: int) -> Positions:
    """The slot of each hash: in the order of the hashes, as starts are in memory."""
    return ((hashes >> _HALF) * np.uint64(slots) >> _HALF).view(np.int64)
