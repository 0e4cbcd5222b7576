"""Hidden predicates, inferred by transitivity: bounds and constants carried from one column to another (T5.1).

A *test* compares one expression with constants (the thesis's single-table condition), a *link* relates two expressions
(its joint-table condition). A test of one side of a link gives a test of the other. Each link is used at most once on
the way to a test, so the inference ends. What is inferred is true wherever all predicates are.
"""

from __future__ import annotations

import datetime as dt
import itertools
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from workbench.sql.algebra.expressions import Constant, Expression, sources
from workbench.sql.algebra.planning_cache import cached
from workbench.sql.algebra.types import Kind
from workbench.sql.predicates.canonical import canonical, canonical_comparison
from workbench.sql.predicates.cnf import FLIPPED, NEVER, Literal, Operator, ORPred, PredSet, or_pred, pred_set
from workbench.sql.predicates.implication import implies
from workbench.sql.predicates.linear import LinearForm, linear, linear_form

MOST_INFERRED = 64
"""Tests inferred for one PredSet, which keeps many tests of many links within bounds."""

_ORDERED = (Kind.STRING, Kind.BOOLEAN, Kind.TIMESTAMP)
"""Kinds without arithmetic whose order is total; DOUBLE, with NaN and rounding, is left out."""
_ABOVE = (Operator.GT, Operator.GE)

_Value = Fraction | str | bool | dt.datetime


# Tests and links are made by cached functions, so equal ones are one object and are looked up by their address.


@dataclass(frozen=True, eq=False)
class _Test:
    """An ORPred that compares one expression with constants, and the links it was inferred through."""

    predicate: ORPred
    expression: Expression
    choices: tuple[tuple[Operator, _Value], ...]
    through: frozenset[Literal] = frozenset()


@dataclass(frozen=True, eq=False)
class _Link:
    """``factor * source + other * target + constant`` compared with 0; without arithmetic, ``source - target``."""

    literal: Literal
    source: Expression
    target: Expression
    operator: Operator
    factor: Fraction = Fraction(1)
    other: Fraction = Fraction(-1)
    constant: Fraction = Fraction(0)


def infer(predicates: PredSet) -> PredSet:
    """The predicates with all that follows from them by transitivity, and nothing that one of them implies alone.

    Args:
        predicates: in any form, columns with the positions of their inputs.

    Returns:
        The same predicates as they are; in canonical form, tests of further expressions, and equalities of columns of
        different inputs that are equal to a third one.

    Example:
        >>> from workbench.sql.algebra.expressions import Column
        >>> from workbench.sql.algebra.types import STRING
        >>> a, b, k = Column("x", STRING), Column("y", STRING, 1), Constant("k", STRING)
        >>> given = [Literal(a, Operator.EQ, b), Literal(a, Operator.EQ, k)]
        >>> str(infer(pred_set(or_pred([x]) for x in given)))
        "1:y = 'k' and x = 'k' and x = 1:y"
    """
    given = [test for p in predicates if (test := _test(p)) is not None]
    links = [link for p in predicates for link in _links(p)]
    tests = _closure(given, links)
    strongest = [t for t in tests[len(given) :] if not any(_implies(o, t) for o in tests if o is not t)]
    inferred = canonical(pred_set(t.predicate for t in strongest))
    return pred_set([*predicates, *inferred, *_equalities(predicates, tests)])


def follows(predicate: ORPred, others: PredSet) -> bool:
    """Whether a test of one expression is among what ``infer`` gives for other predicates, or weaker.

    Example:
        >>> from workbench.sql.algebra.expressions import Column
        >>> from workbench.sql.algebra.types import STRING
        >>> a, b, k = Column("x", STRING), Column("y", STRING, 1), Constant("k", STRING)
        >>> given = [Literal(a, Operator.EQ, b), Literal(a, Operator.EQ, k)]
        >>> follows(or_pred([Literal(b, Operator.EQ, k)]), pred_set(or_pred([x]) for x in given))
        True
    """
    asked = _test(predicate)
    if asked is None:
        return False
    links = [link for p in others for link in _links(p)]
    if not any(link.target == asked.expression for link in links):
        return False
    given = [test for p in others if (test := _test(p)) is not None]
    return any(_implies(test, asked) for test in _closure(given, links))


def _closure(given: list[_Test], links: list[_Link]) -> list[_Test]:
    """The tests, and those they give through the links, nearest first."""
    tests, waiting = list(given), deque(given)
    while waiting and len(tests) - len(given) < MOST_INFERRED:
        test = waiting.popleft()
        for link in links:
            if link.source != test.expression or link.literal in test.through:
                continue
            inferred = _carried(test, link)
            if inferred is not None and not any(_implies(known, inferred) for known in tests):
                tests.append(inferred)
                waiting.append(inferred)
    return tests


# Reading tests and links.


@cached(50_000)
def _test(predicate: ORPred, through: frozenset[Literal] = frozenset()) -> _Test | None:
    choices = [_choice(x) for x in predicate.literals]
    known = [c for c in choices if c is not None]
    if len(known) != len(choices) or len({expression for expression, _, _ in known}) != 1:
        return None
    return _Test(predicate, known[0][0], tuple((operator, value) for _, operator, value in known), through)


