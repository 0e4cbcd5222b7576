"""Predicates evaluated row by row in plain Python, with SQL's three-valued logic: ``None`` is unknown."""

from __future__ import annotations

import math
from collections.abc import Mapping

from workbench.sql.expressions import Column, Constant
from workbench.sql.predicates import Literal, Operator, ORPred, PredSet


def satisfied(predicates: PredSet, row: Mapping[str, object]) -> bool:
    """Whether a row is let through: true, not unknown."""
    return all(_any(p, row) for p in predicates)


def _any(predicate: ORPred, row: Mapping[str, object]) -> bool:
    return any(literal_value(literal, row) is True for literal in predicate.literals)


def literal_value(literal: Literal, row: Mapping[str, object]) -> bool | None:
    """True, false or unknown."""
    left = _side(literal.left, row)
    match literal.operator:
        case Operator.IS_NULL:
            return left is None
        case Operator.IS_NOT_NULL:
            return left is not None
        case Operator.HOLDS:
            return None if left is None else bool(left)
    right = _side(literal.right, row)
    if left is None or right is None:
        return None
    order = compared(left, right)
    return {
        Operator.EQ: order == 0,
        Operator.NE: order != 0,
        Operator.LT: order < 0,
        Operator.LE: order <= 0,
        Operator.GT: order > 0,
        Operator.GE: order >= 0,
    }[literal.operator]


def compared(left: object, right: object) -> int:
    """-1, 0 or 1; beside a DOUBLE all are DOUBLE; NaN equals itself and is greater than any number, as in Spark."""
    if isinstance(left, float) or isinstance(right, float):
        left, right = float(left), float(right)  # type: ignore[arg-type]
    nans = [isinstance(side, float) and math.isnan(side) for side in (left, right)]
    if any(nans):
        return nans[0] - nans[1]
    return (left > right) - (left < right)  # type: ignore[operator]


def _side(side: object, row: Mapping[str, object]) -> object:
    match side:
        case Column():
            return row[side.name]
        case Constant():
            return side.value
    raise AssertionError(f"not evaluated here: {side}")
