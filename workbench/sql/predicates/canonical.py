"""Predicates in canonical form: one text for all ways of writing a comparison (T6.2.1, Algorithms 6.1 and 6.2).

An exact comparison is solved: its columns to the left with coprime whole coefficients, the first of them positive, and
one constant to the right. So equal comparisons are equal texts, and weaker ones differ in their constant only. An
equality between inputs keeps one input on each side, as joins need it. Everything else (strings, DOUBLE, LIKE, user
functions) is only put in order; what is canonical is true for exactly the rows that ``without_overflow`` is true for.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from itertools import product

from workbench.sql.algebra.arithmetic import number
from workbench.sql.algebra.exact_arithmetic import date_constant, days, exact_constant_of, widened_sides
from workbench.sql.algebra.expressions import Call, Column, Constant, Expression, reading_order, sources, text, walk
from workbench.sql.algebra.folding import compares, fold
from workbench.sql.algebra.planning_cache import cached
from workbench.sql.algebra.types import BOOLEAN, DATE, DOUBLE, INTEGER, Kind
from workbench.sql.functions.calls import call
from workbench.sql.predicates.cnf import (
    ALWAYS,
    FALSE,
    FLIPPED,
    NEVER,
    Literal,
    Operator,
    ORPred,
    PredSet,
    or_pred,
    orient,
    pred_set,
)
from workbench.sql.predicates.linear import (
    LinearForm,
    Terms,
    factors_of,
    linear,
    linear_expression,
    linear_form,
    overflows,
    polynomial,
)
from workbench.sql.predicates.moved_times import in_micros, time_comparison
from workbench.sql.predicates.thresholds import threshold

_WITH_EQUAL = (Operator.EQ, Operator.LE, Operator.GE)
MOST_DISTRIBUTED = 3
"""Tests for NULL of a literal; more would be too many clauses."""
MOST_CLAUSES = 8
"""Of one disjunction whose literals stand for several each."""
_LARGEST = 2**63 - 1
_ARITHMETIC = ("+", "-", "*", "/", "%", "div", "neg")


def canonical(predicates: PredSet) -> PredSet:
    """Each literal in canonical form; what always or never holds is dropped where it changes nothing.

    Example:
        >>> from workbench.sql.algebra.expressions import Column
        >>> from workbench.sql.algebra.types import INTEGER
        >>> double = Call("*", (Constant(2, INTEGER), Column("a", INTEGER)), INTEGER)
        >>> str(canonical(pred_set([or_pred([Literal(double, Operator.GT, Constant(10, INTEGER))])])))
        'a > 5'
    """
    clauses = [set(clause) for p in predicates for clause in _clauses(p, canonical_conjuncts)]
    needed = [clause - {NEVER} for clause in clauses if ALWAYS not in clause]
    if not all(needed):
        return FALSE
    # A true comparison has sides that are not NULL.
    compared = (x for clause in needed if len(clause) == 1 for x in clause if x.right is not None)
    known = {part for x in compared for side in x.expressions for part in (side, *_opaque(side))}
    return pred_set(
        or_pred(clause)
        for clause in needed
        if not any(x.operator is Operator.IS_NOT_NULL and x.left in known for x in clause)
    )


def without_overflow(predicates: PredSet) -> PredSet:
    """The same comparisons with INTEGER arithmetic that cannot overflow, rearranged only where nothing else holds it.

    It is what a query means, with or without canonical forms.
    """
    return pred_set(or_pred(clause) for p in predicates for clause in _clauses(p, _widened))


def _clauses(predicate: ORPred, conjuncts: Callable[[Literal], tuple[Literal, ...]]) -> Iterator[tuple[Literal, ...]]:
    """The disjunctions that hold together where one of literals that stand for several each holds."""
    literals = [either for x in predicate.literals for either in _either(x)]
    parts = [conjuncts(x) for x in literals]
    if math.prod(map(len, parts)) > MOST_CLAUSES:
        parts = [found if len(found) == 1 else (x,) for x, found in zip(literals, parts, strict=True)]
    return product(*parts)


@cached(100_000)
def canonical_conjuncts(literal: Literal) -> tuple[Literal, ...]:
    """A literal in canonical form: one, and tests for NULL of what cancels out of it.

    Example:
        >>> from workbench.sql.algebra.expressions import Column
        >>> from workbench.sql.algebra.types import INTEGER
        >>> [str(x) for x in canonical_conjuncts(Literal(Column("e", DATE), Operator.GE, Column("d", DATE)))]
        ['(d - e) <= 0']
        >>> a, b = Column("a", INTEGER), Column("b", INTEGER)
        >>> cancelled = Call("-", (b, b), INTEGER)
        >>> [str(x) for x in canonical_conjuncts(Literal(a, Operator.GT, cancelled))]
        ['a > 0', 'b is not null']
    """
    if _is_canonical(literal):
        return (literal,)
    return tuple(x for wide in _widened(literal) for x in _canonical_of_wide(wide))


def _is_canonical(literal: Literal) -> bool:
    """Whether a literal says which value of its type a column has, as the many of a long list do."""
    match literal:
        case Literal(Column(type=left), Operator.EQ, Constant(str(), right)):
            return left == right and left.kind is Kind.STRING
        case Literal(Column(type=left), Operator.EQ, Constant(int() as value, right)):
            return left == right == INTEGER and abs(value) <= _LARGEST
    return False


def _canonical_of_wide(wide: Literal) -> tuple[Literal, ...]:
    """The canonical form of a literal that cannot overflow."""
    if wide.right is None:
        return (_tested(replace(wide, left=canonical_expression(wide.left))),)
    left, right = canonical_expression(wide.left), canonical_expression(wide.right)
    if any(isinstance(side, Constant) and side.value is None for side in (left, right)):
        return (NEVER,)
    in_order = orient(Literal(left, wide.operator, right))
    if left == right and not isinstance(left, Constant):
        return (Literal(left, Operator.IS_NOT_NULL) if wide.operator in _WITH_EQUAL else NEVER,)
    if not (left.type.exact and right.type.exact):
        return (_folded(in_order),)
    solved = _conjuncts(linear(left).plus(linear(right).times(Fraction(-1))), wide.operator)
    return (in_order,) if solved is None else tuple(map(time_comparison, solved))


def _conjuncts(form: LinearForm, operator: Operator) -> tuple[Literal, ...] | None:
    """What holds where a combination compares with 0: the comparison without what cancels, which is not NULL."""
    solved = canonical_comparison(replace(form, cancelled=()), operator)
    read = {factor for e, _ in form.terms for factor in factors_of(e)}
    unread = dict.fromkeys(factor for e in form.cancelled for factor in factors_of(e) if factor not in read)
    if solved is None or len(unread) > MOST_DISTRIBUTED:
        return None
    known = tuple(Literal(factor, Operator.IS_NOT_NULL) for factor in unread)
    return (NEVER,) if solved == NEVER else known if known and solved == ALWAYS else (solved, *known)


def canonical_expression(expression: Expression) -> Expression:
    """The expression with operands that may be exchanged in the order of their text, constants last (Algorithm 6.2).

    Sums and products are not regrouped, since INTEGER arithmetic may overflow in one grouping and not in another.

    ``b + a`` is ``a + b``.
    """
    if not isinstance(expression, Call):
        return expression
    arguments = tuple(canonical_expression(a) for a in expression.arguments)
    function, type_ = expression.function, expression.type
    if function in ("+", "-", "*", "neg") and all(isinstance(a, Constant) for a in arguments):
        folded = call(function, *arguments)
        return folded if folded.type == type_ else replace(expression, arguments=arguments)
    if function in ("and", "or") or (function in ("+", "*") and type_.kind in (Kind.INTEGER, Kind.DECIMAL)):
        arguments = tuple(sorted(arguments, key=lambda a: (isinstance(a, Constant), reading_order(a))))
    return replace(expression, arguments=arguments)


def canonical_comparison(form: LinearForm, operator: Operator) -> Literal | None:
    """The canonical literal that is true where a combination compares with 0; ``None`` when there is none.

    Args:
        form: the left side minus the right side.
        operator: of a comparison.
    """
    if form.cancelled:
        return None
    if not form.terms:
        return ALWAYS if compares(operator, (form.constant > 0) - (form.constant < 0)) else NEVER
    factor = _factor(form)
    form = form.times(factor)
    return _solved(form, operator if factor > 0 else FLIPPED[operator])


def _factor(form: LinearForm) -> Fraction:
    """What makes the coefficients coprime whole numbers, the first of them positive."""
    coefficients = [k for _, k in form.terms]
    common = math.lcm(*(k.denominator for k in coefficients))
    divisor = math.gcd(*(int(k * common) for k in coefficients))
    return Fraction(common, divisor) * (1 if coefficients[0] > 0 else -1)


def _solved(form: LinearForm, operator: Operator) -> Literal | None:
    terms, bound = LinearForm(form.terms, Fraction(0)), -form.constant
    step = _step(form)
    if bound % step:
        # Between two values: equal to none, and beyond it is beyond the nearest one.
        if operator is Operator.EQ:
            return NEVER
        left = _canonical_sum(terms)
        if operator is Operator.NE:
            return None if left is None else Literal(left, Operator.IS_NOT_NULL)
        above = operator in (Operator.GT, Operator.GE)
        operator = Operator.GT if above else Operator.LT
        bound = (math.floor(bound / step) if above else math.ceil(bound / step)) * step
    if operator is Operator.EQ and (literal := _equality(terms, bound)) is not None:
        return literal
    if operator is Operator.NE and not bound and [k for _, k in terms.terms] == [1, -1]:
        return orient(_compared(terms.terms[0][0], operator, terms.terms[1][0]))
    left = _canonical_sum(terms)
    if left is None:
        return _in_two_sums(terms.terms, bound, operator)
    right = date_constant(bound) if left.type == DATE else None
    if right is None:
        left, right = days(left), exact_constant_of(bound)
    return None if right is None else Literal(left, operator, right)


def _in_two_sums(terms: Terms, bound: Fraction, operator: Operator) -> Literal | None:
    """A comparison of two sums, where 38 digits are few for one: as many terms to the left as these are enough for."""
    for taken in range(len(terms) - 1, 0, -1):
        rest = linear_form(((e, -k) for e, k in terms[taken:]), bound)
        left, right = _canonical_sum(linear_form(terms[:taken], Fraction(0))), _canonical_sum(rest)
        if left is not None and right is not None:
            return orient(_compared(left, operator, right))
    return None


def _step(form: LinearForm) -> Fraction:
    """The distance of the values that the terms can sum up to: 1 for whole numbers, 0.01 for DECIMAL(15,2)."""
    steps = [k / 10**e.type.scale for e, k in form.terms]
    common = math.lcm(*(s.denominator for s in steps))
    return Fraction(math.gcd(*(int(s * common) for s in steps)), common)


def _equality(terms: LinearForm, bound: Fraction) -> Literal | None:
    """An equality solved for one input, so that each input is on one side; or of two columns, which is plainest."""
    (first, k), *rest = terms.terms
    inputs = sources(first)
    mine = [(e, c) for e, c in terms.terms if sources(e) == inputs]
    others = [(e, -c) for e, c in terms.terms if sources(e) != inputs]
    if len(rest) == 1 and not bound and k == 1 and rest[0][1] == -1:
        mine, others = [(first, Fraction(1))], [(rest[0][0], Fraction(1))]
    if not others:
        return None
    left, right = _canonical_sum(linear_form(mine, Fraction(0))), _canonical_sum(linear_form(others, bound))
    if left is None or right is None:
        return None
    return orient(_compared(left, Operator.EQ, right))


def _canonical_sum(form: LinearForm) -> Expression | None:
    expression = linear_expression(form)
    return expression and canonical_expression(expression)


def _widened(literal: Literal) -> tuple[Literal, ...]:
    """A literal, and others that hold with it, whose INTEGER arithmetic does not overflow."""
    literal = in_micros(literal)
    if literal.right is None:
        return (literal,)
    literal = threshold(orient(literal))
    if len(both := _within(literal)) > 1:
        return tuple(wide for each in both for wide in _widened(each))
    assert literal.right is not None
    left, right = literal.left, literal.right
    if left.type.exact and right.type.exact:
        quotient = canonical_comparison(linear(left).plus(linear(right).times(Fraction(-1))), literal.operator)
        if quotient is not None and quotient != literal and threshold(quotient) != quotient:
            return _widened(threshold(quotient))
        if overflows(left) or overflows(right):
            difference = polynomial(left).plus(polynomial(right).times(Fraction(-1)))
            if (solved := _conjuncts(difference, literal.operator)) is not None:
                return solved
    left, right = widened_sides(left, right)
    return (orient(Literal(left, literal.operator, right)),)


def _either(literal: Literal) -> tuple[Literal, ...]:
    """A size that is a constant, as either of two values, each of which can be the key of a join."""
    match literal if literal.right is None else orient(literal):
        case Literal(Call("abs", (inner,)), Operator.EQ, Constant(int() | Decimal() as size) as right) if (
            inner.type.exact and size > 0
        ):
            negative = fold(Call("neg", (right,), right.type))
            if negative is not None:
                return Literal(inner, Operator.EQ, right), Literal(inner, Operator.EQ, negative)
    return (literal,)


def _within(literal: Literal) -> tuple[Literal, ...]:
    """A size that is less than a constant, as a value between two; any other literal as it is.

    An INTEGER without a size, the least one, is between no two either.
    """
    match literal:
        case Literal(
            Call("abs", (inner,)),
            Operator.LT | Operator.LE as operator,
            Constant(int() | float() | Decimal() as most) as right,
        ):
            least = fold(Call("neg", (right,), right.type))
            if (
                least is not None and most == most and not (inner.type == INTEGER and most > _LARGEST)
            ):  # NaN is unlike itself
                return (Literal(inner, operator, right), Literal(inner, FLIPPED[operator], least))
    return (literal,)


def _compared(left: Expression, operator: Operator, right: Expression) -> Literal:
    """Two exact sides compared: as dates where both are, else as numbers."""
    if (left.type == DATE) != (right.type == DATE):
        left, right = days(left), days(right)
    return Literal(left, operator, right)


def _tested(literal: Literal) -> Literal:
    """A test of one side; of a constant it always or never holds."""
    if not isinstance(literal.left, Constant):
        return literal
    value = literal.left.value
    holds = {Operator.IS_NULL: value is None, Operator.IS_NOT_NULL: value is not None}.get(literal.operator)
    return ALWAYS if (value is True if holds is None else holds) else NEVER


def _folded(literal: Literal) -> Literal:
    """A comparison that has no arithmetic; of two constants it always or never holds."""
    assert literal.right is not None
    result = fold(Call(str(literal.operator), literal.expressions, BOOLEAN))
    both = isinstance(literal.left, Constant) and isinstance(literal.right, Constant)
    return (ALWAYS if result.value else NEVER) if both and result is not None else literal


@cached(2**14)
def why_not_canonical(literal: Literal) -> str | None:
    """Why arithmetic of a comparison was not solved, for an analyst who wonders why nothing was shared.

    Returns:
        A sentence, such as "`x * x` is DOUBLE and cannot be inverted exactly"; ``None`` when nothing was left.
    """
    if literal.right is None:
        return None
    opaque = (part for wide in _widened(literal) for side in wide.expressions for part in _opaque(side))
    reasons = (_reason(part) for whole in opaque for part in walk(whole))
    return next((f"`{name}` {why}" for name, why in filter(None, reasons)), None)


def _opaque(side: Expression) -> list[Expression]:
    return [factor for e, _ in linear(side).terms for factor in factors_of(e)] if side.type.exact else [side]


def _reason(expression: Expression) -> tuple[str, str] | None:
    if not isinstance(expression, Call) or expression.function not in _ARITHMETIC:
        return None
    name = text(_shown(expression))
    name = name[1:-1] if name[0] == "(" else name
    match expression.function:
        case _ if expression.type == DOUBLE:
            return name, "is DOUBLE and cannot be inverted exactly"
        case "div" | "%":
            return name, "drops a part of the quotient and cannot be inverted"
        case "/":
            return name, "is a division that rounds and cannot be inverted exactly"
    return name, "may need more than 38 digits and is left as it is"


def _shown(expression: Expression) -> Expression:
    """Nearer to what was written: without conversions and numbers of inputs, and constants without their kind."""
    match expression:
        case Column():
            return replace(expression, source=0)
        case Call("cast", (inner,)):
            return _shown(inner)
        case Call():
            return replace(expression, arguments=tuple(map(_shown, expression.arguments)))
        case Constant(float() as value) if math.isfinite(value):
            return number(Decimal(repr(value)))
    return expression
