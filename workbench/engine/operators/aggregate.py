"""Operators that keep a state for each group: aggregates, DISTINCT, and set operators except UNION ALL.

    Δγ(P)  =  γ(P′ ⋉ G) − γ(P ⋉ G)          G = the groups with rows in ΔP, P′ = P after the batch

In: change of each parent (a Z-set). Out: change of the operator's rows, in which the old row of a dirty group has
weight -1 and its new row weight 1; and the change of the state, one row for each dirty group with its partial
statistics. Fused operators are evaluated together; ``MEMBER`` says whose a row is.

The change is grouped and written as a change of the state. Then what is stored for its groups is looked up by key and
merged with it. That is one job where few rows change, by a plan that is kept. It is two jobs where many rows change, or
where values are computed from all rows of the dirty groups (``reads_rows``).

Source: thesis T4.2, Algorithm 4.1, made exact under retractions; Gupta, Mumick, Subrahmanian, Maintaining views
incrementally.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from pyspark.sql import DataFrame

from workbench.engine.operators.aggregate_sql import (
    change_of_dirty_groups,
    empty_groups,
    grouped_change,
    state_change,
    with_emitted_values,
)
from workbench.engine.operators.operator_input import OperatorInput
from workbench.engine.operators.runner import Runner
from workbench.engine.operators.state_lookup import KeyedLookup, StateLookup
from workbench.engine.physical.aggregate_plan import GroupedPlan
from workbench.engine.physical.join_keys import key_column
from workbench.engine.physical.plans import AggregatePlan
from workbench.engine.storage.frames import change_frame, run_writing, segments_frame, writing_plan
from workbench.engine.storage.job_input import InputRows, JobInput
from workbench.engine.storage.layout import Layout
from workbench.engine.storage.relation import NO_CHANGE, Delta, consolidate, tasks_for
from workbench.engine.storage.scan import FusedScan, Scan
from workbench.engine.storage.segments import Run


def aggregate_delta(runner: Runner, operator: OperatorInput, plan: AggregatePlan) -> tuple[Delta, Delta]:
    """The change of a grouped operator's rows, and of its state."""
    hydrating = operator.relation is None
    # The only group of an aggregate without groups is there from the start, also over no rows.
    starting = hydrating and not plan.grouped.groups
    if not operator.changed_rows and not starting:
        return NO_CHANGE, NO_CHANGE
    aggregate = _Aggregate(runner, operator, plan, tasks_for(operator.changed_rows, runner.spark))
    if not hydrating and aggregate.tasks == 1 and (one_job := aggregate.in_one_job()) is not None:
        delta = runner.run(one_job)
        return replace(delta, state_segments=()), Delta(delta.state_segments)
    dirty = Delta(run_writing(aggregate.writes_state()))
    if not dirty.rows and not starting:
        return NO_CHANGE, NO_CHANGE
    return runner.run(aggregate.hydrates(dirty) if hydrating else aggregate.changes(dirty)), dirty


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

    def in_one_job(self) -> DataFrame | None:
        """The plan of both steps in one task; ``None`` where there is none."""
        if self.grouped.reads_rows:
            return None
        operator, stored = self.operator, self._stored()
        job_input = self.runner.job_input(self.plan)
        looked_up = [InputRows((), run) for _, run in stored.values()]
        job_input.write(operator.batch, [*operator.segments, *looked_up])
        scans, (state, rows) = self._scans(), (scan for scan, _ in stored.values())

        def make() -> DataFrame:
            groups = self._state_change(job_input, scans)
            folder = str(self.runner.folder(self.plan.name))
            lookup = StateLookup(state, rows, job_input, len(scans), folder)
            groups_view = self.runner.bind(self.plan, "found", lookup.frame(groups))
            return self.runner.spark_plan(
                change_of_dirty_groups(self.grouped, self.plan.produced, groups_view), self.plan, 1
            )

        depends_on = (self.plan, scans, state, rows)
        return self.runner.cached_without_exchange(self.plan, "both", depends_on, make)

    def writes_state(self) -> DataFrame:
        """The plan of the first step: it writes the change of the state, a row for each dirty group."""
        operator, scans = self.operator, self._scans()
        job_input = self.runner.write_input(self.plan, operator.batch, operator.segments)

        def make() -> DataFrame:
            return writing_plan(self._state_change(job_input, scans), self.runner.folder(self.plan.name))

        return self._cached("state change", (self.plan, scans), make)

    def changes(self, dirty: Delta) -> DataFrame:
        """The plan of the second step: the change of the rows of the dirty groups."""
        operator, grouped = self.operator, self.grouped
        looked_up: dict[str, tuple[Scan | FusedScan, Run]] = {**self._stored()}
        if grouped.reads_rows:
            (rows,) = operator.segments
            looked_up["rows"] = (self._scan(0), (*rows.before, *rows.change))
        job_input = self.runner.job_input(self.plan, "dirty")
        job_input.write(operator.batch, [InputRows(dirty.segments, run) for _, run in looked_up.values()])
        scans = {role: scan for role, (scan, _) in looked_up.items()}

        def make() -> DataFrame:
            spark = self.runner.spark
            views: dict[str, str] = {}
            for at, (role, scan) in enumerate(scans.items()):
                lookup = KeyedLookup(tuple(grouped.groups if role == "rows" else grouped.keys), scan)
                frame = lookup.frame(spark, job_input, at, self.tasks)
                views[role] = self.runner.bind(self.plan, role, frame)
            changed = change_frame(spark, job_input, 0, scans["state"], self.tasks)
            parts = [self.runner.bind(self.plan, "dirty", changed), views["state"]]
            one_task = self.tasks == 1
            rows = grouped_change(grouped, self.plan.produced, parts, views["stored"], views.get("rows"), one_task)
            return self.runner.spark_plan(rows, self.plan, self.tasks)

        return self._cached("rows", (self.plan, scans), make)

    def hydrates(self, dirty: Delta) -> DataFrame:
        """The plan of the second step when the tree is hydrated: all groups are dirty, and none was there before."""
        operator, grouped = self.operator, self.grouped
        layout = Layout(grouped.state_columns)
        groups = segments_frame(self.runner.spark, dirty.segments, layout, layout.arrow.names, self.tasks)
        parts = [self.runner.bind(self.plan, "dirty", groups), *([] if grouped.groups else [empty_groups(grouped)])]
        view = None
        if grouped.reads_rows:
            job_input = self.runner.job_input(self.plan)
            frame = change_frame(self.runner.spark, job_input, 0, self._scan(0), self.tasks)
            view = self.runner.bind(self.plan, "rows", frame)
        rows = grouped_change(grouped, self.plan.produced, parts, None, view, one_task=self.tasks == 1)
        emitted = operator.emitted
        if emitted is not None and emitted.rows and (inexact := grouped.inexact & set(emitted.layout.columns)):
            emitted_rows = consolidate(emitted.dataframe, emitted.layout)
            emitted_view = self.runner.bind(self.plan, "emitted", emitted_rows)
            rows = with_emitted_values(rows, emitted_view, grouped, self.plan.produced, inexact)
        return self.runner.spark_plan(rows, self.plan, self.tasks)

    def _state_change(self, job_input: JobInput, scans: list[FusedScan]) -> DataFrame:
        """The change of the state."""
        frames = [change_frame(self.runner.spark, job_input, at, s, self.tasks) for at, s in enumerate(scans)]
        changes = [self.runner.bind(self.plan, f"change{at}", frame) for at, frame in enumerate(frames)]
        groups = self.runner.spark.sql(state_change(self.grouped, changes, one_task=self.tasks == 1))
        return groups.coalesce(self.tasks)

    def _cached(self, role: str, depends_on: object, make: Callable[[], DataFrame]) -> DataFrame:
        """The plan, kept where it has one task: with more it has an exchange."""
        return make() if self.tasks > 1 else self.runner.cached(self.plan, role, depends_on, make)

    def _stored(self) -> Mapping[str, tuple[Scan, Run]]:
        """What is read of the state and of the operator's rows for the dirty groups, and among which segments."""
        relation, state, keys = self.operator.relation, self.operator.state, tuple(self.grouped.keys)
        assert relation is not None and state is not None
        return {
            "state": (Scan.of(state.layout, tuple(self.grouped.state_columns), keys, None), state.segments),
            "stored": (Scan.of(relation.layout, tuple(self.plan.produced), keys, None), relation.segments),
        }

    def _scans(self) -> list[FusedScan]:
        return [self._scan(at) for at in range(len(self.grouped.branches))]

    def _scan(self, at: int) -> FusedScan:
        """What is read of a parent."""
        branch, keys = self.grouped.branches[at], tuple(map(key_column, self.grouped.row_keys))
        return FusedScan(Scan.of(self.operator.parents[at].relation.layout, branch.columns, keys, None), branch.readers)
