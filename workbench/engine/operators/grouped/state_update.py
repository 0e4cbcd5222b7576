"""State update: the step of an aggregate's job that turns fragments into the change of its state and of its rows.

In: fragments of some groups, all of each (``fragments``). The step writes the dirty groups down as a change of the
state, looks up what is stored for them, and merges it. Out: the change of the operator's rows. The old row of a group
leaves with weight -1, its new row enters with weight 1, and where both are equal nothing changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from workbench.engine.operators.grouped.fragments import Fragments
from workbench.engine.operators.grouped.group_values import GroupValues
from workbench.engine.operators.grouped.open_groups import OpenGroups, stay_open
from workbench.engine.operators.grouped.state_lookup import GroupRows, KeyedLookup
from workbench.engine.operators.grouped.statistics import copies, statistic_value
from workbench.engine.operators.grouped.value_counts import ChangedValues
from workbench.engine.operators.state_files import hand_over_state
from workbench.engine.physical.aggregate_plan import LIVE, GroupedPlan
from workbench.engine.physical.value_statistics import VALUES
from workbench.engine.spark.arrow_tasks import ArrowBatches
from workbench.engine.storage.buckets import EVERY_BUCKET
from workbench.engine.storage.grouping import Positions, not_distinct
from workbench.engine.storage.job_input import JobInput
from workbench.engine.storage.layout import BATCH, MEMBER, WEIGHT, Layout, conform, only
from workbench.engine.storage.reduction import Cells
from workbench.engine.storage.scan import Scan
from workbench.engine.storage.segments import Run, SegmentWriter, that_may_have
from workbench.limits import Limits
from workbench.network.nodes import Columns


@dataclass(frozen=True)
class StoredGroups:
    """The rows and state of dirty groups, and where the job's input has them.

    Attributes:
        position: of the first of both among the inputs.
        rows: what is read from the operator's rows, where a statistic follows from its value before: the columns
            beside the keys.
        state: what is read from the state: keys and parts.
    """

    position: int
    rows: Scan
    state: Scan


@dataclass(frozen=True)
class MergedGroups:
    """The parts of dirty groups.

    Attributes:
        parts: those after the batch, and behind them, where anything is stored, those before it: NULL of a group of
            which nothing is. What follows from the ones and the others is computed by one call.
        number: of groups.
    """

    parts: pa.RecordBatch
    number: int

    @property
    def after(self) -> pa.RecordBatch:
        """The parts after the batch."""
        return self.parts.slice(0, self.number)


@dataclass(frozen=True)
class StateUpdate:
    """The step.

    Attributes:
        plan: how the operator groups.
        produced: columns of the operator's rows.
        job_input: of the job.
        folder: where the change of the state is written.
        stored: what is looked up; ``None`` where nothing was there.
        tree: the name of the tree, by which the segments of the state are handed over to ``FilterAndWrite``.
        apart: whether that runs in another process.
        of_pieces: whether the fragments of a batch are of one piece of rows (``Fragments.dirty_groups``).
        buckets: those of the groups of a task.
    """

    plan: GroupedPlan
    produced: Columns
    job_input: JobInput
    folder: str
    stored: StoredGroups | None
    tree: str = ""
    apart: bool = False
    of_pieces: bool = False
    buckets: int = EVERY_BUCKET

    @property
    def ddl(self) -> str:
        """The rows that come out, in Spark's DDL."""
        return Layout(self.produced).ddl([*self.produced, WEIGHT])

    def of(self, batches: ArrowBatches) -> ArrowBatches:
        """The change of the operator's rows; every task must have all fragments of its groups."""
        dirty, values = ChangedValues.split(self.plan, self._fragments.dirty_groups(list(batches), self.of_pieces))
        dirty = self._with_distinct_parts(dirty, values)
        writer = SegmentWriter(self.folder, self._limits, self.buckets)
        for rows in (dirty, *([] if values is None else [values.rows])):
            writer.add(rows)
        written = writer.close()
        if self._state is not None and self.plan.groups and not self._looked_up(0):
            # The tasks of a hydration share what the next batch would do alone.
            KeyedLookup(self._state.key_columns, self._state, limits=self._limits).index(written)
        hand_over_state(self.tree, written, self.apart)
        rows = self._rows_after(dirty, values, tuple(written))
        most = self._limits.rows_looked_up_together
        yield from (rows.slice(first, most) for first in range(0, rows.num_rows, most))

    def rows_of(self, groups: pa.RecordBatch, values: ChangedValues | None) -> pa.RecordBatch:
        """The rows of all groups, before which there were none."""
        return self._rows_after(self._with_distinct_parts(groups, values), values)

    def _rows_after(self, dirty: pa.RecordBatch, values: ChangedValues | None, written: Run = ()) -> pa.RecordBatch:
        if self._state is None:
            groups = self._with_empty_groups(dirty)
            return self._change(MergedGroups(groups, groups.num_rows), values)
        state = self._looked_up(0)
        if not state and self.plan.groups:  # as while it is hydrated: no group was there before
            return self._change(MergedGroups(dirty, dirty.num_rows), values)
        if state and stay_open(self.plan, state, self._limits):
            merged = self._merged_with_open(dirty, OpenGroups.of(self.plan, self.folder, state), written)
        else:
            lookup = KeyedLookup(self._state.key_columns, self._state, limits=self._limits)
            merged = self._merged(dirty, self._added_up(lookup.pairs(dirty, state), dirty.num_rows))
        return self._change(merged, values)

    def _merged_with_open(self, dirty: pa.RecordBatch, groups: OpenGroups, written: Run) -> MergedGroups:
        """The dirty groups with their parts, where all groups are open, which stay in memory."""
        found = groups.look_up(self.plan, dirty)
        merged = self._merged(dirty, _placed(conform(groups.rows, self._parts), found.at, found.group, dirty.num_rows))
        groups.keep(self.folder, written, merged.after, found)
        return merged

    @property
    def _limits(self) -> Limits:
        return self.job_input.limits

    @property
    def _state(self) -> Scan | None:
        """The scan of the state; ``None`` while the operator is hydrated."""
        return None if self.stored is None else self.stored.state

    @cached_property
    def _fragments(self) -> Fragments:
        return Fragments.of(self.plan, self._limits)

    @cached_property
    def _schema(self) -> pa.Schema:
        """The schema of the operator's rows with their weights."""
        return only(Layout(self.produced).arrow, [*self.produced, WEIGHT])

    @property
    def _values(self) -> list[str]:
        return [name for name in self.produced if name not in self.plan.keys]

    def _looked_up(self, which: int) -> Run:
        """The segments of the state, or of the operator's rows, in the order of the job's input."""
        assert self.stored is not None
        return that_may_have(self.job_input.read().inputs[self.stored.position + which].before, self.buckets)

    def _with_empty_groups(self, dirty: pa.RecordBatch) -> pa.RecordBatch:
        """The groups, and where there is one for each member from the start, also those over no rows."""
        if self.plan.groups:
            return dirty
        missing = sorted({*self.plan.members}.difference(dirty.column(MEMBER).to_pylist()))
        marks = {name: pa.array([0] * len(missing), pa.int64()) for name in (VALUES,) if self.plan.counted}
        empty = pa.RecordBatch.from_pydict({MEMBER: pa.array(missing, pa.int64()), **marks})
        return pa.concat_batches([dirty, conform(empty, dirty.schema)])

    def _with_distinct_parts(self, dirty: pa.RecordBatch, values: ChangedValues | None) -> pa.RecordBatch:
        """The dirty groups with the change of the parts that take each value once."""
        if values is None or not self.plan.distinct_parts:
            return dirty
        before = np.zeros(values.rows.num_rows, dtype=np.int64)
        if self._state is not None:
            lookup = KeyedLookup(self._state.key_columns, self._state, limits=self._limits)
            for value, rows, at in lookup.pairs(values.rows, self._looked_up(0)):
                np.add.at(before, value, rows.column(LIVE).to_numpy()[at])
        for part in self.plan.distinct_parts:
            own = np.flatnonzero(values.rows.column(VALUES).to_numpy() == part.of.number)
            change = values.of(part.of).distinct_change(part, before[own], dirty.num_rows)
            dirty = dirty.set_column(dirty.schema.get_field_index(part.name), dirty.schema.field(part.name), change)
        return dirty

    def _merged(self, dirty: pa.RecordBatch, before: pa.RecordBatch) -> MergedGroups:
        """The dirty groups with their parts: those before the batch, and these with their change.

        Args:
            dirty: the groups with the change.
            before: what is stored of each; NULL of those of which nothing is.
        """
        rows, keys = dirty.num_rows, dirty.select([*self.plan.state_keys])
        both = pa.concat_batches([before, conform(dirty, before.schema)])
        of_each = np.arange(2 * rows).reshape(2, rows).T.reshape(-1)  # what is stored, and behind it the change
        after = self._reduced(both.take(pa.array(of_each)), np.arange(0, 2 * rows, 2))
        parts, keys = pa.concat_batches([after, before]), pa.concat_batches([keys, keys])
        names = [*keys.schema.names, *parts.schema.names]
        return MergedGroups(pa.RecordBatch.from_arrays([*keys.columns, *parts.columns], names=names), rows)

    def _added_up(self, stored: Iterable[GroupRows], number: int) -> pa.RecordBatch:
        """Add up the stored parts of some groups; NULL for groups of which nothing is stored.

        Args:
            stored: rows of theirs in each segment.
            number: of groups.
        """
        owners, found = [np.zeros(0, dtype=np.int64)], [conform(pa.RecordBatch.from_pydict({}), self._parts)]
        for group, rows, at in stored:
            owners.append(group)
            found.append(conform(rows, self._parts).take(pa.array(at)))
        owner, together = np.concatenate(owners), pa.concat_batches(found)
        if (np.bincount(owner, minlength=1) > 1).any():
            order = np.argsort(owner, kind="stable")
            starts = np.flatnonzero(np.diff(owner[order], prepend=-1))
            owner, together = owner[order][starts], self._reduced(together.take(pa.array(order)), starts)
        return _placed(together, np.arange(len(owner)), owner, number)

    def _reduced(self, rows: pa.RecordBatch, starts: Positions) -> pa.RecordBatch:
        """The reduced parts of groups; the rows of each group are adjacent."""
        cells = Cells.of_one_reader(starts, rows.num_rows)
        reduced = [cells.reduce(rows.column(part.name), part.combine, cells.every) for part in self.plan.state_parts]
        return pa.RecordBatch.from_arrays(reduced, schema=rows.schema)

    @cached_property
    def _parts(self) -> pa.Schema:
        """The schema of the parts of groups."""
        return only(self.plan.state_layout.arrow, [part.name for part in self.plan.state_parts])

    def _after(
        self,
        groups: pa.RecordBatch,
        changed: ChangedValues | None,
        types: Sequence[pa.DataType],
        before: pa.RecordBatch | None,
    ) -> pa.RecordBatch:
        """The statistics of groups whose parts are merged; ``before``: those before the batch."""
        values: dict[str, GroupValues] = {}
        if changed is not None:
            stored = () if self._state is None else self._looked_up(0)
            values = {
                of.column: GroupValues(self.plan, of, groups, changed.of(of), self._state, stored, self._limits)
                for of in self.plan.counted
            }
        columns = []
        for name, type_ in zip(self._values, types, strict=True):
            if name in self.plan.from_values:
                statistic = self.plan.from_values[name]
                old = None if before is None else before.column(name)
                columns.append(values[statistic.of.column].statistic(statistic, old).cast(type_))
            else:
                columns.append(statistic_value(self.plan.finals[name], groups).cast(type_))
        return pa.RecordBatch.from_arrays(columns, names=self._values)

    def _change(self, merged: MergedGroups, changed: ChangedValues | None) -> pa.RecordBatch:
        """The change of the rows of groups whose parts are merged."""
        groups, schema, number = merged.after, self._schema, merged.number
        types = [schema.field(name).type for name in self._values]
        if self.stored is None or merged.parts.num_rows == number:
            return self._rows(groups, self._after(groups, changed, types, None), copies(self.plan, groups))
        if self.plan.from_values:
            # The value of such a statistic after the batch follows from the one before, which is looked up.
            before, present = self._emitted(groups, self.stored.rows, self._looked_up(1))
            after, there = self._after(groups, changed, types, before), copies(self.plan, groups)
            values = pa.concat_batches([after, conform(before, after.schema)])
        else:
            values, times = self._after(merged.parts, None, types, None), copies(self.plan, merged.parts)
            there, present = times[:number], times[number:]
        equal = np.ones(number, dtype=bool)
        for column in values.columns:
            equal &= not_distinct(column.slice(0, number), column.slice(number))
        weights = np.concatenate([np.where(equal, there - present, there), np.where(equal, 0, -present)])
        return self._rows(merged.parts, values, weights)

    def _rows(self, groups: pa.RecordBatch, values: pa.RecordBatch, weights: Positions) -> pa.RecordBatch:
        """The rows of groups whose weight is not 0."""
        at = np.flatnonzero(weights)
        columns = [(groups if name in self.plan.keys else values).column(name) for name in self.produced]
        rows = pa.RecordBatch.from_arrays(columns, names=[*self.produced]).take(pa.array(at))
        return conform(rows.append_column(WEIGHT, pa.array(weights[at])), self._schema)

    def _emitted(self, groups: pa.RecordBatch, scan: Scan, stored: Run) -> tuple[pa.RecordBatch, Positions]:
        """The operator's stored rows of some groups.

        A group has one row at a time, and rows are stored as changes. Its row is the one that entered in the latest
        batch in which the group's row changed. That stays so when runs of changes are consolidated: such a run has the
        row before its first batch with weight -1, and the one after its last batch with weight 1, if they differ.
        """
        weights = np.zeros(groups.num_rows, dtype=np.int64)
        pairs = list(KeyedLookup(scan.key_columns, scan, limits=self._limits).pairs(groups, stored))
        latest = np.full(groups.num_rows, -1, dtype=np.int64)
        for group, rows, at in pairs:
            np.maximum.at(latest, group, rows.column(BATCH).to_numpy()[at].astype(np.int64))
        entered, owners = [conform(pa.RecordBatch.from_pydict({}), scan.output)], [np.zeros(0, dtype=np.int64)]
        for group, rows, at in pairs:
            own = (rows.column(WEIGHT).to_numpy()[at] > 0) & (rows.column(BATCH).to_numpy()[at] == latest[group])
            entered.append(scan.take(rows, at[own]))
            owners.append(group[own])
        owner = np.concatenate(owners)
        position = np.full(groups.num_rows, -1, dtype=np.int64)
        position[owner] = np.arange(len(owner))
        weights[owner] = 1
        return pa.concat_batches(entered).take(pa.array(position, mask=position < 0)), weights


def _placed(rows: pa.RecordBatch, at: Positions, place: Positions, number: int) -> pa.RecordBatch:
    """Put some rows at given positions; positions without a row are NULL.

    Args:
        rows: all of them.
        at: the positions of some.
        place: where each of these is to be.
        number: of places.
    """
    found = np.full(number, -1, dtype=np.int64)
    found[place] = at
    return rows.take(pa.array(found, mask=found < 0))
