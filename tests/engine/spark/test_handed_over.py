"""What a step hands to a later one of its task, in the same Python process and in another one."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from workbench.engine.spark.arrow_tasks import ArrowBatches, attempt_here, map_rows, run_tasks
from workbench.engine.spark.handed_over import hand_over, handed_over


def test_a_step_has_what_was_handed_over_in_its_task_once() -> None:
    with attempt_here():
        hand_over("G1", b"first", apart=False)
        with pytest.raises(FileNotFoundError):
            handed_over("G2")
        assert handed_over("G1") == b"first"
        hand_over("G1", b"of a task that has failed", apart=False)
    with attempt_here(), pytest.raises(FileNotFoundError):
        handed_over("G1")


def test_threads_hand_over_side_by_side_whatever_failed_tasks_have_left() -> None:
    started = Barrier(8)

    def own(thread: int) -> list[bytes]:
        found = list[bytes]()
        started.wait()
        for number in range(300):
            with attempt_here():
                hand_over(f"left {thread} {number}", b"", apart=False)
                hand_over(f"G{thread}", f"{thread} {number}".encode(), apart=False)
                found.append(handed_over(f"G{thread}"))
        return found

    with ThreadPoolExecutor(8) as threads:
        for thread, found in enumerate(threads.map(own, range(8))):
            assert found == [f"{thread} {number}".encode() for number in range(300)]


def test_a_step_in_another_worker_has_it_also_without_rows(spark: SparkSession) -> None:
    def gives(task: int) -> ArrowBatches:
        hand_over("G1", f"{task} {os.getpid()}".encode(), apart=True)
        yield pa.RecordBatch.from_pydict({"id": pa.array([], pa.int64())})

    def takes(rows: ArrowBatches) -> ArrowBatches:
        list(rows)
        yield pa.RecordBatch.from_pydict({"said": [f"{handed_over('G1').decode()} {os.getpid()}"]})

    between = run_tasks(spark, 2, gives, "id bigint").selectExpr("id + 1 AS id")
    said = [row.said.split() for row in map_rows(between, takes, "said string").collect()]
    assert sorted(task for task, _, _ in said) == ["0", "1"] and all(giver != taker for _, giver, taker in said)
