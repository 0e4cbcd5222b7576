"""What is looked up by key is what comparing every pair finds: both changes, lineage, weights, NULLs, collisions."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from workbench.engine.operators.index_join import IndexJoin
from workbench.engine.physical.access_paths import AccessPath
from workbench.engine.physical.join_keys import Ends
from workbench.engine.physical.row_tests import RowTests
from workbench.engine.physical.stored.values import Computed
from workbench.engine.storage.indexes import key_index
from workbench.engine.storage.job_input import InputRows, TaskInput
from workbench.engine.storage.scan import Scan
from workbench.engine.storage.segments import Segment, write_segments
from workbench.limits import Limits
from workbench.sql.algebra.expressions import Call, Column
from workbench.sql.algebra.types import BOOLEAN, INTEGER, STRING
from workbench.sql.predicates.cnf import Operator

VALUES: dict[str, tuple[pa.DataType, list[Any]]] = {
    "integer": (pa.int64(), [0, 1, -1, 2**63 - 1, -(2**63), 7]),
    "decimal": (pa.decimal128(38, 2), [Decimal("0.00"), Decimal("-0.01"), Decimal("9" * 36 + ".99"), Decimal("1.00")]),
    "text": (pa.string(), ["", "a", "A", "é", "a\x00", " a"]),
    "date": (pa.date32(), [dt.date(1970, 1, 1), dt.date(1, 1, 1), dt.date(9999, 12, 31)]),
    "time": (pa.timestamp("us"), [dt.datetime(1970, 1, 1), dt.datetime(2020, 2, 29, 1, 2, 3, 4)]),
    "truth": (pa.bool_(), [True, False]),
}


def rows(random: Random, count: int, types: list[str], empty: float = 0.2) -> pa.Table:
    """Rows with keys of some types, often equal, some NULL."""
    columns = {
        f"k{i}": pa.array([None if random.random() < empty else random.choice(VALUES[t][1]) for _ in range(count)])
        if count
        else pa.array([])
        for i, t in enumerate(types)
    }
    typed = {name: column.cast(VALUES[types[i]][0]) for i, (name, column) in enumerate(columns.items())}
    marks = {
        "id": pa.array([random.randrange(1_000) for _ in range(count)], pa.int64()),
        "_batch": pa.array([random.randrange(5) for _ in range(count)], pa.int32()),
        "_weight": pa.array([random.choice([1, 1, -1, 2]) for _ in range(count)], pa.int64()),
        "_bits0": pa.array([random.choice([1, 2, 3]) for _ in range(count)], pa.int64()),
    }
    return pa.table(typed | marks)


def written(table: pa.Table, folder: Path, pieces: int) -> tuple[Segment, ...]:
    size = -(-max(1, table.num_rows) // pieces)
    parts = [table.slice(first, size) for first in range(0, table.num_rows, size)]
    return tuple(segment for part in parts for segment in write_segments(part.combine_chunks(), folder))


def side(types: list[str], bit: int) -> Scan:
    keys = tuple(pa.field(f"k{i}", VALUES[t][0]) for i, t in enumerate(types))
    return Scan(pa.schema([("id", pa.int64())]), (("id", "bigint"),), keys, bit)


def key(at: int) -> Ends:
    """The ends of an equality of two sides' columns, which the workbench knows by their names alone here."""
    column = Column(f"k{at}", STRING)
    return column, column


def compared(operator: Operator) -> RowTests:
    """The test of pairs that compares the ids of both rows."""
    sides = Column("l_id", INTEGER), Column("r_id", INTEGER)
    return RowTests((Computed(Call(operator.value, sides, BOOLEAN)),))


def expected(left: pa.Table, right: pa.Table, types: list[str]) -> list[tuple[Any, ...]]:
    """Every pair with equal keys, by comparing all of them: rows of the left have bit 0, of the right bit 1."""
    names = [f"k{i}" for i in range(len(types))]
    return [
        (a["id"], b["id"], max(a["_batch"], b["_batch"]), a["_weight"] * b["_weight"])
        for a in left.to_pylist()
        for b in right.to_pylist()
        if a["_bits0"] & 1 and b["_bits0"] & 2 and all(a[n] is not None and a[n] == b[n] for n in names)
    ]


