"""Accumulated rows: however many segments they are in, and when these become one, the rows are the same."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from workbench.engine.operators.grouped.fragments import merged_state
from workbench.engine.physical.aggregate_plan import plan_aggregate
from workbench.engine.spark.handle import SparkHandle
from workbench.engine.spark.in_process import InProcess
from workbench.engine.storage.job_input import InputRows, TaskInput
from workbench.engine.storage.layout import MEMBER, Layout, conform
from workbench.engine.storage.merging import merged_here, merging_of
from workbench.engine.storage.relation import NO_CHANGE, Delta, Merge, Relation, consolidate
from workbench.engine.storage.segments import Segment, open_segment, segments_of, write_segments
from workbench.limits import Limits
from workbench.network.nodes import Aggregate, Read
from workbench.sql.algebra.expressions import AggregateCall, Column, column_name
from workbench.sql.algebra.types import INTEGER, STRING
from workbench.sql.predicates.cnf import TRUE

LAYOUT = Layout({"a": INTEGER, "s": STRING}, words=1)
Row = tuple[int | None, str | None, int, int, int]
"""a, s, batch, weight, lineage."""


def delta(folder: Path, rows: list[Row], layout: Layout = LAYOUT) -> Delta:
    """Rows written as the shared pass writes them."""
    if not rows:
        return NO_CHANGE
    columns = [
        pa.array(column, field.type) for column, field in zip(zip(*rows, strict=True), layout.arrow, strict=True)
    ]
    return Delta(write_segments(pa.Table.from_arrays(columns, schema=layout.arrow), folder))


def fewer(rows: pa.RecordBatch, whole: bool) -> pa.RecordBatch:
    return consolidate(rows)


def grown(relation: Relation, change: Delta) -> Relation:
    """A relation after a batch, merged as a batch merges: here, or by tasks, which are run one after the other."""
    relation = relation.append(change)
    if not relation.due:
        return relation
    if relation.is_merged_here:
        return merged_here(relation)
    told = TaskInput(0, (InputRows(relation.merging),), tasks=relation.merge_tasks, limits=relation.jobs.limits)
    tasks = (merging_of(relation)(replace(told, task=task)) for task in range(told.tasks))
    return relation.with_merged(tuple(segment for fields in tasks for segment in segments_of(fields)))


def rows_of(relation: Relation) -> list[tuple[object, ...]]:
    return sorted((tuple(row) for row in relation.frame(relation.layout.arrow.names).collect()), key=repr)


def batches(count: int, size: int) -> list[list[Row]]:
    """Rows of which some are equal but for their batch, some are retracted later, and some have NULL."""
    made: list[list[Row]] = []
    for batch in range(count):
        rows: list[Row] = [(n if n % 4 else None, "é" if n % 3 else None, batch, 1, 0b101) for n in range(size)]
        if batch:
            rows += [(a, s, batch, -1, bits) for a, s, _, _, bits in made[batch - 1][: size // 2]]
        made.append(rows)
    return made


def handle(spark: SparkSession, limits: Limits) -> SparkHandle:
    jobs = SparkHandle(spark)
    jobs.limits = limits
    return jobs


@pytest.mark.parametrize(("segments", "small"), [(2, 0), (2, 1_000), (3, 10), (100, 0)])
def test_rows_are_the_same_wherever_they_are_kept(
    spark: SparkSession, tmp_path: Path, segments: int, small: int
) -> None:
    jobs = handle(spark, Limits(runs_per_merge=segments, rows_merged_in_process=small))
    relation = Relation(jobs, LAYOUT, tmp_path)
    before: list[tuple[Relation, list[Row]]] = []
    expected: list[Row] = []
    for rows in batches(5, 6):
        before.append((relation, list(expected)))
        relation = grown(relation, delta(tmp_path, rows))
        expected += rows
    assert rows_of(relation) == sorted(expected, key=repr)
    assert relation.rows == len(expected)
    for old, had in before:
        assert rows_of(old) == sorted(had, key=repr), "a relation that was grown has changed"


def test_segments_stay_few_and_rows_are_seldom_written_again(spark: SparkSession, tmp_path: Path) -> None:
    relation = Relation(SparkHandle(spark), LAYOUT, tmp_path)
    written = 0
    for batch in range(300):
        known = relation.files
        relation = grown(relation, delta(tmp_path, [(1, "a", batch, 1, 1)] * 3))
        written += sum(segment.rows for segment in relation.segments if segment.path not in known)
    assert relation.rows == 900
    assert len(relation.segments) <= 20
    assert written <= 8 * relation.rows


def test_runs_of_many_rows_are_merged_where_rows_are_looked_up(tmp_path: Path) -> None:
    """Whatever else reads rows takes its time for each row. At once few more than what this process merges are."""
    jobs = InProcess()
    jobs.limits = Limits(runs_per_merge=2, runs_merged_later=1, rows_stepped_in_process=4, rows_merged_in_process=12)

    def of(rows: int) -> Relation:
        return Relation(jobs, LAYOUT, tmp_path, tuple((Segment(f"{n}.arrow", rows),) for n in range(6)))

    assert [of(rows).due for rows in (4, 5)] == [3, 0]
    assert [replace(of(rows), looked_up=True).due for rows in (4, 5)] == [3, 3]
    assert replace(of(5), merge=Merge("rows", fewer, ("a", "s"))).due == 6


@pytest.mark.parametrize(("small", "together"), [(2, 100), (2, 3), (1_000, 3)])
def test_merging_keeps_the_sum_of_weights(spark: SparkSession, tmp_path: Path, small: int, together: int) -> None:
    jobs = handle(spark, Limits(runs_per_merge=2, rows_merged_in_process=small, rows_per_task=together))
    relation = Relation(jobs, LAYOUT, tmp_path, merge=Merge("rows", fewer, ("a", "s")))
    weights: dict[tuple[object, ...], int] = {}
    for rows in batches(4, 6):
        relation = grown(relation, delta(tmp_path, rows))
        for a, s, _, weight, bits in rows:
            weights[a, s, bits] = weights.get((a, s, bits), 0) + weight
    summed: dict[tuple[object, ...], int] = {}
    for a, s, _, weight, bits in rows_of(relation):
        summed[a, s, bits] = summed.get((a, s, bits), 0) + weight  # type: ignore[operator]
    assert {row: w for row, w in summed.items() if w} == {row: w for row, w in weights.items() if w}


def test_rows_that_cancel_go_however_many_there_are(spark: SparkSession, tmp_path: Path) -> None:
    """The same 40 rows change again and again, and a run has several segments."""
    relation = Relation(
        handle(spark, Limits(runs_per_merge=2, rows_per_segment=10, bytes_per_segment=0)),
        LAYOUT,
        tmp_path,
        merge=Merge("rows", fewer, ("a", "s")),
    )
    for batch in range(9):
        old: list[Row] = [(n, "a", batch - 1, -1, 1) for n in range(40)] if batch else []
        relation = grown(relation, delta(tmp_path, old + [(n, "a", batch, 1, 1) for n in range(40)]))
        assert relation.rows <= 3 * 40


@pytest.mark.parametrize("whole", [True, False])
def test_a_part_of_a_state_keeps_groups_whose_rows_cancel_in_number_only(whole: bool) -> None:
    total = AggregateCall("sum", (Column("a", INTEGER),), INTEGER)
    node = Aggregate(Read("F", TRUE), (Column("s", STRING),), frozenset([total]), ("F",))
    plan = plan_aggregate(node, {"s": STRING, column_name(total): INTEGER}, monotone=False).read_by([((1, (0,)),)])
    # One row of the group went, another came: none more, none less, and 5 more in sum.
    numbers = {
        MEMBER: 1,
        "s": "g",
        "_rows": 0,
        **{part.name: 0 for part in plan.parts if part.name.endswith("_n")},
    }
    layout = Layout(plan.state_columns)
    columns = {n: pa.array([numbers.get(n, 5)], layout.arrow.field(n).type) for n in plan.state_columns}
    rows = conform(pa.RecordBatch.from_pydict(columns), layout.arrow)
    assert merged_state(plan, rows, whole).num_rows == (0 if whole else 1)


def test_consolidated_rows_are_in_normal_form() -> None:
    rows: list[Row] = [
        (1, None, 0, 1, 1),
        (1, None, 2, 1, 1),
        (1, None, 2, 1, 2),
        (2, "x", 0, 1, 1),
        (2, "x", 1, -1, 1),
    ]
    columns = [pa.array(c, field.type) for c, field in zip(zip(*rows, strict=True), LAYOUT.arrow, strict=True)]
    merged = consolidate(pa.RecordBatch.from_arrays(columns, schema=LAYOUT.arrow))
    assert sorted(tuple(row.values()) for row in merged.to_pylist()) == [(1, None, 2, 1, 2), (1, None, 2, 2, 1)]


def test_an_empty_relation_and_an_empty_delta(spark: SparkSession, tmp_path: Path) -> None:
    relation = Relation(SparkHandle(spark), LAYOUT, tmp_path)
    assert relation.append(NO_CHANGE) is relation
    assert rows_of(relation) == []
    frame = relation.frame(LAYOUT.arrow.names)
    assert frame.columns == LAYOUT.arrow.names and frame.count() == 0


def test_narrowing_drops_columns_and_no_rows(spark: SparkSession, tmp_path: Path) -> None:
    first, second = batches(2, 6)
    relation = Relation(SparkHandle(spark), LAYOUT, tmp_path).append(delta(tmp_path, first))
    narrow = replace(relation, layout=Layout({"s": STRING}, words=1)).append(delta(tmp_path, second))
    assert narrow.frame(narrow.layout.arrow.names).columns == ["s", "_batch", "_weight", "_bits0"]
    assert rows_of(narrow) == sorted((row[1:] for row in (*first, *second)), key=repr)


def test_a_part_of_the_columns(spark: SparkSession, tmp_path: Path) -> None:
    relation = Relation(SparkHandle(spark), LAYOUT, tmp_path).append(delta(tmp_path, [(1, "x", 0, 1, 1)]))
    assert [tuple(row) for row in relation.frame(["_weight", "s"]).collect()] == [(1, "x")]


def test_rows_in_a_wider_layout_have_nulls_and_no_lineage(tmp_path: Path) -> None:
    table = pa.table({"a": pa.array([1], pa.int32()), "_batch": pa.array([0]), "_weight": pa.array([1])})
    (segment,) = write_segments(table, tmp_path)
    assert conform(open_segment(segment.path), Layout(LAYOUT.columns, words=2).arrow).to_pylist() == [
        {"a": 1, "s": None, "_batch": 0, "_weight": 1, "_bits0": 0, "_bits1": 0}
    ]
