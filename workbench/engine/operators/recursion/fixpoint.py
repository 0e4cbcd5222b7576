"""Recursion: rows that follow from rows by rules, until a step has none.

    S₀ = first,  Sᵢ₊₁ = rules(Sᵢ)  without rows of S₀ … Sᵢ  (UNION),  or with them  (UNION ALL)

In: change of each branch (a Z-set), and rows of the other branches, looked up by key. State: how often each step makes
each row. Out: change of the rows that some step makes (UNION), or of all steps together (UNION ALL).

The steps are computed in order, each from the changes alone (semi-naive): a change of another branch meets the rows of
all steps before the batch at once; then, from the first step on, what enters and leaves a step meets the branches as
they are now. A step depends on the one before it only, so counts are exact where rows are taken back, also in circles,
in which rows would hold each other up if they were counted without their steps; nothing is derived anew, and how far a
change goes is what it costs.

Source: for counts by step F. McSherry, D. Murray, R. Isaacs, M. Isard, *Differential dataflow*, CIDR 2013, whose rounds
the steps are; semi-naive: F. Bancilhon, R. Ramakrishnan, SIGMOD 1986. What it takes the place of: A. Gupta, I. Mumick,
V. Subrahmanian, *Maintaining views incrementally*, SIGMOD 1993, which deletes too much and derives it again (DRed).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from workbench.engine.operators.operator_input import OperatorInput, Prepared, TooMuchWork
from workbench.engine.operators.recursion.best_steps import BestSteps, first_of_keys, value_order
from workbench.engine.operators.recursion.first_steps import FirstSteps
from workbench.engine.operators.recursion.rows import added_up, pairs, rows_with_keys, with_weights
from workbench.engine.operators.runner import Runner, needs_no_job
from workbench.engine.physical.join_keys import key_column
from workbench.engine.physical.plans import RecursionPlan
from workbench.engine.physical.recursion import STEP_NUMBER, RecursionSteps, RuleChange, RuleInput, input_column
from workbench.engine.physical.stored.kernels.table import evaluate
from workbench.engine.storage.grouping import group_numbers
from workbench.engine.storage.indexes.key_index import key_hashes, row_hashes
from workbench.engine.storage.job_input import InputRows
from workbench.engine.storage.layout import BATCH, WEIGHT, Layout, conform, only
from workbench.engine.storage.relation import Delta
from workbench.engine.storage.scan import Scan
from workbench.engine.storage.segments import Run, SegmentWriter, read_share, shares
from workbench.limits import Limits
from workbench.network.nodes import SetOperator
from workbench.sql.algebra.expressions import columns

_ALL_STEPS = -1


def recursion_change(runner: Runner, operator: OperatorInput, plan: RecursionPlan) -> Prepared:
    """The change of a recursion's rows, and of its state.

    Raises:
        TooMuchWork: it has rows after too many steps, or too many rows.
    """
    if not operator.changed_rows:
        return Prepared(None)
    folder, limits = str(runner.folder(plan.name)), runner.limits
    state = Layout(plan.steps.state_columns)
    before = () if operator.state is None else operator.state.segments
    fixpoint = _Fixpoint.of(plan, operator, state, before, limits)
    rows = fixpoint.run()
    writer = SegmentWriter(folder, limits)
    for counts in fixpoint.counts:
        writer.add(conform(_of_batch(counts, operator.batch), state.arrow))
    kept = Delta(tuple(writer.close()))
    parts = (rows.slice(at, limits.rows_handed_on) for at in range(0, rows.num_rows, limits.rows_handed_on))
    if needs_no_job(plan):
        runner.set_input(plan, operator.batch)
        return Prepared(None, runner.write_here(parts, plan), kept)
    # What selections test by Spark, a plan tests over the rows as they were written.
    writer = SegmentWriter(folder, limits)
    for part in parts:
        writer.add(part)
    job_input = runner.set_input(plan, operator.batch, [InputRows(tuple(writer.close()))])
    schema, ddl = rows.schema, Layout(plan.produced).ddl(rows.schema.names)

    def made(_: int) -> Iterator[pa.RecordBatch]:
        (share,) = shares(job_input.read().inputs[0].change, 1)
        yield from read_share(share, schema, limits)

    job = runner.cached(plan, "rows", None, lambda: runner.task_job(made, 1, ddl, plan))
    return Prepared(job, state=kept)


def _of_batch(rows: pa.RecordBatch, batch: int) -> pa.RecordBatch:
    return rows.append_column(BATCH, pa.array(np.full(rows.num_rows, batch, dtype=np.int32)))


@dataclass
class _Fixpoint:
    """One evaluation.

    Attributes:
        steps: what is computed.
        inputs: the stored rows of each branch.
        scans: what is read of each.
        state: what is read of the state.
        stored: the segments of the state before the batch.
        limits: of the work.
        root: the node, for errors.
        waiting: for each step to come the changes of how often it makes rows.
        counts: these changes, with their step, of the steps that are done.
    """

    steps: RecursionSteps
    inputs: tuple[InputRows, ...]
    scans: tuple[Scan, ...]
    state: Scan
    stored: Run
    limits: Limits
    root: str
    waiting: dict[int, list[pa.RecordBatch]] = field(default_factory=dict)
    counts: list[pa.RecordBatch] = field(default_factory=list)

    @staticmethod
    def of(plan: RecursionPlan, operator: OperatorInput, state: Layout, before: Run, limits: Limits) -> _Fixpoint:
        """The evaluation of a plan over its inputs."""
        steps, scans = plan.steps, []
        for branch, rows in enumerate(operator.parents):
            names = {c.name for value in steps.values[branch] for c in columns(value.expression)}
            keys = {
                key_column(key)
                for change in steps.changes
                for other in change.others
                if other.branch == branch
                for key in steps.parent_keys(other)
                if branch
            }
            scans.append(Scan.of(rows.relation.layout, sorted(names), sorted(keys), rows.bit))
        own = Scan.of(state, [*steps.columns, STEP_NUMBER], tuple(steps.keys), None)
        return _Fixpoint(steps, operator.segments, tuple(scans), own, before, limits, plan.roots[0])

    def run(self) -> pa.RecordBatch:
        """The change of the recursion's rows."""
        self._wait(0, self._changed(0))
        for change in self.steps.changes:
            if branch := change.first.branch:
                for rows in self._follow(change, self._changed(branch), _ALL_STEPS, None):
                    at = rows.column(STEP_NUMBER).to_numpy()
                    for step in np.unique(at):
                        self._wait(int(step) + 1, rows.filter(pa.array(at == step)).drop_columns([STEP_NUMBER]))
        schema, best = only(Layout(self.steps.columns).arrow, [*self.steps.columns]), self.steps.node.best
        if best is not None:
            return self._by_steps(BestSteps(schema, best == "MAX", self._counts_of))
        return self._by_steps(FirstSteps(schema, self._counts_of)) if self.steps.is_distinct else self._all_steps()

    def _by_steps(self, kept: FirstSteps | BestSteps) -> pa.RecordBatch:
        while due := {*self.waiting, *kept.steps}:
            step = min(due)
            self._go_on(step, kept.change_of_step(step, self._change_of(step)))
        return kept.change()

    def _all_steps(self) -> pa.RecordBatch:
        while self.waiting:
            step = min(self.waiting)
            self._go_on(step, self._change_of(step))
        return added_up(
            pa.concat_batches([self._nothing(), *(rows.drop_columns([STEP_NUMBER]) for rows in self.counts)])
        )

    def _go_on(self, step: int, moved: pa.RecordBatch) -> None:
        """What follows from a change of the rows of a step."""
        if not moved.num_rows:
            return
        for change in self.steps.changes:
            if not change.first.branch:
                for rows in self._follow(change, moved, step, moved):
                    self._wait(step + 1, rows)

    def _change_of(self, step: int) -> pa.RecordBatch:
        """The change of how often a step makes each row.

        Raises:
            TooMuchWork: there are too many steps, or rows.
        """
        change = added_up(pa.concat_batches([self._nothing(), *self.waiting.pop(step, [])]))
        if change.num_rows:
            self.counts.append(change.append_column(STEP_NUMBER, pa.array(np.full(change.num_rows, step), pa.int64())))
            if step >= self.limits.steps_per_recursion:
                raise TooMuchWork(self.root, f"a recursive query has rows after {step:,} steps", _HINT)
            if (rows := sum(own.num_rows for own in self.counts)) > (most := self.limits.rows_per_recursion):
                raise TooMuchWork(
                    self.root, f"a recursive query makes {rows:,} rows in one batch, more than {most:,}", _HINT
                )
        return change

    def _wait(self, step: int, rows: pa.RecordBatch) -> None:
        if rows.num_rows:
            self.waiting.setdefault(step, []).append(rows)

    def _nothing(self) -> pa.RecordBatch:
        layout = Layout(self.steps.columns).arrow
        return pa.RecordBatch.from_pylist([], only(layout, [*self.steps.columns, WEIGHT]))

    # ---- joins -------------------------------------------------------------------------------------------------------

    def _follow(
        self, change: RuleChange, rows: pa.RecordBatch, step: int, moved: pa.RecordBatch | None
    ) -> Iterator[pa.RecordBatch]:
        """What a rule makes of changed rows of its first input: rows with weights, and of all steps with their step.

        Args:
            change: the rule.
            rows: of the input.
            step: the step that changes; or all, where another branch does.
            moved: the change of the step.
        """
        found = [self._tested(self._begin(change.first, rows), change.first)]
        for other in change.others:
            found = [
                self._tested(combined, other)
                for some in found
                if some.num_rows
                for combined in self._joined(change, some, other, step, moved)
            ]
        for some in found:
            if some.num_rows:
                made = {name: value.values(some) for name, value in change.values.items()}
                made |= {name: some.column(name) for name in (STEP_NUMBER, WEIGHT) if name in some.schema.names}
                schema = self._nothing().schema
                if STEP_NUMBER in made:
                    schema = schema.append(pa.field(STEP_NUMBER, pa.int64()))
                yield conform(pa.RecordBatch.from_pydict(made), schema)

    @staticmethod
    def _begin(first: RuleInput, rows: pa.RecordBatch) -> pa.RecordBatch:
        columns = {input_column(first.source, name): rows.column(name) for name in first.columns}
        return pa.RecordBatch.from_pydict({**columns, WEIGHT: rows.column(WEIGHT)})

    @staticmethod
    def _tested(rows: pa.RecordBatch, by: RuleInput) -> pa.RecordBatch:
        passes = by.tests.passes(rows)
        return rows if passes.all() else rows.filter(pa.array(passes))

    def _joined(
        self, change: RuleChange, rows: pa.RecordBatch, other: RuleInput, step: int, moved: pa.RecordBatch | None
    ) -> Iterator[pa.RecordBatch]:
        known = [value.values(rows) for value in other.known]
        found = self._partners(change, other, known, step, moved)
        keys = [evaluate(key, found) for key in other.keys]
        by_step = not other.branch and STEP_NUMBER in rows.schema.names
        left, right = (
            ([*known, rows.column(STEP_NUMBER)], [*keys, found.column(STEP_NUMBER)]) if by_step else (known, keys)
        )
        for own, at in pairs(left, right, (rows.num_rows, found.num_rows), self.limits.pairs_tested_together):
            both = rows.take(pa.array(own))
            partners = found.take(pa.array(at))
            for name in other.columns:
                both = both.append_column(input_column(other.source, name), partners.column(name))
            if step == _ALL_STEPS and not other.branch and not by_step:
                both = both.append_column(STEP_NUMBER, partners.column(STEP_NUMBER))
            elif by_step:
                same = both.column(STEP_NUMBER).to_numpy() == partners.column(STEP_NUMBER).to_numpy()
                both, partners = both.filter(pa.array(same)), partners.filter(pa.array(same))
            yield with_weights(both, both.column(WEIGHT).to_numpy() * partners.column(WEIGHT).to_numpy())

    def _partners(
        self,
        change: RuleChange,
        other: RuleInput,
        known: list[pa.Array],
        step: int,
        moved: pa.RecordBatch | None,
    ) -> pa.RecordBatch:
        """The rows of an input that changed rows may meet, with its columns and their weights; of steps with these."""
        hashes = key_hashes(known)[0] if known else np.zeros(0, np.uint64)
        if other.branch:
            stored = self.inputs[other.branch]
            segments = (*stored.before, *(stored.change if change.sees_change(other) else ()))
            keys = [key_column(key) for key in self.steps.parent_keys(other)]
            return self._of_branch(
                other.branch, [rows_with_keys(segments, self.scans[other.branch], keys, hashes, self.limits)]
            )
        keys = [key_column(key) for key in other.keys]
        found = self._in_steps(rows_with_keys(self.stored, self.state, keys, hashes, self.limits))
        if step != _ALL_STEPS:
            found = found.filter(pa.array(found.column(STEP_NUMBER).to_numpy() == step))
            if change.sees_change(other) and moved is not None:
                now = moved.append_column(STEP_NUMBER, pa.array(np.full(moved.num_rows, step), pa.int64()))
                found = pa.concat_batches([found, now.select(found.schema.names)])
        return found

    def _in_steps(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """The rows of the steps before the batch, given how often steps make them; all that is known of each row."""
        rows = added_up(rows.select([*self.steps.columns, STEP_NUMBER, WEIGHT]))
        if not rows.num_rows or self.steps.node.operator is SetOperator.RECURSION_ALL:
            return rows
        key, at = [rows.column(name) for name in self.steps.key], rows.column(STEP_NUMBER).to_numpy()
        if self.steps.node.best is not None:
            order = value_order(rows.column([*self.steps.columns][-1]), self.steps.node.best == "MAX")
        else:
            order = np.zeros((2, rows.num_rows), dtype=np.int64)
        first = first_of_keys(group_numbers(key, rows.num_rows), at, order)
        return with_weights(rows.take(pa.array(first)), np.ones(len(first), dtype=np.int64))

    def _counts_of(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """How often each step made the rows with the keys of some, before the batch."""
        hashes = row_hashes(rows, self.steps.key, nulls=True)[0]
        found = rows_with_keys(self.stored, self.state, self.steps.key, hashes, self.limits, nulls=True)
        return added_up(found.select([*self.steps.columns, STEP_NUMBER, WEIGHT]))

    def _changed(self, branch: int) -> pa.RecordBatch:
        """The change of a branch, by its columns."""
        scan = self.scans[branch]
        (share,) = shares(self.inputs[branch].change, 1)
        read = read_share(share, scan.input, self.limits)
        return self._of_branch(branch, [rows for batch in read for rows in scan.select(batch)])

    def _of_branch(self, branch: int, batches: Iterable[pa.RecordBatch]) -> pa.RecordBatch:
        rows = pa.concat_batches([pa.RecordBatch.from_pylist([], self.scans[branch].output), *batches])
        values = {f"c{n}": value.values(rows) for n, value in enumerate(self.steps.values[branch], start=1)}
        made = pa.RecordBatch.from_pydict({**values, WEIGHT: rows.column(WEIGHT)})
        return conform(made, self._nothing().schema) if not branch else made


_HINT = "let a column count the steps and a condition bound it, or write UNION where rows come again in circles"
