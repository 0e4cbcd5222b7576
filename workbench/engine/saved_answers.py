"""An answer as a file: Spark's workers write its rows, and the driver puts them together, some at a time."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
from pyarrow import csv, parquet
from pyspark.sql import DataFrame

from workbench.engine.storage.frames import run_writing, writing_plan
from workbench.engine.storage.segments import read_share
from workbench.files.mapped import temporary_folder

Writer = Callable[[str, pa.Schema], parquet.ParquetWriter | csv.CSVWriter]

WRITERS: dict[str, Writer] = {".parquet": parquet.ParquetWriter, ".csv": csv.CSVWriter}
"""What writes a file, by the end of its name."""


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Where to write a file that is to be there whole or not at all; what was there before stays until then."""
    part = path.with_name(f"{path.name}.part")
    try:
        yield part
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def save_rows(rows: DataFrame, schema: pa.Schema, writer: Writer, path: Path, state: Path) -> int:
    """Write rows to a file; how many there are.

    Args:
        rows: what to write, its columns by position those of the schema.
        schema: names and types.
        writer: one of ``WRITERS``.
        path: of the file.
        state: a folder of the session that every worker reaches.

    Raises:
        OSError: the file cannot be written.
    """
    # Who may not write there has no cluster.
    place = state if os.access(state, os.W_OK) else None
    stored = pa.schema([pa.field(name, field.type) for name, field in zip(rows.columns, schema, strict=True)])
    with temporary_folder("saved-", place) as folder:
        segments = run_writing(writing_plan(rows, folder))
        with writer(str(path), schema) as file:
            for batch in read_share([(segment.path, 0, segment.rows) for segment in segments], stored):
                file.write_batch(pa.RecordBatch.from_arrays(batch.columns, schema=schema))
    return sum(segment.rows for segment in segments)
