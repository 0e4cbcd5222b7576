"""What a join within a band looks at: the pairs of the matching range, and of a value that moves what lies between."""

from __future__ import annotations

from collections import Counter
from math import inf
from pathlib import Path
from random import Random

import numpy as np
import pyarrow as pa
import pytest

from workbench.arrow.types import Mask
from workbench.engine.operators import early_test, index_join, lookup
from workbench.engine.operators.index_join import IndexJoin
from workbench.engine.physical.access_paths import AccessPath
from workbench.engine.physical.band import Band, BandEnd
from workbench.engine.physical.join_keys import Ends
from workbench.engine.storage.indexes import key_index
from workbench.engine.storage.job_input import InputRows, TaskInput
from workbench.engine.storage.scan import Scan
from workbench.engine.storage.segments import Segment, write_segments
from workbench.sql.algebra.expressions import Column
from workbench.sql.algebra.types import DOUBLE, INTEGER

KEY: Ends = (Column("k", INTEGER), Column("k", INTEGER))
TYPES = {"k": pa.int64(), "n": pa.int64(), "o": pa.int64(), "x": pa.float64(), "id": pa.int64()}
MARKS = {"_batch": pa.int32(), "_weight": pa.int64()}


def within(left: str, right: str, low: float, high: float) -> Band:
    kinds = {"n": INTEGER, "o": INTEGER, "x": DOUBLE}
    return Band(BandEnd(Column(left, kinds[left])), BandEnd(Column(right, kinds[right])), low, high)


def written(
    folder: Path, rows: list[tuple[int, int, int, float]], weights: list[int] | None = None
) -> tuple[Segment, ...]:
    """Rows of k, n, o and x, numbered, of batch 1."""
    values = [*zip(*rows, strict=True), range(len(rows))] if rows else [()] * len(TYPES)
    columns = {name: pa.array(column, type_) for (name, type_), column in zip(TYPES.items(), values, strict=True)}
    columns["_batch"] = pa.array([1] * len(rows), pa.int32())
    columns["_weight"] = pa.array(weights or [1] * len(rows), pa.int64())
    return tuple(write_segments(pa.table(columns), folder))


def join_of(keys: tuple[Ends, ...], bands: tuple[Band, ...], shown: frozenset[int]) -> IndexJoin:
    fields = tuple(pa.field(name, TYPES[name]) for name in ("k", "n", "o", "x"))
    side = Scan(pa.schema([("id", pa.int64())]), (("id", "bigint"),), fields, None)
    return IndexJoin(side, side, (AccessPath(keys, bands),), shown=shown)


