"""Rows found by their times."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from workbench.engine.storage.indexes.sorted_index import IndexesInMemory, rows_within
from workbench.engine.storage.segments import write_segments
from workbench.limits import SESSION_LIMITS, Limits
from workbench.sql.windows.bounds import Interval


def test_an_index_without_rows(tmp_path: Path) -> None:
    (written,) = write_segments(pa.table({"d": pa.array([None, None], pa.date32())}), tmp_path)
    assert len(rows_within(written.path, "d", [Interval(0, 10)])) == 0


def test_indexes_in_memory_take_no_more_than_their_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SESSION_LIMITS, "otherwise", Limits(bytes_indexed_in_process=10_000))
    indexes = IndexesInMemory()
    made = {f"s{at}": [np.arange(100), np.arange(100)] for at in range(9)}
    for segment, columns in made.items():
        assert indexes.add((segment, "k"), columns) is columns
        assert indexes.get(("s0", "k")) is made["s0"]  # asked for all the time, so it stays
    there = [segment for segment in made if indexes.get((segment, "k")) is not None]
    assert there == ["s0", "s5", "s6", "s7", "s8"]  # 1,800 bytes each
    assert indexes.get(("s8", "other")) is None
    indexes.forget("another")
    assert indexes.get(("s8", "k")) is not None
    indexes.forget("")
    assert indexes.get(("s8", "k")) is None
