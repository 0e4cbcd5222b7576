"""Calls of an analyst's functions over stored columns, made where the rows are.

A function runs in Python anyway, in a process of its own. It is called once for all rows with the same arguments.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pyarrow as pa

from workbench.arrow.types import to_arrow
from workbench.engine.physical.stored.kernels.table import evaluate
from workbench.engine.spark.user_functions.attempt import Attempt
from workbench.engine.storage.grouping import Positions
from workbench.sql.algebra.expressions import Expression, columns
from workbench.sql.algebra.types import Kind

CALLED = frozenset({Kind.BOOLEAN, Kind.INTEGER, Kind.DECIMAL, Kind.DOUBLE, Kind.STRING, Kind.DATE, Kind.TIMESTAMP})
"""Kinds whose stored values are what Spark hands over to functions of the analyst, and takes from them."""


class AnalystFunction(Protocol):
    """A function of the analyst over columns."""

    def __call__(self, *columns: pa.Array) -> pa.Array:
        """The value of each row; a call that fails disables the queries that depend on it."""

    def told(self, *columns: pa.Array) -> Attempt:
        """The value of each row, as by a call, and what it took."""

    def attempt(self, *columns: pa.Array) -> Attempt:
        """The value of each row; only the caller learns that a call failed."""


Functions = Mapping[str, AnalystFunction]
"""The analyst's functions over columns, by their ids."""


@dataclass(frozen=True)
class StoredCall:
    """A call whose values become an additional column once it is evaluated.

    Attributes:
        function: its id.
        arguments: the columns of its arguments.
        computed: those of them that are no stored columns, by their columns.
    """

    function: str
    arguments: tuple[str, ...]
    computed: tuple[tuple[str, Expression], ...] = ()

    @property
    def name(self) -> str:
        """The column of the values."""
        return f"{self.function}({', '.join(self.arguments)})"

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read, also columns of other calls, which are evaluated before."""
        computed = {name: column_names(argument) for name, argument in self.computed}
        return tuple(dict.fromkeys(c for name in self.arguments for c in computed.get(name, (name,))))

    def values(self, rows: pa.RecordBatch) -> pa.Array:
        """The values, which ``evaluate`` has added to the columns."""
        return rows.column(self.name)

    def evaluate(self, rows: pa.RecordBatch, functions: Functions) -> pa.Array:
        """The value of each row, of as many calls as there are different arguments.

        Example:
            >>> import pyarrow.compute as pc
            >>> rows = pa.RecordBatch.from_pydict({"a": [2, 3, None, 2]})
            >>> StoredCall("half@1", ("a",)).evaluate(rows, {"half@1": lambda a: pc.divide(a, 2.0)}).to_pylist()
            [1.0, 1.5, None, 1.0]
        """
        arguments, which = self._distinct_arguments(rows)
        return functions[self.function](*arguments).take(which)

    def attempt(self, rows: pa.RecordBatch, functions: Functions, told: bool = False) -> Attempt:
        """``evaluate``, and what it took; unless it is told, only the caller knows whether a call failed."""
        arguments, which = self._distinct_arguments(rows)
        function = functions[self.function]
        return (function.told(*arguments) if told else function.attempt(*arguments)).take(which)

    def _distinct_arguments(self, rows: pa.RecordBatch) -> tuple[list[pa.Array], pa.Array]:
        computed = {name: evaluate(e, rows).cast(to_arrow(e.type)) for name, e in self.computed}
        arguments = [computed[name] if name in computed else rows.column(name) for name in self.arguments]
        first, which = _distinct(arguments)
        at = pa.array(first)
        return [column.take(at) for column in arguments], pa.array(which)


def _distinct(columns: Sequence[pa.Array]) -> tuple[Positions, Positions]:
    """Find the distinct combinations of values: the first row of each, and for each row its combination.

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


def column_names(expression: Expression) -> tuple[str, ...]:
    """The columns that an expression reads."""
    return tuple(sorted({column.name for column in columns(expression)}))
