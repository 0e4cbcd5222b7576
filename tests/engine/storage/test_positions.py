"""Rows by their position: what Spark computes from some columns meets the others again, however rows are cut."""

from __future__ import annotations

from itertools import chain, pairwise
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest

from workbench.engine.storage.job_input import InputRows, JobInput
from workbench.engine.storage.positions import POSITION, PositionedRows
from workbench.engine.storage.segments import write_segments

SCHEMA = pa.schema([("a", pa.int64()), ("b", pa.string()), ("_weight", pa.int64())])


@pytest.mark.parametrize("seed", range(6))
def test_all_columns_of_a_row_meet_again(tmp_path: Path, seed: int) -> None:
    random = Random(seed)
    values: list[dict[str, Any]] = [{"a": n, "b": random.choice(["x", "y", None]), "_weight": 1} for n in range(40)]
    cuts = [0, *sorted(random.sample(range(1, 40), seed)), 40]
    tables = [pa.Table.from_pylist(values[low:high], SCHEMA) for low, high in pairwise(cuts)]
    segments = tuple(chain.from_iterable(write_segments(table, tmp_path) for table in tables))
    rows = PositionedRows(JobInput("now"), SCHEMA, random.choice([1, 2, 3]))
    rows.job_input.set(1, [InputRows(segments)])
    back = []
    for task in range(rows.tasks):
        assert [row for batch in rows.read(task) for row in batch.to_pylist()]
        read = pa.Table.from_batches(list(rows.operands(task, ["a"])))
        assert read.column_names == [POSITION, "a"]
        computed = pa.table({POSITION: read[POSITION], "twice": [2 * a for a in read["a"].to_pylist()]})
        batches = computed.combine_chunks().to_batches(max_chunksize=random.randint(1, 50))
        back += [row for batch in rows.whole(iter(batches)) for row in batch.to_pylist()]
    assert sorted(back, key=lambda row: row["a"]) == [{**row, "twice": 2 * row["a"]} for row in values]


def test_an_expression_without_operands_needs_positions_alone(tmp_path: Path) -> None:
    segments = write_segments(pa.Table.from_pylist([{"a": 1, "b": "x", "_weight": 1}], SCHEMA), tmp_path)
    rows = PositionedRows(JobInput("now"), SCHEMA, 1)
    rows.job_input.set(1, [InputRows(segments)])
    (batch,) = rows.operands(0, [])
    assert batch.to_pydict() == {POSITION: [0]}
    (whole,) = rows.whole(iter([batch]))
    assert whole.to_pylist() == [{"a": 1, "b": "x", "_weight": 1}]
