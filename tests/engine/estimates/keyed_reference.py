"""The bounds of a sample by a key, pair by pair of gaps, as the formula says it: what the engine's way must give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np

Drawn = Mapping[object, Sequence[tuple[float, float, float]]]
"""Of each drawn key, for each gap that brought rows of it: the chance, how many rows, and their sum."""


def reference(drawn: Drawn) -> dict[str, tuple[float, float]]:
    """Count, sum and average, each with its variance."""
    count = sum(n / p for gaps in drawn.values() for p, n, _ in gaps)
    total = sum(s / p for gaps in drawn.values() for p, _, s in gaps)
    spread = np.zeros((2, 2))
    for gaps in drawn.values():
        for (p, *a), (q, *b) in product(gaps, gaps):
            spread += np.outer(np.array(a) / p, np.array(b) / q) * (1 - max(p, q))
    average = total / count if count else float("nan")
    of_average = (spread[1, 1] - 2 * average * spread[0, 1] + average**2 * spread[0, 0]) / count**2 if count else 0.0
    return {"count": (count, spread[0, 0]), "sum": (total, spread[1, 1]), "average": (average, of_average)}
