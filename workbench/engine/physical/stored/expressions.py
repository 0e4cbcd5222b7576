"""Comparisons of a row's stored columns, and days from one to another.

Arrow gives the same answer as Spark, NULL where one of the columns is NULL. A join tests its pairs by comparisons
(``row_tests``), and the selections of a tree its rows (``filters``). ``values`` has all other expressions.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from workbench.sql.algebra.expressions import Call, Column, Constant, Expression
from workbench.sql.algebra.types import BOOLEAN, Kind
from workbench.sql.predicates.cnf import Literal, Operator

COMPARABLE_KINDS = frozenset(
    {Kind.BOOLEAN, Kind.INTEGER, Kind.DECIMAL, Kind.DOUBLE, Kind.STRING, Kind.DATE, Kind.TIMESTAMP}
)
"""Kinds whose stored values are compared here as Spark compares them; an array is stored as a text."""


_DIGITS = 19
"""Of the largest INTEGER."""

_FUNCTIONS = {
    Operator.EQ: "equal",
    Operator.NE: "not_equal",
    Operator.LT: "less",
    Operator.LE: "less_equal",
    Operator.GT: "greater",
    Operator.GE: "greater_equal",
}


def compare(operator: Operator, left: pa.Array, right: pa.Array) -> pa.Array:
    """Comparisons of values of one kind and scale: true, false, or NULL. NaN is equal to itself and the largest DOUBLE.

    Example:
        >>> nan = float("nan")
        >>> compare(Operator.GE, pa.array([nan, nan, 1.0, None]), pa.array([nan, 1.0, nan, nan])).to_pylist()
        [True, True, False, None]
    """
    found = pc.call_function(_FUNCTIONS[operator], [left, right])
    if not pa.types.is_floating(left.type):
        return found
    first, second = (pc.is_nan(values) for values in (left, right))
    # Where one is NaN it is as if 1 were compared with 0.
    odd = pc.call_function(_FUNCTIONS[operator], [first.cast(pa.int8()), second.cast(pa.int8())])
    return pc.if_else(pc.or_(first, second), odd, found)


def plain_comparison(literal: Literal) -> Call | None:
    """A comparison without arithmetic: ``m < n`` is written as ``m - n < 0`` (``predicates/canonical``).

    ``None`` where it compares something else than values of one kind and scale.
    """
    match literal.left, literal.right:
        case Call("-", (first, second)), Constant(value=0) if literal.left.type.exact:
            left, right = _without_cast(first), _without_cast(second)
        case left, Column() as right:
            pass
        case _:
            return None
    alike = left.type.kind is right.type.kind and left.type.kind in COMPARABLE_KINDS
    compared = Call(literal.operator.value, (left, right), BOOLEAN)
    return compared if alike and left.type.scale == right.type.scale else None


def days_apart(later: pa.Array, earlier: pa.Array) -> pa.Array:
    """How many days the dates of one column are after those of another."""
    return pc.subtract(*(dates.cast(pa.int32()).cast(pa.int64()) for dates in (later, earlier)))


def _without_cast(number: Expression) -> Expression:
    """A number without a cast that does not change its value."""
    match number:
        case Call("cast", (inner,)) if inner.type.exact and number.type.scale == inner.type.scale:
            digits = inner.type.precision if inner.type.kind is Kind.DECIMAL else _DIGITS
            return inner if number.type.kind is Kind.DECIMAL and number.type.precision >= digits else number
    return number
