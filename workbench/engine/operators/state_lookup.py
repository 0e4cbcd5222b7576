"""Look-up of groups by key, so that an aggregate reads only what is stored for the groups that changed.

Groups are looked up by the hash of their key, and what is found is compared by value, so groups whose keys have the
same hash are told apart. ``KeyedLookup`` is a step of its own job. ``StateLookup`` is a step in the middle of the job
that has grouped the change, where that job has one task.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession

from workbench.engine.spark.arrow_tasks import Batches, map_rows
from workbench.engine.storage.job_input import InputRows, JobInput
from workbench.engine.storage.key_index import Hashes, Key, KeyRanges, candidates, key_hashes
from workbench.engine.storage.layout import MEMBER, WEIGHT
from workbench.engine.storage.lineage import Mask, Positions
from workbench.engine.storage.scan import FusedScan, Scan
from workbench.engine.storage.segments import Segment, SegmentWriter, open_segment

ROWS = 65_536
"""About so many rows are handed to Spark at a time."""

ROLE = "_role"
"""Column: the kind of a row of ``StateLookup``."""
PARTS, STORED = 0, 1
"""The kinds: parts of a group's statistics, to be merged; a row of the operator as it was before the batch."""


@dataclass(frozen=True)
class KeyedLookup:
    """Finds the rows of groups.

    Attributes:
        groups: names of the key's columns among the groups, which have one row each; none where all rows are of one
            group, or of one for each fused operator.
        scan: what is read of the rows that are found; its keys match ``groups`` by position. A ``FusedScan`` finds for
            each group the rows that its operator reads.
    """

    groups: tuple[str, ...]
    scan: Scan | FusedScan

    def frame(self, spark: SparkSession, job_input: JobInput, position: int, tasks: int) -> DataFrame:
        """The rows, by a plan that can be kept: of the input at ``position`` the change has the groups."""
        return job_input.run(
            spark, tasks, lambda task: self.rows(task.inputs[position], task.task, tasks), self.scan.ddl
        )

    def rows(self, looked_up: InputRows, task: int = 0, tasks: int = 1) -> Batches:
        """One task's part of the rows, each once for each group it is in.

        Args:
            looked_up: ``change`` has the groups, ``before`` the rows among which they are looked up.
            task, tasks: the number of the task, from 0, and how many there are.
        """
        for segment in looked_up.change:
            yield from self.rows_of(open_segment(segment.path), looked_up.before, task, tasks)

    def rows_of(self, groups: pa.RecordBatch, segments: Iterable[Segment], task: int = 0, tasks: int = 1) -> Batches:
        """One task's part of the rows of some groups."""
        hashes = key_hashes([groups.column(name) for name in self.groups or (MEMBER,)], nulls=True)[0]
        mine = np.flatnonzero(hashes % np.uint64(tasks) == task)
        mine = mine[np.argsort(hashes[mine])]
        for segment in segments:
            yield from self._rows_in(segment, groups, mine, hashes[mine])

    def _rows_in(self, segment: Segment, groups: pa.RecordBatch, mine: Positions, hashes: Hashes) -> Batches:
        """The rows of a segment that are in some of the groups."""
        batch = open_segment(segment.path)
        for asked, at in self._candidates(hashes, segment):
            group = mine[asked]
            same = _same(groups, self.groups, group, batch, self.scan.key_columns, at)
            group, at = group[same], at[same]
            match self.scan:
                case Scan() as scan:
                    yield scan.take(batch, at[scan.belong(batch, at)])
                case FusedScan() as scan:
                    members = groups.column(MEMBER).to_numpy(zero_copy_only=False)[group]
                    read = scan.belong(batch, at, members)
                    yield scan.take(batch, at[read], members[read])

    def _candidates(self, hashes: Hashes, segment: Segment) -> Iterator[tuple[Positions, Positions]]:
        if self.groups:
            key = Key(self.scan.key_columns, nulls=True)
            yield from candidates(segment.path, key, KeyRanges.equal(hashes), ROWS)
            return
        for group in range(len(hashes)):
            for first in range(0, segment.rows, ROWS):
                at = np.arange(first, min(segment.rows, first + ROWS))
                yield np.full(len(at), group), at


