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

from workbench.engine.operators.operator_input import OperatorInput
from workbench.engine.operators.recursion.best_steps import BestSteps, first_of_keys, value_order
from workbench.engine.operators.recursion.first_steps import FirstSteps
from workbench.engine.operators.recursion.rows import added_up, pairs, rows_with_keys, with_weights
from workbench.engine.operators.runner import Runner, evaluated
from workbench.engine.operators.state_files import hand_over_state
from workbench.engine.operators.too_much_work import TooMuchWork
from workbench.engine.physical.join_keys import key_column
from workbench.engine.physical.plans import RecursionPlan
from workbench.engine.physical.recursion import STEP_NUMBER, RecursionSteps, RuleChange, RuleInput, input_column
from workbench.engine.physical.stored.kernels.table import evaluate
from workbench.engine.spark.arrow_tasks import ArrowBatches
from workbench.engine.spark.jobs import Job
from workbench.engine.storage.grouping import group_numbers
from workbench.engine.storage.indexes.key_index import key_hashes, row_hashes
from workbench.engine.storage.job_input import InputRows, JobInput
from workbench.engine.storage.layout import BATCH, WEIGHT, Layout, conform, only
from workbench.engine.storage.scan import Scan
from workbench.engine.storage.segments import Run, SegmentWriter, read_share, shares
from workbench.limits import Limits
from workbench.network.nodes import SetOperator
from workbench.sql.algebra.expressions import columns

_ALL_STEPS = -1
_MOST_TIMES = 2**48
"""How often a step may make a row: of the products and sums of fewer, over all steps, none is beyond 64 bits."""


def recursion_job(runner: Runner, operator: OperatorInput, plan: RecursionPlan) -> Job | None:
    """The job of the change of a recursion's rows, and of its state; ``None`` where nothing changes.

    Several tasks do it where each rule passes a column of the step before on as it is: what follows from a row stays
    with the rows that have its value there (decomposable rules: O. Wolfson, A. Silberschatz, *Distributed processing of
    logic programs*, SIGMOD 1988).
    """
    if not operator.changed_rows:
        return None
    steps, state, tasks = plan.steps, operator.state, tasks_of(runner, operator, plan.steps)
    layouts = *(rows.relation.layout for rows in operator.parents), None if state is None else state.layout
    scans = runner.read_once(plan, layouts, lambda: _scans(steps, operator))
    before = InputRows((), () if state is None else state.segments)
    job_input = runner.set_input(plan, operator.batch, [*operator.segments, before])

    def make() -> Job:
        folder, apart = str(runner.folder(plan.name)), bool(evaluated(plan))
        step = RecursionStep(steps, *scans, job_input, tasks, plan.name, folder, apart, plan.roots[0])
        return runner.task_job(step, tasks, Layout(plan.produced).ddl([*steps.columns, WEIGHT]), plan)

    return runner.cached(plan, "rows", (scans, tasks), make)


def tasks_of(runner: Runner, operator: OperatorInput, steps: RecursionSteps) -> int:
    """How many tasks follow the changed rows of an operator: several where each has rows of its own."""
    if not steps.passed_on or operator.hydrated_here:
        return 1
    tasks = runner.tasks(operator.stored_changes, False)
    # Few rows may give many: of all that there are, every core begins with some.
    return tasks if operator.relation is not None else max(tasks, runner.jobs.cores)


def _scans(steps: RecursionSteps, operator: OperatorInput) -> tuple[tuple[Scan, ...], Scan]:
    """The scan of each branch, and that of the state."""
    found = []
    for branch, rows in enumerate(operator.parents):
        names = {c.name for value in steps.values[branch] for c in columns(value.expression)}
        others = (o for change in steps.changes for o in change.others if branch and o.branch == branch)
        keys = {key_column(key) for other in others for key in steps.parent_keys(other)}
        found.append(Scan.of(rows.relation.layout, sorted(names), sorted(keys), rows.bit))
    kept = Layout(steps.state_columns) if operator.state is None else operator.state.layout
    return tuple(found), Scan.of(kept, [*steps.columns, STEP_NUMBER], tuple(steps.keys), None)


