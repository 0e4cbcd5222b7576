"""Expensive tests are evaluated only for rows that cheaper tests of the same selections have let through.

CACQ orders the predicates of a query by what they cost and drop (CACQ 4). Here all selections of a tree are tested at
once, so a test has a *guard*: a row needs it where the cheaper tests of some selection that asks for it hold. In the
others the selection fails anyway, and the test is NULL.

The tests of a join are one conjunction, so there an order is enough. Functions Spark calls last by itself.

A comparison is cheaper than a pattern, and that than a function of the analyst, which runs in a process of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import IntEnum

from workbench.sql.algebra.expressions import calls
from workbench.sql.functions.calls import FUNCTIONS, calls_functions
from workbench.sql.predicates.cnf import Literal, ORPred, PredSet, pred_set

MOST_ALTERNATIVES = 32
"""A guard of more alternatives would cost more than it spares."""


class CostClass(IntEnum):
    """Classes of the cost of a test, the cheapest first."""

    COMPARISON = 0
    PATTERN = 1
    USER_FUNCTION = 2


def cost_class(literal: Literal) -> CostClass:
    """The cost of evaluating a literal: that of the most expensive function in it."""
    if any(map(calls_functions, literal.expressions)):
        return CostClass.USER_FUNCTION
    called = (FUNCTIONS[name] for side in literal.expressions for name in calls(side))
    return CostClass.PATTERN if any(function.is_costly for function in called) else CostClass.COMPARISON


def guard_of(cost: CostClass, selections: Iterable[PredSet]) -> Sequence[PredSet] | None:
    """The alternatives of which one must hold where a test is needed; ``None`` where it may be needed for every row.

    Args:
        cost: of the test.
        selections: all that have it.

    Example:
        >>> from workbench.sql.algebra.expressions import Column, Constant
        >>> from workbench.sql.algebra.types import INTEGER
        >>> from workbench.sql.predicates.cnf import Operator, or_pred
        >>> big = or_pred([Literal(Column("a", INTEGER), Operator.GT, Constant(5, INTEGER))])
        >>> len(guard_of(CostClass.PATTERN, [pred_set([big])]))
        1
        >>> guard_of(CostClass.PATTERN, [pred_set([big]), pred_set([])]) is None
        True
    """
    alternatives = {frozenset(p for p in selection if _cost_class(p) < cost) for selection in selections}
    weakest = [one for one in alternatives if not any(other < one for other in alternatives)]
    if not all(weakest) or len(weakest) > MOST_ALTERNATIVES:
        return None
    return sorted(map(pred_set, weakest), key=lambda one: one.identity)


def by_cost(predicates: Iterable[ORPred]) -> Sequence[ORPred]:
    """The tests of a conjunction, cheap ones first: Spark evaluates one where those before it hold.

    Example:
        >>> from workbench.sql.algebra.expressions import Call, Column, Constant
        >>> from workbench.sql.algebra.types import INTEGER
        >>> from workbench.sql.predicates.cnf import Operator, or_pred
        >>> column = Column("z", INTEGER)
        >>> sides = (Call("f@1", (column,), INTEGER), column)
        >>> both = pred_set(or_pred([Literal(side, Operator.GT, Constant(5, INTEGER))]) for side in sides)
        >>> [str(one) for one in by_cost(both)]
        ['z > 5', 'f(z) > 5']
    """
    return sorted(predicates, key=_cost_class)


def _cost_class(predicate: ORPred) -> CostClass:
    return max(map(cost_class, predicate.literals))
