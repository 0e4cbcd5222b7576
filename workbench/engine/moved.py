"""Roots that leave a family take what was told of them along: the log of their changes, in their new bits.

It happens when one of several siblings comes to be computed in another way, as from finer groups (T7.1.1), or gets a
statistic that the others do not have.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

from workbench.engine.layout import BATCH, MEMBER, WEIGHT, word_column
from workbench.engine.leaf import has
from workbench.engine.lineage import WORD
from workbench.engine.segments import HANDED_ON, Segment, SegmentWriter, open_segment
from workbench.engine.shared_pass import Delta
from workbench.engine.tree import LogEntry, Tree, TreePlan


def carried_log(left: Tree, plan: TreePlan, folder: Path) -> tuple[LogEntry, ...]:
    """The entries of another tree's log with the rows of a plan's roots alone, as the plan writes them.

    Args:
        left: the tree in which the roots ran.
        plan: of the tree in which they are going to.
        folder: where its rows are.
    """
    moved = [(bit, plan.bits[node]) for node, bit in left.plan.bits.items() if node in plan.bits]
    entries = []
    for entry in left.log:
        writer = SegmentWriter(str(folder))
        for segment in entry.delta.segments:
            for rows in _own_rows(segment, moved, plan.layout.words):
                writer.add(rows)
        entries.append(LogEntry(entry.batch, Delta(tuple(writer.close())), entry.whole))
    return tuple(entries)


def _own_rows(segment: Segment, moved: list[tuple[int, int]], words: int) -> Iterator[pa.RecordBatch]:
    batch = open_segment(segment.path)
    names = [name for name in batch.schema.names if not name.startswith("_bits")]
    assert {BATCH, WEIGHT, MEMBER} <= set(names)
    for first in range(0, batch.num_rows, HANDED_ON):
        rows = batch.slice(first, HANDED_ON)
        bits = np.zeros((rows.num_rows, words), dtype=np.uint64)
        for old, new in moved:
            if word_column(old // WORD) in rows.schema.names:
                own = has(rows.column(word_column(old // WORD)), old)
                bits[own, new // WORD] |= np.uint64(1 << (new % WORD))
        kept = bits.any(axis=1)
        if kept.any():
            lineage = [pa.array(np.ascontiguousarray(bits[kept, word]).view(np.int64)) for word in range(words)]
            values = rows.select(names).filter(pa.array(kept))
            yield pa.RecordBatch.from_arrays(
                [*values.columns, *lineage], names=[*names, *map(word_column, range(words))]
            )
