"""What was kept of the groups a change touches, found in the middle of the job that has grouped the change.

In one task the two steps of a grouped operator are one job: the groups come in, are written down as the change of the
state, and go out again with what the state and the operator's rows have of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame


from workbench.engine.storage.job_input import JobInput
from workbench.engine.spark.arrow_tasks import settle_worker
from workbench.engine.storage.layout import WEIGHT
from workbench.engine.storage.scan import Scan
from workbench.engine.storage.segments import SegmentWriter
from workbench.engine.storage.job_input import mark_of_task

ROLE = "_role"
"""Column: what a row is."""
PARTS, STORED = 0, 1
"""Parts of a group, to be merged; a row of the operator as it was before the batch."""


@dataclass(frozen=True)
class StateLookup:
    """Finds what was kept of groups.

    Attributes:
        state: what is looked up in the state: keys and parts.
        stored: what is looked up among the operator's rows: all of their columns.
        note: says where to look, and names the job.
        position: of the state in the note; that of the operator's rows is the next.
        folder: where the groups are written down.
    """

    state: Scan
    stored: Scan
    note: JobInput
    position: int
    folder: str

    def frame(self, groups: DataFrame) -> DataFrame:
        """Groups, one row each with keys and parts, with what was kept of them: a plan for one task.

        Columns: keys, parts, the operator's values before the batch (``was``), ``_role``, ``_weight``.
        """
        recall = self

        def recalled(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            settle_worker()
            yield from recall.recalled(batches, mark_of_task(recall.note))

        return groups.mapInArrow(recalled, self._columns)

    def recalled(self, batches: Iterable[pa.RecordBatch], task: str) -> Iterator[pa.RecordBatch]:
        """The groups and what was kept of them; ``task`` marks what is written."""
        kept = self.note.read()[1][self.position :]
        lookups = [(self.state, PARTS, kept[0].before), (self.stored, STORED, kept[1].before)]
        writer = SegmentWriter(self.folder, task)
        for groups in batches:
            if not groups.num_rows:
                continue
            writer.add(groups)
            yield self._tagged(groups, PARTS)
            for leaf, role, segments in lookups:
                lookup = KeyedLookup(leaf.key, leaf, self.note, 0)
                yield from (self._tagged(rows, role) for rows in lookup.of(groups, segments))
        writer.close()

    @property
    def _columns(self) -> str:
        values = [f"`{was(name)}` {type_}" for name, type_ in self.stored.types if name not in self.stored.key]
        parts = [f"`{name}` {type_}" for name, type_ in self.state.types]
        return ", ".join([*parts, *values, f"{ROLE} int", f"{WEIGHT} bigint"])

    def _tagged(self, rows: pa.RecordBatch, role: int) -> pa.RecordBatch:
        own = self.state.schema if role == PARTS else self.stored.schema
        fields = [*self.state.schema, *(field for field in self.stored.schema if field.name not in self.stored.key)]
        parts = len(self.state.schema)
        values = [
            # A part may be called like the value that is made of it.
            rows.column(field.name).cast(field.type)
            if field.name in own.names and (field.name in self.state.key or (at < parts) == (role == PARTS))
            else pa.nulls(len(rows), field.type)
            for at, field in enumerate(fields)
        ]
        names = [field.name if at < parts else was(field.name) for at, field in enumerate(fields)]
        mark = pa.array(np.full(len(rows), role, dtype=np.int32))
        return pa.RecordBatch.from_arrays([*values, mark, rows.column(WEIGHT)], names=[*names, ROLE, WEIGHT])


def was(value: str) -> str:
    """What the column is called that has an operator's value as it was before the batch."""
    return f"was {value}"
