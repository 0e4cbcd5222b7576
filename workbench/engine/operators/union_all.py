"""UNION ALL.

    Δ(A ⊎ B)  =  ΔA ⊎ ΔB

In: change (a Z-set) of each branch. Out: change of the union, with the same weights and batches; it keeps no state,
since the union of bags is linear (Budiu et al., DBSP).
"""

from __future__ import annotations

from collections.abc import Sequence

from workbench.engine.operators.operator_input import OperatorInput
from workbench.engine.operators.runner import Runner
from workbench.engine.physical.accumulators import over_rows
from workbench.engine.physical.plans import UnionPlan
from workbench.engine.spark.jobs import Job
from workbench.engine.storage.frames import change_frame
from workbench.engine.storage.layout import BATCH, WEIGHT
from workbench.engine.storage.relation import tasks_for
from workbench.engine.storage.scan import Scan
from workbench.network.nodes import SetOperation
from workbench.network.projection import Columns, read_by_branch


def union_job(runner: Runner, operator: OperatorInput, plan: UnionPlan) -> Job | None:
    """The job of the change of a UNION ALL's rows; ``None`` where nothing changes."""
    if not operator.changed_rows:
        return None
    union, tasks = plan.union, tasks_for(operator.changed_rows, runner.spark)
    job_input = runner.write_input(plan, operator.batch, operator.segments)
    scans = [
        Scan.of(
            rows.relation.layout, sorted({c.name for c in read_by_branch(union, values, plan.produced)}), (), rows.bit
        )
        for (_, values), rows in zip(union.direct, operator.parents, strict=True)
    ]

    def make() -> Job:
        frames = [change_frame(runner.spark, job_input, at, scan, tasks) for at, scan in enumerate(scans)]
        changes = [runner.bind(plan, f"change{at}", frame) for at, frame in enumerate(frames)]
        return runner.sql_job(union_change(union, changes, plan.produced), plan, tasks)

    return runner.cached(plan, "rows", (scans, tasks), make)


def union_change(union: SetOperation, changes: Sequence[str], produced: Columns) -> str:
    """SQL of the change over views of the branches' changes: columns ``produced``, ``_batch``, ``_weight``."""
    parts = []
    for (_, values), view in zip(union.direct, changes, strict=True):
        columns = {f"c{i}": over_rows(value) for i, value in enumerate(values, start=1)}
        parts.append(f"SELECT {', '.join([*(f'{columns[n]} AS {n}' for n in produced), BATCH, WEIGHT])} FROM {view}")
    return " UNION ALL ".join(parts)