@pytest.mark.parametrize("types", [["integer"], ["text"], ["decimal", "date"], ["text", "text", "truth"], ["time"]])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("tasks", [1, 3])
def test_every_pair_is_found_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, types: list[str], seed: int, tasks: int
) -> None:
    random = Random(seed)
    before = [rows(random, 60, types), rows(random, 50, types)]
    change = [rows(random, 30, types), rows(random, random.choice([0, 20]), types)]
    left, right = (
        InputRows(written(c, tmp_path, 2) if c.num_rows else (), written(b, tmp_path, 3))
        for c, b in zip(change, before, strict=True)
    )
    found = IndexJoin(side(types, 0), side(types, 1), (AccessPath(tuple(map(key, range(len(types))))),))
    got = [
        tuple(row.values())
        for task in range(tasks)
        for batch in found.pairs(
            TaskInput(1, (left, right), (), task, tasks, Limits(pairs_handed_on=7, rows_handed_on=10))
        )
        for row in batch.to_pylist()
    ]
    after = pa.concat_tables([before[1], change[1]])
    wanted = expected(change[0], after, types) + expected(before[0], change[1], types)
    assert sorted(got) == sorted(wanted) and wanted


@pytest.mark.parametrize(
    "types, either", [(["text", "integer", "date"], 2), (["integer", "text"], 2), (["text"] * 4, 3)]
)
@pytest.mark.parametrize("collide", [False, True])
@pytest.mark.parametrize("tasks", [1, 3])
def test_a_pair_with_several_equal_alternatives_is_found_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, types: list[str], either: int, collide: bool, tasks: int
) -> None:
    """Also when all hashes are equal."""
    if collide:
        monkeypatch.setattr(key_index, "value_bits", lambda column: np.zeros(len(column), dtype=np.uint64))
    random = Random(5)
    before = [rows(random, 60, types, empty=0.4), rows(random, 50, types, empty=0.4)]
    change = [rows(random, 30, types, empty=0.4), rows(random, 20, types, empty=0.4)]
    shared = tuple(map(key, range(len(types) - either)))
    ways = tuple(AccessPath((*shared, key(at))) for at in range(len(types) - either, len(types)))
    inputs = [InputRows(written(c, tmp_path, 2), written(b, tmp_path, 3)) for c, b in zip(change, before, strict=True)]
    found = IndexJoin(side(types, 0), side(types, 1), ways)
    got = [
        tuple(row.values())
        for task in range(tasks)
        for batch in found.pairs(TaskInput(1, tuple(inputs), (), task, tasks, Limits(pairs_handed_on=7)))
        for row in batch.to_pylist()
    ]
    names = [f"k{i}" for i in range(len(types))]
    same, some = names[:-either], names[-either:]
    halves = [(change[0], pa.concat_tables([before[1], change[1]])), (before[0], change[1])]
    matching = [
        (a["id"], b["id"], max(a["_batch"], b["_batch"]), a["_weight"] * b["_weight"])
        for left, right in halves
        for a in left.to_pylist()
        for b in right.to_pylist()
        if a["_bits0"] & 1
        and b["_bits0"] & 2
        and all(a[n] is not None and a[n] == b[n] for n in same)
        and any(a[n] is not None and a[n] == b[n] for n in some)
    ]
    assert sorted(got) == sorted(matching) and matching


