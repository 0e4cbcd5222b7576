"""Bounds that a conjunction entails for an expression it does not test: linear arithmetic over exact numbers and dates.

``2 * b >= a`` and ``b > 0`` give ``5 * b >= a``, since ``5b − a`` is ``2b − a`` and three times ``b``; ``code = id``
gives ``code <= id``; ``a <= b`` and ``b <= c`` give ``a <= c``. Each is a sum of multiples of what is tested, as in
Farkas' lemma. Few such sums are tried, so not all that follows is found, and what is found is proved.

Only expressions are looked through that are exact for every value (``linear``). A sum of them is NULL just where a term
is, so nothing is said of a combination with a term that may be NULL.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from itertools import islice

from workbench.sql.algebra.exact_arithmetic import widened_expression
from workbench.sql.algebra.expressions import Expression
from workbench.sql.algebra.planning_cache import cached
from workbench.sql.algebra.types import Kind
from workbench.sql.predicates.linear import LinearForm, linear
from workbench.sql.predicates.literal_sets import Subject
from workbench.sql.predicates.value_sets import BOTTOM, EMPTY, EVERYTHING, ORDER, TOP, ValueSet, domain

SetsBySubject = Mapping[Subject, ValueSet]

_COMBINED = 4
"""The most tested combinations that are looked at; at most two of them are added up."""
_ADDED = 2
_EPOCH = 719163
"""The ordinal of 1970-01-01, from which ``linear`` counts days."""


@dataclass(frozen=True, slots=True)
class Span:
    """Between which numbers a combination lies, both included; ``None``: no bound."""

    low: Fraction | None = None
    high: Fraction | None = None

    def times(self, factor: Fraction) -> Span:
        """The span of a multiple; the factor is not 0."""
        low, high = (None if end is None else end * factor for end in (self.low, self.high))
        return Span(low, high) if factor > 0 else Span(high, low)

    def plus(self, other: Span) -> Span:
        """The span of a sum."""
        return Span(_sum(self.low, other.low), _sum(self.high, other.high))

    def within(self, other: Span) -> Span:
        """The intersection of both."""
        lows = [end for end in (self.low, other.low) if end is not None]
        highs = [end for end in (self.high, other.high) if end is not None]
        return Span(max(lows, default=None), min(highs, default=None))


Combinations = tuple[tuple[LinearForm, Span], ...]
"""Sums that are tested, and between which numbers they lie."""


def combinations(sets: SetsBySubject) -> Combinations:
    """Those of the expressions with known values that are sums of several terms, or compare two sides."""
    tested = (
        (form, span)
        for subject, values in sets.items()
        if (form := _form(subject)) and _is_combined(subject, form) and (span := _span(subject, values)) != Span()
    )
    return tuple(islice(tested, _COMBINED))


def entailed(sets: SetsBySubject, tested: Combinations, subject: Subject) -> ValueSet:
    """The values that an expression can have where others have the values of some sets.

    Args:
        sets: what is known of a row, with what is not NULL.
        tested: the combinations among them.
        subject: in or beside them.

    Example:
        >>> from workbench.sql.algebra.expressions import Column
        >>> from workbench.sql.algebra.types import INTEGER
        >>> a, b = Column("a", INTEGER), Column("b", INTEGER)
        >>> equal = ValueSet((ORDER.around(0),))
        >>> not_null = dict.fromkeys([Subject(a), Subject(b)], ValueSet(((BOTTOM, TOP),)))
        >>> known = {Subject(a, b): equal, **not_null}
        >>> entailed(known, combinations(known), Subject(b, a)) == equal
        True
    """
    form = _form(subject)
    if form is None or not (tested or len(form.terms) > 1 or subject.right is not None):
        return EVERYTHING
    if any(sets.get(Subject(term), EVERYTHING).null for term, _ in form.terms):
        return EVERYTHING
    return _values(subject, _proved(form, sets, tested, _ADDED))


@cached(2**14)
def _form(subject: Subject) -> LinearForm | None:
    """A subject as a combination of terms, two sides as their difference; ``None`` for any other subject."""
    form: LinearForm | None = None
    for side, sign in ((subject.left, 1), (subject.right, -1)):
        if side is None:
            continue
        if not side.type.exact or widened_expression(side) != side:
            return None
        part = linear(side).times(Fraction(sign))
        form = part if form is None else form.plus(part)
    return form if form is not None and form.terms and not form.cancelled else None


def _is_combined(subject: Subject, form: LinearForm) -> bool:
    return subject.right is not None or [term for term, _ in form.terms] != [subject.left]


def _proved(form: LinearForm, sets: SetsBySubject, tested: Sequence[tuple[LinearForm, Span]], added: int) -> Span:
    """The span of a combination: of the sum of its terms, and beside multiples of what is tested."""
    span = Span(form.constant, form.constant)
    for term, factor in form.terms:
        if span == Span():
            break
        values = sets.get(Subject(term))
        span = span.plus(Span() if values is None else _span(Subject(term), values).times(factor))
    own = dict(form.terms)
    for other, known in tested if added else ():
        others = dict(other.terms)
        for factor in {k / others[term] for term, k in form.terms if term in others}:
            left = (term for term in own.keys() | others.keys() if own.get(term, 0) != factor * others.get(term, 0))
            # In the last step nothing follows where a term that is left has no bound of its own.
            if added == 1 and not all(_has_bound(sets, term) for term in left):
                continue
            rest = form.plus(other.times(-factor))
            span = span.within(_proved(rest, sets, tested, added - 1).plus(known.times(factor)))
    return span


def _has_bound(sets: SetsBySubject, term: Expression) -> bool:
    """Whether a term cannot have all values of its type."""
    values = sets.get(Subject(term))
    intervals = () if values is None else values.intervals
    return bool(intervals) and (intervals[0][0], intervals[-1][1]) != (BOTTOM, TOP)


def _sum(one: Fraction | None, other: Fraction | None) -> Fraction | None:
    return None if one is None or other is None else one + other


def _span(subject: Subject, values: ValueSet) -> Span:
    """The span of a set of values, NULL left aside."""
    if not values.intervals:
        return Span()
    low, high = values.intervals[0][0], values.intervals[-1][1]
    if subject.right is not None:
        return Span(Fraction(0) if low != BOTTOM else None, Fraction(0) if high != TOP else None)
    return Span(
        None if low == BOTTOM else _number(subject.left, low[1]),
        None if high == TOP else _number(subject.left, high[1] - 1),
    )


def _number(expression: Expression, step: int) -> Fraction:
    """A value in steps of its type as ``linear`` counts it."""
    scaled = Fraction(step, 10**expression.type.scale)
    return scaled - _EPOCH if expression.type.kind is Kind.DATE else scaled


def _values(subject: Subject, span: Span) -> ValueSet:
    """A span as values of a subject, none of which is NULL."""
    if subject.right is not None:
        possible = (
            (-1, span.low is None or span.low < 0),
            (0, (span.low is None or span.low <= 0) and (span.high is None or span.high >= 0)),
            (1, span.high is None or span.high > 0),
        )
        orders = (ValueSet((ORDER.around(order),)) for order, is_possible in possible if is_possible)
        return reduce(ValueSet.union, orders, EMPTY)
    shift = _EPOCH if subject.left.type.kind is Kind.DATE else 0
    cuts = domain(subject.left.type)
    low = BOTTOM if span.low is None else cuts.around(span.low + shift)[0]
    high = TOP if span.high is None else cuts.around(span.high + shift)[1]
    return ValueSet(((low, high),)) if low < high else EMPTY
