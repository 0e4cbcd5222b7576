"""Rows of a file are those of its rows, whatever was read before, also where another file has taken its place."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq

from workbench.streams.row_groups import read_rows


def test_rows_within_a_group_and_over_several(tmp_path: Path) -> None:
    file, random = str(tmp_path / "rows.parquet"), Random(1)
    for written, rows in enumerate((103, 40, 0)):
        table = pa.table({"a": range(rows), "b": [f"{written} {at}" for at in range(rows)]})
        pq.write_table(table, file, row_group_size=10)
        os.utime(file, ns=(written, written))
        for _ in range(60 if rows else 0):
            start = random.randrange(rows)
            stop = random.randint(start, min(rows, start + random.choice([5, 25])))
            names = random.choice([["a", "b"], ["b"]])
            read = read_rows(file, start, stop, partial(_these, names))
            assert read.equals(table.slice(start, stop - start).select(names))


def _these(names: list[str], schema: pa.Schema) -> list[str]:
    return names
