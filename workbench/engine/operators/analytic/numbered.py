"""The change of rows that analytic functions are evaluated of where the rows are put in order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pyarrow as pa

from workbench.engine.operators.analytic.frame_values import FrameValue, frame_value
from workbench.engine.operators.analytic.frames import OrderedBatch
from workbench.engine.physical.plans import AnalyticPlan
from workbench.engine.physical.row_inputs import SingleInput, calls_among, with_calls
from workbench.engine.physical.stored.calls import Functions
from workbench.engine.storage.grouping import Positions, group_rows, not_distinct
from workbench.engine.storage.indexes.prefix_index import Along
from workbench.engine.storage.layout import WEIGHT, conform
from workbench.limits import Limits

ColumnValues = Mapping[str, FrameValue | None]
"""For each column of a node's rows the function that it has the values of; ``None``: it is one of the parent's."""


def evaluated_columns(plan: AnalyticPlan, along: tuple[Along, ...]) -> ColumnValues:
    """The columns of the node's rows; ``along``: see ``frame_value``."""
    functions = plan.node.by_name
    return {name: frame_value(functions[name], along) if name in functions else None for name in plan.produced}


def inputs_of(values: ColumnValues) -> tuple[SingleInput, ...]:
    """The inputs of the functions, each once."""
    return tuple(dict.fromkeys(each for value in values.values() if value is not None for each in value.inputs))


def evaluated_change(
    ordered: Iterable[pa.RecordBatch], values: ColumnValues, schema: pa.Schema, functions: Functions, limits: Limits
) -> pa.RecordBatch:
    """The change of the node's rows; equal ones cancel.

    Args:
        ordered: rows before and after the batch, with their marks.
        values: of ``evaluated_columns``.
        schema: of the rows, with their weights.
        functions: those of the analyst that are called.
        limits: of the work.
    """
    batches = [batch for batch in ordered if batch.num_rows]
    if not batches:
        return conform(pa.RecordBatch.from_pydict({}), schema)
    rows = OrderedBatch.of(with_calls(pa.concat_batches(batches), calls_among(inputs_of(values)), functions), limits)
    computed = {name: value.values(rows) for name, value in values.items() if value is not None}
    kept = _unlike(rows, [*computed.values()])
    wanted, own = pa.array(rows.wanted[kept]), pa.array(kept)
    columns = [
        rows.rows.column(name).take(wanted) if value is None else computed[name].take(own)
        for name, value in values.items()
    ]
    at, starts = group_rows(columns, len(kept))
    signs = rows.mark("_sign")[kept][at]
    weights = np.add.reduceat(signs, starts) if len(starts) else np.zeros(0, np.int64)
    first = pa.array(at[starts[weights != 0]])
    changed = [column.take(first) for column in columns]
    return conform(
        pa.RecordBatch.from_arrays([*changed, pa.array(weights[weights != 0])], names=[*values, WEIGHT]), schema
    )


def _unlike(rows: OrderedBatch, computed: Sequence[pa.Array]) -> Positions:
    """The wanted rows without those that were there with the same values before the batch."""
    same, signs = rows.mark("_same"), rows.mark("_sign")
    known = same >= 0
    before, after = (np.flatnonzero(known & (signs == sign)) for sign in (-1, 1))
    most = int(same.max(initial=-1)) + 1
    # A row that is there several times has several values.
    once = [np.bincount(same[side], minlength=most) == 1 for side in (before, after)]
    place = np.zeros((2, most), dtype=np.int64)
    place[0, same[before]], place[1, same[after]] = before, after
    was, now = place[:, once[0] & once[1]]
    alike = np.ones(len(was), dtype=bool)
    for column in computed:
        alike &= not_distinct(column.take(pa.array(was)), column.take(pa.array(now)))
    kept = np.ones(len(same), dtype=bool)
    kept[was[alike]] = kept[now[alike]] = False
    return np.flatnonzero(kept)
