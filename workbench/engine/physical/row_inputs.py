"""What operators compute from a parent's row: columns, values of kernels, tuples and products of these.

What no kernel evaluates of an expression is stored with the parent's rows, as the keys are by which these are looked
up: so it is evaluated where rows are written, and an operator reads columns alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from workbench.arrow.types import Mask, to_arrow
from workbench.engine.physical.join_keys import key_column
from workbench.engine.physical.stored.calls import Functions, StoredCall
from workbench.engine.physical.stored.kernels.table import has_kernels
from workbench.engine.physical.stored.values import Computed, StoredValue, stored_value, with_call_columns
from workbench.engine.storage.exact_sums import ExactSums, digits_of_bits, exact_products
from workbench.engine.storage.sort_keys import tuple_texts
from workbench.sql.algebra.expressions import Call, Column, Expression, digest, identity
from workbench.sql.algebra.planning_cache import cached
from workbench.sql.algebra.types import DataType
from workbench.sql.functions.aggregate_rules import BITS
from workbench.sql.functions.calls import calls_functions
from workbench.sql.render.spark_sql import to_spark

_DIGITS = 12
"""Hexadecimal digits that tell expressions apart, as in the ids of nodes."""


@dataclass(frozen=True)
class WithMaterializedParts(Computed):
    """An expression over stored columns, some of which have the values of its parts.

    Attributes:
        calls: what functions of the analyst give, each after those that it reads.
        stored: what has no kernel. The parent's rows are stored with its values (``key_column``).
    """

    calls: tuple[StoredCall, ...] = ()
    stored: tuple[Expression, ...] = ()


SingleInput = StoredValue
"""The value of an expression."""


@dataclass(frozen=True)
class TupleInput:
    """Several values as one text that orders as they do (``storage.sort_keys``).

    Attributes:
        of: the values.
        types: their types.
        known: the values, by position, that must not be NULL; else the text is.
        where: a condition; the text is NULL unless it is true.
    """

    of: tuple[SingleInput, ...]
    types: tuple[DataType, ...]
    known: tuple[int, ...]
    where: SingleInput | None = None

    @staticmethod
    def of_expressions(
        expressions: Sequence[Expression], known: Sequence[int], where: Expression | None = None
    ) -> TupleInput:
        """The values of expressions over the parent's rows."""
        test = None if where is None else row_input(where)
        return TupleInput(tuple(map(row_input, expressions)), tuple(e.type for e in expressions), tuple(known), test)

    def values(self, rows: pa.RecordBatch) -> pa.Array:
        """The text of each row."""
        columns = [value.values(rows).cast(to_arrow(type_)) for value, type_ in zip(self.of, self.types, strict=True)]
        keys = tuple_texts(columns, self.known)
        return keys if self.where is None else pc.if_else(self.where.values(rows), keys, None)


@dataclass(frozen=True)
class ProductInput:
    """Powers of DOUBLE values, multiplied without rounding; NULL where one of the values is NULL.

    Attributes:
        of: the values.
        powers: of each; their sum is at most 4. Without powers (``BITS``) there is one value, a whole number, and each
            bit of it is a digit.
    """

    of: tuple[SingleInput, ...]
    powers: tuple[int, ...]

    def values(self, rows: pa.RecordBatch) -> pa.Array:
        """True for each row that has all values."""
        known = _all_known(value.values(rows) for value in self.of)
        return pa.array(known, mask=~known)

    def products(self, rows: pa.RecordBatch, weights: npt.NDArray[np.int64]) -> ExactSums:
        """The product of each row that has all values, as often as the row counts; of others 0."""
        return self._sums(rows, weights)[0]

    def digits(self, rows: pa.RecordBatch, weights: pa.Array) -> pa.Array:
        """The product of each row, as often as the row counts (``storage.exact_sums``)."""
        sums, known = self._sums(rows, weights.to_numpy())
        return sums.texts(~known)

    def _sums(self, rows: pa.RecordBatch, weights: npt.NDArray[np.int64]) -> tuple[ExactSums, Mask]:
        """The products, and which rows have all values; each value is computed once, since one may be dear."""
        columns = [value.values(rows) for value in self.of]
        known, numbers = _all_known(columns), [c.fill_null(0).to_numpy(zero_copy_only=False) for c in columns]
        if self.powers == BITS:
            digits = digits_of_bits(*numbers)
        else:
            factors = [column for column, power in zip(numbers, self.powers, strict=True) for _ in range(power)]
            digits = exact_products(factors)
        return ExactSums(digits, rows.num_rows).times(weights * known), known


