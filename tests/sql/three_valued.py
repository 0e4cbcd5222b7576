"""Boolean expressions evaluated row by row in plain Python, with SQL's three-valued logic: ``None`` is unknown."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.sql.expressions import Call, Column, Constant, Expression
from workbench.sql.predicates import Literal, Operator, PredSet


def value(expression: Expression, row: Mapping[str, object]) -> object:
    """The value of an expression; of a boolean one True, False or None."""
    match expression:
        case Column(name):
            return row[name]
        case Constant(constant):
            return constant
        case Call(function, arguments):
            return _called(function, [value(a, row) for a in arguments])
    raise AssertionError(expression)


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
            order = (left > right) - (left < right)  # type: ignore[operator]
            return {"=": order == 0, "<>": order != 0, "<": order < 0, "<=": order <= 0, ">": order > 0,
                    ">=": order >= 0}[function]  # fmt: skip
    raise AssertionError(function)


def satisfied(predicates: PredSet, row: Mapping[str, object]) -> bool:
    """Whether the PredSet is true for the row."""
    return all(any(_holds(literal, row) is True for literal in p.literals) for p in predicates)


def _holds(literal: Literal, row: Mapping[str, object]) -> object:
    left = value(literal.left, row)
    match literal.operator:
        case Operator.HOLDS:
            return left
        case Operator.IS_NULL:
            return left is None
        case Operator.IS_NOT_NULL:
            return left is not None
    assert literal.right is not None
    return _called(str(literal.operator), [left, value(literal.right, row)])
