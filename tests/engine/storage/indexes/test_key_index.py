"""Rows found by key are those that comparing all keys finds: collisions, portions, NULLs, ranges."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np
import pyarrow as pa
import pytest

from workbench.arrow.types import Mask
from workbench.engine.storage.comparable import Orders, order_numbers
from workbench.engine.storage.indexes import key_index
from workbench.engine.storage.indexes.key_index import (
    Key,
    KeyRanges,
    candidates,
    count_candidates,
    key_hashes,
    row_hashes,
)
from workbench.engine.storage.segments import open_segment, remove_segments, write_segments
from workbench.limits import SESSION_LIMITS, Limits


def test_all_keys_of_one_value_come_in_portions(tmp_path: Path) -> None:
    table = pa.table({"k": pa.array([5] * 100, pa.int64())})
    (segment,) = write_segments(table, tmp_path)
    hashes, _ = key_hashes([pa.array([5, 6, 5], pa.int64())])
    portions = list(candidates(segment.path, Key(("k",)), KeyRanges(hashes), at_a_time=10))
    assert [len(asked) for asked, _ in portions] == [100, 100]
    assert [sorted(found.tolist()) for _, found in portions] == [list(range(100))] * 2
    assert {int(a) for asked, _ in portions for a in asked} == {0, 2}


@pytest.mark.parametrize("in_memory", [0, 10_000])
@pytest.mark.parametrize("entries", [0, 1, 999, 1_000, 5_000])
def test_of_many_keys_those_that_are_there_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entries: int, in_memory: int
) -> None:
    """Also keys that several rows have, and keys that are asked for several times."""
    monkeypatch.setattr(SESSION_LIMITS, "otherwise", Limits(rows_indexed_in_memory=in_memory))
    rng = np.random.default_rng(entries)
    stored, asked = rng.integers(10_000, size=entries), rng.integers(10_000, size=4_000)
    (segment,) = write_segments(pa.table({"k": pa.array([*stored, None], pa.int64())}), tmp_path)
    hashes, _ = key_hashes([pa.array(asked)])
    for order in (np.argsort(hashes), np.arange(len(asked))):
        found = candidates(segment.path, Key(("k",)), KeyRanges(hashes[order]), at_a_time=500)
        pairs = Counter((int(order[at]), int(row)) for each in found for at, row in zip(*each, strict=True))
        assert pairs == Counter(zip(*map(np.ndarray.tolist, np.nonzero(asked[:, None] == stored)), strict=True))


@pytest.mark.parametrize("different", [1, 3, 50, 3_000])
def test_hashes_that_are_not_spread_evenly_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, different: int
) -> None:
    """All of them are in one slot, so that what is asked for stands behind many others."""
    monkeypatch.setattr(key_index, "_mix", lambda numbers: None)
    stored = np.arange(6_000) % different * 2
    (segment,) = write_segments(pa.table({"k": pa.array(stored)}), tmp_path)
    asked = np.arange(2 * different + 2_000)
    hashes, _ = key_hashes([pa.array(asked)])
    found = candidates(segment.path, Key(("k",)), KeyRanges(hashes), at_a_time=1_000_000)
    pairs = sorted(pair for each in found for pair in zip(*map(np.ndarray.tolist, each), strict=True))
    assert pairs == sorted((int(number), at) for at, number in enumerate(stored))


def test_a_collision_is_a_candidate_and_no_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Spark tests the pairs afterwards, so nothing may be lost even when all hashes are equal."""
    monkeypatch.setattr(key_index, "value_bits", lambda column: np.zeros(len(column), dtype=np.uint64))
    (segment,) = write_segments(pa.table({"k": pa.array([1, 2, None], pa.int64())}), tmp_path)
    hashes, whole = key_hashes([pa.array([2, None], pa.int64())])
    assert whole.tolist() == [True, False]
    ((_, found),) = candidates(segment.path, Key(("k",)), KeyRanges(hashes[whole]), at_a_time=100)
    assert sorted(found.tolist()) == [0, 1]


def test_nothing_of_a_removed_segment_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SESSION_LIMITS, "otherwise", Limits(rows_indexed_in_memory=0))
    (segment,) = write_segments(pa.table({"k": pa.array([1], pa.int64())}), tmp_path)
    list(candidates(segment.path, Key(("k",)), KeyRanges(np.zeros(1, dtype=np.uint64)), 1))
    assert len(list(tmp_path.iterdir())) == 2
    opened = open_segment(segment.path)
    remove_segments([segment.path])
    assert not list(tmp_path.iterdir())
    assert opened.column("k").to_pylist() == [1]


