"""Fragments are the same whether kernels or Spark evaluate what is grouped and added up, by one task or two."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from workbench.engine.operators.grouped.fragments import Fragments
from workbench.engine.operators.grouped.stored_fragments import StoredFragments
from workbench.engine.physical import row_inputs
from workbench.engine.physical.aggregate_plan import GroupedPlan, fused_groupings, plan_aggregate, plan_set_operation
from workbench.engine.physical.join_keys import key_column
from workbench.engine.physical.row_inputs import over_rows
from workbench.engine.storage.job_input import InputRows, JobInput
from workbench.engine.storage.layout import BATCH, WEIGHT, Layout
from workbench.engine.storage.lineage import word_column
from workbench.engine.storage.scan import LineageScan, Readers, Scan
from workbench.engine.storage.segments import write_segments
from workbench.network.nodes import Aggregate, Branch, Read, SetOperation, SetOperator
from workbench.sql.algebra.expressions import AggregateCall, Call, Column, Constant, Expression, column_name
from workbench.sql.algebra.types import (
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    INTEGER,
    STRING,
    TIMESTAMP,
    DataType,
    array_of,
    decimal,
)

VALUES: dict[str, tuple[DataType, Sequence[Any]]] = {
    "k": (STRING, ["", "a", "é", "Z", "b\x00", "ä"]),
    "n": (INTEGER, [2**63 - 1, -(2**63), 0, 7, -7]),
    "m": (decimal(15, 2), [Decimal("9999999999999.99"), Decimal("-0.01"), Decimal("0.00"), Decimal("12.50")]),
    "p": (decimal(25, 10), [Decimal("999999999999999.9999999999"), Decimal("-0.0000000001"), Decimal("1.5")]),
    "v": (decimal(26, 2), [Decimal("9" * 24 + ".99"), Decimal("-" + "9" * 24 + ".99"), Decimal("0.01")]),
    "w": (decimal(38, 3), [Decimal("9" * 35 + ".999"), Decimal("0.001"), Decimal("5e30")]),
    "q": (decimal(7, 2), [Decimal("99999.99"), Decimal("-99999.99"), Decimal("0.00"), Decimal("0.07")]),
    "d": (DATE, [date(1, 1, 1), date(1969, 12, 31), date(2026, 2, 28)]),
    "e": (DATE, [date(9999, 12, 31), date(1969, 12, 31), date(2026, 2, 28)]),
    "t": (TIMESTAMP, [datetime(1, 1, 1), datetime(1969, 12, 31, 23, 59, 59, 999999), datetime(2026, 3, 29, 2, 30)]),
    "b": (BOOLEAN, [True, False]),
    "x": (DOUBLE, [0.0, -0.0, 0.5, -2.25, float("inf"), float("nan")]),
    "y": (BINARY, ["00FF", "", "7A"]),
    "a": (array_of(INTEGER), ["[1,2]", "[]", "[null]"]),
}
COLUMNS = {name: Column(name, type_) for name, (type_, _) in VALUES.items()}
SUMMED = {"n", "m", "p", "q", "v", "w", "x"}
DAYS = Call("-", (COLUMNS["d"], COLUMNS["e"]), INTEGER)
REST = Call("-", (Constant(1, INTEGER), COLUMNS["q"]), decimal(8, 2))
MONEY = Call("*", (COLUMNS["q"], REST), decimal(16, 4))
FIRST = Call("substr", (COLUMNS["k"], Constant(1, INTEGER), Constant(1, INTEGER)), STRING)
WIDE = Call("*", (COLUMNS["m"], Call("-", (COLUMNS["q"], COLUMNS["m"]), decimal(16, 2))), decimal(32, 4))
CAST = Call("cast", (COLUMNS["n"],), decimal(20, 0))
COUNTED = Call("*", (CAST, COLUMNS["q"]), decimal(28, 2))
YEAR, MONTH = (Call(part, (COLUMNS["d"],), INTEGER) for part in ("year", "month"))
SUMS = [DAYS, MONEY, WIDE, COUNTED, YEAR]
COMPUTED = [DAYS, MONEY, WIDE, FIRST, YEAR, MONTH]
READERS: Readers = ((1, (0,)), (2, (1, 70)), (3, (1,)))
"""Of two words of lineage, of which one bit that rows have has no reader."""


def aggregate(groups: Sequence[Expression], statistics: Sequence[AggregateCall], monotone: bool) -> GroupedPlan:
    node = Aggregate(Read("F1"), tuple(groups), frozenset(statistics), "F1")
    produced = {column_name(e): e.type for e in (*groups, *statistics)}
    return plan_aggregate(node, produced, monotone).read_by([READERS])


def statistics(monotone: bool) -> list[AggregateCall]:
    """All that columns can have without being read row by row."""
    calls = [AggregateCall("count", (), INTEGER)]
    for name, column in COLUMNS.items():
        calls += [AggregateCall("count", (column,), INTEGER), AggregateCall("count", (column,), INTEGER, distinct=True)]
        calls += [AggregateCall(f, (column,), column.type) for f in ("min", "max") if column.type.ordered]
        if name in SUMMED:
            calls.append(AggregateCall("sum", (column,), column.type))
    return calls


def set_operation() -> GroupedPlan:
    branches = [(COLUMNS["k"], COLUMNS["x"]), (Column("k2", STRING), Column("x2", DOUBLE))]
    direct = tuple((f"F{at}", values) for at, values in enumerate(branches))
    node = SetOperation(SetOperator.INTERSECT, tuple(Branch(Read(f), values) for f, values in direct), direct)
    return plan_set_operation(node).read_by([READERS, ((1, (1,)), (2, (0,)), (3, (70,)))])


def by_each_column(monotone: bool) -> GroupedPlan:
    """Members that group by one column each, and one that groups by several."""
    some = [AggregateCall("count", (), INTEGER), AggregateCall("count", (COLUMNS["m"],), INTEGER, distinct=True)]
    groups = [*([column] for column in COLUMNS.values()), [COLUMNS["x"], COLUMNS["b"], COLUMNS["k"]]]
    plans = [(aggregate(by, some, monotone), {member}) for member, by in enumerate(groups, start=1)]
    bits = ((0,), (1, 70), (1,))
    return fused_groupings(plans).read_by([tuple((member, bits[member % 3]) for _, (member,) in plans)])


def computed(monotone: bool) -> GroupedPlan:
    """Groups by what is computed from columns, and its statistics, grouped in two ways."""
    calls = [AggregateCall("sum", (value,), value.type) for value in SUMS]
    calls += [AggregateCall(f, (value,), value.type) for value in COMPUTED for f in ("min", "max")]
    calls += [AggregateCall("count", (v,), INTEGER, distinct=d) for v in COMPUTED for d in (True, False)]
    groups = [COMPUTED, [COLUMNS["x"], FIRST]]
    plans = [(aggregate(by, calls, monotone), {member}) for member, by in enumerate(groups, start=1)]
    return fused_groupings(plans).read_by([((1, (0,)), (2, (1, 70)))])


PLANS: dict[str, Callable[[bool], GroupedPlan]] = {
    "every statistic": lambda monotone: aggregate([COLUMNS["k"]], statistics(monotone), monotone),
    "no groups": lambda monotone: aggregate([], statistics(monotone), monotone),
    "no statistics": lambda monotone: aggregate([COLUMNS["x"], COLUMNS["m"]], [], monotone),
    "groups of every type": by_each_column,
    "set operator": lambda _: set_operation(),
    "computed values": lambda monotone: computed(monotone),
}


def rows(random: Random, names: Sequence[str], monotone: bool, number: int) -> pa.Table:
    layout = Layout({name: VALUES[name[0]][0] for name in names}, words=2)
    table = []
    for _ in range(number):
        row = {n: None if random.random() < 0.2 else random.choice(VALUES[n[0]][1]) for n in names}
        weight = random.choice([1, 1, 1, 2]) if monotone else random.choice([1, 1, -1, -1, 3, -2])
        row |= {
            BATCH: 4,
            WEIGHT: weight,
            word_column(0): random.randrange(4),
            word_column(1): random.choice([0, 64, 8]),
        }
        table.append(row)
    return pa.Table.from_pylist(table, layout.arrow)


def as_bag(batches: Sequence[pa.RecordBatch], keys: Sequence[str]) -> list[str]:
    """Rows as texts; of a key the sign of 0.0 counts, of a part 0.0 is -0.0."""
    found = []
    for row in (row for batch in batches for row in batch.to_pylist()):
        plain = {n: v if n in keys or not isinstance(v, float) else v + 0.0 for n, v in row.items()}
        found.append(str(sorted((name, repr(value)) for name, value in plain.items())))
    return sorted(found)


def with_values_by_spark(
    spark: SparkSession, table: pa.Table, layout: Layout, wanted: Mapping[str, Expression]
) -> pa.Table:
    """Rows with what Spark evaluates over their columns, as they are stored with it."""
    names = [*layout.columns]
    numbered = table.select(names).append_column("at", pa.array(range(table.num_rows)))
    frame = spark.createDataFrame(numbered, f"{layout.ddl(names)}, at bigint")
    found = frame.selectExpr("at", *(f"{over_rows(e)} AS `{name}`" for name, e in wanted.items())).toArrow()
    for name, column in zip(wanted, found.sort_by("at").columns[1:], strict=True):
        table = table.append_column(name, column)
    return table


@pytest.mark.parametrize("monotone", [True, False], ids=["monotone", "retractable"])
@pytest.mark.parametrize("name", PLANS)
def test_what_spark_evaluates_is_the_same(
    name: str, monotone: bool, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spark = spark.newSession()
    spark.conf.set("spark.sql.ansi.enabled", "false")  # as the engine does
    plan = PLANS[name](monotone)
    assert not any(map(plan.stored, range(len(plan.branches))))
    with monkeypatch.context() as patch:
        patch.setattr(row_inputs, "needs_no_spark", lambda expression: isinstance(expression, Column))
        left = PLANS[name](monotone)
    random = Random(name + str(monotone))
    scans: list[list[LineageScan]] = [[], []]
    inputs: list[list[InputRows]] = [[], []]
    for at, branch in enumerate(plan.branches):
        columns = list(VALUES) if len(plan.branches) == 1 else list(branch.columns)
        stored = left.stored(at)
        layout = Layout({column: VALUES[column[0]][0] for column in columns}, words=2)
        computed = Layout({**layout.columns, **{n: e.type for n, e in stored.items()}}, words=2)
        tables = [rows(random, columns, monotone, number) for number in (60, 7)]
        with_values = [with_values_by_spark(spark, table, layout, stored) for table in tables]
        for of, own, written, every in ((0, plan, tables, layout), (1, left, with_values, computed)):
            read = Scan.of(every, own.columns(at), (), None)
            scans[of].append(LineageScan(read, plan.readers(at), plan.words))
            segments = [write_segments(table, tmp_path) for table in written]
            inputs[of].append(InputRows(tuple(segment for run in segments for segment in run)))
    of_kernels, of_spark = (made_by(own, *each) for own, *each in zip((plan, left), scans, inputs, strict=True))
    keys = [n for n in of_spark(0, 1)[0].schema.names if n not in {part.name for part in plan.parts}]
    assert set(of_kernels(0, 1)[0].schema.names) == set(of_spark(0, 1)[0].schema.names)
    assert as_bag(of_kernels(0, 1), keys) == as_bag(of_spark(0, 1), keys)
    shares = [*of_kernels(0, 2), *of_kernels(1, 2)]
    of_one, of_two = (Fragments.of(plan).dirty_groups(some) for some in (of_kernels(0, 1), shares))
    assert as_bag([of_two], list(plan.state_keys)) == as_bag([of_one], list(plan.state_keys))


def made_by(
    plan: GroupedPlan, scans: Sequence[LineageScan], inputs: Sequence[InputRows]
) -> Callable[[int, int], list[pa.RecordBatch]]:
    """Gives the fragments of one of some tasks."""
    job_input = JobInput("now")
    job_input.set(4, inputs)
    made = StoredFragments(plan, tuple(scans))
    return lambda task, tasks: list(made.of(job_input.read(task, tasks)))


def test_no_rows_are_no_fragments(tmp_path: Path) -> None:
    plan = PLANS["no groups"](True)
    (branch,) = plan.branches
    layout = Layout({name: VALUES[name][0] for name in VALUES}, words=2)
    scan = LineageScan(Scan.of(layout, branch.columns, (), None), plan.readers(0), plan.words)
    job_input = JobInput("now")
    job_input.set(4, [InputRows()])
    assert list(StoredFragments(plan, (scan,)).of(job_input.read())) == []


BY_SPARK = Call("from_json", (COLUMNS["k"], Constant("array<string>", STRING)), STRING)


@pytest.mark.parametrize(
    "plan",
    [
        aggregate([BY_SPARK], [], True),
        aggregate([COLUMNS["k"]], [AggregateCall("count", (BY_SPARK,), INTEGER)], True),
        aggregate([COLUMNS["k"]], [AggregateCall("count", (BY_SPARK,), INTEGER, distinct=True)], True),
        fused_groupings([(aggregate([COLUMNS["k"]], [], True), {1}), (aggregate([BY_SPARK], [], True), {2})]),
    ],
)
def test_what_has_no_kernel_is_stored_with_the_rows(plan: GroupedPlan) -> None:
    assert plan.stored(0) == {key_column(BY_SPARK): BY_SPARK}
    assert key_column(BY_SPARK) in plan.columns(0)
