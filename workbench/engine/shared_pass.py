"""The pass a local tree's rows take: set their lineage, drop those nobody wants, write them, count.

One Spark job does a tree's whole batch: Spark computes the root's rows and the tested expressions, this pass runs over
them in Arrow batches in Spark's Python workers. It writes the rows to Parquet files by itself and gives back only file
names and counts, so that a delta of any size never travels through the driver, and is on disk before anyone uses it.
A file is named by a random id, and counts only when its task's answer arrives: what a failed or lost task wrote is
never read.
"""

from __future__ import annotations

import gc
import re
import uuid
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame

from workbench.engine.lineage import GroupedFilter, count_bits

BATCH = "_batch"
"""Column: the batch that brought the change."""
WEIGHT = "_weight"
"""Column: the change's weight in the Z-set."""

RESERVED_NAME = re.compile(r"_(batch|weight|branch|copy|rows\d*|bits\d+|t\d+)|.*`.*")
"""Column names a stream may not have: those used beside the rows' own, and any with a backtick, which ends a name."""

_ANSWER = "file string, rows bigint, rows_in bigint, bytes bigint, counts binary"


def word_column(word: int) -> str:
    """The column that holds bits 64·word … 64·word+63 of the lineage."""
    return f"_bits{word}"


@dataclass(frozen=True)
class Delta:
    """The rows one pass wrote: the changes of a tree in one batch, as files.

    ``counts[bit]`` is the number of rows with that bit, and after all words of bits come the numbers of rows with each
    of the filter's combinations; ``rows_in`` what the root produced before the filter.
    """

    files: tuple[str, ...] = ()
    rows: int = 0
    rows_in: int = 0
    bytes: int = 0
    counts: tuple[int, ...] = field(default=())

    def count(self, bit: int) -> int:
        """Rows with the bit, or the combination."""
        return self.counts[bit] if bit < len(self.counts) else 0

    def read(self) -> pa.Table:
        """All rows, into the driver: only for a delta known to be small."""
        return pa.concat_tables([pq.read_table(file) for file in self.files])


NO_CHANGE = Delta()


def settle() -> None:
    """Called by what runs in a Python worker: what is loaded by now is left out of garbage collection.

    PySpark collects garbage after every task, and with numpy and pyarrow loaded that takes 25 ms.
    """
    if not gc.get_freeze_count():
        gc.freeze()


def run_pass(
    rows: DataFrame, grouped: GroupedFilter, kept: Iterable[str], folder: Path, tasks: int, batch: int | None = None
) -> Delta:
    """Run the pass over a root's rows as one Spark job.

    Args:
        rows: the kept columns, ``_batch``, ``_weight`` and the filter's tested expressions.
        grouped: the tree's selections.
        kept: names of the columns to write besides ``_batch`` and ``_weight``.
        folder: where files go; every worker must reach it.
        tasks: at most so many tasks.
        batch: the batch of all rows, instead of their own ``_batch``. As a literal in the plan it would make Spark
            compile the whole stage again in every batch.
    """
    write = _writer(grouped, (*kept, BATCH, WEIGHT), str(folder), batch)
    answers = rows.coalesce(tasks).mapInArrow(write, _ANSWER).collect()
    counts = sum((np.frombuffer(a.counts, dtype=np.int64) for a in answers), start=np.zeros(1, dtype=np.int64))
    written = [a for a in answers if a.rows]
    return Delta(
        tuple(a.file for a in written),
        sum(a.rows for a in answers),
        sum(a.rows_in for a in answers),
        sum(a.bytes for a in answers),
        tuple(int(c) for c in np.atleast_1d(counts)),
    )


def _writer(
    grouped: GroupedFilter, columns: tuple[str, ...], folder: str, number: int | None
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    words = len(grouped.always)

    def write(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        settle()
        path = f"{folder}/{uuid.uuid4().hex}.parquet"
        counts = np.zeros(64 * words + len(grouped.combinations), dtype=np.int64)
        rows = rows_in = 0
        writer: pq.ParquetWriter | None = None
        for batch in batches:
            rows_in += batch.num_rows
            if number is not None:
                batch = batch.append_column(BATCH, pa.array(np.full(batch.num_rows, number, dtype=np.int32)))
            bits = grouped.lineage(batch)
            combined = grouped.combined(bits)
            wanted = (bits & grouped.keep).any(axis=1) | combined.any(axis=1)
            if not wanted.any():
                continue
            bits = bits[wanted]
            kept = batch.select(columns).filter(pa.array(wanted))
            lineage = [pa.array(np.ascontiguousarray(bits[:, word]).view(np.int64)) for word in range(words)]
            names = [*columns, *map(word_column, range(words))]
            out = pa.RecordBatch.from_arrays([*kept.columns, *lineage], names=names)
            if writer is None:
                writer = pq.ParquetWriter(path, out.schema, compression="zstd")
            writer.write_batch(out)
            counts += np.concatenate([count_bits(bits), combined.sum(axis=0, dtype=np.int64)])
            rows += out.num_rows
        size = 0
        if writer is not None:
            writer.close()
            size = Path(path).stat().st_size
        yield pa.RecordBatch.from_pydict(
            {"file": [path], "rows": [rows], "rows_in": [rows_in], "bytes": [size], "counts": [counts.tobytes()]}
        )

    return write
