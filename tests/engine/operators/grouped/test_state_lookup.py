"""The rows of some groups are what grouping all rows finds: NULLs, zeros of both signs, lineage, segments, tasks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random

import numpy as np
import pyarrow as pa
import pytest

from workbench.engine.operators.grouped import state_lookup as lookup
from workbench.engine.operators.grouped.state_lookup import KeyedLookup
from workbench.engine.storage.indexes import key_index
from workbench.engine.storage.layout import MEMBER, Layout
from workbench.engine.storage.scan import FusedScan, Scan
from workbench.engine.storage.segments import write_segments
from workbench.limits import Limits
from workbench.sql.algebra.types import DOUBLE, INTEGER, STRING

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


@pytest.mark.parametrize("bit", [None, 0, 1])
@pytest.mark.parametrize("seed", range(4))
def test_the_rows_of_the_groups_are_found_once(tmp_path: Path, bit: int | None, seed: int) -> None:
    random = Random(seed)
    stored = rows(random, 60)
    groups = random.sample([key for key in KEYS if repr(key[0]) != "-0.0"], 3)
    before = tuple(
        segment
        for first in range(0, 60, 25)
        for segment in write_segments(pa.Table.from_pylist(stored[first : first + 25], LAYOUT.arrow), tmp_path)
    )
    touched = pa.record_batch({"g": pa.array([g for g, _ in groups], pa.float64()), "s": [s for _, s in groups]})
    found = KeyedLookup(("g", "s"), Scan.of(LAYOUT, ["id"], ["g", "s"], bit), limits=Limits(rows_looked_up_together=5))
    got = [row["id"] for batch in found.rows_of(touched, before) for row in batch.to_pylist()]
    wanted = [
        row["id"]
        for row in stored
        if same((row["g"], row["s"])) in set(map(same, groups)) and (bit is None or int(str(row["_bits0"])) >> bit & 1)
    ]
    assert sorted(got) == sorted(wanted) and wanted


def test_groups_of_one_hash_are_told_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def one_hash(columns: Sequence[pa.Array], nulls: bool = False) -> tuple[np.ndarray, np.ndarray]:
        return np.zeros(len(columns[0]), dtype=np.uint64), np.ones(len(columns[0]), dtype=bool)

    monkeypatch.setattr(lookup, "key_hashes", one_hash)
    monkeypatch.setattr(key_index, "key_hashes", one_hash)
    stored = rows(Random(3), 60)
    before = write_segments(pa.Table.from_pylist(stored, LAYOUT.arrow), tmp_path)
    groups = [(None, "x"), (float("nan"), "x"), (0.0, "")]
    touched = pa.record_batch({"g": pa.array([g for g, _ in groups], pa.float64()), "s": [s for _, s in groups]})
    found = KeyedLookup(("g", "s"), Scan.of(LAYOUT, ["id"], ["g", "s"], None))
    got = [row["id"] for batch in found.rows_of(touched, before) for row in batch.to_pylist()]
    assert sorted(got) == [r["id"] for r in stored if same((r["g"], r["s"])) in set(map(same, groups))]


@pytest.mark.parametrize("groups", [("s",), ()])
def test_a_family_finds_for_each_member_the_rows_it_reads(tmp_path: Path, groups: tuple[str, ...]) -> None:
    stored = rows(Random(5), 50)
    before = write_segments(pa.Table.from_pylist(stored, LAYOUT.arrow), tmp_path)
    asked = [(None, 7), ("x", 7), ("x", 8), ("", 9), ("x", 10)] if groups else [(None, 7), (None, 10)]
    touched = pa.record_batch({"s": pa.array([s for s, _ in asked], pa.string()), MEMBER: [m for _, m in asked]})
    readers = ((7, (0,)), (8, (1,)), (9, (0,)), (10, (0, 1)))
    found = KeyedLookup(groups, FusedScan(Scan.of(LAYOUT, ["id"], groups, None), readers))
    got = [(row["id"], row[MEMBER]) for batch in found.rows_of(touched, before) for row in batch.to_pylist()]
    wanted = [
        (row["id"], number)
        for s, number in asked
        for row in stored
        if (not groups or row["s"] == s) and all(int(str(row["_bits0"])) >> bit & 1 for bit in dict(readers)[number])
    ]
    assert sorted(got) == sorted(wanted) and wanted
