"""What was told of rows stays told when they come to have other bits: the log of their changes is written anew.

It happens when one of several siblings leaves their family, since it comes to be computed in another way or gets a
statistic that the others do not have; and when a join comes to test less, so that what its root was is a selection now
(T Figure 6.8b).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

from workbench.engine.operators.filter_and_write import Delta
from workbench.engine.physical.grouped_filter import WORD
from workbench.engine.physical.plans import TreePlan
from workbench.engine.storage.changelog import LogEntry
from workbench.engine.storage.layout import word_column
from workbench.engine.storage.scan import has
from workbench.engine.storage.segments import HANDED_ON, Segment, SegmentWriter, check_segments, open_segment
from workbench.engine.tree import Tree

Move = tuple[frozenset[int], frozenset[int]]
"""Rows that had all bits of the first get those of the second."""


def carried_log(left: Tree, plan: TreePlan, folder: Path) -> tuple[LogEntry, ...]:
    """The entries of another tree's log with the rows of a plan's roots alone, as the plan writes them.

    Args:
        left: the tree in which the roots ran.
        plan: of the tree in which they are going to.
        folder: where its rows are.
    """
    moved = _moves(left.plan, plan)
    entries = []
    for entry in left.log:
        check_segments(entry.delta.segments)
        writer = SegmentWriter(str(folder))
        for segment in entry.delta.segments:
            for rows in _own_rows(segment, moved, plan.layout.words):
                writer.add(rows)
        entries.append(LogEntry(entry.batch, Delta(tuple(writer.close())), entry.whole))
    return tuple(entries)


def must_move(old: TreePlan, new: TreePlan) -> bool:
    """Whether rows that some query was told of have other bits in a tree than in the one that it replaces."""
    return old.name != new.name or any(
        new.query_reads.get(read, bits) != bits for read, bits in old.query_reads.items()
    )


def _moves(old: TreePlan, new: TreePlan) -> list[Move]:
    """Which bits rows get by the new plan that have some by the old one: those of what queries read."""
    # No others: a join that tests more than it did has rows in its log that are not its rows any more.
    return [(bits, new.query_reads[read]) for read, bits in old.query_reads.items() if read in new.query_reads]


def _own_rows(segment: Segment, moved: Iterable[Move], words: int) -> Iterator[pa.RecordBatch]:
    batch = open_segment(segment.path)
    names = [name for name in batch.schema.names if not name.startswith("_bits")]
    for first in range(0, batch.num_rows, HANDED_ON):
        rows = batch.slice(first, HANDED_ON)
        bits = np.zeros((rows.num_rows, words), dtype=np.uint64)
        for old, new in moved:
            if all(word_column(bit // WORD) in rows.schema.names for bit in old):
                own = np.logical_and.reduce([has(rows.column(word_column(bit // WORD)), bit) for bit in old])
                for bit in new:
                    bits[own, bit // WORD] |= np.uint64(1 << (bit % WORD))
        kept = bits.any(axis=1)
        if kept.any():
            lineage = [pa.array(np.ascontiguousarray(bits[kept, word]).view(np.int64)) for word in range(words)]
            values = rows.select(names).filter(pa.array(kept))
            yield pa.RecordBatch.from_arrays(
                [*values.columns, *lineage], names=[*names, *map(word_column, range(words))]
            )
