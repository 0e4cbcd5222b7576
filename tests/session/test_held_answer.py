"""A held answer follows changes as the same rows read anew would be: alike ones, NULL, NaN, in any order."""

from __future__ import annotations

import math
import random
from collections import Counter
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from workbench.engine.storage.comparable import positions_in_order
from workbench.session.held_answer import HeldAnswer, follow_answer, hold_answer, rows_as_shown
from workbench.session.session import Session

SCHEMA = pa.schema({"bank": pa.string(), "n": pa.int64(), "x": pa.float64()})
VALUES: dict[str, list[Any]] = {
    "bank": ["a", "b", "", None],
    "n": [0, -(2**63), 2**63 - 1, None],
    "x": [0.0, -0.0, 1.5, math.nan, math.inf, None],
}


def row(draw: random.Random) -> tuple[Any, ...]:
    return tuple(draw.choice(VALUES[name]) for name in SCHEMA.names)


def table(rows: list[tuple[Any, ...]], schema: pa.Schema = SCHEMA) -> pa.Table:
    columns = [[row[place] for row in rows] for place in range(len(schema))]
    arrays = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
    return pa.Table.from_arrays(arrays, schema=schema)


def texts(rows: pa.Table) -> list[str]:
    return [repr(tuple(0.0 if value == 0 else value for value in row.values())) for row in rows.to_pylist()]


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("order", [None, (0, False), (1, True), (2, False), (2, True)])
def test_random_changes(seed: int, order: tuple[int, bool] | None) -> None:
    draw = random.Random(seed)
    rows = [row(draw) for _ in range(draw.choice([0, 1, 40, 400]))]
    held = HeldAnswer(table(rows), batch=0)
    held.page(0, 5, order)
    for batch in range(1, 8):
        gone, new = draw.sample(rows, draw.randint(0, len(rows))), [row(draw) for _ in range(draw.randint(0, 9))]
        for one in gone:
            rows.remove(one)
        rows += new
        weights = [-1] * len(gone) + [1] * len(new)
        changed = table([*gone, *new]).add_column(0, "weight", pa.array(weights, pa.int64()))
        held.follow(batch, changed)
        assert held.rows == len(rows) and held.batch == batch
        if draw.random() < 0.3:
            held.prepare()
        first = held.page(2, 6, order)  # of many rows it is found without an order of all
        found = held.page(0, held.rows, order)
        assert texts(first) == texts(found.slice(2, 4))
        assert Counter(texts(found)) == Counter(texts(table(rows)))
        if order is not None and rows:
            column = found.column(order[0]).combine_chunks()
            at = positions_in_order([column], [(order[1], False)])
            assert texts(pa.table({"v": column.take(pa.array(at))})) == texts(pa.table({"v": column}))


def test_a_row_that_is_not_there_cannot_go() -> None:
    held = HeldAnswer(table([("a", 1, 1.0)]), batch=0)
    with pytest.raises(ValueError, match="not there"):
        held.follow(1, table([("a", 1, 1.0)]).add_column(0, "weight", pa.array([-2], pa.int64())))


def test_what_came_and_what_it_replaced() -> None:
    held = HeldAnswer(table([("a", 1, 1.0), ("b", 2, 2.0)]), batch=3, keys=(0,))
    changes = table([("a", 1, 1.0), ("a", 5, 1.0), (None, 9, 9.0)])
    held.follow(4, changes.add_column(0, "weight", pa.array([-1, 1, 1], pa.int64())))
    assert held.replaced(0, 9, (1, False)) == [None, {"bank": "a", "n": 1, "x": 1.0}, None]
    assert held.came_after(3, 0, 9, (1, False)) == [False, True, True] and held.came_since(3) == 2


@pytest.mark.spark
def test_answers_of_a_session_are_followed(spark: SparkSession) -> None:
    streamed = [{"k": k % 7, "n": k, "d": 10**20 + k, "t": ["x", None, ""][k % 3]} for k in range(60)]
    with Session(spark=spark) as session:
        session.add_stream("s", streamed, history=10, batch=10)
        texts_of = {
            "rows": "SELECT k, n, d, t FROM s WHERE n % 2 = 0",
            "groups": "SELECT k, COUNT(*) c, MAX(t) m FROM s GROUP BY k",
            "one": "SELECT SUM(n) FROM s", "top": "SELECT n FROM s ORDER BY n DESC LIMIT 5",
        }  # fmt: skip
        queries = {name: session.register(sql, name=name) for name, sql in texts_of.items()}
        held = {name: hold_answer(query) for name, query in queries.items()}
        for _ in range(3):
            session.run(1)
            for name, query in queries.items():
                held[name] = follow_answer(query, held[name])
                read = query.result()
                found = rows_as_shown(query, held[name].page(0, held[name].rows)).to_pandas()
                by = list(read.columns)
                assert (
                    found.astype(str).sort_values(by).values.tolist()
                    == read.astype(str).sort_values(by).values.tolist()
                )
        before = hold_answer(queries["rows"], batch=1, where="n > 4")
        assert sorted(before.table.column(1).to_pylist()) == list(range(6, 20, 2))
        was = [one for one in held["groups"].replaced(0, 7) if one is not None]
        assert len(was) == 7 and all(list(one.values())[1] < 60 / 7 for one in was)
