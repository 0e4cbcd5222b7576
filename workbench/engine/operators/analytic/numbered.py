"""The change of rows whose analytic functions are numbers that rows come with: nothing is left for Spark to evaluate.

ROW_NUMBER, RANK and DENSE_RANK are such, and so are the first rows of an order, of which no function is read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import pyarrow as pa

from workbench.engine.operators.analytic.functions import NUMBERS
from workbench.engine.physical.plans import AnalyticPlan
from workbench.engine.storage.grouping import group_rows
from workbench.engine.storage.layout import WEIGHT, conform


def numbered_columns(plan: AnalyticPlan) -> Mapping[str, str] | None:
    """For each column of the node's rows that of ordered rows; ``None`` where a function computes something else."""
    functions = plan.node.by_name
    columns = {name: NUMBERS.get(functions[name].function) if name in functions else name for name in plan.produced}
    known = {name: column for name, column in columns.items() if column is not None}
    return known if len(known) == len(columns) else None


def numbered_change(ordered: Iterable[pa.RecordBatch], columns: Mapping[str, str], schema: pa.Schema) -> pa.RecordBatch:
    """The change of the node's rows; equal ones cancel.

    Args:
        ordered: rows before and after the batch, with their marks.
        columns: of ``numbered_columns``.
        schema: of the rows, with their weights.
    """
    batches = [batch for batch in ordered if batch.num_rows]
    if not batches:
        return conform(pa.RecordBatch.from_pydict({}), schema)
    rows = pa.concat_batches(batches)
    wanted = rows.filter(pa.array(rows.column("_keep").to_numpy() == 1))
    values = [wanted.column(column) for column in columns.values()]
    at, starts = group_rows(values, wanted.num_rows)
    weights = np.add.reduceat(wanted.column("_sign").to_numpy()[at], starts) if len(starts) else np.zeros(0, np.int64)
    first = pa.array(at[starts[weights != 0]])
    changed = [column.take(first) for column in values]
    names = [*columns, WEIGHT]
    return conform(pa.RecordBatch.from_arrays([*changed, pa.array(weights[weights != 0])], names=names), schema)
