"""Recomputes groups from all of their rows: groups by sessions, and others where no statistics are kept.

In: fragments that say which groups are dirty. The rows of these groups are looked up among the parent's, divided into
sessions where there are any, and aggregated as fragments are. Out: the change of the operator's rows: all old rows of
the dirty groups leave, new ones enter, and equal rows cancel. Of a group by sessions only those that changed rows touch
are looked up (``session_ranges``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from workbench.arrow.types import to_arrow
from workbench.engine.operators.grouped.fragments import Fragments
from workbench.engine.operators.grouped.session_ranges import SessionRanges, TimeOrder
from workbench.engine.operators.grouped.state_lookup import KeyedLookup, OrderRange
from workbench.engine.operators.grouped.state_update import StateUpdate
from workbench.engine.operators.grouped.stored_fragments import StoredFragments
from workbench.engine.operators.grouped.value_counts import ChangedValues
from workbench.engine.physical.aggregate_plan import GroupedPlan, Sessions
from workbench.engine.physical.join_keys import key_column
from workbench.engine.physical.stored.calls import Functions
from workbench.engine.physical.stored.values import Computed
from workbench.engine.spark.arrow_tasks import ArrowBatches
from workbench.engine.storage.buckets import EVERY_BUCKET, bucket_key
from workbench.engine.storage.comparable import comparable
from workbench.engine.storage.grouping import group_numbers
from workbench.engine.storage.job_input import InputRows, JobInput
from workbench.engine.storage.layout import MEMBER, WEIGHT, Layout, conform, only
from workbench.engine.storage.relation import consolidate
from workbench.engine.storage.scan import FusedScan, Scan
from workbench.engine.storage.segments import that_may_have
from workbench.network.nodes import Columns
from workbench.sql.algebra.expressions import Column


@dataclass(frozen=True)
class RecomputedGroups:
    """The steps.

    Attributes:
        plan: how the operator groups; the dirty groups are told by it.
        anew: how values are computed from rows.
        produced: columns of the operator's rows.
        job_input: of the job: the parent's rows, and then the operator's own.
        tree: the name of the tree.
        rows: what is read of the parent's rows; its keys are the groups.
        own: what is read of the operator's rows; its keys are those of the operator.
        functions: those of the analyst that are called.
        buckets: those of the groups of a task.
    """

    plan: GroupedPlan
    anew: GroupedPlan
    produced: Columns
    job_input: JobInput
    tree: str
    rows: FusedScan
    own: Scan
    functions: Functions
    buckets: int = EVERY_BUCKET

    @property
    def ddl(self) -> str:
        """The rows that come out, in Spark's DDL."""
        return Layout(self.produced).ddl([*self.produced, WEIGHT])

    def of(self, fragments: ArrowBatches) -> ArrowBatches:
        """The change of the operator's rows; every task must have all fragments of its groups."""
        dirty, parent = self._dirty(fragments), self._parent
        lookup, own = self._lookup, KeyedLookup(self.own.key_columns, self.own, limits=self.job_input.limits)
        within, after, sessions = None, (*parent.before, *parent.change), self.anew.sessions
        if sessions is not None and sessions.column in self.produced:
            # Other sessions of a group stay as they are.
            lookup = replace(lookup, order=TimeOrder(f"session {sessions.time}", sessions.time))
            gap = sessions.gap * 1_000_000
            ranges = SessionRanges.around(dirty, lookup, parent.before, parent.change, gap)
            own = replace(own, order=TimeOrder(sessions.column, Computed(Column(sessions.column, sessions.type))))
            dirty, within = ranges.groups, (ranges.low, ranges.high)
        yield self._change(lookup.rows_of(dirty, after, within), [(dirty, within)], own)

    @property
    def _parent(self) -> InputRows:
        """The parent's rows that may be of the task's groups."""
        rows, key = self.job_input.read().inputs[0], bucket_key(map(key_column, self.plan.row_keys)).number
        return InputRows(*(that_may_have(run, self.buckets, key) for run in (rows.change, rows.before)))

    @property
    def _lookup(self) -> KeyedLookup:
        """Finds the parent's rows."""
        return KeyedLookup(tuple(self.plan.groups), self.rows, limits=self.job_input.limits)

    def _dirty(self, fragments: ArrowBatches) -> pa.RecordBatch:
        return Fragments.of(self.plan, self.job_input.limits).dirty_groups(list(fragments))

    def _change(
        self, rows: ArrowBatches, dirty: Sequence[tuple[pa.RecordBatch, OrderRange | None]], own: KeyedLookup
    ) -> pa.RecordBatch:
        """The rows that enter, and the stored ones that leave."""
        schema = Layout(self.produced).arrow
        parts = [self._entering(list(rows), schema)]
        stored = that_may_have(self.job_input.read().inputs[1].before, self.buckets)
        for groups, within in dirty:
            for old in own.rows_of(groups, stored, within):
                weights = pc.negate(old.column(WEIGHT))
                at = old.schema.get_field_index(WEIGHT)
                parts.append(conform(old.set_column(at, WEIGHT, weights), schema))
        return conform(consolidate(pa.concat_batches(parts)), only(schema, [*self.produced, WEIGHT]))

    def _entering(self, batches: list[pa.RecordBatch], schema: pa.Schema) -> pa.RecordBatch:
        """The rows of the groups after the batch."""
        made = StoredFragments(self.anew, (), self.functions)
        layout = Layout(self.anew.state_columns).arrow
        groups = conform(pa.RecordBatch.from_pydict({}), layout)
        filled = [batch for batch in batches if batch.num_rows]
        if filled:
            rows = consolidate(pa.concat_batches(filled))
            rows = made.with_calls(rows.filter(pc.greater(rows.column(WEIGHT), 0)), 0)
            rows = rows if self.anew.sessions is None else _with_sessions(rows, self.anew, self.anew.sessions)
            keys = {MEMBER: rows.column(MEMBER)}
            groups = pa.concat_batches([groups, *(conform(f, layout) for f in made.combined(rows, keys, {}, 0, 0))])
        plan = self.anew.read_by([self.plan.branches[0].readers])  # who has a row over no rows
        update = StateUpdate(plan, self.produced, self.job_input, "", None)
        return conform(update.rows_of(*ChangedValues.split(self.anew, groups)), schema)


def _with_sessions(rows: pa.RecordBatch, plan: GroupedPlan, sessions: Sessions) -> pa.RecordBatch:
    """Rows with the start of their session; those without a time are in none.

    A row that is at most the gap after the one before it, in its group, is in the same session.
    """
    times = sessions.time.values(rows)
    rows, times = rows.filter(times.is_valid()), times.drop_null()
    (grouping,) = plan.branches[0].groupings
    keys = [value.values(rows) for name, value in grouping.items() if name != sessions.column]
    group = group_numbers([rows.column(MEMBER), *keys], rows.num_rows)
    micros = comparable(times).astype(np.int64)
    order = np.lexsort([micros, group])
    along, of = micros[order], group[order]
    new = np.ones(len(order), dtype=bool)
    # Of two times in order the difference may need the sign's bit, too.
    new[1:] = (of[1:] != of[:-1]) | (np.diff(along).view(np.uint64) > sessions.gap * 1_000_000)
    begin = np.empty_like(micros)
    begin[order] = along[np.flatnonzero(new)][np.cumsum(new) - 1]
    return rows.append_column(sessions.column, pa.array(begin, pa.timestamp("us")).cast(to_arrow(sessions.type)))
