"""A selection and a join as one would write them for Spark by hand: a loop that takes each batch and adds what is new
to the answer. It is what a single query of ours is compared with, and computes the same."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from workbench.engine.spark.local_session import local_spark
from workbench.experiments.peers.digests import Digest, digest_of
from workbench.experiments.workload import FED, Workload

SELECTION = f"SELECT tranid, amount FROM {FED.stream} WHERE type_code = 1000 AND amount > 50000"
JOIN = f"""
SELECT r1.tranid first_id, r2.tranid second_id FROM {FED.stream} r1, {FED.stream} r2
WHERE r1.type_code = 1000 AND r2.type_code = 1000 AND r1.amount > 50000 AND r2.amount * 5 >= r1.amount
AND r1.rbank_aba = r2.sbank_aba AND r1.benef_account = r2.orig_account
AND r1.tran_date <= r2.tran_date AND r2.tran_date <= r1.tran_date + 20
"""

_KEPT = ["tranid", "amount", "tran_date", "sbank_aba", "rbank_aba", "orig_account", "benef_account"]


def selected(rows: DataFrame) -> DataFrame:
    """The selection."""
    return rows.where("type_code = 1000 AND amount > 50000").select("tranid", "amount")


def joined(first: DataFrame, second: DataFrame) -> DataFrame:
    """The join of first transfers with those that follow."""
    r1, r2 = first.where("amount > 50000").alias("r1"), second.alias("r2")
    follows = F.expr(
        "r1.rbank_aba = r2.sbank_aba AND r1.benef_account = r2.orig_account AND r2.amount * 5 >= r1.amount"
        " AND r1.tran_date <= r2.tran_date AND r2.tran_date <= date_add(r1.tran_date, 20)"
    )
    return r1.join(r2, follows).selectExpr("r1.tranid first_id", "r2.tranid second_id")


def selection(work: Workload, folder: Path) -> tuple[list[float], Digest]:
    """Seconds of every batch of the selection, and the digest of the answer; it is kept as Parquet in ``folder``."""

    def step(arriving: DataFrame, answer: str) -> None:
        selected(arriving).write.mode("append").parquet(answer)

    return _loop(work, folder, step)


def join(work: Workload, folder: Path) -> tuple[list[float], Digest]:
    """Seconds of every batch of the join: what is new with all, and all before with what is new."""
    state: list[DataFrame] = []

    def step(arriving: DataFrame, answer: str) -> None:
        new = arriving.where("type_code = 1000").select(*_KEPT)
        if not state:
            history = new.cache()
            joined(history, history).write.mode("append").parquet(answer)
            state[:] = [history, history.limit(0).localCheckpoint()]
            return
        # A main part that stays and one small tail: a union of all batches so far gets slower with each.
        main, tail = state
        new, before = new.localCheckpoint(), main.unionAll(tail)
        joined(new, before.unionAll(new)).unionAll(joined(before, new)).write.mode("append").parquet(answer)
        state[1] = tail.unionAll(new).localCheckpoint()

    return _loop(work, folder, step)


def _loop(work: Workload, folder: Path, step: Callable[[DataFrame, str], None]) -> tuple[list[float], Digest]:
    spark = local_spark().newSession()
    spark.conf.set("spark.sql.shuffle.partitions", str(spark.sparkContext.defaultParallelism))
    spark.conf.set("spark.sql.adaptive.enabled", "false")
    answer = str(folder / "answer")
    seconds = []
    ends = [work.history, *range(work.history + work.batch, work.table.num_rows + 1, work.batch)]
    for start, end in zip([0, *ends], ends, strict=False):
        arriving: pa.Table = work.table.slice(start, end - start)
        begun = time.perf_counter()
        step(spark.createDataFrame(arriving), answer)
        seconds.append(time.perf_counter() - begun)
    digest = digest_of(spark.read.parquet(answer).toArrow())
    spark.catalog.clearCache()
    return seconds[1:], digest
