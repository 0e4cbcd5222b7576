"""Filter-and-write: set the lineage of a root's rows, drop rows that no node keeps, write the others, and count them.

One Spark job does a tree's whole batch: Spark computes the root's rows and the tested expressions, and this step runs
over them in Arrow batches in Spark's Python workers. It writes the rows to segments by itself and answers with their
names and counts alone. So a delta of any size never travels through the driver, and is on disk before it is read. Only
the segments that a task's answer names count: what a failed or lost task wrote is never read.

In: change (a Z-set) of the root. Out: change of the tree, each row with its lineage. Selections are linear, so
Δσ(P) = σ(ΔP) with weights as they are (Budiu et al., DBSP).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame

from workbench.engine.physical.grouped_filter import GroupedFilter
from workbench.engine.spark.arrow_tasks import Batches, map_rows
from workbench.engine.storage.grouping import Positions
from workbench.engine.storage.job_input import JobInput
from workbench.engine.storage.layout import BATCH, WEIGHT
from workbench.engine.storage.lineage import WORD_BITS, count_bits, patterns, word_arrays, word_column
from workbench.engine.storage.relation import Delta
from workbench.engine.storage.segments import Segment, SegmentWriter, segments_marked

_ANSWER = "path string, rows bigint, checksum bigint, rows_in bigint, counts binary, of_state boolean"


def filter_and_write_plan(rows: DataFrame, step: Callable[[Batches], Batches]) -> DataFrame:
    """The plan that passes rows through a step that ends with ``filter_and_write``; it is run as one job."""
    return map_rows(rows, step, _ANSWER)


@dataclass(frozen=True)
class FilterAndWrite:
    """The step over a root's rows.

    In: the kept columns, ``_weight``, ``_batch`` unless ``job_input`` has it, and the filter's tested expressions.

    Attributes:
        grouped: the tree's selections.
        kept: names of the columns to write besides ``_batch`` and ``_weight``.
        folder: of the segments; every worker must reach it.
        job_input: has the batch of all rows, instead of their own ``_batch``.
    """

    grouped: GroupedFilter
    kept: tuple[str, ...]
    folder: str
    job_input: JobInput | None

    def __call__(self, batches: Batches) -> Batches:
        """Write the rows; the answers that ``run_filter_and_write`` reads."""
        grouped, columns, words = self.grouped, (*self.kept, BATCH, WEIGHT), len(self.grouped.always)
        number = None if self.job_input is None else self.job_input.read().batch
        counts = np.zeros(WORD_BITS * words + len(grouped.combinations), dtype=np.int64)
        rows_in = 0
        writer = SegmentWriter(self.folder)
        for batch in batches:
            rows_in += batch.num_rows
            if number is not None:
                batch = batch.append_column(BATCH, pa.array(np.full(batch.num_rows, number, dtype=np.int32)))
            if not batch.num_rows:
                continue
            bits = grouped.lineage(batch)
            lineages, which, occurrences = patterns(bits)
            combined = grouped.combined(lineages)
            good = np.asarray((lineages & grouped.keep).any(axis=1) | combined.any(axis=1))
            if not good.any():
                continue
            keep = good[which]
            values = batch.select(columns).filter(pa.array(keep))
            names = [*columns, *map(word_column, range(words))]
            writer.add(pa.RecordBatch.from_arrays([*values.columns, *word_arrays(bits[keep])], names=names))
            occurrences = np.where(good, occurrences, 0)
            counts += np.concatenate([count_bits(lineages, occurrences), occurrences @ combined])
        segments = writer.close()
        yield _answer(Segment("", 0), rows_in, counts)
        for segment in segments:
            yield _answer(segment, 0, counts * 0)
        if self.job_input is not None:
            for segment in segments_marked(self.job_input.task_mark(), self.folder):
                yield _answer(segment, 0, counts * 0, of_state=True)


def run_filter_and_write(plan: DataFrame) -> Delta:
    """Run a plan of ``filter_and_write_plan``."""
    answers = plan.collect()
    counts = sum((np.frombuffer(a.counts, dtype=np.int64) for a in answers), start=np.zeros(1, dtype=np.int64))
    return Delta(
        tuple(Segment(a.path, a.rows, a.checksum) for a in answers if a.rows and not a.of_state),
        sum(a.rows_in for a in answers),
        tuple(int(c) for c in np.atleast_1d(counts)),
        tuple(Segment(a.path, a.rows, a.checksum) for a in answers if a.of_state),
    )


def _answer(segment: Segment, rows_in: int, counts: Positions, of_state: bool = False) -> pa.RecordBatch:
    columns = {"path": [segment.path], "rows": [segment.rows], "checksum": pa.array([segment.checksum], pa.int64())}
    numbers = {"rows_in": [rows_in], "counts": [counts.tobytes()], "of_state": [of_state]}
    return pa.RecordBatch.from_pydict(columns | numbers)
