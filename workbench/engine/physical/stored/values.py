"""Values that aggregates compute from stored columns without Spark: group keys, addends and compared values."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

import pyarrow as pa

from workbench.arrow.types import to_arrow
from workbench.engine.physical.stored.calls import CALLED, ComputedArgument, StoredCall
from workbench.engine.physical.stored.decimals import StoredDecimal, stored_decimal
from workbench.engine.physical.stored.expressions import (
    Comparison,
)
from workbench.engine.physical.stored.kernels.table import KernelCall, kernel_call
from workbench.engine.physical.stored.unscaled import Clipped, Polynomial
from workbench.sql.algebra.expressions import Call, Column, Constant, Expression, columns, digest, identity
from workbench.sql.algebra.types import DataType, Kind
from workbench.sql.functions.calls import FUNCTIONS

HIGHEST = 100
"""Operators inside one another that are computed here."""


@dataclass(frozen=True)
class StoredColumn:
    """The values of a column as they are."""

    column: str

    def values(self, rows: pa.RecordBatch) -> pa.Array:
        """The column."""
        return rows.column(self.column)


@dataclass(frozen=True)
class StoredConstant:
    """The same value in every row; ``None`` is NULL."""

    value: object
    type: DataType

    def values(self, rows: pa.RecordBatch) -> pa.Array:
        """The value of each row."""
        return pa.repeat(pa.scalar(self.value, to_arrow(self.type)), rows.num_rows)


Computed = KernelCall | StoredColumn | StoredConstant | StoredDecimal
"""A value that follows from a row's stored columns alone."""

StoredValue = Computed | StoredCall


@dataclass(frozen=True)
class Derived:
    """A column that a filter computes from those that it reads."""

    value: Computed
    columns: tuple[str, ...]

    def values(self, rows: pa.RecordBatch) -> pa.Array:
        """The value of each row."""
        return self.value.values(rows)


StoredExpression = Clipped | Comparison | Derived | Polynomial
"""An expression that a filter evaluates over stored columns by itself."""


def stored_value(expression: Expression) -> StoredValue | None:
    """An expression as aggregates compute it; ``None`` where Spark must evaluate it."""
    return stored_call(expression) or computed_value(expression)


def stored_call(expression: Expression) -> StoredCall | None:
    """An expression as a call of an analyst's function over values of stored columns, if it is that."""
    if not isinstance(expression, Call) or expression.function in FUNCTIONS or not expression.arguments:
        return None
    if not {expression.type.kind, *(argument.type.kind for argument in expression.arguments)} <= CALLED:
        return None
    names, computed = list[str](), list[ComputedArgument]()
    for argument in expression.arguments:
        if isinstance(argument, Column):
            names.append(argument.name)
            continue
        if (value := computed_value(argument)) is None:
            return None
        names.append(f"_of {digest(identity(argument))}")
        computed.append(ComputedArgument(names[-1], value, argument.type, _columns(argument)))
    return StoredCall(expression.function, tuple(names), tuple(dict.fromkeys(computed)))


def with_call_columns(expression: Expression) -> tuple[Expression, tuple[StoredCall, ...]] | None:
    """An expression in which the values of calls are columns, and these calls, each after those that it reads.

    ``None`` where Spark must make a call.
    """
    if not isinstance(expression, Call):
        return expression, ()
    parts = [with_call_columns(argument) for argument in expression.arguments]
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    over = Call(expression.function, tuple(part for part, _ in known), expression.type)
    calls = [call for _, those in known for call in those]
    if expression.function not in FUNCTIONS:
        if (own := stored_call(over)) is None:
            return None
        return Column(own.name, expression.type), tuple(dict.fromkeys([*calls, own]))
    return over, tuple(dict.fromkeys(calls))


def computed_value(expression: Expression, levels: int = HIGHEST) -> Computed | None:
    """``stored_value`` of an expression that calls no function of the analyst.

    Args:
        expression: over stored columns.
        levels: the most operators inside one another. An evaluation follows them by calls, and a Python
            worker takes a thousand of these.
    """
    match expression:
        case Column(name):
            return StoredColumn(name)
        case Constant(Decimal() as value, type) if type.kind is Kind.DOUBLE:
            return StoredConstant(float(value), type)
        case Constant(value, type) if type.kind in CALLED or type.kind is Kind.TIMESTAMP:
            return StoredConstant(value, type)
        case Call("array", (), type):
            return StoredConstant("[]", type)
    found = stored_decimal(expression)
    return found or (kernel_call(expression, lambda part: computed_value(part, levels - 1)) if levels else None)


def derived(expression: Expression) -> Derived | None:
    """An expression that is no column as a filter computes it; ``None`` where Spark must evaluate it."""
    value = None if isinstance(expression, Column) else computed_value(expression)
    return None if value is None else Derived(value, _columns(expression))


def _columns(expression: Expression) -> tuple[str, ...]:
    return tuple(sorted({column.name for column in columns(expression)}))
