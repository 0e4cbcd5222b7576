"""Operators that keep a state for each group: aggregates, DISTINCT, and set operators except UNION ALL.

    Δγ(P)  =  γ(P′ ⋉ G) − γ(P ⋉ G)          G = the groups with rows in ΔP, P′ = P after the batch

In: change of each parent (a Z-set). Out: change of the operator's rows, in which the old row of a dirty group has
weight -1 and its new row weight 1; and the change of the state, one row for each dirty group with its partial
statistics. Fused operators are evaluated together; ``MEMBER`` says whose a row is.

The change is grouped and written as a change of the state. Then what is stored for its groups is looked up by key and
merged with it. That is one job, by a plan that is kept where few rows change. It is two jobs where values are computed
from all rows of the dirty groups (``reads_rows``), as by sessions.

Source: thesis T4.2, Algorithm 4.1, made exact under retractions; Gupta, Mumick, Subrahmanian, Maintaining views
incrementally.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import DataFrame

from workbench.engine.operators.grouped.aggregate_sql import grouped_change, with_emitted_values
from workbench.engine.operators.grouped.fragments import Fragments
from workbench.engine.operators.grouped.state_lookup import KeyedLookup
from workbench.engine.operators.grouped.state_update import StateUpdate, StoredGroups
from workbench.engine.operators.grouped.stored_fragments import StoredFragments, reads_stored_columns
from workbench.engine.operators.operator_input import OperatorInput, Prepared
from workbench.engine.operators.runner import Runner
from workbench.engine.physical.aggregate_plan import GroupedPlan
from workbench.engine.physical.join_keys import key_column
from workbench.engine.physical.plans import AggregatePlan
from workbench.engine.spark.arrow_tasks import map_rows
from workbench.engine.spark.jobs import Job, PlanJob
from workbench.engine.storage.frames import change_frame, run_writing, writing_plan
from workbench.engine.storage.job_input import InputRows, JobInput
from workbench.engine.storage.layout import GROUPING_SET, MEMBER, Layout
from workbench.engine.storage.relation import Delta, tasks_for
from workbench.engine.storage.scan import FusedScan, LineageScan, Scan
from workbench.engine.storage.segments import Run


def aggregate_job(runner: Runner, operator: OperatorInput, plan: AggregatePlan) -> Prepared:
    """The job of the change of a grouped operator's rows, and of its state."""
    hydrating = operator.relation is None
    # The only group of an aggregate without groups is there from the start, also over no rows.
    starting = hydrating and not plan.grouped.groups
    if not operator.changed_rows and not starting:
        return Prepared(None)
    # Values that are computed from rows are computed for each reader; all else reads a row once.
    rows = operator.changed_rows if plan.grouped.reads_rows else operator.stored_changes
    aggregate = _Aggregate(runner, operator, plan, tasks_for(rows, runner.jobs))
    if not plan.grouped.reads_rows:
        return Prepared(aggregate.updates_state())
    dirty = Delta(run_writing(aggregate.writes_state()))
    if not dirty.rows and not starting:
        return Prepared(None)
    return Prepared(aggregate.hydrates() if hydrating else aggregate.changes(dirty), state=dirty)


