"""The rows of some groups are what grouping all rows finds: NULLs, zeros of both signs, lineage, segments, tasks."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pyarrow as pa
import pytest

from workbench.engine import lookup
from workbench.engine.key_index import key_hashes
from workbench.engine.layout import Layout
from workbench.engine.leaf import Leaf
from workbench.engine.lookup import Lookup
from workbench.engine.note import Input, Note
from workbench.engine.segments import write_segments
from workbench.sql.types import DOUBLE, INTEGER, STRING

LAYOUT = Layout({"g": DOUBLE, "s": STRING, "id": INTEGER}, words=1)
KEYS = [(None, None), (0.0, ""), (-0.0, ""), (float("nan"), "x"), (1.5, None), (None, "x"), (2.0, "é")]


def same(key: tuple[float | None, str | None]) -> tuple[str, str | None]:
    """What GROUP BY compares."""
    number, text = key
    return (repr(number + 0.0) if number is not None else "NULL", text)


def rows(random: Random, count: int) -> list[dict[str, object]]:
    chosen = [random.choice(KEYS) for _ in range(count)]
    marks = {"_batch": 1, "_weight": 1}
    return [{"g": g, "s": s, "id": i, **marks, "_bits0": random.choice([1, 2, 3])} for i, (g, s) in enumerate(chosen)]


@pytest.mark.parametrize("tasks", [1, 3])
@pytest.mark.parametrize("bit", [None, 0, 1])
@pytest.mark.parametrize("seed", range(4))
def test_the_rows_of_the_groups_are_found_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tasks: int, bit: int | None, seed: int
) -> None:
    monkeypatch.setattr(lookup, "ROWS", 5)
    random = Random(seed)
    stored = rows(random, 60)
    groups = random.sample(KEYS, 3)
    before = tuple(
        segment
        for first in range(0, 60, 25)
        for segment in write_segments(pa.Table.from_pylist(stored[first : first + 25], LAYOUT.arrow), tmp_path)
    )
    touched = pa.table({"g": pa.array([g for g, _ in groups], pa.float64()), "s": [s for _, s in groups]})
    told = Input(write_segments(touched, tmp_path), before)
    found = Lookup(("g", "s"), Leaf.of(LAYOUT, ["id"], ["g", "s"], bit), Note("unused"), 0)
    got = [row["id"] for task in range(tasks) for batch in found.found(told, task, tasks) for row in batch.to_pylist()]
    wanted = [
        row["id"]
        for row in stored
        if same((row["g"], row["s"])) in set(map(same, groups)) and (bit is None or int(str(row["_bits0"])) >> bit & 1)
    ]
    assert sorted(got) == sorted(wanted) and wanted


def test_without_groups_every_row_is_found(tmp_path: Path) -> None:
    stored = rows(Random(1), 20)
    told = Input((), write_segments(pa.Table.from_pylist(stored, LAYOUT.arrow), tmp_path))
    found = Lookup((), Leaf.of(LAYOUT, ["id"], [], None), Note("unused"), 0)
    got = [row["id"] for task in range(2) for batch in found.found(told, task, 2) for row in batch.to_pylist()]
    assert sorted(got) == list(range(20))


def test_null_is_a_key_of_a_group_and_of_no_join() -> None:
    column = pa.array([None, 0, 1], pa.int64())
    assert key_hashes([column])[1].tolist() == [False, True, True]
    hashes, whole = key_hashes([column], nulls=True)
    assert whole.all() and len(set(hashes.tolist())) == 3
