"""Literals to sets of values of the expression they test, and back.

The thesis compares literals by a table of operators and the order of their constants (T6.2.3, Table 6.1). With sets
implication is containment, a conjunction an intersection, and a disjunction a union.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from workbench.sql.algebra.arithmetic import decimal_of, fits
from workbench.sql.algebra.expressions import Call, Constant, Expression, identity, text
from workbench.sql.algebra.types import BOOLEAN, MAX_PRECISION, Kind, common_type
from workbench.sql.interning import Interned
from workbench.sql.predicates.cnf import FALSE, Literal, Operator, ORPred, or_pred, orient
from workbench.sql.predicates.value_sets import (
    BOTTOM,
    EMPTY,
    EVERYTHING,
    NOT_NULL,
    NULLS,
    ORDER,
    TOP,
    Cut,
    ValueSet,
    domain,
)

_TRUTHS = {truth: ValueSet((domain(BOOLEAN).around(truth),)) for truth in (False, True)}
_EQUAL = ORDER.around(0)
"""The cuts around *equal* among {less, equal, greater}."""


@dataclass(frozen=True, eq=False)
class Subject(Interned):
    """The subject of a literal: an expression, or how ``left`` compares with ``right`` (less, equal or greater)."""

    left: Expression
    right: Expression | None = None

    @property
    def identity(self) -> str:
        """The canonical form, with all types; see ``expressions.identity``."""
        return identity(self.left) if self.right is None else f"{identity(self.left)} ? {identity(self.right)}"


def value_set(literal: Literal) -> ValueSet | None:
    """The values of the left side that make a literal true; ``None`` where they are not certain.

    Not certain are comparisons of two expressions, and those with a constant of a type that Spark would convert. No
    value makes ``a = 2.5`` true of an INTEGER.
    """
    match literal.operator:
        case Operator.IS_NULL:
            return NULLS
        case Operator.IS_NOT_NULL:
            return NOT_NULL
        case Operator.HOLDS:
            return _TRUTHS[True]
    if any(isinstance(side, Constant) and side.value is None for side in literal.expressions):
        return EMPTY
    if not isinstance(literal.right, Constant):
        return None
    around = _around(literal.left, literal.right)
    return _related(literal.operator, *around) if around else None


def subject_and_values(literal: Literal) -> tuple[Subject, ValueSet]:
    """The subject of a literal, and the values that make it true.

    A boolean expression that must hold is tested for true, one under NOT for false. A comparison of two expressions is
    a set of {less, equal, greater}, since one of the three is the case when neither side is NULL.
    """
    literal = orient(literal)
    left, right = literal.left, literal.right
    if literal.operator is Operator.HOLDS:
        return _truth_of(left)
    values = value_set(literal)
    if values is not None:
        return Subject(left), values
    assert right is not None
    if common_type(left.type, right.type) is None:
        return _truth_of(Call(str(literal.operator), (left, right), BOOLEAN))
    return Subject(left, right), _related(literal.operator, *_EQUAL)


def _truth_of(condition: Expression) -> tuple[Subject, ValueSet]:
    truth = True
    while isinstance(condition, Call) and condition.function == "not":
        condition, truth = condition.arguments[0], not truth
    if isinstance(condition, Constant):
        return Subject(condition), EVERYTHING if condition.value is truth else EMPTY
    return Subject(condition), _TRUTHS[truth]


def _related(operator: Operator, below: Cut, above: Cut) -> ValueSet:
    """The values in the relation ``operator`` to those between two cuts; these values are equal, or there are none."""
    pairs = {
        Operator.EQ: [(below, above)],
        Operator.NE: [(BOTTOM, below), (above, TOP)],
        Operator.LT: [(BOTTOM, below)],
        Operator.LE: [(BOTTOM, above)],
        Operator.GT: [(above, TOP)],
        Operator.GE: [(below, TOP)],
    }[operator]
    return ValueSet(tuple((low, high) for low, high in pairs if low < high)).union(EMPTY)


def _around(left: Expression, constant: Constant) -> tuple[Cut, Cut] | None:
    """The cuts around a constant among the values of ``left``, if it is compared with them as it is."""
    mine, other = left.type, constant.type
    exact = (Kind.INTEGER, Kind.DECIMAL)
    if other.kind in exact and not fits(constant.value, other):  # type: ignore[arg-type]
        return None
    if mine.kind in exact and other.kind in exact:
        a, b = decimal_of(left), decimal_of(constant)
        digits = max(a.precision - a.scale, b.precision - b.scale) + max(a.scale, b.scale)
        if mine != other and digits > MAX_PRECISION:
            return None  # Spark compares them cut to what 38 digits can hold
    elif mine.kind is not other.kind and not (mine.kind is Kind.DOUBLE and other.kind in exact):
        return None
    return domain(mine).around(constant.value)


# Back to predicates.


def to_or_preds(left: Expression | Subject, values: ValueSet) -> list[ORPred]:
    """The CNF of a set: equal sets give equal text.

    A bound below and one above, and ``<>`` or a disjunction of two for each gap; or one disjunction where this takes
    fewer literals (a list of equalities also where it takes as many). Of the two ways to write a bound the one with the
    rounder constant is taken, and the closed one if both are as round: `> 500`, not `>= 501`.

    Args:
        left: the expression, or what else is tested.
        values: a set over it.

    Example:
        >>> from workbench.sql.algebra.expressions import Column
        >>> from workbench.sql.algebra.types import INTEGER
        >>> a = Column("a", INTEGER)
        >>> two = [value_set(Literal(a, op, Constant(n, INTEGER))) for op, n in ((Operator.GT, 5), (Operator.NE, 20))]
        >>> [str(p) for p in to_or_preds(a, two[0].intersect(two[1]))]
        ['a >= 6', 'a <> 20']
    """
    subject = left if isinstance(left, Subject) else Subject(left)
    if values == EVERYTHING:
        return []
    if not values:
        return list(FALSE)
    if subject.right is not None and values == NOT_NULL:
        sides = [side for side in (subject.left, subject.right) if not isinstance(side, Constant)]
        return [or_pred([Literal(side, Operator.IS_NOT_NULL)]) for side in sides]
    conjunction = _conjunction(subject, values)
    limit = sum(map(len, conjunction)) - values.is_open_ended if conjunction else math.inf
    disjunction = to_literals(subject, values, limit)
    return [or_pred(c) for c in ([disjunction] if disjunction is not None else conjunction)]


def _conjunction(subject: Subject, values: ValueSet) -> list[list[Literal]]:
    """Bounds and gaps; none for a set that has none, and for truths and comparisons, which need a literal or two."""
    if subject.right is not None or subject.left.type == BOOLEAN or not values.intervals:
        return []
    clauses: list[list[Literal]] = []
    low, high = values.intervals[0][0], values.intervals[-1][1]
    if low != BOTTOM:
        clauses.append([_bound(subject, low, lower=True)])
    if high != TOP:
        clauses.append([_bound(subject, high, lower=False)])
    for gap in values.gaps():
        missing = domain(subject.left.type).points(*gap, limit=2)
        if missing is None:
            clauses.append([_bound(subject, gap[0], lower=False), _bound(subject, gap[1], lower=True)])
        else:
            clauses += [[Literal(subject.left, Operator.NE, point)] for point in missing]
    return [clause + _null(subject, values) for clause in clauses]


def to_literals(subject: Subject, values: ValueSet, limit: float = math.inf) -> list[Literal] | None:
    """One disjunction of literals that says the set, which must say something; ``None`` when there is none so short.

    Args:
        subject: what is tested.
        values: a set over it; a union of what literals say has a disjunction.
        limit: how many literals it may have.
    """
    if subject.right is not None:
        return [Literal(subject.left, operator, subject.right) for operator in _operators(values)]
    out = _null(subject, values)
    if values.intervals == NOT_NULL.intervals:
        return [*out, Literal(subject.left, Operator.IS_NOT_NULL)]
    if len(gaps := list(values.gaps())) == 1 and values.hull().intervals == NOT_NULL.intervals:
        missing = domain(subject.left.type).points(*gaps[0], limit=1)
        if missing is not None:
            return [*out, Literal(subject.left, Operator.NE, missing[0])]
    for low, high in values.intervals:
        open_ended = low == BOTTOM or high == TOP
        points = domain(subject.left.type).points(low, high, 1 if open_ended else limit - len(out))
        if points is not None:
            out += [_equal(subject, point) for point in points]
        elif open_ended:
            out.append(_bound(subject, high, lower=False) if low == BOTTOM else _bound(subject, low, lower=True))
        else:
            return None
    return out if len(out) <= limit else None


def _operators(values: ValueSet) -> list[Operator]:
    """The comparison that says a set of {less, equal, greater}; all three together take two."""
    if values == NOT_NULL:
        return [Operator.LT, Operator.GE]
    comparisons = (Operator.EQ, Operator.NE, Operator.LT, Operator.LE, Operator.GT, Operator.GE)
    return [operator for operator in comparisons if _related(operator, *_EQUAL) == values]


def _null(subject: Subject, values: ValueSet) -> list[Literal]:
    return [Literal(subject.left, Operator.IS_NULL)] if values.null else []


def _equal(subject: Subject, point: Constant) -> Literal:
    if subject.left.type != BOOLEAN:
        return Literal(subject.left, Operator.EQ, point)
    return Literal(subject.left if point.value else Call("not", (subject.left,), BOOLEAN), Operator.HOLDS)


def _bound(subject: Subject, cut: Cut, lower: bool) -> Literal:
    """The rounder of the ways to write a bound."""

    def length(border: tuple[Constant, bool]) -> tuple[int, bool]:
        constant, above = border
        return len(text(constant).rstrip("0")), above == lower

    constant, above = min(domain(subject.left.type).borders(cut), key=length)
    operator = (Operator.GT if above else Operator.GE) if lower else (Operator.LE if above else Operator.LT)
    return Literal(subject.left, operator, constant)