@dataclass(frozen=True)
class DigitsInput:
    """Exact sums as the texts of their digits."""

    of: SingleInput

    def values(self, rows: pa.RecordBatch) -> pa.Array:
        """The texts."""
        return self.of.values(rows)

    def digits(self, rows: pa.RecordBatch, weights: pa.Array) -> pa.Array:
        """The sum of each row, as often as the row counts."""
        texts = self.of.values(rows)
        return ExactSums.of_texts(texts).times(weights.to_numpy()).texts(np.asarray(texts.is_null()))


RowInput = SingleInput | TupleInput | ProductInput | DigitsInput
"""What groups, addends and counted values are computed from."""


def row_input(expression: Expression) -> SingleInput:
    """An expression over a parent's rows.

    Example:
        >>> from workbench.sql.algebra.expressions import Constant
        >>> from workbench.sql.algebra.types import STRING
        >>> odd = Call("from_json", (Column("s", STRING), Constant("array<string>", STRING)), STRING)
        >>> row_input(Column("s", STRING)).columns, materialized_parts([row_input(odd)]) == {key_column(odd): odd}
        (('s',), True)
    """
    over, stored = over_stored(expression)
    if not stored and (value := stored_value(over)) is not None:
        return value
    known = with_call_columns(over)
    assert known is not None  # ``over_stored`` leaves no other call
    return WithMaterializedParts(*known, stored)


def over_stored(expression: Expression) -> tuple[Expression, tuple[Expression, ...]]:
    """An expression in which columns have the values of what no kernel evaluates, and what that is.

    Each is as small as can be, so that what is around it needs no column of its own.

    Example:
        >>> from workbench.sql.algebra.expressions import Constant
        >>> from workbench.sql.algebra.types import INTEGER, STRING
        >>> odd = Call("from_json", (Column("s", STRING), Constant("array<string>", STRING)), STRING)
        >>> over, stored = over_stored(Call("length", (odd,), INTEGER))
        >>> over == Call("length", (Column(key_column(odd), STRING),), INTEGER), stored == (odd,)
        (True, True)
    """
    if needs_no_spark(expression):
        return expression, ()
    if isinstance(expression, Call) and not any(_is_lambda(argument) for argument in expression.arguments):
        parts = [over_stored(argument) for argument in expression.arguments]
        over = Call(expression.function, tuple(part for part, _ in parts), expression.type)
        if over != expression and needs_no_spark(over):
            return over, tuple(dict.fromkeys(part for _, those in parts for part in those))
    return Column(key_column(expression), expression.type), (expression,)


@cached(50_000)
def needs_no_spark(expression: Expression) -> bool:
    """Whether kernels and calls of the analyst's functions give the value of an expression."""
    known = with_call_columns(expression) if calls_functions(expression) else (expression, ())
    return known is not None and has_kernels(known[0])


def _is_lambda(argument: Expression) -> bool:
    return isinstance(argument, Call) and argument.function == "lambda"


def materialized_parts(inputs: Iterable[SingleInput]) -> dict[str, Expression]:
    """The expressions without kernels, by the column of the parent's rows that is to have their values."""
    parts = (value for value in inputs if isinstance(value, WithMaterializedParts))
    return {key_column(part): part for value in parts for part in value.stored}


def single_inputs(value: RowInput) -> tuple[SingleInput, ...]:
    """The values of expressions that something is computed from."""
    match value:
        case TupleInput(of=of, where=where) if where is not None:
            return (*of, where)
        case TupleInput(of=of) | ProductInput(of=of):
            return of
        case DigitsInput(of=only):
            return (only,)
    return (value,)


def calls_among(inputs: Iterable[SingleInput]) -> tuple[StoredCall, ...]:
    """The calls of the analyst's functions, each once and after those that it reads."""
    calls: list[StoredCall] = []
    for value in inputs:
        match value:
            case StoredCall():
                calls.append(value)
            case WithMaterializedParts():
                calls += value.calls
    return tuple(dict.fromkeys(calls))


def with_calls(rows: pa.RecordBatch, calls: Iterable[StoredCall], functions: Functions) -> pa.RecordBatch:
    """Rows with the values of calls as additional columns."""
    for call in calls:
        rows = rows.append_column(call.name, call.evaluate(rows, functions))
    return rows


def content_id(*expressions: Expression, how: str = "") -> str:
    """Digits that are the same for the same expressions that are used in the same way."""
    return digest("\0".join([*map(identity, expressions), *([how] if how else [])]), _DIGITS)


def over_rows(expression: Expression) -> str:
    """The SQL of an expression over a parent's rows."""
    return to_spark(expression, _bare)


def _bare(column: Column) -> str:
    return f"`{column.name}`"


def _all_known(columns: Iterable[pa.Array]) -> Mask:
    return np.logical_and.reduce([np.asarray(column.is_valid()) for column in columns])
