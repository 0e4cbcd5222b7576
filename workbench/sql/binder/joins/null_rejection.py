"""Conditions that no row satisfies in which some inputs are NULL: they make an outer join an inner one.

Only what is certain: a condition that is not recognized stays above the outer join, which is as exact
(C. Galindo-Legaria, A. Rosenthal, *Outerjoin Simplification and Reordering*, TODS 1997).
"""

from __future__ import annotations

from collections.abc import Set

from workbench.sql.algebra.expressions import Column, Constant, Expression
from workbench.sql.functions.calls import FUNCTIONS
from workbench.sql.predicates.cnf import Literal, Operator, ORPred


def rejects_nulls(predicate: ORPred, positions: Set[int]) -> bool:
    """Whether a predicate is never true where all columns of these inputs are NULL.

    Example:
        >>> from workbench.sql.algebra.types import INTEGER
        >>> from workbench.sql.predicates.cnf import or_pred
        >>> b = Column("b", INTEGER, 1)
        >>> above = or_pred([Literal(b, Operator.GT, Constant(3, INTEGER))])
        >>> missing = or_pred([Literal(b, Operator.IS_NULL)])
        >>> rejects_nulls(above, {1}), rejects_nulls(missing, {1}), rejects_nulls(above, {0})
        (True, False, False)
    """
    return all(_never_true(literal, positions) for literal in predicate.literals)


def _never_true(literal: Literal, positions: Set[int]) -> bool:
    return literal.operator is not Operator.IS_NULL and any(_is_null(side, positions) for side in literal.expressions)


def _is_null(expression: Expression, positions: Set[int]) -> bool:
    """Whether an expression is NULL for certain: it reads such a column through functions of which NULL makes NULL."""
    match expression:
        case Column():
            return expression.source in positions
        case Constant():
            return expression.value is None
    function = FUNCTIONS.get(expression.function)  # those of analysts are not there, and may make anything of NULL
    return function is not None and function.strict and any(_is_null(a, positions) for a in expression.arguments)
