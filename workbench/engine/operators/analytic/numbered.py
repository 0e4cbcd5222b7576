"""The change of rows that analytic functions are evaluated of where the rows are put in order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import pyarrow as pa

from workbench.engine.operators.analytic.frame_values import FrameValue, frame_value
from workbench.engine.operators.analytic.frames import OrderedBatch
from workbench.engine.physical.plans import AnalyticPlan
from workbench.engine.physical.row_inputs import SingleInput, calls_among, with_calls
from workbench.engine.physical.stored.calls import Functions
from workbench.engine.storage.grouping import group_rows
from workbench.engine.storage.layout import WEIGHT, conform

ColumnValues = Mapping[str, FrameValue | None]
"""For each column of a node's rows the function that it has the values of; ``None``: it is one of the parent's."""


def evaluated_columns(plan: AnalyticPlan, summed: tuple[str, ...]) -> ColumnValues:
    """The columns of the node's rows; ``summed``: see ``frame_value``."""
    functions = plan.node.by_name
    return {name: frame_value(functions[name], summed) if name in functions else None for name in plan.produced}


def inputs_of(values: ColumnValues) -> tuple[SingleInput, ...]:
    """The inputs of the functions, each once."""
    return tuple(dict.fromkeys(each for value in values.values() if value is not None for each in value.inputs))


def evaluated_change(
    ordered: Iterable[pa.RecordBatch], values: ColumnValues, schema: pa.Schema, functions: Functions
) -> pa.RecordBatch:
    """The change of the node's rows; equal ones cancel.

    Args:
        ordered: rows before and after the batch, with their marks.
        values: of ``evaluated_columns``.
        schema: of the rows, with their weights.
        functions: those of the analyst that are called.
    """
    batches = [batch for batch in ordered if batch.num_rows]
    if not batches:
        return conform(pa.RecordBatch.from_pydict({}), schema)
    rows = OrderedBatch.of(with_calls(pa.concat_batches(batches), calls_among(inputs_of(values)), functions))
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
