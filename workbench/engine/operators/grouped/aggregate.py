"""Operators that keep a state for each group: aggregates, DISTINCT, and set operators except UNION ALL.

    Δγ(P)  =  γ(P′ ⋉ G) − γ(P ⋉ G)          G = the groups with rows in ΔP, P′ = P after the batch

In: change of each parent (a Z-set). Out: change of the operator's rows, in which the old row of a dirty group has
weight -1 and its new row weight 1; and the change of the state, one row for each dirty group with its partial
statistics. Fused operators are evaluated together; ``MEMBER`` says whose a row is.

The change is grouped and written as a change of the state. Then what is stored for its groups is looked up by key and
merged with it (``state_update``), or all of their rows are, as by sessions (``recomputed``). That is one job.

Source: thesis T4.2, Algorithm 4.1, made exact under retractions; Gupta, Mumick, Subrahmanian, Maintaining views
incrementally.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from workbench.engine.operators.filter_and_write import BucketsOfTask
from workbench.engine.operators.grouped.exchange import OverFragments, exchange
from workbench.engine.operators.grouped.recomputed import RecomputedGroups
from workbench.engine.operators.grouped.state_update import StateUpdate, StoredGroups
from workbench.engine.operators.grouped.stored_fragments import StoredFragments
from workbench.engine.operators.operator_input import Exchange, OperatorInput, Prepared
from workbench.engine.operators.runner import Runner, evaluated
from workbench.engine.physical.aggregate_plan import GroupedPlan
from workbench.engine.physical.join_keys import key_column
from workbench.engine.physical.plans import AggregatePlan
from workbench.engine.physical.stored.calls import Functions
from workbench.engine.spark.arrow_tasks import ArrowBatches
from workbench.engine.spark.jobs import Job
from workbench.engine.storage.job_input import InputRows, JobInput
from workbench.engine.storage.layout import Layout
from workbench.engine.storage.scan import FusedScan, LineageScan, Scan


def aggregate_job(runner: Runner, operator: OperatorInput, plan: AggregatePlan) -> Prepared:
    """The job of the change of a grouped operator's rows, and of its state."""
    hydrating = operator.relation is None
    # The only group of an aggregate without groups is there from the start, also over no rows.
    starting = hydrating and not plan.grouped.groups
    if not operator.changed_rows and not starting:
        return Prepared(None)
    tasks = runner.tasks(operator.stored_changes, operator.hydrated_here, operator.kept)
    aggregate = _Aggregate(runner, operator, plan, tasks)
    anew = plan.grouped.anew
    return Prepared(aggregate.updates_state() if anew is None else aggregate.computes_anew(anew))


