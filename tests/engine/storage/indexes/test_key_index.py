"""Rows found by key are those that comparing all keys finds: collisions, portions, NULLs, days."""

from __future__ import annotations

import datetime as dt
from math import inf
from pathlib import Path
from random import Random

import numpy as np
import pyarrow as pa
import pytest

from workbench.engine.storage.indexes import key_index, sorted_index
from workbench.engine.storage.indexes.key_index import Key, KeyRanges, candidates, count_candidates, key_hashes
from workbench.engine.storage.segments import open_segment, remove_segment, write_segments

DAYS = [None, -719162, -1, 0, 1, 5, 6, 7, 45, 46, 2932896]


def test_all_keys_of_one_value_come_in_portions(tmp_path: Path) -> None:
    table = pa.table({"k": pa.array([5] * 100, pa.int64())})
    (segment,) = write_segments(table, tmp_path)
    hashes, _ = key_hashes([pa.array([5, 6, 5], pa.int64())])
    portions = list(candidates(segment.path, Key(("k",)), KeyRanges.equal(hashes), at_a_time=10))
    assert [len(asked) for asked, _ in portions] == [100, 100]
    assert [sorted(found.tolist()) for _, found in portions] == [list(range(100))] * 2
    assert {int(a) for asked, _ in portions for a in asked} == {0, 2}


def test_a_collision_is_a_candidate_and_no_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Spark tests the pairs afterwards, so nothing may be lost even when all hashes are equal."""
    monkeypatch.setattr(key_index, "value_hashes", lambda column: np.zeros(len(column), dtype=np.uint64))
    (segment,) = write_segments(pa.table({"k": pa.array([1, 2, None], pa.int64())}), tmp_path)
    hashes, whole = key_hashes([pa.array([2, None], pa.int64())])
    assert whole.tolist() == [True, False]
    ((_, found),) = candidates(segment.path, Key(("k",)), KeyRanges.equal(hashes[whole]), at_a_time=100)
    assert sorted(found.tolist()) == [0, 1]


def test_nothing_of_a_removed_segment_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sorted_index, "SMALL", 0)
    (segment,) = write_segments(pa.table({"k": pa.array([1], pa.int64())}), tmp_path)
    list(candidates(segment.path, Key(("k",)), KeyRanges.equal(np.zeros(1, dtype=np.uint64)), 1))
    assert len(list(tmp_path.iterdir())) == 2
    opened = open_segment(segment.path)
    remove_segment(segment.path)
    assert not list(tmp_path.iterdir())
    assert opened.column("k").to_pylist() == [1]


def test_null_is_a_key_of_a_group_and_of_no_join() -> None:
    column = pa.array([None, 0, 1], pa.int64())
    assert key_hashes([column])[1].tolist() == [False, True, True]
    hashes, whole = key_hashes([column], nulls=True)
    assert whole.all() and len(set(hashes.tolist())) == 3


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("first, last", [(0, 40), (-3, 2), (1, 1), (-inf, 5), (6, inf), (-inf, inf), (3, -3)])
def test_pairs_within_days_are_those_of_all_pairs(tmp_path: Path, seed: int, first: float, last: float) -> None:
    random = Random(seed)
    rows = [(random.choice(["x", "y", None]), random.choice(DAYS)) for _ in range(80)]
    keys, days = (pa.array(column) for column in zip(*rows, strict=True))
    table = pa.table({"k": keys.cast(pa.string()), "d": days.cast(pa.int32()).cast(pa.date32())})
    (segment,) = write_segments(table, tmp_path)
    asking = [(random.choice(["x", "y", "z"]), random.choice(DAYS[1:])) for _ in range(30)]
    hashes, _ = key_hashes([pa.array([k for k, _ in asking])])
    wanted = KeyRanges.within_days(hashes, np.array([d for _, d in asking], dtype=np.int64), first, last)
    found = {
        (int(a), int(r))
        for asked, at in candidates(segment.path, Key(("k",), "d"), wanted, at_a_time=7)
        for a, r in zip(asked, at, strict=True)
    }
    right = {
        (a, r)
        for a, (key, day) in enumerate(asking)
        for r, (other, its) in enumerate(rows)
        if key == other and its is not None and first <= its - day <= last
    }
    assert found == right
    assert count_candidates(segment.path, Key(("k",), "d"), wanted) == len(right)
    assert dt.date(1970, 1, 1) + dt.timedelta(days=DAYS[1] or 0) == dt.date.min
