"""Predicates decided row by row in plain Python: exact numbers are fractions, and types overflow as the engine's."""

from __future__ import annotations

import datetime as dt
import itertools
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction

from workbench.sql.algebra.expressions import Call, Column, Constant, Expression, text
from workbench.sql.algebra.types import DATE, Kind
from workbench.sql.predicates.cnf import Literal, Operator, PredSet, predicate_columns

Value = object
Row = dict[tuple[int, str], Value]


def value(expression: Expression, row: Row) -> Value:
    """As Spark computes it in total form; exact numbers are fractions, and dates their days since 1970."""
    match expression:
        case Column(name, _, source):
            return row[source, name]
        case Constant(constant):
            return _plain(constant)
        case Call(function, arguments, type_):
            values = [value(a, row) for a in arguments]
            if function == "is_null":
                return values[0] is None
            return None if None in values else _typed(_OPERATIONS[function](values), type_.kind, type_)


def _plain(constant: Value) -> Value:
    if isinstance(constant, dt.date):
        return Fraction((constant - dt.date(1970, 1, 1)).days)
    return Fraction(constant) if isinstance(constant, (int, Decimal)) and not isinstance(constant, bool) else constant


_OPERATIONS: dict[str, Callable[[Sequence], Value]] = {
    "+": lambda v: v[0] + v[1],
    "-": lambda v: v[0] - v[1],
    "*": lambda v: v[0] * v[1],
    "/": lambda v: v[0] / v[1] if v[1] else None,
    "%": lambda v: abs(v[0]) % abs(v[1]) * (1 if v[0] > 0 else -1) if v[1] else None,
    "div": lambda v: Fraction(int(v[0] / v[1])) if v[1] else None,
    "neg": lambda v: -v[0],
    "abs": lambda v: abs(v[0]),
    **dict.fromkeys(("cast", "within"), lambda v: v[0]),
}


def _typed(number: Value, kind: Kind, type_: object) -> Value:
    """A result in its type: NULL when it overflows, rounded when it has too many digits behind the point."""
    if number is None:
        return None
    if kind is Kind.DATE:
        return number if abs(number) < 2**31 else None
    if kind is Kind.INTEGER:
        return number if -(2 ** (type_.bits - 1)) <= number < 2 ** (type_.bits - 1) else None
    if kind is Kind.DECIMAL:
        unscaled = abs(number) * 10**type_.scale
        rounded = (unscaled + Fraction(1, 2)) // 1
        return Fraction(rounded * (1 if number > 0 else -1), 10**type_.scale) if rounded < 10**type_.precision else None
    return float(number)


def holds(literal: Literal, row: Row) -> bool:
    """Whether it is true: not false, not unknown."""
    left = value(literal.left, row)
    if literal.right is None:
        return {Operator.HOLDS: left is True, Operator.IS_NULL: left is None}.get(literal.operator, left is not None)
    right = value(literal.right, row)
    assert (literal.left.type == DATE) == (literal.right.type == DATE), literal
    if left is None or right is None:
        return False
    return {"=": left == right, "<>": left != right, "<": left < right, "<=": left <= right, ">": left > right,
            ">=": left >= right}[literal.operator]  # fmt: skip


def true(predicates: PredSet, row: Row) -> bool:
    return all(any(holds(x, row) for x in p.literals) for p in predicates)


SMALL = {
    "a": (None, 0, 1, 3, 5, -2),
    "b": (None, 0, 2, -3),
    "m": (None, 0, Fraction("0.01"), Fraction("333.33"), Fraction("333.34"), -50),
    "n": (None, 0, Fraction("0.005"), Fraction("-1.5")),
    "d": (None, 0, 18261, 18268, 18269),
    "e": (None, 0, 18268),
}
LARGE = {
    "a": (None, 0, 1, 2**63 - 1, 2**63 - 2, -(2**63), 6),
    "b": (None, 0, -1, 2**63 - 1, -(2**63)),
    "m": (None, 0, Fraction("9999999999999.99"), Fraction("-9999999999999.99")),
    "n": (None, 0, Fraction("999.999"), Fraction("-999.999")),
    "d": (None, -719162, 2932896),
    "e": (None, -719162, 2932896),
}
OTHERS = {"c": (None, 1), "w": (None, 10**38 - 1, 5), "x": (None, 1.5), "s": (None, "k"), "ts": (None,), "p": (True,)}


def rows(predicates: PredSet, domains: dict[str, Sequence[Value]]) -> list[Row]:
    columns = sorted(predicate_columns(predicates), key=text)
    values = ({**OTHERS, **domains}[c.name] for c in columns)
    typed = ([Fraction(v) if isinstance(v, int) and not isinstance(v, bool) else v for v in vs] for vs in values)
    keys = [(c.source, c.name) for c in columns]
    return [dict(zip(keys, choice, strict=True)) for choice in itertools.product(*typed)]
