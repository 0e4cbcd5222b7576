"""The tables of a grouped filter: the bits that the values of a tested expression leave to a row (CACQ 3.2.6)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from workbench.engine.storage.comparable import comparable
from workbench.engine.storage.lineage import Bits

_FEW_POINTS = 8
"""Constants with which comparing all values one after the other takes less time than searching for each."""


class ByContent:
    """Dataclasses with arrays are equal where all fields are."""

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and all(_same(own, vars(other)[name]) for name, own in vars(self).items())

    def __hash__(self) -> int:
        raise TypeError(f"{type(self).__name__} has arrays")


def _same(own: object, other: object) -> bool:
    if isinstance(own, np.ndarray) and isinstance(other, np.ndarray):
        return own is other or (own.dtype == other.dtype and np.array_equal(own, other))
    return own == other


@dataclass(frozen=True, eq=False)
class RangeTable(ByContent):
    """The bits of every range of one tested expression.

    ``points``: sorted distinct constants, as int64, float64 or str. ``bits``: shape (2·points + 2, words): rows for
    below the first point, at it, between it and the next, …, above the last, and one for NULL.
    """

    column: str
    points: npt.NDArray[np.generic]
    bits: Bits

    def rank(self, values: pa.Array) -> npt.NDArray[np.int64]:
        """The row of ``bits`` each value falls into."""
        if not len(self.points):
            return np.asarray(values.is_null()).astype(np.int64)
        if self.points.dtype == object:
            encoded = values.dictionary_encode()
            known = np.array(encoded.dictionary.to_pylist(), dtype=object)
            ranks = np.append(self._search(known), len(self.bits) - 1)
            return ranks[encoded.indices.fill_null(len(known)).to_numpy(zero_copy_only=False).astype(np.int64)]
        ranks = self._search(comparable(values))
        if values.null_count:
            ranks[np.asarray(values.is_null())] = len(self.bits) - 1
        return ranks

    def _search(self, values: npt.NDArray[np.generic]) -> npt.NDArray[np.int64]:
        if self.points.dtype.kind != "i":
            left = np.searchsorted(self.points, values, side="left")
            return (left + np.searchsorted(self.points, values, side="right")).astype(np.int64)
        if len(self.points) > _FEW_POINTS:
            below = np.searchsorted(self.points, values, side="left")
            return 2 * below + (self.points.take(below, mode="clip") == values)
        ranks = np.zeros(len(values), dtype=np.int8)
        for point in self.points:
            ranks += values >= point
            ranks += values > point
        return ranks.astype(np.int64)


@dataclass(frozen=True, eq=False)
class Disjunction(ByContent):
    """An ORPred whose literals test different expressions: satisfied by a row when any of the tables says so.

    ``tables`` have one word whose lowest bit tells; ``without``: the bits of the nodes that do not need this ORPred.
    """

    tables: tuple[RangeTable, ...]
    without: Bits
