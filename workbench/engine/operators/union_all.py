"""UNION ALL: linear, so the change of the whole is the changes of the branches."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame

from workbench.engine.storage.relation import NO_CHANGE, Delta
from workbench.engine.physical.accumulators import over_rows
from workbench.engine.storage.frames import change_frame
from workbench.engine.operators.runner import Runner
from workbench.engine.operators.operator_input import OperatorInput
from workbench.engine.storage.layout import BATCH, WEIGHT
from workbench.engine.storage.relation import tasks_for
from workbench.engine.storage.scan import Scan
from workbench.network.nodes import SetOperation
from workbench.network.projection import Columns, columns_of


def union_delta(runner: Runner, work: OperatorInput, union: SetOperation) -> Delta:
    """The change of a UNION ALL's rows."""
    if not work.changed:
        return NO_CHANGE
    tasks = tasks_for(work.changed, runner.spark)
    note = runner.tell(work.plan, work.batch, work.notes)
    leaves = [
        Scan.of(rows.relation.layout, sorted({c.name for c in columns_of(values)}), (), rows.bit)
        for (_, values), rows in zip(union.direct, work.inputs, strict=True)
    ]

    def planned() -> DataFrame:
        frames = [change_frame(runner.spark, note, at, leaf, tasks) for at, leaf in enumerate(leaves)]
        changes = [runner.bind(work.plan, f"change{at}", frame) for at, frame in enumerate(frames)]
        return runner.passing(union_change(union, changes, work.plan.made), work.plan, tasks)

    return runner.run(runner.prepared(work.plan, "rows", (work.plan, leaves, tasks), planned))


def union_change(union: SetOperation, changes: Sequence[str], made: Columns) -> str:
    """SQL of a UNION ALL's change over views of its branches' changes: columns ``made``, ``_batch``, ``_weight``."""
    parts = []
    for (_, values), view in zip(union.direct, changes, strict=True):
        named = {f"c{i}": over_rows(value) for i, value in enumerate(values, start=1)}
        wanted = [f"{named[name]} AS {name}" for name in made]
        parts.append(f"SELECT {', '.join([*wanted, BATCH, WEIGHT])} FROM {view}")
    return " UNION ALL ".join(parts)