@dataclass(frozen=True)
class _Aggregate:
    """The Spark plans of a grouped operator in one batch."""

    runner: Runner
    operator: OperatorInput
    plan: AggregatePlan
    tasks: int

    @property
    def grouped(self) -> GroupedPlan:
        """How the operator groups."""
        return self.plan.grouped

    @property
    def emitted(self) -> frozenset[str]:
        """Columns of type DOUBLE whose values were emitted before the operator was hydrated again."""
        emitted = self.operator.emitted
        if emitted is None or not emitted.relation.rows or emitted.members.isdisjoint(self.grouped.members):
            return frozenset()
        return self.grouped.inexact & set(emitted.relation.layout.columns)

    def updates_state(self) -> Job:
        """One job for all: it writes the change of the state, too."""
        operator, grouped, scans = self.operator, self.grouped, self._scans()
        read, looked_up = self._looked_up(len(scans))
        inputs = [*operator.segments, *(InputRows((), run) for run in looked_up)]
        job_input = self.runner.write_input(self.plan, operator.batch, inputs)
        update = StateUpdate(grouped, self.plan.produced, job_input, str(self.runner.folder(self.plan.name)), read)

        def make() -> Job:
            if self.tasks > 1 or not reads_stored_columns(grouped):
                return self.runner.frame_job(self._fragments(job_input, scans), update, update.ddl, self.plan)
            stored = self._stored_fragments(scans)
            return self.runner.task_job(lambda task: update(stored.of(job_input.read(task))), 1, update.ddl, self.plan)

        # A plan of several tasks has an exchange.
        return make() if self.tasks > 1 else self.runner.cached(self.plan, "update", (scans, read), make)

    def _looked_up(self, position: int) -> tuple[StoredGroups | None, tuple[Run, ...]]:
        """What is looked up for the dirty groups, and among which segments.

        Args:
            position: of these segments among the inputs of the job.
        """
        operator, grouped, emitted = self.operator, self.grouped, self.operator.emitted
        values = tuple(name for name in self.plan.produced if name not in grouped.keys)
        # Hydration with groups is a batch after none, so its plan, which Spark compiles, is that of later batches.
        if operator.relation is not None or (grouped.groups and not self.emitted):
            stored = self._stored()
            rows = Scan.of(self._layout, values, tuple(grouped.keys), None)
            return StoredGroups(position, rows, stored["state"][0]), (stored["state"][1], stored["stored"][1])
        if emitted is None or not self.emitted:
            return None, ()
        # A group column that is new is NULL for the operators whose rows were emitted.
        layout = emitted.relation.layout
        keys = tuple(key for key in grouped.keys if key in layout.columns)
        rows = Scan.of(layout, tuple(v for v in values if v in self.emitted), keys, None)
        return StoredGroups(position, rows, None, self.emitted, emitted.members), ((), emitted.relation.segments)

    def writes_state(self) -> DataFrame:
        """The plan of the first of two steps: it writes the change of the state, a row for each dirty group."""
        operator, scans = self.operator, self._scans()
        job_input = self.runner.write_input(self.plan, operator.batch, operator.segments)

        def make() -> PlanJob:
            groups = Fragments.of(self.grouped).frame(self._fragments(job_input, scans))
            return PlanJob(writing_plan(groups, self.runner.folder(self.plan.name)))

        job = make() if self.tasks > 1 else self.runner.cached(self.plan, "state change", scans, make)
        return job.plan

    def changes(self, dirty: Delta) -> Job:
        """The job of the second step: the change of the rows of the dirty groups."""
        operator, grouped = self.operator, self.grouped
        (rows,) = operator.segments
        looked_up: dict[str, tuple[Scan | FusedScan, Run]] = {
            "stored": self._stored()["stored"],
            "rows": (self._scan_rows(), (*rows.before, *rows.change)),
        }
        job_input = self.runner.job_input(self.plan, "dirty")
        job_input.write(operator.batch, [InputRows(dirty.segments, run) for _, run in looked_up.values()])
        scans = {role: scan for role, (scan, _) in looked_up.items()}

        def make() -> Job:
            spark = self.runner.spark
            views: dict[str, str] = {}
            for at, (role, scan) in enumerate(scans.items()):
                lookup = KeyedLookup(tuple(grouped.groups if role == "rows" else grouped.keys), scan)
                frame = lookup.frame(spark, job_input, at, self.tasks)
                views[role] = self.runner.bind(self.plan, role, frame)
            change = grouped_change(grouped, self.plan.produced, views["stored"], views["rows"], self.tasks == 1)
            return self.runner.sql_job(change, self.plan, self.tasks)

        return make() if self.tasks > 1 else self.runner.cached(self.plan, "rows", scans, make)

    def hydrates(self) -> Job:
        """The job of the second step when the tree is hydrated: all groups are dirty, and none was there before."""
        operator, grouped = self.operator, self.grouped
        job_input = self.runner.job_input(self.plan)
        frame = change_frame(self.runner.spark, job_input, 0, self._scan_rows(), self.tasks)
        view = self.runner.bind(self.plan, "rows", frame)
        rows = grouped_change(grouped, self.plan.produced, None, view, one_task=self.tasks == 1)
        if self.emitted:
            assert operator.emitted is not None
            view = self.runner.bind(self.plan, "emitted", operator.emitted.relation.dataframe)
            of_members = f"{view} WHERE {MEMBER} IN ({', '.join(map(str, sorted(operator.emitted.members)))})"
            rows = with_emitted_values(rows, of_members, grouped, self.plan.produced, self.emitted)
        return self.runner.sql_job(rows, self.plan, self.tasks)

    def _fragments(self, job_input: JobInput, scans: list[LineageScan]) -> DataFrame:
        """The fragments of the change, those of a group in one task."""
        spark, grouped, stored = self.runner.spark, self.grouped, self._stored_fragments(scans)
        if reads_stored_columns(grouped):
            found = job_input.run(spark, self.tasks, stored.of, stored.ddl)
        else:
            found = reduce(DataFrame.union, (self._evaluated(job_input, at, scan) for at, scan in enumerate(scans)))
        if self.tasks == 1 or not grouped.groups:
            return found.coalesce(1)
        # The rows of each task are combined by now: few fragments are sent.
        return found.repartition(self.tasks, GROUPING_SET, *(f"`{name}`" for name in grouped.groups))

    def _evaluated(self, job_input: JobInput, at: int, scan: LineageScan) -> DataFrame:
        """The fragments of the change of a branch where Spark evaluates some operands."""
        operands = [f"{value.sql} AS `{value.column}`" for value in self.grouped.evaluated(at)]
        rows = change_frame(self.runner.spark, job_input, at, scan, self.tasks).selectExpr("*", *operands)
        stored = self._stored_fragments([scan])
        return map_rows(rows, lambda batches: stored.of_branch(at, batches), stored.ddl)

    def _stored_fragments(self, scans: Sequence[LineageScan]) -> StoredFragments:
        """The fragments of the change where stored columns tell them."""
        called = {call.function: self.runner.functions[call.function] for call in self.grouped.calls}
        return StoredFragments(self.grouped, tuple(scans), called)

    def _stored(self) -> Mapping[str, tuple[Scan, Run]]:
        """What is read from the state and the operator's rows for the dirty groups, and among which segments."""
        relation, state, grouped = self.operator.relation, self.operator.state, self.grouped
        layout = Layout(grouped.state_columns) if state is None else state.layout
        of_state = Scan.of(layout, tuple(grouped.state_columns), tuple(grouped.state_keys), None)
        of_rows = Scan.of(self._layout, tuple(self.plan.produced), tuple(grouped.keys), None)
        return {
            "state": (of_state, () if state is None else state.segments),
            "stored": (of_rows, () if relation is None else relation.segments),
        }

    @property
    def _layout(self) -> Layout:
        """How the tree's rows are stored, or will be once it is hydrated."""
        relation = self.operator.relation
        return self.plan.layout if relation is None else relation.layout

    def _scans(self) -> list[LineageScan]:
        """What is read from the parents' changes."""
        return [
            LineageScan(self._rows_of(at), self.grouped.readers(at), self.grouped.words)
            for at in range(len(self.grouped.branches))
        ]

    def _scan_rows(self) -> FusedScan:
        """What is read from the only parent, where values are computed from its rows."""
        return FusedScan(self._rows_of(0), self.grouped.branches[0].readers)

    def _rows_of(self, at: int) -> Scan:
        branch, keys = self.grouped.branches[at], tuple(map(key_column, self.grouped.row_keys))
        return Scan.of(self.operator.parents[at].relation.layout, branch.columns, keys, None)
