"""Boolean expression to PredSet: negation pushed down, then conjunctive normal form within bounds (T6.1).

The PredSet is true for exactly the rows the expression is true for. Negation is exact in literals; AND and OR above
them are monotone, so there unknown may be treated as false. A conjunct whose distribution would pass the bounds stays
whole, as one ``HOLDS`` literal, beside the clauses that all its alternatives have: by these a join finds its pairs.

What programs write around a condition is taken off: ``(a > 5) IS TRUE``, ``COALESCE(a > 5, false)`` and
``CASE WHEN a > 5 THEN 1 ELSE 0 END = 1`` are the condition. The tests of a text's beginning, end and part are LIKE.
"""

from __future__ import annotations

import re

from workbench.sql.algebra.expressions import Call, Constant, Expression
from workbench.sql.algebra.folding import fold
from workbench.sql.algebra.types import BOOLEAN, STRING
from workbench.sql.predicates.cnf import FALSE, NEGATED, Literal, Operator, PredSet, or_pred, orient, pred_set

MAX_OR_PREDS = 64
MAX_LITERALS = 512

_PARTS = {"startswith": "{}%", "endswith": "%{}", "contains": "%{}%"}
"""The tests of a part of a text, as patterns of LIKE."""
_COMPARISONS = {str(operator): operator for operator in NEGATED if "null" not in operator}

_Clause = frozenset[Literal]
Clauses = list[_Clause]


class _TooLarge(Exception):
    """Distribution passed a bound."""


def normal_form(expression: Expression | None) -> PredSet:
    """The PredSet that is true exactly where ``expression`` is; no expression is always true.

    Args:
        expression: a BOOLEAN expression.

    Example:
        >>> from workbench.sql.algebra.expressions import Column
        >>> p, q = Column("p", BOOLEAN), Column("q", BOOLEAN)
        >>> str(normal_form(Call("not", (Call("or", (p, q), BOOLEAN),), BOOLEAN)))
        'not(p) and not(q)'
    """
    if expression is None:
        return PredSet()
    clauses: Clauses = []
    for conjunct, negated in _conjuncts(expression, False):
        try:
            clauses += _clauses(conjunct, negated)
        except _TooLarge:
            whole = Call("not", (conjunct,), BOOLEAN) if negated else conjunct
            clauses += _common(conjunct, negated)
            clauses.append(frozenset([Literal(whole, Operator.HOLDS)]))
    if frozenset() in clauses:
        return FALSE
    return pred_set(or_pred(c) for c in _minimal(clauses))


def _common(expression: Expression, negated: bool) -> Clauses:
    """The clauses that every alternative of an OR has, which so hold wherever it is true."""
    match expression:
        case Call("or" | "and" as name, parts) if (name == "or") != negated:
            try:
                alternatives = [_clauses(part, negated) for part in parts]
            except _TooLarge:
                return []
            possible = [clauses for clauses in alternatives if frozenset() not in clauses]
            return [clause for clause in possible[0] if all(clause in other for other in possible)] if possible else []
    return []


def predicates_expression(predicates: PredSet) -> Expression:
    """An expression that is true exactly where a PredSet is.

    Example:
        >>> from workbench.sql.algebra.expressions import Column, text
        >>> p, q = Column("p", BOOLEAN), Column("q", BOOLEAN)
        >>> text(predicates_expression(normal_form(Call("and", (p, Call("not", (q,), BOOLEAN)), BOOLEAN))))
        'and(not(q), p)'
    """
    tests = [_joined("or", [_test(literal) for literal in p.literals], False) for p in predicates]
    return _joined("and", tests, True)


def _joined(connective: str, tests: list[Expression], of_none: bool) -> Expression:
    if len(tests) < 2:
        return tests[0] if tests else Constant(of_none, BOOLEAN)
    return Call(connective, tuple(tests), BOOLEAN)


def _test(literal: Literal) -> Expression:
    match literal.operator:
        case Operator.HOLDS:
            return literal.left
        case Operator.IS_NULL:
            return Call("is_null", (literal.left,), BOOLEAN)
        case Operator.IS_NOT_NULL:
            return Call("not", (Call("is_null", (literal.left,), BOOLEAN),), BOOLEAN)
    return Call(str(literal.operator), literal.expressions, BOOLEAN)


def _conjuncts(expression: Expression, negated: bool) -> list[tuple[Expression, bool]]:
    """The parts that must all be true, each with whether it is under NOT."""
    match expression:
        case Call("not", (inner,)):
            return _conjuncts(inner, not negated)
        case Call("and", parts) if not negated:
            return [c for part in parts for c in _conjuncts(part, negated)]
        case Call("or", parts) if negated:
            return [c for part in parts for c in _conjuncts(part, negated)]
        case _:
            return [(expression, negated)]


