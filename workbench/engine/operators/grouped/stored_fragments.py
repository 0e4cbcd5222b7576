"""The fragments of changed rows.

Most aggregates and set operators group by columns, and count, add up or compare columns. What a row adds to a part is
then a column, its weight, or their product. A task reads the changed rows itself and groups them; rows do not go to the
JVM and back. Few rows are grouped by the task that updates the state. Of many rows every task groups its share, piece
by piece, and the fragments of a group come together by files (``exchange``).

In: the change of each branch, as segments. Out: one fragment for all rows of
equal groups and lineage, and where values are counted one for each value of these rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property

import numpy as np
import pyarrow as pa

from workbench.arrow.nested import texts_read_once
from workbench.arrow.types import to_arrow
from workbench.engine.operators.grouped.addends import added_to, reduced
from workbench.engine.physical.accumulators import StatePart
from workbench.engine.physical.aggregate_plan import LIVE, GroupedPlan
from workbench.engine.physical.row_inputs import calls_among, with_calls
from workbench.engine.physical.stored.calls import Functions
from workbench.engine.physical.value_statistics import VALUES, CountedValues
from workbench.engine.storage.grouping import group_rows, with_equal_bits
from workbench.engine.storage.job_input import TaskInput
from workbench.engine.storage.layout import (
    BATCH,
    BRANCH,
    GROUPING_SET,
    MEMBER,
    WEIGHT,
    Layout,
    conform,
    one_batch,
    only,
)
from workbench.engine.storage.lineage import word_column
from workbench.engine.storage.reduction import Cells
from workbench.engine.storage.scan import LineageScan
from workbench.engine.storage.segments import read_share, shares
from workbench.limits import LIMITS, Limits
from workbench.sql.algebra.types import INTEGER

Mark = int | np.int32
"""The value of a column that is the same in all fragments of some rows."""


@dataclass(frozen=True)
class StoredFragments:
    """The fragments of a change.

    Attributes:
        plan: how the operator groups.
        scans: what is read from the change of each branch.
        functions: those of the analyst that it calls.
    """

    plan: GroupedPlan
    scans: tuple[LineageScan, ...]
    functions: Functions = field(default_factory=dict)

    def of(self, task: TaskInput) -> Iterator[pa.RecordBatch]:
        """The fragments of a task's share of the change; the job's first inputs are the branches."""
        for branch, scan in enumerate(self.scans):
            share = shares(task.inputs[branch].change, task.tasks)[task.task]
            batches = read_share(share, scan.input, task.limits)
            selected = (rows for batch in batches for rows in scan.select(batch))
            yield from self.of_branch(branch, selected, task.limits)

    def of_branch(
        self, branch: int, batches: Iterable[pa.RecordBatch], limits: Limits = LIMITS
    ) -> Iterator[pa.RecordBatch]:
        """The fragments of the rows of a branch, by its position, as its scan selects them."""
        for piece in pieces(batches, limits.rows_grouped_together):
            rows = one_batch(piece)
            numbers, groupings = rows.column(GROUPING_SET).to_numpy(), self.plan.branches[branch].groupings
            for number in range(len(groupings)):
                own = rows.filter(pa.array(numbers == number)) if len(groupings) > 1 else rows
                if own.num_rows:
                    yield from self.of_rows(own, branch, number)

    def of_rows(self, rows: pa.RecordBatch, branch: int, number: int) -> Iterator[pa.RecordBatch]:
        """The fragments of some rows of a branch that are all grouped alike.

        Args:
            rows: with the columns that the branch reads, weights and words of lineage (``LineageScan.output``).
            branch: its position.
            number: of the grouping.
        """
        rows = self.with_calls(rows, branch)
        keys = {word: rows.column(word) for word in map(word_column, self.plan.words)}
        member = self.plan.only_member
        marks: dict[str, Mark] = {GROUPING_SET: number, BRANCH: branch}
        if member is not None:
            marks = {MEMBER: member, BATCH: np.int32(0), WEIGHT: 1}  # of the types in which they are stored
        with texts_read_once():
            fragments = [conform(each, self._schema) for each in self.combined(rows, keys, marks, branch, number)]
        yield from fragments

    def with_calls(self, rows: pa.RecordBatch, branch: int) -> pa.RecordBatch:
        """Rows of a branch, with what functions of the analyst give for them."""
        return with_calls(rows, calls_among(self.plan.inputs(branch)), self.functions)

    def combined(
        self, rows: pa.RecordBatch, keys: Mapping[str, pa.Array], marks: Mapping[str, Mark], branch: int, number: int
    ) -> Iterator[pa.RecordBatch]:
        """Rows that are equal in some columns and in their groups as one, and the values in them.

        Args:
            rows: with the columns that the branch reads, and weights.
            keys: of the rows, beside their groups.
            marks: columns that are the same in all rows that come out.
            branch: its position.
            number: of the grouping.
        """
        grouping = self.plan.branches[branch].groupings[number]
        # A sum has several parts, and AVG, SUM and COUNT of an expression have the same.
        values = cache(lambda value: value.values(rows))
        keys = {**keys} | {
            name: with_equal_bits(values(grouping[name]).cast(to_arrow(type_)))
            for name, type_ in self.plan.groups.items()
            if name in grouping
        }
        of_groups = {VALUES: 0} if self.plan.counted else {}
        parts = {part: added_to(part, rows, branch, values) for part in self.plan.parts}
        yield self._combined(rows.num_rows, keys, {**marks, **of_groups}, parts)
        for of in self.plan.counted:
            yield self._of_values(of, values(of.value), rows, keys, marks)

    def _of_values(
        self,
        of: CountedValues,
        values: pa.Array,
        rows: pa.RecordBatch,
        keys: Mapping[str, pa.Array],
        marks: Mapping[str, Mark],
    ) -> pa.RecordBatch:
        """The fragments of the values of an expression; a fragment counts its rows and has no other part."""
        known = values.is_valid()
        own = {name: column.filter(known) for name, column in keys.items()}
        own[of.column] = with_equal_bits(values.filter(known))
        counts = {part: rows.column(WEIGHT).filter(known) for part in self.plan.parts if part.name == LIVE}
        return self._combined(len(own[of.column]), own, {**marks, VALUES: of.number}, counts)

    def _combined(
        self, rows: int, keys: Mapping[str, pa.Array], marks: Mapping[str, Mark], parts: Mapping[StatePart, pa.Array]
    ) -> pa.RecordBatch:
        """Rows with equal keys as one fragment each.

        Args:
            rows: how many there are.
            keys: columns of the rows.
            marks: columns that are the same in all of them.
            parts: what each row adds.
        """
        order, starts = group_rows([*keys.values()], rows)
        cells, at, first = Cells.of_one_reader(starts, rows), pa.array(order), pa.array(order[starts])
        in_order = not keys or len(starts) == rows
        columns = {name: column if in_order else column.take(first) for name, column in keys.items()}
        columns |= {name: pa.array(np.full(len(starts), number)) for name, number in marks.items()}
        for part, added in parts.items() if rows else ():
            columns[part.name] = reduced(part, added if in_order else added.take(at), cells)
        return pa.RecordBatch.from_pydict(columns)

    @property
    def ddl(self) -> str:
        """The columns of fragments, in Spark's DDL."""
        return self._layout.ddl(self._schema.names)

    @property
    def keys(self) -> list[str]:
        """The columns by which fragments of a group come together."""
        return [GROUPING_SET if self.plan.only_member is None else MEMBER, *self.plan.groups]

    @cached_property
    def _schema(self) -> pa.Schema:
        every = self._layout.arrow
        return every if self.plan.only_member is not None else only(every, [*self._layout.columns])

    @cached_property
    def _layout(self) -> Layout:
        """Those of the only member are rows of the state; others are told by their marks who reads them."""
        if self.plan.only_member is not None:
            return self.plan.state_layout
        marks = [*map(word_column, self.plan.words), GROUPING_SET, BRANCH]
        parts = {part.name: part.type for part in self.plan.parts}
        return Layout({**dict.fromkeys(marks, INTEGER), **self.plan.groups, **self.plan.value_keys, **parts})


def pieces(batches: Iterable[pa.RecordBatch], rows: int) -> Iterator[list[pa.RecordBatch]]:
    """Batches in lists of at least ``rows`` rows, except the last one.

    Example:
        >>> batches = [pa.RecordBatch.from_pydict({"a": [0] * rows}) for rows in (2, 1, 4)]
        >>> [len(piece) for piece in pieces(batches, 3)]
        [2, 1]
    """
    piece: list[pa.RecordBatch] = []
    for batch in batches:
        piece.append(batch)
        if sum(each.num_rows for each in piece) >= rows:
            yield piece
            piece = []
    if piece:
        yield piece
