"""The order of rows is a function of the bag: neither how rows came nor how they are written down changes it."""

from __future__ import annotations

from decimal import Decimal
from random import Random
from typing import Any

import pyarrow as pa
import pytest

from workbench.engine.operators.analytic.ordered_rows import OrderedRows
from workbench.engine.storage.indexes.order_index import RowOrder
from workbench.engine.storage.layout import WEIGHT

Row = tuple[Any, ...]

COLUMNS: dict[str, tuple[pa.DataType, list[Any]]] = {
    "n": (pa.int64(), [None, 1, 2]),
    "x": (pa.float64(), [None, -0.0, 0.0, float("nan"), float("inf")]),
    "s": (pa.string(), [None, "", "é", "e\u0301", "Z", "a"]),
    "m": (pa.decimal128(15, 2), [None, Decimal("0.10"), Decimal("-0.10")]),
    "w": (pa.decimal128(38, 4), [None, Decimal(10) ** 30, Decimal(10) ** 30 + 1]),
    "b": (pa.bool_(), [None, True, False]),
    "d": (pa.date32(), [None, 0, 1]),
    "l": (pa.string(), [None, "[1,2]", "[1]"]),  # an array, as it is stored
}


def written(chosen: Random, counts: list[int], kinds: list[Row], names: list[str]) -> pa.RecordBatch:
    """Rows of some kinds, a number of each, in any order: equal ones together or apart, also some that come and go."""
    changes: list[tuple[Row, int]] = []
    for kind, count in zip(kinds, counts, strict=True):
        gone = chosen.randint(0, 2)
        changes += [(kind, count + gone)] if chosen.random() < 0.5 else [(kind, 1)] * (count + gone)
        changes += [(kind, -1)] * gone
    chosen.shuffle(changes)
    arrays = [pa.array([row[at] for row, _ in changes], COLUMNS[name][0]) for at, name in enumerate(names)]
    weights = pa.array([weight for _, weight in changes], pa.int64())
    return pa.RecordBatch.from_arrays([*arrays, weights], names=[*names, WEIGHT])


def numbered(ordered: OrderedRows) -> list[list[tuple[Any, ...]]]:
    """Each row after the batch with its numbers, partition by partition; how partitions are numbered says nothing."""
    side = ordered.side(1)
    every = side.row > 0
    rows = side.batch(every, every)
    parts: dict[int, list[tuple[Any, ...]]] = {}
    for row in rows.to_pylist():
        values = [repr(value) for name, value in row.items() if not name.startswith("_")]
        parts.setdefault(row["_part"], []).append((row["_place"], row["_rank"], row["_group"], *values))
    return sorted(map(sorted, parts.values()))


@pytest.mark.parametrize("seed", range(40))
def test_the_order_follows_from_the_bag(seed: int) -> None:
    chosen = Random(seed)
    names = chosen.sample(list(COLUMNS), chosen.randint(1, 5))
    kinds = list(dict.fromkeys(tuple(chosen.choice(COLUMNS[name][1]) for name in names) for _ in range(15)))
    counts = [chosen.randint(0, 3) for _ in kinds]
    by = chosen.sample(names, chosen.randint(0, len(names)))
    order = RowOrder(tuple(by[:1]), tuple((name, (chosen.random() < 0.5, True)) for name in by[1:2]), tuple(by[2:3]))
    same = [numbered(OrderedRows.of([], [written(chosen, counts, kinds, names)], order)) for _ in range(4)]
    assert sum(map(len, same[0])) == sum(counts)
    assert same[1:] == same[:-1]
