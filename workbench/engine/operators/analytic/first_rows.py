"""The first rows of every partition: those whose rank is at most a number.

What is kept tells the first rows after the batch, as long as no more leave than come: of a partition with more rows
than are kept, all rows up to the last one that is kept are known. Only where too few of these are left, the partition
is looked up among the parent's rows. So a batch costs what it changes and the first rows, and not what has accumulated;
where rows are never retracted, no partition is ever looked up.

Source: Yi, Yu, Yang, Xia, Chen, Efficient maintenance of materialized top-k views (ICDE 2003), without its spare rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workbench.arrow.types import Mask
from workbench.engine.operators.analytic.ordered_rows import OrderedRows, Side
from workbench.engine.operators.analytic.ranges import First
from workbench.engine.storage.grouping import Positions
from workbench.sql.algebra.analytic import DENSE_RANK, RANK, ROW_NUMBER


@dataclass(frozen=True)
class FirstRows:
    """Which rows are kept: those whose ``rank`` (row number, rank or dense rank) is at most ``most``."""

    rank: str
    most: int

    @property
    def reading(self) -> First | None:
        """Which rows are enough to tell the first ones; ``None``: all are needed, since dense ranks are not counted."""
        return None if self.rank == DENSE_RANK else First(self.most, peers=self.rank == RANK)

    def kept(self, side: Side) -> Mask:
        """Which rows of a side are kept."""
        return np.asarray(self._numbers(side) <= self.most)

    def known(self, pool: OrderedRows) -> tuple[OrderedRows, Positions]:
        """The known rows after the batch.

        Args:
            pool: the rows that were kept, and those that changed.

        Returns:
            The pool without rows that others, which are not known, may come before; and the numbers of the partitions
            of which too few are left.
        """
        parts = int(pool.part.max()) + 1 if len(pool.part) else 0
        was = pool.side(-1)
        numbers = np.zeros(parts, dtype=np.int64)
        # A partition with fewer rows than may be kept was kept as a whole. (As many rows as ``most`` have a rank that
        # is at most ``most``.)
        counted = was.group if self.rank == DENSE_RANK else was.row
        np.maximum.at(numbers, was.part, counted)
        whole = numbers < self.most
        places = np.arange(len(pool.part)) if self.rank == ROW_NUMBER else pool.peer
        last = np.full(parts, -1, dtype=np.int64)
        there = pool.before > 0
        np.maximum.at(last, pool.part[there], places[there])
        within = whole[pool.part] | (places <= last[pool.part])
        rest = pool.with_counts(pool.before, np.where(within, np.maximum(pool.after, 0), 0))
        now = rest.side(1)
        left = np.zeros(parts, dtype=np.int64)
        np.maximum.at(left, now.part, now.group if self.rank == DENSE_RANK else now.row)
        return rest, np.flatnonzero(~whole & (left < self.most))

    def _numbers(self, side: Side) -> Positions:
        return {ROW_NUMBER: side.row, RANK: side.rank, DENSE_RANK: side.group}[self.rank]