def test_null_is_a_key_of_a_group_and_of_no_join() -> None:
    column = pa.array([None, 0, 1], pa.int64())
    assert key_hashes([column])[1].tolist() == [False, True, True]
    hashes, whole = key_hashes([column], nulls=True)
    assert whole.all() and len(set(hashes.tolist())) == 3


NEGATIVE_NAN = float(np.array([0xFFF8000000000001], dtype=np.uint64).view(np.float64)[0])


@dataclass(frozen=True)
class Whole:
    """The order of a column of whole numbers."""

    name: str

    def orders(self, rows: pa.RecordBatch) -> tuple[Orders, Mask]:
        return order_numbers(rows.column(self.name)), np.asarray(rows.column(self.name).is_valid())


def ordered(folder: Path, rows: Sequence[tuple[str | None, int | None, int | None]]) -> str:
    """A segment of rows with a key and two numbers."""
    types = {"k": pa.string(), "n": pa.int64(), "o": pa.int64()}
    columns = {name: pa.array([row[at] for row in rows], type_) for at, (name, type_) in enumerate(types.items())}
    return write_segments(pa.table(columns), folder)[0].path


def some_rows(random: Random, count: int) -> list[tuple[str | None, int | None, int | None]]:
    numbers = [None, -(2**63), -5, 0, 0, 1, 2, 3, 7, 2**63 - 1]
    return [(random.choice(["x", "y", None]), random.choice(numbers), random.choice(numbers)) for _ in range(count)]


def pairs(segment: str, key: Key, ranges: KeyRanges, weights: list[int] | None = None) -> list[tuple[int, int]]:
    """What ``candidates`` finds, and ``count_candidates`` counts."""
    signed = None if weights is None else np.array(weights)
    found = [
        (int(a), int(r))
        for asked, at in candidates(segment, key, ranges, 7, signed)
        for a, r in zip(asked, at, strict=True)
    ]
    assert len(found) == count_candidates(segment, key, ranges, signed)
    return found


DOUBLES = [float("-inf"), -1.5, -0.0, 0.0, 5e-324, 1.5, float("inf"), float("nan"), NEGATIVE_NAN]
"""In order, as Spark orders them: 0.0 is -0.0, and each NaN is the largest number."""


