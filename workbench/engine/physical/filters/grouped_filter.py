"""Lineage and the grouped filter: which nodes of a local tree a row belongs to, for all nodes at once.

CACQ gives every tuple a bitmap of the queries it is still good for and indexes the predicates on one expression in a
*grouped filter* (CACQ 3.2.6). Here a tree's selections are compiled into one table per tested expression: the sorted
constants cut its values into ranges; each range, each constant and NULL has a row of bits, a bit being set where the
node's tests on this expression are satisfied. A row's lineage is the AND over the expressions of the table rows its
values fall into: one binary search per expression, whatever the number of nodes.

Spark evaluates the expressions, unless they follow from stored columns (``stored``); what is compiled here
only looks up. Functions of the analyst are called last, and for the rows that some selection needs the call for after
all other tests: an expensive predicate comes after those that drop rows for less (CACQ 4). This module runs in Spark's
Python workers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from workbench.arrow.types import Mask
from workbench.engine.physical.stored.calls import Functions, StoredCall
from workbench.engine.physical.stored.values import StoredExpression
from workbench.engine.storage.comparable import comparable
from workbench.engine.storage.grouping import Positions
from workbench.engine.storage.lineage import Bits, having_all, word_values


class _ByContent:
    """Dataclasses with arrays are equal where all fields are."""

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and all(_same(own, vars(other)[name]) for name, own in vars(self).items())

    def __hash__(self) -> int:
        raise TypeError(f"{type(self).__name__} has arrays")


def _same(own: object, other: object) -> bool:
    if isinstance(own, np.ndarray) and isinstance(other, np.ndarray):
        return own is other or (own.dtype == other.dtype and np.array_equal(own, other))
    return own == other


@dataclass(frozen=True, eq=False)
class RangeTable(_ByContent):
    """The bits of every range of one tested expression.

    ``points``: sorted distinct constants, as int64, float64 or str. ``bits``: shape (2·points + 2, words): rows for
    below the first point, at it, between it and the next, …, above the last, and one for NULL.
    """

    column: str
    points: npt.NDArray[np.generic]
    bits: Bits

    def rank(self, values: pa.Array) -> npt.NDArray[np.int64]:
        """The row of ``bits`` each value falls into."""
        if not len(self.points):
            return np.asarray(values.is_null()).astype(np.int64)
        if self.points.dtype == object:
            encoded = values.dictionary_encode()
            known = np.array(encoded.dictionary.to_pylist(), dtype=object)
            ranks = np.append(self._search(known), len(self.bits) - 1)
            return ranks[encoded.indices.fill_null(len(known)).to_numpy(zero_copy_only=False).astype(np.int64)]
        ranks = self._search(comparable(values))
        if values.null_count:
            ranks[np.asarray(values.is_null())] = len(self.bits) - 1
        return ranks

    def _search(self, values: npt.NDArray[np.generic]) -> npt.NDArray[np.int64]:
        left = np.searchsorted(self.points, values, side="left")
        return (left + np.searchsorted(self.points, values, side="right")).astype(np.int64)


@dataclass(frozen=True, eq=False)
class Disjunction(_ByContent):
    """An ORPred whose literals test different expressions: satisfied by a row when any of the tables says so.

    ``tables`` have one word whose lowest bit tells; ``without``: the bits of the nodes that do not need this ORPred.
    """

    tables: tuple[RangeTable, ...]
    without: Bits


@dataclass(frozen=True, eq=False)
class GroupedFilter(_ByContent):
    """All selections of a local tree, compiled.

    ``always``: every bit in use; ``keep``: the bits each of which is worth keeping a row for; ``combinations``: sets of
    bits that are only together; ``computed``: what is tested and follows from columns of the rows, by the
    name under which it is tested; ``called``: the calls of ``functions`` among what is tested.
    """

    tables: tuple[RangeTable, ...]
    disjunctions: tuple[Disjunction, ...]
    always: Bits
    keep: Bits
    combinations: tuple[tuple[int, ...], ...]
    computed: Mapping[str, StoredExpression] = field(default_factory=dict, kw_only=True)
    called: Mapping[str, StoredCall] = field(default_factory=dict, kw_only=True)
    functions: Functions = field(default_factory=dict, kw_only=True)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read from rows, some of them several times."""
        known = {**self.computed, **self.called}
        return tuple(c for name in self._tested_names for c in (known[name].columns if name in known else [name]))

    @property
    def calls(self) -> tuple[StoredCall, ...]:
        """The calls of the analyst's functions that may have to be made."""
        return tuple(self.called[name] for name in self._tested_names if name in self.called)

    @property
    def _tested_names(self) -> Iterator[str]:
        tables = (*self.tables, *(table for disjunction in self.disjunctions for table in disjunction.tables))
        return (table.column for table in tables)

    def calling(self, functions: Functions) -> GroupedFilter:
        """The filter with those of the analyst's functions that it calls."""
        return replace(self, functions={call.function: functions[call.function] for call in self.calls})

    def with_known(self, known: Bits) -> GroupedFilter:
        """The filter for rows that are stored with some of the bits: it tests what the others need."""
        new = self.always & ~known
        return StoredFilter(
            tuple(table for table in self.tables if (table.bits & new != new).any()),
            tuple(some for some in self.disjunctions if (some.without & new != new).any()),
            new,
            self.keep,
            self.combinations,
            known,
            computed=self.computed,
            called=self.called,
        )

    def lineage(self, batch: pa.RecordBatch) -> Bits:
        """The lineage of each row, shape (rows, words)."""
        bits = np.broadcast_to(self.always, (batch.num_rows, len(self.always))).copy()
        for table in sorted(self.tables, key=self._calls):
            if not self._calls(table):
                bits &= table.bits[table.rank(self._tested(batch, table.column))]
                continue
            rows = np.flatnonzero((bits & ~np.bitwise_and.reduce(table.bits)).any(axis=1))
            bits[rows] &= table.bits[self._rank(table, batch, rows)]
        for disjunction in sorted(self.disjunctions, key=lambda some: any(map(self._calls, some.tables))):
            failing = np.ones(batch.num_rows, dtype=bool)
            for table in sorted(disjunction.tables, key=self._calls):
                if not self._calls(table):
                    failing &= table.bits[table.rank(self._tested(batch, table.column)), 0] == 0
                    continue
                rows = np.flatnonzero(failing & (bits & ~disjunction.without).any(axis=1))
                failing[rows] = table.bits[self._rank(table, batch, rows), 0] == 0
            bits[failing] &= disjunction.without
        return bits

    def _calls(self, table: RangeTable) -> bool:
        return table.column in self.called

    def _rank(self, table: RangeTable, batch: pa.RecordBatch, rows: Positions) -> Positions:
        """The row of a table's bits that the value of a call falls into, for some rows: no other call is made."""
        call = self.called[table.column]
        some = batch.select(list(dict.fromkeys(call.columns))).take(pa.array(rows))
        return table.rank(call.evaluate(some, self.functions))

    def _tested(self, batch: pa.RecordBatch, name: str) -> pa.Array:
        return self.computed[name].values(batch) if name in self.computed else batch.column(name)

    def combined(self, bits: Bits) -> Mask:
        """Which rows have all bits of which combination: shape (rows, words) in, (rows, n) out."""
        return having_all(bits, self.combinations)


@dataclass(frozen=True, eq=False)
class StoredFilter(GroupedFilter):
    """A filter for stored rows; ``known``: the bits that they are stored with and keep."""

    known: Bits

    def lineage(self, batch: pa.RecordBatch) -> Bits:
        """The lineage of each row: what it is stored with, and what is tested now."""
        stored = np.stack([word_values(batch, word) for word in range(len(self.known))], axis=1)
        return super().lineage(batch) | (stored & self.known)
