"""What is known of all rows before one, in the order of an index: exact sums, how many values there are, the extremes.

Beside each entry of a run is kept what all entries up to it come to. Sums are kept digit by digit, as differences of
which those of any range follow, whatever was taken back, of whole numbers, decimals and products of DOUBLE alike
(``storage.exact_sums``). Of the least and the greatest value the row is kept that has it; what is taken back is kept
apart, and where a value may be gone it is not told.

Source: O'Neil, Quass, Improved query performance with variant indexes (SIGMOD 1997), for sums in an index.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from workbench.arrow.types import Mask
from workbench.engine.storage.comparable import dense_ranks
from workbench.engine.storage.exact_sums import ExactSums, exact_products
from workbench.engine.storage.grouping import Positions, with_equal_bits
from workbench.engine.storage.indexes.rank_index import GroupedRun, sums_between
from workbench.engine.storage.layout import WEIGHT
from workbench.engine.storage.reduction import limbs_of

_MOST_PLACES = 12
"""Digits of 32 bits that are kept beside each entry: numbers that are so far apart are not summed along an order."""

KeptColumns = Sequence[npt.NDArray[Any]]
"""Columns beside the entries of a run."""


@dataclass(frozen=True)
class EntryRange:
    """Entries of a run: for each of some partitions those from one until before another.

    Attributes:
        segment: the rows that the run is of.
        kept: what is kept beside its entries.
        begin: the first entry of the partition, which stands before them, or is the first of them.
        first, end: the entries.
    """

    segment: pa.RecordBatch
    kept: KeptColumns
    begin: Positions
    first: Positions
    end: Positions


@dataclass(frozen=True)
class Before:
    """The values of each column over all rows before some rows.

    ``certain``: where it is; else the rows have to be read.
    """

    columns: tuple[pa.Array, ...]
    certain: Mask


@dataclass(frozen=True)
class SumAlong:
    """The sums of products of columns, and how many rows have all values.

    Attributes:
        columns: the factors: of DOUBLE, or one whole number or decimal. Other values are only counted.
        powers: of each factor of DOUBLE; empty of another value.
    """

    columns: tuple[str, ...]
    powers: tuple[int, ...] = ()

    @property
    def name(self) -> str:
        """The name of these values among all that are kept along an order."""
        return "\x00".join(("sum", *map(str, self.powers), *self.columns))

    def prefixes(self, rows: pa.RecordBatch, run: GroupedRun) -> KeptColumns:
        """How many values are in the sum up to each entry, and its digits, each after its place."""
        values = [rows.column(name).take(pa.array(run.rows)) for name in self.columns]
        weights = rows.column(WEIGHT).to_numpy()[run.rows]
        known = np.logical_and.reduce([np.asarray(column.is_valid()) for column in values])
        digits = self._numbers(values).times(weights * known).columns if len(known) else {}
        if len(digits) > _MOST_PLACES:
            return [np.zeros(0, dtype=np.int64)]
        return [np.append(0, np.cumsum(known * weights)), *(np.append(at, np.cumsum(d)) for at, d in digits.items())]

    def _numbers(self, values: Sequence[pa.Array]) -> ExactSums:
        length = len(values[0])
        if self.powers:
            numbers = (value.fill_null(0.0).to_numpy(zero_copy_only=False) for value in values)
            factors = [each for each, power in zip(numbers, self.powers, strict=True) for _ in range(power)]
            return ExactSums(exact_products(factors), length)
        (value,) = values
        summed = pa.types.is_integer(value.type) or pa.types.is_decimal(value.type)
        return ExactSums.of_whole(limbs_of(value) if summed else [], length)

    def before(self, places: Sequence[EntryRange], count: int) -> Before:
        """How many values there are in some entries, and their sums as texts of digits."""
        counts, digits = np.zeros(count, dtype=np.int64), dict[int, Positions]()
        certain = np.ones(count, dtype=bool)
        for place in places:
            if not len(place.kept[0]):
                certain &= place.first == place.end
                continue
            of_counts, *of_digits = place.kept
            counts = counts + sums_between(of_counts[1:], place.first, place.end)
            for column in of_digits:
                at, more = int(column[0]), sums_between(column[1:], place.first, place.end)
                digits[at] = digits[at] + more if at in digits else more
        return Before((pa.array(counts), ExactSums(digits, count).texts()), certain)


@dataclass(frozen=True)
class BestAlong:
    """The greatest value of a column, or the least one."""

    column: str
    greatest: bool

    @property
    def columns(self) -> tuple[str, ...]:
        """The column of its values."""
        return (self.column,)

    @property
    def name(self) -> str:
        """The name of these values among all that are kept along an order."""
        return f"{'greatest' if self.greatest else 'least'}\x00{self.column}"

    def prefixes(self, rows: pa.RecordBatch, run: GroupedRun) -> KeptColumns:
        """The row of the best value up to each entry of its partition, of those that came and of those that went."""
        values, weights = rows.column(self.column), rows.column(WEIGHT).to_numpy()[run.rows]
        rank = self._ranks(values)
        row = np.full(len(rank) + 1, -1)
        row[rank] = np.arange(len(rank))
        row[-1] = -1  # that of NULL
        above = np.cumsum(np.diff(run.hashes, prepend=run.hashes[:1]) != 0) * (len(rank) + 1)
        own = rank[run.rows]
        bests = (np.maximum.accumulate(np.where(those, own, -1) + above) for those in (weights > 0, weights < 0))
        return [row[best - above] for best in bests]

    def before(self, places: Sequence[EntryRange], count: int) -> Before:
        """The best value of some entries and those before; certain where none such was taken back."""
        found = []
        for kept in (0, 1):
            for place in places:
                row = np.append(place.kept[kept], -1)[np.where(place.end > place.begin, place.end - 1, -1)]
                found.append(place.segment.column(self.column).take(pa.array(np.maximum(row, 0), mask=row < 0)))
        values = with_equal_bits(pa.concat_arrays(found))
        rank = self._ranks(values).reshape(2, len(places), count)
        best = rank[0].max(axis=0)
        at = rank[0].argmax(axis=0) * count + np.arange(count)
        # Where all that is known was taken back nothing is greater than what went.
        return Before((values.take(pa.array(at)),), (best > rank[1].max(axis=0)) | (rank[1].max(axis=0) < 0))

    def _ranks(self, values: pa.Array) -> Positions:
        """The better a value the larger; NaN is the greatest number, and NULL is -1."""
        ranks = dense_ranks(values, (not self.greatest, True))
        return np.where(np.asarray(values.is_valid()), ranks, -1)


Along = SumAlong | BestAlong
"""What is kept along an order."""
