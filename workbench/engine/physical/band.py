"""Bands: how far apart in an order the two rows of a pair may be, such as times within an hour beside an equal key.

An index by key and order finds the pairs of such a join. With the key alone it would find all rows that ever had it,
whose number grows with the stream. Whatever is ordered has bands: numbers, dates, times and texts, as stored or as a
kernel computes them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor, inf

import numpy as np
import pyarrow as pa

from workbench.arrow.types import Mask
from workbench.engine.physical.stored.expressions import COMPARABLE_KINDS, compare
from workbench.engine.physical.stored.values import Computed, computed_value
from workbench.engine.storage.comparable import Orders, order_numbers, text_begins
from workbench.engine.storage.grouping import Positions, true_rows
from workbench.engine.storage.indexes.order_index import DIGITS
from workbench.sql.algebra.exact_arithmetic import exact_call
from workbench.sql.algebra.expressions import Call, Constant, Expression, columns, identity, map_columns, sources
from workbench.sql.algebra.types import Kind, decimal
from workbench.sql.predicates.cnf import FLIPPED, Literal, Operator, ORPred, PredSet
from workbench.sql.predicates.linear import Terms, linear, linear_expression, linear_form

_FARTHEST = 2**62
"""Bounds are nearer, so that two of them never overflow."""

_DAY = 86_400_000_000
"""Microseconds, the steps of times."""

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
        value = _computed(self.expression)
        assert value is not None
        return value.values(rows)

    def orders(self, rows: pa.RecordBatch) -> tuple[Orders, Mask]:
        """The order of each row, and which rows have one. Of long texts or decimals different ones may have one."""
        values = self.values(rows)
        orders = text_begins(values) if pa.types.is_string(values.type) else order_numbers(values)
        return orders, np.asarray(values.is_valid())


@dataclass(frozen=True)
class Band:
    """``low <= right - left <= high``, in steps from one value to the next; infinite where there is no bound.

    A step is a day of dates, a microsecond of times, 1 of integers, the last digit of decimals, and the next DOUBLE.
    Of these and of texts, 0 means the same value, and 1 a greater one: no other bounds are known of them.
    """

    left: BandEnd
    right: BandEnd
    low: float = -inf
    high: float = inf

    def end(self, side: int) -> BandEnd:
        """The value of a side."""
        return (self.left, self.right)[side]

    @property
    def closed(self) -> bool:
        """Whether it has both bounds."""
        return self.low > -inf and self.high < inf

    @property
    def counted(self) -> bool:
        """Whether an index by order finds just the pairs of the band, and no other."""
        return self.left.counted and self.right.counted

    def contains(self, other: Band) -> bool:
        """Whether all differences that are in another band are in this one."""
        ends = (self.left, self.right) == (other.left, other.right)
        return ends and self.low <= other.low and other.high <= self.high

    def steps(self, changed: int) -> tuple[float, float]:
        """From and to how many steps after a row of the changed side a row of the other side may be."""
        return (self.low, self.high) if changed == 0 else (-self.high, -self.low)

    def bounds(self, changed: int, orders: Orders) -> tuple[Orders | None, Orders | None, Mask]:
        """Where in the order the other side's rows are.

        Args:
            changed: the side of the rows.
            orders: of these rows.

        Returns:
            For each row the least and the greatest order, ``None`` where there is no bound; and which rows have any
            partners, as far as numbers of 64 bits tell.
        """
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


def bands_of(tested: PredSet) -> tuple[Band, ...]:
    """The bands by which a join's pairs are found: one with both bounds, or one for each bound, or none.

    Example:
        ``l.adate < r.adate`` and ``r.adate - l.adate < 40`` are one band, from 1 to 39 days;
        ``l.n BETWEEN r.low AND r.high`` are two.
    """
    bands: dict[tuple[BandEnd, BandEnd], Band] = {}
    for predicate in tested:
        if (band := _band(predicate)) is not None:
            known = bands.get((band.left, band.right), band)
            low, high = max(known.low, band.low), min(known.high, band.high)
            bands[band.left, band.right] = replace(band, low=low, high=high)
    closed = [band for band in bands.values() if band.closed]
    if closed:
        return (min(closed, key=_width),)
    lower, upper = (next((b for b in bands.values() if bound(b)), None) for bound in (_has_low, _has_high))
    return tuple(band for band in (lower, upper) if band is not None)


def implied_by(bands: Iterable[Band], predicate: ORPred) -> bool:
    """Whether a predicate follows from bands: it bounds the same differences, or excludes some that are in none."""
    return any(_excludes(band, predicate) for band in bands)


def _excludes(band: Band, predicate: ORPred) -> bool:
    difference = _difference(predicate)
    if difference is None or difference.ends != (band.left, band.right):
        return False
    if difference.operator is Operator.NE:
        return not band.low <= difference.bound <= band.high
    low, high = difference.steps
    return low <= band.low and band.high <= high


def _width(band: Band) -> tuple[bool, float]:
    """Equal days are better a key."""
    size = _DAY if band.left.expression.type.kind is Kind.DATE else 1
    return band.low == band.high and size > 1, size * (band.high - band.low)


def _has_low(band: Band) -> bool:
    return band.low > -inf


def _has_high(band: Band) -> bool:
    return band.high < inf


def _band(predicate: ORPred) -> Band | None:
    """The band that a predicate is; an equality of two values of a side is a key instead, where it can be one."""
    difference = _difference(predicate)
    if difference is None or difference.operator is Operator.NE:
        return None
    kinds = {end.expression.type.kind for end in difference.ends}
    if difference.operator is Operator.EQ and not kinds <= {Kind.DATE, Kind.DOUBLE}:
        return None
    return Band(*difference.ends, *difference.steps)


@dataclass(frozen=True)
class _Difference:
    """A comparison of ``right - left``, in steps, with a number."""

    ends: tuple[BandEnd, BandEnd]
    operator: Operator
    bound: Fraction

    @property
    def steps(self) -> tuple[float, float]:
        """The bounds of the difference, both included. Steps are whole: more than 3 is 4 or more."""
        match self.operator:
            case Operator.EQ:
                return ceil(self.bound), floor(self.bound)
            case Operator.GT | Operator.GE as operator:
                return floor(self.bound) + 1 if operator is Operator.GT else ceil(self.bound), inf
            case operator:
                return -inf, ceil(self.bound) - 1 if operator is Operator.LT else floor(self.bound)


@lru_cache(maxsize=4_096)
def _difference(predicate: ORPred) -> _Difference | None:
    """The comparison of two values, one of each side, or of their difference, where a predicate tests nothing else."""
    literal = predicate.literals[0]
    if len(predicate.literals) > 1 or literal.right is None or literal.operator not in FLIPPED:
        return None
    if literal.left.type.exact and literal.right.type.exact:
        return _of_exact(literal, literal.right)
    ends = {sources(end): BandEnd(_own(end)) for end in (literal.left, literal.right)}
    left, right = ends.get(frozenset([0])), ends.get(frozenset([1]))
    if left is None or right is None or not _in_one_order(left, right):
        return None
    right_first = sources(literal.left) == {1}
    return _Difference((left, right), literal.operator if right_first else FLIPPED[literal.operator], Fraction(0))


def _of_exact(literal: Literal, other: Expression) -> _Difference | None:
    """A comparison of exact numbers or dates: a linear combination that is compared with 0."""
    form = linear(literal.left).plus(linear(other).times(Fraction(-1)))
    parts = [tuple((e, k) for e, k in form.terms if sources(e) == {side}) for side in (0, 1)]
    if form.cancelled or not all(parts) or sum(map(len, parts)) != len(form.terms):
        return None
    if (difference := _of_two_terms(literal.operator, parts, form.constant)) is not None:
        return difference
    # Several terms of a side are one value, to which the constant belongs.
    left = linear_expression(linear_form([(e, -k) for e, k in parts[0]], -form.constant))
    right = linear_expression(linear_form(parts[1], Fraction(0)))
    if left is None or right is None or {left.type.kind, right.type.kind} - {Kind.INTEGER, Kind.DECIMAL}:
        return None
    ends = _alike(left, right)
    return None if ends is None else _Difference(ends, literal.operator, Fraction(0))


def _of_two_terms(operator: Operator, parts: Sequence[Terms], constant: Fraction) -> _Difference | None:
    """``factor * (right - left) + constant`` compared with 0."""
    ((left, other), *more), ((right, factor), *others) = parts
    if more or others or factor != -other:
        return None
    ends = _alike(_counted(left), _counted(right))
    if ends is None:
        return None
    bound = -constant / factor * 10 ** ends[0].expression.type.scale
    if abs(bound) >= _FARTHEST or (bound and not all(end.counted for end in ends)):
        return None
    return _Difference(ends, operator if factor > 0 else FLIPPED[operator], bound)


def _counted(term: Expression) -> Expression:
    """A term whose steps are counted: a time for its microseconds."""
    match term:
        case Call("unix_micros", (time,)) if time.type.kind is Kind.TIMESTAMP:
            return time
    return term


def _alike(left: Expression, right: Expression) -> tuple[BandEnd, BandEnd] | None:
    """Two exact values in steps of one size, if kernels compute them."""
    scale = max(left.type.scale, right.type.scale)
    ends = tuple(_of_scale(_own(end), scale) for end in (left, right))
    if None in ends:
        return None
    first, second = (BandEnd(end) for end in ends if end is not None)
    return (first, second) if _in_one_order(first, second) else None


def _of_scale(number: Expression, scale: int) -> Expression | None:
    """A number with some digits behind the point; ``None`` where they are too many."""
    more = scale - number.type.scale
    if not more:
        return number
    return exact_call("*", number, Constant(Decimal(1).scaleb(-more) * 10**more, decimal(more + 1, more)))


def _in_one_order(left: BandEnd, right: BandEnd) -> bool:
    """Whether values are of one order, and kernels compute them."""
    types = [end.expression.type for end in (left, right)]
    numbers = {Kind.INTEGER, Kind.DECIMAL}
    of_one = types[0].kind is types[1].kind or all(type_.kind in numbers for type_ in types)
    return (
        of_one
        and types[0].kind in COMPARABLE_KINDS
        and types[0].scale == types[1].scale
        and all(_computed(end.expression) is not None for end in (left, right))
    )


@lru_cache(maxsize=4_096)
def _computed(expression: Expression) -> Computed | None:
    return computed_value(expression)


def _own(expression: Expression) -> Expression:
    return map_columns(expression, lambda column: replace(column, source=0))


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
