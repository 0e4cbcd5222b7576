"""Counts of values against the same statistics of the values themselves, written out."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from workbench.arrow.types import to_arrow
from workbench.engine.operators.grouped.addends import reduced
from workbench.engine.operators.grouped.statistics import statistic_value
from workbench.engine.operators.grouped.value_counts import ChangedValues, SortedValues
from workbench.engine.physical.accumulators import Final
from workbench.engine.physical.aggregate_plan import LIVE, GroupedPlan, plan_aggregate
from workbench.engine.physical.stored.values import Computed
from workbench.engine.physical.value_statistics import (
    VALUES,
    CountedValues,
    DistinctStatistic,
    ValueStatistic,
    by_values,
)
from workbench.engine.storage.layout import MEMBER
from workbench.engine.storage.reduction import Cells
from workbench.network.nodes import Aggregate, Read
from workbench.sql.algebra.expressions import AggregateCall, Column, column_name
from workbench.sql.algebra.types import DOUBLE, INTEGER, STRING, DataType, decimal

GROUPS = 5


def changes(pick: Any, seed: int) -> tuple[list[tuple[Any, int, int]], list[Counter[Any]]]:
    """Changes of counts in several rounds, and what is left: no count is ever negative."""
    chosen = random.Random(seed)
    left: list[Counter[Any]] = [Counter() for _ in range(GROUPS)]
    made = []
    for _ in range(300):
        group = chosen.randrange(GROUPS - 1)
        value = pick(chosen)
        change = -left[group][value] if chosen.random() < 0.3 else chosen.randrange(1, 4)
        made.append((value, group, change))
        left[group][value] += change
    return made, [Counter({value: n for value, n in counter.items() if n}) for counter in left]


def sorted_values(made: Sequence[tuple[Any, int, int]], type_: pa.DataType) -> SortedValues:
    pieces = []
    for first in range(0, len(made), 70):
        values, groups, counts = zip(*made[first : first + 70], strict=True)
        pieces.append((pa.array(values, type_), np.array(groups), np.array(counts)))
    return SortedValues.of(pieces, GROUPS)


def of(function: str, type_: DataType, fraction: float = 0.5, distinct: bool = False) -> ValueStatistic:
    return ValueStatistic(
        function, CountedValues(1, "v", type_, Computed(Column("v", type_))), type_, fraction, distinct
    )


@pytest.mark.parametrize(
    ("pick", "type_", "arrow"),
    [
        (lambda r: r.randrange(-9, 10), INTEGER, pa.int64()),
        (lambda r: r.choice(["", "a", "é", "Z", "zz"]), STRING, pa.string()),
        (lambda r: Decimal(r.randrange(-99, 99)).scaleb(-2), decimal(38, 2), pa.decimal128(38, 2)),
    ],
)
def test_first_last_and_most_frequent(pick: Any, type_: DataType, arrow: pa.DataType) -> None:
    made, left = changes(pick, seed=7)
    values = sorted_values(made, arrow)
    assert values.statistic(of("min", type_)).to_pylist() == [min(c, default=None) for c in left]
    assert values.statistic(of("max", type_)).to_pylist() == [max(c, default=None) for c in left]
    modes = [min(c, key=lambda v: (-c[v], v), default=None) for c in left]
    assert values.statistic(of("mode", type_)).to_pylist() == modes


@pytest.mark.parametrize("fraction", [0.0, 0.1, 0.5, 0.9, 1.0])
def test_percentiles_are_between_the_two_nearest(fraction: float) -> None:
    made, left = changes(lambda r: r.choice([-2.5, 0.0, 1.0, 1e300, 7.25]), seed=3)
    found = sorted_values(made, pa.float64()).statistic(of("percentile", DOUBLE, fraction)).to_pylist()
    for counter, value in zip(left, found, strict=True):
        bag = sorted(counter.elements())
        if not bag:
            assert value is None
            continue
        at = (len(bag) - 1) * fraction
        low, high = bag[math.floor(at)], bag[math.ceil(at)]
        expected = low if low == high else (math.ceil(at) - at) * low + (at - math.floor(at)) * high
        assert value == expected


def test_nan_is_the_largest_number_and_zero_has_no_sign() -> None:
    pieces = [
        (pa.array([float("nan"), -0.0, 1.0]), np.array([0, 0, 0]), np.array([1, 1, 1])),
        (pa.array([float("nan"), 0.0]), np.array([0, 0]), np.array([2, -1])),
    ]
    values = SortedValues.of(pieces, 2)
    assert values.counts.tolist() == [1, 3]
    assert values.statistic(of("min", DOUBLE)).to_pylist() == [1.0, None]
    assert math.isnan(values.statistic(of("max", DOUBLE)).to_pylist()[0])
    assert math.isnan(values.statistic(of("median", DOUBLE)).to_pylist()[0])


def plan_of(*statistics: AggregateCall, monotone: bool = True) -> GroupedPlan:
    node = Aggregate(Read("F1"), (Column("g", STRING),), frozenset(statistics), ("F1",))
    return plan_aggregate(node, {"g": STRING, **{column_name(s): s.type for s in statistics}}, monotone)


def test_one_count_of_values_serves_all_statistics_of_an_expression() -> None:
    k = Column("k", DOUBLE)
    median, mode = AggregateCall("median", (k,), DOUBLE), AggregateCall("mode", (k,), DOUBLE)
    count = AggregateCall("count", (k,), INTEGER, distinct=True)
    plan = plan_of(median, mode, count)
    assert [values.value for values in plan.counted] == [Computed(k)]
    assert plan.anew is None and set(plan.from_values) == {column_name(median), column_name(mode)}
    assert plan_of(AggregateCall("count", (), INTEGER)).state_keys == {MEMBER: INTEGER, "g": STRING}


def test_values_of_several_columns_are_counted_together() -> None:
    g, k, x = Column("g", STRING), Column("k", INTEGER), Column("x", DOUBLE)
    pairs = AggregateCall("count", (g, k), INTEGER, distinct=True)
    (counted,) = plan_of(pairs).counted
    assert plan_of(pairs).anew is None and counted.type == STRING
    rows = {"g": ["a", "a", "a1", None], "k": [1, 1, 1, 1]}
    texts = counted.value.values(pa.RecordBatch.from_pydict(rows))
    assert texts.value_counts().field("counts").to_pylist() == [2, 1, 1]
    assert plan_of(AggregateCall("count", (g, x), INTEGER, distinct=True)).anew is None


def test_extremes_are_counted_where_rows_may_leave() -> None:
    lowest = AggregateCall("min", (Column("k", STRING),), STRING)
    assert not plan_of(lowest).counted
    assert plan_of(lowest, monotone=False).counted


def test_values_that_enter_and_leave_change_what_takes_each_once() -> None:
    total = by_values(AggregateCall("sum", (Column("k", INTEGER),), decimal(38, 0), distinct=True))
    assert isinstance(total, DistinctStatistic) and isinstance(total.final, Final)
    summed, counted = total.parts
    plan = plan_of(AggregateCall("sum", (Column("k", INTEGER),), decimal(38, 0), distinct=True))
    of_k = summed.of
    columns = {
        MEMBER: [1, 1, 1, 1, 1, 1],
        "g": ["x", "y", "x", "x", "y", "x"],
        VALUES: [0, 0, of_k.number, of_k.number, of_k.number, of_k.number],
        of_k.column: [None, None, 5, 6, 7, 8],
        LIVE: [4, -1, 2, -1, -1, 1],
    }
    dirty, changed = ChangedValues.split(plan, pa.RecordBatch.from_pydict(columns))
    assert changed is not None and dirty.column("g").to_pylist() == ["x", "y"]
    assert changed.group.tolist() == [0, 0, 1, 0]
    before = np.array([0, 1, 2, 3])  # 5 enters x, 6 leaves it, 7 stays in y, 8 stays in x
    assert changed.distinct_change(counted, before, 2).to_pylist() == [0, None]
    assert changed.distinct_change(summed, before, 2).to_pylist() == [Decimal(-1), None]
    none_moves = changed.distinct_change(summed, np.array([4, 4, 4, 4]), 2)
    assert none_moves.to_pylist() == [None, None] and none_moves.type == to_arrow(summed.type)


@pytest.mark.parametrize(
    ("pick", "type_", "total"),
    [
        (lambda r: r.randrange(-9, 10), INTEGER, decimal(38, 0)),
        (lambda r: r.uniform(-5, 5), DOUBLE, DOUBLE),
        (lambda r: Decimal(r.randrange(-(10**37), 10**37)).scaleb(-10), decimal(38, 10), decimal(38, 10)),
        (lambda r: Decimal(r.randrange(-(10**9), 10**9)).scaleb(-10), decimal(38, 10), decimal(38, 10)),
    ],
)
def test_sums_of_distinct_values_are_exact(pick: Any, type_: DataType, total: DataType) -> None:
    sums = by_values(AggregateCall("sum", (Column("k", type_),), total, distinct=True))
    assert isinstance(sums, DistinctStatistic)
    chosen = random.Random(5)
    values = [pick(chosen) for _ in range(40)]
    before = np.array([chosen.randrange(3) for _ in values])
    after = np.array([chosen.randrange(3) for _ in values])
    (of_k,) = {part.of for part in sums.parts}
    left = [value for value, count in zip(values, after, strict=True) if count]
    merged = {}
    for part in sums.parts:
        steps = []
        for was, now in ((np.zeros_like(before), before), (before, after)):
            rows = {VALUES: [of_k.number] * 40, of_k.column: pa.array(values, to_arrow(type_)), LIVE: now - was}
            changed = ChangedValues(pa.RecordBatch.from_pydict(rows), np.zeros(40, dtype=np.int64))
            steps.append(changed.distinct_change(part, was, 1))
        merged[part.name] = reduced(part.part, pa.concat_arrays(steps), Cells.of_one_reader(np.array([0]), 2))
    found = statistic_value(sums.final, pa.RecordBatch.from_pydict(merged)).to_pylist()
    exact = math.fsum(left) if type_ == DOUBLE else sum(map(Fraction, left))
    assert [*map(Fraction, found)] == [exact]
