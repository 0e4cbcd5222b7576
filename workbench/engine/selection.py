"""Rows of segments selected in this process: what an answer is read from where its rows are few.

Segments are mapped, so looking through the lineage of a few hundred thousand rows takes a millisecond, and only the
values of rows that are found are read. A Spark job takes a hundred times as long before it reads the first row.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from workbench.arrow.types import Mask, to_arrow
from workbench.engine.physical.stored.kernels.table import evaluate, has_kernels
from workbench.engine.storage.grouping import Positions, group_rows, with_equal_bits
from workbench.engine.storage.layout import BATCH, conform, one_batch
from workbench.engine.storage.lineage import WORD_BITS, mask, rows_with_bits, word_column
from workbench.engine.storage.segments import Run, open_segment
from workbench.limits import Limits
from workbench.sql.algebra.expressions import Expression, columns


@dataclass(frozen=True)
class RowCondition:
    """What rows have to satisfy.

    Attributes:
        schema: of the columns that it reads.
        passes: which rows with these columns satisfy it.
    """

    schema: pa.Schema
    passes: Callable[[pa.RecordBatch], Mask]


def rows_with_any(
    segments: Run,
    schema: pa.Schema,
    bit_sets: Collection[frozenset[int]],
    limits: Limits,
    computed: Mapping[str, Expression] = MappingProxyType({}),
    after: int | None = None,
    most: int | None = None,
    first: int | None = None,
    until: int | None = None,
    condition: RowCondition | None = None,
) -> pa.RecordBatch | None:
    """The rows that have all bits of one of some sets, as one batch; ``None`` where they cannot be read here.

    They cannot where they are too many, or where a file lacks a column that is computed as rows are written, and that
    no kernel computes. What else a file lacks is NULL.

    Args:
        segments: with the rows.
        schema: of the columns to read.
        bit_sets: each not empty.
        limits: how many are too many.
        computed: expressions that are stored with the rows, over columns that are stored, too. Files that are older
            lack them.
        after: only rows of later batches.
        most: how many may be found, where it is not as ``limits`` say.
        first: the number of rows that is enough.
        until: only rows of this batch and earlier ones.
        condition: what else rows have to satisfy; of the others no column is read that it does not need.
    """
    if first is None and sum(segment.rows for segment in segments) > limits.rows_scanned_in_process:
        return None
    parts: list[pa.RecordBatch] = []
    scanned = found = 0
    for rows in _opened(segments, limits):
        if first is not None and found >= first:
            break
        scanned += rows.num_rows
        if scanned > limits.rows_scanned_in_process:
            return None
        lacking = {name: e for name, e in computed.items() if name not in rows.schema.names}
        if not all(map(has_kernels, lacking.values())):
            return None
        chosen = _with_any(rows, bit_sets)
        if after is not None:
            chosen &= rows.column(BATCH).to_numpy() > after
        if until is not None:
            chosen &= rows.column(BATCH).to_numpy() <= until
        pieces = [np.flatnonzero(chosen)]
        if condition is not None:
            pieces = np.split(pieces[0], range(limits.rows_handed_on, len(pieces[0]), limits.rows_handed_on))
        for at in pieces:
            if condition is not None:
                at = at[condition.passes(_taken(rows, condition.schema, at))]
            at = at if first is None else at[: first - found]
            found += len(at)
            if found > (limits.rows_found_in_process if most is None else most):
                return None
            if len(at):
                parts.append(_taken(rows, schema, at, lacking))
            if first is not None and found >= first:
                break
    return pa.concat_batches(parts) if parts else pa.RecordBatch.from_pylist([], schema)


def _opened(segments: Run, limits: Limits) -> Iterator[pa.RecordBatch]:
    """The rows of segments, of small ones together: to choose among those of one costs as much as among all."""
    together: list[pa.RecordBatch] = []
    number = 0
    for segment in segments:
        rows = open_segment(segment.path)
        number += rows.num_rows
        if together and (number > limits.rows_chosen_together or not rows.schema.equals(together[0].schema)):
            yield one_batch(together)
            together, number = [], rows.num_rows
        together.append(rows)
    if together:
        yield one_batch(together)


def _taken(
    rows: pa.RecordBatch, schema: pa.Schema, at: Positions, lacking: Mapping[str, Expression] = MappingProxyType({})
) -> pa.RecordBatch:
    """Some rows in a schema, with the values of expressions that they lack; what else they lack is NULL."""
    operands = {column.name: to_arrow(column.type) for e in lacking.values() for column in columns(e)}
    read = [name for name in rows.schema.names if name in operands or name in schema.names]
    taken = rows.select(read).take(pa.array(at))
    for name in operands.keys() - set(read):
        taken = taken.append_column(name, pa.nulls(len(at), operands[name]))
    for name, expression in lacking.items():
        taken = taken.append_column(name, evaluate(expression, taken))
    return conform(taken, schema)


def _with_any(rows: pa.RecordBatch, bit_sets: Collection[frozenset[int]]) -> Mask:
    """Which rows have all bits of one of some sets; sets of one bit are tested together, word by word."""
    single = [bit for bits in bit_sets if len(bits) == 1 for bit in bits]
    chosen = np.zeros(rows.num_rows, dtype=bool)
    for word, wanted in enumerate(mask(single, max(single, default=0) // WORD_BITS + 1)):
        at = rows.schema.get_field_index(word_column(word))
        if wanted and at >= 0:
            chosen |= (rows.column(at).to_numpy().view(np.uint64) & wanted) != 0
    for bits in bit_sets:
        if len(bits) > 1:
            chosen |= rows_with_bits(rows, bits)
    return chosen


def has_retractions(weights: pa.Array) -> bool:
    """Whether a weight is not positive."""
    least = pc.min(weights).as_py()
    return least is not None and least <= 0


def summed_weights(keys: Sequence[pa.Array], weights: pa.Array) -> tuple[list[pa.Array], pa.Array]:
    """The Z-set's normal form: equal rows once, with the sum of their weights, and none with weight 0.

    Rows are equal where they are in Spark's GROUP BY: NULL is NULL, NaN is NaN, and -0.0 is 0.0.

    Example:
        >>> values, weights = summed_weights([pa.array([-0.0, 0.0, 1.0])], pa.array([1, 1, -1]))
        >>> values[0].to_pylist(), weights.to_pylist()
        ([0.0, 1.0], [2, -1])
    """
    columns = list(map(with_equal_bits, keys))
    order, starts = group_rows(columns, len(weights))
    if not len(order):
        return columns, weights
    sums = np.add.reduceat(weights.to_numpy()[order], starts)
    kept = np.flatnonzero(sums)
    at = pa.array(order[starts[kept]])
    return [column.take(at) for column in columns], pa.array(sums[kept])


def repeated(columns: Sequence[pa.Array], weights: pa.Array) -> list[pa.Array]:
    """Each row as often as its weight says, which is not negative."""
    times = weights.to_numpy(zero_copy_only=False)
    if (times == 1).all():
        return list(columns)
    at = pa.array(np.repeat(np.arange(len(times)), times))
    return [column.take(at) for column in columns]
