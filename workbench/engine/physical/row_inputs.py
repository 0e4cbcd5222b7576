"""What grouped operators compute from a row: columns, values of kernels or of Spark, tuples and products of these."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from workbench.arrow.types import Mask, to_arrow
from workbench.engine.physical.stored.calls import Functions, StoredCall
from workbench.engine.physical.stored.values import StoredValue, stored_value
from workbench.engine.storage.exact_sums import ExactSums, exact_products
from workbench.engine.storage.sort_keys import tuple_texts
from workbench.sql.algebra.expressions import Column, Expression, digest, identity
from workbench.sql.algebra.types import DataType
from workbench.sql.render.spark_sql import to_spark

_DIGITS = 12
"""Hexadecimal digits that tell expressions apart, as in the ids of nodes."""


@dataclass(frozen=True)
class Evaluated:
    """A value that Spark evaluates and sets beside the stored columns.

    Attributes:
        column: with the values.
        sql: of the value, over the stored columns.
        type: of the value.
    """

    column: str
    sql: str
    type: DataType

    def values(self, rows: pa.RecordBatch) -> pa.Array:
        """The values of rows in which they have been set."""
        return rows.column(self.column).cast(to_arrow(self.type))


SingleInput = StoredValue | Evaluated
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
    """Powers of DOUBLE values, multiplied without rounding; NULL where one of the values is, whatever its power.

    Attributes:
        of: the values.
        powers: of each; their sum is at most 4.
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
        known, numbers = _all_known(columns), (c.fill_null(0.0).to_numpy(zero_copy_only=False) for c in columns)
        factors = [column for column, power in zip(numbers, self.powers, strict=True) for _ in range(power)]
        return ExactSums(exact_products(factors), rows.num_rows).times(weights * known), known


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
    """An expression over a parent's rows, which Spark evaluates where no kernel does."""
    stored = stored_value(expression)
    return stored or Evaluated(f"_of {content_id(expression)}", over_rows(expression), expression.type)


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


def operands(inputs: Iterable[SingleInput]) -> list[str]:
    """What Spark sets beside the rows, as SQL."""
    return [f"{value.sql} AS `{value.column}`" for value in dict.fromkeys(inputs) if isinstance(value, Evaluated)]


def calls_among(inputs: Iterable[SingleInput]) -> tuple[StoredCall, ...]:
    """The calls of the analyst's functions over stored columns, each once."""
    return tuple(dict.fromkeys(value for value in inputs if isinstance(value, StoredCall)))


def with_calls(rows: pa.RecordBatch, calls: Iterable[StoredCall], functions: Functions) -> pa.RecordBatch:
    """Rows with the values of calls beside them."""
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
