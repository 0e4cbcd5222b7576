"""UNION ALL.

    Δ(A ⊎ B)  =  ΔA ⊎ ΔB

In: change (a Z-set) of each branch. Out: change of the union, with the same weights and batches; it keeps no state,
since the union of bags is linear (Budiu et al., DBSP).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import pyarrow as pa

from workbench.engine.operators.operator_input import OperatorInput
from workbench.engine.operators.runner import Runner
from workbench.engine.physical.plans import UnionPlan
from workbench.engine.physical.row_inputs import SingleInput, calls_among, materialized_parts, row_input, with_calls
from workbench.engine.physical.stored.calls import Functions
from workbench.engine.spark.arrow_tasks import ArrowBatches
from workbench.engine.spark.jobs import Job
from workbench.engine.storage.job_input import TaskInput
from workbench.engine.storage.layout import BATCH, WEIGHT, Layout, conform, only
from workbench.engine.storage.scan import Scan
from workbench.engine.storage.segments import read_share, shares
from workbench.network.nodes import Columns, NodeId, SetOperation, columns_of


def union_job(runner: Runner, operator: OperatorInput, plan: UnionPlan) -> Job | None:
    """The job of the change of a UNION ALL's rows; ``None`` where nothing changes."""
    if not operator.changed_rows:
        return None
    tasks = runner.tasks(operator.changed_rows, operator.hydrated_here)
    job_input = runner.set_input(plan, operator.batch, operator.segments)
    stored = tuple((rows.relation.layout, rows.bit) for rows in operator.parents)
    scans = runner.read_once(plan, stored, lambda: _scans(operator, plan))

    def make() -> Job:
        change = UnionChange.of(plan.union, plan.produced, runner.functions)
        step = partial(change.of_task, scans=scans)
        calls = bool(change.functions)
        return runner.task_job(lambda task: step(job_input.read(task, tasks)), tasks, change.ddl, plan, calls)

    return runner.cached(plan, "rows", (tuple(scans.items()), tasks), make)


def _scans(operator: OperatorInput, plan: UnionPlan) -> dict[int, Scan]:
    """The scan of each parent, by the number of the first branch that reads it."""
    union, scans = plan.union, {}
    for branches in branches_by_parent(union):
        first = branches[0]
        values = [value for at in branches for value in union.produced(at, plan.produced)]
        read = {*materialized_parts(map(row_input, values)), *(column.name for column in columns_of(values))}
        rows = operator.parents[first]
        scans[first] = Scan.of(rows.relation.layout, sorted(read), (), rows.bit)
    return scans


def branches_by_parent(union: SetOperation) -> list[list[int]]:
    """The numbers of the branches that read each parent: rows of one are read once for all of them."""
    branches: dict[NodeId, list[int]] = {}
    for at, (parent, _) in enumerate(union.direct):
        branches.setdefault(parent, []).append(at)
    return list(branches.values())


@dataclass(frozen=True)
class UnionChange:
    """Makes the rows of a UNION ALL from the rows of its parents.

    Attributes:
        branches: those that read each parent, by the number of the first: their values by the union's columns.
        columns: of the union.
        functions: those of the analyst that are called.
    """

    branches: Mapping[int, Sequence[Mapping[str, SingleInput]]]
    columns: Columns
    functions: Functions

    @staticmethod
    def of(union: SetOperation, produced: Columns, functions: Functions) -> UnionChange:
        """The change of a union's columns that are ``produced``."""
        found = {}
        for branches in branches_by_parent(union):
            values = ({f"c{i}": value for i, value in enumerate(union.direct[at][1], start=1)} for at in branches)
            found[branches[0]] = [{name: row_input(own[name]) for name in produced} for own in values]
        every = {value for branches in found.values() for own in branches for value in own.values()}
        return UnionChange(found, produced, {call.function: functions[call.function] for call in calls_among(every)})

    @property
    def inputs(self) -> Mapping[int, Sequence[SingleInput]]:
        """The distinct inputs over the rows of each parent."""
        return {at: [*dict.fromkeys(v for own in some for v in own.values())] for at, some in self.branches.items()}

    @property
    def ddl(self) -> str:
        """The rows that come out, in Spark's DDL."""
        return Layout(self.columns).ddl([*self.columns, BATCH, WEIGHT])

    def of_task(self, task: TaskInput, scans: Mapping[int, Scan]) -> ArrowBatches:
        """A task's part of the change.

        Args:
            task: its inputs are those of the branches.
            scans: what is read from each parent, by the number of the first branch that reads it.
        """
        for first, scan in scans.items():
            share = shares(task.inputs[first].change, task.tasks)[task.task]
            batches = read_share(share, scan.input, task.limits)
            yield from self.of_parent(first, (rows for batch in batches for rows in scan.select(batch)))

    def of_parent(self, first: int, changed: ArrowBatches) -> ArrowBatches:
        """The rows of the branches that read a parent, by the number of the first."""
        schema = only(Layout(self.columns).arrow, [*self.columns, BATCH, WEIGHT])
        calls = calls_among(self.inputs[first])
        for batch in changed:
            rows = with_calls(batch, calls, self.functions)
            for values in self.branches[first]:
                columns = {name: value.values(rows) for name, value in values.items()}
                columns |= {mark: rows.column(mark) for mark in (BATCH, WEIGHT)}
                yield conform(pa.RecordBatch.from_pydict(columns), schema)