def _same(
    groups: pa.RecordBatch,
    names: Sequence[str],
    group: Positions,
    rows: pa.RecordBatch,
    key: Sequence[str],
    at: Positions,
) -> Mask:
    """Whether keys are equal as groups are: NULL equals NULL and NaN equals NaN, in all their columns."""
    same = np.ones(len(at), dtype=bool)
    for name, column in zip(names, key, strict=True):
        left, right = groups.column(name).take(pa.array(group)), rows.column(column).take(pa.array(at))
        equal = pc.fill_null(pc.equal(left, right), False)
        if left.null_count or right.null_count:
            equal = pc.or_(equal, pc.and_(left.is_null(), right.is_null()))
        if pa.types.is_floating(left.type):
            equal = pc.or_(equal, pc.fill_null(pc.and_(pc.is_nan(left), pc.is_nan(right)), False))
        same &= equal.to_numpy(zero_copy_only=False)
    return same


@dataclass(frozen=True)
class StateLookup:
    """Writes down groups that pass by, as a change of the state, and adds what is stored for them.

    Attributes:
        state: what is looked up in the state: keys and parts.
        stored: what is looked up among the operator's rows: all of their columns.
        job_input: has the rows among which is looked up.
        position: of the state in the job's input; the operator's rows are the next.
        folder: where the groups are written.
    """

    state: Scan
    stored: Scan
    job_input: JobInput
    position: int
    folder: str

    def frame(self, groups: DataFrame) -> DataFrame:
        """Groups, one row each with keys and parts, and what is stored for them: a plan for one task.

        Columns: keys, parts, the operator's values before the batch (``value_before``), ``_role``, ``_weight``.
        """
        parts = [f"`{name}` {type_}" for name, type_ in self.state.types]
        keys = self.stored.key_columns
        values = [f"`{value_before(name)}` {type_}" for name, type_ in self.stored.types if name not in keys]
        schema = ", ".join([*parts, *values, f"{ROLE} int", f"{WEIGHT} bigint"])
        return map_rows(groups, lambda batches: self._rows(batches, self.job_input.task_mark()), schema)

    def _rows(self, batches: Batches, mark: str) -> Batches:
        """The groups and what is stored for them; names of files that are written begin with ``mark``."""
        state, stored = self.job_input.read().inputs[self.position :]
        lookups = [(self.state, PARTS, state.before), (self.stored, STORED, stored.before)]
        writer = SegmentWriter(self.folder, mark)
        for groups in batches:
            if not groups.num_rows:
                continue
            writer.add(groups)
            yield self._with_role(groups, PARTS)
            for scan, role, segments in lookups:
                for rows in KeyedLookup(scan.key_columns, scan).rows_of(groups, segments):
                    yield self._with_role(rows, role)
        writer.close()

    def _with_role(self, rows: pa.RecordBatch, role: int) -> pa.RecordBatch:
        """Rows of a kind with the columns of both kinds; those of the other kind are NULL."""
        own, keys = (self.state if role == PARTS else self.stored).schema.names, self.state.key_columns
        parts, values = list(self.state.schema), [f for f in self.stored.schema if f.name not in keys]

        def column(field: pa.Field, kind: int) -> pa.Array:
            # A part may be called like the value that is computed from it, so the kind decides.
            present = field.name in own and (field.name in keys or kind == role)
            return rows.column(field.name).cast(field.type) if present else pa.nulls(len(rows), field.type)

        columns = [column(field, PARTS) for field in parts] + [column(field, STORED) for field in values]
        names = [*(field.name for field in parts), *(value_before(field.name) for field in values)]
        roles = pa.array(np.full(len(rows), role, dtype=np.int32))
        return pa.RecordBatch.from_arrays([*columns, roles, rows.column(WEIGHT)], names=[*names, ROLE, WEIGHT])


def value_before(name: str) -> str:
    """The column with an operator's value as it was before the batch."""
    return f"was {name}"
