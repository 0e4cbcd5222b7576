"""Values at a place, looked up in runs, against all values sorted; whatever was added and taken back."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from workbench.engine.operators.grouped.group_values import GroupValues
from workbench.engine.operators.grouped.value_counts import ChangedValues
from workbench.engine.physical.aggregate_plan import LIVE, GroupedPlan, plan_aggregate
from workbench.engine.physical.value_statistics import VALUES, ValueStatistic
from workbench.engine.storage.indexes.key_index import key_hashes
from workbench.engine.storage.indexes.rank_index import RankKey, SortedRun, values_at_end
from workbench.engine.storage.layout import MEMBER, Layout, conform
from workbench.engine.storage.scan import Scan
from workbench.engine.storage.segments import write_segments
from workbench.limits import Limits
from workbench.network.nodes import Aggregate, Read
from workbench.sql.algebra.expressions import AggregateCall, Column, column_name
from workbench.sql.algebra.types import DATE, DOUBLE, INTEGER, STRING, DataType, decimal

GROUPS = ["a", None, "c", "never"]
NAN, INF = float("nan"), float("inf")
FUNCTIONS = ("min", "max", "mode", "median")


def plan_of(type_: DataType) -> GroupedPlan:
    statistics = [AggregateCall(function, (Column("v", type_),), type_) for function in FUNCTIONS]
    node = Aggregate(Read("F1"), (Column("g", STRING),), frozenset(statistics), ("F1",))
    return plan_aggregate(node, {"g": STRING, **{column_name(s): s.type for s in statistics}}, monotone=False)


class Stored:
    """A state that grows by runs, and the values that it stands for."""

    def __init__(self, plan: GroupedPlan, folder: Path) -> None:
        self.plan, self.folder, self.layout = plan, folder, Layout(plan.state_columns)
        (self.of,) = plan.counted
        self.left: list[Counter[Any]] = [Counter() for _ in GROUPS]
        self.segments: tuple[Any, ...] = ()

    def change(self, pick: Any, chosen: random.Random, times: int) -> pa.RecordBatch:
        """Some changes of counts, as rows of the state."""
        changes: Counter[tuple[int, Any]] = Counter()
        for _ in range(times):
            group, value = chosen.randrange(len(GROUPS) - 1), pick(chosen)
            if chosen.random() < 0.4 and self.left[group]:
                value = chosen.choice(sorted(self.left[group]))
                change = -chosen.randrange(1, self.left[group][value] + 1)
            else:
                change = chosen.randrange(1, 3)
            self.left[group] = +(self.left[group] + Counter({value: change})) if change > 0 else self.left[group]
            if change < 0:
                self.left[group][value] += change
                self.left[group] = +self.left[group]
            changes[group, value] += change
        return self.of_moved([(group, value, n) for (group, value), n in changes.items() if n])

    def of_moved(self, moved: Sequence[tuple[int, Any, int]]) -> pa.RecordBatch:
        """Changes of counts as rows of the state: group, value, by how much."""
        columns = {
            MEMBER: [1] * len(moved),
            "g": [GROUPS[group] for group, _, _ in moved],
            VALUES: [self.of.number] * len(moved),
            self.of.column: [value for _, value, _ in moved],
            LIVE: [n for _, _, n in moved],
        }
        arrays = [pa.array(values, self.layout.arrow.field(name).type) for name, values in columns.items()]
        return conform(pa.RecordBatch.from_arrays(arrays, names=list(columns)), self.layout.arrow)

    def keep(self, rows: pa.RecordBatch) -> None:
        self.segments += write_segments(pa.Table.from_batches([rows]), self.folder)

    def values(self, last: pa.RecordBatch, large: int = 4_096) -> GroupValues:
        """The dirty groups are all of them; the last change is not stored yet."""
        keys = {MEMBER: [1] * len(GROUPS), "g": GROUPS, VALUES: [0] * len(GROUPS)}
        arrays = [pa.array(values, self.layout.arrow.field(name).type) for name, values in keys.items()]
        dirty = conform(pa.RecordBatch.from_arrays(arrays, names=list(keys)), self.layout.arrow)
        group = np.array([GROUPS.index(name) for name in last.column("g").to_pylist()], dtype=np.int64)
        scan = Scan.of(self.layout, tuple(self.plan.state_columns), tuple(self.plan.state_keys), None)
        limits = Limits(values_of_large_group=large)
        return GroupValues(self.plan, self.of, dirty, ChangedValues(last, group), scan, self.segments, limits)


PICKS = [
    (INTEGER, lambda r: r.randrange(-40, 40)),
    (DOUBLE, lambda r: r.choice([0.0, 1.5, -2.25, 1e150, 1e-300]) * r.choice([1, 3])),
    (DATE, lambda r: date(1500 + r.randrange(900), 1, 1 + r.randrange(9))),
    (decimal(18, 2), lambda r: Decimal(r.randrange(-999, 999)).scaleb(-2)),
    (decimal(38, 10), lambda r: Decimal(r.randrange(-40, 40)) * 10**25 + Decimal(r.randrange(9)).scaleb(-10)),
    (STRING, lambda r: r.choice(["", "a", "a\0", "Z", "é", "\uffff", "\U0001f600"]) * r.randrange(4)),
]


@pytest.mark.parametrize(("type_", "pick"), PICKS)
@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("number", [1, 3, 8])
def test_values_at_an_end_are_found_whatever_was_taken_back(
    type_: DataType, pick: Any, last: bool, number: int, tmp_path: Path
) -> None:
    stored, chosen = Stored(plan_of(type_), tmp_path), random.Random(number)
    for _ in range(6):
        stored.keep(stored.change(pick, chosen, 150))
    key = RankKey((*stored.plan.keys, VALUES), stored.of.column, LIVE)
    runs = [run for run in (SortedRun.of_segment(segment.path, key) for segment in stored.segments) if run is not None]
    asked = stored.values(stored.change(pick, chosen, 0)).dirty
    asked = asked.set_column(asked.schema.get_field_index(VALUES), VALUES, pa.array([stored.of.number] * len(GROUPS)))
    hashes, _ = key_hashes([asked.column(name) for name in key.columns], nulls=True)
    found: list[Counter[Any]] = [Counter() for _ in GROUPS]
    for values, groups, counts in values_at_end([(run, *run.slices(hashes)) for run in runs], number, last):
        for value, group, count in zip(values.to_pylist(), groups, counts, strict=True):
            found[group][value] += int(count)
    for some, counter in zip(found, stored.left, strict=True):
        wanted = sorted(counter, reverse=last)[:number]
        assert sorted(some, reverse=last)[:number] == wanted
        assert [some[value] for value in wanted] == [counter[value] for value in wanted]


@pytest.mark.parametrize(("type_", "pick"), PICKS)
@pytest.mark.parametrize("large", [0, 30, 10**9])
def test_what_is_looked_up_is_what_stands_there_in_order(
    type_: DataType, pick: Any, large: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = plan_of(type_)
    stored, chosen = Stored(plan, tmp_path), random.Random(large)
    for _ in range(5):
        stored.keep(stored.change(pick, chosen, 120))
    values = stored.values(stored.change(pick, chosen, 40), large)
    assert bool(values.ranked) == (large < 10**9)
    for function, expected in (("min", min), ("max", max)):
        found = values.statistic(ValueStatistic(function, stored.of, type_)).to_pylist()
        assert found == [expected(counter, default=None) for counter in stored.left]
    if type_ == DOUBLE:
        for fraction in (0.0, 0.33, 0.5, 1.0):
            found = values.statistic(ValueStatistic("percentile", stored.of, DOUBLE, fraction)).to_pylist()
            for value, counter in zip(found, stored.left, strict=True):
                bag = np.array(sorted(counter.elements()))
                with np.errstate(invalid="ignore"):
                    expected_value = np.percentile(bag, fraction * 100) if len(bag) else None
                assert value == pytest.approx(expected_value, nan_ok=True)


def mode_of(counter: Counter[Any]) -> Any:
    return min(counter, key=lambda value: (-counter[value], value)) if counter else None


@pytest.mark.parametrize(("type_", "pick"), PICKS)
@pytest.mark.parametrize("seed", range(6))
def test_the_most_frequent_value_follows_the_one_before(type_: DataType, pick: Any, seed: int, tmp_path: Path) -> None:
    stored, chosen = Stored(plan_of(type_), tmp_path), random.Random(seed)
    statistic = ValueStatistic("mode", stored.of, type_)
    for size in (3, 60, 5, 1, 40, 2, 150, 1):
        before = pa.array(
            [mode_of(counter) for counter in stored.left], stored.layout.arrow.field(stored.of.column).type
        )
        change = stored.change(pick, chosen, size)
        values = stored.values(change)
        found = values.statistic(statistic, before if stored.segments else None)
        assert found.to_pylist() == [mode_of(counter) for counter in stored.left]
        # A value before that is not known is looked for.
        assert values.statistic(statistic, pa.nulls(len(before), before.type)).equals(found)
        stored.keep(change)


def test_groups_of_one_hash_are_not_ranked(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = pa.RecordBatch.from_pydict({"g": ["x", "y"], "v": [1, 2], "n": [1, 1]})
    key = RankKey(("g",), "v", "n")
    assert SortedRun.of_rows(rows, key) is not None
    zeros = (np.zeros(2, dtype=np.uint64), np.ones(2, dtype=bool))
    monkeypatch.setattr("workbench.engine.storage.indexes.rank_index.key_hashes", lambda columns, nulls: zeros)
    assert SortedRun.of_rows(rows, key) is None


@pytest.mark.parametrize("large", [0, 10**9])
@pytest.mark.parametrize("wild", [(), (NAN,), (NAN, INF), (INF, -INF), (NAN, NAN, INF, INF, INF)])
def test_what_values_are_away_from_their_median(large: int, wild: tuple[float, ...], tmp_path: Path) -> None:
    """As by the list of all values: also where the median is not finite, and values have no order by distance."""
    (of,) = plan_of(DOUBLE).counted
    for seed in range(12):
        chosen = random.Random(seed)
        drawn = [*wild, *(round(chosen.gauss(0, 5), 1) for _ in range(chosen.randrange(1, 9)))]
        stored = Stored(plan_of(DOUBLE), tmp_path)
        rows: list[Counter[float]] = [Counter(chosen.choices(drawn, k=chosen.randrange(1, 12))) for _ in range(3)]
        moved = [(group, value, n) for group, counter in enumerate(rows) for value, n in counter.items()]
        stored.keep(stored.of_moved(moved))
        found = stored.values(stored.of_moved([]), large).statistic(ValueStatistic("mad", of, DOUBLE)).to_pylist()
        expected = [
            duckdb.execute("SELECT list_aggregate(?::DOUBLE[], 'mad')", [list(counter.elements())]).fetchall()[0][0]
            for counter in rows
        ]
        np.testing.assert_array_equal(np.array(found[:3], float), np.array(expected, float), f"{rows}")
        assert found[3] is None
