"""Expressions and predicates row by row in plain Python, with SQL's three-valued logic: ``None`` is unknown."""

from __future__ import annotations

import math
from collections.abc import Mapping

from workbench.sql.algebra.expressions import Call, Column, Constant, Expression
from workbench.sql.predicates.cnf import Literal, Operator, PredSet


def satisfied(predicates: PredSet, row: Mapping[str, object]) -> bool:
    """Whether a row is let through: true, not unknown."""
    return all(any(_holds(literal, row) is True for literal in p.literals) for p in predicates)


def value(expression: Expression, row: Mapping[str, object]) -> object:
    """The value of an expression; of a boolean one True, False or None."""
    match expression:
        case Column(name):
            return row[name]
        case Constant(constant):
            return constant
        case Call(function, arguments):
            return _called(function, [value(a, row) for a in arguments])
    raise AssertionError(f"not evaluated here: {expression}")


def _holds(literal: Literal, row: Mapping[str, object]) -> object:
    left = value(literal.left, row)
    match literal.operator:
        case Operator.HOLDS:
            return None if left is None else bool(left)
        case Operator.IS_NULL:
            return left is None
        case Operator.IS_NOT_NULL:
            return left is not None
    assert literal.right is not None
    return _called(str(literal.operator), [left, value(literal.right, row)])


def _called(function: str, values: list[object]) -> object:
    match function, values:
        case "and", _:
            return False if False in values else None if None in values else True
        case "or", _:
            return True if True in values else None if None in values else False
        case "not", [inner]:
            return None if inner is None else not inner
        case "is_null", [inner]:
            return inner is None
        case "<=>", [left, right]:
            return left == right
        case "in", [left, *choices]:
            return _called("or", [_called("=", [left, choice]) for choice in choices] + [False])
        case _, [left, right]:
            if left is None or right is None:
                return None
            order = _compared(left, right)
            return {"=": order == 0, "<>": order != 0, "<": order < 0, "<=": order <= 0, ">": order > 0,
                    ">=": order >= 0}[function]  # fmt: skip
    raise AssertionError(f"not evaluated here: {function}")


def _compared(left: object, right: object) -> int:
    """-1, 0 or 1; beside a DOUBLE all are DOUBLE; NaN equals itself and is greater than any number, as in Spark."""
    if isinstance(left, float) or isinstance(right, float):
        left, right = float(left), float(right)  # type: ignore[arg-type]
    nans = [isinstance(side, float) and math.isnan(side) for side in (left, right)]
    if any(nans):
        return nans[0] - nans[1]
    return (left > right) - (left < right)  # type: ignore[operator]
