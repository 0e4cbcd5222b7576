"""A key that most rows have is shared by tasks: each adds up its part of a group, and has its part of a join's change.

The answers are DuckDB's, under corrections, with NULL as the hot key, and where attempts fail; and no task has most of
the work: what is counted are the rows that it is given of the key.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from random import Random

import pyarrow as pa
import pytest
from oracle.harness import Case, Feed, Oracle
from oracle.test_by_tasks import BY_TASKS
from oracle.test_corrections import corrected
from worker_processes import worker_processes

from workbench.engine import arrival
from workbench.engine.operators.grouped.state_update import StateUpdate
from workbench.engine.operators.index_join import IndexJoin
from workbench.engine.spark.arrow_tasks import ArrowBatches
from workbench.engine.spark.in_process import InProcess
from workbench.engine.storage.job_input import TaskInput
from workbench.session.session import Session

SEED = int(os.environ["ARGUS_SEED"])
HOT = 7
QUERIES = {
    "sums": "SELECT k, SUM(x) AS sx, AVG(x) AS ax, SUM(m) AS sm, COUNT(*) AS n, COUNT(m) AS nm FROM t GROUP BY k",
    "means": "SELECT AVG(m) AS am, STDDEV(x) AS dx, k FROM t WHERE v > 10 GROUP BY k",
    "extremes": "SELECT k, MIN(x) AS lx, MAX(x) AS gx, MIN(m) AS lm, MAX(m) AS gm, MAX(s) AS gs FROM t GROUP BY k",
    "values": "SELECT k, COUNT(DISTINCT v) AS n, MEDIAN(v) AS m, SUM(DISTINCT v) AS s FROM t GROUP BY k",
    "two": "SELECT k, s, COUNT(*) AS n, SUM(m) AS sm FROM t GROUP BY k, s",
    "pairs": "SELECT t.id, u.id AS other FROM t JOIN u ON t.k = u.k",
    "equal": "SELECT t.id, u.id AS other FROM t JOIN u ON t.k IS NOT DISTINCT FROM u.k AND t.v < u.v",
    "left": "SELECT t.id, u.id AS other FROM t LEFT JOIN u ON t.k = u.k AND u.v > 50",
    "there": "SELECT id FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.k = t.k AND u.v > 90)",
    "joined": "SELECT u.s, SUM(t.x) AS sx, COUNT(*) AS n FROM t JOIN u ON t.k = u.k GROUP BY u.s",
}


def of_a_hot_key(rows: int, hot: int | None, chance: Random, part: float = 0.6) -> pa.Table:
    """Rows of which most have one key."""
    keys = [hot if chance.random() < part else chance.choice([None, *range(20)]) for _ in range(rows)]
    numbers = [chance.randrange(100) for _ in range(rows)]
    return pa.table(
        {
            "id": range(rows),
            "k": pa.array(keys, pa.int64()),
            "v": numbers,
            "x": pa.array([None if n % 9 == 1 else n / 4 for n in numbers], pa.float64()),
            "m": pa.array([None if n % 7 == 1 else Decimal(n) / 100 for n in numbers], pa.decimal128(15, 2)),
            "s": [f"s{n % 3}" for n in numbers],
        }
    )


def hot_feeds(hot: int | None) -> dict[str, Feed]:
    chance = Random(SEED)
    few = of_a_hot_key(40, hot, chance, 0.1)
    return {"t": corrected(of_a_hot_key(240, hot, chance), 60, 60, SEED), "u": corrected(few, 20, 10, SEED)}


@pytest.mark.parametrize("hot", [HOT, None])
def test_answers_of_a_hot_key_are_the_oracles(hot: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrival, "ROW_GROUP_ROWS", 4)
    cases = {name: Case(sql, dialect="duckdb") for name, sql in QUERIES.items()}
    limits, path = replace(BY_TASKS, rows_per_task=7), f"file://{tmp_path}/session"
    with (
        worker_processes(3, failing=0.2) as workers,
        Oracle(workers, hot_feeds(hot), path=path, limits=limits) as oracle,
    ):
        oracle.register(cases)
        oracle.run(2)
        oracle.check_changes(since=True)
        assert workers.tried_again


class FourTasks(InProcess):
    """Runs the four tasks of each step one after the other."""

    cores = 4


@pytest.mark.parametrize("by_buckets", [False, True])
def test_no_task_has_most_of_a_hot_key(by_buckets: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a group a task is given at most what each one has added up, and of a join's pairs about a fourth."""
    rows = of_a_hot_key(8_000, HOT, Random(SEED))
    others = pa.table({"id": range(3_000), "k": pa.array([*range(3_000)])})
    groups, pairs, update, join = list[int](), Counter[int](), StateUpdate.of, IndexJoin.pairs

    def of(step: StateUpdate, batches: ArrowBatches) -> ArrowBatches:
        read = [*batches]
        groups.append(sum(column_of(batch, step.plan.groups).count(HOT) for batch in read))
        return update(step, read)

    def pairs_of(step: IndexJoin, task: TaskInput, *given: ArrowBatches | None) -> ArrowBatches:
        for found in join(step, task, *given):
            pairs[task.task] += found.num_rows
            yield found

    limits = replace(BY_TASKS, rows_per_task=100, bytes_in_buckets=1 if by_buckets else 0)
    with Session(FourTasks(), limits=limits) as session:
        session.add_stream("t", rows, history=2_000, batch=3_000)
        session.add_table("u", others)
        session.register("SELECT k, SUM(x) AS s, MIN(m) AS l, COUNT(*) AS n FROM t GROUP BY k", name="groups")
        session.register("SELECT t.id, u.id AS other FROM t JOIN u ON t.k = u.k", name="pairs")
        monkeypatch.setattr(StateUpdate, "of", of)
        monkeypatch.setattr(IndexJoin, "pairs", pairs_of)
        session.run(2)
        counted = Counter(rows["k"].to_pylist())
        assert dict(session.query("groups").result()[["k", "n"]].dropna().to_numpy().tolist()) == {
            key: number for key, number in counted.items() if key is not None
        }
        assert session.query("pairs").result().shape[0] == sum(counted[key] for key in range(3_000))
    assert groups and max(groups) <= FourTasks.cores
    assert len(pairs) == FourTasks.cores and max(pairs.values()) < pairs.total() / 3  # others are in buckets by chance


def column_of(batch: pa.RecordBatch, names: Mapping[str, object]) -> list[object]:
    """The values of the only one of some columns."""
    (name,) = names
    return list(batch.column(name).to_pylist())
