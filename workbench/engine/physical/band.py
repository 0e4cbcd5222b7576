"""Bands: how far apart in time the two rows of a pair may be, such as `adate` within 40 days beside an equal key.

An index by key and day finds the pairs of such a band join. With the key alone it would find all rows that ever had it,
whose number grows with the stream.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, inf

from workbench.sql.algebra.expressions import Column
from workbench.sql.algebra.types import Kind
from workbench.sql.predicates.cnf import FLIPPED, Operator, ORPred, PredSet
from workbench.sql.predicates.linear import linear


@dataclass(frozen=True)
class Band:
    """``low <= right - left <= high``, in days, of a column of each side; infinite where there is no bound."""

    left: str
    right: str
    low: float = -inf
    high: float = inf

    def day(self, side: int) -> str:
        """The column of days of a side."""
        return (self.left, self.right)[side]

    @property
    def closed(self) -> bool:
        """Whether it has both bounds."""
        return self.low > -inf and self.high < inf

    def contains(self, other: Band) -> bool:
        """Whether all differences that are in another band are in this one."""
        ends = (self.left, self.right) == (other.left, other.right)
        return ends and self.low <= other.low and other.high <= self.high

    def days(self, changed: int) -> tuple[float, float]:
        """From and to how many days after a row of the changed side a row of the other side may be."""
        return (self.low, self.high) if changed == 0 else (-self.high, -self.low)


def band_of(tested: PredSet) -> Band | None:
    """The band that a join's predicates test, the one with most bounds where there are several.

    Example:
        ``l.adate < r.adate`` and ``r.adate - l.adate < 40`` are the band from 1 to 39 days.
    """
    bands: dict[tuple[str, str], Band] = {}
    for predicate in tested:
        if (difference := _day_difference(predicate)) is not None and difference.operator is not Operator.NE:
            low, high = difference.days
            known = bands.get(difference.ends, Band(*difference.ends))
            bands[difference.ends] = Band(*difference.ends, max(known.low, low), min(known.high, high))
    return max(bands.values(), key=lambda band: (band.low > -inf) + (band.high < inf), default=None)


def implied_by(band: Band, predicate: ORPred) -> bool:
    """Whether a predicate follows from the band: it bounds the same days, or excludes some that are not in it."""
    difference = _day_difference(predicate)
    if difference is None or difference.ends != (band.left, band.right):
        return False
    if difference.operator is Operator.NE:
        return not band.low <= difference.bound <= band.high
    low, high = difference.days
    return low <= band.low and band.high <= high


@dataclass(frozen=True)
class _DayDifference:
    """A comparison of ``right - left``, in days, with a number."""

    ends: tuple[str, str]
    operator: Operator
    bound: Fraction

    @property
    def days(self) -> tuple[float, float]:
        """The bounds of the difference, both included. Days are whole: more than 3 is 4 or more."""
        match self.operator:
            case Operator.EQ:
                return ceil(self.bound), floor(self.bound)
            case Operator.GT | Operator.GE as operator:
                return floor(self.bound) + 1 if operator is Operator.GT else ceil(self.bound), inf
            case operator:
                return -inf, ceil(self.bound) - 1 if operator is Operator.LT else floor(self.bound)


def _day_difference(predicate: ORPred) -> _DayDifference | None:
    """The comparison of a difference of two days, where that is all that a predicate tests."""
    literal = predicate.literals[0]
    if len(predicate.literals) > 1 or literal.right is None or literal.operator not in FLIPPED:
        return None
    if not (literal.left.type.exact and literal.right.type.exact):
        return None
    form = linear(literal.left).plus(linear(literal.right).times(Fraction(-1)))
    days = {
        e.source: (e.name, factor) for e, factor in form.terms if isinstance(e, Column) and e.type.kind is Kind.DATE
    }
    if len(form.terms) != 2 or days.keys() != {0, 1} or days[0][1] != -days[1][1]:
        return None
    # factor * (right - left) + constant, compared with 0
    factor = days[1][1]
    operator = literal.operator if factor > 0 else FLIPPED[literal.operator]
    return _DayDifference((days[0][0], days[1][0]), operator, -form.constant / factor)
