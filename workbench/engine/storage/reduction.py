"""Sums, minima and maxima of the rows of groups, exact for every type, for many readers of the rows at once.

A *cell* is a group as one reader sees it: the rows of the group that the reader reads. Rows stand group by group, so a
cell is a range of rows and a column of the mask ``read``, which says for each row who reads it. NULL is left out, as in
SQL; a cell without another value is NULL.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from workbench.arrow.types import Mask, filled, unscaled_integers
from workbench.engine.storage.exact_sums import ExactSums
from workbench.engine.storage.grouping import Positions

_LIMB = 32
"""Bits of a limb: a sum of 2^31 limbs fits 64 bits."""
_LOW = np.int64((1 << _LIMB) - 1)
_WITHIN_64_BITS = _LIMB - 1
"""Bits of the second of two limbs that together have 64 bits, without its sign."""
_LARGEST_DECIMAL = 10**38 - 1

_Numbers = npt.NDArray[Any]
Limbs = list[npt.NDArray[np.int64]]
"""Numbers as sums of limbs: the first one counts ones, the next 2^32, and so on."""


class Combine(StrEnum):
    """How two values of a part are combined; those of ``DIGITS`` are added without rounding (``exact_sums``)."""

    SUM = "sum"
    DIGITS = "digits"
    MIN = "min"
    MAX = "max"


@dataclass(frozen=True)
class Cells:
    """Groups of rows, and their readers.

    Attributes:
        starts: where each group begins; no group is empty.
        read: shape (readers, rows): which reader reads which row.
    """

    starts: Positions
    read: Mask

    @staticmethod
    def of_one_reader(starts: Positions, rows: int) -> Cells:
        """Groups whose rows are all read by one reader."""
        return Cells(starts, np.ones((1, rows), dtype=bool))

    @cached_property
    def is_each_row(self) -> bool:
        """Whether every row is a group of its own that the only reader reads: its value is the reduced one."""
        return self.read.shape == (1, len(self.starts)) and bool(self.read.all())

    @cached_property
    def every(self) -> Mask:
        """Shape (readers, groups): all cells."""
        return np.ones((len(self.read), len(self.starts)), dtype=bool)

    def present(self) -> Mask:
        """Shape (readers, groups): the cells that have rows."""
        return np.asarray(np.logical_or.reduceat(self.read, self.starts, axis=1))

    def reduce(
        self, values: pa.Array, combine: Combine, wanted: Mask, sums: pa.Decimal128Type | None = None
    ) -> pa.Array:
        """The reduced value of each wanted cell, reader by reader.

        Args:
            values: one for each row.
            combine: how they are reduced.
            wanted: shape (readers, groups).
            sums: the type of sums of whole numbers, where it is not theirs.
        """
        of_integers = sums is not None and not pa.types.is_decimal(values.type)
        if self.is_each_row and combine is not Combine.DIGITS and not of_integers and wanted.all():
            return values if sums in (None, values.type) else values.cast(sums)
        own = self if not values.null_count else Cells(self.starts, self.read & np.asarray(values.is_valid()))
        missing = ~own.present()[wanted] if values.null_count else None
        if combine is Combine.DIGITS:
            numbers = ExactSums.of_texts(values).columns
            sums = {at: own._sum(digits)[wanted] for at, digits in numbers.items()}
            return ExactSums(sums, int(wanted.sum())).texts(missing)
        if combine is not Combine.SUM:
            return own._extreme(values, combine, wanted, missing)
        if sums is not None or pa.types.is_decimal(values.type):
            total, type_ = own._decimal_sum(values, wanted, missing), sums or values.type
            return total if total.type == type_ else total.cast(type_)
        numbers = filled(values, 0).to_numpy(zero_copy_only=False)
        return pa.array(own._sum(numbers)[wanted], values.type, mask=missing)

    def _sum(self, numbers: _Numbers) -> _Numbers:
        """Shape (readers, groups)."""
        # A product with 0 is the fastest way to leave a number out; infinity and NaN do not become 0 by it.
        if len(self.read) == 1 and self.read.all():
            chosen = numbers[None]
        else:
            chosen = self.read * numbers if numbers.dtype.kind == "i" else np.where(self.read, numbers, 0.0)
        return np.asarray(np.add.reduceat(chosen, self.starts, axis=1))

    def _extreme(self, values: pa.Array, combine: Combine, wanted: Mask, missing: Mask | None) -> pa.Array:
        """By rank, which works for every type that SQL orders; NaN is the largest number."""
        order = pc.sort_indices(values).to_numpy()
        rank = np.empty(len(order), dtype=np.int64)
        rank[order] = np.arange(len(order))
        none = len(order) if combine is Combine.MIN else -1
        reduce = np.minimum if combine is Combine.MIN else np.maximum
        best = reduce.reduceat(np.where(self.read, rank, none), self.starts, axis=1)[wanted]
        if missing is None:
            return values.take(pa.array(order[best]))
        return values.take(pa.array(order[np.where(missing, 0, best)], mask=missing))

    def _decimal_sum(self, values: pa.Array, wanted: Mask, missing: Mask | None) -> pa.Array:
        """Limb by limb. A sum of more than 38 digits is NULL, as in Spark."""
        sums = [self._sum(limb)[wanted] for limb in limbs_of(values, alone=True)]
        return decimals_of(sums, values.type.scale if pa.types.is_decimal(values.type) else 0, missing)


def decimals_of(sums: Limbs, scale: int, missing: Mask | None) -> pa.Array:
    """Decimals of 38 digits out of sums of their limbs. NULL where one has more digits, and where it is missing.

    Args:
        sums: of ``limbs_of``, each within 64 bits.
        scale: of the decimals.
        missing: which are NULL.

    Example:
        >>> decimals_of([limb * 3 for limb in limbs_of(pa.array([-1, 2**62]))], 2, None).to_pylist()
        [Decimal('-0.03'), Decimal('138350580552821637.12')]
    """
    if len(sums) == 1:
        (numbers,) = sums
        return _decimals(np.array([numbers, numbers >> 63]).T.copy(), scale, missing)
    *lower, highest = sums
    if len(lower) == 1 and not (np.abs(high := highest + (lower[0] >> _LIMB)) >> _WITHIN_64_BITS).any():
        fitting = np.stack([(high << _LIMB) | (lower[0] & _LOW), high >> _LIMB], axis=1)
        return _decimals(fitting, scale, missing)
    limbs: list[npt.NDArray[np.uint64]] = []
    carry: Any = np.int64(0)
    for low in lower:
        low = low + carry
        limbs.append((low & _LOW).astype(np.uint64))
        carry = low >> _LIMB
    highest = highest + carry
    while len(limbs) < 3:
        limbs.append((highest & _LOW).astype(np.uint64))
        highest = highest >> _LIMB
    words = np.empty((len(highest), 2), dtype=np.uint64)
    words[:, 0] = limbs[0] | limbs[1] << np.uint64(_LIMB)
    words[:, 1] = limbs[2] | (highest & _LOW).astype(np.uint64) << np.uint64(_LIMB)
    lost = _too_large(words, highest)
    missing = lost if missing is None else missing | lost
    return _decimals(words, scale, missing)


def _decimals(words: _Numbers, scale: int, missing: Mask | None) -> pa.Array:
    """Decimals of their low and their high 64 bits."""
    validity = None if missing is None or not missing.any() else pa.array(~missing).buffers()[1]
    buffers = [validity, pa.py_buffer(words)]
    return pa.Array.from_buffers(pa.decimal128(38, scale), len(words), buffers)


def limbs_of(values: pa.Array, alone: bool = False) -> Limbs:
    """Whole numbers, or unscaled decimals, in limbs of 32 bits, the lowest first; the last one is signed. NULL is 0.

    Two limbs where all values fit 64 bits, as amounts of money do, and one where each sum of some of them does, too.

    Args:
        values: the numbers.
        alone: whether they are added to each other only; if not, there are two limbs at least.
    """
    known = filled(values, 0)
    if not pa.types.is_decimal(values.type):
        return _limbs_of_numbers(known.to_numpy(), alone)
    low, high = unscaled_integers(known), unscaled_integers(known, 1)
    if (high == low >> 63).all():
        return _limbs_of_numbers(low, alone)
    return [low & _LOW, (low >> _LIMB) & _LOW, high & _LOW, high >> _LIMB]


def _limbs_of_numbers(numbers: npt.NDArray[np.int64], alone: bool) -> Limbs:
    if not alone:
        return _two_limbs(numbers)
    largest = max(-int(numbers.min()), int(numbers.max())) if len(numbers) else 0
    return [numbers] if largest * len(numbers) < 1 << 63 else _two_limbs(numbers)


def _two_limbs(numbers: npt.NDArray[np.int64]) -> Limbs:
    return [numbers & _LOW, numbers >> _LIMB]


def _too_large(words: npt.NDArray[np.uint64], highest: npt.NDArray[np.int64]) -> Mask:
    """Which sums have more than 38 digits; ``highest`` is the signed rest above 96 bits."""
    lost = (highest >= 1 << (_LIMB - 1)) | (highest < -(1 << (_LIMB - 1)))
    # 10^38 is above 2^126: only numbers near that are compared digit by digit.
    for at in np.flatnonzero(~lost & (np.abs(highest) >= 1 << (_LIMB - 3))):
        number = int.from_bytes(words[at].tobytes(), "little", signed=True)
        lost[at] = abs(number) > _LARGEST_DECIMAL
    return lost
