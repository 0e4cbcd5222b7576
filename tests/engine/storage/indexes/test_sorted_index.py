"""Rows found by their times."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from workbench.engine.storage.indexes.sorted_index import rows_within
from workbench.engine.storage.segments import write_segments
from workbench.sql.windows.bounds import Interval


def test_an_index_without_rows(tmp_path: Path) -> None:
    (written,) = write_segments(pa.table({"d": pa.array([None, None], pa.date32())}), tmp_path)
    assert len(rows_within(written.path, "d", [Interval(0, 10)])) == 0
