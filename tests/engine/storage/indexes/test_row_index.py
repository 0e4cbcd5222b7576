"""Rows that a change takes back and that are not there, beside a Counter; over few and over many rows."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random

import pyarrow as pa
import pytest

from workbench.engine.storage.indexes.row_index import UnknownRows, taken_back_unknown
from workbench.engine.storage.job_input import InputRows, TaskInput
from workbench.engine.storage.layout import WEIGHT
from workbench.engine.storage.segments import Run, write_segments
from workbench.limits import SESSION_LIMITS, Limits

Rows = list[tuple[tuple[int | None, str | None, float | None], int]]


def written(rows: Rows, folder: Path) -> Run:
    columns = zip(*(row for row, _ in rows), strict=True)
    types = pa.int64(), pa.string(), pa.float64()
    arrays = [pa.array(values, type_) for values, type_ in zip(columns, types, strict=True)]
    weights = pa.array([weight for _, weight in rows], pa.int64())
    return write_segments(pa.table([*arrays, weights], names=["n", "s", "x", WEIGHT]), folder)


@pytest.mark.parametrize("small", [0, 10_000], ids=["files", "memory"])
def test_rows_that_are_not_there(small: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SESSION_LIMITS, "otherwise", Limits(rows_indexed_in_memory=small))
    chosen, found = Random(5), Counter[bool]()
    for _ in range(60):
        bag: Counter[tuple[object, ...]] = Counter()
        stored: list[Run] = []
        for _ in range(4):
            kinds = [
                (chosen.choice([None, 1, 2]), chosen.choice([None, "", "a"]), chosen.choice([None, 0.0, -0.0]))
                for _ in range(6)
            ]
            change: Rows = [(kind, chosen.choice([1, 1, 2, -1])) for kind in kinds]
            after = bag + Counter()
            for row, weight in change:
                after[row] += weight
            missing = -sum(weight for weight in after.values() if weight < 0)
            # A run may have several segments, of which one alone is no bag of rows.
            segments = (*written(change[:3], tmp_path), *written(change[3:], tmp_path))
            assert taken_back_unknown(stored, segments, ("n", "s", "x")) == missing
            runs = (InputRows((), run) for run in stored)
            told = TaskInput(1, (InputRows(segments), *runs), tasks=3)
            assert sum(UnknownRows(("n", "s", "x"))(replace(told, task=task)) for task in range(3)) == missing
            found[missing > 0] += 1
            if not missing:
                bag, stored = after, [*stored, segments]
    assert min(found.values()) > 20


def test_nothing_is_read_where_nothing_is_taken_back(tmp_path: Path) -> None:
    change = written([((1, "a", 0.5), 1)], tmp_path)
    assert taken_back_unknown((), change, ("a column that is not there",)) == 0
