"""Rows found by their times."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from workbench.engine.storage.indexes import sorted_index
from workbench.engine.storage.indexes.sorted_index import index_columns, rows_within
from workbench.engine.storage.segments import write_segments
from workbench.limits import SESSION_LIMITS, Limits
from workbench.sql.windows.bounds import Interval


def test_an_index_without_rows(tmp_path: Path) -> None:
    (written,) = write_segments(pa.table({"d": pa.array([None, None], pa.date32())}), tmp_path)
    assert len(rows_within(written.path, "d", [Interval(0, 10)])) == 0


def test_an_index_of_another_version_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may have other hashes; one of this version is read whatever would be made."""
    rows = pa.table({"n": range(SESSION_LIMITS.of(str(tmp_path)).rows_indexed_in_memory + 1)})
    (written,) = write_segments(rows, tmp_path, Limits(bytes_per_part=0))

    def read(made: int) -> int:
        (numbers,) = index_columns(written.path, "k", lambda: [np.array([made])])
        return int(numbers[0])

    assert (read(1), read(2)) == (1, 1)
    monkeypatch.setattr(sorted_index, "_VERSION", 0)
    assert (read(3), read(4)) == (3, 3)
