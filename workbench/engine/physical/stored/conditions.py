"""Conditions over stored values, and CASE: as Arrow computes them, true, false, or NULL where it is not known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import reduce

import pyarrow as pa
import pyarrow.compute as pc

from workbench.arrow.types import to_arrow
from workbench.engine.physical.stored.calls import RowValue
from workbench.engine.physical.stored.expressions import COMPARABLE_KINDS, Like, compare, stored_like
from workbench.sql.algebra.expressions import Call, Constant, Expression
from workbench.sql.algebra.types import BOOLEAN, DataType, Kind
from workbench.sql.predicates.cnf import Literal, Operator

_OPERATORS = {
    "=": Operator.EQ,
    "<>": Operator.NE,
    "<": Operator.LT,
    "<=": Operator.LE,
    ">": Operator.GT,
    ">=": Operator.GE,
}
_MOST = 50
"""Values of an IN that are compared one by one; Spark has a table for more."""


ValueReader = Callable[[Expression], RowValue | None]
"""A part of an expression as a value; ``None`` where Spark must evaluate it."""


@dataclass(frozen=True)
class _Compared:
    """Whether two values of one kind and scale compare so."""

    operator: Operator
    left: RowValue
    right: RowValue

    def values(self, rows: pa.RecordBatch) -> pa.Array:
        """True, false or NULL for each row."""
        return compare(self.operator, self.left.values(rows), self.right.values(rows))


@dataclass(frozen=True)
class Missing:
    """Whether a value is NULL."""

    value: RowValue

    def values(self, rows: pa.RecordBatch) -> pa.Array:
        """True or false for each row."""
        return self.value.values(rows).is_null()


@dataclass(frozen=True)
class Negated:
    """Whether a condition is false."""

    condition: RowValue

    def values(self, rows: pa.RecordBatch) -> pa.Array:
        """True, false or NULL for each row."""
        return pc.invert(self.condition.values(rows))


@dataclass(frozen=True)
class Combined:
    """Whether all of some conditions are true, or any of them."""

    all_of: bool
    conditions: tuple[RowValue, ...]

    def values(self, rows: pa.RecordBatch) -> pa.Array:
        """True, false or NULL for each row: the logic of three values is Kleene's, as in SQL."""
        combine = pc.and_kleene if self.all_of else pc.or_kleene
        return reduce(combine, (condition.values(rows) for condition in self.conditions))


Condition = Combined | _Compared | Like | Missing | Negated


@dataclass(frozen=True)
class StoredCase:
    """CASE: the value beside the first condition that is true, or the last one.

    Attributes:
        branches: conditions, each with its value.
        otherwise: of ELSE.
        type: of all values.
    """

    branches: tuple[tuple[RowValue, RowValue], ...]
    otherwise: RowValue
    type: DataType

    def values(self, rows: pa.RecordBatch) -> pa.Array:
        """The value of each row. All are computed: none can fail."""
        type_ = to_arrow(self.type)
        chosen = self.otherwise.values(rows).cast(type_)
        for condition, value in reversed(self.branches):
            holds = condition.values(rows).fill_null(False)
            chosen = pc.if_else(holds, value.values(rows).cast(type_), chosen)
        return chosen


def stored_case(expression: Expression, part: ValueReader) -> StoredCase | None:
    """An expression as CASE of stored values, if it is that."""
    if not isinstance(expression, Call) or expression.function != "case":
        return None
    values = _all(expression.arguments, part) if expression.type.kind in COMPARABLE_KINDS else None
    if values is None:
        return None
    return StoredCase(tuple(zip(values[0:-1:2], values[1:-1:2], strict=True)), values[-1], expression.type)


def stored_condition(expression: Expression, part: ValueReader) -> Condition | None:
    """An expression of BOOLEAN as a condition over stored values, if it is that."""
    match expression:
        case Call("and" | "or" as operator, arguments):
            conditions = _all(arguments, part)
            return None if conditions is None else Combined(operator == "and", conditions)
        case Call("not", (argument,)):
            condition = part(argument)
            return None if condition is None else Negated(condition)
        case Call("is_null", (argument,)):
            value = part(argument)
            return None if value is None else Missing(value)
        case Call("in", (first, *others)) if len(others) <= _MOST:
            equal = tuple(Call("=", (first, other), BOOLEAN) for other in others)
            return stored_condition(Call("or", equal, BOOLEAN), part)
        case Call(function, (left, right)) if function in _OPERATORS:
            return _compared(_OPERATORS[function], left, right, part)
        case Call("like"):
            return stored_like(Literal(expression, Operator.HOLDS))
    return None


def _all(expressions: Sequence[Expression], part: ValueReader) -> tuple[RowValue, ...] | None:
    """All parts, if each is a value."""
    values = [part(expression) for expression in expressions]
    known = tuple(value for value in values if value is not None)
    return known if len(known) == len(values) else None


def _compared(operator: Operator, left: Expression, right: Expression, part: ValueReader) -> _Compared | None:
    """A comparison of two values, a constant brought to the scale of what it is compared with."""
    left, right = _of_scale(left, right.type), _of_scale(right, left.type)
    alike = left.type.kind is right.type.kind and left.type.scale == right.type.scale
    if not alike or left.type.kind not in COMPARABLE_KINDS:
        return None
    values = part(left), part(right)
    return None if values[0] is None or values[1] is None else _Compared(operator, values[0], values[1])


def _of_scale(expression: Expression, other: DataType) -> Expression:
    """A constant number as one of another type of DECIMAL, where that has it, or as the nearest DOUBLE."""
    if not isinstance(expression, Constant) or other.kind not in (Kind.DECIMAL, Kind.DOUBLE):
        return expression
    value = expression.value
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        return expression
    number = Decimal(value)
    if other.kind is Kind.DOUBLE:
        return Constant(number, other)
    whole = number.scaleb(other.scale)
    fits = whole == whole.to_integral_value() and abs(whole) < 10**other.precision
    return Constant(number, other) if fits else expression
