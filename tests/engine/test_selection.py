"""Rows of segments that were written before a query asked for one of their columns."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from workbench.engine.selection import rows_with_any
from workbench.engine.storage.segments import write_segments
from workbench.limits import Limits
from workbench.sql.algebra.expressions import Call, Column
from workbench.sql.algebra.types import INTEGER, STRING

SCHEMA = pa.schema([("n", pa.int64()), ("twice", pa.int64()), ("other", pa.string()), ("_bits0", pa.int64())])


def test_a_file_that_lacks_a_computed_column_has_it_computed(tmp_path: Path) -> None:
    twice = Call("+", (Column("n", INTEGER), Column("n", INTEGER)), INTEGER)
    before = write_segments(pa.table({"n": [1, None, 3], "_bits0": [1, 1, 2]}), tmp_path)
    after = write_segments(pa.table({"n": [4], "twice": [8], "other": ["x"], "_bits0": [1]}), tmp_path)
    none = write_segments(pa.table({"_bits0": [1]}), tmp_path)  # nor what it is computed from
    rows = rows_with_any([*before, *after, *none], SCHEMA, [frozenset({0})], Limits(), {"twice": twice})
    assert rows is not None
    assert rows.to_pydict() == {
        "n": [1, None, 4, None],
        "twice": [2, None, 8, None],
        "other": [None, None, "x", None],
        "_bits0": [1, 1, 1, 1],
    }


def test_without_a_kernel_spark_reads_them(tmp_path: Path) -> None:
    unknown = Call("no such function", (Column("n", INTEGER),), STRING)
    before = write_segments(pa.table({"n": [1], "_bits0": [1]}), tmp_path)
    assert rows_with_any(before, SCHEMA, [frozenset({0})], Limits(), {"other": unknown}) is None


@pytest.mark.parametrize("together", [0, 3, 100])
def test_small_files_are_read_together(tmp_path: Path, together: int) -> None:
    files = [
        segment
        for i in range(6)
        for segment in write_segments(pa.table({"n": [i, i + 10], "_bits0": [1, 1 + i % 2]}), tmp_path)
    ]
    files += write_segments(pa.table({"n": [6], "other": ["x"], "_bits0": [1]}), tmp_path)
    limits = Limits(rows_chosen_together=together)
    rows = rows_with_any(files, SCHEMA, [frozenset({0})], limits)
    assert rows is not None
    assert rows.column("n").to_pylist() == [0, 10, 1, 2, 12, 3, 4, 14, 5, 6]
    assert rows.column("other").to_pylist() == [None] * 9 + ["x"]
    first = rows_with_any(files, SCHEMA, [frozenset({0})], limits, first=3)
    assert first is not None and first.column("n").to_pylist() == [0, 10, 1]
