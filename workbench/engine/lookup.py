"""The rows of some groups, found by key among all that piled up: what a grouped operator reads costs what changed.

Groups are looked up by the hash of their key. Where two keys have one hash, the rows of both are found, in the state,
among the operator's rows and among its parent's alike; so the other group leaves and enters as it was.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from workbench.engine.frames import one_row_a_task, tasks_of
from workbench.engine.key_index import Hashes, candidates, key_hashes
from workbench.engine.layout import conform
from workbench.engine.leaf import Leaf
from workbench.engine.note import Input, Note
from workbench.engine.segments import Segment, open_segment, read_share, shares
from workbench.engine.worker import settle

ROWS = 65_536
"""About so many rows are handed to Spark at a time."""


@dataclass(frozen=True)
class Lookup:
    """Finds the rows of groups.

    Attributes:
        groups: names of the key's columns where the groups stand, one row each; empty when there is but one group.
        rows: what is read of the rows that are found, and their keys, in the same order.
        note: says in each batch where to look: ``change`` has the groups, ``before`` the rows among which to look.
        position: of the input in the note.
    """

    groups: tuple[str, ...]
    rows: Leaf
    note: Note
    position: int

    def frame(self, spark: SparkSession, tasks: int) -> DataFrame:
        """The rows as a DataFrame that is made once and run in every batch."""
        lookup = self

        def found(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            settle()
            told = lookup.note.read()[1][lookup.position]
            for task in tasks_of(batches):
                yield from lookup.found(told, task, tasks)

        return one_row_a_task(spark, tasks).mapInArrow(found, self.rows.spark)

    def found(self, told: Input, task: int = 0, tasks: int = 1) -> Iterator[pa.RecordBatch]:
        """One task's part of the rows, each once."""
        if not self.groups:
            yield from map(self.rows.own, read_share(shares(told.before, tasks)[task], self.rows.changed))
            return
        hashes = self._hashes(told.change)
        wanted = hashes[hashes % np.uint64(tasks) == task]
        for segment in told.before:
            batch = open_segment(segment.path)
            for _, at in candidates(segment.path, self.rows.key, wanted, ROWS, nulls=True):
                own = at[self.rows.has(batch, at)]
                yield conform(batch.select(self.rows.found.names).take(pa.array(own)), self.rows.found)

    def _hashes(self, groups: Iterable[Segment]) -> Hashes:
        opened = (open_segment(segment.path) for segment in groups)
        found = [key_hashes([batch.column(name) for name in self.groups], nulls=True)[0] for batch in opened]
        return np.unique(np.concatenate(found)) if found else np.zeros(0, dtype=np.uint64)
