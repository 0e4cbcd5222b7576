"""The pass a local tree's rows take: set their lineage, drop those nobody wants, write them, count.

One Spark job does a tree's whole batch: Spark computes the root's rows and the tested expressions, this pass runs over
them in Arrow batches in Spark's Python workers. It writes the rows to segments by itself and gives back only their
names and counts, so that a delta of any size never travels through the driver, and is on disk before anyone uses it.
What counts is what a task's answer names: what a failed or lost task wrote is never read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame

from workbench.engine.physical.grouped_filter import GroupedFilter
from workbench.engine.storage.lineage import count_bits, patterns
from workbench.engine.storage.job_input import JobInput
from workbench.engine.spark.arrow_tasks import settle_worker
from workbench.engine.storage.layout import BATCH, WEIGHT
from workbench.engine.storage.lineage import word_column
from workbench.engine.storage.segments import Segment, SegmentWriter
from workbench.engine.storage.job_input import mark_of_task
from workbench.engine.storage.segments import segments_marked

_ANSWER = "path string, rows bigint, checksum bigint, rows_in bigint, counts binary, beside boolean"


@dataclass(frozen=True)
class Delta:
    """The rows one pass wrote: the changes of a tree in one batch.

    ``counts[bit]`` is the number of rows with that bit, and after all words of bits come the numbers of rows with each
    of the filter's combinations; ``rows_in`` what the root produced before the filter. ``beside``: segments of other
    rows that the same task had written on the way.
    """

    segments: tuple[Segment, ...] = ()
    rows_in: int = 0
    counts: tuple[int, ...] = field(default=())
    beside: tuple[Segment, ...] = ()

    @property
    def rows(self) -> int:
        """How many there are."""
        return sum(segment.rows for segment in self.segments)

    def count(self, bit: int) -> int:
        """Rows with the bit, or the combination."""
        return self.counts[bit] if bit < len(self.counts) else 0


NO_CHANGE = Delta()


def filter_and_write_plan(rows: DataFrame, grouped: GroupedFilter, kept: Iterable[str], folder: str, now: JobInput | None) -> DataFrame:
    """The pass over a root's rows; ``run_pass`` runs it, as one job.

    Args:
        rows: the kept columns, ``_batch``, ``_weight`` and the filter's tested expressions.
        grouped: the tree's selections.
        kept: names of the columns to write besides ``_batch`` and ``_weight``.
        folder: where segments go; every worker must reach it.
        now: tells the batch of all rows, instead of their own ``_batch``.
    """
    return rows.mapInArrow(_writer(grouped, (*kept, BATCH, WEIGHT), folder, now), _ANSWER)


def run_filter_and_write(plan: DataFrame) -> Delta:
    """Run a pass."""
    answers = plan.collect()
    counts = sum((np.frombuffer(a.counts, dtype=np.int64) for a in answers), start=np.zeros(1, dtype=np.int64))
    return Delta(
        tuple(Segment(a.path, a.rows, a.checksum) for a in answers if a.rows and not a.beside),
        sum(a.rows_in for a in answers),
        tuple(int(c) for c in np.atleast_1d(counts)),
        tuple(Segment(a.path, a.rows, a.checksum) for a in answers if a.beside),
    )


def _writer(
    grouped: GroupedFilter, columns: tuple[str, ...], folder: str, now: JobInput | None
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    words = len(grouped.always)

    def write(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        settle_worker()
        number = None if now is None else now.read()[0]
        counts = np.zeros(64 * words + len(grouped.combinations), dtype=np.int64)
        rows_in = 0
        writer = SegmentWriter(folder)
        for batch in batches:
            rows_in += batch.num_rows
            if number is not None:
                batch = batch.append_column(BATCH, pa.array(np.full(batch.num_rows, number, dtype=np.int32)))
            if not batch.num_rows:
                continue
            bits = grouped.lineage(batch)
            lineages, which, rows = patterns(bits)
            combined = grouped.combined(lineages)
            good = np.asarray((lineages & grouped.keep).any(axis=1) | combined.any(axis=1))
            if not good.any():
                continue
            wanted = good[which]
            bits = bits[wanted]
            rows = np.where(good, rows, 0)
            kept = batch.select(columns).filter(pa.array(wanted))
            lineage = [pa.array(np.ascontiguousarray(bits[:, word]).view(np.int64)) for word in range(words)]
            names = [*columns, *map(word_column, range(words))]
            writer.add(pa.RecordBatch.from_arrays([*kept.columns, *lineage], names=names))
            counts += np.concatenate([count_bits(lineages, rows), rows @ combined])
        written = writer.close()
        yield _answer(Segment("", 0), rows_in, counts)
        for segment in written:
            yield _answer(segment, 0, counts * 0)
        if now is not None:
            for segment in segments_marked(mark_of_task(now), folder):
                yield _answer(segment, 0, counts * 0, beside=True)

    return write


def _answer(
    segment: Segment, rows_in: int, counts: np.ndarray[tuple[int], np.dtype[np.int64]], beside: bool = False
) -> pa.RecordBatch:
    about = {"path": [segment.path], "rows": [segment.rows], "checksum": pa.array([segment.checksum], pa.int64())}
    values = {"rows_in": [rows_in], "counts": [counts.tobytes()], "beside": [beside]}
    return pa.RecordBatch.from_pydict(about | values)
