"""Bands: how far apart in an order the two rows of a pair may be, such as times within an hour with an equal key.

An index by key and order finds the pairs of such a join. With the key alone it would find all rows that ever had it,
whose number grows with the stream. Whatever is ordered has bands: numbers, dates, times and texts, as stored or as a
kernel computes them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from math import inf

import numpy as np
import pyarrow as pa

from workbench.arrow.types import Mask
from workbench.engine.physical.stored.expressions import compare
from workbench.engine.physical.stored.kernels.table import evaluate
from workbench.engine.storage.comparable import Orders, order_numbers, text_begins
from workbench.engine.storage.grouping import Positions, true_rows
from workbench.engine.storage.indexes.order_index import DIGITS
from workbench.sql.algebra.expressions import Expression, columns, identity, map_columns
from workbench.sql.algebra.types import Kind
from workbench.sql.predicates.cnf import Operator

_LEAST, _GREATEST = np.iinfo(np.int64).min, np.iinfo(np.int64).max


@dataclass(frozen=True)
class BandEnd:
    """A value of one side's rows, by which they are in order.

    Attributes:
        expression: over the columns of the side; a kernel computes it.
    """

    expression: Expression

    @property
    def name(self) -> str:
        """Tells it apart from others."""
        return identity(self.expression)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it reads."""
        return tuple(sorted({column.name for column in columns(self.expression)}))

    @property
    def counted(self) -> bool:
        """Whether 64-bit numbers are its values, so that their differences say how many steps are between two."""
        type_ = self.expression.type
        return type_.kind is not Kind.STRING and (type_.kind is not Kind.DECIMAL or type_.precision <= DIGITS)

    def values(self, rows: pa.RecordBatch) -> pa.Array:
        """The value of each row."""
        return evaluate(self.expression, rows)

    def orders(self, rows: pa.RecordBatch) -> tuple[Orders, Mask]:
        """The order of each row, and which rows have one. Of long texts or decimals different ones may have one."""
        values = self.values(rows)
        orders = text_begins(values) if pa.types.is_string(values.type) else order_numbers(values)
        return orders, np.asarray(values.is_valid())


def over_own_side(expression: Expression) -> Expression:
    """A value of one side of a join, over the columns of that side alone."""
    return map_columns(expression, lambda column: replace(column, source=0))


@dataclass(frozen=True)
class AnyBand(ABC):
    """Which rows of one side are near to a row of the other, in an order that an index has.

    Attributes:
        left, right: by what the rows of the sides are in order.
    """

    left: BandEnd
    right: BandEnd

    def end(self, side: int) -> BandEnd:
        """The value of a side."""
        return (self.left, self.right)[side]

    @property
    @abstractmethod
    def closed(self) -> bool:
        """Whether there is both a lower and an upper bound."""

    @property
    @abstractmethod
    def counted(self) -> bool:
        """Whether an index by order finds just the pairs of the band, and no other."""

    @abstractmethod
    def contains(self, other: object) -> bool:
        """Whether all pairs that are in another band are in this one."""

    @abstractmethod
    def steps(self, changed: int) -> tuple[float, float]:
        """From and to how many steps after a row of the changed side a row of the other side may be."""

    @abstractmethod
    def bounds(self, changed: int, orders: Orders) -> tuple[Orders | None, Orders | None, Mask]:
        """Where in the order the other side's rows are.

        Args:
            changed: the side of the rows.
            orders: of these rows.

        Returns:
            For each row the least and the greatest order, ``None`` where there is no bound; and which rows have any
            partners, as far as numbers of 64 bits tell.
        """

    @abstractmethod
    def has(self, left: pa.RecordBatch, right: pa.RecordBatch) -> Mask:
        """Which pairs are in the band."""


@dataclass(frozen=True)
class Band(AnyBand):
    """``low <= right - left <= high``, in steps from one value to the next; infinite where there is no bound.

    A step is a day of dates, a microsecond of times, 1 of integers, the last digit of decimals, and the next DOUBLE.
    Of these and of texts, 0 means the same value, and 1 a greater one: no other bounds are known of them.
    """

    low: float = -inf
    high: float = inf

    @property
    def closed(self) -> bool:
        """Whether there is both a lower and an upper bound."""
        return self.low > -inf and self.high < inf

    @property
    def counted(self) -> bool:
        """Whether an index by order finds just the pairs of the band, and no other."""
        return self.left.counted and self.right.counted

    def contains(self, other: object) -> bool:
        """Whether all differences that are in another band are in this one."""
        if not isinstance(other, Band):
            return False
        ends = (self.left, self.right) == (other.left, other.right)
        return ends and self.low <= other.low and other.high <= self.high

    def steps(self, changed: int) -> tuple[float, float]:
        """From and to how many steps after a row of the changed side a row of the other side may be."""
        return (self.low, self.high) if changed == 0 else (-self.high, -self.low)

    def bounds(self, changed: int, orders: Orders) -> tuple[Orders | None, Orders | None, Mask]:
        """The orders of the rows, moved by the steps."""
        low, high = self.steps(changed)
        if not self.counted:
            bounds = (None if low == -inf else orders, None if high == inf else orders)
            return *bounds, np.ones(len(orders), dtype=bool)
        least, below = (None, False) if low == -inf else _shifted(orders, int(low), upwards=True)
        greatest, above = (None, False) if high == inf else _shifted(orders, int(high), upwards=False)
        return least, greatest, ~(np.zeros(len(orders), dtype=bool) | below | above)

    def has(self, left: pa.RecordBatch, right: pa.RecordBatch) -> Mask:
        """Which pairs are in the band."""
        if not self.counted:
            values = self.right.values(right), self.left.values(left)
            found = np.ones(left.num_rows, dtype=bool)
            for operator in _operators(self.low, self.high):
                found &= true_rows(compare(operator, *values))
            return found
        orders, known = self.left.orders(left)
        others, other_known = self.right.orders(right)
        least, greatest, possible = self.bounds(0, orders)
        found = known & other_known & possible
        found &= True if least is None else least <= others
        found &= True if greatest is None else others <= greatest
        return found


def _operators(low: float, high: float) -> list[Operator]:
    """How values without steps are compared that differ so."""
    operators = [] if low == -inf else [Operator.GT if low > 0 else Operator.GE]
    return operators if high == inf else [*operators, Operator.LT if high < 0 else Operator.LE]


def _shifted(orders: Positions, steps: int, upwards: bool) -> tuple[Positions, Mask]:
    """Bounds some steps on, and those beyond which there is no number of 64 bits.

    Args:
        orders: of rows.
        steps: how far they are moved.
        upwards: whether they are lower bounds, beyond which nothing is where they are moved too far.
    """
    over = orders > _GREATEST - steps if steps > 0 else orders < _LEAST - steps
    moved = np.where(over, _GREATEST if steps > 0 else _LEAST, orders + np.int64(steps))
    return moved, over & ((steps > 0) == upwards)
