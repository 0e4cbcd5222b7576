"""Analytic functions of rows, and the first rows of an order.

    ΔA(P)  =  A(P′ ⋉ D) − A(P ⋉ D)          D = the partitions with rows in ΔP, P′ = P after the batch

In: change of the parent (a Z-set), and rows of the partitions that change: of small ones all, looked up by key, and of
large ones those that the batch touches (``partitions``). Out: change of the operator's rows; equal rows cancel. Rows
are put in order there, with the neighbours that values are computed of, and functions are evaluated (``numbered``).
Where only the first rows are kept, they take the place of the partition (``first_rows``).

Source: the rule for partitions is that of aggregates (Gupta, Mumick, Subrahmanian); the touched range of a partition is
what RisingWave keeps a cache of.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from workbench.arrow.types import Mask
from workbench.engine.operators.analytic.carried_values import CarriedValues
from workbench.engine.operators.analytic.first_rows import FirstRows
from workbench.engine.operators.analytic.numbered import evaluated_change, evaluated_columns, inputs_of
from workbench.engine.operators.analytic.ordered_rows import (
    OrderedRows,
    Side,
)
from workbench.engine.operators.analytic.partitions import PartitionLookup, Reading, selected
from workbench.engine.operators.analytic.ranges import Around
from workbench.engine.operators.operator_input import OperatorInput
from workbench.engine.operators.runner import Runner
from workbench.engine.physical.analytic.reach import (
    Reach,
    all_along,
    carried_expression,
    margin_of,
    of_all,
    reach,
    stored_along,
)
from workbench.engine.physical.join_keys import key_column
from workbench.engine.physical.plans import AnalyticPlan
from workbench.engine.physical.row_inputs import calls_among
from workbench.engine.spark.arrow_tasks import ArrowBatches
from workbench.engine.spark.jobs import Job
from workbench.engine.storage.buckets import bucket_key, buckets_of_tasks, of_buckets
from workbench.engine.storage.grouping import group_numbers
from workbench.engine.storage.indexes.key_index import row_buckets
from workbench.engine.storage.indexes.order_index import RowOrder
from workbench.engine.storage.job_input import InputRows, TaskInput
from workbench.engine.storage.layout import WEIGHT, Layout, only
from workbench.engine.storage.scan import Scan
from workbench.engine.storage.segments import Run, that_may_have
from workbench.limits import Limits
from workbench.sql.algebra.analytic import AnalyticCall


def analytic_job(runner: Runner, operator: OperatorInput, plan: AnalyticPlan) -> Job | None:
    """The job of the change of an analytic node's rows; ``None`` where nothing changes."""
    (rows,) = operator.parents
    if not rows.changed_rows:
        return None
    limits = runner.limits
    stored = rows.relation.layout, rows.bit, None if operator.relation is None else operator.relation.layout
    step = runner.read_once(plan, stored, lambda: _step(operator, plan, limits))
    kept = operator.relation.segments if operator.relation is not None and step.first is not None else ()
    job_input = runner.set_input(plan, operator.batch, [*operator.segments, InputRows((), kept)])
    looked_up = [rows.relation]
    tasks = runner.tasks(rows.changed_rows, operator.hydrated_here, looked_up) if step.order.partition else 1

    def make() -> Job:
        values = evaluated_columns(plan, step.rows.along)
        inputs = inputs_of(values)
        called = {call.function: runner.functions[call.function] for call in calls_among(inputs)}
        names, layout = [*values, WEIGHT], Layout(plan.produced)
        schema = only(layout.arrow, names)

        def change(ordered: Iterable[pa.RecordBatch]) -> ArrowBatches:
            yield evaluated_change(ordered, values, schema, called, limits)

        def rows(task: int) -> ArrowBatches:
            return change(step.change(job_input.read(task, tasks)))

        return runner.task_job(rows, tasks, layout.ddl(names), plan, bool(called))

    return runner.cached(plan, "rows", (step, tasks), make)


def _step(operator: OperatorInput, plan: AnalyticPlan, limits: Limits) -> OrderStep:
    """The step of the plan over rows as they are stored now."""
    (parent,), node = operator.parents, plan.node
    over = node.direct_over
    partition = tuple(map(key_column, over.partition))
    keys = tuple((key_column(k.expression), (k.descending, k.nulls_first)) for k in over.order)
    order = RowOrder(partition, keys, tuple(map(key_column, over.ties)))
    functions = [node.by_name[name] for name in plan.produced if name in node.by_name]
    first = None if plan.first is None else FirstRows(*plan.first)
    reading = reading_of(functions) if first is None else first.reading
    stored = () if reading is None or first is not None else tuple(stored_along(functions))
    if not set(stored) <= set(parent.relation.layout.columns):
        # They are stored where all functions of the node follow from ranges, also those without a reader now.
        reading, stored = None, ()
    along = all_along(functions) if isinstance(reading, Around) else ()
    names = tuple(dict.fromkeys([*plan.read, *partition, *(name for name, _ in keys), *order.ties, *stored]))
    scan = Scan.of(parent.relation.layout, names, partition, parent.bit)
    kept = operator.relation if first is not None else None
    own = None if kept is None else PartitionLookup(Scan.of(kept.layout, names, partition, None), order, limits=limits)
    rows = PartitionLookup(scan, order, reading, along, limits)
    return OrderStep(rows, own, order, of_all(list(map(reach, functions))), first)


