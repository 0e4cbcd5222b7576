"""Cuts of a stream's log: the rows that a batch takes, and the gaps that it leaves (load shedding, TelegraphCQ 4.3).

A batch takes the next rows. Where rows come faster than they can be answered, and the analyst has said so, it passes
over some of them: all, or all but a sample. What it passed over is a gap. Gaps are part of the stream's state, and what
a batch took and passed over is part of its report, so going back and opening again give the same answers. Rows of a gap
are in the log, and a later batch may take them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

SHEDDING = ("oldest", "sample", "sample by COLUMN")
"""How rows may be left out: those that have waited longest, all but a uniform sample, or all but those of some keys."""
_BY = "sample by "

_GOLDEN, _FIRST, _SECOND = (np.uint64(n) for n in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))


@dataclass(frozen=True)
class BatchCut:
    """The rows that one batch takes of one stream.

    Attributes:
        taken: how many rows it takes, after those that it passes over.
        passed: how many rows it passes over, from the position of the stream on.
        kept: the fraction of the passed rows that it takes, as a uniform sample.
        caught_up: how many rows of earlier gaps it takes, the oldest first.
    """

    taken: int = 0
    passed: int = 0
    kept: float = 0.0
    caught_up: int = 0


@dataclass(frozen=True)
class Gap:
    """Rows that were passed over.

    Attributes:
        start, stop: their positions.
        kept: the fraction of them that was taken, as a sample.
        counted: how many were left out, where the sample goes by a key; otherwise it follows from the positions.
    """

    start: int
    stop: int
    kept: float = 0.0
    counted: int | None = None

    def left_out(self, keys: pa.ChunkedArray | None = None) -> NDArray[np.bool_]:
        """Which of its positions were left out; ``keys``: of its rows, where the sample goes by a key."""
        drawn = share(np.arange(self.start, self.stop)) if keys is None else share(hashed(keys))
        return drawn >= self.kept

    @property
    def rows(self) -> int:
        """The number of rows that were left out."""
        if self.counted is not None:
            return self.counted
        return int(self.left_out().sum()) if self.kept else self.stop - self.start


def sampled_by(shed: str | None) -> str | None:
    """The column by which a stream is sampled; ``None`` where each row is drawn for itself.

    Example:
        >>> sampled_by("sample by account"), sampled_by("sample"), sampled_by(None)
        ('account', None, None)
    """
    return shed.removeprefix(_BY) if shed is not None and shed.startswith(_BY) else None


def hashed(keys: pa.ChunkedArray) -> NDArray[np.int64]:
    """A number for each value, equal where the values are, in every process; NULL is a value."""
    if pa.types.is_floating(keys.type):
        keys = pc.add(keys, 0.0)  # -0.0 is 0.0
    values = keys.cast(pa.string()).combine_chunks().dictionary_encode(null_encoding="encode")
    numbers = pd.util.hash_array(values.dictionary.to_numpy(zero_copy_only=False), categorize=False)
    found: NDArray[np.int64] = numbers.view(np.int64)[values.indices.to_numpy()]
    return found


def share(positions: NDArray[np.int64]) -> NDArray[np.float64]:
    """A number from 0 to 1 for each position, as if drawn at random, and always the same one (splitmix64).

    Example:
        >>> share(np.arange(3)).round(2).tolist(), float((share(np.arange(100_000)) < 0.25).mean().round(2))
        ([0.88, 0.43, 0.03], 0.25)
    """
    with np.errstate(over="ignore"):
        mixed = (positions.astype(np.uint64) + np.uint64(1)) * _GOLDEN
        mixed = (mixed ^ (mixed >> np.uint64(30))) * _FIRST
        mixed = (mixed ^ (mixed >> np.uint64(27))) * _SECOND
        mixed = mixed ^ (mixed >> np.uint64(31))
    return (mixed >> np.uint64(11)).astype(np.float64) / 2.0**53