@pytest.mark.parametrize("low", [None, *DOUBLES])
@pytest.mark.parametrize("high", [None, *DOUBLES])
def test_nan_is_the_largest_number_of_a_range(tmp_path: Path, low: float | None, high: float | None) -> None:
    values = [*DOUBLES, None, *reversed(DOUBLES)]
    rows = pa.table({"k": ["x", "y"] * (len(values) // 2) + ["x"], "n": pa.array(values, pa.float64())})
    segment = write_segments(rows, tmp_path)[0].path
    hashes, _ = row_hashes(pa.RecordBatch.from_pydict({"k": ["x", "y", "z"]}), ("k",))
    least, greatest = (None if end is None else order_numbers(pa.array([end] * 3)) for end in (low, high))
    found = pairs(segment, Key(("k",), orders=(Whole("n"),)), KeyRanges(hashes, ((least, greatest),)))

    def place(value: float) -> float:
        return float("inf") if np.isnan(value) else np.clip(value, -2.0, 2.0)

    wanted = [
        (row % 2, row)
        for row, value in enumerate(values)
        if value is not None
        if (low is None or place(low) <= place(value)) and (high is None or place(value) <= place(high))
    ]
    assert sorted(found) == sorted(wanted)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("keys", [("k",), ()])
@pytest.mark.parametrize("bounds", [(True, True), (True, False), (False, True)])
def test_pairs_in_a_range_are_those_of_all_pairs(
    tmp_path: Path, seed: int, keys: tuple[str, ...], bounds: tuple[bool, bool]
) -> None:
    random = Random(seed)
    rows = some_rows(random, 80)
    asking = [(random.choice("xyz"), random.randrange(-6, 9), random.randrange(-6, 9)) for _ in range(30)]
    asking.append(("x", -(2**63), 2**63 - 1))
    hashes, _ = row_hashes(pa.RecordBatch.from_pydict({"k": [k for k, *_ in asking]}), keys)
    low, high = (np.array([each[at] for each in asking]) if there else None for at, there in enumerate(bounds, start=1))
    found = pairs(ordered(tmp_path, rows), Key(keys, orders=(Whole("n"),)), KeyRanges(hashes, ((low, high),)))
    wanted = [
        (a, r)
        for a, (key, least, greatest) in enumerate(asking)
        for r, (other, its, _) in enumerate(rows)
        if (key == other or not keys) and its is not None
        if (not bounds[0] or least <= its) and (not bounds[1] or its <= greatest)
    ]
    assert sorted(found) == sorted(wanted) and wanted


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("keys", [("k",), ()])
def test_intervals_that_contain_a_point_are_among_the_candidates(
    tmp_path: Path, seed: int, keys: tuple[str, ...]
) -> None:
    random = Random(seed)
    rows = some_rows(random, 60)
    asking = [(random.choice("xyz"), random.randrange(-6, 9)) for _ in range(30)]
    hashes, _ = row_hashes(pa.RecordBatch.from_pydict({"k": [k for k, _ in asking]}), keys)
    points = np.array([point for _, point in asking])
    key, ranges = Key(keys, orders=(Whole("n"), Whole("o"))), KeyRanges(hashes, ((None, points), (points, None)))
    found = pairs(ordered(tmp_path, rows), key, ranges)
    begun = {
        (a, r)
        for a, (key_, point) in enumerate(asking)
        for r, (other, n, o) in enumerate(rows)
        if (key_ == other or not keys) and n is not None and o is not None and n <= point
    }
    assert len(found) == len(set(found)) and set(found) <= begun
    assert set(found) >= {(a, r) for a, r in begun if (rows[r][2] or 0) >= asking[a][1] and rows[r][2] is not None}


def test_of_disjoint_intervals_a_point_finds_one(tmp_path: Path) -> None:
    """The count of candidates, which is what a look-up costs, does not depend on the number of intervals."""
    path = ordered(tmp_path, [("x", 10 * at, 10 * at + 9) for at in range(500)])
    hashes, _ = row_hashes(pa.RecordBatch.from_pydict({"k": ["x"] * 3}), ("k",))
    points = np.array([5, 1_234, 4_999])
    found = pairs(
        path, Key(("k",), orders=(Whole("n"), Whole("o"))), KeyRanges(hashes, ((None, points), (points, None)))
    )
    assert sorted(found) == [(0, 0), (1, 123), (2, 499)]


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("keys", [("k",), ()])
def test_a_row_comes_as_often_as_weights_come_to(tmp_path: Path, seed: int, keys: tuple[str, ...]) -> None:
    random = Random(seed)
    rows = some_rows(random, 40)
    asking = [
        (random.choice("xy"), random.randrange(-6, 9), random.choice([1, -1])) for _ in range(random.choice([2, 9]))
    ]
    hashes, _ = row_hashes(pa.RecordBatch.from_pydict({"k": [k for k, *_ in asking]}), keys)
    key, ranges = Key(keys, orders=(Whole("n"),)), KeyRanges(hashes, ((np.array([n for _, n, _ in asking]), None),))
    weights = [weight for *_, weight in asking]
    path = ordered(tmp_path, rows)
    every, left = pairs(path, key, ranges), pairs(path, key, ranges, weights)
    total, total_left = Counter[int](), Counter[int]()
    for a, r in every:
        total[r] += weights[a]
    for a, r in left:
        total_left[r] += weights[a]
    assert set(left) <= set(every) and len(left) == sum(map(abs, total.values()))
    assert {r: n for r, n in total.items() if n} == dict(total_left)


def test_a_bound_that_moves_finds_what_lies_between(tmp_path: Path) -> None:
    path = ordered(tmp_path, [("x", at, 0) for at in range(10_000)])
    hashes, _ = row_hashes(pa.RecordBatch.from_pydict({"k": ["x", "x"]}), ())
    ranges = KeyRanges(hashes, ((np.array([5_000, 5_003]), None),))
    assert pairs(path, Key((), orders=(Whole("n"),)), ranges, [-1, 1]) == [(0, 5_000), (0, 5_001), (0, 5_002)]
