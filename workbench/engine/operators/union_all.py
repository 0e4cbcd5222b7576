"""UNION ALL.

    Δ(A ⊎ B)  =  ΔA ⊎ ΔB

In: change (a Z-set) of each branch. Out: change of the union, with the same weights and batches; it keeps no state,
since the union of bags is linear (Budiu et al., DBSP).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa

from workbench.engine.operators.operator_input import OperatorInput
from workbench.engine.operators.runner import Runner
from workbench.engine.physical.plans import UnionPlan
from workbench.engine.physical.row_inputs import over_rows
from workbench.engine.physical.stored.calls import StoredCall
from workbench.engine.physical.stored.values import StoredValue, stored_value
from workbench.engine.spark.arrow_tasks import ArrowBatches
from workbench.engine.spark.jobs import Job
from workbench.engine.storage.frames import change_frame
from workbench.engine.storage.job_input import TaskInput
from workbench.engine.storage.layout import BATCH, WEIGHT, Layout, conform, only
from workbench.engine.storage.relation import tasks_for
from workbench.engine.storage.scan import Scan
from workbench.engine.storage.segments import read_share, shares
from workbench.network.nodes import Columns, NodeId, SetOperation


def union_job(runner: Runner, operator: OperatorInput, plan: UnionPlan) -> Job | None:
    """The job of the change of a UNION ALL's rows; ``None`` where nothing changes."""
    if not operator.changed_rows:
        return None
    union, tasks = plan.union, tasks_for(operator.changed_rows, runner.jobs)
    job_input = runner.set_input(plan, operator.batch, operator.segments)
    scans = {}
    for branches in branches_by_parent(union):
        first = branches[0]
        read = {c.name for at in branches for c in union.direct_columns(union.direct[at][1], plan.produced)}
        rows = operator.parents[first]
        scans[first] = Scan.of(rows.relation.layout, sorted(read), (), rows.bit)

    def make() -> Job:
        if (stored := stored_branches(union, plan.produced)) is not None:
            names, layout = [*plan.produced, BATCH, WEIGHT], Layout(plan.produced)
            schema = only(layout.arrow, names)

            def rows(task: int) -> ArrowBatches:
                return stored_change(job_input.read(task, tasks), scans, stored, schema)

            return runner.task_job(rows, tasks, layout.ddl(names), plan)
        frames = {at: change_frame(runner.spark, job_input, at, scan, tasks) for at, scan in scans.items()}
        changes = {at: runner.bind(plan, f"change{at}", frame) for at, frame in frames.items()}
        return runner.sql_job(union_change(union, changes, plan.produced), plan, tasks)

    return runner.cached(plan, "rows", (tuple(scans.items()), tasks), make)


def branches_by_parent(union: SetOperation) -> list[list[int]]:
    """The numbers of the branches that read each parent: rows of one are read once for all of them."""
    branches: dict[NodeId, list[int]] = {}
    for at, (parent, _) in enumerate(union.direct):
        branches.setdefault(parent, []).append(at)
    return list(branches.values())


StoredBranches = Mapping[int, Sequence[Mapping[str, StoredValue]]]
"""The branches that read each parent, by the number of the first: their values by the names of the union's columns."""


def stored_branches(union: SetOperation, produced: Columns) -> StoredBranches | None:
    """The branches where stored columns tell all values; ``None`` where something else is computed."""
    found: dict[int, list[dict[str, StoredValue]]] = {}
    for branches in branches_by_parent(union):
        own = found.setdefault(branches[0], [])
        for at in branches:
            columns = {f"c{i}": stored_value(value) for i, value in enumerate(union.direct[at][1], start=1)}
            values = {name: value for name in produced if (value := columns[name]) is not None}
            if len(values) < len(produced) or any(isinstance(value, StoredCall) for value in values.values()):
                return None
            own.append(values)
    return found


def stored_change(
    task: TaskInput, scans: Mapping[int, Scan], branches: StoredBranches, schema: pa.Schema
) -> ArrowBatches:
    """A task's part of the change where stored columns tell all values.

    Args:
        task: its inputs are those of the branches.
        scans: what is read from each parent, by the number of the first branch that reads it.
        branches: their values.
        schema: of the rows.
    """
    for first, scan in scans.items():
        share = shares(task.inputs[first].change, task.tasks)[task.task]
        for rows in (some for batch in read_share(share, scan.input) for some in scan.select(batch)):
            for values in branches[first]:
                columns = {name: value.values(rows) for name, value in values.items()}
                columns |= {mark: rows.column(mark) for mark in (BATCH, WEIGHT)}
                yield conform(pa.RecordBatch.from_pydict(columns), schema)


def union_change(union: SetOperation, changes: Mapping[int, str], produced: Columns) -> str:
    """SQL of the change: columns ``produced``, ``_batch``, ``_weight``.

    A SELECT for each branch would take Spark 8 s to plan for VALUES of 100 rows, which are branches of one parent.

    Args:
        union: the operator.
        changes: views of the parents' changes, by the number of the first branch that reads each.
        produced: columns of the union.
    """
    return " UNION ALL ".join(
        _of_parent(changes[branches[0]], [_values(union, at, produced) for at in branches], produced)
        for branches in branches_by_parent(union)
    )


def _values(union: SetOperation, at: int, produced: Columns) -> list[str]:
    """SQL of the columns of a branch."""
    _, values = union.direct[at]
    columns = {f"c{i}": over_rows(value) for i, value in enumerate(values, start=1)}
    return [f"{columns[name]} AS {name}" for name in produced]


def _of_parent(view: str, branches: list[list[str]], produced: Columns) -> str:
    """SQL of the branches that read one parent."""
    if len(branches) == 1:
        return f"SELECT {', '.join([*branches[0], BATCH, WEIGHT])} FROM {view}"
    rows = ", ".join(f"struct({', '.join([f'{at} AS branch', *values])})" for at, values in enumerate(branches))
    names = ", ".join(["branch", *produced])
    shown = ", ".join([*(f"b.{name}" for name in produced), BATCH, WEIGHT])
    return f"SELECT {shown} FROM {view} LATERAL VIEW inline(array({rows})) b AS {names}"