@dataclass(frozen=True)
class _Aggregate:
    """The steps of a grouped operator in one batch."""

    runner: Runner
    operator: OperatorInput
    plan: AggregatePlan
    tasks: int

    @property
    def grouped(self) -> GroupedPlan:
        """How the operator groups."""
        return self.plan.grouped

    def updates_state(self) -> Job | Exchange:
        """One job for all: it writes the change of the state, too."""
        operator, grouped, (scans, of_state, of_rows) = self.operator, self.grouped, self._read
        state = () if operator.state is None else operator.state.segments
        inputs = [*operator.segments, InputRows((), state), self._rows_before]
        # Hydration with groups is a batch after none, so its plan, which Spark compiles, is that of later batches.
        there = operator.relation is not None or bool(grouped.groups)
        read = StoredGroups(len(scans), of_rows, of_state) if there else None
        job_input = self.runner.set_input(self.plan, operator.batch, inputs)
        # Where Spark evaluates something of the rows, what writes them is another process.
        name, apart = self.plan.name, bool(evaluated(self.plan))
        folder = str(self.runner.folder(name))
        update = StateUpdate(grouped, self.plan.produced, job_input, folder, read, name, apart, not self._exchanges)
        return self._over_fragments("update", (scans, read), job_input, scans, update)

    def computes_anew(self, anew: GroupedPlan) -> Job | Exchange:
        """The job that computes the dirty groups from all of their rows."""
        grouped, (scans, _, own) = self.grouped, self._read
        inputs = [*self.operator.segments, self._rows_before]
        job_input = self.runner.set_input(self.plan, self.operator.batch, inputs)
        name, functions = self.plan.name, self._called(anew)
        rows = FusedScan(self._rows_of(0), grouped.branches[0].readers)
        step = RecomputedGroups(grouped, anew, self.plan.produced, job_input, name, rows, own, functions)
        return self._over_fragments("rows", (scans, step.rows, step.own), job_input, scans, step)

    def _over_fragments(
        self,
        role: str,
        depends_on: object,
        job_input: JobInput,
        scans: list[LineageScan],
        step: StateUpdate | RecomputedGroups,
    ) -> Job | Exchange:
        """The job of a step over the fragments of the change; several tasks exchange these first."""
        made, plan, ddl = self._stored_fragments(scans), self.plan, step.ddl
        calls = any(grouped.calls for grouped in (self.grouped, self.grouped.anew) if grouped is not None)

        def job(over: Callable[[int], ArrowBatches], parts: int, buckets: BucketsOfTask | None = None) -> Job:
            make = partial(self.runner.task_job, over, max(1, parts), ddl, plan, calls, buckets=buckets)
            return self.runner.cached(plan, role, (depends_on, parts), make)

        if not self._exchanges:
            return job(self._over_own_fragments(made, job_input, step.of), 0)

        def of_parts(fragments: JobInput, parts: int) -> Job:
            over = OverFragments(step, fragments)
            return job(over, parts, over.buckets if self.grouped.looks_up_rows else None)

        return exchange(self.runner, self.operator, plan, made, self.tasks, of_parts)

    @property
    def _exchanges(self) -> bool:
        """Whether fragments are written for other tasks, or for this process to end what one has begun as it logged."""
        if self.tasks > 1 or not self.operator.read_as_logged:
            return self.tasks > 1
        grouped, changed = self.grouped, (self.operator.stored_changes, self.operator.changed_segments)
        alone = self.plan.name in self.runner.hardly_grouped or self.runner.is_small(*changed)
        return not (alone or grouped.calls or grouped.anew)

    @staticmethod
    def _over_own_fragments(
        made: StoredFragments, job_input: JobInput, step: Callable[[ArrowBatches], ArrowBatches]
    ) -> Callable[[int], ArrowBatches]:
        """The step over the fragments that its task makes itself."""
        return lambda task: step(made.of(job_input.read(task)))

    def _stored_fragments(self, scans: Sequence[LineageScan]) -> StoredFragments:
        """The fragments of the change."""
        return StoredFragments(self.grouped, tuple(scans), self._called(self.grouped))

    def _called(self, plan: GroupedPlan) -> Functions:
        """The functions of the analyst that a plan calls."""
        return {call.function: self.runner.functions[call.function] for call in plan.calls}

    @property
    def _rows_before(self) -> InputRows:
        """The operator's rows before the batch."""
        relation = self.operator.relation
        return InputRows((), () if relation is None else relation.segments)

    @property
    def _read(self) -> tuple[list[LineageScan], Scan, Scan]:
        """The scans of the parents' changes, and of the state and rows of dirty groups."""
        state, grouped = self.operator.state, self.grouped
        kept = Layout(grouped.state_columns) if state is None else state.layout

        def make() -> tuple[list[LineageScan], Scan, Scan]:
            of_state = Scan.of(kept, tuple(grouped.state_columns), tuple(grouped.state_keys), None)
            names = self.plan.produced if grouped.anew else [n for n in self.plan.produced if n not in grouped.keys]
            return self._scans(), of_state, Scan.of(self._layout, tuple(names), tuple(grouped.keys), None)

        layouts = (*(rows.relation.layout for rows in self.operator.parents), kept, self._layout)
        return self.runner.read_once(self.plan, layouts, make)

    @property
    def _layout(self) -> Layout:
        """How the tree's rows are stored, or will be once it is hydrated."""
        relation = self.operator.relation
        return self.plan.layout if relation is None else relation.layout

    def _scans(self) -> list[LineageScan]:
        """The scans of the parents' changes."""
        return [
            LineageScan(self._rows_of(at), self.grouped.readers(at), self.grouped.words)
            for at in range(len(self.grouped.branches))
        ]

    def _rows_of(self, at: int) -> Scan:
        keys = tuple(map(key_column, self.grouped.row_keys))
        return Scan.of(self.operator.parents[at].relation.layout, self.grouped.columns(at), keys, None)
