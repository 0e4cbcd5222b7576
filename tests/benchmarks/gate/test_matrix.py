"""The rows of the cost matrix that are off the fast path are those that are known to be; a third in each run."""

from __future__ import annotations

import os
from pathlib import Path

from long import LONG

from benchmarks.gate.matrix import load, off_the_fast_path, write
from benchmarks.query_sets.kinds import kinds


def test_no_row_is_off_that_was_not() -> None:
    rows = kinds() if LONG else kinds()[int(os.environ["ARGUS_SEED"]) % 3 :: 3]
    assert not set(off_the_fast_path(rows)) - set(load()), "these fell off the fast path"


def test_the_list_names_rows_of_the_matrix() -> None:
    assert set(load()) <= {kind.name for kind in kinds()}


def test_what_is_written_is_read(tmp_path: Path) -> None:
    write(["MODE, few"], tmp_path / "off.json")
    assert load(tmp_path / "off.json") == ["MODE, few"]
