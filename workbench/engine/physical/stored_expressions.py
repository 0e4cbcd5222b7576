"""Expressions of a row's stored columns that need no Spark: comparisons, days from one to another, money, and prefixes.

Arrow gives the same answer, NULL where one of the columns is NULL, and the rows need not go to the JVM and back for it.
A join tests its pairs by comparisons (``pair_tests``), and the selections of a tree its rows (``filters``). Parts of
texts are keys that rows are looked up by. Aggregates group by all but comparisons, and add them up.

A function of the analyst runs in Python anyway, in a process of its own. Its calls over stored columns are made where
the rows are, once for all rows with the same arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from workbench.engine.physical.unscaled import LIMIT, Polynomial, unscaled
from workbench.engine.storage.grouping import Positions
from workbench.sql.algebra.expressions import Call, Column, Constant, Expression
from workbench.sql.algebra.types import DataType, Kind
from workbench.sql.predicates.cnf import Literal, Operator
from workbench.sql.render.spark_functions import SPARK_FUNCTIONS
from workbench.streams.arrow_types import to_arrow

COMPARED = frozenset({Kind.BOOLEAN, Kind.INTEGER, Kind.DECIMAL, Kind.STRING, Kind.DATE, Kind.TIMESTAMP})
"""Kinds whose stored values Arrow compares as Spark does: a DOUBLE may be NaN, and an array is stored as a text."""

CALLED = COMPARED - {Kind.TIMESTAMP} | {Kind.DOUBLE}
"""Kinds whose stored values are what Spark hands over to functions of the analyst, and takes from them."""

_INT = 2**31 - 1

_FUNCTIONS = {
    Operator.EQ: "equal",
    Operator.NE: "not_equal",
    Operator.LT: "less",
    Operator.LE: "less_equal",
    Operator.GT: "greater",
    Operator.GE: "greater_equal",
}


@dataclass(frozen=True)
class Comparison:
    """Whether the values of two columns compare so."""

    operator: Operator
    columns: tuple[str, str]

    def values(self, rows: pa.RecordBatch) -> pa.Array:
        """True, false or NULL for each row.

        Example:
            >>> rows = pa.RecordBatch.from_pydict({"a": [1, 2, None], "b": [2, 2, 2]})
            >>> Comparison(Operator.LT, ("a", "b")).values(rows).to_pylist()
            [True, False, None]
        """
        return compare(self.operator, *(rows.column(name) for name in self.columns))


@dataclass(frozen=True)
class DaysBetween:
    """How many days the date in the first column is after the one in the second."""

    columns: tuple[str, str]

    def values(self, rows: pa.RecordBatch) -> pa.Array:
        """A whole number or NULL for each row."""
        return days_apart(*(rows.column(name) for name in self.columns))


@dataclass(frozen=True)
class Substring:
    """So many characters of a text, beginning with the one at a place, from 0."""

    column: str
    start: int
    length: int

    def values(self, rows: pa.RecordBatch) -> pa.Array:
        """The part of each text; shorter where the text ends, and NULL of NULL.

        Example:
            >>> Substring("a", 1, 2).values(pa.RecordBatch.from_pydict({"a": ["abcd", "é", None]})).to_pylist()
            ['bc', '', None]
        """
        return pc.utf8_slice_codeunits(rows.column(self.column), self.start, self.start + self.length)


@dataclass(frozen=True)
class StoredColumn:
    """The values of a column as they are."""

    column: str

    def values(self, rows: pa.RecordBatch) -> pa.Array:
        """The column."""
        return rows.column(self.column)


@dataclass(frozen=True)
class StoredDecimal:
    """Sums and products of decimals: unscaled integers of 64 bits, and the type whose scale they have."""

    integers: Polynomial
    type: DataType

    def values(self, rows: pa.RecordBatch) -> pa.Array:
        """A decimal or NULL for each row.

        Example:
            >>> from decimal import Decimal
            >>> from workbench.sql.algebra.types import decimal
            >>> rows = pa.RecordBatch.from_pydict({"a": pa.array([Decimal("-1.5"), None], pa.decimal128(9, 1))})
            >>> StoredDecimal(Polynomial(((("a", "a"), 1),)), decimal(18, 2)).values(rows).to_pylist()
            [Decimal('2.25'), None]
        """
        integers = self.integers.values(rows)
        numbers = integers.fill_null(0).to_numpy(zero_copy_only=False)
        words = np.stack([numbers, numbers >> 63], axis=1)
        known = integers.is_valid().buffers()[1] if integers.null_count else None
        return pa.Array.from_buffers(to_arrow(self.type), len(numbers), [known, pa.py_buffer(words)])


@dataclass(frozen=True)
class StoredCall:
    """A call of an analyst's function over stored columns. Its values are a column beside them once it was made."""

    function: str
    columns: tuple[str, ...]

    @property
    def name(self) -> str:
        """The column of the values."""
        return f"{self.function}({', '.join(self.columns)})"

    def values(self, rows: pa.RecordBatch) -> pa.Array:
        """The values, which ``made`` has set beside the columns."""
        return rows.column(self.name)

    def made(self, rows: pa.RecordBatch, functions: Functions) -> pa.Array:
        """The value of each row, of as many calls as there are different arguments.

        Example:
            >>> rows = pa.RecordBatch.from_pydict({"a": [2, 3, None, 2]})
            >>> StoredCall("half@1", ("a",)).made(rows, {"half@1": lambda a: pc.divide(a, 2.0)}).to_pylist()
            [1.0, 1.5, None, 1.0]
        """
        arguments = [rows.column(name) for name in self.columns]
        first, which = _distinct(arguments)
        at = pa.array(first)
        return functions[self.function](*(column.take(at) for column in arguments)).take(pa.array(which))


