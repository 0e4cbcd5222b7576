"""Comparisons of a row's stored columns, and days from one to another.

Arrow gives the same answer as Spark, NULL where one of the columns is NULL. A join tests its pairs by comparisons
(``pair_tests``), and the selections of a tree its rows (``filters``). ``values`` has all other expressions.
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
    """A comparison of two columns as one of their values, without arithmetic; ``None`` where something is computed."""
    if literal.right is None:
        return None
    match _compared(literal.left, literal.right):
        case Column() as left, Column() as right if _alike(left, right):
            return Call(literal.operator.value, (left, right), BOOLEAN)
    return None


def days_apart(later: pa.Array, earlier: pa.Array) -> pa.Array:
    """How many days the dates of one column are after those of another."""
    return pc.subtract(*(dates.cast(pa.int32()).cast(pa.int64()) for dates in (later, earlier)))


def _compared(left: Expression, right: Expression) -> tuple[Expression, Expression]:
    """What a comparison compares: ``m < n`` is written as ``m - n < 0`` (``predicates/canonical``)."""
    match left, right:
        case Call("-", (first, second)), Constant(value=0) if left.type.exact:
            return _stored(first), _stored(second)
    return left, right


def _stored(number: Expression) -> Expression:
    """A number without a cast that leaves its value as it is."""
    match number:
        case Call("cast", (Column() as column,)) if column.type.exact and number.type.scale == column.type.scale:
            return column
    return number


def _alike(left: Column, right: Column) -> bool:
    return (
        left.type.kind is right.type.kind and left.type.kind in COMPARABLE_KINDS and left.type.scale == right.type.scale
    )
