"""Rows by their position: Spark gets some columns of stored rows, and the others join what it computed from them.

The change of a job's input is in segments. A row's position is its number among the rows of all of them, in their
order, from 0: whichever task has the position finds the row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from workbench.engine.spark.arrow_tasks import ArrowBatches
from workbench.engine.storage.grouping import Positions
from workbench.engine.storage.job_input import JobInput
from workbench.engine.storage.layout import conform
from workbench.engine.storage.segments import Segment, open_segment, read_share, shares

POSITION = "_position"
"""Column: the row's position."""


@dataclass(frozen=True)
class PositionedRows:
    """The rows that the first input of a job has as its change.

    Attributes:
        job_input: says in which segments they are.
        schema: of the rows.
        tasks: how many tasks read them.
    """

    job_input: JobInput
    schema: pa.Schema
    tasks: int

    def read(self, task: int) -> ArrowBatches:
        """A task's rows, with all columns."""
        yield from read_share(shares(self._segments, self.tasks)[task], self.schema, self.job_input.limits)

    def operands(self, task: int, names: Sequence[str]) -> ArrowBatches:
        """A task's rows: their positions, and some columns."""
        segments = self._segments
        first = dict(zip((segment.path for segment in segments), _starts(segments), strict=True))
        for path, start, rows in shares(segments, self.tasks)[task]:
            at = first[path] + start
            for batch in read_share([(path, start, rows)], self.schema, self.job_input.limits):
                positions = pa.array(np.arange(at, at + batch.num_rows))
                at += batch.num_rows
                columns = [positions, *(batch.column(name) for name in names)]
                yield pa.RecordBatch.from_arrays(columns, names=[POSITION, *names])

    def whole(self, batches: ArrowBatches) -> ArrowBatches:
        """Rows with all their columns, from batches with ``POSITION``, whose other columns are added."""
        segments = self._segments
        starts = _starts(segments)
        for batch in batches:
            positions = batch.column(POSITION).to_numpy()
            for first, rows in _stretches(positions, starts):
                segment = np.searchsorted(starts, positions[first], side="right") - 1
                stored = open_segment(segments[segment].path).slice(positions[first] - starts[segment], rows)
                computed = batch.drop_columns([POSITION]).slice(first, rows)
                columns = [*conform(stored, self.schema).columns, *computed.columns]
                yield pa.RecordBatch.from_arrays(columns, names=[*self.schema.names, *computed.schema.names])

    @property
    def _segments(self) -> Sequence[Segment]:
        return self.job_input.read().inputs[0].change


def _starts(segments: Sequence[Segment]) -> Positions:
    """The position of each segment's first row."""
    return np.cumsum([0, *(segment.rows for segment in segments)])[:-1]


def _stretches(positions: Positions, starts: Positions) -> Iterator[tuple[int, int]]:
    """Rows that lie side by side in one segment: the first of them, and how many they are.

    Example:
        >>> list(_stretches(np.array([3, 4, 5, 9]), np.array([0, 5])))
        [(0, 2), (2, 1), (3, 1)]
    """
    if not len(positions):
        return
    segment = np.searchsorted(starts, positions, side="right")
    ends = np.flatnonzero((np.diff(positions) != 1) | (np.diff(segment) != 0)) + 1
    for first, end in zip([0, *ends], [*ends, len(positions)], strict=True):
        yield int(first), int(end - first)