@pytest.mark.parametrize("collide", [False, True])
@pytest.mark.parametrize("operator", [Operator.GE, Operator.LT])
def test_rows_of_pairs_are_those_that_pass_the_tests(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, collide: bool, operator: Operator
) -> None:
    """Also when all hashes are equal: the keys are not compared afterwards."""
    if collide:
        monkeypatch.setattr(key_index, "value_bits", lambda column: np.zeros(len(column), dtype=np.uint64))
    random, types = Random(3), ["text", "integer"]
    before = [rows(random, 60, types), rows(random, 50, types)]
    change = [rows(random, 30, types), rows(random, 20, types)]
    inputs = [InputRows(written(c, tmp_path, 2), written(b, tmp_path, 3)) for c, b in zip(change, before, strict=True)]
    tests = compared(operator)
    found = IndexJoin(side(types, 0), side(types, 1), (AccessPath((key(0), key(1))),), tests=tests)
    names = {"a": "l_id", "b": "r_id", "_batch": "_batch", "_weight": "_weight"}
    schema = pa.schema([("a", pa.int64()), ("b", pa.int64()), ("_batch", pa.int32()), ("_weight", pa.int64())])
    batches = list(found.rows(TaskInput(1, tuple(inputs), (), 0, 1, Limits(pairs_handed_on=3)), names, schema))
    got = [tuple(row.values()) for batch in batches for row in batch.to_pylist()]
    pairs = expected(change[0], pa.concat_tables([before[1], change[1]]), types) + expected(before[0], change[1], types)
    wanted = [pair for pair in pairs if (pair[0] < pair[1] if operator is Operator.LT else pair[0] >= pair[1])]
    assert sorted(got) == sorted(wanted) and 0 < len(wanted) < len(pairs)
    assert len(batches) > 1 and {batch.schema for batch in batches} == {schema}


@pytest.mark.parametrize("types", [[], ["integer"], ["text", "integer"]], ids=["no key", "a key", "two keys"])
@pytest.mark.parametrize("shown", [(0, 1), (0,), (1,), ()])
@pytest.mark.parametrize("seed", range(3))
def test_many_candidates_are_tested_early_and_cancel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, types: list[str], shown: tuple[int, ...], seed: int
) -> None:
    """The same rows in all, and where a side has no column in them, fewer on the way: its changed rows cancel."""
    random = Random(seed)
    together = random.choice([5, 10_000])
    before = [rows(random, 60, types or ["truth"]), rows(random, 50, types or ["truth"])]
    change = [rows(random, 30, types or ["truth"]), rows(random, 20, types or ["truth"])]
    if seed:  # as in a batch: rows of one batch, each once
        for at, table in enumerate(change):
            weights = [random.choice([1, -1]) for _ in range(table.num_rows)]
            columns = {"_batch": pa.array([9] * table.num_rows, pa.int32()), "_weight": pa.array(weights, pa.int64())}
            for name, column in columns.items():
                table = table.set_column(table.schema.get_field_index(name), name, column)
            change[at] = table
    inputs = [InputRows(written(c, tmp_path, 2), written(b, tmp_path, 3)) for c, b in zip(change, before, strict=True)]
    tests = compared(Operator.LT)
    path = AccessPath(tuple(map(key, range(len(types)))))
    found = IndexJoin(side(types, 0), side(types, 1), (path,), tests=tests, shown=frozenset(shown))
    names = {name: f"{'lr'[at]}_id" for at, name in enumerate("ab") if at in shown}
    marks = {"_batch": pa.int32(), "_weight": pa.int64()}
    schema = pa.schema([*((name, pa.int64()) for name in names), *marks.items()])
    taken = []
    for many in (0, 10**9):
        task = TaskInput(1, tuple(inputs), limits=Limits(pairs_tested_early=many, pairs_tested_together=together))
        batches = found.rows(task, {**names, **{mark: mark for mark in marks}}, schema)
        total, count = Counter[tuple[int, ...]](), 0
        for *values, weight in (tuple(row.values()) for batch in batches for row in batch.to_pylist()):
            total[tuple(values)] += weight
            count += 1
        taken.append(({row: weight for row, weight in total.items() if weight}, count))
    (early, few), (late, all_) = taken
    assert early == late and few <= all_
    if not types:
        assert late and (few < all_) == (seed > 0 and len(shown) < 2)
