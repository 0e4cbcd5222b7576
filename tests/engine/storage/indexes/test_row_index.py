"""Rows that a change takes back and that are not there, beside a Counter; over few and over many rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

import pyarrow as pa
import pytest

from workbench.engine.storage.bucketed import BucketedWriter
from workbench.engine.storage.buckets import BucketKey, bucket_key, buckets_of_tasks
from workbench.engine.storage.indexes.row_index import UnknownRows
from workbench.engine.storage.job_input import InputRows, TaskInput
from workbench.engine.storage.layout import WEIGHT
from workbench.engine.storage.segments import Run, remove_segments, write_segments
from workbench.limits import LIMITS, SESSION_LIMITS, Limits

Rows = list[tuple[tuple[int | None, str | None, float | None], int]]


def written(rows: Rows, folder: Path) -> Run:
    return write_segments(table_of(rows), folder)


def table_of(rows: Rows) -> pa.Table:
    columns = zip(*(row for row, _ in rows), strict=True)
    types = pa.int64(), pa.string(), pa.float64()
    arrays = [pa.array(values, type_) for values, type_ in zip(columns, types, strict=True)]
    weights = pa.array([weight for _, weight in rows], pa.int64())
    return pa.table([*arrays, weights], names=["n", "s", "x", WEIGHT])


@pytest.mark.slow
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
            for by in (None, bucket_key(["x", "s"])):
                for tasks in (1, 3):
                    assert sum(unknown(stored, segments, tasks, by)) == missing
            found[missing > 0] += 1
            if not missing:
                bag, stored = after, [*stored, segments]
    assert min(found.values()) > 20


def unknown(stored: Sequence[Run], change: Run, tasks: int, by: BucketKey | None) -> list[int]:
    """What each of some tasks finds."""
    told = TaskInput(1, (InputRows(change), *(InputRows((), run) for run in stored)), tasks=tasks)
    return [UnknownRows(("n", "s", "x"), by)(replace(told, task=task)) for task in range(tasks)]


def test_a_task_reads_what_may_have_rows_of_its_buckets(tmp_path: Path) -> None:
    by, tasks = bucket_key(["n"]), 4
    limits = replace(LIMITS, bytes_in_buckets=1)
    rows: Rows = [((n, "a", 0.5), 1) for n in range(1_000)]
    writer = BucketedWriter(str(tmp_path), limits, by, tasks)
    for batch in table_of(rows).to_batches():
        writer.add(batch)
    stored = tuple(writer.close())
    change = written([(row, -1) for row, _ in rows], tmp_path)
    own = buckets_of_tasks(tasks)[2]
    remove_segments(segment.path for segment in stored if not segment.buckets & own)
    told = TaskInput(1, (InputRows(change), InputRows((), stored)), task=2, tasks=tasks)
    assert UnknownRows(("n", "s", "x"), by)(told) == 0
    assert len({segment.buckets for segment in stored}) == tasks


def test_nothing_is_read_where_nothing_is_taken_back(tmp_path: Path) -> None:
    change = written([((1, "a", 0.5), 1)], tmp_path)
    assert UnknownRows(("a column that is not there",))(TaskInput(1, (InputRows(change),))) == 0
