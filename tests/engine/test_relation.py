"""Accumulated rows: whatever goes to the tail or to the main part, and when these merge, the rows are the same."""

from __future__ import annotations

import uuid
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from workbench.engine import relation as relation_module
from workbench.engine.relation import Layout, Relation, conform, consolidate, delta_frame
from workbench.engine.shared_pass import NO_CHANGE, Delta
from workbench.sql.types import INTEGER, STRING

LAYOUT = Layout({"a": INTEGER, "s": STRING}, words=1)
Row = tuple[int | None, str | None, int, int, int]
"""a, s, batch, weight, lineage."""


def delta(folder: Path, rows: list[Row]) -> Delta:
    """Rows written as the shared pass writes them."""
    if not rows:
        return NO_CHANGE
    columns = [
        pa.array(column, field.type) for column, field in zip(zip(*rows, strict=True), LAYOUT.arrow, strict=True)
    ]
    path = folder / f"{uuid.uuid4().hex}.parquet"
    pq.write_table(pa.Table.from_arrays(columns, schema=LAYOUT.arrow), path)
    return Delta((str(path),), len(rows), len(rows), path.stat().st_size)


def rows_of(relation: Relation) -> list[tuple[object, ...]]:
    return sorted((tuple(row) for row in relation.dataframe.collect()), key=repr)


def batches(count: int, size: int) -> list[list[Row]]:
    """Rows of which some are equal but for their batch, some are retracted later, and some have NULL."""
    made: list[list[Row]] = []
    for batch in range(count):
        rows: list[Row] = [(n if n % 4 else None, "é" if n % 3 else None, batch, 1, 0b101) for n in range(size)]
        if batch:
            rows += [(a, s, batch, -1, bits) for a, s, _, _, bits in made[batch - 1][: size // 2]]
        made.append(rows)
    return made


@pytest.mark.parametrize("small", [0, 3, 7, 1_000])
def test_rows_are_the_same_wherever_they_are_kept(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small: int
) -> None:
    monkeypatch.setattr(relation_module, "SMALL_ROWS", small)
    relation = Relation(spark, LAYOUT, tmp_path)
    before: list[tuple[Relation, list[Row]]] = []
    expected: list[Row] = []
    for rows in batches(4, 6):
        before.append((relation, list(expected)))
        relation = relation.append(delta(tmp_path, rows))
        expected += rows
    assert rows_of(relation) == sorted(expected, key=repr)
    assert relation.rows == len(expected)
    for old, had in before:
        assert rows_of(old) == sorted(had, key=repr), "a relation that was grown has changed"
    relation.release()


@pytest.mark.parametrize("small", [2, 1_000])
def test_merging_keeps_the_sum_of_weights(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small: int
) -> None:
    monkeypatch.setattr(relation_module, "SMALL_ROWS", small)
    relation = Relation(spark, LAYOUT, tmp_path, merge=partial(consolidate, layout=LAYOUT))
    weights: dict[tuple[object, ...], int] = {}
    for rows in batches(4, 6):
        relation = relation.append(delta(tmp_path, rows))
        for a, s, _, weight, bits in rows:
            weights[a, s, bits] = weights.get((a, s, bits), 0) + weight
    summed: dict[tuple[object, ...], int] = {}
    for a, s, _, weight, bits in rows_of(relation):
        summed[a, s, bits] = summed.get((a, s, bits), 0) + weight  # type: ignore[operator]
    assert {row: w for row, w in summed.items() if w} == {row: w for row, w in weights.items() if w}
    relation.release()


def test_consolidated_rows_are_in_normal_form(spark: SparkSession, tmp_path: Path) -> None:
    rows: list[Row] = [
        (1, None, 0, 1, 1),
        (1, None, 2, 1, 1),
        (1, None, 2, 1, 2),
        (2, "x", 0, 1, 1),
        (2, "x", 1, -1, 1),
    ]
    relation = Relation(spark, LAYOUT, tmp_path).append(delta(tmp_path, rows))
    merged = consolidate(relation.dataframe, LAYOUT).collect()
    assert sorted(tuple(row) for row in merged) == [(1, None, 2, 1, 2), (1, None, 2, 2, 1)]


def test_an_empty_relation_and_an_empty_delta(spark: SparkSession, tmp_path: Path) -> None:
    relation = Relation(spark, LAYOUT, tmp_path)
    assert relation.append(NO_CHANGE) is relation
    assert rows_of(relation) == []
    assert relation.dataframe.columns == LAYOUT.arrow.names
    assert delta_frame(spark, NO_CHANGE, LAYOUT).count() == 0


@pytest.mark.parametrize("small", [2, 1_000])
def test_narrowing_drops_columns_and_no_rows(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small: int
) -> None:
    monkeypatch.setattr(relation_module, "SMALL_ROWS", small)
    first, second = batches(2, 6)
    relation = Relation(spark, LAYOUT, tmp_path).append(delta(tmp_path, first))
    narrow = relation.narrowed(Layout({"s": STRING}, words=1)).append(delta(tmp_path, second))
    assert narrow.dataframe.columns == ["s", "_batch", "_weight", "_bits0"]
    assert rows_of(narrow) == sorted((row[1:] for row in (*first, *second)), key=repr)
    narrow.release()


def test_a_table_in_a_wider_layout_has_nulls_and_no_lineage() -> None:
    table = pa.table({"a": pa.array([1], pa.int32()), "_batch": pa.array([0]), "_weight": pa.array([1])})
    assert conform(table, Layout(LAYOUT.columns, words=2)).to_pylist() == [
        {"a": 1, "s": None, "_batch": 0, "_weight": 1, "_bits0": 0, "_bits1": 0}
    ]
