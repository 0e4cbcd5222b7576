"""The change of rows whose analytic functions are evaluated where the rows are put in order, and not by Spark."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import pyarrow as pa

from workbench.engine.operators.analytic.frame_values import FrameValue, frame_value
from workbench.engine.operators.analytic.frames import OrderedBatch
from workbench.engine.physical.plans import AnalyticPlan
from workbench.engine.storage.grouping import group_rows
from workbench.engine.storage.layout import WEIGHT, conform

ColumnValues = Mapping[str, FrameValue | None]
"""For each column of a node's rows the function that it has the values of; ``None``: it is one of the parent's."""


def evaluated_columns(plan: AnalyticPlan, summed: tuple[str, ...]) -> ColumnValues | None:
    """The columns of the node's rows; ``None`` where Spark must evaluate a function.

    Args:
        plan: of the node.
        summed: see ``frame_value``.
    """
    functions = plan.node.by_name
    values = {name: frame_value(functions[name], summed) for name in plan.produced if name in functions}
    return None if None in values.values() else {name: values.get(name) for name in plan.produced}


def evaluated_change(ordered: Iterable[pa.RecordBatch], values: ColumnValues, schema: pa.Schema) -> pa.RecordBatch:
    """The change of the node's rows; equal ones cancel.

    Args:
        ordered: rows before and after the batch, with their marks.
        values: of ``evaluated_columns``.
        schema: of the rows, with their weights.
    """
    batches = [batch for batch in ordered if batch.num_rows]
    if not batches:
        return conform(pa.RecordBatch.from_pydict({}), schema)
    rows = OrderedBatch.of(pa.concat_batches(batches))
    wanted = pa.array(rows.wanted)
    columns = [
        rows.rows.column(name).take(wanted) if value is None else value.values(rows) for name, value in values.items()
    ]
    at, starts = group_rows(columns, len(wanted))
    signs = rows.mark("_sign")[at]
    weights = np.add.reduceat(signs, starts) if len(starts) else np.zeros(0, np.int64)
    first = pa.array(at[starts[weights != 0]])
    changed = [column.take(first) for column in columns]
    return conform(
        pa.RecordBatch.from_arrays([*changed, pa.array(weights[weights != 0])], names=[*values, WEIGHT]), schema
    )