def reading_of(functions: Sequence[AnalyticCall]) -> Reading | None:
    """Which rows of a large partition are enough to compute some functions; ``None``: all rows are needed."""
    reaches = {function: reach(function) for function in functions}
    if (carried := carried_expression(functions)) is not None:
        onwards = {reaches[function].back is None for function in functions}
        return CarriedValues(
            key_column(carried), True in onwards, False in onwards, any(r.peers for r in reaches.values())
        )
    margin = margin_of(functions)
    return None if margin is None else Around(margin)


@dataclass(frozen=True)
class OrderStep:
    """Puts the rows of partitions that change in order.

    Attributes:
        rows: what is read from the parent; its keys are the partition.
        own: what is read from the node's own rows, where it keeps the first rows only and has some.
        order: of the rows.
        reach: how far around a row its values look.
        first: which rows are kept; ``None``: all.
    """

    rows: PartitionLookup
    own: PartitionLookup | None
    order: RowOrder
    reach: Reach
    first: FirstRows | None

    def change(self, task: TaskInput) -> ArrowBatches:
        """The rows whose values may have changed, before and after the batch, and their neighbours."""
        parent, kept = (self._of_task(rows, task) for rows in task.inputs)
        changed = [self._rows_of_task(rows, task) for rows in selected(parent.change, self.rows.scan)]
        if not any(batch.num_rows for batch in changed):
            return
        if self.first is not None:
            yield from self._first(self.first, parent, kept.before, changed)
            return
        found = self.rows.of(changed, parent.before)
        ordered = OrderedRows.of(found.rows, changed, self.order, found)
        for sign in (-1, 1):
            side = ordered.side(sign)
            wanted = _touched(side, ordered, self.reach)
            needed = wanted if self.reach.counts_only else _neighbours(side, wanted, self.reach)
            yield side.batch(needed, wanted, self.rows.along, whole=True)

    def _of_task(self, rows: InputRows, task: TaskInput) -> InputRows:
        """The segments that may have rows of the partitions in the buckets of a task."""
        own, key = buckets_of_tasks(task.tasks)[task.task], bucket_key(self.order.partition).number
        return InputRows(*(that_may_have(run, own, key) for run in (rows.change, rows.before)))

    def _rows_of_task(self, rows: pa.RecordBatch, task: TaskInput) -> pa.RecordBatch:
        if task.tasks == 1:
            return rows
        numbers = row_buckets(rows, self.order.partition)
        return rows.filter(pa.array(of_buckets(numbers, buckets_of_tasks(task.tasks)[task.task])))

    def _first(
        self, first: FirstRows, parent: InputRows, kept: Run, changed: Sequence[pa.RecordBatch]
    ) -> Iterable[pa.RecordBatch]:
        before = [] if self.own is None else self.own.of(changed, kept).rows
        pool = OrderedRows.of(before, changed, self.order)
        rest, short = first.known(pool)
        looked_up = np.isin(rest.part, short)
        was = pool.side(-1)
        yield was.batch(all_ := np.ones(len(was.at), dtype=bool), all_)
        sides = [rest.chosen(~looked_up).side(1)]
        if len(short):
            again = [batch.filter(pa.array(_are_of(batch, pool, short, self.order))) for batch in changed]
            sides.append(OrderedRows.of(self.rows.of(again, parent.before).rows, again, self.order).side(1))
        for side in sides:
            these = first.kept(side)
            yield side.batch(these, these)


def _are_of(batch: pa.RecordBatch, pool: OrderedRows, parts: np.ndarray, order: RowOrder) -> Mask:
    """The rows that belong to some partitions, which are given by their numbers in the pool."""
    if not order.partition:
        return np.ones(batch.num_rows, dtype=bool)
    chosen = pool.rows.filter(pa.array(np.isin(pool.part, parts))).select(order.partition)
    both = pa.concat_batches([chosen, batch.select(order.partition)])
    group = group_numbers(both.columns, both.num_rows)
    return np.isin(group[chosen.num_rows :], group[: chosen.num_rows])


def _touched(side: Side, ordered: OrderedRows, reach: Reach) -> Mask:
    """Which rows of a side may have other values than on the other side."""
    changes = ordered.before != ordered.after
    if reach.peers:
        of_peer = np.zeros(int(ordered.peer.max()) + 1, dtype=bool)
        of_peer[ordered.peer[changes]] = True
        changes = of_peer[ordered.peer]
    counts = np.maximum(ordered.after if side.sign > 0 else ordered.before, 0)
    ends = np.cumsum(counts)
    changed = np.flatnonzero(changes)
    return _around(side, ordered.part[changed], ends[changed] - counts[changed], ends[changed], reach.ahead, reach.back)


def _neighbours(side: Side, wanted: Mask, reach: Reach) -> Mask:
    """The rows that the values of some rows are computed of."""
    at = np.flatnonzero(wanted)
    return wanted | _around(side, side.part[at], at, at + 1, reach.back, reach.ahead)


def _around(
    side: Side, parts: np.ndarray, starts: np.ndarray, ends: np.ndarray, back: int | None, ahead: int | None
) -> Mask:
    """The rows of partitions between places, and some before and after them."""
    most = int(max(side.part.max(initial=0), parts.max(initial=0))) + 1
    begin = np.searchsorted(side.part, np.arange(most))
    end = np.searchsorted(side.part, np.arange(most), side="right")
    low = begin[parts] if back is None else np.maximum(starts - back, begin[parts])
    high = end[parts] if ahead is None else np.minimum(ends + ahead, end[parts])
    steps = np.zeros(len(side.part) + 1, dtype=np.int64)
    within = high > low
    np.add.at(steps, low[within], 1)
    np.add.at(steps, high[within], -1)
    return np.asarray(np.cumsum(steps[:-1]) > 0)
