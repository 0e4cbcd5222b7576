"""Which fraction of pairs is within the bounds of an order by which an index finds them, such as times near each other.

Of two bounds that no pair misses both, such as those of an interval, the fraction that meets both is
P(first) + P(second) - 1, whatever their columns have to do with one another. So a narrow band is not the product of two
halves.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

from workbench.optimizer.selectivity import DEFAULTS, FLOOR, Statistics
from workbench.optimizer.statistics import ColumnStatistics
from workbench.sql.algebra.expressions import Call, Column, Constant, Expression, sources
from workbench.sql.predicates.beginnings import beginning_of
from workbench.sql.predicates.cnf import FLIPPED, Operator, ORPred, PredSet, predicate_sources
from workbench.sql.predicates.linear import linear

Sampled = Callable[[Sequence[ORPred]], float | None]
"""Gives the fraction of pairs of sampled rows that satisfy predicates; ``None`` where there are none."""

_BEGINS = 0.001
"""The guess for a text that begins with another."""
_UPPER = (Operator.LT, Operator.LE)
_LOWER = (Operator.GT, Operator.GE)


@dataclass(frozen=True)
class _Bound:
    """``right - left`` compared with a number of days, microseconds or units."""

    left: Column
    right: Column
    operator: Operator
    steps: Fraction


def within_bands(predicates: PredSet, columns: Statistics, sampled: Sampled = lambda some: None) -> float:
    """The estimated fraction of the pairs of two inputs that are within bounds of the order of their rows.

    Args:
        predicates: over both inputs, 0 and 1; what bounds nothing is left out.
        columns: the statistics of the columns.
        sampled: gives the fraction of pairs of sampled rows that satisfy some predicates; asked where one of them
            bounds a computed value. An index finds rows by two bounds, so at most two are taken together.

    Example:
        >>> from workbench.sql.algebra.types import INTEGER
        >>> from workbench.sql.predicates.cnf import Literal, or_pred, pred_set
        >>> n, low, high = Column("n", INTEGER), Column("low", INTEGER, 1), Column("high", INTEGER, 1)
        >>> known = {"n": (0, 1000), "low": (0, 990), "high": (10, 1000)}
        >>> def statistics(column: Column) -> ColumnStatistics:
        ...     return ColumnStatistics(nulls=0.0, distinct=1000, quantiles=known[column.name])
        >>> tests = [Literal(n, Operator.GE, low), Literal(n, Operator.LE, high)]
        >>> within_bands(pred_set(or_pred([test]) for test in tests), statistics) < 0.02
        True
    """
    lower, upper, best = list[tuple[float, float]](), list[tuple[float, float]](), 1.0
    bounds = [predicate for predicate in predicates if _bounds(predicate)]
    if any(_bound(predicate) is None for predicate in bounds):
        found = [sampled(some) for number in (1, 2) for some in combinations(bounds, number)]
        best = min([1.0, *(fraction for fraction in found if fraction is not None)])
    for predicate in predicates:
        if (bound := _bound(predicate)) is not None:
            fraction, known = _fraction(bound, columns)
            best = min(best, fraction)
            (lower if bound.operator in _LOWER else upper).append((fraction, known))
        elif beginning_of(predicate) is not None:
            best = min(best, max(FLOOR, _BEGINS if (some := sampled([predicate])) is None else some))
        elif _compares(predicate):
            best = min(best, DEFAULTS[predicate.literals[0].operator])
    both = [low + high - min(known, other) for low, known in lower for high, other in upper]
    return max(FLOOR, min([best, *both]))


def _bound(predicate: ORPred) -> _Bound | None:
    """The bound of two columns that a predicate is, if it is one."""
    (literal, *others) = predicate.literals
    if others or literal.right is None or literal.operator not in (*_LOWER, *_UPPER):
        return None
    if not (literal.left.type.exact and literal.right.type.exact):
        return _oriented(literal.left, literal.right, literal.operator, Fraction(0))
    form = linear(literal.left).plus(linear(literal.right).times(Fraction(-1)))
    if len(form.terms) != 2 or form.terms[0][1] != -form.terms[1][1]:
        return None
    (first, factor), (second, _) = form.terms
    operator = literal.operator if factor > 0 else FLIPPED[literal.operator]
    return _oriented(_timed(first), _timed(second), operator, -form.constant / factor)


def _oriented(first: Expression, second: Expression, operator: Operator, steps: Fraction) -> _Bound | None:
    """``first - second`` compared with a number of steps, as a bound."""
    match first, second:
        case Column(source=1), Column(source=0):
            return _Bound(second, first, operator, steps)
        case Column(source=0), Column(source=1):
            return _Bound(first, second, FLIPPED[operator], -steps)
    return None


def _timed(term: Expression) -> Expression:
    """A term whose steps are counted: a time for its microseconds."""
    match term:
        case Call("unix_micros", (Column() as time,)):
            return time
        case Call("cast", (inner,)) if inner.type.exact:
            return _timed(inner)
    return term


def _compares(predicate: ORPred) -> bool:
    """Whether a predicate compares a value of one input with one of the other."""
    literal = predicate.literals[0]
    compares = len(predicate.literals) == 1 and literal.operator in (*_LOWER, *_UPPER)
    return compares and len(predicate_sources(predicate)) > 1


def _bounds(predicate: ORPred) -> bool:
    """Whether a predicate bounds a value of one input, computed or not, by one of the other."""
    if not _compares(predicate) or (literal := predicate.literals[0]).right is None:
        return False
    ends: Iterable[Expression] = (literal.left, literal.right)
    if isinstance(literal.left, Call) and literal.left.function == "-" and isinstance(literal.right, Constant):
        ends = literal.left.arguments
    if literal.left.type.exact and literal.right.type.exact:
        ends = [term for term, _ in linear(literal.left).plus(linear(literal.right).times(Fraction(-1))).terms]
    return all(len(sources(end)) == 1 for end in ends)


def _fraction(bound: _Bound, columns: Statistics) -> tuple[float, float]:
    """The fraction of pairs that meet a bound, and that of pairs without NULL."""
    left, right = columns(bound.left), columns(bound.right)
    points = [] if left is None else list(_points(left))
    if left is None or right is None or not points or not (right.common or right.quantiles):
        return DEFAULTS[bound.operator], 1.0
    total = sum(weight for _, weight in points)
    fraction = sum(weight * _met(right, _shifted(value, bound), bound.operator) for value, weight in points)
    return fraction, total * (1 - right.nulls)


def _points(statistics: ColumnStatistics) -> Iterator[tuple[Any, float]]:
    """Values of a column, each with the fraction of rows that it represents."""
    yield from statistics.common
    for value in statistics.quantiles:
        yield value, statistics.others / len(statistics.quantiles)


def _met(statistics: ColumnStatistics, value: Any, operator: Operator) -> float:
    """The fraction of rows whose value compares so with another one."""
    equal, below = statistics.equal(value), statistics.below(value)
    match operator:
        case Operator.LT:
            return below
        case Operator.LE:
            return below + equal
        case Operator.GT:
            return 1 - statistics.nulls - below - equal
    return 1 - statistics.nulls - below


def _shifted(value: Any, bound: _Bound) -> Any:
    """A value some steps on; itself where that is no value of its type."""
    if not bound.steps or isinstance(value, str):
        return value
    try:
        match value:
            case dt.datetime():
                return value + dt.timedelta(microseconds=float(bound.steps))
            case dt.date():
                return value + dt.timedelta(days=float(bound.steps))
    except OverflowError:
        return value
    return float(value) + float(bound.steps)
