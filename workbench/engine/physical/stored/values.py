"""Values that aggregates compute from stored columns without Spark: group keys, addends and compared values."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa

from workbench.engine.physical.stored.calls import CALLED, StoredCall, column_names
from workbench.engine.physical.stored.kernels.table import evaluate, has_kernels
from workbench.errors import WorkbenchError
from workbench.sql.algebra.expressions import Call, Column, Expression, digest, identity
from workbench.sql.functions.calls import FUNCTIONS


@dataclass(frozen=True)
class Computed:
    """An expression that follows from a row's stored columns alone: kernels evaluate it."""

    expression: Expression

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The columns that it reads."""
        return column_names(self.expression)

    def values(self, rows: pa.RecordBatch) -> pa.Array:
        """The value of each row."""
        return evaluate(self.expression, rows)


StoredValue = Computed | StoredCall


def stored_value(expression: Expression) -> StoredValue | None:
    """An expression as aggregates compute it; ``None`` where Spark must evaluate it."""
    return stored_call(expression) or computed_value(expression)


def stored_call(expression: Expression) -> StoredCall | None:
    """An expression as a call of an analyst's function over values of stored columns, if it is that."""
    if not isinstance(expression, Call) or expression.function in FUNCTIONS or not expression.arguments:
        return None
    if not {expression.type.kind, *(argument.type.kind for argument in expression.arguments)} <= CALLED:
        return None
    names, computed = list[str](), list[tuple[str, Expression]]()
    for argument in expression.arguments:
        if isinstance(argument, Column):
            names.append(argument.name)
            continue
        if not has_kernels(argument):
            return None
        names.append(f"_of {digest(identity(argument))}")
        computed.append((names[-1], argument))
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


def computed_value(expression: Expression) -> Computed | None:
    """``stored_value`` of an expression that calls no function of the analyst."""
    return Computed(expression) if has_kernels(expression) else None


def sampled_values(expression: Expression, rows: pa.RecordBatch) -> pa.Array | None:
    """The value of each row; ``None`` where Spark or an analyst's function must give it, or where a row has none."""
    if not has_kernels(expression):
        return None
    try:
        return evaluate(expression, rows)
    except (WorkbenchError, pa.ArrowException, ArithmeticError, ValueError):
        return None  # these are estimates: the query itself says which row has no value