@cached(50_000)
def _choice(literal: Literal) -> tuple[Expression, Operator, _Value] | None:
    """A comparison of one expression with a constant."""
    if literal.right is None:
        return None
    form = _form(literal)
    if form is not None:
        if len(form.terms) != 1:
            return None
        ((expression, factor),) = form.terms
        operator = literal.operator if factor > 0 else FLIPPED[literal.operator]
        return expression, operator, -form.constant / factor
    match literal.right:
        case Constant(str() | bool() | dt.datetime() as value) if literal.left.type.kind in _ORDERED:
            return literal.left, literal.operator, value
    return None


@cached(50_000)
def _form(literal: Literal) -> LinearForm | None:
    """An exact comparison as a combination compared with 0."""
    if literal.right is None or not (literal.left.type.exact and literal.right.type.exact):
        return None
    return linear(literal.left).plus(linear(literal.right).times(Fraction(-1)))


@cached(50_000)
def _links(predicate: ORPred) -> tuple[_Link, ...]:
    """A predicate as a link, in both directions; nothing for any other."""
    return tuple(_links_of(predicate.literals[0])) if len(predicate.literals) == 1 else ()


def _links_of(literal: Literal) -> Iterator[_Link]:
    left, right, operator = literal.left, literal.right, literal.operator
    if right is None or operator is Operator.NE:
        return
    form = _form(literal)
    if form is not None and len(form.terms) == 2:
        (a, i), (b, j) = form.terms
        yield _Link(literal, a, b, operator, i, j, form.constant)
        yield _Link(literal, b, a, operator, j, i, form.constant)
    elif left.type == right.type and left.type.kind in _ORDERED and not _any_constant(left, right):
        yield _Link(literal, left, right, operator)
        yield _Link(literal, right, left, FLIPPED[operator])


def _any_constant(*expressions: Expression) -> bool:
    return any(isinstance(e, Constant) for e in expressions)


# Carrying a test through a link.


@cached(50_000)
def _carried(test: _Test, link: _Link) -> _Test | None:
    """What a test of the link's source implies for its target."""
    carried = _through_equality(test, link) if link.operator is Operator.EQ else _through_order(test, link)
    literals = [x for x in carried if x != NEVER]
    if not literals or None in literals:
        return None
    return _test(or_pred(x for x in literals if x is not None), test.through | {link.literal})


def _through_equality(test: _Test, link: _Link) -> list[Literal | None]:
    """Every choice is carried as it is."""
    return [_placed(link, value, FLIPPED[o] if link.factor > 0 else o) for o, value in test.choices]


def _through_order(test: _Test, link: _Link) -> list[Literal | None]:
    """Only the end of the source's range that the link looks at is carried."""
    end = _end(test, upper=(link.factor > 0) == (link.operator in _ABOVE))
    if end is None:
        return [None]
    value, strict = end
    weak, strong = (Operator.GE, Operator.GT) if link.operator in _ABOVE else (Operator.LE, Operator.LT)
    return [_placed(link, value, strong if strict or link.operator is strong else weak)]


def _end(test: _Test, upper: bool) -> tuple[_Value, bool] | None:
    """The largest (or smallest) value a test lets through, and whether only what lies inside of it is let through."""
    strong, weak = (Operator.LT, Operator.LE) if upper else (Operator.GT, Operator.GE)
    if any(o not in (Operator.EQ, strong, weak) for o, _ in test.choices):
        return None
    values = [value for _, value in test.choices]
    end = max(values) if upper else min(values)
    return end, all(o is strong for o, value in test.choices if value == end)


def _placed(link: _Link, value: _Value, operator: Operator) -> Literal | None:
    """The link's comparison with ``operator``, its source replaced by a value."""
    if isinstance(value, Fraction):
        return canonical_comparison(
            linear_form([(link.target, link.other)], link.constant + link.factor * value), operator
        )
    return Literal(link.target, FLIPPED[operator], Constant(value, link.target.type))


def _implies(known: _Test, test: _Test) -> bool:
    """Whether one test of an expression implies another."""
    return known.expression == test.expression and implies(PredSet((known.predicate,)), PredSet((test.predicate,)))


# Columns equal to a third one.


def _equalities(predicates: PredSet, tests: Iterable[_Test]) -> list[ORPred]:
    """Equalities between expressions of different inputs that follow from others; not of those known as constants."""
    fixed = {t.expression for t in tests if len(t.choices) == 1 and t.choices[0][0] is Operator.EQ}
    groups: list[set[Expression]] = []
    for pair in (_equal_pair(p) for p in predicates):
        if pair:
            overlapping = [g for g in groups if g & pair]
            groups = [g for g in groups if not g & pair] + [pair.union(*overlapping)]
    return [
        predicate
        for group in groups
        for a, b in itertools.combinations(group, 2)
        if len(sources(a)) == len(sources(b)) == 1 and sources(a) != sources(b) and not {a, b} <= fixed
        for predicate in canonical(pred_set([or_pred([Literal(a, Operator.EQ, b)])]))
    ]


def _equal_pair(predicate: ORPred) -> set[Expression]:
    """The two sides of an equality without arithmetic; nothing for any other predicate."""
    literal = predicate.literals[0]
    if len(predicate.literals) > 1 or literal.operator is not Operator.EQ:
        return set()
    return {
        side
        for link in _links(predicate)
        if not link.constant and link.factor == -link.other
        for side in (link.source, link.target)
    }
