"""Calls of an analyst's functions over stored columns, made where the rows are.

A function runs in Python anyway, in a process of its own. It is called once for all rows with the same arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from workbench.engine.storage.grouping import Positions
from workbench.sql.algebra.expressions import Call, Column, Expression
from workbench.sql.algebra.types import Kind
from workbench.sql.functions.calls import FUNCTIONS

CALLED = frozenset({Kind.BOOLEAN, Kind.INTEGER, Kind.DECIMAL, Kind.DOUBLE, Kind.STRING, Kind.DATE})
"""Kinds whose stored values are what Spark hands over to functions of the analyst, and takes from them."""

Functions = Mapping[str, Callable[..., pa.Array]]
"""The analyst's functions over columns, by their ids."""


@dataclass(frozen=True)
class StoredCall:
    """A call. Once it is evaluated, its values are a column beside those that are stored."""

    function: str
    columns: tuple[str, ...]

    @property
    def name(self) -> str:
        """The column of the values."""
        return f"{self.function}({', '.join(self.columns)})"

    def values(self, rows: pa.RecordBatch) -> pa.Array:
        """The values, which ``evaluate`` has set beside the columns."""
        return rows.column(self.name)

    def evaluate(self, rows: pa.RecordBatch, functions: Functions) -> pa.Array:
        """The value of each row, of as many calls as there are different arguments.

        Example:
            >>> import pyarrow.compute as pc
            >>> rows = pa.RecordBatch.from_pydict({"a": [2, 3, None, 2]})
            >>> StoredCall("half@1", ("a",)).evaluate(rows, {"half@1": lambda a: pc.divide(a, 2.0)}).to_pylist()
            [1.0, 1.5, None, 1.0]
        """
        arguments = [rows.column(name) for name in self.columns]
        first, which = _distinct(arguments)
        at = pa.array(first)
        return functions[self.function](*(column.take(at) for column in arguments)).take(pa.array(which))


def stored_call(expression: Expression) -> StoredCall | None:
    """An expression as a call of an analyst's function over stored columns, if it is that."""
    if not isinstance(expression, Call) or expression.function in FUNCTIONS or not expression.arguments:
        return None
    columns = [argument for argument in expression.arguments if isinstance(argument, Column)]
    kinds = {expression.type.kind, *(column.type.kind for column in columns)}
    plain = len(columns) == len(expression.arguments) and kinds <= CALLED
    return StoredCall(expression.function, tuple(column.name for column in columns)) if plain else None


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
