"""How often a row is there: the rows of a segment by the hash of all their columns, with sums of their weights.

An index of a segment has the hashes of its rows in order and, with each, the sum of the weights so far. So how often
the rows of a hash are there is a difference of two entries in each segment, also where rows were taken back. Runs are
looked at from the newest back, and for each row only until it is found: what older runs come to was a bag, too, which
has no row less than 0 times. Most rows that are taken back came lately, and older runs need no index.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from workbench.engine.storage.grouping import Positions
from workbench.engine.storage.indexes.key_index import Hashes, row_hashes
from workbench.engine.storage.indexes.sorted_index import index_columns
from workbench.engine.storage.job_input import TaskInput
from workbench.engine.storage.layout import WEIGHT
from workbench.engine.storage.segments import Run, Segment, open_segment


@dataclass(frozen=True)
class UnknownRows:
    """The work of a task that looks for its part of the rows that a change takes back and that are not there.

    Its first input is the change, and each of the others has a run of the rows before.

    Attributes:
        columns: of the rows.
    """

    columns: tuple[str, ...]

    def __call__(self, task: TaskInput) -> int:
        """How many it has found."""
        rows, *runs = task.inputs
        return taken_back_unknown([run.before for run in runs], rows.change, self.columns, task.task, task.tasks)


def taken_back_unknown(
    stored: Sequence[Run], change: Run, columns: tuple[str, ...], part: int = 0, parts: int = 1
) -> int:
    """How many rows a change takes back that are not there: 0 where the rows after it are a bag.

    Rows of one hash count as equal, so a collision may hide such a row, and never makes one up.

    Args:
        stored: the runs of the rows before, oldest first.
        change: the segments of the change.
        columns: of the rows.
        part, parts: of the hashes of rows that are looked at.
    """
    if not any((open_segment(segment.path).column(WEIGHT).to_numpy() < 0).any() for segment in change):
        return 0
    entries = [_entries(segment, columns) for segment in change]
    hashes = np.unique(np.concatenate([own for own, _ in entries]))
    weights = sum((_weights(own, through, hashes) for own, through in entries), start=np.zeros(len(hashes), np.int64))
    looked_at = (weights < 0) & (hashes % np.uint64(parts) == part)
    asked, weights = hashes[looked_at], weights[looked_at]
    for run in reversed(stored):
        for segment in run:
            weights = weights + _weights(*_entries(segment, columns), asked)
        asked, weights = asked[weights < 0], weights[weights < 0]
        if not len(asked):
            break
    return int(-weights.sum())


def _weights(hashes: Hashes, through: Positions, asked: Hashes) -> Positions:
    """The sum of the weights of each hash that is asked for."""
    sums = np.concatenate([np.zeros(1, dtype=np.int64), through])
    return sums[np.searchsorted(hashes, asked, side="right")] - sums[np.searchsorted(hashes, asked, side="left")]


def _entries(segment: Segment, columns: tuple[str, ...]) -> tuple[Hashes, Positions]:
    hashes, through = index_columns(
        segment.path, "\x00".join(("rows", *columns)), lambda: _index_of_segment(segment.path, columns)
    )
    return hashes, through


def _index_of_segment(segment: str, columns: tuple[str, ...]) -> tuple[Hashes, Positions]:
    rows = open_segment(segment)
    hashes, _ = row_hashes(rows, columns, nulls=True)
    order = np.argsort(hashes)
    return hashes[order], np.cumsum(rows.column(WEIGHT).to_numpy()[order])
