"""Lineage and the grouped filter: which nodes of a local tree a row belongs to, for all nodes at once.

CACQ gives every tuple a bitmap of the queries it is still good for and indexes the predicates on one expression in a
*grouped filter* (CACQ 3.2.6). Here a tree's selections are compiled into one table per tested expression: the sorted
constants cut its values into ranges; each range, each constant and NULL has a row of bits, a bit being set where the
node's tests on this expression are satisfied. A row's lineage is the AND over the expressions of the table rows its
values fall into: one binary search per expression, whatever the number of nodes.

Spark evaluates the expressions, unless they follow from stored columns (``stored``); what is compiled here
only looks up. Functions of the analyst are called last, and for the rows that some selection needs the call for after
the other tests (``call_routing``). This module runs in Spark's Python workers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa

from workbench.arrow.types import Mask
from workbench.engine.physical.filters.call_routing import routed
from workbench.engine.physical.filters.expensive_tests import ExpensiveTests
from workbench.engine.physical.filters.learnt import Learnt
from workbench.engine.physical.filters.range_tables import ByContent, Disjunction, RangeTable
from workbench.engine.physical.stored.calls import Functions, StoredCall
from workbench.engine.physical.stored.values import Computed
from workbench.engine.spark.user_functions.attempt import Attempt, as_one
from workbench.engine.storage.grouping import Positions
from workbench.engine.storage.lineage import Bits, having_all, word_values


@dataclass(frozen=True, eq=False)
class GroupedFilter(ByContent):
    """All selections of a local tree, compiled.

    ``always``: every bit in use; ``keep``: the bits each of which is worth keeping a row for; ``combinations``: sets of
    bits that are only together; ``computed``: what is tested and follows from columns of the rows, by the
    name under which it is tested; ``called``: the calls of ``functions`` that it is computed from, where there are any,
    each after those that it reads; ``labels``: these tests in words.
    """

    tables: tuple[RangeTable, ...]
    disjunctions: tuple[Disjunction, ...]
    always: Bits
    keep: Bits
    combinations: tuple[tuple[int, ...], ...]
    computed: Mapping[str, Computed] = field(default_factory=dict, kw_only=True)
    called: Mapping[str, tuple[StoredCall, ...]] = field(default_factory=dict, kw_only=True)
    labels: Mapping[str, str] = field(default_factory=dict, kw_only=True)
    functions: Functions = field(default_factory=dict, kw_only=True)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read from rows, some of them several times."""
        return tuple(column for name in self._tested_names for column in self.columns_of(name))

    def columns_of(self, name: str) -> Collection[str]:
        """The columns that are read for a test."""
        return columns_read(self.computed[name], self.called.get(name, ())) if name in self.computed else [name]

    @property
    def calls(self) -> tuple[StoredCall, ...]:
        """The calls of the analyst's functions that may have to be made."""
        return tuple(call for name in self._tested_names for call in self.called.get(name, ()))

    @property
    def _tested_names(self) -> Iterator[str]:
        tables = (*self.tables, *(table for disjunction in self.disjunctions for table in disjunction.tables))
        return (table.column for table in tables)

    def calling(self, functions: Functions) -> GroupedFilter:
        """The filter with the analyst's functions that it calls."""
        return replace(self, functions={call.function: functions[call.function] for call in self.calls})

    def with_known(self, known: Bits) -> GroupedFilter:
        """The filter for rows that are stored with some of the bits: it tests only the other bits' conditions."""
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
            labels=self.labels,
        )

    def lineage(self, batch: pa.RecordBatch, learnt: Learnt | None = None) -> Bits:
        """The lineage of each row, shape (rows, words).

        What is tested and computed of the rows is computed of those alone that other tests leave, where these are few.

        Args:
            batch: the rows.
            learnt: what is known of the tests that call functions, and learns from these rows.
        """
        bits = np.empty((batch.num_rows, len(self.always)), dtype=np.uint64)
        bits[:] = self.always
        for table in self.tables:
            if table.column not in self.computed:
                bits &= table.bits[table.rank(batch.column(table.column))]
        if not self.disjunctions and not any(table.column in self.computed for table in self.tables):
            return bits
        left = np.flatnonzero((bits & self._decided_by_computed).any(axis=1))
        if len(left) > batch.num_rows // 2:
            return self._with_computed(batch, bits, learnt)
        if len(left):
            some = batch.select(sorted({*self.columns})).take(pa.array(left))
            bits[left] = self._with_computed(some, bits[left], learnt)
        return bits

    @property
    def _decided_by_computed(self) -> Bits:
        """The bits that depend on computed values: a row without any of them needs no such test."""
        free = [np.bitwise_and.reduce(table.bits, axis=0) for table in self.tables if table.column in self.computed]
        return self.always & ~np.bitwise_and.reduce([self.always, *free, *(one.without for one in self.disjunctions)])

    def _with_computed(self, batch: pa.RecordBatch, bits: Bits, learnt: Learnt | None) -> Bits:
        """The lineage of each row; ``bits`` is the lineage after the tests of columns alone."""
        for table in self.tables:
            if table.column in self.computed and table.column not in self.called:
                bits &= table.bits[table.rank(self.tested(batch, table.column))]
        undecided = np.ones((batch.num_rows, len(self.disjunctions)), dtype=bool)
        for at, disjunction in enumerate(self.disjunctions):
            cheap = [table for table in disjunction.tables if table.column not in self.called]
            for table in cheap:
                undecided[:, at] &= table.bits[table.rank(self.tested(batch, table.column)), 0] == 0
            if len(cheap) == len(disjunction.tables):
                bits[undecided[:, at]] &= disjunction.without
        if not self.called:
            return bits
        expensive = ExpensiveTests.of(self.called, self.tables, self.disjunctions)
        return routed(expensive, bits, undecided, learnt or Learnt(), lambda *asked: self._asked(batch, *asked))

    def _asked(self, batch: pa.RecordBatch, name: str, rows: Positions, alone: bool) -> Attempt:
        """What is tested of some rows, once its functions are called; ``alone``: nothing else may excuse a failure."""
        some = batch.select(sorted(self.columns_of(name))).take(pa.array(rows))
        attempts = list[Attempt]()
        for call in self.called[name]:
            attempt = call.attempt(some, self.functions, told=alone)
            attempts.append(replace(attempt, failed=np.zeros(len(rows), dtype=bool)) if alone else attempt)
            some = some.append_column(call.name, attempts[-1].values)
        return as_one(attempts, self.tested(some, name))

    def tested(self, batch: pa.RecordBatch, name: str) -> pa.Array:
        """The value that is tested of each row; the values of calls are columns of the rows."""
        return self.computed[name].values(batch) if name in self.computed else batch.column(name)

    def combined(self, bits: Bits) -> Mask:
        """Which rows have all bits of which combination: shape (rows, words) in, (rows, n) out."""
        return having_all(bits, self.combinations)


@dataclass(frozen=True, eq=False)
class StoredFilter(GroupedFilter):
    """A filter for stored rows; ``known``: the bits that they are stored with and keep."""

    known: Bits

    def lineage(self, batch: pa.RecordBatch, learnt: Learnt | None = None) -> Bits:
        """The lineage of each row, from the bits that are stored with it and the tests that are made now."""
        stored = np.stack([word_values(batch, word) for word in range(len(self.known))], axis=1)
        return super().lineage(batch, learnt) | (stored & self.known)


def columns_read(value: Computed, calls: Sequence[StoredCall]) -> frozenset[str]:
    """The stored columns that a value is computed from, some by way of calls."""
    names = {call.name for call in calls}
    read = [*value.columns, *(column for call in calls for column in call.columns)]
    return frozenset(column for column in read if column not in names)
