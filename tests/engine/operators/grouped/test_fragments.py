"""Fragments and what is reduced of them are what grouping the rows of each reader gives, for every type."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from decimal import Decimal, localcontext
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from workbench.engine.operators.grouped.fragments import Fragments
from workbench.engine.operators.grouped.statistics import cast_or_null
from workbench.engine.physical import value_statistics
from workbench.engine.physical.accumulators import Addend, Adds, StatePart
from workbench.engine.storage.grouping import group_rows, not_distinct
from workbench.engine.storage.layout import BATCH, BRANCH, GROUPING_SET, MEMBER, WEIGHT, Layout
from workbench.engine.storage.lineage import word_column
from workbench.engine.storage.reduction import Cells, Combine
from workbench.limits import Limits
from workbench.sql.algebra.types import DOUBLE, INTEGER, STRING

LARGEST = 10**38 - 1
EVERY = (Combine.SUM, Combine.MIN, Combine.MAX)
VALUE = value_statistics.VALUES
VALUES: dict[str, tuple[pa.DataType, Callable[[Random], Any]]] = {
    "integer": (pa.int64(), lambda r: r.randint(-(10**12), 10**12)),
    "money": (pa.decimal128(38, 2), lambda r: Decimal(r.randint(-(10**15), 10**15)).scaleb(-2)),
    "wide": (
        pa.decimal128(38, 2),
        lambda r: Decimal(f"{r.choice([LARGEST, -LARGEST, r.randint(-LARGEST, LARGEST)])}e-2"),
    ),
    "text": (pa.string(), lambda r: r.choice(["", "a", "é", "Z", "b\x00"])),
    "double": (pa.float64(), lambda r: r.choice([0.5, -2.0, 1e300, float("inf"), float("nan")])),
}


def wanted(values: list[Any], combine: Combine, kind: str) -> Any:
    """What SQL gives for the values of a group."""
    known = [value for value in values if value is not None]
    if not known:
        return None
    if combine is Combine.SUM:
        total = sum(known[1:], start=known[0])
        return None if kind == "wide" and abs(total.scaleb(2)) > LARGEST else total
    # NaN is the largest number.
    order = (lambda v: (v != v, v)) if kind == "double" else (lambda v: v.encode()) if kind == "text" else (lambda v: v)
    return (min if combine is Combine.MIN else max)(known, key=order)


@pytest.mark.parametrize(
    ("kind", "combine"), [(k, c) for k in VALUES for c in EVERY if (k, c) != ("text", Combine.SUM)]
)
def test_cells_are_reduced_as_sql_does(kind: str, combine: Combine) -> None:
    type_, value = VALUES[kind]
    for seed in range(40):
        random = Random(seed)
        rows, readers = random.randint(1, 40), random.randint(1, 4)
        values = [None if random.random() < 0.2 else value(random) for _ in range(rows)]
        keys = [random.choice(["a", "b", None]) for _ in range(rows)]
        order, starts = group_rows([pa.array(keys, pa.string())], rows)
        read = np.array([[random.random() < 0.6 for _ in range(rows)] for _ in range(readers)])
        cells = Cells(starts, read[:, order])
        present = cells.present()
        got = cells.reduce(pa.array(values, type_).take(pa.array(order)), combine, present)
        groups = np.split(order, starts[1:])
        own = [[i for i in group if read[reader, i]] for reader in range(readers) for group in groups]
        with localcontext(prec=80):
            expected = [wanted([values[i] for i in some], combine, kind) for some in own if some]
        assert not_distinct(got, pa.array(expected, type_)).all(), (seed, got.to_pylist(), expected)


@pytest.mark.parametrize("cells", [4_000_000, 7])
@pytest.mark.parametrize("seed", range(6))
def test_a_fragment_counts_for_everybody_who_reads_it(seed: int, cells: int) -> None:
    """Two groupings, two branches whose nodes have other bits, words that are not next to each other."""
    random = Random(seed)
    readers = ((((1, (0,)), (2, (2, 130))), ((1, (1, 130, 131)), (2, (1,)))), (((3, (2,)),), ((3, (0, 1)),)))
    added = Addend(Adds.WEIGHT)
    parts = (StatePart("n", INTEGER, added), StatePart("top", STRING, added, Combine.MAX))
    layout = Layout({MEMBER: INTEGER, "g": DOUBLE, "n": INTEGER, "top": STRING})
    rows = [
        {
            GROUPING_SET: random.choice([0, 1]),
            BRANCH: random.choice([0, 1]),
            word_column(0): random.randint(0, 7),
            word_column(2): random.randint(0, 15),
            "g": random.choice([None, 0.0, float("nan"), 2.5]),
            "n": random.randint(-3, 3),
            "top": random.choice([None, "a", "b"]),
        }
        for _ in range(50)
    ]
    batches = [pa.RecordBatch.from_pylist(rows[:20]), pa.RecordBatch.from_pylist(rows[20:])]
    limits = Limits(values_merged_together=cells)
    dirty = Fragments(("g",), parts, readers, (0, 2), layout, limits).dirty_groups(batches)
    expected: dict[tuple[int, str], list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        for member, bits in readers[row[GROUPING_SET]][row[BRANCH]]:
            if all(row[word_column(bit // 64)] >> (bit % 64) & 1 for bit in bits):
                expected[member, repr(row["g"])].append(row)
    got = {(row[MEMBER], repr(row["g"])): (row["n"], row["top"]) for row in dirty.to_pylist()}
    assert dirty.num_rows == len(got)
    assert got == {
        key: (sum(r["n"] for r in own), max((r["top"] for r in own if r["top"]), default=None))
        for key, own in expected.items()
    }


def test_a_sum_that_does_not_fit_its_type_is_null() -> None:
    sums = pa.array([Decimal("9999.99"), Decimal("10000.00"), None, Decimal("-10000.00")], pa.decimal128(38, 2))
    assert cast_or_null(sums, pa.decimal128(6, 2)).to_pylist() == [Decimal("9999.99"), None, None, None]
    whole = pa.array([2**63 - 1, 2**63, -(2**63), -(2**63) - 1, None], pa.decimal128(38, 0))
    assert cast_or_null(whole, pa.int64()).to_pylist() == [2**63 - 1, None, -(2**63), None, None]


@pytest.mark.parametrize("seed", range(24))
def test_fragments_of_the_only_member_are_rows_of_its_state(seed: int) -> None:
    """A batch for groups and one for values, or two pieces of groups: these are merged, those are as they are."""
    random = Random(seed)
    layout = Layout({MEMBER: INTEGER, "g": INTEGER, VALUE: INTEGER, "n": INTEGER})
    parts = (StatePart("n", INTEGER, Addend(Adds.WEIGHT)),)
    fragments = Fragments(("g", VALUE), parts, ((((7, (0,)),),),), (), layout)
    batches, expected = [], defaultdict[tuple[int | None, int], int](int)
    for values in random.choice([[0], [0, 1], [0, 0]]):
        rows = [(group, random.randint(-2, 3)) for group in (None, *range(5)) if random.random() < 0.6]
        own = [{MEMBER: 7, "g": group, VALUE: values, "n": n, BATCH: 0, WEIGHT: 1} for group, n in rows]
        batches.append(pa.RecordBatch.from_pylist(own, layout.arrow))
        for group, n in rows:
            expected[group, values] += n
    for of_pieces in (False, True):
        dirty = fragments.dirty_groups(batches, of_pieces)
        assert dirty.schema == layout.arrow and dirty.num_rows == len(expected)
        assert {(row["g"], row[VALUE]): row["n"] for row in dirty.to_pylist()} == expected
        assert all((row[MEMBER], row[WEIGHT]) == (7, 1) for row in dirty.to_pylist())