def pairs_tested(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of pairs of each test of values."""
    counts: list[int] = []
    path_has = lookup.path_has

    def counting(path: AccessPath, left: pa.RecordBatch, right: pa.RecordBatch) -> Mask:
        counts.append(left.num_rows)
        return path_has(path, left, right)

    for module in (lookup, early_test, index_join):
        monkeypatch.setattr(module, "path_has", counting)
    return counts


def totals(join: IndexJoin, task: TaskInput) -> dict[tuple[int, ...], int]:
    """The change of the join's rows, by what is shown of them."""
    names = {f"id{side}": f"{'lr'[side]}_id" for side in join.shown}
    schema = pa.schema([*((name, pa.int64()) for name in names), *MARKS.items()])
    total = Counter[tuple[int, ...]]()
    for batch in join.rows(task, {**names, **{mark: mark for mark in MARKS}}, schema):
        for *ids, _, weight in (tuple(row.values()) for row in batch.to_pylist()):
            total[tuple(ids)] += weight
    return {row: weight for row, weight in total.items() if weight}


STORED = 20_000
"""Rows of one key; what follows must not depend on it."""


@pytest.mark.parametrize(
    ("keys", "bands", "most"),
    [
        ((KEY,), (within("n", "n", 0, 5),), 6),
        ((), (within("n", "n", 0, 5),), 6),
        ((KEY,), (within("n", "n", 0, inf), within("o", "n", -inf, 0)), 11),  # n BETWEEN n AND o
        ((), (within("n", "n", -inf, 0), within("n", "o", 0, inf)), 11),  # a point in intervals
        ((), (within("n", "o", 1, inf), within("o", "n", -inf, -1)), 20),  # intervals that overlap
        ((KEY,), (within("x", "x", 0, 0),), 1),
    ],
)
@pytest.mark.parametrize("changed", [0, 1])
def test_a_row_is_compared_with_its_range_alone(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    keys: tuple[Ends, ...],
    bands: tuple[Band, ...],
    most: int,
    changed: int,
) -> None:
    counts = pairs_tested(monkeypatch)
    stored = written(tmp_path, [(7, at, at + 10, at / 8) for at in range(STORED)])
    inputs = [InputRows((), stored), InputRows((), ())]
    inputs[1] = InputRows(written(tmp_path, [(7, 9_000, 9_010, 1_125.0)]), ())
    if not changed:
        inputs.reverse()
    task = TaskInput(1, tuple(inputs), (), 0, 1)
    join = join_of(keys, bands, frozenset((0, 1)))
    assert totals(join, task) and sum(counts) <= most
    assert join.count(task) <= most


@pytest.mark.parametrize("shown", [0, 1])
@pytest.mark.parametrize("keys", [(KEY,), ()])
def test_a_value_that_moves_touches_what_lies_between(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shown: int, keys: tuple[Ends, ...]
) -> None:
    """As the one row of ``(SELECT AVG(x) FROM t)``, which is taken back and comes again with another value."""
    counts = pairs_tested(monkeypatch)
    stored = InputRows((), written(tmp_path, [(7, at, 0, at / 8) for at in range(STORED)]))
    moved = InputRows(written(tmp_path, [(7, 0, 0, 1_000.0), (7, 0, 0, 1_000.5)], [-1, 1]), ())
    band = within("x", "x", -inf, -1) if shown else within("x", "x", 1, inf)
    join = join_of(keys, (band,), frozenset([shown]))
    task = TaskInput(1, (moved, stored) if shown else (stored, moved), (), 0, 1)
    assert totals(join, task) == {(at,): 1 for at in range(8_000, 8_004)}
    assert sum(counts) == join.count(task) == 4


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("keys", [(KEY,), ()])
@pytest.mark.parametrize("collide", [False, True])
def test_what_cancels_does_not_change_the_total(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int, keys: tuple[Ends, ...], collide: bool
) -> None:
    """Whatever rows come and go on either side, shown or not, as all pairs say; also when all hashes are equal."""
    if collide:
        monkeypatch.setattr(key_index, "value_bits", lambda column: np.zeros(len(column), dtype=np.uint64))
    random = Random(seed)

    def rows(count: int) -> list[tuple[int, int, int, float]]:
        numbers = [0.0, -0.0, 1.0, 2.0, inf, float("nan")]
        return [
            (random.choice([7, 8]), random.randrange(9), random.randrange(9), random.choice(numbers))
            for _ in range(count)
        ]

    bands = random.choice([(within("n", "n", -1, 3),), (within("x", "x", 0, inf),), (within("n", "o", 1, inf),)])
    parts = [rows(30), rows(12), rows(25), rows(random.choice([0, 12]))]
    weights = [random.choice([1, -1]) for _ in parts[1]], [random.choice([1, -1]) for _ in parts[3]]
    before = [written(tmp_path, part) for part in parts[::2]]
    change = [written(tmp_path, part, sign) if part else () for part, sign in zip(parts[1::2], weights, strict=True)]
    task = TaskInput(1, tuple(InputRows(c, b) for c, b in zip(change, before, strict=True)), (), 0, 1)
    every = totals(join_of(keys, bands, frozenset([0, 1])), task)
    for side in (0, 1):
        wanted = Counter[tuple[int, ...]]()
        for ids, weight in every.items():
            wanted[ids[side],] += weight
        found = totals(join_of(keys, bands, frozenset([side])), task)
        assert found == {row: weight for row, weight in wanted.items() if weight}