def _clauses(expression: Expression, negated: bool) -> Clauses:
    """CNF as a list of clauses; no clause is true, an empty clause is false."""
    match expression:
        case Constant(value):
            return [] if value is not None and bool(value) != negated else [frozenset()]
        case Call("not", (inner,)):
            return _clauses(inner, not negated)
        case Call("and" | "or" as name, parts):
            branches = [_clauses(part, negated) for part in parts]
            return _bounded([c for b in branches for c in b]) if (name == "and") != negated else _distributed(branches)
        case Call("in", (left, *choices)):
            tests = [_comparison(left, Operator.EQ, choice, negated) for choice in choices]
            return [c for t in tests for c in t] if negated else _union(tests)
        case Call("<=>", (left, right)) if isinstance(left, Constant) or isinstance(right, Constant):
            return _null_safe(left, right, negated)
        case Call("=" | "<>" as name, (Call() as condition, Constant(bool() as value))):
            return _clauses(condition, negated != ((name == "=") != value))
        case Call("case", (condition, Constant(True), Constant(False))) | Call(
            "coalesce", (condition, Constant(False))
        ):
            return _decided(condition, True, negated)
        case Call("case", (condition, Constant(False), Constant(True))):
            return _decided(condition, True, not negated)
        case Call(name, (Call("case", (condition, Constant() as one, Constant() as other)), Constant() as value)) if (
            name in _COMPARISONS and (chosen := _chosen(name, one, other, value)) is not None
        ):
            return _decided(condition, True, negated == chosen)
        case Call("like", (text, Constant(str() as pattern))) if "\\" not in pattern:
            return _like(text, re.sub("%+", "%", pattern), negated)
        case Call(name, (text, Constant(str() as part))) if name in _PARTS and not set(part) & set("%_\\"):
            return _like(text, _PARTS[name].format(part), negated)
        case Call(name, (left, right)) if name in _COMPARISONS:
            return _comparison(left, _COMPARISONS[name], right, negated)
        case Call("is_null", (Call(name, (left, Constant(value))),)) if name in _COMPARISONS and value is not None:
            return _clauses(Call("is_null", (left,), BOOLEAN), negated)
        case Call("is_null", (inner,)):
            if isinstance(inner, Constant):
                return [] if (inner.value is None) != negated else [frozenset()]
            return _literal(Literal(inner, Operator.IS_NOT_NULL if negated else Operator.IS_NULL))
        case _:
            whole = Call("not", (expression,), BOOLEAN) if negated else expression
            return _literal(Literal(whole, Operator.HOLDS))


def _literal(literal: Literal) -> Clauses:
    return [frozenset([literal])]


def _comparison(left: Expression, operator: Operator, right: Expression, negated: bool) -> Clauses:
    """A comparison with NULL is never true, and neither is its negation."""
    if any(isinstance(side, Constant) and side.value is None for side in (left, right)):
        return [frozenset()]
    return _literal(orient(Literal(left, NEGATED[operator] if negated else operator, right)))


def _like(text: Expression, pattern: str, negated: bool) -> Clauses:
    """A pattern without escapes and doubled ``%``: of any text, of one, or of several."""
    if pattern == "%":
        return [frozenset()] if negated else _literal(Literal(text, Operator.IS_NOT_NULL))
    if not set(pattern) & set("%_"):
        return _comparison(text, Operator.EQ, Constant(pattern, STRING), negated)
    whole = Call("like", (text, Constant(pattern, STRING)), BOOLEAN)
    return _literal(Literal(Call("not", (whole,), BOOLEAN) if negated else whole, Operator.HOLDS))


def _decided(condition: Expression, value: bool, negated: bool) -> Clauses:
    """That a condition has a truth value, or not: then it has the other one, or none."""
    clauses = _clauses(condition, value == negated)
    if not negated:
        return clauses
    unknown = _clauses(Call("is_null", (condition,), BOOLEAN), False)
    return _distributed([clauses, unknown])


def _chosen(operator: str, one: Constant, other: Constant, value: Constant) -> bool | None:
    """Which of two constants alone compares with a value: whether the first; ``None`` where both do, or none."""
    if any(constant.value is None for constant in (one, other, value)):
        return None
    first, second = (fold(Call(operator, (constant, value), BOOLEAN)) for constant in (one, other))
    return None if first is None or second is None or first.value == second.value else bool(first.value)


def _null_safe(left: Expression, right: Expression, negated: bool) -> Clauses:
    """``<=>`` with a constant, written with the literals that can be indexed."""
    if isinstance(left, Constant):
        left, right = right, left
    assert isinstance(right, Constant)
    if isinstance(left, Constant):
        return [] if (left.value == right.value) != negated else [frozenset()]
    if right.value is None:
        return _literal(Literal(left, Operator.IS_NOT_NULL if negated else Operator.IS_NULL))
    if isinstance(left, Call) and isinstance(right.value, bool):
        return _decided(left, right.value, negated)
    differs = _comparison(left, Operator.EQ, right, negated)
    return [differs[0] | {Literal(left, Operator.IS_NULL)}] if negated else differs


def _union(tests: list[Clauses]) -> Clauses:
    """One clause that is the disjunction of single-clause tests; tests that are never true add nothing."""
    return [frozenset(literal for (clause,) in tests for literal in clause)]


def _distributed(branches: list[Clauses]) -> Clauses:
    """OR of conjunctions: one clause for every way to pick a clause of each branch."""
    result: Clauses = [frozenset()]
    for branch in sorted(branches, key=len):
        if len(result) * len(branch) > MAX_OR_PREDS**2:
            raise _TooLarge
        result = _bounded(_minimal([a | b for a in result for b in branch]))
    return result


def _bounded(clauses: Clauses) -> Clauses:
    if len(clauses) > MAX_OR_PREDS or (len(clauses) > 1 and sum(map(len, clauses)) > MAX_LITERALS):
        raise _TooLarge
    return clauses


def _minimal(clauses: Clauses) -> Clauses:
    """Without clauses that contain another one: A AND (A OR B) is A."""
    minimal: Clauses = []
    for clause in sorted(set(clauses), key=len):
        if not any(other <= clause for other in minimal):
            minimal.append(clause)
    return minimal