Functions = Mapping[str, Callable[..., pa.Array]]
"""The analyst's functions over columns, by their ids."""

StoredExpression = Comparison | DaysBetween | Polynomial
"""What the filter computes by itself of stored columns."""

StoredValue = StoredColumn | DaysBetween | StoredCall | StoredDecimal | Substring
"""What aggregates compute by themselves of stored columns."""


def stored_value(expression: Expression) -> StoredValue | None:
    """An expression whose values aggregates know from stored columns; ``None`` where Spark must evaluate it."""
    if isinstance(expression, Column):
        return StoredColumn(expression.name)
    if (dates := dates_subtracted(expression)) is not None:
        return DaysBetween((dates[0].name, dates[1].name))
    if (number := unscaled(expression, _name)) is not None and expression.type.kind is Kind.DECIMAL:
        number = number.at(expression.type.scale)
        return StoredDecimal(number.number, expression.type) if number.most < LIMIT else None
    return stored_call(expression) or substring(expression)


def stored_call(expression: Expression) -> StoredCall | None:
    """An expression as a call of an analyst's function over stored columns, if it is that."""
    if not isinstance(expression, Call) or expression.function in SPARK_FUNCTIONS or not expression.arguments:
        return None
    columns = [argument for argument in expression.arguments if isinstance(argument, Column)]
    kinds = {expression.type.kind, *(column.type.kind for column in columns)}
    plain = len(columns) == len(expression.arguments) and kinds <= CALLED
    return StoredCall(expression.function, tuple(column.name for column in columns)) if plain else None


def substring(text: Expression) -> Substring | None:
    """An expression as a part of a stored text, if it is that."""
    match text:
        case Call("substr", (Column() as column, Constant(value=int() as start), Constant(value=int() as length))):
            # For Spark both are numbers of 32 bits, and NULL beyond.
            stored = column.type.kind is Kind.STRING and 1 <= start <= _INT and 0 <= length <= _INT
            return Substring(column.name, start - 1, length) if stored else None
    return None


def compare(operator: Operator, left: pa.Array, right: pa.Array) -> pa.Array:
    """Comparisons of values of one kind and scale: true, false, or NULL."""
    return pc.call_function(_FUNCTIONS[operator], [left, right])


def comparison(literal: Literal) -> tuple[Column, Operator, Column] | None:
    """The columns that a literal compares; ``None`` where it computes something, or Arrow would compare otherwise."""
    if literal.right is None:
        return None
    match _compared(literal.left, literal.right):
        case Column() as left, Column() as right if _alike(left, right):
            return left, literal.operator, right
    return None


def dates_subtracted(number: Expression) -> tuple[Column, Column] | None:
    """The columns from the second of which an expression counts the days to the first, if it does."""
    match number:
        case Call("-", (Column() as left, Column() as right)) if left.type.kind is right.type.kind is Kind.DATE:
            return left, right
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


def _name(column: Column) -> str:
    return column.name


def _distinct(columns: Sequence[pa.Array]) -> tuple[Positions, Positions]:
    """The first row of each combination of values, and for each row which combination it has.

    Values are equal here where their bits are: for a function -0.0 may be other than 0.0.
    """
    which = first = np.zeros(0, dtype=np.int64)
    for at, column in enumerate(columns):
        bits = column.view(pa.int64()) if pa.types.is_float64(column.type) else column
        encoded = bits.dictionary_encode(null_encoding="encode")
        own = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
        both = own if not at else which * len(encoded.dictionary) + own
        _, first, which = np.unique(both, return_index=True, return_inverse=True)
    return first, which


def _alike(left: Column, right: Column) -> bool:
    return left.type.kind is right.type.kind and left.type.kind in COMPARED and left.type.scale == right.type.scale