@dataclass(frozen=True)
class RecursionStep:
    """The step of the job: a task follows the rows that are its own, and writes the change of the state.

    Attributes:
        steps: what is computed.
        scans: what is read of each branch.
        of_state: what is read of the state.
        job_input: the change of each branch and its rows before, and the state.
        tasks: how many there are.
        tree: the name of the tree.
        folder: where the change of the state is written.
        apart: whether the rows are written by another process (``hand_over_state``).
        root: the node, for errors.
    """

    steps: RecursionSteps
    scans: tuple[Scan, ...]
    of_state: Scan
    job_input: JobInput
    tasks: int
    tree: str
    folder: str
    apart: bool
    root: str

    def __call__(self, task: int) -> ArrowBatches:
        """The change of the rows of a task."""
        told, limits = self.job_input.read(task, self.tasks), self.job_input.limits
        *inputs, state = told.inputs
        fixpoint = _Fixpoint(
            self.steps, tuple(inputs), self.scans, self.of_state, state.before, limits, self.root, task, self.tasks
        )
        try:
            rows = fixpoint.run()
        except TooMuchWork as problem:
            hand_over_state(self.tree, (), self.apart, problem)
            return
        writer, schema = SegmentWriter(self.folder, limits), Layout(self.steps.state_columns).arrow
        for counts in fixpoint.counts:
            stored = dict(zip(counts.schema.names, counts.columns, strict=True))
            stored |= {name: key.values(counts) for name, key in self.steps.keys.items()}
            stored[BATCH] = pa.array(np.full(counts.num_rows, told.batch, dtype=np.int32))
            writer.add(conform(pa.RecordBatch.from_pydict(stored), schema))
        hand_over_state(self.tree, writer.close(), self.apart)
        yield from (rows.slice(at, limits.rows_handed_on) for at in range(0, rows.num_rows, limits.rows_handed_on))


@dataclass
class _Fixpoint:
    """The evaluation of the steps of a recursion over a change, in one task.

    Attributes:
        steps: what is computed.
        inputs: the stored rows of each branch.
        scans: what is read of each.
        state: what is read of the state.
        stored: the segments of the state before the batch.
        limits: of the work.
        root: the node, for errors.
        task, tasks: whose rows are followed.
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
    task: int
    tasks: int
    waiting: dict[int, list[pa.RecordBatch]] = field(default_factory=dict)
    counts: list[pa.RecordBatch] = field(default_factory=list)

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
                what = f"a recursive query makes {rows:,} rows in one batch, more than {most:,}"
                raise TooMuchWork(self.root, what, _HINT)
            if np.abs(change.column(WEIGHT).to_numpy()).max() > _MOST_TIMES:
                raise TooMuchWork(self.root, f"a recursive query makes a row more than {_MOST_TIMES:,} times", _HINT)
        return change

    def _wait(self, step: int, rows: pa.RecordBatch) -> None:
        if self.tasks > 1:
            hashes = row_hashes(rows, self.steps.passed_on, nulls=True)[0]
            rows = rows.filter(pa.array(hashes % np.uint64(self.tasks) == self.task))
        if rows.num_rows:
            self.waiting.setdefault(step, []).append(rows)

    def _nothing(self) -> pa.RecordBatch:
        layout = Layout(self.steps.columns).arrow
        return pa.RecordBatch.from_pylist([], only(layout, [*self.steps.columns, WEIGHT]))

    # ---- joins -------------------------------------------------------------------------------------------------------

    def _follow(
        self, change: RuleChange, rows: pa.RecordBatch, step: int, moved: pa.RecordBatch | None
    ) -> Iterator[pa.RecordBatch]:
        """Apply a rule to changed rows of its first input: gives rows with weights, and of all steps with their step.

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
