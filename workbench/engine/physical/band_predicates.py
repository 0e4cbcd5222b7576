"""Which bands the predicates of a join are: how far apart in an order they let the two rows of a pair be."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor, inf, isfinite, nextafter

from workbench.engine.physical.band import AnyBand, Band, BandEnd, over_own_side
from workbench.engine.physical.join_keys import ends_of
from workbench.engine.physical.prefix_band import prefix_band
from workbench.engine.physical.stored.expressions import COMPARABLE_KINDS
from workbench.engine.physical.stored.kernels.table import has_kernels
from workbench.sql.algebra.exact_arithmetic import exact_call
from workbench.sql.algebra.expressions import Call, Constant, Expression, sources
from workbench.sql.algebra.types import DOUBLE, Kind, decimal
from workbench.sql.predicates.cnf import FLIPPED, Literal, Operator, ORPred, PredSet
from workbench.sql.predicates.linear import Terms, linear, linear_expression, linear_form

_FARTHEST = 2**62
"""Bounds are nearer, so that two of them never overflow."""

_DAY = 86_400_000_000
"""Microseconds, the steps of times."""

_ROUNDED: Mapping[Operator, tuple[Operator, float | None]] = {
    Operator.LT: (Operator.LE, None),
    Operator.LE: (Operator.LE, inf),
    Operator.GT: (Operator.GE, None),
    Operator.GE: (Operator.GE, -inf),
}
"""What follows from a bound of a rounded difference: the bound of the sum, by the next number towards this one."""


def bands_of(tested: PredSet) -> tuple[AnyBand, ...]:
    """The bands by which a join's pairs are found: one with both bounds, or one for each bound, or none.

    Example:
        ``l.adate < r.adate`` and ``r.adate - l.adate < 40`` are one band, from 1 to 39 days;
        ``l.n BETWEEN r.low AND r.high`` are two.
    """
    for predicate in tested:
        if (of_texts := prefix_band(predicate)) is not None:
            return (of_texts,)
    bands: dict[tuple[BandEnd, BandEnd], Band] = {}
    for predicate in (*tested, *_of_rounded_differences(tested)):
        if (band := _band(predicate)) is not None:
            known = bands.get((band.left, band.right), band)
            low, high = max(known.low, band.low), min(known.high, band.high)
            bands[band.left, band.right] = replace(band, low=low, high=high)
    closed = [band for band in bands.values() if band.closed]
    if closed:
        return (min(closed, key=_width),)
    lower, upper = (next((b for b in bands.values() if bound(b)), None) for bound in (_has_low, _has_high))
    return tuple(band for band in (lower, upper) if band is not None)


def _of_rounded_differences(tested: PredSet) -> Iterator[ORPred]:
    """The bounds of DOUBLEs that follow from bounds of their differences, as ``a <= b + c`` from ``a - b < c``.

    A difference is rounded, but never past a number that it is less than, and neither is the sum. NaN is the largest
    DOUBLE, so a lower bound says something only where an upper one of the same difference keeps NaN out.
    """
    known = [literal for predicate in tested for literal in predicate.literals if len(predicate.literals) == 1]
    bounded = {literal.left for literal in known if literal.operator in (Operator.LT, Operator.LE)}
    for literal in known:
        match literal:
            case Literal(Call("-", (one, other)) as difference, operator, Constant(float() as bound)) if (
                operator in _ROUNDED and isfinite(bound) and difference in bounded
            ):
                towards, end = _ROUNDED[operator]
                far = Constant(bound if end is None else nextafter(bound, end), DOUBLE)
                yield ORPred((Literal(one, towards, Call("+", (other, far), DOUBLE)),))


def implied_by(bands: Iterable[AnyBand], predicate: ORPred) -> bool:
    """Whether a predicate follows from bands: it bounds the same differences, or excludes some that are in none."""
    return any(isinstance(band, Band) and _excludes(band, predicate) for band in bands)


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
    if difference.operator is Operator.EQ and not kinds <= {Kind.DATE, Kind.DOUBLE} and ends_of(predicate) is not None:
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
    ends = {sources(end): BandEnd(over_own_side(end)) for end in (literal.left, literal.right)}
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
    ends = tuple(_of_scale(over_own_side(end), scale) for end in (left, right))
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
        and all(has_kernels(end.expression) for end in (left, right))
    )
